"""What an element says of its pictures: where they come from, and what of them is shown."""

from __future__ import annotations

import os
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


def loader_of(paths: list[Path], pipeline: list[Any], **options: Any) -> tgl.ImageLoader:
    source = tgl.sources.Paths(paths, range(len(paths)))
    return tgl.ImageLoader(
        source, pipeline, **{"dtype": "uint8", "batch_size": 8, "seed": 3, "return_meta": True, **options}
    )


def cut(picture: np.ndarray, window: np.ndarray, flip: np.ndarray) -> np.ndarray:
    top, left, height, width = window
    part = picture[top : top + height, left : left + width]
    return part[:: -1 if flip[1] else 1, :: -1 if flip[0] else 1]


def test_a_crop_is_the_window_flipped(photographs: list[Path], tf_decode: Decode) -> None:
    pipeline = [ops.RandomFlip(), ops.RandomCrop(50, 52), ops.RandomFlip(), ops.RandomCrop(40, 44)]
    flips = set()
    with loader_of(photographs, pipeline, shuffle=True) as loader:
        for images, labels, meta in loader:
            np.testing.assert_array_equal(meta["index"], labels)
            assert meta["path"].tolist() == [str(photographs[label]) for label in labels]
            for row, image in enumerate(images):
                picture = tf_decode(photographs[labels[row]])
                assert meta["original_size"][row].tolist() == list(picture.shape[:2])
                np.testing.assert_array_equal(image, cut(picture, meta["window"][row], meta["flip"][row]))
                flips.add(tuple(meta["flip"][row].tolist()))
    assert len(flips) == 4


def test_the_window_of_a_resized_crop_gives_its_pixels(photographs: list[Path], tf: Any, tf_decode: Decode) -> None:
    pipeline = [ops.RandomResizedCrop(32, 36, antialias=False), ops.RandomFlip("horizontal")]
    with loader_of(photographs, pipeline, dtype="float32") as loader:
        for images, labels, meta in loader:
            for row, image in enumerate(images):
                shown = cut(tf_decode(photographs[labels[row]]), meta["window"][row], (False, False))
                expected = tf.image.resize(shown, (32, 36)).numpy()
                np.testing.assert_allclose(image[:, :: -1 if meta["flip"][row][0] else 1], expected, atol=1e-2)


@pytest.mark.parametrize(
    ("pipeline", "window"),
    [
        # From 90 rows by 121 columns.
        ([ops.CenterCrop(30, 40)], [30, 40, 30, 40]),
        ([ops.Resizing(60, 60)], [0, 0, 90, 121]),
        ([ops.CenterCrop(90, 60), ops.ResizeWithPad(30, 60), ops.CenterCrop(10, 40)], [30, 30, 30, 60]),
        ([ops.Resizing(30, 121), ops.CenterCrop(10, 121)], [30, 0, 30, 121]),
        ([ops.CenterCrop(80, 80), ops.Resizing(40, 40), ops.CenterCrop(20, 20)], [25, 40, 40, 40]),
        ([ops.CenterCrop(60, 60), ops.Pad(5), ops.CenterCrop(64, 50)], [15, 35, 60, 50]),
        ([ops.CenterCrop(60, 60), ops.RandomTranslation((0.5, 0.5), (-0.25, -0.25))], [15, 45, 30, 45]),
        ([ops.CenterCrop(60, 60), ops.RandomRotation((0.25, 0.25)), ops.CenterCrop(20, 60)], [15, 50, 60, 20]),
        (
            [ops.RandomContrast(0.5), ops.CenterCrop(30, 40)],
            [30, 40, 30, 40],
        ),  # it needs the whole picture, and shows a part
    ],
    ids=lambda value: "-".join(type(op).__name__ for op in value) if isinstance(value[0], ops.Op) else "",
)
def test_the_window_goes_back_through_every_stage(photograph: Path, pipeline: list[Any], window: list[int]) -> None:
    with loader_of([photograph], pipeline) as loader:
        ((_, _, meta),) = loader
    assert meta["window"].tolist() == [window]
    assert meta["original_size"].tolist() == [[90, 121]]


