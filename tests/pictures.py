"""Pictures made for the tests, and small helpers that more than one of them needs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from PIL import Image

import tfgoloader as tgl
from tfgoloader import ops

# What Pillow is asked for, one file of each kind; "mode" is the picture's own.
PILLOW_ENCODINGS: dict[str, dict[str, Any]] = {
    "444": {"subsampling": 0, "quality": 90},
    "422": {"subsampling": 1, "quality": 90},
    "420": {"subsampling": 2, "quality": 90},
    "quality_1": {"quality": 1},
    "quality_100": {"quality": 100, "subsampling": 0},
    "optimized": {"optimize": True},
    "progressive_444": {"progressive": True, "subsampling": 0},
    "progressive_420": {"progressive": True, "subsampling": 2, "quality": 60},
    "restart_blocks": {"restart_marker_blocks": 3, "subsampling": 2},
    "restart_rows": {"restart_marker_rows": 1, "subsampling": 1},
    "progressive_restart": {"progressive": True, "restart_marker_blocks": 2},
    "rgb": {"keep_rgb": True, "quality": 90},
    "gray": {"mode": "L"},
    "gray_progressive": {"mode": "L", "progressive": True},
    "gray_restart": {"mode": "L", "restart_marker_blocks": 5},
    "cmyk": {"mode": "CMYK", "quality": 90},
    "cmyk_progressive": {"mode": "CMYK", "progressive": True},
}
# Samplings that only OpenCV writes.
OPENCV_ENCODINGS = {
    "411": [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_411],
    "440": [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_440],
    "411_restart": [
        *(cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_411),
        *(cv2.IMWRITE_JPEG_RST_INTERVAL, 2),
    ],
    "440_progressive": [
        *(cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_440),
        *(cv2.IMWRITE_JPEG_PROGRESSIVE, 1),
    ],
}


def photograph(height: int, width: int, seed: int) -> np.ndarray:
    """Return smooth colours with edges and grain: something in every frequency, and no two windows alike."""
    random = np.random.default_rng(seed)
    coarse = Image.fromarray(random.integers(0, 256, (4, 4, 3), np.uint8))
    picture = np.asarray(coarse.resize((width, height), Image.Resampling.BICUBIC)).astype(float)
    for _ in range(4):
        top, left = random.integers(0, height), random.integers(0, width)
        picture[top : top + height // 3, left : left + width // 3] = random.integers(0, 256, 3)
    return (picture + random.normal(0, 12, picture.shape)).clip(0, 255).astype(np.uint8)


def write_photographs(folder: Path, count: int, height: int = 40, width: int = 60) -> list[Path]:
    """Write pictures that grow higher and less wide by a pixel each, to files that lose nothing."""
    paths = [folder / f"{index:02}.png" for index in range(count)]
    for index, path in enumerate(paths):
        Image.fromarray(photograph(height + index, width - index, index)).save(path)
    return paths


def write_all_encodings(folder: Path, height: int, width: int) -> list[Path]:
    """Write one file of each encoding, each of another picture of that size."""
    paths = []
    for seed, (name, options) in enumerate(PILLOW_ENCODINGS.items()):
        paths.append(folder / f"{name}_{height}x{width}.jpg")
        arguments = {**options}
        picture = Image.fromarray(photograph(height, width, seed)).convert(arguments.pop("mode", "RGB"))
        picture.save(paths[-1], **arguments)
    for seed, (name, flags) in enumerate(OPENCV_ENCODINGS.items(), 100):
        paths.append(folder / f"{name}_{height}x{width}.jpg")
        assert cv2.imwrite(str(paths[-1]), photograph(height, width, seed), flags)
    return paths


def load_whole(paths: list[Path], height: int, width: int, **options: Any) -> np.ndarray:
    """Return all pictures of one size, uncropped, from one epoch of a loader, uint8 unless told otherwise."""
    arguments = {"dtype": "uint8", "batch_size": 5, **options}
    with tgl.ImageLoader(tgl.sources.Paths(paths), [ops.CenterCrop(height, width)], **arguments) as loader:
        return np.concatenate(list(loader))


def join(batches: Iterable[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return the images and the labels of all batches, arrays or tensors, as two arrays of their own."""
    images, labels = zip(*batches, strict=True)
    return np.concatenate([np.asarray(array) for array in images]), np.concatenate([np.asarray(a) for a in labels])


def find_window(window: np.ndarray, picture: np.ndarray) -> list[tuple[int, int]]:
    """Return every (row, column) of a picture at which the window is found exactly."""
    height, width = window.shape[:2]
    corners = picture[: picture.shape[0] - height + 1, : picture.shape[1] - width + 1]
    rows, columns = np.nonzero((corners == window[0, 0]).all(axis=-1))
    return [
        (int(y), int(x))
        for y, x in zip(rows, columns, strict=True)
        if np.array_equal(picture[y : y + height, x : x + width], window)
    ]


def checksum(array: np.ndarray) -> str:
    """Return a digest of an array's bytes in C order."""
    return hashlib.sha256(np.ascontiguousarray(array)).hexdigest()
