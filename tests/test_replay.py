"""A sample made again is the one that was in the batch, and what is told of it is what happened."""

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

FILES = Path(__file__).parent / "cases/files"
Decode = Callable[..., np.ndarray]

PIPELINES: dict[str, list[Any]] = {
    "crops and flips": [ops.RandomFlip(), ops.RandomCrop(44, 48), ops.RandomFlip(), ops.CenterCrop(40, 40)],
    "resized": [ops.RandomResizedCrop(40, 44), ops.RandomFlip("horizontal"), ops.Rescaling(1 / 127.5, -1)],
    "shorter": [ops.ResizeShorter(48), ops.RandomCrop(40, 40), ops.Normalization(mean=[1, 2, 3], variance=[4, 5, 6])],
    "colours": [
        ops.RandomCrop(50, 50),
        *(ops.RandomBrightness(0.3), ops.RandomContrast(0.3), ops.RandomSaturation((0.4, 0.6)), ops.RandomHue(0.2)),
        *(ops.RandomColorDegeneration(0.5), ops.RandomSharpness(1.0), ops.RandomPosterization((2, 6))),
        *(
            ops.Solarization(0.1, 0.9, p=0.5),
            ops.AutoContrast(p=0.5),
            ops.Equalization(p=0.5),
            ops.RandomGrayscale(0.5),
        ),
        *(ops.RandomInvert(), ops.RandomGaussianBlur(), ops.RandomErasing()),
        ops.RandomColorJitter((0, 255), 0.2, 0.2, (0.4, 0.6), 0.1, p=0.5),
    ],
    "geometry": [
        *(ops.RandomRotation(0.1), ops.RandomFlip(), ops.RandomTranslation(0.2, 0.2), ops.RandomZoom(0.2)),
        *(ops.RandomShear(0.2, 0.2), ops.RandomPerspective(0.5, 0.3), ops.Pad(3), ops.RandomCrop(60, 60, "pad")),
    ],
    "policies": [
        ops.Resizing(40, 40),
        ops.RandAugment(),
        ops.AutoAugment(),
        ops.TrivialAugmentWide(),
        ops.OneOf([ops.RandomFlip(), ops.RandomOrder([ops.RandomInvert(), ops.RandomRotation(0.2)])]),
        ops.RandomApply([ops.RandomHue(0.1)]),
        ops.AugMix(),
    ],
}


def loader_of(paths: list[Path], pipeline: list[Any], **options: Any) -> tgl.ImageLoader:
    source = tgl.sources.Paths(paths, [index % 3 for index in range(len(paths))])
    return tgl.ImageLoader(source, pipeline, **{"batch_size": 8, "seed": 3, "return_meta": True, **options})


def check(loader: tgl.ImageLoader, epochs: int = 2) -> list[tgl.Replay]:
    """Compare every sample of some epochs with its replay; the epochs go on meanwhile."""
    replays = []
    for epoch in range(epochs):
        for images, targets, meta in loader:
            views = images if isinstance(images, tuple) else (images,)
            for row, index in enumerate(meta["index"]):
                replay = loader.replay(epoch, int(index))
                after = replay.after if isinstance(images, tuple) else (replay.after,)
                for view, again in zip(views, after, strict=True):
                    np.testing.assert_array_equal(again, view[row])
                    assert again.dtype == view.dtype
                np.testing.assert_array_equal(replay.targets, targets[row])
                assert (replay.epoch, replay.index, replay.path) == (epoch, index, meta["path"][row])
                assert replay.original_size == tuple(meta["original_size"][row]) == replay.before.shape[:2]
                np.testing.assert_array_equal(replay.window, meta["window"][row])
                np.testing.assert_array_equal(replay.flip, meta["flip"][row])
                replays.append(replay)
    return replays


@pytest.mark.parametrize("name", PIPELINES)
def test_the_pixels_are_those_of_the_batch(name: str, photographs: list[Path]) -> None:
    with loader_of(photographs[:20], PIPELINES[name], shuffle=True) as loader:
        for replay in check(loader):
            assert [step["op"] for step in replay.ops] == [type(op).__name__ for op in PIPELINES[name]]


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_every_dtype(dtype: str, data_format: str, photographs: list[Path], tf_decode: Decode) -> None:
    with loader_of(photographs[:8], PIPELINES["crops and flips"], dtype=dtype, data_format=data_format) as loader:
        for replay in check(loader):
            assert replay.before.dtype == (np.uint16 if dtype == "uint16" else np.uint8)
            picture = tf_decode(Path(replay.path))
            np.testing.assert_array_equal(replay.before, picture.astype(int) * (257 if dtype == "uint16" else 1))


