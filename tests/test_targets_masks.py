"""Masks go where their pictures go, pixel by pixel, and keep their class indices."""

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

COUNT = 40


def indices_of(picture: np.ndarray) -> np.ndarray:
    """Return a mask that is a function of the pixel: classes 0 to 5."""
    return (picture[..., 0] // 43).astype(np.uint8)


def palette() -> list[int]:
    """Return colours that tell nothing of their index."""
    return np.random.default_rng(1).integers(0, 256, 768).tolist()


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], list[Path]]:
    """Lossless pictures of many sizes, and masks of each kind that Pillow writes."""
    folder = tmp_path_factory.mktemp("pairs")
    paths, masks = [], []
    for index in range(COUNT):
        picture = pictures.photograph(60 + index, 64 + index * 7 % COUNT, index)
        mask = Image.fromarray(indices_of(picture))
        paths.append(folder / f"{index}.png")
        Image.fromarray(picture).save(paths[-1], compress_level=1)
        suffix, options = [
            ("png", {}),
            ("png", {"bits": 4}),
            ("gif", {}),
            ("bmp", {}),
            ("png", {}),
        ][index % 5]
        masks.append(folder / f"mask_{index}.{suffix}")
        if index % 5 < 4:
            mask = Image.fromarray(np.asarray(mask))
            mask.putpalette(palette())
        mask.save(masks[-1], **options)
    return paths, masks


def loader_of(pairs: tuple[list[Path], list[Path]], pipeline: list[ops.Op], **options: Any) -> tgl.ImageLoader:
    paths, masks = pairs
    arguments = {"dtype": "uint8", "batch_size": 7, "shuffle": True, "seed": 11, **options}
    return tgl.ImageLoader(tgl.sources.Paths(paths, masks=masks), pipeline, **arguments)


