"""Colour operations give what Keras' layers, Pillow and OpenCV give, and draw from the law that they document."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pictures
import pytest
from PIL import Image, ImageEnhance, ImageOps

import tfgoloader as tgl
from tfgoloader import ops

HEIGHT, WIDTH = 60, 71
COUNT = 6
DRAWS = 20_000


@pytest.fixture(scope="module")
def wholes() -> np.ndarray:
    """Pictures that span less than 0 to 255, so that AutoContrast changes them."""
    return np.stack([20 + pictures.photograph(HEIGHT, WIDTH, seed) // 4 * 3 for seed in range(COUNT)]).astype(np.uint8)


@pytest.fixture(scope="module")
def paths(wholes: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The same as files that lose nothing."""
    folder = tmp_path_factory.mktemp("colour")
    return [save(folder / f"{index}.png", whole) for index, whole in enumerate(wholes)]


def save(path: Path, picture: Any) -> Path:
    Image.fromarray(np.asarray(picture, np.uint8)).save(path)
    return path


def load(paths: list[Path], pipeline: list[ops.Op], **options: Any) -> np.ndarray:
    arguments = {"batch_size": 5, "seed": 3, "dtype": "uint8", **options}
    with tgl.ImageLoader(tgl.sources.Paths(paths), pipeline, **arguments) as loader:
        return np.concatenate(list(loader))


def apply(paths: list[Path], *operations: ops.Op, **options: Any) -> np.ndarray:
    return load(paths, [ops.CenterCrop(HEIGHT, WIDTH), *operations], **options)


def distance(ours: np.ndarray, theirs: Any) -> float:
    return float(np.abs(ours - np.clip(np.asarray(theirs, np.float64), 0, 255)).max())


# Ours are the nearest levels to Keras' floats: half a level, and what float32 adds.
NEAREST = 0.51
PARITY: dict[str, tuple[ops.Op, Callable[[Any], Any]]] = {
    "brighter": (ops.RandomBrightness((0.3, 0.3)), lambda layers: layers.RandomBrightness((0.3, 0.3))),
    "darker": (ops.RandomBrightness((-0.11, -0.11)), lambda layers: layers.RandomBrightness((-0.11, -0.11))),
    "contrast": (ops.RandomContrast((-0.43, 0.43)), lambda layers: layers.RandomContrast((-0.43, 0.43))),
    "less saturation": (ops.RandomSaturation((0.2, 0.2)), lambda layers: layers.RandomSaturation((0.2, 0.2))),
    "more saturation": (ops.RandomSaturation((0.7, 0.7)), lambda layers: layers.RandomSaturation((0.7, 0.7))),
    "no saturation": (ops.RandomSaturation((0.0, 0.0)), lambda layers: layers.RandomSaturation((0.0, 0.0))),
    "all saturation": (ops.RandomSaturation((1.0, 1.0)), lambda layers: layers.RandomSaturation((1.0, 1.0))),
    "degeneration": (
        ops.RandomColorDegeneration((0.4, 0.4)),
        lambda layers: layers.RandomColorDegeneration((0.4, 0.4)),
    ),
    "grayscale": (ops.RandomGrayscale(1.0), lambda layers: layers.RandomGrayscale(1.0)),
    "invert": (ops.RandomInvert((1.0, 1.0)), lambda layers: layers.RandomInvert((1.0, 1.0))),
    "sharp": (ops.RandomSharpness((0.9, 0.9)), lambda layers: layers.RandomSharpness((0.9, 0.9))),
    "smooth": (ops.RandomSharpness((0.1, 0.1)), lambda layers: layers.RandomSharpness((0.1, 0.1))),
    "posterization": (ops.RandomPosterization((3, 3)), lambda layers: layers.RandomPosterization((3, 3))),
    "solarization": (ops.Solarization(), lambda layers: layers.Solarization()),
    "auto contrast": (ops.AutoContrast(), lambda layers: layers.AutoContrast()),
    "blur": (
        ops.RandomGaussianBlur((1.0, 1.0), kernel_size=5, sigma=(0.9, 0.9)),
        lambda layers: layers.RandomGaussianBlur((1.0, 1.0), kernel_size=5, sigma=(0.9, 0.9)),
    ),
}


