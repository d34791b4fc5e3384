"""This project: its NumPy batches (variant numpy), or the tensors of its tf.data.Dataset (variant dataset)."""

import os
from collections.abc import Iterator
from typing import Any

import tfgoloader as tgl
from numpy.typing import NDArray
from tfgoloader import ops

from peer import BATCH, SEED, SIDE, Work, serve, work


def deliver(task: Work, loader: tgl.ImageLoader, form: str) -> None:
    """Takes the turns with the loader's batches as NumPy arrays or as a tf.data.Dataset's tensors."""
    if form == "numpy":
        serve(task, lambda: loader, ["tfgoloader", "numpy"])
    else:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
        dataset = loader.as_dataset()

        def epoch() -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
            return ((images._numpy(), labels._numpy()) for images, labels in dataset)

        serve(task, epoch, ["tfgoloader", "tensorflow-cpu", "tensorflow", "numpy"])
    loader.close()


def main() -> None:
    task = work()
    loader = tgl.ImageLoader(
        tgl.sources.Paths(task.paths, task.labels),
        [ops.RandomCrop(SIDE, SIDE), ops.RandomFlip("horizontal"), ops.Rescaling(1 / 127.5, offset=-1)],
        labels=ops.OneHot(task.classes),
        batch_size=BATCH,
        shuffle=True,
        seed=SEED,
        drop_remainder=True,
        num_workers=task.workers,
    )
    deliver(task, loader, task.variant)


if __name__ == "__main__":
    main()
