"""This project's augmentation, as NumPy batches (JOB/numpy) or as a tf.data.Dataset's tensors (JOB/dataset)."""

import tfgoloader as tgl
from tfgoloader import ops

import peer_tfgoloader
from augment_work import (
    DEVIATION,
    FACTOR,
    MEAN,
    NUM_OPS,
    RANDOM_RESIZED_CROP,
    RATIO,
    RESIZE_SHORTER,
    SCALE,
    SHORTER,
)
from peer import SIDE, Work, work


def pipeline(job: str) -> list[ops.Op]:
    """The operations of a job."""
    normalise = ops.Normalization(mean=MEAN, variance=[deviation**2 for deviation in DEVIATION])
    if job == RANDOM_RESIZED_CROP:
        return [ops.RandomResizedCrop(SIDE, SIDE, SCALE, RATIO), ops.RandomFlip("horizontal"), normalise]
    if job == RESIZE_SHORTER:
        return [ops.ResizeShorter(SHORTER), ops.CenterCrop(SIDE, SIDE), normalise]
    return [ops.Resizing(SIDE, SIDE), ops.RandAugment(num_ops=NUM_OPS, factor=FACTOR), normalise]


def make(task: Work, job: str) -> tgl.ImageLoader:
    """The loader of a job."""
    return peer_tfgoloader.make(task, pipeline(job), shuffle=job != RESIZE_SHORTER)


def main() -> None:
    task = work()
    job, _, form = task.variant.partition("/")
    peer_tfgoloader.deliver(task, make(task, job), form)


if __name__ == "__main__":
    main()
