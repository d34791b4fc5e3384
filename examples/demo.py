#!/usr/bin/env python3
"""What `make demo` runs: trains a small CNN with model.fit, then feeds the same training in other ways.

Exit status 1 if the network does not reach the validation accuracy asked for.
"""

import argparse
import contextlib
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import photographs

import tfgoloader as tgl
from tfgoloader import ops

START = time.perf_counter()
SIZE = 224  # pixels, of a training window's sides
BATCH = 32
SEED = 7
WIDTH = 4  # of a network that computes longer than its input takes
ROUNDS = 3  # of the comparison, one epoch of each feed a round
CLASSES = len(photographs.CLASSES)
DATA = Path(__file__).resolve().parents[1] / "build/demo/data"


def training_loader(data: Path) -> tgl.ImageLoader:
    """Random windows, half of them flipped, in another order each epoch."""
    return tgl.ImageLoader(
        tgl.sources.Directory(data / "train"),
        [ops.RandomCrop(SIZE, SIZE), ops.RandomFlip("horizontal"), ops.Rescaling(1 / 127.5, offset=-1)],
        labels=ops.OneHot(CLASSES),
        batch_size=BATCH,
        shuffle=True,
        drop_remainder=True,
        seed=SEED,
    )


def validation_loader(data: Path) -> tgl.ImageLoader:
    """The middle of every picture, in order."""
    return tgl.ImageLoader(
        tgl.sources.Directory(data / "validation"),
        [ops.CenterCrop(SIZE, SIZE), ops.Rescaling(1 / 127.5, offset=-1)],
        labels=ops.OneHot(CLASSES),
        batch_size=BATCH,
    )


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keeps TensorFlow's log off the terminal, and stderr shut meanwhile: what it says of oneDNN heeds no variable."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    saved, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(null)


def train(data: Path, epochs: int) -> float:
    """Trains, prints what it cost, and returns the last epoch's validation accuracy."""
    from network import build

    with training_loader(data) as loader, validation_loader(data) as validation:
        model = build((SIZE, SIZE, 3), CLASSES, steps=epochs * len(loader), seed=SEED)
        print(f"{loader.num_samples} pictures, {validation.num_samples} more to validate with, {CLASSES} classes")
        print(f"windows of {SIZE}x{SIZE} pixels, {BATCH} a batch; a network of {model.count_params()} parameters")
        history = model.fit(
            loader.as_dataset(),
            validation_data=validation.as_dataset(),
            epochs=epochs,
            callbacks=[tgl.callbacks.InputMonitor(loader)],
            shuffle=False,  # the loader does
            verbose=2,
        ).history
    return float(history["val_accuracy"][-1])


def watch(data: Path) -> None:
    """Trains a network that computes longer than its input takes, and says how long it waited all the same."""
    from meter import Meter
    from network import build

    steps, epochs = 20, 3
    with training_loader(data) as loader:
        model = build((SIZE, SIZE, 3), CLASSES, steps=epochs * steps, seed=SEED, width=WIDTH)
        meter, monitor = Meter(), tgl.callbacks.InputMonitor(loader)
        endless = loader.as_dataset().repeat()
        callbacks = [meter, monitor]  # the meter's function asks for the batches that the monitor counts
        model.fit(endless, epochs=epochs, steps_per_epoch=steps, callbacks=callbacks, shuffle=False, verbose=2)
    print(f"\nBy the clock of meter.py the model waited {meter.total(skip=1).waited_share:.1%} of the time.")


def compare(data: Path) -> None:
    """Feeds the same training in four ways, in turn, and prints what each cost."""
    import feeds
    from meter import Meter
    from network import build

    with training_loader(data) as loader:
        steps = len(loader)
        images, labels = next(iter(loader))
    model = build((SIZE, SIZE, 3), CLASSES, steps=steps, seed=SEED)
    ours, alone = "tfgoloader", "model alone"
    meters: defaultdict[str, Meter] = defaultdict(Meter)

    def fit(name: str, dataset: object) -> None:
        model.fit(dataset, callbacks=[meters[name]], shuffle=False, verbose=0)

    for done in range(1 + ROUNDS):
        with training_loader(data) as loader:  # a new one each time: nothing is ready before the clock starts
            fit(ours, loader.as_dataset())
        fit("tf.data", feeds.tf_data(data / "train", SIZE, BATCH, SEED))
        fit("py_function + NumPy", feeds.py_function(data / "train", SIZE, BATCH, SEED))
        fit(alone, feeds.memory(images, labels, steps))
        print(f"round {done} of {ROUNDS}" if done else "warm-up, not counted", flush=True)

    costs = {name: meter.total(skip=1) for name, meter in meters.items()}
    print(f"\n{'fed by':22}{'images/s':>10}{'waited':>10}{'CPU s per 1,000 images':>26}")
    for name, cost in costs.items():
        print(f"{name:22}{cost.rate:10.0f}{cost.waited_share:10.1%}{cost.cpu_per_1000:26.2f}")
    print(f"""
waited: the share of the time in which the model stood still until its next batch was there.
CPU: of the whole process, the model's and the input's together; they share {len(os.sched_getaffinity(0))} cores.
{alone}: one batch in memory, again and again. No input can make this training faster than that.
With {ours}, {costs[alone].cpu_per_1000 / costs[ours].cpu_per_1000:.0%} of the CPU time is the model's.""")


def heading(text: str) -> None:
    print(f"\n== {text}  [{time.perf_counter() - START:.0f} s]", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help="where the data set is or shall be")
    parser.add_argument("--epochs", type=int, default=14, help="at least 2: the first is not counted")
    parser.add_argument("--accuracy", type=float, default=0.9, help="validation accuracy to reach")
    arguments = parser.parse_args()
    if arguments.epochs < 2:
        parser.error(f"--epochs {arguments.epochs}: at least 2, since the first is not counted")

    heading("The data set: which photograph is this a piece of?")
    print(photographs.make(arguments.data))
    with quiet():
        import tensorflow as tf

        tf.config.list_logical_devices()  # starts what is left to start
    heading("Training with model.fit(train.as_dataset(), validation_data=validation.as_dataset())")
    accuracy = train(arguments.data, arguments.epochs)
    if accuracy < arguments.accuracy:
        print(f"FAILED: validation accuracy {accuracy:.1%}, {arguments.accuracy:.0%} asked for")
        return 1
    print(f"Validation accuracy {accuracy:.1%}, {arguments.accuracy:.0%} asked for.")
    heading(f"A network {WIDTH} times as wide: does it wait?")
    watch(arguments.data)
    heading(f"The same training fed in other ways: {ROUNDS} epochs of each, in turn")
    compare(arguments.data)
    heading("What was built")
    for name, value in tgl.build_info().items():
        print(f"{name:22}{value}")
    heading("Done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
