"""NVIDIA DALI on the processor alone; its decoder decodes no more than the window.

It runs on from epoch to epoch, so that it prepares batches across their borders.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from nvidia.dali import fn, pipeline_def, types

from peer import BATCH, SEED, SIDE, Work, serve, work

DECODING = {"output_type": types.RGB, "use_fast_idct": False, "jpeg_fancy_upsampling": True}


def files(task: Work, shuffle: bool = True) -> tuple[Any, Any]:
    """The files' bytes and their labels, one-hot."""
    data, label = fn.readers.file(
        files=task.paths,
        labels=task.labels.tolist(),
        random_shuffle=shuffle,
        initial_fill=len(task.paths) if shuffle else 1,
    )
    return data, fn.one_hot(label, num_classes=task.classes)


def deliver(task: Work, graph: Callable[[], tuple[Any, Any]]) -> None:
    """Builds the pipeline and takes the turns."""
    pipeline = pipeline_def(batch_size=BATCH, num_threads=task.workers, device_id=None, seed=SEED)(graph)()
    pipeline.build()

    def epoch() -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        for _ in range(len(task.paths) // BATCH):
            images, labels = pipeline.run()
            yield np.asarray(images.as_tensor()), np.asarray(labels.as_tensor())

    serve(task, epoch, ["nvidia-dali-cuda120", "nvidia-dali-cuda130", "numpy"])


def main() -> None:
    task = work()

    def reference() -> tuple[Any, Any]:
        data, labels = files(task)
        pixels = fn.decoders.image_crop(
            data,
            crop=(SIDE, SIDE),
            crop_pos_x=fn.random.uniform(range=(0.0, 1.0)),
            crop_pos_y=fn.random.uniform(range=(0.0, 1.0)),
            **DECODING,
        )
        middle = [127.5, 127.5, 127.5]
        images = fn.crop_mirror_normalize(
            pixels, mirror=fn.random.coin_flip(), mean=middle, std=middle, dtype=types.FLOAT, output_layout="HWC"
        )
        return images, labels

    deliver(task, reference)


if __name__ == "__main__":
    main()
