"""The pixels are TensorFlow's, bit for bit; what is computed from them is Keras'."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pictures
import pytest
from PIL import Image

import tfgoloader as tgl
from tfgoloader import ops

Decode = Callable[..., np.ndarray]


def load(paths: list[Path], pipeline: list[ops.Op], **options: Any) -> np.ndarray:
    with tgl.ImageLoader(tgl.sources.Paths(paths), pipeline, **{"batch_size": 8, "seed": 3, **options}) as loader:
        return np.concatenate(list(loader))


@pytest.mark.parametrize(("ours", "theirs"), [("accurate", "INTEGER_ACCURATE"), ("fast", "INTEGER_FAST")])
def test_whole_pictures_equal_tensorflow(
    encodings: dict[tuple[int, int], list[Path]], tf_decode: Decode, ours: str, theirs: str
) -> None:
    different = [
        path.name
        for size, paths in encodings.items()
        for path, picture in zip(paths, pictures.load_whole(paths, *size, dct_method=ours), strict=True)
        if not np.array_equal(picture, tf_decode(path, theirs))
    ]
    assert different == []


def test_fast_dct_is_another_transform(photograph: Path) -> None:
    fast, accurate = (
        pictures.load_whole([photograph], 90, 121, dct_method=method).astype(int) for method in ("fast", "accurate")
    )
    assert 0 < np.abs(fast - accurate).max() < 16


def test_center_windows_equal_those_of_the_whole_picture(
    encodings: dict[tuple[int, int], list[Path]], tf_decode: Decode, keras: Any
) -> None:
    windows = [(1, 1), (7, 10), (16, 33), (33, 64), (60, 90), (75, 1), (2, 101)]
    different = []
    for height, width in windows:
        layer = keras.layers.CenterCrop(height, width, dtype="uint8")
        for (whole_height, whole_width), paths in encodings.items():
            if height > whole_height or width > whole_width:
                continue
            top, left = (whole_height - height) // 2, (whole_width - width) // 2
            crops = load(paths, [ops.CenterCrop(height, width)], dtype="uint8")
            wholes = np.stack([tf_decode(path) for path in paths])
            expected = wholes[:, top : top + height, left : left + width]
            assert np.array_equal(layer(wholes), expected)
            different += [
                (path.name, height, width)
                for path, crop, right in zip(paths, crops, expected, strict=True)
                if not np.array_equal(crop, right)
            ]
    assert different == []


@pytest.mark.parametrize("size", [(75, 101), (76, 301), (130, 97)], ids=str)
@pytest.mark.parametrize("window", [(1, 3), (16, 16), (41, 52), (75, 20), (8, 97)], ids=str)
def test_random_windows_equal_those_of_the_whole_picture(
    encodings: dict[tuple[int, int], list[Path]], tf_decode: Decode, size: tuple[int, int], window: tuple[int, int]
) -> None:
    paths = encodings[size]
    repeated = [path for path in paths for _ in range(12)]
    crops = load(repeated, [ops.RandomCrop(*window)], dtype="uint8")
    places = [pictures.find_window(crop, tf_decode(path)) for path, crop in zip(repeated, crops, strict=True)]
    assert [path.name for path, found in zip(repeated, places, strict=True) if not found] == []
    if window != (1, 3):  # larger ones are found only where they are from
        corners = [found[0] for found in places if len(found) == 1]
        assert len(corners) > 0.9 * len(repeated)
        assert len(set(corners)) > 0.1 * len(corners)


def test_every_place_of_a_random_window_is_equally_likely(photograph: Path, tf_decode: Decode) -> None:
    whole = tf_decode(photograph)
    samples, room = 1200, (3, 2)
    crops = load([photograph] * samples, [ops.RandomCrop(90 - room[0], 121 - room[1])], dtype="uint8", batch_size=100)
    counts = Counter(place for crop in crops for place in pictures.find_window(crop, whole))
    places = set(itertools.product(range(room[0] + 1), range(room[1] + 1)))
    assert set(counts) == places
    assert counts.total() == samples
    mean = samples / len(places)
    assert all(abs(count - mean) < 5 * mean**0.5 for count in counts.values())


def test_a_window_of_a_window_lies_within_it(photograph: Path, tf_decode: Decode) -> None:
    whole = tf_decode(photograph)
    outer = [ops.CenterCrop(71, 80)]
    top, left = (90 - 71) // 2, (121 - 80) // 2
    inner = load([photograph], [*outer, ops.CenterCrop(20, 31)], dtype="uint8")[0]
    top_inner, left_inner = top + (71 - 20) // 2, left + (80 - 31) // 2
    assert np.array_equal(inner, whole[top_inner : top_inner + 20, left_inner : left_inner + 31])
    crops = load([photograph] * 60, [*outer, ops.RandomCrop(70, 78)], dtype="uint8")
    places = {place for crop in crops for place in pictures.find_window(crop, whole)}
    assert places == {(top + y, left + x) for y in range(2) for x in range(3)}


@pytest.mark.parametrize(
    ("mode", "axes"),
    [("horizontal", [(), (1,)]), ("vertical", [(), (0,)]), ("horizontal_and_vertical", [(), (1,), (0,), (0, 1)])],
)
def test_flipped_pictures_are_mirrored_exactly(
    photograph: Path, tf_decode: Decode, mode: str, axes: list[tuple[int, ...]]
) -> None:
    whole = tf_decode(photograph)
    samples = 240
    images = load([photograph] * samples, [ops.CenterCrop(90, 121), ops.RandomFlip(mode)], dtype="uint8")
    counts = [sum(np.array_equal(image, np.flip(whole, flip)) for image in images) for flip in axes]
    assert sum(counts) == samples
    mean = samples / len(axes)
    assert all(abs(count - mean) < 5 * mean**0.5 for count in counts)


def test_a_window_counts_from_the_flipped_picture(photograph: Path, tf_decode: Decode) -> None:
    whole = tf_decode(photograph)
    pipeline = [ops.CenterCrop(90, 121), ops.RandomFlip(), ops.CenterCrop(33, 40), ops.RandomFlip("horizontal")]
    images = load([photograph] * 80, pipeline, dtype="uint8")
    expected = {}
    for first, second in itertools.product([(), (1,), (0,), (0, 1)], [(), (1,)]):
        flipped = np.flip(whole, first)[(90 - 33) // 2 :][:33, (121 - 40) // 2 :][:, :40]
        expected[pictures.checksum(np.flip(flipped, second))] = (first, second)
    assert {pictures.checksum(image) for image in images} == set(expected)


def test_random_windows_and_flips_work_together(
    encodings: dict[tuple[int, int], list[Path]], tf_decode: Decode
) -> None:
    repeated = [path for path in encodings[130, 97] for _ in range(6)]
    crops = load(repeated, [ops.RandomFlip(), ops.RandomCrop(45, 50), ops.RandomFlip()], dtype="uint8")
    flips = [(), (1,), (0,), (0, 1)]
    lost = [
        path.name
        for path, crop in zip(repeated, crops, strict=True)
        if not any(pictures.find_window(np.flip(crop, flip), tf_decode(path)) for flip in flips)
    ]
    assert lost == []


def test_float32_without_operations_on_values_is_the_bytes(photographs: list[Path]) -> None:
    pipeline = [ops.RandomCrop(60, 61), ops.RandomFlip()]
    floats = load(photographs, pipeline, dtype="float32")
    assert floats.dtype == np.float32
    assert np.array_equal(floats, load(photographs, pipeline, dtype="uint8"))


@pytest.mark.parametrize("width", [1, 2, 5, 16, 23, 64], ids="width_{}".format)
def test_rescaling_is_exact(photographs: list[Path], keras: Any, width: int) -> None:
    pipeline = [ops.RandomCrop(29, width), ops.RandomFlip()]
    pixels = load(photographs, pipeline, dtype="uint8")
    floats = load(photographs, [*pipeline, ops.Rescaling(1 / 127.5, offset=-1)])
    exact = pixels.astype(np.float64) / 127.5 - 1
    assert np.array_equal(floats, exact.astype(np.float32))  # the nearest float32 of each
    assert np.abs(floats - exact).max() <= 1.2e-7
    assert np.abs(floats - (pixels.astype(np.float32) / np.float32(127.5) - 1)).max() <= 1.2e-7
    assert np.abs(floats - keras.layers.Rescaling(1 / 127.5, offset=-1)(pixels)).max() <= 1.2e-7


@pytest.mark.parametrize(("scale", "offset"), [(1 / 255, 0.0), (2.0, -0.1), (-1 / 3, 1e6), (1e-30, 0.0)])
def test_rescaling_of_every_byte(tmp_path: Path, keras: Any, scale: float, offset: float) -> None:
    ramp = (np.arange(256, dtype=np.uint8) * 37)[None].repeat(8, axis=0)  # all values, no two neighbours alike
    path = tmp_path / "ramp.jpg"
    Image.fromarray(ramp).save(path, quality=100)
    pixels = load([path], [ops.CenterCrop(8, 256)], dtype="uint8")
    assert len(np.unique(pixels)) > 240
    floats = load([path], [ops.CenterCrop(8, 256), ops.Rescaling(scale, offset)])
    nearest = (pixels.astype(np.float64) * scale + offset).astype(np.float32)
    np.testing.assert_array_max_ulp(floats, nearest, 1)
    expected = np.asarray(keras.layers.Rescaling(scale, offset)(pixels))  # rounds scale, product and sum
    np.testing.assert_allclose(floats, expected, rtol=3e-7, atol=0)


@pytest.mark.parametrize(
    ("mean", "variance", "tolerance"),
    [
        ([123.68, 116.779, 103.939], [58.393**2, 57.12**2, 57.375**2], 1e-6),
        (127.5, 5000.0, 1e-6),
        ([10.0, 128.0, 250.0], 900.0, 2e-6),  # values up to 8.3, where neighbouring floats are 1e-6 apart
    ],
    ids=["channels", "numbers", "mixed"],
)
def test_normalization_equals_keras(
    photographs: list[Path], keras: Any, mean: Any, variance: Any, tolerance: float
) -> None:
    pipeline = [ops.RandomCrop(31, 45), ops.RandomFlip()]
    pixels = load(photographs, pipeline, dtype="uint8")
    floats = load(photographs, [*pipeline, ops.Normalization(mean=mean, variance=variance)])
    channels = [np.broadcast_to(value, 3).tolist() for value in (mean, variance)]
    layer = keras.layers.Normalization(axis=-1, mean=channels[0], variance=channels[1])
    assert np.abs(floats - layer(pixels)).max() <= tolerance


def test_normalization_without_variance_divides_by_the_least_deviation(photograph: Path, keras: Any) -> None:
    pixels = load([photograph], [ops.CenterCrop(90, 121)], dtype="uint8")
    mean, variance = [0.0, 10.0, 20.0], [0.0, 0.0, 1.0]
    floats = load([photograph], [ops.CenterCrop(90, 121), ops.Normalization(mean=mean, variance=variance)])
    expected = keras.layers.Normalization(axis=-1, mean=mean, variance=variance)(pixels)
    np.testing.assert_allclose(floats[..., 0], expected[..., 0], rtol=1e-6)
    np.testing.assert_allclose(floats[..., 1], expected[..., 1], atol=1e-6 * 255e7)


def test_operations_on_values_follow_each_other(photographs: list[Path], keras: Any) -> None:
    mean, variance = [0.485, 0.456, 0.406], [0.229**2, 0.224**2, 0.225**2]
    pixels = load(photographs, [ops.CenterCrop(40, 40)], dtype="uint8")
    pipeline = [
        ops.Rescaling(1 / 255),
        ops.CenterCrop(40, 40),
        ops.Normalization(mean=mean, variance=variance),
        ops.Rescaling(0.5, 3.0),
    ]
    floats = load(photographs, pipeline)
    layers = keras.Sequential(
        [
            keras.layers.Rescaling(1 / 255),
            keras.layers.Normalization(axis=-1, mean=mean, variance=variance),
            keras.layers.Rescaling(0.5, 3.0),
        ]
    )
    assert np.abs(floats - layers(pixels)).max() <= 1e-6


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("uint8", []),
        ("float32", []),
        ("float32", [ops.Rescaling(1 / 127.5, -1)]),
        ("float32", [ops.Normalization(mean=[1.0, 2.0, 3.0], variance=[4.0, 5.0, 6.0])]),
    ],
    ids=["uint8", "float32", "rescaled", "normalized"],
)
def test_channels_first_is_the_transpose(photographs: list[Path], dtype: str, values: list[ops.Op]) -> None:
    pipeline = [ops.RandomCrop(37, 43), ops.RandomFlip(), *values]
    last = load(photographs, pipeline, dtype=dtype)
    first = load(photographs, pipeline, dtype=dtype, data_format="channels_first")
    assert first.shape == (len(photographs), 3, 37, 43)
    assert np.array_equal(first, last.transpose(0, 3, 1, 2))
