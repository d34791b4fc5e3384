"""The peer's side of a benchmark: the work it is given, and how it takes its turns.

A peer's process warms up for two epochs, reports, and stops itself. Each time it is continued it runs one turn, reports
and stops again, so that nothing of it runs while others have their turn: what it prepared ahead stays where it is.
"""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

BATCH = 128
SIDE = 224  # pixels of the window, both ways
SEED = 7

Epoch = Callable[[], Iterable[tuple[NDArray[Any], NDArray[Any]]]]


@dataclass(frozen=True)
class Work:
    """The pictures, their labels, the threads to use, and how often to run through them."""

    variant: str
    paths: list[str]
    labels: NDArray[np.int64]
    workers: int
    epochs: int  # in one turn
    turns: int

    @property
    def classes(self) -> int:
        return int(self.labels.max()) + 1


def read_list(path: Path) -> tuple[list[str], NDArray[np.int64]]:
    """The paths and labels of a file of "path label" lines; paths are relative to its folder."""
    rows = [line.rsplit(maxsplit=1) for line in path.read_text().splitlines()]
    return [os.path.join(path.parent, name) for name, _ in rows], np.array([int(label) for _, label in rows])


def work() -> Work:
    """The work as the command line gives it: LIST WORKERS EPOCHS TURNS VARIANT."""
    path, workers, epochs, turns, variant = sys.argv[1:]
    paths, labels = read_list(Path(path))
    return Work(variant, paths, labels, int(workers), int(epochs), int(turns))


def tensors(dataset: Any) -> Epoch:
    """A tf.data.Dataset's epoch: the arrays under its tensors."""
    return lambda: ((images._numpy(), labels._numpy()) for images, labels in dataset)


def report(values: dict[str, Any]) -> None:
    """Says one line, then stops the whole process group until it is continued."""
    print(json.dumps(values), flush=True)
    os.kill(0, signal.SIGSTOP)


def _run(epoch: Epoch, epochs: int) -> dict[str, Any]:
    """Consumes every batch and touches one value of each; the counts."""
    count, check = 0, 0.0
    for _ in range(epochs):
        for images, labels in epoch():
            check += float(images[0, 0, 0, 0]) + float(labels[0, 0])
            count += len(images)
    return {"images": count, "check": check}


def _look(epoch: Epoch) -> dict[str, Any]:
    """An epoch's kind of batches; the mean of all pixels and of each channel, and their deviation."""
    found: dict[str, Any] = {}
    sums = []
    for images, _ in epoch():
        channels = images if images.shape[-1] == 3 else np.moveaxis(images, 1, -1)
        means = channels.mean(axis=(0, 1, 2), dtype=np.float64)
        sums.append([*means, means.mean(), float(images.std())])
        found = {"shape": images.shape, "dtype": str(images.dtype)}
    names = ["mean of channel 0", "mean of channel 1", "mean of channel 2", "mean", "deviation"]
    return found | {name: float(value) for name, value in zip(names, np.mean(sums, axis=0), strict=True)}


def serve(task: Work, epoch: Epoch, packages: Iterable[str]) -> None:
    """Warms up, says what is there, and takes the turns."""
    sample = _look(epoch)
    versions = {}
    for package in packages:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue  # one of several names that the package goes by
    _run(epoch, 1)  # as in a turn, so that as much is prepared ahead at this stop as at the others
    report({"versions": versions, "sample": sample})
    for _ in range(task.turns):
        report(_run(epoch, task.epochs))