@pytest.mark.parametrize("name", PARITY)
def test_pixels_are_the_nearest_to_the_layers(name: str, paths: list[Path], wholes: np.ndarray, keras: Any) -> None:
    op, make = PARITY[name]
    theirs = make(keras.layers)(wholes.astype(np.float32), training=True)
    ours = apply(paths, op)
    assert not np.array_equal(ours, wholes)
    assert distance(ours, theirs) <= NEAREST


def test_hue_is_turned_either_way(paths: list[Path], wholes: np.ndarray, keras: Any) -> None:
    layer = keras.layers.RandomHue((0.3, 0.3))
    ways = [
        layer.transform_images(wholes.astype(np.float32), {"factor": np.full(COUNT, sign * 0.15, np.float32)})
        for sign in (1, -1)
    ]
    for seed in range(3):
        ours = apply(paths, ops.RandomHue((0.3, 0.3)), seed=seed)
        chosen = [min(distance(image, way[index]) for way in ways) for index, image in enumerate(ours)]
        assert max(chosen) <= NEAREST
    many = apply(paths[:1] * 50, ops.RandomHue((0.3, 0.3)))
    assert len(np.unique(many, axis=0)) == 2


@pytest.mark.parametrize(("addition", "threshold"), [(0.0, 0.5), (0.2, 0.6), (0.5, 1.0)])
def test_solarization_is_the_layers(
    paths: list[Path], wholes: np.ndarray, keras: Any, addition: float, threshold: float
) -> None:
    layer = keras.layers.Solarization()
    drawn = {"additions": np.float32(addition * 255), "thresholds": np.float32(threshold * 255)}
    theirs = layer.transform_images(wholes.astype(np.float32), drawn)
    ours = apply(paths, ops.Solarization((addition, addition), (threshold, threshold)))
    assert distance(ours, theirs) <= NEAREST


def test_jitter_is_the_layers(paths: list[Path], wholes: np.ndarray, keras: Any) -> None:
    """Within 2 levels: ours rounds four times, and contrast makes of the half level that brightness left 0.65."""
    factors: dict[str, Any] = {
        "brightness_factor": (0.1, 0.1),
        "contrast_factor": (-0.3, 0.3),
        "saturation_factor": (0.4, 0.4),
        "hue_factor": (0.0, 0.0),
    }
    theirs = np.asarray(keras.layers.RandomColorJitter(**factors)(wholes.astype(np.float32), training=True))
    ours = apply(paths, ops.RandomColorJitter(**factors))
    assert distance(ours, theirs) <= 2
    assert np.abs(ours - theirs).mean() < 0.5


def test_jitter_is_its_four_operations(paths: list[Path]) -> None:
    jitter = ops.RandomColorJitter(
        brightness_factor=(0.1, 0.1), contrast_factor=(-0.3, 0.3), saturation_factor=(0.7, 0.7), hue_factor=(0.0, 0.0)
    )
    four = [
        ops.RandomBrightness((0.1, 0.1)),
        ops.RandomContrast((-0.3, 0.3)),
        ops.RandomSaturation((0.7, 0.7)),
        ops.RandomHue((0.0, 0.0)),
    ]
    assert np.array_equal(apply(paths, jitter), apply(paths, *four))
    assert not np.array_equal(apply(paths, jitter), apply(paths, *reversed(four)))


@pytest.mark.parametrize("bins", [256, 64, 7])
def test_equalization_is_the_layers(paths: list[Path], wholes: np.ndarray, keras: Any, bins: int) -> None:
    """The layer equalizes a batch, so it is given one picture at a time.

    It finds the bin of x as x / 255 * (bins - 1) in float32, which for some x lands below the integer; those are left
    out.
    """
    levels = np.arange(256)
    cut = (levels.astype(np.float32) / np.float32(255) * np.float32(bins - 1)).astype(np.int64)
    exact = cut == levels * (bins - 1) // 255
    assert exact.mean() > 0.7
    layer = keras.layers.Equalization(bins=bins)
    ours = apply(paths, ops.Equalization(bins=bins))
    for image, whole in zip(ours, wholes, strict=True):
        theirs = np.asarray(layer(whole[None].astype(np.float32), training=True))[0]
        assert distance(image[exact[whole]], theirs[exact[whole]]) <= 1
        assert not np.array_equal(image, whole)


