"""A mask made of the picture's own threshold stays aligned to the pixel, under 200 random chains of operations."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from PIL import Image

import tfgoloader as tgl
from tfgoloader import ops

CHAINS = 200
COUNT = 3
HEIGHT, WIDTH = 24, 26


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> tgl.sources.Source:
    """White shapes on black, and their thresholds."""
    folder = tmp_path_factory.mktemp("chains")
    generator = np.random.default_rng(6)
    rows, columns = np.mgrid[:61, :73]
    paths, masks = [], []
    for number in range(COUNT):
        shapes = np.zeros(rows.shape, bool)
        for _ in range(5):
            y, x, radius = generator.uniform(0, 61), generator.uniform(0, 73), generator.uniform(4, 14)
            shapes |= np.hypot(rows - y, columns - x) < radius
        paths.append(folder / f"{number}.png")
        masks.append(folder / f"{number}_mask.png")
        Image.fromarray(np.repeat(shapes[..., None], 3, 2).astype(np.uint8) * 255).save(paths[-1])
        Image.fromarray(shapes.astype(np.uint8)).save(masks[-1])
    return tgl.sources.Paths(paths, masks=masks)


def chain(choose: random.Random, interpolation: str) -> list[ops.Op]:
    """Return a few operations that move pixels, and at the end a fixed size."""
    fill: dict[str, Any] = {"fill_mode": choose.choice(["constant", "nearest", "reflect", "wrap"])}
    how: dict[str, Any] = {"interpolation": interpolation}
    like: dict[str, Any] = {**how, "like": choose.choice(["keras", "pillow", "torchvision", "opencv"])}
    pool: list[ops.Op] = [
        ops.RandomFlip(),
        ops.RandomRotation(0.2, **how, **fill),
        ops.RandomTranslation(0.3, 0.2, **how, **fill),
        ops.RandomZoom(0.4, (-0.2, 0.5), **how, **fill),
        ops.RandomShear(0.3, 0.2, **how, **fill),
        ops.RandomPerspective(1.0, 0.5, **how),
        ops.Pad(((3, 0), (2, 5)), **fill),
        ops.Resizing(choose.randint(30, 90), choose.randint(30, 90), antialias=choose.random() < 0.5, **like),
        ops.Resizing(44, 60, pad_to_aspect_ratio=True, **like, **fill),
        ops.Resizing(60, 44, crop_to_aspect_ratio=True, **like),
        ops.ResizeWithPad(50, 40, **like),
        ops.ResizeShorter(choose.randint(30, 70), **like),
        ops.RandomResizedCrop(50, 45, scale=(0.3, 1.0), **like),
        ops.RandomCrop(48, 50, if_smaller="pad", **fill),
        ops.RandomApply([ops.RandomFlip(), ops.RandomRotation(0.5, **how, **fill)]),
        ops.OneOf([ops.RandomZoom(0.3, **how, **fill), ops.RandomShear(0.3, **how, **fill)]),
        ops.RandomOrder([ops.RandomFlip(), ops.RandomTranslation(0.2, 0.2, **how, **fill)]),
        ops.RandomErasing((0.0, 0.0)),
        ops.RandomBrightness((0.0, 0.0)),
    ]
    return [*choose.sample(pool, choose.randint(2, 6)), ops.RandomCrop(HEIGHT, WIDTH, if_smaller="pad", **fill)]


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear"])
def test_masks_stay_aligned(source: tgl.sources.Source, interpolation: str) -> None:
    choose = random.Random(interpolation)
    mixed = 0
    for seed in range(CHAINS // 2):
        pipeline = chain(choose, interpolation)
        with tgl.ImageLoader(source, pipeline, dtype="uint8", seed=seed, batch_size=COUNT, num_workers=2) as loader:
            images, masks = next(iter(loader))
        assert images.shape == (COUNT, HEIGHT, WIDTH, 3)
        white, black, mask = images[..., :1] == 255, images[..., :1] == 0, masks == 1
        assert (mask | (masks == 0)).all()
        if interpolation == "nearest":
            assert (white | black).all(), pipeline
        assert not (white & ~mask).any(), pipeline  # all that a white pixel is made of is white
        assert not (black & mask).any(), pipeline
        mixed += 0 < mask.mean() < 1
    assert mixed > CHAINS // 2 * 0.9
