#!/usr/bin/env python3
"""Makes the demo's data set: real photographs, cut into pieces; the class is the photograph.

The photographs are those that the wheels of scikit-image and scikit-learn carry, so nothing is downloaded.
Same seed and same Pillow, same bytes.

The pieces of a photograph overlap, also between train/ and validation/: most photographs are hardly larger than a
piece. No two pieces have the same window, and size, colours, blur and JPEG quality are drawn anew for each, so the
validation accuracy says how well a network knows a photograph from a window and a look it has not seen. It says
nothing about places in the photograph that no training window covered.
"""

import argparse
import json
import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

from PIL import Image, ImageEnhance, ImageFilter

# The file in its wheel, by class name.
PHOTOGRAPHS = {
    "astronaut": ("scikit-image", "skimage/data/astronaut.png"),
    "camera": ("scikit-image", "skimage/data/camera.png"),  # gray, and so are its JPEGs
    "cat": ("scikit-image", "skimage/data/chelsea.png"),
    "coffee": ("scikit-image", "skimage/data/coffee.png"),
    "coins": ("scikit-image", "skimage/data/coins.png"),  # gray
    "flower": ("scikit-learn", "sklearn/datasets/images/flower.jpg"),
    "galaxies": ("scikit-image", "skimage/data/hubble_deep_field.jpg"),
    "motorcycle": ("scikit-image", "skimage/data/motorcycle_left.png"),
    "retina": ("scikit-image", "skimage/data/retina.jpg"),
    "rocket": ("scikit-image", "skimage/data/rocket.jpg"),
    "temple": ("scikit-learn", "sklearn/datasets/images/china.jpg"),
    "tissue": ("scikit-image", "skimage/data/ihc.png"),
}
CLASSES = sorted(PHOTOGRAPHS)  # as a label numbers them
PIECES = {"train": 150, "validation": 30}  # of each photograph
SIDE = (250, 600)  # pixels, of a piece's width and of its height
SCALE = (0.9, 2.2)  # piece pixels to one pixel of the photograph, where the photograph is large enough for it


@dataclass(frozen=True)
class Piece:
    """One JPEG to be: the window it shows, its size in pixels, and the seed of its look."""

    name: str
    split: str
    photograph: str
    window: tuple[int, int, int, int]
    size: tuple[int, int]
    seed: str


def open_photograph(name: str) -> Image.Image:
    """The photograph as its wheel has it, RGB or gray."""
    package, path = PHOTOGRAPHS[name]
    with Image.open(str(distribution(package).locate_file(path))) as picture:
        picture.load()
        return picture.copy()


def plan(seed: int) -> Iterator[Piece]:
    """All pieces, every window once."""
    for photograph in CLASSES:
        width, height = open_photograph(photograph).size
        draw = random.Random(f"{seed} {photograph}")
        used: set[tuple[int, int, int, int]] = set()
        for split, count in PIECES.items():
            for number in range(count):
                while True:
                    size = draw.randint(*SIDE), draw.randint(*SIDE)
                    scale = max(draw.uniform(*SCALE), size[0] / width, size[1] / height)
                    w, h = min(width, round(size[0] / scale)), min(height, round(size[1] / scale))
                    left, top = draw.randint(0, width - w), draw.randint(0, height - h)
                    window = (left, top, left + w, top + h)
                    if window not in used:
                        break
                used.add(window)
                name = f"{split}/{photograph}/{number:03d}.jpg"
                yield Piece(name, split, photograph, window, size, f"{seed} {name}")


def cut(photograph: Image.Image, piece: Piece, directory: Path) -> None:
    """Writes the piece below directory: window, size, brightness, contrast, saturation, blur, JPEG quality."""
    draw = random.Random(piece.seed)
    picture = photograph.resize(piece.size, Image.Resampling.BICUBIC, box=piece.window)
    for enhance in (ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color):
        picture = enhance(picture).enhance(draw.uniform(0.7, 1.3))
    picture = picture.filter(ImageFilter.GaussianBlur(draw.uniform(0, 1.2)))
    picture.save(directory / piece.name, quality=draw.randint(75, 95))


def make(directory: Path, seed: int = 7) -> Path:
    """Makes the data set unless it is there, and returns its directory.

    It holds train/CLASS/*.jpg, validation/CLASS/*.jpg, and train.txt and validation.txt with "path label" a line.
    One made by another recipe is replaced; FileExistsError where the directory holds anything else.
    """
    recipe = json.dumps({"seed": seed, "photographs": PHOTOGRAPHS, "pieces": PIECES, "side": SIDE, "scale": SCALE})
    made = directory / "recipe.json"
    if made.is_file() and made.read_text() == recipe:
        return directory
    if directory.exists() and not made.is_file():
        raise FileExistsError(f"{directory} is there and was not made here; name another directory")
    directory.parent.mkdir(parents=True, exist_ok=True)
    # Made elsewhere and renamed, so that an interrupted run leaves nothing that looks whole.
    with tempfile.TemporaryDirectory(dir=directory.parent) as scratch:
        new = Path(scratch) / "new"
        pieces = list(plan(seed))
        for parent in {(new / piece.name).parent for piece in pieces}:
            parent.mkdir(parents=True)
        opened = {name: open_photograph(name) for name in PHOTOGRAPHS}
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:  # Pillow works without the GIL
            for _ in pool.map(lambda piece: cut(opened[piece.photograph], piece, new), pieces):
                pass  # raises what a thread raised
        for split in PIECES:
            lines = [f"{piece.name} {CLASSES.index(piece.photograph)}\n" for piece in pieces if piece.split == split]
            (new / f"{split}.txt").write_text("".join(lines))
        (new / made.name).write_text(recipe)
        if directory.exists():
            shutil.rmtree(directory)
        new.rename(directory)
    return directory


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("directory", type=Path, nargs="?", default=Path("build/demo/data"))
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    print(make(arguments.directory, arguments.seed))
