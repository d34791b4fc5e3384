"""image_dataset_from_directory with pad_to_aspect_ratio gives the pixels of Keras' function."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pictures
import pytest
from PIL import Image

import tfgoloader as tgl

SIZES = [(40, 60), (60, 40), (37, 91), (50, 50), (91, 20), (1, 30), (30, 1), (33, 47)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("padded")
    (root / "a").mkdir()
    for number, size in enumerate(SIZES):
        Image.fromarray(pictures.photograph(*size, number)).save(root / "a" / f"{number}.png")
        Image.fromarray(pictures.photograph(*size, number)).save(root / "a" / f"{number}.jpg", quality=90)
    return root


@pytest.mark.parametrize("interpolation", ["bilinear", "nearest", "bicubic", "area", "lanczos3"])
@pytest.mark.parametrize("size", [(32, 32), (45, 30), (30, 71), (120, 100)], ids=str)
def test_borders_are_those_of_keras(folder: Path, keras: Any, size: tuple[int, int], interpolation: str) -> None:
    """The picture is resized first, and then laid in the middle of black: borders are sharp."""
    options: dict[str, Any] = {"pad_to_aspect_ratio": True, "shuffle": False, "verbose": False, "image_size": size}
    ours = tgl.image_dataset_from_directory(folder, interpolation=interpolation, **options)
    theirs = keras.utils.image_dataset_from_directory(folder, interpolation=interpolation, **options)
    assert ours.element_spec == theirs.element_spec
    assert ours.file_paths == theirs.file_paths
    for (images, _), (expected, _) in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(np.float64(images), np.float64(expected), rtol=0, atol=1e-3)


@pytest.mark.parametrize("color_mode", ["grayscale", "rgb"])
def test_channels_first(folder: Path, keras: Any, color_mode: str) -> None:
    options: dict[str, Any] = {"pad_to_aspect_ratio": True, "shuffle": False, "verbose": False, "image_size": (32, 48)}
    options |= {"data_format": "channels_first", "color_mode": color_mode, "labels": None}
    ours = tgl.image_dataset_from_directory(folder, **options)
    theirs = keras.utils.image_dataset_from_directory(folder, **options)
    for images, expected in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(np.asarray(images), np.asarray(expected), rtol=0, atol=1e-3)
