#!/usr/bin/env python3
"""Does InputMonitor tell the wait that there is, and does it change what it measures?

A small network is trained by `fit` on crops of the benchmark's pictures, with a pause of so many milliseconds in
every step that stands for a slower model. TensorFlow's profiler, which watches the second epoch, says how long the
step waited for the iterator (IteratorGetNextOp, called by a compiled step or from Python). The trainings take turns,
without the monitor and with it.
"""

import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import dataset
import machine
import session

SIDE, BATCH = 128, 32


def make_model(pause: float) -> Any:
    """A network of next to no work, whose steps take a pause."""
    import keras
    import tensorflow as tf

    def wait(value: Any) -> Any:
        time.sleep(pause)
        return value

    def paused(x: Any) -> Any:
        # It is given a part of the batch, or TensorFlow would call it before the batch is there.
        seen = tf.py_function(wait, [tf.stop_gradient(x[0, 0, 0, 0])], tf.float32)
        return x + 0 * tf.ensure_shape(seen, [])

    layers = [keras.layers.AveragePooling2D(8), keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(50)]
    model = keras.Sequential([keras.Input((SIDE, SIDE, 3)), keras.layers.Lambda(paused), *layers])
    model.compile("sgd", "mse")
    return model


def train(listed: Path, pause: float, monitored: bool) -> dict[str, float]:
    """Shares of the second epoch that were waited for input, by the profiler's clock, and by the monitor's."""
    import keras
    import tensorflow as tf
    import tfgoloader as tgl
    from tfgoloader import ops

    seconds = 0.0

    class Watch(keras.callbacks.Callback):  # type: ignore[misc]
        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            if epoch == 1:
                tf.profiler.experimental.start(folder)
                self.begin = time.perf_counter()

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self.end = time.perf_counter()

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            if epoch == 1:
                nonlocal seconds
                seconds = self.end - self.begin
                tf.profiler.experimental.stop()

    source = tgl.sources.ListFile(listed)
    pipeline = [ops.RandomCrop(SIDE, SIDE, if_smaller="resize"), ops.Rescaling(1 / 255)]
    with (
        tempfile.TemporaryDirectory() as folder,
        tgl.ImageLoader(
            source, pipeline, labels=ops.OneHot(50), batch_size=BATCH, shuffle=True, seed=1, drop_remainder=True
        ) as loader,
    ):
        watched = tgl.callbacks.InputMonitor(loader) if monitored else None
        callbacks = [Watch(), *([watched] if watched else [])]
        model = make_model(pause)
        model.fit(loader.as_dataset(), epochs=2, callbacks=callbacks, verbose=0, shuffle=False)
        result = {"step_ms": 1000 * seconds / len(loader), "profiler": waits(Path(folder)) / seconds}
        if watched:
            result["monitor"] = watched.epochs[1].wait_share
    return result


def waits(folder: Path) -> float:
    """Seconds that the profile's steps waited for the iterator."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    (path,) = folder.rglob("*.xplane.pb")
    picoseconds = 0
    for plane in xplane_pb2.XSpace.FromString(path.read_bytes()).planes:
        for line in plane.lines:
            for event in line.events:
                if plane.event_metadata[event.metadata_id].name.partition("#")[0] == "IteratorGetNextOp::DoCompute":
                    picoseconds += event.duration_ps
    return picoseconds / 1e12


def main() -> int:
    parser = session.options(__doc__)
    parser.add_argument("--images", type=int, default=2000, help="make so many pictures")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pauses", default="0,40,120", help="milliseconds, with commas between")
    chosen = parser.parse_args()
    listed, _ = dataset.choose(None, chosen.out, chosen.images, machine.cores())
    lines = [
        "| pause, ms | step, ms | waits without the monitor, by the profiler | with it, by the profiler "
        "| by the monitor |",
        "|--:|--:|--:|--:|--:|",
    ]
    results: list[dict[str, Any]] = []
    for pause in map(float, chosen.pauses.split(",")):
        plain, watched = [], []
        for _ in range(chosen.rounds):
            plain.append(train(listed, pause / 1000, False))
            watched.append(train(listed, pause / 1000, True))
        results.append({"pause_ms": pause, "plain": plain, "monitored": watched})

        def middle(runs: list[dict[str, float]], name: str) -> str:
            values = [100 * run[name] for run in runs]
            return f"{median(values):.1f} % ({min(values):.1f} - {max(values):.1f})"

        step = median(run["step_ms"] for run in plain)
        lines.append(
            f"| {pause:.0f} | {step:.0f} | {middle(plain, 'profiler')} | {middle(watched, 'profiler')} "
            f"| {middle(watched, 'monitor')} |"
        )
        print(lines[-1], flush=True)
    about = f"{machine.describe()}; batches of {BATCH}; {chosen.rounds} rounds"
    session.store(results, ["# InputMonitor", about, "\n".join(lines)], chosen, "input_monitor")
    return 0


if __name__ == "__main__":
    sys.exit(main())
