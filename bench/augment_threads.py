"""A thread pool by hand: simplejpeg decodes, OpenCV resizes, both without the GIL; some batches ahead.

simplejpeg cannot decode a window: pictures are decoded whole, and only the window is resized.
"""

import math
import random
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import cv2
import numpy as np
import simplejpeg
from numpy.typing import NDArray

from augment_work import DEVIATION, MEAN, RANDOM_RESIZED_CROP, RATIO, RESIZE_SHORTER, SCALE, SHORTER
from peer import BATCH, SEED, SIDE, serve, work

CHUNK = 16  # pictures that a thread takes at once: fewer hand-overs
AHEAD = 3  # batches
# What each byte becomes, by channel: OpenCV's LUT normalises in one pass.
VALUES = ((np.arange(256)[:, None] - MEAN) / DEVIATION).astype(np.float32).reshape(256, 1, 3)

Window = tuple[int, int, int, int]  # top, left, height, width


def random_window(draw: random.Random, height: int, width: int) -> Window:
    """A window by torchvision's rule."""
    for _ in range(10):
        area = height * width * draw.uniform(*SCALE)
        ratio = math.exp(draw.uniform(*map(math.log, RATIO)))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            return draw.randint(0, height - h), draw.randint(0, width - w), h, w
    w, h = min(width, round(height * RATIO[1])), min(height, round(width / RATIO[0]))
    return (height - h) // 2, (width - w) // 2, h, w


def middle_window(height: int, width: int) -> Window:
    """The window in the middle that a shorter side of SHORTER pixels makes SIDE pixels large."""
    side = round(min(height, width) * SIDE / SHORTER)
    return (height - side) // 2, (width - side) // 2, side, side


def load(path: str, job: str, draw: random.Random, out: NDArray[np.float32]) -> None:
    """The whole work for one picture."""
    with open(path, "rb") as file:
        data = file.read()
    pixels = simplejpeg.decode_jpeg(data, "RGB", fastdct=False, fastupsample=False, strict=False)
    height, width = pixels.shape[:2]
    crop = job == RANDOM_RESIZED_CROP
    top, left, height, width = random_window(draw, height, width) if crop else middle_window(height, width)
    how = cv2.INTER_AREA if height > SIDE or width > SIDE else cv2.INTER_LINEAR
    pixels = cv2.resize(pixels[top : top + height, left : left + width], (SIDE, SIDE), interpolation=how)
    if crop and draw.random() < 0.5:
        pixels = cv2.flip(pixels, 1)
    cv2.LUT(pixels, VALUES, dst=out)


def main() -> None:
    cv2.setNumThreads(1)
    task = work()
    job = task.variant
    draw = random.Random(SEED)
    rows = np.eye(task.classes, dtype=np.float32)[task.labels]
    pool = ThreadPoolExecutor(task.workers)

    def fill(chosen: list[int], images: NDArray[np.float32], seed: int) -> None:
        own = random.Random(seed)
        for place, index in enumerate(chosen):
            load(task.paths[index], job, own, images[place])

    def begin(chosen: list[int]) -> tuple[NDArray[np.float32], NDArray[np.float32], list[Future[None]]]:
        images = np.empty((BATCH, SIDE, SIDE, 3), np.float32)
        parts = [slice(start, start + CHUNK) for start in range(0, BATCH, CHUNK)]
        return images, rows[chosen], [pool.submit(fill, chosen[p], images[p], draw.getrandbits(64)) for p in parts]

    def epoch() -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        order = list(range(len(task.paths)))
        if job != RESIZE_SHORTER:
            draw.shuffle(order)
        under_way = deque()
        for start in range(0, len(order) - BATCH + 1, BATCH):
            under_way.append(begin(order[start : start + BATCH]))
            if len(under_way) == AHEAD:
                yield finish(*under_way.popleft())
        while under_way:
            yield finish(*under_way.popleft())

    serve(task, epoch, ["simplejpeg", "opencv-python-headless", "opencv-python", "numpy"])


def finish(
    images: NDArray[np.float32], labels: NDArray[np.float32], parts: list[Future[None]]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """A batch, once its parts are done."""
    for part in parts:
        part.result()
    return images, labels


if __name__ == "__main__":
    main()
