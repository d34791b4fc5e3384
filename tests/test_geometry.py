"""Operations that move pixels give what Keras' layers give with the same parameters; padding is NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pictures
import pytest
from PIL import Image

import tfgoloader as tgl
from tfgoloader import ops

HEIGHT, WIDTH = 61, 78
FILLS = ["constant", "nearest", "reflect", "wrap"]


@pytest.fixture(scope="module")
def whole() -> np.ndarray:
    return pictures.photograph(HEIGHT, WIDTH, 11)


@pytest.fixture(scope="module")
def path(whole: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("geometry") / "photograph.png"
    Image.fromarray(whole).save(file)
    return file


def load(path: Path, *pipeline: ops.Op, size: tuple[int, int] = (HEIGHT, WIDTH), **options: Any) -> np.ndarray:
    arguments: dict[str, Any] = {"dtype": "float32", "seed": 1, **options}
    with tgl.ImageLoader(tgl.sources.Paths([path]), [ops.CenterCrop(*size), *pipeline], **arguments) as loader:
        image: np.ndarray = next(iter(loader))[0]
        return image


Make = Callable[[Any, str, str], Any]
WARPS: dict[str, Make] = {
    "rotation": lambda layers, fill, how: layers.RandomRotation((0.07, 0.07), fill, how, fill_value=40.0),
    "rotation back": lambda layers, fill, how: layers.RandomRotation((-0.2, -0.2), fill, how, fill_value=40.0),
    "translation": lambda layers, fill, how: layers.RandomTranslation(
        (0.13, 0.13), (-0.31, -0.31), fill, how, fill_value=9.0
    ),
    "zoom": lambda layers, fill, how: layers.RandomZoom((0.317, 0.317), None, fill, how, fill_value=9.0),
    "zoom in": lambda layers, fill, how: layers.RandomZoom(
        (-0.413, -0.413), (-0.217, -0.217), fill, how, fill_value=9.0
    ),
}


def assert_same_places(ours: np.ndarray, theirs: np.ndarray, interpolation: str) -> None:
    """Compare floats: bilinear ones within what float32 makes of places; nearest ones but for places halfway."""
    if interpolation == "bilinear":
        np.testing.assert_allclose(ours, theirs, atol=0.05)
    else:
        assert np.mean(np.any(ours != theirs, axis=-1)) < 0.002


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear"])
@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("name", WARPS)
def test_the_layers_pixels(name: str, fill: str, interpolation: str, path: Path, whole: np.ndarray, keras: Any) -> None:
    layer = WARPS[name](keras.layers, fill, interpolation)
    theirs = np.asarray(layer(whole[None].astype(np.float32), training=True))[0]
    ours = load(path, WARPS[name](ops, fill, interpolation))
    assert np.abs(theirs - whole).mean() > 5
    assert_same_places(ours, theirs, interpolation)


@pytest.mark.parametrize("fill", FILLS)
def test_shear_goes_either_way(fill: str, path: Path, whole: np.ndarray, keras: Any) -> None:
    layer = keras.layers.RandomShear((0.2, 0.2), (0.1, 0.1), fill_mode=fill, fill_value=80.0)
    batch = whole[None].astype(np.float32)
    ways = [
        np.asarray(
            layer.transform_images(
                batch, {"shear_factor": np.array([[way * 0.2, way * 0.1]], np.float32), "input_shape": batch.shape}
            )
        )[0]
        for way in (1, -1)
    ]
    op = ops.RandomShear((0.2, 0.2), (0.1, 0.1), fill_mode=fill, fill_value=80.0)
    found = set()
    for seed in range(8):
        ours = load(path, op, seed=seed)
        distances = [np.abs(ours - way).max() for way in ways]
        assert min(distances) < 0.05
        found.add(int(np.argmin(distances)))
    assert found == {0, 1}


def test_perspective_moves_the_corners_as_the_layer_does(path: Path, whole: np.ndarray, keras: Any) -> None:
    """The corners are read off a picture of coordinates; the layer, given them, has the same pixels."""
    columns, rows = np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT))
    coordinates = path.parent / "coordinates.png"
    Image.fromarray(np.stack([columns * 3, rows * 4, rows * 0], -1).astype(np.uint8)).save(coordinates)
    layer = keras.layers.RandomPerspective(1.0, 0.3, fill_value=50.0)
    batch = whole[None].astype(np.float32)
    for seed in range(4):
        op = ops.RandomPerspective((1.0, 1.0), 0.3, fill_value=50.0)
        places = load(coordinates, op, seed=seed)
        inside = np.argwhere(places[..., 2] == 0)
        chosen = inside[:: len(inside) // 400]
        # A homography from places in the result to places in the picture, by least squares.
        equations, values = [], []
        for y, x in chosen:
            u, v = places[y, x, 0] / 3, places[y, x, 1] / 4
            equations += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
            values += [u, v]
        solution = np.append(np.linalg.lstsq(np.array(equations, float), np.array(values), rcond=None)[0], 1).reshape(
            3, 3
        )
        corners = np.array([[0, 0], [WIDTH - 1, 0], [0, HEIGHT - 1], [WIDTH - 1, HEIGHT - 1]], np.float32)
        ends = np.linalg.inv(solution) @ np.c_[corners, np.ones(4)].T
        ends = (ends[:2] / ends[2]).T.astype(np.float32)
        shares = ends[1:] / np.maximum(corners[1:], 1)
        assert np.abs(ends[0]).max() < 0.05
        assert (np.abs(shares - 1)[corners[1:] > 0] <= 0.1501).all()
        transformation = {
            "apply_perspective": np.array([True]),
            "start_points": corners[None],
            "end_points": ends[None],
            "input_shape": batch.shape,
        }
        theirs = np.asarray(layer.transform_images(batch, transformation))[0]
        ours = load(path, op, seed=seed)
        assert np.mean(np.abs(ours - theirs) > 3) < 0.02  # the corners are known to a hundredth of a pixel


def test_neighbours_are_resampled_once(path: Path, whole: np.ndarray, keras: Any) -> None:
    """Two rotations by a twelfth are one by a sixth, which is sharper than one after the other."""
    twelfth = ops.RandomRotation((1 / 12, 1 / 12), "constant")
    theirs = np.asarray(
        keras.layers.RandomRotation((1 / 6, 1 / 6), "constant")(whole[None].astype(np.float32), training=True)
    )
    np.testing.assert_allclose(load(path, twelfth, twelfth), theirs[0], atol=0.05)


@pytest.mark.parametrize("fill", FILLS)
def test_pad_is_numpys(fill: str, path: Path, whole: np.ndarray) -> None:
    mode = {"constant": "constant", "nearest": "edge", "reflect": "symmetric", "wrap": "wrap"}[fill]
    for padding, sides in [(3, ((3, 3), (3, 3))), ((2, 5), ((2, 2), (5, 5))), (((1, 0), (70, 90)), ((1, 0), (70, 90)))]:
        want = np.pad(whole, (*sides, (0, 0)), mode=mode, **({"constant_values": 7} if fill == "constant" else {}))
        np.testing.assert_array_equal(load(path, ops.Pad(padding, fill, 7.0), dtype="uint8"), want)


def test_pad_with_a_colour(path: Path) -> None:
    padded = load(path, ops.Pad(1, fill_value=(1, 2, 3)), dtype="uint8")
    np.testing.assert_array_equal(padded[0], np.broadcast_to([1, 2, 3], (WIDTH + 2, 3)))


@pytest.mark.parametrize("size", [(40, 90), (90, 40), (50, 50), (33, 17)], ids=str)
@pytest.mark.parametrize("interpolation", ["bilinear", "nearest"])
def test_resizing_pads_to_the_aspect_ratio(
    size: tuple[int, int], interpolation: str, path: Path, whole: np.ndarray, keras: Any
) -> None:
    arguments: dict[str, Any] = {"interpolation": interpolation, "pad_to_aspect_ratio": True, "fill_value": 30.0}
    theirs = np.asarray(keras.layers.Resizing(*size, **arguments)(whole[None].astype(np.float32)))[0]
    np.testing.assert_allclose(load(path, ops.Resizing(*size, **arguments)), theirs, atol=0.02)


def test_a_small_picture_is_padded_as_torchvision_does_it(path: Path, whole: np.ndarray) -> None:
    """The window lies anywhere in the picture with as much on either side as is missing in all."""
    places = set()
    for seed in range(20):
        crop = ops.RandomCrop(70, 60, if_smaller="pad", fill_mode="constant", fill_value=5.0)
        ours = load(path, crop, dtype="uint8", seed=seed)
        padded = np.pad(whole, ((9, 9), (0, 0), (0, 0)), constant_values=5)
        found = pictures.find_window(ours, padded) or pictures.find_window(ours[9:61], whole)
        assert found
        places.update(found)
    assert len({row for row, _ in places}) > 5
    assert len({column for _, column in places}) > 5


def test_a_small_picture_is_resized_as_keras_documents_it(path: Path, whole: np.ndarray, tf: Any) -> None:
    """The largest part in the middle with the window's aspect ratio; the layer of Keras 3.15 takes a larger one."""
    ours = load(path, ops.RandomCrop(100, 80, if_smaller="resize"))
    width = int(HEIGHT * 80 / 100)
    left = (WIDTH - width) // 2
    want = tf.image.resize(whole[:, left : left + width], (100, 80)).numpy()
    np.testing.assert_allclose(ours, want, rtol=1e-4, atol=0.02)


