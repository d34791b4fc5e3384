"""Resizing equals the library whose pixels are asked for, and decodes no more than it shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pictures
import pytest
from PIL import Image

import tfgoloader as tgl
from tfgoloader import ops

SIZES = [(40, 52), (90, 121), (131, 60), (24, 200)]  # height, width; the source has 90 x 121 pixels


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("resizing") / "photograph.png"
    Image.fromarray(pictures.photograph(90, 121, 7)).save(path)
    return path


def resized(path: Path, pipeline: list[ops.Op], **options: Any) -> np.ndarray:
    with tgl.ImageLoader(tgl.sources.Paths([path]), pipeline, **options) as loader:
        return next(iter(loader))[0]


def assert_close(got: np.ndarray, want: np.ndarray) -> None:
    """Compare bytes: within one level, and 0.02 of one on average."""
    difference = np.abs(got.astype(int) - want.astype(int))
    assert difference.max() <= 1
    assert difference.mean() < 0.02


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize(
    "interpolation", ["nearest", "bilinear", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"]
)
def test_like_keras(source: Path, tf: Any, interpolation: str, antialias: bool, size: tuple[int, int]) -> None:
    picture = np.asarray(Image.open(source))
    want = tf.image.resize(picture, size, method=interpolation, antialias=antialias).numpy()
    got = resized(source, [ops.Resizing(*size, interpolation=interpolation, antialias=antialias)])
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4 * 255)


@pytest.mark.parametrize("size", [(40, 52), (131, 60)], ids=str)
@pytest.mark.parametrize("crop", [False, True])
def test_the_layer_itself(source: Path, keras: Any, size: tuple[int, int], crop: bool) -> None:
    picture = np.asarray(Image.open(source))[None].astype(np.float32)
    layer = keras.layers.Resizing(*size, crop_to_aspect_ratio=crop)
    got = resized(source, [ops.Resizing(*size, crop_to_aspect_ratio=crop)])
    np.testing.assert_allclose(got, np.asarray(layer(picture))[0], rtol=1e-4, atol=1e-4 * 255)


PILLOW = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "area": Image.Resampling.BOX,
    "lanczos3": Image.Resampling.LANCZOS,
}


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("interpolation", PILLOW)
def test_like_pillow(source: Path, interpolation: str, size: tuple[int, int]) -> None:
    want = np.asarray(Image.open(source).resize(size[::-1], PILLOW[interpolation]))
    assert_close(resized(source, [ops.Resizing(*size, interpolation, like="pillow")], dtype="uint8"), want)


OPENCV = {
    "nearest": cv2.INTER_NEAREST,
    "bilinear": cv2.INTER_LINEAR,
    "bicubic": cv2.INTER_CUBIC,
    "area": cv2.INTER_AREA,
    "lanczos4": cv2.INTER_LANCZOS4,
}


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("interpolation", OPENCV)
def test_like_opencv(source: Path, interpolation: str, size: tuple[int, int]) -> None:
    want = cv2.resize(np.asarray(Image.open(source)), size[::-1], interpolation=OPENCV[interpolation])
    assert_close(resized(source, [ops.Resizing(*size, interpolation, like="opencv")], dtype="uint8"), want)


@pytest.mark.parametrize("like", ["keras", "pillow", "torchvision", "opencv"])
def test_a_crop_of_a_resized_picture_is_a_part_of_it(photograph: Path, like: str) -> None:
    whole = resized(photograph, [ops.Resizing(64, 86, like=like, antialias=True)], dtype="uint8")
    cropped = resized(photograph, [ops.ResizeShorter(64, like=like), ops.CenterCrop(40, 40)], dtype="uint8")
    assert np.array_equal(cropped, whole[12:52, 23:63])


def test_values_and_layout_follow(source: Path) -> None:
    plain = resized(source, [ops.Resizing(40, 52)])
    scaled = resized(source, [ops.Resizing(40, 52), ops.Rescaling(1 / 127.5, offset=-1)], data_format="channels_first")
    np.testing.assert_allclose(scaled, (plain / 127.5 - 1).transpose(2, 0, 1), atol=1e-5)


def test_every_random_part_is_one_of_the_picture(photographs: list[Path]) -> None:
    pipeline = [ops.RandomResizedCrop(48, 56), ops.RandomFlip("horizontal"), ops.Rescaling(1 / 127.5, offset=-1)]
    runs = []
    for workers in (1, 2, 7):
        source = tgl.sources.Paths(photographs)
        with tgl.ImageLoader(source, pipeline, batch_size=10, seed=3, shuffle=True, num_workers=workers) as loader:
            runs.append(np.concatenate([*loader, *loader]))
    assert np.array_equal(runs[0], runs[1])
    assert np.array_equal(runs[0], runs[2])
    assert not np.array_equal(runs[0][:53], runs[0][53:])
    assert np.abs(runs[0]).max() <= 1 + 1e-4


def test_a_part_of_one_size_is_the_crop_itself(photograph: Path) -> None:
    """Scale 1 and the picture's own ratio leave one part: the whole, which needs no resampling."""
    pipeline = [ops.RandomResizedCrop(90, 121, scale=(1, 1), ratio=(121 / 90, 121 / 90), like="pillow")]
    whole = resized(photograph, [ops.CenterCrop(90, 121)], dtype="uint8")
    assert np.array_equal(resized(photograph, pipeline, dtype="uint8"), whole)


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: ops.Resizing(0, 8), "Resizing.height"),
        (lambda: ops.Resizing(8, 8.5), "Resizing.width"),
        (lambda: ops.Resizing(8, 8, "hamming"), "Resizing.interpolation"),
        (lambda: ops.Resizing(8, 8, "lanczos5", like="pillow"), "Resizing.interpolation"),
        (lambda: ops.Resizing(8, 8, like="torch"), "Resizing.like"),
        (lambda: ops.Resizing(8, 8, antialias=1), "Resizing.antialias"),
        (lambda: ops.Resizing(8, 8, crop_to_aspect_ratio=None), "Resizing.crop_to_aspect_ratio"),
        (lambda: ops.ResizeShorter((8, 8)), "ResizeShorter.size"),
        (lambda: ops.RandomResizedCrop(8, 8, scale=0.5), "RandomResizedCrop.scale"),
        (lambda: ops.RandomResizedCrop(8, 8, scale=(0, 1)), "RandomResizedCrop.scale"),
        (lambda: ops.RandomResizedCrop(8, 8, scale=(0.5, 2)), "RandomResizedCrop.scale"),
        (lambda: ops.RandomResizedCrop(8, 8, ratio=(2, 1)), "RandomResizedCrop.ratio"),
        (lambda: ops.RandomResizedCrop(8, 8, ratio=(1, 2, 3)), "RandomResizedCrop.ratio"),
    ],
)
def test_wrong_arguments_are_named(make: Any, field: str) -> None:
    with pytest.raises(tgl.ConfigError, match=field):
        make()


