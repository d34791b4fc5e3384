#!/usr/bin/env python3
"""Makes the benchmark's pictures: JPEGs whose sizes, subsampling, quality and bytes are like ImageNet's.

They are windows of the photographs that the wheels of scikit-image, scikit-learn and matplotlib carry, so nothing is
downloaded. Same seed and same Pillow, same bytes. The labels (50 classes) mean nothing: the benchmark only carries
them along.
"""

import argparse
import json
import os
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib.metadata import distribution
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageFilter

from peer import read_list

SEED = 1
CLASSES = 50
SMALLEST = 232  # pixels; every side is at least that, so that a 224 x 224 window always fits
PHOTOGRAPHS = [
    *(
        ("scikit-image", f"skimage/data/{name}")
        for name in (
            "astronaut.png",
            "camera.png",
            "chelsea.png",
            "coffee.png",
            "gravel.png",
            "hubble_deep_field.jpg",
            "ihc.png",
            "motorcycle_left.png",
            "motorcycle_right.png",
            "retina.jpg",
            "rocket.jpg",
        )
    ),
    ("scikit-learn", "sklearn/datasets/images/china.jpg"),
    ("scikit-learn", "sklearn/datasets/images/flower.jpg"),
    ("matplotlib", "matplotlib/mpl-data/sample_data/grace_hopper.jpg"),
]
# ImageNet: most pictures have a long side of 500, some are smaller, a few are much larger.
COMMON_SIZES = [(500, 375), (500, 333), (375, 500), (333, 500)]
COMMON_SHARES = [0.37, 0.14, 0.10, 0.05, 0.24, 0.10]  # of the four above, of small ones, of large ones
QUALITIES, QUALITY_SHARES = [75, 85, 90, 92, 94, 95, 96], [0.02, 0.05, 0.12, 0.16, 0.2, 0.25, 0.2]
SUBSAMPLINGS, SUBSAMPLING_SHARES = ["4:2:0", "4:4:4", "4:2:2"], [0.85, 0.12, 0.03]
PROGRESSIVE, GRAY = 0.02, 0.01  # shares
GRAIN = (1.5, 5.0)  # grey levels: the noise of a sensor, which enlarging a photograph has smoothed away


@cache
def photograph(number: int) -> Image.Image:
    """The photograph as RGB; kept, since every process cuts many pictures from it."""
    package, path = PHOTOGRAPHS[number]
    with Image.open(str(distribution(package).locate_file(path))) as picture:
        return picture.convert("RGB")


def draw_size(draw: np.random.Generator) -> tuple[int, int]:
    """Width and height in pixels."""
    kind = int(draw.choice(len(COMMON_SHARES), p=COMMON_SHARES))
    if kind < len(COMMON_SIZES):
        return COMMON_SIZES[kind]
    long = int(draw.integers(250, 480) if kind == len(COMMON_SIZES) else min(1200, 520 + draw.exponential(260)))
    short = max(SMALLEST, int(long * draw.uniform(0.66, 0.95)))
    return (long, short) if draw.random() < 0.7 else (short, long)


def cut(draw: np.random.Generator, width: int, height: int) -> Image.Image:
    """A window of a photograph, brought to the size asked with at most the enlargement that the photographs force."""
    fits = np.array([min(p.width / width, p.height / height) for p in map(photograph, range(len(PHOTOGRAPHS)))])
    shares = np.where(fits >= min(0.85, float(fits.max())), 1.0, 0.0)  # of those large enough
    number = int(draw.choice(len(PHOTOGRAPHS), p=shares / shares.sum()))
    source = photograph(number)
    scale = draw.uniform(0.7, 1.0) * min(fits[number], 2.0)  # photograph pixels to one of the picture's
    window = round(width * scale), round(height * scale)
    left = int(draw.integers(0, source.width - window[0] + 1))
    top = int(draw.integers(0, source.height - window[1] + 1))
    box = (left, top, left + window[0], top + window[1])
    return source.resize((width, height), Image.Resampling.BICUBIC, box=box)


