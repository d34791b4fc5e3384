#!/usr/bin/env python3
"""What the colour operations cost, beside Keras' layers of the same name and arguments in tf.data's map.

Both sides decode the middle 224 x 224 pixels of the same JPEG files and hand over batches of 128 as float32. The layers
are called with batches, which is faster than with pictures. Times are user and system seconds of the process, for 1,000
pictures: the least of some rounds, since other work on the machine only adds to them. An operation's own cost is what
it adds to decoding alone. Values are not compared here, but in tests/test_colour.py.
"""

import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import dataset
import machine
import session
from peer import BATCH, SEED, SIDE, read_list

# Arguments of the operation and of the layer, by the name of both. Each is applied to every picture.
OPERATIONS: dict[str, dict[str, Any]] = {
    "RandomBrightness": {"factor": 0.3},
    "RandomContrast": {"factor": 0.3},
    "RandomSaturation": {"factor": (0.3, 0.7)},
    "RandomHue": {"factor": 0.2},
    "RandomColorJitter": {
        "brightness_factor": 0.3,
        "contrast_factor": 0.3,
        "saturation_factor": (0.3, 0.7),
        "hue_factor": 0.2,
    },
    "RandomGrayscale": {"factor": 1.0},
    "RandomColorDegeneration": {"factor": (0.0, 1.0)},
    "RandomInvert": {"factor": (1.0, 1.0)},
    "RandomPosterization": {"factor": (2, 6)},
    "Solarization": {"addition_factor": 0.3, "threshold_factor": 0.5},
    "AutoContrast": {},
    "Equalization": {},
    "RandomSharpness": {"factor": 1.0},
    "RandomGaussianBlur": {"factor": (1.0, 1.0), "kernel_size": 5, "sigma": (0.1, 1.0)},
    "RandomErasing": {"factor": (1.0, 1.0)},
}

Round = Callable[[], float]


def ours(paths: list[str], workers: int, name: str | None) -> Round:
    """Batches of this project."""
    import tfgoloader as tgl
    from tfgoloader import ops

    pipeline = [ops.CenterCrop(SIDE, SIDE)]
    if name:
        pipeline.append(getattr(ops, name)(**OPERATIONS[name]))

    def measure() -> float:
        source = tgl.sources.Paths(paths)
        with tgl.ImageLoader(source, pipeline, batch_size=BATCH, seed=SEED, num_workers=workers) as loader:
            exhaust(loader)  # warms up
            # The loader prepares the next epoch's first pictures, too.
            began, before = time.process_time(), loader.stats()["images"]
            exhaust(loader)
            return 1000 * (time.process_time() - began) / (loader.stats()["images"] - before)

    return measure


def keras_layer(paths: list[str], workers: int, name: str | None) -> Round:
    """Batches of tf.data, whose map calls the layer."""
    import keras
    import tensorflow as tf

    def read(path: Any) -> Any:
        data = tf.io.read_file(path)
        size = tf.io.extract_jpeg_shape(data)
        window = [(size[0] - SIDE) // 2, (size[1] - SIDE) // 2, SIDE, SIDE]
        picture = tf.image.decode_and_crop_jpeg(data, window, channels=3, dct_method="INTEGER_ACCURATE")
        return tf.cast(tf.ensure_shape(picture, (SIDE, SIDE, 3)), tf.float32)

    batches = tf.data.Dataset.from_tensor_slices(paths).map(read, num_parallel_calls=workers).batch(BATCH)
    if name:
        layer = getattr(keras.layers, name)(**OPERATIONS[name])

        def augment(images: Any) -> Any:
            return layer(images, training=True)

        batches = batches.map(augment, num_parallel_calls=workers)
    exhaust(batches)  # warms up

    def measure() -> float:
        began = time.process_time()
        exhaust(batches)
        return 1000 * (time.process_time() - began) / len(paths)

    return measure


def exhaust(batches: Iterable[Any]) -> None:
    """Takes every batch of an epoch."""
    for _ in batches:
        pass


def measure(paths: list[str], workers: int, names: list[str], rounds: int) -> dict[str, dict[str, dict[str, float]]]:
    """By operation and side: the least seconds without and with the operation."""
    results: dict[str, dict[str, dict[str, float]]] = {name: {} for name in names}
    for side, make in {"tfgoloader": ours, "keras": keras_layer}.items():
        without = make(paths, workers, None)
        least = min(without() for _ in range(rounds))
        for name in names:
            with_operation = make(paths, workers, name)
            results[name][side] = {"with": min(with_operation() for _ in range(rounds))}
            least = min(least, without())  # now and then, as the machine's pace changes
            print(side, name, results[name][side], flush=True)
        for name in names:
            results[name][side]["without"] = least
    return results


def table(results: dict[str, dict[str, dict[str, float]]]) -> str:
    """One line an operation."""
    lines = [
        "| operation | its own: tfgoloader | Keras | with decoding: tfgoloader | Keras | Keras / tfgoloader |",
        "|:--|--:|--:|--:|--:|--:|",
    ]
    for name, took in results.items():
        mine, theirs = took["tfgoloader"], took["keras"]
        own = [side["with"] - side["without"] for side in (mine, theirs)]
        values = [f"{value:.2f}" for value in (*own, mine["with"], theirs["with"])]
        lines.append(f"| {name} | {' | '.join(values)} | {theirs['with'] / mine['with']:.1f} |")
    return "\n".join(lines)


def main() -> int:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    parser = session.options(__doc__)
    parser.add_argument("--data", type=Path, help='a folder with train.txt, "path label" a line (default: makes one)')
    parser.add_argument("--images", type=int, default=512, help="use, or make, so many pictures")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=machine.cores())
    parser.add_argument("--only", default=",".join(OPERATIONS), help="operations to measure")
    chosen = parser.parse_args()
    listed, _ = dataset.choose(chosen.data, chosen.out, chosen.images, chosen.workers)
    paths, _ = read_list(listed)
    results = measure(paths, chosen.workers, chosen.only.split(","), chosen.rounds)
    parts = [
        "# Colour operations",
        f"Processor seconds of 1,000 pictures of {SIDE} x {SIDE}.",
        table(results),
        f"```\n{machine.describe()}\n{chosen.workers} workers, {len(paths)} pictures, {chosen.rounds} rounds\n```",
    ]
    session.store(results, parts, chosen, "colour")
    return 0


if __name__ == "__main__":
    sys.exit(main())
