"""A training that is killed and started again, for test_backup.py: it ends itself by SIGKILL where it is told to.

Each line of the standard input is one training, a JSON list: the folder of the pictures, the road ("keras" or
"dataset"), how often it backs up, the directory of the backup, the file for the weights, and the point at which it
dies: "none", or step, moment and number. It runs in a process of its own, forked so that Keras is imported once, and
how it ended is printed.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

if os.environ.get("KERAS_BACKEND", "tensorflow") != "tensorflow":
    sys.modules["tensorflow"] = None  # type: ignore[assignment]  # nobody needs it, and its import would fail

import keras
import numpy as np

EPOCHS, STEPS, VALIDATION_STEPS = 3, 5, 3
SAMPLES, BATCH = 24, 5  # the last batch is not full


def make_loaders(folder: Path) -> tuple[Any, Any]:
    """Return one loader to train from, with random crops and flips, and one to validate with."""
    import tfgoloader as tgl  # in the child, since Go's threads do not come along
    from tfgoloader import ops

    paths = sorted(folder.glob("*.jpg"))
    train = tgl.ImageLoader(
        tgl.sources.Paths(paths[:SAMPLES], [index % 3 for index in range(SAMPLES)]),
        [ops.RandomCrop(12, 12), ops.RandomFlip("horizontal"), ops.Rescaling(1 / 255)],
        batch_size=BATCH,
        shuffle=True,
        seed=11,
    )
    validation = tgl.ImageLoader(
        tgl.sources.Paths(paths[:14], [0] * 14), [ops.CenterCrop(12, 12), ops.Rescaling(1 / 255)], batch_size=BATCH
    )
    return train, validation


def make_model() -> keras.Model:
    """Return a model with everything that has a state: weights, statistics, random seeds, a schedule, momenta."""
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [
            keras.layers.Conv2D(4, 3, activation="relu"),
            keras.layers.BatchNormalization(),
            keras.layers.Dropout(0.5),
            keras.layers.Flatten(),
            keras.layers.Dense(3, activation="softmax"),
        ]
    )
    rate = keras.optimizers.schedules.ExponentialDecay(0.01, 3, 0.7)
    model.compile(keras.optimizers.Adam(rate), "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


class Killer(keras.callbacks.Callback):
    """Kills the process at a point: after a step of the optimizer, in a validation, or at an epoch's end."""

    def __init__(self, moment: str, point: str) -> None:
        super().__init__()
        self.moment, self.point = moment, point

    def look(self, moment: str, number: int = 0) -> None:
        here = f"{int(self.model.optimizer.iterations.numpy())} {moment} {number}"
        if here == self.point:
            os.kill(os.getpid(), signal.SIGKILL)

    def on_train_batch_end(self, batch: int, logs: object = None) -> None:
        self.look(self.moment)

    def on_test_batch_end(self, batch: int, logs: object = None) -> None:
        self.look("test", batch)

    def on_epoch_end(self, epoch: int, logs: object = None) -> None:
        self.look(f"{self.moment}_epoch_end")


class Log(keras.callbacks.Callback):
    """Writes the number of every step, over all processes."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file = file

    def on_train_batch_end(self, batch: int, logs: object = None) -> None:
        with self.file.open("a") as file:
            file.write(f"{int(self.model.optimizer.iterations.numpy())}\n")


def train(folder: str, road: str, frequency: str | int, directory: str, result: str, point: str) -> None:
    """Train to the end, or to the point of death, and write all variables."""
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        tf.config.experimental.enable_op_determinism()
        tf.config.threading.set_intra_op_parallelism_threads(1)
    loader, validation = make_loaders(Path(folder))
    from tfgoloader.callbacks import BackupAndRestore

    model = make_model()
    callbacks = [
        Log(Path(result).with_suffix(".log")),
        Killer("before", point),
        BackupAndRestore(directory, frequency, loader=loader),
        Killer("after", point),
    ]
    roads = [data.as_keras() if road == "keras" else data.as_dataset() for data in (loader, validation)]
    model.fit(roads[0], validation_data=roads[1], epochs=EPOCHS, callbacks=callbacks, verbose=0, shuffle=False)
    values = [keras.ops.convert_to_numpy(v) for v in [*model.variables, *model.optimizer.variables]]
    np.savez(result, *values)


def main() -> None:
    """Run the trainings that are asked for."""
    for line in sys.stdin:
        child = os.fork()
        if not child:
            train(*json.loads(line))
            break
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