def test_equalization_is_opencvs(paths: list[Path], wholes: np.ndarray) -> None:
    """Within 1 level, since OpenCV multiplies by a rounded scale."""
    ours = apply(paths, ops.Equalization())
    theirs = np.stack([np.dstack([cv2.equalizeHist(c) for c in cv2.split(whole)]) for whole in wholes])
    assert distance(ours, theirs) <= 1


@pytest.mark.parametrize(
    ("op", "pillow", "tolerance"),
    [
        (ops.RandomPosterization(4), lambda image: ImageOps.posterize(image, 4), 0),
        (ops.Solarization(threshold_factor=(128 / 255, 128 / 255)), lambda image: ImageOps.solarize(image, 128), 0),
        (ops.RandomInvert((1.0, 1.0)), ImageOps.invert, 0),
        # Pillow cuts what we round.
        (ops.AutoContrast(), ImageOps.autocontrast, 1),
    ],
    ids=["posterize", "solarize", "invert", "autocontrast"],
)
def test_pixels_are_pillows(
    op: ops.Op, pillow: Callable[[Any], Any], tolerance: int, paths: list[Path], wholes: np.ndarray
) -> None:
    theirs = np.stack([pillow(Image.fromarray(whole)) for whole in wholes])
    assert distance(apply(paths, op), theirs) <= tolerance


@pytest.mark.parametrize("factor", [0.0, 0.3, 1.0])
def test_sharpness_is_pillows_within_the_edge(factor: float, paths: list[Path], wholes: np.ndarray) -> None:
    """Within 2 levels: Pillow rounds the smooth picture, doubles that at most, and cuts the blend."""
    theirs = np.stack([ImageEnhance.Sharpness(Image.fromarray(whole)).enhance(2 * factor) for whole in wholes])
    ours = apply(paths, ops.RandomSharpness((factor, factor)))
    assert distance(ours[:, 1:-1, 1:-1], theirs[:, 1:-1, 1:-1]) <= 2


def test_blur_is_opencvs(paths: list[Path], wholes: np.ndarray) -> None:
    """Within 1 level, since OpenCV's window for 8-bit pictures has 8-bit weights."""
    ours = apply(paths, ops.RandomGaussianBlur((1.0, 1.0), kernel_size=9, sigma=(2.5, 2.5)))
    theirs = [cv2.GaussianBlur(whole, (9, 9), 2.5, borderType=cv2.BORDER_CONSTANT) for whole in wholes]
    # OpenCV's constant is not 0 for a blur on every version, so the edge is left out.
    assert distance(ours[:, 4:-4, 4:-4], np.stack(theirs)[:, 4:-4, 4:-4]) <= 1