def test_a_large_picture_is_never_changed_for_the_window(path: Path, whole: np.ndarray) -> None:
    for if_smaller in ("error", "pad", "resize"):
        ours = load(path, ops.RandomCrop(30, 78, if_smaller), dtype="uint8")
        assert pictures.find_window(ours, whole)


EVERY_GEOMETRY: list[ops.Op] = [
    ops.RandomRotation(0.1),
    ops.RandomTranslation(0.2, 0.2, "wrap"),
    ops.RandomZoom(0.3, fill_mode="nearest"),
    ops.RandomShear(0.2, 0.2, fill_mode="constant"),
    ops.RandomPerspective(0.7, 0.5),
    ops.Pad((2, 3), "reflect"),
    ops.RandomFlip(),
    ops.RandAugment(),
    ops.AugMix(),
    ops.TrivialAugmentWide(),
    ops.AutoAugment(),
    ops.RandomApply([ops.RandomRotation(0.3), ops.RandomInvert()], p=0.5),
    ops.OneOf([ops.RandomZoom(0.3), ops.RandomHue(0.5)], weights=[1, 2]),
    ops.RandomOrder([ops.RandomZoom(0.3), ops.RandomSharpness(0.5), ops.RandomFlip()]),
]


@pytest.mark.parametrize("op", EVERY_GEOMETRY, ids=lambda op: type(op).__name__)
def test_the_same_pixels_for_any_number_of_workers(op: ops.Op, photographs: list[Path]) -> None:
    epochs = []
    for workers in (1, 3):
        loader = tgl.ImageLoader(
            tgl.sources.Paths(photographs[:20]),
            [ops.RandomCrop(50, 50), op, ops.CenterCrop(40, 40)],
            batch_size=7, seed=5, num_workers=workers, shuffle=True, dtype="uint8",
        )  # fmt: skip
        with loader:
            epochs.append([np.concatenate(list(loader)) for _ in range(2)])
    np.testing.assert_array_equal(epochs[0], epochs[1])
    assert not np.array_equal(epochs[0][0], epochs[0][1])


