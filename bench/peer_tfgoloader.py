"""This project: its NumPy batches (variant numpy), or the tensors of its tf.data.Dataset (variant dataset)."""

import os
from collections.abc import Sequence

import tfgoloader as tgl
from tfgoloader import ops

from peer import BATCH, SEED, SIDE, Work, serve, tensors, work


def make(task: Work, pipeline: Sequence[ops.Op], shuffle: bool = True) -> tgl.ImageLoader:
    """The loader of some operations."""
    return tgl.ImageLoader(
        tgl.sources.Paths(task.paths, task.labels),
        pipeline,
        labels=ops.OneHot(task.classes),
        batch_size=BATCH,
        shuffle=shuffle,
        seed=SEED,
        drop_remainder=True,
        num_workers=task.workers,
    )


def deliver(task: Work, loader: tgl.ImageLoader, form: str) -> None:
    """Takes the turns with the loader's batches as NumPy arrays or as a tf.data.Dataset's tensors."""
    if form == "numpy":
        serve(task, lambda: loader, ["tfgoloader", "numpy"])
    else:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
        serve(task, tensors(loader.as_dataset()), ["tfgoloader", "tensorflow-cpu", "tensorflow", "numpy"])
    loader.close()


def main() -> None:
    task = work()
    pipeline = [ops.RandomCrop(SIDE, SIDE), ops.RandomFlip("horizontal"), ops.Rescaling(1 / 127.5, offset=-1)]
    deliver(task, make(task, pipeline), task.variant)


if __name__ == "__main__":
    main()