def relook(draw: np.random.Generator, picture: Image.Image) -> Image.Image:
    """Other light, other colours, sharpened as a camera does, with grain."""
    gamma, gains = draw.uniform(0.8, 1.25), draw.uniform(0.9, 1.1, 3)
    curve = 255 * (np.arange(256) / 255) ** gamma
    table = np.concatenate([np.clip(curve * gain, 0, 255) for gain in gains]).astype(np.uint8)
    picture = picture.point(table.tolist())
    picture = picture.filter(ImageFilter.UnsharpMask(radius=1, percent=int(draw.integers(90, 260)), threshold=0))
    grain = draw.normal(0, draw.uniform(*GRAIN), (picture.height, picture.width, 1))
    return Image.fromarray(np.clip(np.asarray(picture) + grain, 0, 255).astype(np.uint8))


def make_picture(folder: Path, seed: int, number: int) -> dict[str, object]:
    """Writes one picture; says what was made."""
    draw = np.random.default_rng([seed, number])
    width, height = draw_size(draw)
    picture = relook(draw, cut(draw, width, height))
    if gray := bool(draw.random() < GRAY):
        picture = picture.convert("L")
    quality = int(draw.choice(QUALITIES, p=QUALITY_SHARES))
    subsampling = str(draw.choice(SUBSAMPLINGS, p=SUBSAMPLING_SHARES))
    progressive = bool(draw.random() < PROGRESSIVE)
    label = number % CLASSES
    name = f"{label:02d}/{number:05d}.jpg"
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    options = {} if gray else {"subsampling": subsampling}
    picture.save(path, "JPEG", quality=quality, progressive=progressive, **options)
    kind = "gray" if gray else subsampling
    size = path.stat().st_size
    return {"name": name, "label": label, "pixels": width * height, "bytes": size, "kind": kind, "quality": quality}


def make(folder: Path, count: int, seed: int, workers: int) -> None:
    """Fills folder with count pictures, train.txt ("path label" a line) and info.json; train.txt comes last."""
    folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(workers) as pool:
        rows = list(pool.map(make_picture, repeat(folder), repeat(seed), range(count), chunksize=16))
    kinds = [row["kind"] for row in rows]
    info = {
        "pictures": count,
        "seed": seed,
        "mean_kilobytes": round(float(np.mean([row["bytes"] for row in rows])) / 1000, 1),
        "mean_megapixels": round(float(np.mean([row["pixels"] for row in rows])) / 1e6, 4),
        "mean_quality": round(float(np.mean([row["quality"] for row in rows])), 1),
        "kinds": {str(kind): kinds.count(kind) for kind in sorted(set(kinds), key=str)},
    }
    (folder / "info.json").write_text(json.dumps(info, indent=1) + "\n")
    unfinished = folder / "train.txt.part"
    unfinished.write_text("".join(f"{row['name']} {row['label']}\n" for row in rows))
    unfinished.rename(folder / "train.txt")


def choose(folder: Path | None, out: Path, count: int, workers: int) -> tuple[Path, dict[str, Any]]:
    """The benchmark's pictures: the first of a given folder, or our own, made below out where they are not there yet.

    Returns a file of "absolute path, label" lines, and what is in it.
    """
    source = "given"
    if folder is None:
        folder, source = out / f"data-{count}-{SEED}", f"made by bench/dataset.py, seed {SEED}"
        if not (folder / "train.txt").exists():
            print(f"making {count} pictures ...", flush=True)
            make(folder, count, SEED, workers)
    paths, labels = read_list((folder / "train.txt").resolve())
    paths, labels = paths[:count], labels[:count]
    listed = out / "list.txt"
    listed.write_text("".join(f"{path} {label}\n" for path, label in zip(paths, labels, strict=True)))
    size = sum(Path(path).stat().st_size for path in paths) / len(paths)
    return listed, {"pictures": len(paths), "source": source, "mean_kilobytes": round(size / 1000, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pictures", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    make(options.folder, options.pictures, options.seed, options.workers)
    print((options.folder / "info.json").read_text(), end="")


if __name__ == "__main__":
    main()
