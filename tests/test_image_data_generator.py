"""from_image_data_generator gives operations that do what Keras' ImageDataGenerator does."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pictures
import pytest
from PIL import Image

import tfgoloader as tgl
from tfgoloader import ops

SIZE = 48, 48  # Keras' generator has the middle elsewhere where pictures are not square


@pytest.fixture(scope="module")
def make(keras: Any) -> Any:
    """The class itself, which Keras still has, out of sight."""
    from keras.src.legacy.preprocessing.image import ImageDataGenerator

    return ImageDataGenerator


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("generator")
    files = [folder / f"{seed}.png" for seed in range(6)]
    for seed, path in enumerate(files):
        Image.fromarray(pictures.photograph(*SIZE, seed)).save(path)
    return files


@pytest.fixture(scope="module")
def pixels(paths: list[Path]) -> np.ndarray:
    return np.stack([np.asarray(Image.open(path)) for path in paths]).astype(np.float32)


def loaded(paths: list[Path], generator: Any, **options: Any) -> np.ndarray:
    pipeline = [ops.CenterCrop(*SIZE), *tgl.from_image_data_generator(generator)]
    with tgl.ImageLoader(tgl.sources.Paths(paths), pipeline, seed=3, **options) as loader:
        (images,) = loader
    return images


FILL = {"fill_mode": "nearest", "interpolation": "bilinear", "fill_value": 0.0}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, lambda: []),
        ({"rescale": 1 / 255}, lambda: [ops.Rescaling(1 / 255)]),
        ({"horizontal_flip": True}, lambda: [ops.RandomFlip("horizontal")]),
        ({"vertical_flip": True}, lambda: [ops.RandomFlip("vertical")]),
        ({"vertical_flip": True, "horizontal_flip": True}, lambda: [ops.RandomFlip()]),
        ({"fill_mode": "constant", "cval": 7, "zca_epsilon": 1, "data_format": "channels_first"}, lambda: []),
    ],
    ids=str,
)
def test_operations(make: Any, options: dict[str, Any], expected: Any) -> None:
    assert tgl.from_image_data_generator(make(**options)) == expected()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"rotation_range": 40}, lambda: [ops.RandomRotation(40 / 360, **FILL)]),
        ({"width_shift_range": 0.2}, lambda: [ops.RandomTranslation(0.0, 0.2, **FILL)]),
        (
            {"height_shift_range": 0.1, "width_shift_range": 0.2, "fill_mode": "constant", "cval": 9},
            lambda: [ops.RandomTranslation(0.1, 0.2, **FILL | {"fill_mode": "constant", "fill_value": 9.0})],
        ),
        (
            {"zoom_range": 0.25, "fill_mode": "reflect", "interpolation_order": 0},
            lambda: [
                ops.RandomZoom(
                    (-0.25, 0.25), (-0.25, 0.25), **FILL | {"fill_mode": "reflect", "interpolation": "nearest"}
                )
            ],
        ),
        (
            {
                "rotation_range": 9,
                "width_shift_range": 0.5,
                "zoom_range": [0.5, 1.5],
                "vertical_flip": True,
                "rescale": 2,
            },
            lambda: [
                ops.RandomRotation(0.025, **FILL),
                ops.RandomTranslation(0.0, 0.5, **FILL),
                ops.RandomZoom((-0.5, 0.5), (-0.5, 0.5), **FILL),
                ops.RandomFlip("vertical"),
                ops.Rescaling(2),
            ],
        ),
    ],
    ids=str,
)
def test_geometry(make: Any, options: dict[str, Any], expected: Any) -> None:
    assert tgl.from_image_data_generator(make(**options)) == expected()


@pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning")  # Keras and SciPy
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("zoom", [0.5, 0.81, 1.4])
@pytest.mark.parametrize("fill_mode", ["nearest", "reflect", "constant"])
def test_a_zoom_is_the_generators(
    make: Any, paths: list[Path], pixels: np.ndarray, zoom: float, fill_mode: str, order: int
) -> None:
    generator = make(zoom_range=(zoom, zoom), fill_mode=fill_mode, interpolation_order=order)
    expected = np.stack([generator.random_transform(picture) for picture in pixels])
    np.testing.assert_allclose(loaded(paths, generator), expected, rtol=0, atol=0.51)  # a level may be rounded


@pytest.mark.parametrize(
    "options",
    [
        {"featurewise_center": True},
        {"featurewise_center": True, "featurewise_std_normalization": True},
        {"featurewise_center": True, "featurewise_std_normalization": True, "rescale": 1 / 64},
        {"rescale": -0.5},
    ],
    ids=str,
)
def test_values_are_the_generators(make: Any, paths: list[Path], pixels: np.ndarray, options: dict[str, Any]) -> None:
    generator = make(**options)
    generator.fit(pixels)
    expected = generator.standardize(pixels.copy())
    np.testing.assert_allclose(loaded(paths, generator), expected, rtol=1e-5, atol=1e-4)


def test_flips_are_even(make: Any, paths: list[Path], pixels: np.ndarray) -> None:
    images = loaded(paths * 40, make(horizontal_flip=True, vertical_flip=True), batch_size=240)
    seen = np.zeros((2, 2), int)
    for image, picture in zip(images, np.tile(pixels, (40, 1, 1, 1)), strict=True):
        flips = [(v, h) for v in (0, 1) for h in (0, 1) if np.array_equal(image, picture[:: 1 - 2 * v, :: 1 - 2 * h])]
        assert len(flips) == 1
        seen[flips[0]] += 1
    assert seen.min() > 35  # of 60 expected; four standard deviations are 27


UNLIKE: list[dict[str, Any]] = [
    {"shear_range": 0.2},
    {"brightness_range": (0.5, 1.5)},
    {"channel_shift_range": 51.0},
    {"preprocessing_function": np.negative},
    {"samplewise_center": True},
    {"samplewise_center": True, "samplewise_std_normalization": True},
    {"zca_whitening": True, "featurewise_center": True},
    {"validation_split": 0.2},
    {"width_shift_range": 5},
    {"height_shift_range": 3.5},
    {"height_shift_range": [-0.1, 0.1]},
    {"zoom_range": (1, 3)},
    {"interpolation_order": 3},
    {"dtype": "float16"},
    {"featurewise_center": True},
    {"featurewise_center": True, "featurewise_std_normalization": True},
]


@pytest.mark.parametrize("options", UNLIKE, ids=str)
def test_what_has_no_operation_is_named(make: Any, options: dict[str, Any]) -> None:
    generator = make(**options, rescale=0.5)
    with pytest.raises(tgl.ConfigError) as caught:
        tgl.from_image_data_generator(generator)
    assert [name for name in options if f"{name}=" not in str(caught.value)] == []


@pytest.mark.parametrize("options", [one for one in UNLIKE if "shear_range" not in one], ids=str)
def test_the_rest_goes_on_with_a_warning(make: Any, options: dict[str, Any]) -> None:
    generator = make(**options, rescale=0.5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = tgl.from_image_data_generator(generator, strict=False)
    near = [ops.RandomBrightness(0.2)] if "channel_shift_range" in options else []
    assert found == [*near, ops.Rescaling(0.5)]
    named = [str(warning.message).partition("=")[0] for warning in caught]
    assert set(options) - {"featurewise_center"} <= set(named) <= set(options) | {"featurewise_center"}
    assert {warning.filename for warning in caught} == {__file__}


def test_a_shear_comes_near(make: Any) -> None:
    with pytest.warns(UserWarning, match=r"^shear_range=30 "):
        (shear,) = tgl.from_image_data_generator(make(shear_range=30), strict=False)
    assert isinstance(shear, ops.RandomShear)
    assert shear.x_factor == pytest.approx((-0.5, 0.5))
    assert shear == ops.RandomShear(shear.x_factor, **FILL)


def test_wrapping_matters_where_something_moves(make: Any) -> None:
    assert tgl.from_image_data_generator(make(fill_mode="wrap")) == []
    with pytest.raises(tgl.ConfigError, match="fill_mode='wrap'"):
        tgl.from_image_data_generator(make(fill_mode="wrap", rotation_range=5))


def test_several_are_named_together(make: Any) -> None:
    generator = make(brightness_range=(0.5, 1), samplewise_center=True)
    with pytest.raises(tgl.ConfigError, match=r"brightness_range=\(0\.5, 1\) .*; samplewise_center=True"):
        tgl.from_image_data_generator(generator)


@pytest.mark.parametrize("generator", [None, "ImageDataGenerator", object()])
def test_nothing_else_is_taken(generator: Any) -> None:
    with pytest.raises(tgl.ConfigError, match=r"^generator=.*: expected a Keras ImageDataGenerator"):
        tgl.from_image_data_generator(generator)
