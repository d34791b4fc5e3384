"""Boxes go where what they surround goes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pictures
import pytest
from PIL import Image

import tfgoloader as tgl
from tfgoloader import ops

COUNT = 30
STEP = 27  # between the gray levels of neighbouring labels


def draw(height: int, width: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a picture, boxes that do not overlap, and their labels, which the gray levels within tell."""
    picture = np.zeros((height, width), np.uint8)
    boxes, labels = [], random.permutation(9)[: random.integers(0, 10)]
    for label in labels:
        cell_top, cell_left = label // 3 * (height // 3), label % 3 * (width // 3)
        top, left = cell_top + random.integers(0, height // 6), cell_left + random.integers(0, width // 6)
        bottom, right = (
            top + random.integers(3, height // 6 + 1),
            left + random.integers(3, width // 6 + 1),
        )
        picture[top:bottom, left:right] = STEP * (label + 1)
        boxes.append((left, top, right, bottom))
    return picture, np.array(boxes, float).reshape(-1, 4), labels


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], list[np.ndarray], list[np.ndarray]]:
    """Return files, their boxes and the boxes' labels."""
    folder = tmp_path_factory.mktemp("drawn")
    random = np.random.default_rng(4)
    paths, boxes, labels = [], [], []
    for index in range(COUNT):
        picture, boxes_of_picture, labels_of_picture = draw(80 + index, 90 + index * 7 % COUNT, random)
        paths.append(folder / f"{index}.png")
        Image.fromarray(picture).save(paths[-1])
        boxes.append(boxes_of_picture)
        labels.append(labels_of_picture)
    return paths, boxes, labels


Drawn = tuple[list[Path], list[np.ndarray], list[np.ndarray]]


def loader_of(drawn: Drawn, pipeline: list[ops.Op], **options: Any) -> tgl.ImageLoader:
    paths, boxes, labels = drawn
    source = tgl.sources.Paths(paths, boxes=boxes, box_labels=labels)
    return tgl.ImageLoader(source, pipeline, **{"dtype": "uint8", "channels": 1, "batch_size": 7, "seed": 2, **options})


def seen(picture: np.ndarray) -> dict[int, tuple[int, ...]]:
    """Return what is visible of every label, as the least box around its pixels."""
    found = {}
    for level in np.unique(picture[picture > 0]):
        ys, xs = np.nonzero(picture == level)
        found[int(level) // STEP - 1] = (xs.min(), ys.min(), xs.max() + 1, ys.max() + 1)
    return found


def given(targets: dict[str, np.ndarray], slot: int) -> dict[int, np.ndarray]:
    """Return the boxes of a sample by label, having checked the places that hold none."""
    count = targets["count"][slot]
    assert not targets["boxes"][slot, count:].any()
    assert (targets["labels"][slot, count:] == -1).all()
    labels = targets["labels"][slot, :count].tolist()
    assert len(set(labels)) == count
    return dict(zip(labels, targets["boxes"][slot, :count], strict=True))


def test_boxes_surround_what_is_left_of_their_contents(drawn: Drawn) -> None:
    pipeline = [ops.RandomFlip("vertical"), ops.RandomCrop(60, 65), ops.RandomFlip(), ops.RandomCrop(50, 44)]
    clipped = 0
    with loader_of(drawn, pipeline, shuffle=True) as loader:
        for _ in range(20):
            for images, targets in loader:
                for slot, image in enumerate(images):
                    expected = seen(image[..., 0])
                    boxes = given(targets, slot)
                    assert boxes.keys() == expected.keys()
                    for label, box in boxes.items():
                        assert tuple(box) == expected[label]
                        clipped += 0 in box[:2]
    assert clipped > 50


def test_types_and_order(drawn: Drawn) -> None:
    most = max(map(len, drawn[1]))
    with loader_of(drawn, [ops.Resizing(40, 50)], batch_size=COUNT) as loader:
        assert loader.element_spec[1] == {
            "boxes": tgl.ArraySpec((COUNT, most, 4), np.dtype(np.float32)),
            "labels": tgl.ArraySpec((COUNT, most), np.dtype(np.int64)),
            "count": tgl.ArraySpec((COUNT,), np.dtype(np.int32)),
        }
        ((_, targets),) = loader
    assert {name: (array.dtype, array.shape) for name, array in targets.items()} == {
        "boxes": (np.float32, (COUNT, most, 4)),
        "labels": (np.int64, (COUNT, most)),
        "count": (np.int32, (COUNT,)),
    }
    for slot, labels in enumerate(drawn[2]):
        assert targets["labels"][slot, : targets["count"][slot]].tolist() == labels.tolist()


def assert_moved(targets: dict[str, np.ndarray], slot: int, labels: np.ndarray, expected: np.ndarray) -> None:
    kept = (expected[:, 2] > expected[:, 0]) & (expected[:, 3] > expected[:, 1])
    count = targets["count"][slot]
    assert targets["labels"][slot, :count].tolist() == labels[kept].tolist()
    np.testing.assert_allclose(targets["boxes"][slot, :count], expected[kept], rtol=0, atol=1e-4)


def test_resizing_moves_boxes_as_keras_does(drawn: Drawn, keras: Any) -> None:
    with loader_of(drawn, [ops.Resizing(40, 60)], batch_size=COUNT) as loader:
        ((_, targets),) = loader
    layer = keras.layers.Resizing(40, 60, bounding_box_format="xyxy")
    for slot, (path, boxes, labels) in enumerate(zip(*drawn, strict=True)):
        with Image.open(path) as picture:
            images = np.zeros((1, *picture.size[::-1], 3), np.float32)
        data = {"images": images, "bounding_boxes": {"boxes": boxes[None], "labels": labels[None]}}
        assert_moved(targets, slot, labels, np.asarray(layer(data)["bounding_boxes"]["boxes"])[0])


def test_boxes_are_cropped_where_the_pixels_are(drawn: Drawn) -> None:
    """Keras 3.15 crops pictures at whole pixels, and moves boxes as if it had cropped between them."""
    with loader_of(drawn, [ops.Resizing(40, 60, crop_to_aspect_ratio=True)], batch_size=COUNT) as loader:
        ((_, targets),) = loader
    for slot, (path, boxes, labels) in enumerate(zip(*drawn, strict=True)):
        with Image.open(path) as picture:
            width, height = picture.size
        part = min(height, int(width * 40 / 60)), min(width, int(height * 60 / 40))
        top, left = (height - part[0]) // 2, (width - part[1]) // 2
        moved = (boxes - [left, top, left, top]) * ([60 / part[1], 40 / part[0]] * 2)
        assert_moved(targets, slot, labels, moved.clip(0, [60, 40, 60, 40]))


def test_random_resized_crops_move_boxes_to_their_contents(drawn: Drawn) -> None:
    """Edges of what is resampled are where half of its level is reached, to about a pixel."""
    pipeline = [ops.RandomResizedCrop(90, 120, scale=(0.3, 1.0), interpolation="nearest"), ops.RandomFlip()]
    with loader_of(drawn, pipeline, batch_size=COUNT) as loader:
        for _ in range(5):
            for images, targets in loader:
                for slot, image in enumerate(images):
                    expected, boxes = seen(image[..., 0]), given(targets, slot)
                    assert set(expected) <= set(boxes)
                    for label, box in boxes.items():
                        if label in expected:
                            np.testing.assert_allclose(box, expected[label], rtol=0, atol=1.0)
                        else:  # a sliver between two pixels
                            assert min(box[2] - box[0], box[3] - box[1]) < 2


WARPS = {
    "rotation": ops.RandomRotation(0.2, fill_mode="constant", interpolation="nearest"),
    "translation": ops.RandomTranslation(0.2, 0.2, fill_mode="constant", interpolation="nearest"),
    "zoom": ops.RandomZoom((-0.3, 0.3), (-0.3, 0.3), fill_mode="constant", interpolation="nearest"),
    "shear": ops.RandomShear(0.2, 0.2, fill_mode="constant", interpolation="nearest"),
    "perspective": ops.RandomPerspective(1.0, 0.2, interpolation="nearest"),
}


@pytest.mark.parametrize("warp", WARPS.values(), ids=WARPS)
def test_warps_move_boxes_to_their_contents(drawn: Drawn, warp: ops.Op) -> None:
    """A box is the least one around the moved corners: it holds its contents, and touches them where nothing is cut."""
    height, width = 79, 88
    touched = 0
    with loader_of(drawn, [ops.CenterCrop(height, width), warp], batch_size=COUNT) as loader:
        for _ in range(5):
            for images, targets in loader:
                for slot, image in enumerate(images):
                    expected, boxes = seen(image[..., 0]), given(targets, slot)
                    for label, content in expected.items():
                        box = boxes[label]
                        assert (box[:2] <= np.array(content[:2]) + 1.5).all()
                        assert (box[2:] >= np.array(content[2:]) - 1.5).all()
                        if (box[:2] > 0).all() and (box[2:] < [width, height]).all():
                            touched += 1
                            np.testing.assert_allclose(box, content, rtol=0, atol=2)
    assert touched > 100


def test_boxes_of_no_area_are_left_out(drawn: Drawn) -> None:
    paths = drawn[0][:2]
    source = tgl.sources.Paths(paths, boxes=[[(5, 5, 5, 9), (1, 1, 60, 60)], [(5, 5, 5, 5)]])
    with tgl.ImageLoader(source, [ops.Resizing(40, 40)]) as loader:
        ((_, targets),) = loader
    assert targets["count"].tolist() == [1, 0]


@pytest.mark.parametrize("box_format", ["xyxy", "rel_xyxy", "xywh"])
def test_formats_are_those_of_keras(drawn: Drawn, keras: Any, box_format: str) -> None:
    convert = keras.utils.bounding_boxes.convert_format
    paths, boxes, labels = drawn
    pipeline = [ops.RandomCrop(70, 61), ops.RandomFlip()]
    with loader_of(drawn, pipeline, batch_size=COUNT) as loader:
        ((_, expected),) = loader
    converted = []
    for path, array in zip(paths, boxes, strict=True):
        with Image.open(path) as picture:
            width, height = picture.size
        data = {"boxes": array[None], "labels": np.zeros((1, len(array)))}
        kind = {"source": "xyxy", "target": box_format, "height": height, "width": width, "dtype": "float64"}
        converted.append(np.asarray(convert(data, **kind)["boxes"])[0] if len(array) else array)
    with loader_of((paths, converted, labels), pipeline, batch_size=COUNT, box_format=box_format) as loader:
        ((_, targets),) = loader
    np.testing.assert_array_equal(targets["count"], expected["count"])
    np.testing.assert_array_equal(targets["labels"], expected["labels"])
    back = convert(
        {"boxes": targets["boxes"], "labels": targets["labels"]},
        source=box_format,
        target="xyxy",
        height=70,
        width=61,
    )
    np.testing.assert_allclose(np.asarray(back["boxes"]), expected["boxes"], rtol=0, atol=1e-3)


def test_min_visible_leaves_out_what_shows_less(drawn: Drawn) -> None:
    pipeline = [ops.CenterCrop(45, 40)]
    for share in (0.0, 0.3, 1.0):
        with loader_of(drawn, pipeline, batch_size=COUNT, min_visible=share) as loader:
            ((images, targets),) = loader
        for slot, (image, path, boxes, labels) in enumerate(zip(images, *drawn, strict=True)):
            with Image.open(path) as picture:
                whole = np.asarray(picture)
            expected = [
                label
                for label in labels.tolist()
                if (shown := (image == STEP * (label + 1)).sum() / (whole == STEP * (label + 1)).sum()) > 0
                and shown >= share - 1e-12
            ]
            count = targets["count"][slot]
            assert targets["labels"][slot, :count].tolist() == expected
            assert len(boxes) >= count


def test_more_boxes_than_max_boxes_are_left_out(drawn: Drawn) -> None:
    with loader_of(drawn, [ops.Resizing(40, 50)], batch_size=COUNT) as loader:
        ((_, expected),) = loader
    for most in (2, 20):
        with loader_of(drawn, [ops.Resizing(40, 50)], batch_size=COUNT, max_boxes=most) as loader:
            assert loader.element_spec[1]["boxes"].shape == (COUNT, most, 4)
            ((_, targets),) = loader
        np.testing.assert_array_equal(targets["count"], np.minimum(expected["count"], most))
        for slot, labels in enumerate(targets["labels"]):
            given(targets, slot)
            kept = min(most, expected["count"][slot])
            assert labels[:kept].tolist() == expected["labels"][slot, :kept].tolist()


def test_boxes_lie_in_the_upright_picture(tmp_path: Path) -> None:
    stored = np.zeros((30, 50), np.uint8)
    stored[4:10, 20:45] = STEP
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(stored).save(tmp_path / "turned.png", exif=exif)
    upright = np.rot90(stored, -1)
    for turn, picture in ((True, upright), (False, stored)):
        boxes = [[seen(picture)[0]]]
        source = tgl.sources.Paths([tmp_path / "turned.png"], boxes=boxes)
        with tgl.ImageLoader(source, [ops.CenterCrop(25, 24)], exif=turn, channels=1, dtype="uint8") as loader:
            ((images, targets),) = loader
        assert targets["labels"].tolist() == [[0]]
        assert tuple(targets["boxes"][0, 0]) == seen(images[0, ..., 0])[0]


def test_all_targets_at_once_and_in_a_dataset(drawn: Drawn, tf: Any) -> None:
    paths, boxes, labels = drawn
    source = tgl.sources.Paths(paths, range(COUNT), paths, boxes, labels)  # the pictures are masks of themselves

    def loader() -> tgl.ImageLoader:
        return tgl.ImageLoader(source, [ops.RandomCrop(50, 44)], channels=1, dtype="uint8", batch_size=10, seed=1)

    with loader() as numpy_loader:
        batches = list(numpy_loader)
    for number, (images, targets) in enumerate(batches):
        assert list(targets) == ["labels", "segmentation_masks", "bounding_boxes"]
        assert targets["labels"].tolist() == list(range(10 * number, 10 * number + 10))
        np.testing.assert_array_equal(targets["segmentation_masks"], images)
        for slot, image in enumerate(images):
            assert given(targets["bounding_boxes"], slot).keys() == seen(image[..., 0]).keys()
    with loader() as tensor_loader:
        dataset = tensor_loader.as_dataset()
        most = max(map(len, boxes))
        assert dataset.element_spec == (
            tf.TensorSpec((10, 50, 44, 1), tf.uint8),
            {
                "labels": tf.TensorSpec((10,), tf.int64),
                "segmentation_masks": tf.TensorSpec((10, 50, 44, 1), tf.uint8),
                "bounding_boxes": {
                    "boxes": tf.TensorSpec((10, most, 4), tf.float32),
                    "labels": tf.TensorSpec((10, most), tf.int64),
                    "count": tf.TensorSpec((10,), tf.int32),
                },
            },
        )
        tf.nest.map_structure(np.testing.assert_array_equal, list(dataset), batches)


def test_any_number_of_workers_gives_the_same(drawn: Drawn) -> None:
    epochs = []
    for workers in (1, 3):
        with loader_of(drawn, [ops.RandomResizedCrop(40, 41)], num_workers=workers, shuffle=True) as loader:
            epochs.append([targets["boxes"].copy() for _, targets in loader])
    for one, other in zip(*epochs, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("field", "boxes", "labels"),
    [
        ("boxes", [[[0, 0, 1, 1]]], None),
        ("boxes", "ab", None),
        ("boxes", 3, None),
        (r"boxes\[1\]", [[], [[0, 0, 1]]], None),
        (r"boxes\[1\]", [[], [0, 0, 1, 1]], None),
        (r"boxes\[0\]", [[["a", 0, 1, 1]], []], None),
        (r"boxes\[0\]", [[[0, 0, 1, 1], [0]], []], None),
        ("box_labels", None, [[], []]),
        ("box_labels", [[], []], [[]]),
        (r"box_labels\[1\]", [[], [[0, 0, 1, 1]]], [[], []]),
        (r"box_labels\[1\]", [[], [[0, 0, 1, 1]]], [[], [[1]]]),
        (r"box_labels\[1\]", [[], [[0, 0, 1, 1]]], [[], [0.5]]),
        (r"box_labels\[1\]", [[], [[0, 0, 1, 1]]], [[], np.array([2**63], np.uint64)]),
    ],
)
def test_wrong_boxes_are_named(drawn: Drawn, field: str, boxes: Any, labels: Any) -> None:
    with pytest.raises(tgl.ConfigError, match=rf"^{field}="):
        tgl.sources.Paths(drawn[0][:2], boxes=boxes, box_labels=labels)


@pytest.mark.parametrize(
    ("box", "box_format", "reason"),
    [
        ((5, 0, 4, 1), "xyxy", "ends before it starts"),
        ((0, 5, 1, 4), "rel_xyxy", "ends before it starts"),
        ((0, 0, -1, 4), "xywh", "ends before it starts"),
        ((0, 0, np.inf, 4), "xyxy", "not finite"),
        ((0, np.nan, 1, 4), "xyxy", "not finite"),
    ],
)
def test_boxes_that_cannot_be_are_found_at_once(drawn: Drawn, box: Any, box_format: str, reason: str) -> None:
    paths = drawn[0][:2]
    source = tgl.sources.Paths(paths, boxes=[[], [(0, 0, 1, 1), box]])
    with pytest.raises(tgl.ConfigError, match=rf"box 1 of {paths[1]}.*{reason}"):
        tgl.ImageLoader(source, [ops.CenterCrop(4, 4)], box_format=box_format)


def test_wrong_arguments_are_named(drawn: Drawn) -> None:
    for options in (
        {"box_format": "xy"},
        {"max_boxes": 0},
        {"max_boxes": 1.5},
        {"min_visible": 2},
        {"min_visible": "1"},
    ):
        (field,) = options
        with pytest.raises(tgl.ConfigError, match=field):
            loader_of(drawn, [ops.CenterCrop(4, 4)], **options)
    with pytest.raises(tgl.ConfigError, match="max_boxes"):
        tgl.ImageLoader(tgl.sources.Paths(drawn[0]), [ops.CenterCrop(4, 4)], max_boxes=3)
    source = tgl.sources.Paths(drawn[0], range(COUNT), boxes=drawn[1])
    with pytest.raises(tgl.ConfigError, match=r"CutMix.*boxes"):
        tgl.ImageLoader(source, [ops.CenterCrop(4, 4), ops.CutMix()], labels=ops.OneHot(COUNT))


def test_pictures_without_boxes_have_places_all_the_same(photographs: list[Path]) -> None:
    source = tgl.sources.Paths(photographs, boxes=[[]] * len(photographs))
    with tgl.ImageLoader(source, [ops.CenterCrop(4, 4)], batch_size=len(photographs)) as loader:
        ((images, targets),) = loader
    assert pictures.checksum(images)
    assert targets["boxes"].shape == (len(photographs), 1, 4)
    assert not targets["boxes"].any()
    assert not targets["count"].any()