def test_sizes_and_windows_are_those_of_the_upright_picture(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(pictures.photograph(30, 50, 1)).save(tmp_path / "turned.jpg", exif=exif)
    for applied, size in ((True, [50, 30]), (False, [30, 50])):
        with loader_of([tmp_path / "turned.jpg"], [ops.CenterCrop(20, 10)], exif=applied) as loader:
            ((_, _, meta),) = loader
        assert meta["original_size"].tolist() == [size]
        assert meta["window"].tolist() == [[(size[0] - 20) // 2, (size[1] - 10) // 2, 20, 10]]


def test_a_substitute_is_named(photographs: list[Path], tmp_path: Path, tf_decode: Decode) -> None:
    bad = tmp_path / "bad.jpg"
    bad.write_text("no picture")
    paths = [*photographs[:7], bad, *photographs[7:20], bad]
    with (
        loader_of(paths, [ops.RandomCrop(40, 44)], on_error="replace") as loader,
        pytest.warns(UserWarning, match="replaced"),
    ):
        batches = list(loader)
    index = np.concatenate([meta["index"] for *_, meta in batches])
    changed = np.flatnonzero(index != np.arange(len(paths)))
    assert changed.tolist() == [7, 21]
    for images, _, meta in batches:
        for row, image in enumerate(images):
            picture = tf_decode(Path(meta["path"][row]))
            np.testing.assert_array_equal(image, cut(picture, meta["window"][row], meta["flip"][row]))
    with (
        loader_of(paths, [ops.RandomCrop(40, 44)], on_error="skip") as loader,
        pytest.warns(UserWarning, match="left out"),
    ):
        seen = np.concatenate([meta["index"] for *_, meta in loader])
    assert sorted(seen.tolist()) == [i for i in range(len(paths)) if paths[i] != bad]


def test_every_view_has_its_own(photographs: list[Path], tf_decode: Decode) -> None:
    with loader_of(photographs[:16], [ops.RandomCrop(40, 44), ops.RandomFlip()], views=3) as loader:
        spec = loader.element_spec[2]
        assert (spec["window"].shape, spec["flip"].shape) == ((8, 3, 4), (8, 3, 2))
        for views, labels, meta in loader:
            for view, images in enumerate(views):
                for row, image in enumerate(images):
                    picture = tf_decode(photographs[labels[row]])
                    shown = cut(picture, meta["window"][row, view], meta["flip"][row, view])
                    np.testing.assert_array_equal(image, shown)


def test_without_labels_it_is_the_second_part(photographs: list[Path]) -> None:
    source = tgl.sources.Paths(photographs[:10])
    with tgl.ImageLoader(
        source, [ops.CenterCrop(9, 9)], batch_size=4, return_meta=True, exclude=source.file_paths[:2]
    ) as loader:
        images, meta = loader.element_spec
        assert images == tgl.ArraySpec((4, 9, 9, 3), np.dtype("float32"))
        assert {name: (spec.shape, spec.dtype.name) for name, spec in meta.items()} == {
            "index": ((4,), "int64"),
            "path": ((4,), "object"),
            "original_size": ((4, 2), "int32"),
            "window": ((4, 4), "int32"),
            "flip": ((4, 2), "bool"),
        }
        in_order = [path for _, meta in loader for path in meta["path"]]
    assert in_order == source.file_paths[2:]
    assert all(type(path) is str for path in in_order)


def test_a_data_set_has_it_too(tf: Any, photographs: list[Path], tmp_path: Path) -> None:
    odd = os.fsdecode(bytes(tmp_path) + b"/caf\xe9.jpg")
    Path(odd).write_bytes(photographs[0].read_bytes())
    with loader_of([*photographs[:11], Path(odd)], [ops.RandomCrop(40, 44)], batch_size=6) as loader:
        batches = list(loader)
    with loader_of([*photographs[:11], Path(odd)], [ops.RandomCrop(40, 44)], batch_size=6) as loader:
        dataset = loader.as_dataset()
        assert dataset.element_spec[2]["path"] == tf.TensorSpec((6,), tf.string)
        assert dataset.element_spec[2]["flip"] == tf.TensorSpec((6, 2), tf.bool)
        for (images, _, meta), (same_images, _, same_meta) in zip(batches, dataset, strict=True):
            np.testing.assert_array_equal(images, same_images)
            assert [os.fsencode(path) for path in meta["path"]] == same_meta["path"].numpy().tolist()
            for name in ("index", "original_size", "window", "flip"):
                np.testing.assert_array_equal(meta[name], same_meta[name])
    assert batches[-1][2]["path"][-1] == odd


def test_a_wrong_argument_is_named(photograph: Path) -> None:
    for value in (1, "yes", None):
        with pytest.raises(tgl.ConfigError, match="return_meta"):
            loader_of([photograph], [ops.CenterCrop(9, 9)], return_meta=value)


def test_a_preview_is_that_of_a_loader_without(photographs: list[Path]) -> None:
    pipeline = [ops.RandomCrop(40, 44), ops.RandomFlip()]
    with (
        loader_of(photographs[:5], pipeline, pad_last=True) as told,
        loader_of(photographs[:5], pipeline, return_meta=False) as plain,
    ):
        np.testing.assert_array_equal(told.preview(9), plain.preview(9))
