"""NVIDIA DALI on the processor alone; its decoder decodes no more than the window.

It runs on from epoch to epoch, so that it prepares batches across their borders.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from nvidia.dali import fn, pipeline_def, types

from peer import BATCH, SEED, SIDE, Work, serve, work


def make(task: Work) -> Any:
    """The pipeline, built."""

    def reference() -> tuple[Any, Any]:
        data, label = fn.readers.file(
            files=task.paths, labels=task.labels.tolist(), random_shuffle=True, initial_fill=len(task.paths)
        )
        pixels = fn.decoders.image_crop(
            data,
            crop=(SIDE, SIDE),
            crop_pos_x=fn.random.uniform(range=(0.0, 1.0)),
            crop_pos_y=fn.random.uniform(range=(0.0, 1.0)),
            output_type=types.RGB,
            use_fast_idct=False,
            jpeg_fancy_upsampling=True,
        )
        flip = fn.random.coin_flip()
        middle = [127.5, 127.5, 127.5]
        images = fn.crop_mirror_normalize(
            pixels, mirror=flip, mean=middle, std=middle, dtype=types.FLOAT, output_layout="HWC"
        )
        return images, fn.one_hot(label, num_classes=task.classes)

    pipeline = pipeline_def(batch_size=BATCH, num_threads=task.workers, device_id=None, seed=SEED)(reference)()
    pipeline.build()
    return pipeline


def main() -> None:
    task = work()
    pipeline = make(task)

    def epoch() -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        for _ in range(len(task.paths) // BATCH):
            images, labels = pipeline.run()
            yield np.asarray(images.as_tensor()), np.asarray(labels.as_tensor())

    serve(task, epoch, ["nvidia-dali-cuda120", "nvidia-dali-cuda130", "numpy"])


if __name__ == "__main__":
    main()