def test_the_size_must_be_fixed(photograph: Path) -> None:
    with pytest.raises(tgl.ConfigError, match="size is not fixed"):
        tgl.ImageLoader(tgl.sources.Paths([photograph]), [ops.ResizeShorter(64)])


def test_sixteen_bits_are_not_resized(photograph: Path) -> None:
    with pytest.raises(tgl.ConfigError, match="uint16"):
        tgl.ImageLoader(tgl.sources.Paths([photograph]), [ops.Resizing(8, 8)], dtype="uint16")


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
@pytest.mark.parametrize("size", [(40, 90), (90, 40), (50, 50), (200, 33)], ids=str)
def test_with_pad(source: Path, tf: Any, size: tuple[int, int], data_format: str) -> None:
    picture = np.asarray(Image.open(source))
    want = tf.image.resize_with_pad(picture, *size).numpy()
    got = resized(source, [ops.ResizeWithPad(*size)], data_format=data_format)
    np.testing.assert_allclose(got if data_format == "channels_last" else got.transpose(1, 2, 0), want, atol=0.01)


def test_with_pad_in_a_colour_that_is_rescaled_too(source: Path) -> None:
    got = resized(source, [ops.ResizeWithPad(40, 90, fill_value=(51, 102, 204)), ops.Rescaling(1 / 255)])
    np.testing.assert_allclose(got[:, 0], np.broadcast_to([0.2, 0.4, 0.8], (40, 3)), atol=1e-6)
