#!/usr/bin/env python3
"""What handing over one batch costs, decoding left out.

The loader prepares a few batches; when they are all ready, the loop takes them and is timed. A batch of one 8 x 8
picture shows what a call costs, a batch of 128 of 224 x 224 (77 MB) whether the cost grows with the bytes. For
comparison: a Python generator of arrays that exist already, alone and through tf.data's from_generator. The times are
wall times: where tf.data prepares a batch on another thread, only what the loop waits for is in them.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np
from PIL import Image

import machine
import session
from peer import tensors

PATIENCE = 60.0  # seconds for the batches to be ready

Batches = Iterator[tuple[Any, Any]]


@dataclass(frozen=True)
class Load:
    """A kind of batch, and how many of them are taken in a row."""

    name: str
    batch: int
    side: int  # pixels
    ahead: int


LOADS = (Load("1 x 8 x 8 x 3", 1, 8, 32), Load("128 x 224 x 224 x 3", 128, 224, 4))


def take(batches: Batches, load: Load, rounds: int, ready: Callable[[], bool]) -> list[float]:
    """Microseconds a batch, one value a round; the first round warms up."""
    times = []
    for _ in range(rounds + 1):
        end = time.monotonic() + PATIENCE
        while not ready():
            if time.monotonic() > end:
                raise TimeoutError(f"{load.ahead} batches were not ready within {PATIENCE:.0f} s")
            time.sleep(0.001)
        start = time.perf_counter()
        for _ in range(load.ahead):
            images, _ = next(batches)
            del images
        times.append(1e6 * (time.perf_counter() - start) / load.ahead)
    return times[1:]


def ours(load: Load, folder: Path, rounds: int, *, dataset: bool) -> list[float]:
    """Batches of this project, of one picture again and again."""
    import tfgoloader as tgl
    from tfgoloader import ops

    path = folder / f"{load.side}.jpg"
    Image.new("RGB", (load.side, load.side), "gray").save(path)
    count = load.batch * load.ahead * (rounds + 3)  # the queue is full to the last round
    with tgl.ImageLoader(
        tgl.sources.Paths([str(path)] * count, np.zeros(count, np.int64)),
        [ops.CenterCrop(load.side, load.side), ops.Rescaling(1 / 127.5, offset=-1)],
        batch_size=load.batch,
        drop_remainder=True,
        prefetch=load.ahead,
    ) as loader:
        batches = iter(tensors(loader.as_dataset())()) if dataset else iter(loader)
        next(batches)
        return take(batches, load, rounds, lambda: loader.stats()["queue_depth"] >= load.ahead)


def existing(load: Load, rounds: int, *, dataset: bool) -> list[float]:
    """Arrays that exist already."""
    images = np.zeros((load.batch, load.side, load.side, 3), np.float32)
    labels = np.zeros(load.batch, np.int64)

    def generator() -> Batches:
        while True:
            yield images, labels

    if not dataset:
        return take(generator(), load, rounds, lambda: True)
    import tensorflow as tf

    signature = (tf.TensorSpec(images.shape, tf.float32), tf.TensorSpec(labels.shape, tf.int64))
    pictures = tf.data.Dataset.from_generator(generator, output_signature=signature)
    return take(iter(tensors(pictures)()), load, rounds, lambda: True)


def table(results: dict[str, dict[str, list[float]]]) -> str:
    """Median and 90th percentile, a row a way of handing over."""
    lines = [f"{'microseconds a batch: median (90 %)':40}" + "".join(f"{load.name:>22}" for load in LOADS)]
    for name, loads in results.items():
        cells = [f"{median(times):.1f} ({quantiles(times, n=10)[-1]:.1f})" for times in loads.values()]
        lines.append(f"{name:40}" + "".join(f"{cell:>22}" for cell in cells))
    return "\n".join(lines)


def main() -> int:
    parser = session.options(__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    chosen = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    results: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        ways: dict[str, Callable[[Load], list[float]]] = {
            "tfgoloader NumPy": lambda load: ours(load, Path(folder), chosen.rounds, dataset=False),
            "tfgoloader as_dataset": lambda load: ours(load, Path(folder), chosen.rounds, dataset=True),
            "a generator of existing arrays": lambda load: existing(load, chosen.rounds, dataset=False),
            "the same through from_generator": lambda load: existing(load, chosen.rounds, dataset=True),
        }
        for name, way in ways.items():
            try:
                results[name] = {load.name: way(load) for load in LOADS}
            except ModuleNotFoundError as error:
                print(f"not run: {name}: {error}")
    text = f"```\n{machine.describe()}\n\n{table(results)}\n```"
    session.store(results, ["# Handing over a batch", text], chosen, "boundary")
    return 0


if __name__ == "__main__":
    sys.exit(main())