@pytest.mark.parametrize("channels", [1, 4])
def test_every_number_of_channels(channels: int, photographs: list[Path]) -> None:
    with loader_of(photographs[:8], PIPELINES["resized"], channels=channels) as loader:
        assert all(replay.before.shape[2] == channels for replay in check(loader, 1))


def test_views(photographs: list[Path]) -> None:
    with loader_of(photographs[:8], PIPELINES["resized"], views=3, labels=ops.OneHot(3)) as loader:
        for replay in check(loader, 1):
            assert len(replay.ops) == len(replay.window) == len(replay.flip) == 3
            assert replay.ops[0] != replay.ops[1]


def test_what_was_drawn_makes_the_pixels(photographs: list[Path]) -> None:
    """Each parameter is taken at its word, and applied by NumPy."""
    pipeline = [
        *(ops.RandomCrop(50, 50), ops.RandomFlip(), ops.RandomCrop(40, 44), ops.RandomBrightness(0.3)),
        *(ops.RandomInvert((0.5, 0.5)), ops.RandomPosterization((1, 8)), ops.RandomErasing(0.9, fill_value=9)),
    ]
    inverted = set()
    with loader_of(photographs, pipeline, dtype="uint8") as loader:
        for index in range(len(photographs)):
            replay = loader.replay(1, index)
            picture = replay.before.astype(float)
            crop, flip, again, brightness, _, bits, erase = (step["drawn"] for step in replay.ops)
            for drawn in (crop, again):
                top, left, height, width = drawn["window"]
                picture = picture[top : top + height, left : left + width]
                if drawn is crop:
                    picture = picture[:: -1 if flip["vertical"] else 1, :: -1 if flip["horizontal"] else 1]
            picture = np.floor((picture + 255 * brightness["brightness"]).clip(0, 255) + 0.5)
            inverted.add(replay.ops[4]["applied"])
            if replay.ops[4]["applied"]:
                picture = 255 - picture
            picture = (picture.astype(int) >> (8 - int(bits["bits"]))) << (8 - int(bits["bits"]))
            if replay.ops[6]["applied"]:
                rows, columns = np.indices((40, 44))
                inside = (rows >= erase["top"] * 40) & (rows < (erase["top"] + erase["height"]) * 40)
                inside &= (columns >= erase["left"] * 44) & (columns < (erase["left"] + erase["width"]) * 44)
                picture[inside] = 9
            np.testing.assert_array_equal(replay.after, picture)
    assert inverted == {True, False}


def test_the_matrix_is_that_of_keras(photographs: list[Path], keras: Any) -> None:
    pipeline = [ops.CenterCrop(48, 48), ops.RandomRotation(0.2, fill_mode="constant")]
    with loader_of(photographs, pipeline) as loader:
        for index in range(5):
            replay = loader.replay(0, index)
            top, left, height, width = replay.ops[0]["drawn"]["window"]
            picture = replay.before[top : top + height, left : left + width].astype(np.float32)
            matrix = np.array(replay.ops[1]["drawn"]["matrix"], np.float32)
            expected = keras.ops.image.affine_transform(picture, matrix, data_format="channels_last")
            np.testing.assert_allclose(replay.after, expected, atol=0.02)


def test_a_policy_tells_what_it_chose(photographs: list[Path]) -> None:
    chosen = set()
    pipeline = [
        ops.CenterCrop(40, 40),
        ops.OneOf([ops.RandomInvert((1, 1)), ops.RandomApply([ops.RandomBrightness((0.5, 0.5))])]),
    ]
    with loader_of(photographs, pipeline, dtype="uint8") as loader:
        for index in range(40):
            replay = loader.replay(0, index)
            (step,) = replay.ops[1]["ops"]
            plain = cropped(replay)
            names = [step["op"], *(inner["op"] for inner in step["ops"])]
            expected = {
                ("RandomInvert",): 255 - plain,
                ("RandomApply",): plain,
                ("RandomApply", "RandomBrightness"): np.floor((plain + 127.5).clip(0, 255) + 0.5),
            }
            np.testing.assert_array_equal(replay.after, expected[tuple(names)])
            assert replay.ops[1]["applied"] == step["applied"] == (names != ["RandomApply"])
            chosen.add(tuple(names))
    assert len(chosen) == 3