def random_chain(random: np.random.Generator) -> list[ops.Op]:
    """Return operations that take whole pixels from place to place, to a size of 29 by 31."""
    nearest = {"interpolation": "nearest"}
    fill = {**nearest, "fill_mode": str(random.choice(("constant", "nearest", "reflect", "wrap")))}
    least = 60, 64  # the size that every picture has at least
    chain: list[ops.Op] = []
    for _ in range(random.integers(0, 4)):
        smaller = tuple(int(random.integers(side // 2, side + 1)) for side in least)
        other = int(random.integers(20, 90)), int(random.integers(20, 90))
        match random.integers(0, 12):
            case 0:
                chain.append(ops.RandomCrop(*smaller))
                least = smaller
            case 1:
                chain.append(ops.CenterCrop(*smaller))
                least = smaller
            case 2:
                chain.append(ops.Resizing(*other, **nearest))
                least = other
            case 3:
                chain.append(ops.Resizing(*other, crop_to_aspect_ratio=True, **nearest))
                least = other
            case 4:
                chain.append(ops.ResizeShorter(other[0], **nearest))
                least = other[0], other[0]
            case 5:
                chain.append(ops.RandomResizedCrop(*other, **nearest))
                least = other
            case 6:
                chain.append(ops.RandomRotation(0.3, **fill))
            case 7:
                chain.append(ops.RandomTranslation(0.3, 0.2, **fill))
            case 8:
                chain.append(ops.RandomZoom((-0.4, 0.4), (-0.4, 0.4), **fill))
            case 9:
                chain.append(ops.RandomShear(0.2, 0.3, **fill))
            case 10:
                chain.append(ops.RandomPerspective(1.0, 0.3, **nearest))
            case 11:
                border = int(random.integers(0, 20))
                chain.append(ops.Pad(border, fill_mode=fill["fill_mode"]))
                least = least[0] + 2 * border, least[1] + 2 * border
        chain.append(ops.RandomFlip(str(random.choice(("horizontal", "vertical", "horizontal_and_vertical")))))
    return [*chain, ops.Resizing(33, 37, **nearest), ops.RandomCrop(29, 31), ops.RandomFlip()]


def test_masks_stay_on_their_pictures_under_200_random_chains(pairs: tuple[list[Path], list[Path]]) -> None:
    random = np.random.default_rng(2)
    few = pairs[0][:10], pairs[1][:10]
    for seed in range(200):
        with loader_of(few, random_chain(random), batch_size=10, seed=seed) as loader:
            ((images, masks),) = loader
        assert (masks.dtype, masks.shape) == (np.dtype(np.uint8), (10, 29, 31, 1))
        np.testing.assert_array_equal(masks[..., 0], indices_of(images))


def test_colour_operations_leave_masks_alone(pairs: tuple[list[Path], list[Path]]) -> None:
    colours = [ops.RandomInvert(factor=1.0), ops.RandomGaussianBlur(), ops.RandomErasing(1.0)]
    pipeline = [ops.RandomCrop(40, 41), ops.RandomFlip()]
    with loader_of(pairs, pipeline) as plain, loader_of(pairs, [*pipeline, *colours]) as coloured:
        for (images, masks), (other_images, other_masks) in zip(plain, coloured, strict=True):
            assert not np.array_equal(images, other_images)
            np.testing.assert_array_equal(masks, other_masks)


def test_a_smooth_picture_has_a_mask_of_nearest_pixels(pairs: tuple[list[Path], list[Path]], tf: Any) -> None:
    """The picture is resized as tf.image.resize does it, bilinear, and its mask by the method nearest."""
    pipeline = [ops.Resizing(45, 50)]
    with loader_of(pairs, pipeline, shuffle=False, batch_size=COUNT) as loader:
        ((_, masks),) = loader
    for path, mask in zip(pairs[0], masks, strict=True):
        with Image.open(path) as picture:
            whole = indices_of(np.asarray(picture))
        expected = tf.image.resize(whole[..., None], (45, 50), method="nearest").numpy()
        np.testing.assert_array_equal(mask, expected)


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_shapes_in_both_layouts_and_in_a_dataset(
    pairs: tuple[list[Path], list[Path]], tf: Any, data_format: str
) -> None:
    shape = (40, 41, 1) if data_format == "channels_last" else (1, 40, 41)
    options: dict[str, Any] = {"data_format": data_format, "batch_size": 8}
    with loader_of(pairs, [ops.RandomCrop(40, 41)], **options) as loader:
        expected = pictures.join(loader)
    with loader_of(pairs, [ops.RandomCrop(40, 41)], **options) as loader:
        assert loader.element_spec[1] == tgl.ArraySpec((8, *shape), np.dtype(np.uint8))
        dataset = loader.as_dataset()
        assert dataset.element_spec[1] == tf.TensorSpec((8, *shape), tf.uint8)
        seen = pictures.join(dataset)
    np.testing.assert_array_equal(seen[0], expected[0])
    np.testing.assert_array_equal(seen[1], expected[1])
    channel = seen[1][..., 0] if data_format == "channels_last" else seen[1][:, 0]
    assert channel.max() == 5


def test_labels_and_masks_come_in_a_dict(pairs: tuple[list[Path], list[Path]], tf: Any) -> None:
    paths, masks = pairs
    source = tgl.sources.Paths(paths, range(COUNT), masks)
    pipeline = [ops.CenterCrop(40, 41)]
    with tgl.ImageLoader(source, pipeline, labels=ops.OneHot(COUNT), batch_size=8, dtype="uint8") as loader:
        assert loader.element_spec == (
            tgl.ArraySpec((8, 40, 41, 3), np.dtype(np.uint8)),
            {
                "labels": tgl.ArraySpec((8, COUNT), np.dtype(np.float32)),
                "segmentation_masks": tgl.ArraySpec((8, 40, 41, 1), np.dtype(np.uint8)),
            },
        )
        for index, (images, targets) in enumerate(loader):
            assert targets["labels"].argmax(axis=1).tolist() == list(range(8 * index, 8 * index + 8))
            np.testing.assert_array_equal(targets["segmentation_masks"][..., 0], indices_of(images))
        for images, targets in loader.as_dataset():
            assert targets["labels"].dtype == tf.float32
            np.testing.assert_array_equal(targets["segmentation_masks"][..., 0], indices_of(images.numpy()))


def test_any_number_of_workers_gives_the_same(pairs: tuple[list[Path], list[Path]]) -> None:
    epochs = []
    for workers in (1, 3):
        with loader_of(pairs, [ops.RandomResizedCrop(40, 41)], num_workers=workers) as loader:
            epochs.append(pictures.join(loader))
    np.testing.assert_array_equal(epochs[0][1], epochs[1][1])


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_numbers_are_those_that_the_file_holds(tmp_path: Path, bits: int) -> None:
    indices = np.random.default_rng(bits).integers(0, 2**bits, (9, 13), np.uint8)
    mask = Image.fromarray(indices)
    mask.putpalette(palette())
    mask.save(tmp_path / "mask.png", bits=bits)
    Image.new("RGB", (13, 9)).save(tmp_path / "picture.png")
    with Image.open(tmp_path / "mask.png") as written:
        assert written.mode == "P"
    if bits == 1:
        Image.fromarray(indices.astype(bool)).save(tmp_path / "gray.png")  # one bit, 0 and 1
    else:
        Image.fromarray(indices).save(tmp_path / "gray.png")
    source = tgl.sources.Paths([tmp_path / "picture.png"] * 2, masks=[tmp_path / "mask.png", tmp_path / "gray.png"])
    with tgl.ImageLoader(source, [ops.CenterCrop(9, 13)]) as loader:
        ((_, masks),) = loader
    np.testing.assert_array_equal(masks[0, ..., 0], indices)
    np.testing.assert_array_equal(masks[1, ..., 0], indices)


def test_orientation_applies_to_both(tmp_path: Path) -> None:
    """A picture and its mask that a camera turned are both upright, or both as they are stored."""
    picture = pictures.photograph(31, 44, 3)
    mask = Image.fromarray(indices_of(picture))
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(picture).save(tmp_path / "picture.png", exif=exif)
    mask.save(tmp_path / "mask.png", exif=exif)
    source = tgl.sources.Paths([tmp_path / "picture.png"], masks=[tmp_path / "mask.png"])
    for upright, shape in ((True, (44, 31)), (False, (31, 44))):
        with tgl.ImageLoader(source, [ops.CenterCrop(*shape)], exif=upright, dtype="uint8") as loader:
            ((images, masks),) = loader
        np.testing.assert_array_equal(masks[..., 0], indices_of(images))


def test_bad_masks_are_named_with_their_pictures(pairs: tuple[list[Path], list[Path]], tmp_path: Path) -> None:
    paths, masks = pairs[0][:6], list(pairs[1][:6])
    small, coloured, gone, text = (tmp_path / name for name in ("small.png", "rgb.png", "gone.png", "text.png"))
    Image.new("L", (64, 59)).save(small)
    Image.new("RGB", (71, 61)).save(coloured)
    text.write_text("no picture")
    masks[0], masks[1], masks[2], masks[3] = small, coloured, gone, text
    source = tgl.sources.Paths(paths, masks=masks)
    with tgl.ImageLoader(source, [ops.CenterCrop(32, 32)], batch_size=1) as loader:
        batches = iter(loader)
        reasons = []
        for index, kind in enumerate((tgl.DecodeError, tgl.DecodeError, tgl.SourceError, tgl.DecodeError)):
            with pytest.raises(kind) as caught:
                next(batches)
            assert caught.value.path == str(paths[index])
            assert str(masks[index]) in caught.value.reason
            reasons.append(caught.value.reason)
        assert len(list(batches)) == 2
    assert "59 x 64 (height x width)" in reasons[0]
    assert "60 x 64" in reasons[0]
    assert "class indices" in reasons[1]
    with tgl.ImageLoader(source, [ops.CenterCrop(32, 32)], on_error="skip") as loader:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # bad files are named
            ((images, _),) = loader
        assert len(images) == 2
        bad = loader.stats()["bad_files"]
    assert list(bad) == [str(path) for path in paths[:4]]
    with tgl.ImageLoader(source, [ops.CenterCrop(32, 32)], exclude=bad) as loader:
        assert [len(images) for images, _ in loader] == [2]


def test_wrong_arguments_are_named(pairs: tuple[list[Path], list[Path]]) -> None:
    paths, masks = pairs
    for wrong in (masks[:-1], "mask.png", [1] * COUNT, 3):
        with pytest.raises(tgl.ConfigError, match="masks"):
            tgl.sources.Paths(paths, masks=wrong)
    source = tgl.sources.Paths(paths, range(COUNT), masks)
    assert (source.has_masks, source.has_labels, source.has_boxes) == (True, True, False)
    with pytest.raises(tgl.ConfigError, match=r"MixUp.*masks"):
        tgl.ImageLoader(source, [ops.CenterCrop(4, 4), ops.MixUp()], labels=ops.OneHot(COUNT))
