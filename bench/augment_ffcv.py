"""FFCV, from a file of its own that holds the JPEGs' bytes as they are; it is written before the warm-up.

FFCV decodes pictures whole, with the fast DCT, and resizes as OpenCV's INTER_AREA does.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from ffcv.fields import IntField, RGBImageField
from ffcv.fields.decoders import CenterCropRGBImageDecoder, IntDecoder, RandomResizedCropRGBImageDecoder
from ffcv.fields.rgb_image import IMAGE_MODES
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import NormalizeImage, RandomHorizontalFlip
from ffcv.writer import DatasetWriter
from numpy.typing import NDArray
from PIL import Image

from augment_work import DEVIATION, MEAN, RANDOM_RESIZED_CROP, RATIO, SCALE, SHORTER
from peer import BATCH, SEED, SIDE, Work, serve, work


class Files:
    """Paths and labels, by index."""

    def __init__(self, task: Work) -> None:
        self.task = task

    def __len__(self) -> int:
        return len(self.task.paths)

    def __getitem__(self, index: int) -> tuple[str, int]:
        return self.task.paths[index], int(self.task.labels[index])


def store(self: RGBImageField, destination: Any, path: str, allocate: Any) -> None:
    """Takes a file as it is; the field's own method would encode pixels anew."""
    data = np.fromfile(path, np.uint8)
    with Image.open(path) as picture:
        destination["width"], destination["height"] = picture.size
    destination["mode"] = IMAGE_MODES["jpg"]
    destination["data_ptr"], memory = allocate(data.nbytes)
    memory[:] = data


def write(task: Work, path: Path) -> None:
    RGBImageField.encode = store  # a class of our own would not be known when the file is read
    fields = {"image": RGBImageField(write_mode="jpg"), "label": IntField()}
    DatasetWriter(str(path), fields, num_workers=task.workers).from_indexed_dataset(Files(task))


def main() -> None:
    task = work()
    path = Path(sys.argv[1]).with_suffix(".ffcv")
    write(task, path)
    crop = task.variant == RANDOM_RESIZED_CROP
    size = (SIDE, SIDE)
    decoder = (
        RandomResizedCropRGBImageDecoder(size, SCALE, RATIO)
        if crop
        else CenterCropRGBImageDecoder(size, SIDE / SHORTER)
    )
    normalise = NormalizeImage(np.array(MEAN), np.array(DEVIATION), np.float32)
    loader = Loader(
        str(path),
        batch_size=BATCH,
        num_workers=task.workers,
        drop_last=True,
        os_cache=True,
        seed=SEED,
        order=OrderOption.RANDOM if crop else OrderOption.SEQUENTIAL,
        pipelines={
            "image": [decoder, *([RandomHorizontalFlip()] if crop else []), normalise],
            "label": [IntDecoder()],
        },
    )
    rows = np.eye(task.classes, dtype=np.float32)

    def epoch() -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        return ((images, rows[labels.ravel()]) for images, labels in loader)

    serve(task, epoch, ["ffcv", "numba", "numpy"])


if __name__ == "__main__":
    main()