def cropped(replay: tgl.Replay) -> np.ndarray:
    top, left, height, width = replay.ops[0]["drawn"]["window"]
    return replay.before[top : top + height, left : left + width].astype(int)


def test_published_policies_name_their_operations(photographs: list[Path]) -> None:
    names = set()
    with loader_of(photographs, PIPELINES["policies"]) as loader:
        for index in range(30):
            steps = loader.replay(0, index).ops
            assert [len(steps[1]["ops"]), len(steps[3]["ops"])] == [2, 1]
            names |= {(step["op"], *sorted(step["drawn"])) for step in steps[3]["ops"]}
            assert steps[6]["drawn"].keys() == {"own_weight", "weights"}
            assert [step["op"] for step in steps[6]["ops"]] == ["chain"] * 3
    assert len(names) > 6
    assert all("magnitude" in name for name in names)


def test_masks_and_boxes_come_along(photographs: list[Path], tmp_path: Path) -> None:
    masks = [tmp_path / f"{index}.png" for index in range(6)]
    for index, (path, mask) in enumerate(zip(photographs, masks, strict=False)):
        with Image.open(path) as picture:
            width, height = picture.size
        Image.fromarray(pictures.photograph(height, width, index)[..., 0]).save(mask)
    boxes = [[(3, 4, 50, 60), (0, 0, 20, 20)]] * 6
    source = tgl.sources.Paths(photographs[:6], range(6), masks, boxes)
    with tgl.ImageLoader(source, PIPELINES["geometry"], batch_size=4, seed=2, shuffle=True, pad_last=True) as loader:
        for images, targets, weights in loader:
            for row in np.flatnonzero(weights):
                replay = loader.replay(0, int(targets["labels"][row]))
                np.testing.assert_array_equal(replay.after, images[row])
                for name in ("labels", "segmentation_masks"):
                    np.testing.assert_array_equal(replay.targets[name], targets[name][row])
                for name, array in targets["bounding_boxes"].items():
                    np.testing.assert_array_equal(replay.targets["bounding_boxes"][name], array[row])


def test_what_is_known_of_the_file(tmp_path: Path, photographs: list[Path]) -> None:
    exif = Image.Exif()
    exif[0x0112] = 8
    picture = pictures.photograph(30, 50, 1)
    Image.fromarray(picture).save(tmp_path / "turned.png", exif=exif)
    paths = [tmp_path / "turned.png", photographs[0], FILES / "garbage_before_eoi.jpg"]
    with loader_of(paths, [ops.Resizing(9, 9)]) as loader:
        replays = [loader.replay(0, index) for index in range(3)]
    assert [replay.format for replay in replays] == ["PNG", "JPEG", "JPEG"]
    assert [replay.orientation for replay in replays] == [8, 1, 1]
    assert [replay.warnings > 0 for replay in replays] == [False, False, True]
    np.testing.assert_array_equal(replays[0].before, np.rot90(picture))


def test_a_replay_outlives_its_loader_and_counts_nothing(photographs: list[Path]) -> None:
    source = tgl.sources.Paths(photographs[:3])
    with tgl.ImageLoader(source, [ops.CenterCrop(9, 9)], batch_size=2) as loader:
        replay = loader.replay(7, 2)
        assert loader.stats()["images"] == 0
        assert replay.targets is None
        copies = replay.before.copy(), replay.after.copy()
        batches = np.concatenate(list(loader))
    np.testing.assert_array_equal(replay.before, copies[0])
    np.testing.assert_array_equal(replay.after, copies[1])
    np.testing.assert_array_equal(replay.after, batches[2])
    with pytest.raises(tgl.TfGoLoaderError, match="closed"):
        loader.replay(0, 0)


def test_errors(photographs: list[Path], tmp_path: Path) -> None:
    bad = tmp_path / "bad.jpg"
    bad.write_text("no picture")
    with loader_of([photographs[0], bad, tmp_path / "gone.jpg"], [ops.RandomCrop(20, 20)]) as loader:
        with pytest.raises(tgl.DecodeError) as caught:
            loader.replay(0, 1)
        assert (caught.value.path, caught.value.index) == (str(bad), 1)
        with pytest.raises(tgl.SourceError, match=r"gone\.jpg"):
            loader.replay(0, 2)
        for arguments, name in (((-1, 0), "epoch"), ((0, 3), "index"), ((0, -1), "index"), (("0", 0), "epoch")):
            with pytest.raises(tgl.ConfigError, match=name):
                loader.replay(*arguments)
