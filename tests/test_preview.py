"""A preview shows the samples as they come, and what is known about them, and disturbs nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import tfgoloader as tgl
from tfgoloader import ops

SIDE = 40
ROOT = Path(__file__).parent.parent


def tiles(sheet: np.ndarray, count: int, width: int = SIDE, caption: int = 14) -> list[np.ndarray]:
    """Cut the pictures out of a grid, by its margins of 4 pixels."""
    columns = int(np.ceil(np.sqrt(count)))
    height = SIDE + caption
    return [
        sheet[top + caption : top + height, left : left + width]
        for top, left in (
            (4 + row * (height + 4), 4 + column * (width + 4))
            for row, column in (divmod(i, columns) for i in range(count))
        )
    ]


def test_the_pictures_are_those_of_the_first_epoch(photographs: list[Path]) -> None:
    pipeline: list[ops.Op] = [ops.RandomCrop(SIDE, SIDE), ops.RandomFlip(), ops.RandomRotation(0.1)]
    arguments: dict[str, Any] = {"batch_size": 4, "shuffle": True, "seed": 3}
    source = tgl.sources.Paths(photographs, labels=range(len(photographs)))
    with tgl.ImageLoader(source, pipeline, dtype="uint8", **arguments) as loader:
        want = np.concatenate([images for images, _ in loader])[:7]
    with tgl.ImageLoader(
        source, [*pipeline, ops.Rescaling(1 / 255)], data_format="channels_first", **arguments
    ) as loader:
        before = next(iter(loader))[0].copy()
        sheet = loader.preview(7)
        assert sheet.dtype == np.uint8
        assert sheet.shape == (3 * (SIDE + 18) + 4, 3 * (SIDE + 4) + 4, 3)
        for tile, image in zip(tiles(sheet, 7), want, strict=True):
            np.testing.assert_array_equal(tile, image)
        after = next(iter(loader))[0]
        assert before.shape == after.shape
    with tgl.ImageLoader(
        source, [*pipeline, ops.Rescaling(1 / 255)], data_format="channels_first", **arguments
    ) as undisturbed:
        np.testing.assert_array_equal(next(iter(undisturbed))[0], before)
        np.testing.assert_array_equal(next(iter(undisturbed))[0], after)


def test_masks_boxes_and_names_are_drawn(tmp_path: Path) -> None:
    picture, mask = np.full((SIDE, SIDE, 3), 100, np.uint8), np.zeros((SIDE, SIDE), np.uint8)
    mask[10:20, 5:25] = 1
    Image.fromarray(picture).save(tmp_path / "a.png")
    Image.fromarray(mask).save(tmp_path / "mask.png")
    paths, masks = [tmp_path / "a.png"], [tmp_path / "mask.png"]
    crop = [ops.CenterCrop(SIDE, SIDE)]
    with tgl.ImageLoader(tgl.sources.Paths(paths, masks=masks), crop) as loader:
        (tile,) = tiles(loader.preview(), 1, caption=0)
        changed = (tile != 100).any(axis=-1)
        np.testing.assert_array_equal(changed, mask == 1)
    boxes = tgl.sources.Paths(paths, boxes=[np.array([[4.0, 6.0, 30.0, 36.0]])], box_labels=[np.array([2])])
    with tgl.ImageLoader(boxes, crop, box_format="xyxy") as loader:
        (tile,) = tiles(loader.preview(), 1, caption=0)
        changed = (tile != 100).any(axis=-1)
        assert changed[6, 4:30].all()
        assert changed[35, 4:30].all()
        assert changed[6:36, 4].all()
        assert changed[6:36, 29].all()
        assert not changed[:6].any()
        assert not changed[36:].any()
    everything = tgl.sources.Paths(
        paths, labels=[0], masks=masks, boxes=[np.zeros((0, 4))], box_labels=[np.zeros(0, int)]
    )
    with tgl.ImageLoader(everything, crop, channels=1) as loader:
        (tile,) = tiles(loader.preview(), 1)
        assert (tile[:5] == 100).all()
        assert (loader.preview()[:18] < 128).any(), "no caption"


def test_views_and_mixed_labels(photographs: list[Path]) -> None:
    source = tgl.sources.Paths(photographs[:4], labels=[0, 1, 2, 3])
    with tgl.ImageLoader(source, [ops.RandomCrop(SIDE, SIDE)], views=2, seed=1, dtype="uint8") as loader:
        first, second = next(iter(loader))[0]
        sheet = loader.preview(1)
        np.testing.assert_array_equal(tiles(sheet, 1, 2 * SIDE)[0], np.concatenate([first[0], second[0]], axis=1))
    with tgl.ImageLoader(tgl.sources.Paths(photographs[:4]), [ops.RandomCrop(SIDE, SIDE)], views=2, seed=1) as loader:
        assert tiles(loader.preview(4), 4, 2 * SIDE, 0)[3].shape == (SIDE, 2 * SIDE, 3)
    mixing = [ops.RandomCrop(SIDE, SIDE), ops.MixUp(alpha=1.0)]
    with tgl.ImageLoader(source, mixing, labels=ops.OneHot(4), seed=1) as loader:
        assert loader.preview(100).shape == (2 * (SIDE + 18) + 4, 2 * (SIDE + 4) + 4, 3)


def test_wrong_numbers_are_named(photographs: list[Path]) -> None:
    with tgl.ImageLoader(tgl.sources.Paths(photographs[:2]), [ops.RandomCrop(SIDE, SIDE)]) as loader:
        for n in (0, -1, 2.5, "3"):
            with pytest.raises(tgl.ConfigError, match="n="):
                loader.preview(n)  # type: ignore[arg-type]


def test_the_example_saves_a_preview(photographs: list[Path], tmp_path: Path) -> None:
    listing = tmp_path / "train.txt"
    listing.write_text("".join(f"{path} {index % 3}\n" for index, path in enumerate(photographs)))
    done = subprocess.run(
        [sys.executable, ROOT / "examples/preview.py", listing, "--size", "48", "--output", tmp_path / "preview.png"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    with Image.open(tmp_path / "preview.png") as sheet:
        assert sheet.size == (4 * 52 + 4, 4 * 66 + 4)
