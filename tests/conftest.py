"""Data sets and slow imports that the tests share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pictures
import pytest
from PIL import Image

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

ENCODED_SIZES = [
    (1, 1),
    (3, 50),
    (7, 9),
    (8, 8),
    (16, 16),
    (17, 31),
    (33, 64),
    (64, 33),
    (75, 101),
    (76, 301),
    (130, 97),
]
PHOTOGRAPHS = 53  # a prime: no batch size divides it


@pytest.fixture(scope="session")
def tf() -> Any:
    """TensorFlow, which takes seconds to import."""
    import tensorflow

    return tensorflow


@pytest.fixture(scope="session")
def keras(tf: Any) -> Any:
    """Keras."""
    import keras

    return keras


@pytest.fixture(scope="session")
def tf_decode(tf: Any) -> Callable[..., np.ndarray]:
    """A file's whole picture as TensorFlow decodes it; each is decoded once."""
    known: dict[tuple[Path, str], np.ndarray] = {}

    def decode(path: Path, dct_method: str = "INTEGER_ACCURATE") -> np.ndarray:
        if (path, dct_method) not in known:
            tensor = tf.io.decode_jpeg(path.read_bytes(), channels=3, dct_method=dct_method)
            known[path, dct_method] = tensor.numpy()
        return known[path, dct_method]

    return decode


@pytest.fixture(scope="session")
def encodings(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int, int], list[Path]]:
    """JPEG files of every encoding in several sizes, by (height, width)."""
    folder = tmp_path_factory.mktemp("encodings")
    return {size: pictures.write_all_encodings(folder, *size) for size in ENCODED_SIZES}


@pytest.fixture(scope="session")
def photographs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """JPEG files of different pictures, each 60 to 112 rows by 64 to 116 columns."""
    folder = tmp_path_factory.mktemp("photographs")
    paths = [folder / f"{index:02}.jpg" for index in range(PHOTOGRAPHS)]
    for index, path in enumerate(paths):
        size = 60 + index, 64 + index * 7 % PHOTOGRAPHS
        Image.fromarray(pictures.photograph(*size, 1000 + index)).save(path, quality=85, progressive=index % 5 == 0)
    return paths


@pytest.fixture(scope="session")
def photograph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One JPEG file of 90 rows by 121 columns."""
    path = tmp_path_factory.mktemp("photograph") / "one.jpg"
    Image.fromarray(pictures.photograph(90, 121, 5)).save(path, quality=90)
    return path