@pytest.mark.parametrize("fill", [7, (1, 2, 250)], ids=str)
def test_erasing_fills_one_rectangle(fill: Any, paths: list[Path], wholes: np.ndarray) -> None:
    images = apply(paths * 20, ops.RandomErasing((1.0, 1.0), scale=(0.25, 0.25), fill_value=fill))
    corners = set()
    for image, whole in zip(images, np.concatenate([wholes] * 20), strict=True):
        rows, columns = np.nonzero((image != whole).any(axis=-1))
        top, left = rows.min(), columns.min()
        inside = image[top : top + HEIGHT // 2, left : left + WIDTH // 2]
        assert (inside == np.broadcast_to(fill, 3)).all()
        erased = np.zeros((HEIGHT, WIDTH), bool)
        erased[top : rows.max() + 1, left : columns.max() + 1] = True
        assert np.array_equal(image[~erased], whole[~erased])
        assert erased.sum() <= (HEIGHT // 2 + 1) * (WIDTH // 2 + 1)
        corners.add((top, left))
    assert len(corners) > 90


def test_erasing_fills_with_clipped_normal_noise(paths: list[Path]) -> None:
    images = apply(paths * 30, ops.RandomErasing((1.0, 1.0), scale=(1.0, 1.0)))
    values = images[:, 1:, 1:].ravel()  # the first row and column lie before a rectangle that begins between pixels
    share = len(values) ** -0.5
    assert abs((values == 0).mean() - 0.5008) < 3 * share  # half is negative
    assert abs((values == 255).mean() - 0.1592) < 3 * share  # more than one deviation, less half a level
    assert abs(np.median(values[values > 0]) - 255 * 0.6745) < 2


ALL = {
    "brightness": ops.RandomBrightness(0.3),
    "contrast": ops.RandomContrast(0.5),
    "saturation": ops.RandomSaturation((0.2, 0.8)),
    "hue": ops.RandomHue(0.5),
    "jitter": ops.RandomColorJitter(
        brightness_factor=0.2, contrast_factor=0.2, saturation_factor=(0.3, 0.7), hue_factor=0.1
    ),
    "degeneration": ops.RandomColorDegeneration(1.0),
    "sharpness": ops.RandomSharpness(1.0),
    "posterization": ops.RandomPosterization((1, 8)),
    "solarization": ops.Solarization(0.3, 1.0),
    "equalization": ops.Equalization(p=0.5),
    "auto contrast": ops.AutoContrast(p=0.5),
    "grayscale": ops.RandomGrayscale(),
    "invert": ops.RandomInvert(),
    "blur": ops.RandomGaussianBlur(kernel_size=5),
    "erasing": ops.RandomErasing(),
}


def test_every_colour_operation_is_tested() -> None:
    from tfgoloader.ops import _colour

    public = {getattr(ops, name) for name in ops.__all__}
    assert {type(op) for op in ALL.values()} == {op for op in public if op.__module__ == _colour.__name__}


@pytest.mark.parametrize("name", [*ALL, "all"])
def test_workers_and_batches_change_nothing(name: str, paths: list[Path]) -> None:
    chosen = [*ALL.values()] if name == "all" else [ALL[name]]
    pipeline = [ops.RandomFlip(), *chosen, ops.RandomCrop(41, 52), ops.RandomFlip()]
    first = load(paths * 8, pipeline, num_workers=1)
    assert np.array_equal(first, load(paths * 8, pipeline, num_workers=4, batch_size=7))
    assert not np.array_equal(first, load(paths * 8, pipeline, num_workers=4, seed=4))


@pytest.mark.parametrize("name", ALL)
def test_alpha_stays_and_gray_has_no_colour(name: str, wholes: np.ndarray, tmp_path: Path) -> None:
    alpha = pictures.photograph(HEIGHT, WIDTH, 50)[..., :1]
    four = [save(tmp_path / "four.png", np.dstack([wholes[0], alpha]))] * 20
    images = apply(four, ALL[name], channels=4)
    assert (images[..., 3:] == alpha).all()
    assert not (images[..., :3] == wholes[0]).all()
    one = [save(tmp_path / "one.png", wholes[0, ..., 0])] * 20
    images = apply(one, ALL[name], channels=1)
    assert (images == wholes[0, ..., :1]).all() == (name in ("saturation", "hue", "degeneration", "grayscale"))


def test_their_order_matters(paths: list[Path], wholes: np.ndarray) -> None:
    brighter, invert = ops.RandomBrightness((0.4, 0.4)), ops.RandomInvert((1.0, 1.0))
    wide = wholes.astype(int)
    assert np.array_equal(apply(paths, brighter, invert), 255 - np.minimum(wide + 102, 255))
    assert np.array_equal(apply(paths, invert, brighter), np.minimum(255 - wide + 102, 255))


@pytest.mark.parametrize(
    ("op", "make"), [PARITY[name] for name in ("contrast", "auto contrast", "blur", "sharp")], ids=str
)
def test_a_crop_comes_after_or_before(
    op: ops.Op, make: Callable[[Any], Any], paths: list[Path], wholes: np.ndarray, keras: Any
) -> None:
    layer = make(keras.layers)
    crop = ops.CenterCrop(20, 31)
    window = np.s_[:, (HEIGHT - 20) // 2 :, (WIDTH - 31) // 2 :]
    after = np.asarray(layer(wholes.astype(np.float32), training=True))[window][:, :20, :31]
    before = np.asarray(layer(wholes[window][:, :20, :31].astype(np.float32), training=True))
    assert np.abs(after - before).max() > 1
    assert distance(load(paths, [op, crop]), after) <= NEAREST
    assert distance(load(paths, [crop, op]), before) <= NEAREST


def test_they_see_the_flipped_picture(paths: list[Path], wholes: np.ndarray) -> None:
    """A rectangle is erased at the same place of the picture, flipped before or not."""
    erase = ops.RandomErasing((1.0, 1.0), scale=(0.1, 0.3), fill_value=0)
    plain = apply(paths * 20, ops.RandomBrightness(0.0), erase)
    flipped = apply(paths * 20, ops.RandomFlip(), erase)
    assert np.array_equal((plain == 0).all(axis=-1), (flipped == 0).all(axis=-1))
    assert not np.array_equal(plain, flipped)


def test_values_are_rescaled_afterwards(paths: list[Path], wholes: np.ndarray) -> None:
    images = apply(paths, ops.RandomInvert((1.0, 1.0)), ops.Rescaling(1 / 255), dtype="float32")
    np.testing.assert_allclose(images, (255 - wholes) / np.float32(255), rtol=1e-6)


# What is drawn is seen in the pixels, which tell 256 values apart: the law is compared at the bounds between them.


def draw(tmp_path: Path, op: ops.Op, picture: Any) -> np.ndarray:
    """Apply an operation to the same picture, given as rows of pixels, many times."""
    path = save(tmp_path / "picture.png", picture)
    height, width = np.shape(picture)[:2]
    images = load([path] * DRAWS, [ops.CenterCrop(height, width), op], batch_size=1000)
    return images.astype(int)


def check_law(levels: np.ndarray, law: Callable[[np.ndarray], np.ndarray]) -> None:
    """Kolmogorov and Smirnov's test: one sample in 10,000 that follows the law lies farther off than 2.23 / sqrt(n).

    `law(x)` is the probability that what is drawn gives less than x before it is rounded.
    """
    values, counts = np.unique(levels, return_counts=True)
    assert len(values) > 20
    assert np.abs(np.cumsum(counts) / counts.sum() - law(values + 0.5)).max() < 2.23 * counts.sum() ** -0.5


def uniform(lower: float, upper: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: np.clip((x - lower) / (upper - lower), 0, 1)


@pytest.mark.parametrize(("factor", "lower", "upper"), [(0.4, -0.4, 0.4), (-0.2, -0.2, 0.2), ((0.3, -0.1), -0.1, 0.3)])
def test_law_of_brightness(tmp_path: Path, factor: Any, lower: float, upper: float) -> None:
    levels = draw(tmp_path, ops.RandomBrightness(factor), [[[128] * 3]])
    check_law(levels[:, 0, 0, 0], uniform(128 + 255 * lower, 128 + 255 * upper))


@pytest.mark.parametrize(
    ("factor", "lower", "upper"), [(0.5, 0.5, 1.5), ((0.9, 0.3), 0.1, 1.3), ((-0.2, 0.9), 1.2, 1.9)]
)
def test_law_of_contrast(tmp_path: Path, factor: Any, lower: float, upper: float) -> None:
    levels = draw(tmp_path, ops.RandomContrast(factor), [[[66] * 3, [190] * 3]])  # 62 to either side of 128
    check_law(levels[:, 0, 1, 0], uniform(128 + 62 * lower, 128 + 62 * upper))


@pytest.mark.parametrize(("factor", "lower", "upper"), [(0.5, 0, 0.5), ((0.1, 0.6), 0.1, 0.6)])
def test_law_of_saturation(tmp_path: Path, factor: Any, lower: float, upper: float) -> None:
    levels = draw(tmp_path, ops.RandomSaturation(factor), [[[240, 240, 100]]])
    stretched = 240 - levels[:, 0, 0, 2]  # 140 * f / (1 - f)
    check_law(stretched, lambda x: uniform(lower, upper)(x / (x + 140)))


@pytest.mark.parametrize(("factor", "lower", "upper"), [(0.3, 0, 0.3), ((0.1, 0.2), 0.1, 0.2)])
def test_law_of_hue(tmp_path: Path, factor: Any, lower: float, upper: float) -> None:
    levels = draw(tmp_path, ops.RandomHue(factor), [[[255, 0, 0]]])
    turned = levels[:, 0, 0, 1] - levels[:, 0, 0, 2]  # 255 is a sixth of the circle, hence a factor of a third
    share = uniform(lower, upper)
    check_law(turned, lambda x: np.where(x > 0, 1 + share(x / 765), 1 - share(-x / 765)) / 2)


def test_law_of_jitter(tmp_path: Path) -> None:
    levels = draw(tmp_path, ops.RandomColorJitter(brightness_factor=0.2), [[[128] * 3]])
    check_law(levels[:, 0, 0, 0], uniform(128 - 51, 128 + 51))
    levels = draw(tmp_path, ops.RandomColorJitter(contrast_factor=0.5), [[[66] * 3, [190] * 3]])
    check_law(levels[:, 0, 1, 0], uniform(128 + 62 * 0.5, 128 + 62 * 1.5))


@pytest.mark.parametrize(("factor", "lower", "upper"), [(1.0, 0, 1), ((0.2, 0.7), 0.2, 0.7)])
def test_law_of_degeneration(tmp_path: Path, factor: Any, lower: float, upper: float) -> None:
    levels = draw(tmp_path, ops.RandomColorDegeneration(factor), [[[0, 0, 255]]])
    faded = 255 - levels[:, 0, 0, 2]  # gray is 29.07
    check_law(faded, uniform(225.93 * lower, 225.93 * upper))


@pytest.mark.parametrize(("factor", "lower", "upper"), [(1.0, 0, 1), ((0.2, 0.7), 0.2, 0.7)])
def test_law_of_sharpness(tmp_path: Path, factor: Any, lower: float, upper: float) -> None:
    black = [0] * 3
    levels = draw(tmp_path, ops.RandomSharpness(factor), [[black] * 3, [black, [130] * 3, black], [black] * 3])
    check_law(levels[:, 1, 1, 0], uniform(130 + (2 * lower - 1) * 80, 130 + (2 * upper - 1) * 80))  # smooth is 50


@pytest.mark.parametrize(("factor", "lower", "upper"), [(0.7, 0, 0.7), ((0.2, 0.9), 0.2, 0.9)])
def test_law_of_solarization(tmp_path: Path, factor: Any, lower: float, upper: float) -> None:
    levels = draw(tmp_path, ops.Solarization(addition_factor=factor, threshold_factor=(1.0, 1.0)), [[[0] * 3]])
    check_law(levels[:, 0, 0, 0], uniform(255 * lower, 255 * upper))
    ramp = [[[level] * 3 for level in range(120)]]
    levels = draw(tmp_path, ops.Solarization(threshold_factor=factor), ramp)
    below = (levels[:, 0, :, 0] < 128).sum(axis=1)  # the levels below the threshold, which lies in the last one's unit
    values, counts = np.unique(below, return_counts=True)
    shares = np.cumsum(counts) / DRAWS
    inside = values < 120
    expected = uniform(255 * lower, 255 * upper)(values[inside])
    assert inside.sum() > 50
    assert np.abs(shares[inside] - expected).max() < 2.23 * DRAWS**-0.5


@pytest.mark.parametrize(("factor", "allowed"), [(5, [5]), ((2, 5), [2, 3, 4]), ((8, 8), [8])])
def test_law_of_posterization(tmp_path: Path, factor: Any, allowed: list[int]) -> None:
    levels = draw(tmp_path, ops.RandomPosterization(factor), [[[255] * 3]])
    values, counts = np.unique(levels[:, 0, 0, 0], return_counts=True)
    assert values.tolist() == [255 >> (8 - bits) << (8 - bits) for bits in allowed]
    assert np.abs(counts - DRAWS / len(allowed)).max() < 4 * DRAWS**0.5 / 2


@pytest.mark.parametrize(
    ("op", "probability"),
    [
        (ops.RandomInvert(), 0.5),
        (ops.RandomInvert(0.4), 0.2),
        (ops.RandomInvert((0.6, 0.8)), 0.7),
        (ops.RandomGrayscale(0.3), 0.3),
        (ops.RandomGrayscale(), 0.5),
        (ops.RandomGaussianBlur(0.6, sigma=(1.0, 1.0)), 0.3),
        (ops.RandomErasing((0.1, 0.3), scale=(1.0, 1.0), fill_value=1), 0.2),
        (ops.AutoContrast(p=0.25), 0.25),
        (ops.RandomBrightness((0.5, 0.5), p=0.75), 0.75),
        (ops.RandomColorJitter(brightness_factor=(0.5, 0.5), p=0.1), 0.1),
        (ops.RandomHue((0.5, 0.5), p=0.0), 0.0),
    ],
    ids=str,
)
def test_law_of_being_applied(tmp_path: Path, op: ops.Op, probability: float) -> None:
    picture = [[[10, 120, 200], [20, 30, 40]], [[50, 60, 70], [90, 10, 0]]]
    changed = (draw(tmp_path, op, picture) != picture).any(axis=(1, 2, 3)).sum()
    assert abs(changed - DRAWS * probability) <= 3.9 * (DRAWS * probability * (1 - probability)) ** 0.5


# Mistakes.


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ops.RandomBrightness(0.1, value_range=(0, 1)), ["RandomBrightness.value_range=(0, 1)", "Rescaling"]),
        (lambda: ops.AutoContrast(value_range="0255"), ["AutoContrast.value_range='0255'", "(0, 255)"]),
        (lambda: ops.RandomColorJitter((0, 1)), ["RandomColorJitter.value_range=(0, 1)"]),
        (lambda: ops.RandomBrightness(1.1), ["RandomBrightness.factor=1.1", "from -1 to 1"]),
        (lambda: ops.RandomBrightness((0.1, 0.2, 0.3)), ["RandomBrightness.factor=(0.1, 0.2, 0.3)", "two"]),
        (lambda: ops.RandomBrightness("0.1"), ["RandomBrightness.factor='0.1'"]),
        (lambda: ops.RandomContrast((0.1, -0.2)), ["RandomContrast.factor=(0.1, -0.2)", "1 - lower"]),
        (lambda: ops.RandomContrast(-0.2), ["RandomContrast.factor=-0.2"]),
        (lambda: ops.RandomSaturation(-0.1), ["RandomSaturation.factor=-0.1", "from 0 to 1"]),
        (lambda: ops.RandomHue((0.5, 1.5)), ["RandomHue.factor=(0.5, 1.5)"]),
        (lambda: ops.RandomHue(float("nan")), ["RandomHue.factor=nan"]),
        (lambda: ops.RandomColorJitter(hue_factor=2), ["RandomColorJitter.hue_factor=2"]),
        (lambda: ops.RandomGrayscale(1.5), ["RandomGrayscale.factor=1.5", "a number from 0 to 1"]),
        (lambda: ops.RandomPosterization(9), ["RandomPosterization.factor=9", "from 1 to 8"]),
        (lambda: ops.RandomPosterization((1, 2, 3)), ["RandomPosterization.factor=(1, 2, 3)"]),
        (lambda: ops.RandomPosterization(2.5), ["RandomPosterization.factor=2.5"]),
        (lambda: ops.Solarization(threshold_factor=1.5), ["Solarization.threshold_factor=1.5"]),
        (lambda: ops.Equalization(bins=0), ["Equalization.bins=0", "from 1"]),
        (lambda: ops.RandomGaussianBlur(kernel_size=4), ["RandomGaussianBlur.kernel_size=4", "odd"]),
        (lambda: ops.RandomGaussianBlur(sigma=-1), ["RandomGaussianBlur.sigma=-1"]),
        (lambda: ops.RandomErasing(scale=(0.1, 2)), ["RandomErasing.scale=(0.1, 2)"]),
        (lambda: ops.RandomErasing(fill_value=(1, 2)), ["RandomErasing.fill_value=(1, 2)", "three"]),
        (lambda: ops.RandomErasing(fill_value=256), ["RandomErasing.fill_value=256"]),
        (lambda: ops.AutoContrast(p=1.5), ["AutoContrast.p=1.5", "from 0 to 1"]),
    ],
)
def test_wrong_arguments_are_named(make: Callable[[], ops.Op], words: list[str]) -> None:
    with pytest.raises(tgl.ConfigError) as error:
        make()
    assert all(word in str(error.value) for word in words), error.value


def test_colours_come_before_rescaling(paths: list[Path]) -> None:
    with pytest.raises(tgl.ConfigError, match=r"ops\[2\].*RandomGrayscale.*before Rescaling"):
        apply(paths, ops.Rescaling(1 / 255), ops.RandomGrayscale(), dtype="float32")


def test_colours_are_for_eight_bits(paths: list[Path]) -> None:
    with pytest.raises(tgl.ConfigError, match=r"uint16.*8 bits"):
        apply(paths, ops.RandomGrayscale(), dtype="uint16")
