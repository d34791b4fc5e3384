#!/usr/bin/env python3
"""What decoding a picture of another format than JPEG costs: PNG beside TensorFlow, WebP and TIFF beside Pillow.

The pictures are the benchmark's (dataset.py), 500 x 375, stored anew in each format. Ours is a whole epoch of the
loader on one worker: reading the file, decoding, writing uint8 into a batch. The others only decode: tf.io.decode_png
from a tensor in memory, Pillow from the file to its own picture. Each has a process of its own, and they take turns. A
turn's time is the processor time of its process from the end of the turn before: what is prepared between turns counts.
"""

import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from PIL import Image

import dataset
import machine
import session

SIZE = 375, 500
FORMATS: dict[str, tuple[str, dict[str, Any]]] = {
    "PNG": ("PNG", {}),
    "PNG, fast": ("PNG", {"compress_level": 1}),
    "WebP, lossy": ("WEBP", {"quality": 80}),
    "WebP, lossless": ("WEBP", {"lossless": True}),
    "TIFF": ("TIFF", {}),
    "TIFF, LZW": ("TIFF", {"compression": "tiff_lzw"}),
    "TIFF, deflate": ("TIFF", {"compression": "tiff_adobe_deflate"}),
    "TIFF, deflate, predictor": ("TIFF", {"compression": "tiff_adobe_deflate", "tiffinfo": {317: 2}}),
    "TIFF, PackBits": ("TIFF", {"compression": "packbits"}),
}


def write(folder: Path, pictures: list[Image.Image]) -> dict[str, list[Path]]:
    """Stores every picture in every format."""
    paths: dict[str, list[Path]] = {}
    for name, (kind, options) in FORMATS.items():
        paths[name] = []
        for number, picture in enumerate(pictures):
            paths[name].append(folder / f"{len(paths)}-{number}")
            picture.save(paths[name][-1], kind, **options)
    return paths


def ours(paths: list[Path]) -> Callable[[], object]:
    import tfgoloader as tgl
    from tfgoloader import ops

    loader = tgl.ImageLoader(
        tgl.sources.Paths(paths), [ops.CenterCrop(*SIZE)], dtype="uint8", batch_size=16, num_workers=1
    )

    def epoch() -> int:
        return sum(len(images) for images in loader)

    return epoch


def tensorflow(paths: list[Path]) -> Callable[[], object]:
    import tensorflow as tf

    files = [tf.constant(path.read_bytes()) for path in paths]
    return lambda: [tf.io.decode_png(data, channels=3) for data in files]


def pillow(paths: list[Path]) -> Callable[[], object]:
    def decode(path: Path) -> None:
        with Image.open(path) as picture:
            picture.convert("RGB").load()

    return lambda: [decode(path) for path in paths]


PEERS: dict[str, Callable[[list[Path]], Callable[[], object]]] = {
    "ours": ours,
    "TensorFlow": tensorflow,
    "Pillow": pillow,
}


def serve(peer: str, paths: list[Path], harness: Connection) -> None:
    """The peer's process: decodes all pictures whenever it is told to, and tells its processor time so far."""
    decode = PEERS[peer](paths)
    while harness.recv():
        decode()
        harness.send(time.process_time())


def measure(peers: tuple[str, str], paths: list[Path], rounds: int) -> list[list[float]]:
    """Milliseconds a picture of each peer, a value a round; every second round goes in the opposite order."""
    context = multiprocessing.get_context("spawn")
    connections: list[Connection] = []
    for peer in peers:
        mine, its = context.Pipe()
        context.Process(target=serve, args=(peer, paths, its), daemon=True).start()
        connections.append(mine)

    def turn(connection: Connection) -> float:
        connection.send(True)
        return float(connection.recv())

    for _ in range(2):  # to warm up
        before = [turn(connection) for connection in connections]
    times: list[list[float]] = [[] for _ in peers]
    for number in range(rounds):
        order = list(range(len(peers)))
        for index in order if number % 2 else reversed(order):
            now = turn(connections[index])
            times[index].append(1e3 * (now - before[index]) / len(paths))
            before[index] = now
    for connection in connections:
        connection.send(False)
    return times


def main() -> int:
    parser = session.options(__doc__)
    parser.add_argument("--pictures", type=int, default=48)
    parser.add_argument("--rounds", type=int, default=11)
    chosen = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    draw = np.random.default_rng(dataset.SEED)
    height, width = SIZE
    pictures = [dataset.relook(draw, dataset.cut(draw, width, height)) for _ in range(chosen.pictures)]
    results: dict[str, dict[str, Any]] = {}
    lines = [f"{'ms of processor a picture':26}{'ours':>8}{'peer':>8}  {'peer / ours':22}kB"]
    with tempfile.TemporaryDirectory() as folder:
        for name, paths in write(Path(folder), pictures).items():
            peer = "TensorFlow" if FORMATS[name][0] == "PNG" else "Pillow"
            mine, theirs = measure(("ours", peer), paths, chosen.rounds)
            ratios = sorted(b / a for a, b in zip(mine, theirs, strict=True))
            size = sum(path.stat().st_size for path in paths) / len(paths) / 1e3
            results[name] = {"peer": peer, "ours_ms": mine, "peer_ms": theirs, "kilobytes": round(size, 1)}
            span = f"{median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
            lines.append(f"{name:26}{median(mine):8.2f}{median(theirs):8.2f}  {span:22}{size:.0f}  {peer}")
    parts = ["# Other formats than JPEG", str(machine.describe()), "\n".join(["```", *lines, "```"])]
    session.store(results, parts, chosen, "formats")
    return 0


if __name__ == "__main__":
    sys.exit(main())