@pytest.mark.parametrize("op", EVERY_GEOMETRY, ids=lambda op: type(op).__name__)
@pytest.mark.parametrize("channels", [1, 4])
def test_other_channels(op: ops.Op, channels: int, photographs: list[Path]) -> None:
    loader = tgl.ImageLoader(
        tgl.sources.Paths(photographs[:6]),
        [ops.RandomCrop(50, 50), op, ops.CenterCrop(40, 40), ops.Rescaling(1 / 255)],
        batch_size=6, seed=5, channels=channels, data_format="channels_first",
    )  # fmt: skip
    with loader:
        batch = next(iter(loader))
    assert batch.shape == (6, channels, 40, 40)
    assert batch.min() >= 0
    assert batch.max() <= 1


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ops.RandomRotation(1.5), "RandomRotation.factor=1.5: expected"),
        (lambda: ops.RandomRotation(0.1, "mirror"), "RandomRotation.fill_mode='mirror': expected 'constant' or"),
        (lambda: ops.RandomZoom(-1.0), "RandomZoom.height_factor"),
        (lambda: ops.RandomZoom(0.1, (0.2, 0.3, 0.4)), "RandomZoom.width_factor"),
        (lambda: ops.RandomShear(1.1), "RandomShear.x_factor"),
        (lambda: ops.RandomTranslation(0.1, "a"), "RandomTranslation.width_factor"),
        (lambda: ops.RandomPerspective(1.0, 2.0), "RandomPerspective.scale"),
        (lambda: ops.RandomRotation(0.1, interpolation="bicubic"), "RandomRotation.interpolation"),
        (lambda: ops.RandomRotation(0.1, fill_value=(1, 2)), "RandomRotation.fill_value"),
        (lambda: ops.RandomRotation(0.1, fill_value=256), "RandomRotation.fill_value"),
        (lambda: ops.Pad(-1), "Pad.padding"),
        (lambda: ops.Pad((1, 2, 3)), "Pad.padding"),
        (lambda: ops.Pad("12"), "Pad.padding"),
        (lambda: ops.RandomCrop(3, 3, if_smaller="ignore"), "RandomCrop.if_smaller='ignore': expected 'error' or"),
        (
            lambda: ops.Resizing(3, 3, crop_to_aspect_ratio=True, pad_to_aspect_ratio=True),
            "Resizing.pad_to_aspect_ratio",
        ),
        (lambda: ops.RandomApply([]), "RandomApply.ops"),
        (lambda: ops.RandomApply([ops.Rescaling(2)]), "RandomApply.ops"),
        (lambda: ops.OneOf([ops.RandomInvert()], weights=[0]), "OneOf.weights"),
        (lambda: ops.RandAugment(num_ops=0), "RandAugment.num_ops"),
        (lambda: ops.RandAugment(value_range=(0, 1)), "RandAugment.value_range"),
        (lambda: ops.AugMix(alpha=0), "AugMix.alpha"),
        (lambda: ops.TrivialAugmentWide(1), "TrivialAugmentWide.num_magnitude_bins"),
        (lambda: ops.AutoAugment("cifar10"), "AutoAugment.policy='cifar10': expected 'imagenet'"),
    ],
)
def test_wrong_arguments_are_named(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(tgl.ConfigError) as error:
        make()
    assert str(error.value).startswith(words)


def test_sizes_and_values_are_checked_when_the_loader_is_made(path: Path) -> None:
    def refuse(*pipeline: ops.Op) -> str:
        with pytest.raises(tgl.ConfigError) as error:
            tgl.ImageLoader(tgl.sources.Paths([path]), list(pipeline))
        return str(error.value)

    assert "changes the size" in refuse(ops.RandomApply([ops.RandomCrop(5, 5)]), ops.CenterCrop(4, 4))
    assert "comes before Rescaling" in refuse(ops.CenterCrop(9, 9), ops.Rescaling(1 / 255), ops.RandAugment())
    assert "comes before Rescaling" in refuse(
        ops.CenterCrop(9, 9), ops.Rescaling(2), ops.RandomRotation(0.1, "constant")
    )
    assert "the output size is not fixed" in refuse(ops.Pad(3), ops.RandomRotation(0.1))
    with tgl.ImageLoader(
        tgl.sources.Paths([path]),
        [ops.CenterCrop(9, 9), ops.Rescaling(2), ops.RandomRotation(0.1, "reflect"), ops.Pad(1, "wrap")],
    ) as loader:
        assert loader.element_spec.shape[1:] == (11, 11, 3)
