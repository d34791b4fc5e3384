"""Labels are the source's or Keras' rows of them, and stay with their pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pictures
import pytest
from PIL import Image

import tfgoloader as tgl
from tfgoloader import ops

COLOURS = 120


@pytest.fixture(scope="module")
def coloured(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Pictures of one colour, red and green of which say their label."""
    folder = tmp_path_factory.mktemp("coloured")
    paths = [folder / f"{label}.jpg" for label in range(COLOURS)]
    for label, path in enumerate(paths):
        colour = 20 + 16 * (label % 12), 20 + 16 * (label // 12), 100
        Image.new("RGB", (40 + label % 7, 33 + label % 5), colour).save(path, quality=95)
    return paths


def labels_seen(images: np.ndarray) -> np.ndarray:
    """Read the labels out of uint8 pictures, every pixel of which must agree."""
    steps = np.rint((images[..., :2].astype(float) - 20) / 16).astype(int)
    labels = steps[..., 0] + 12 * steps[..., 1]
    assert (labels == labels[:, :1, :1]).all()
    return labels[:, 0, 0]


def test_labels_stay_with_their_pictures(coloured: list[Path]) -> None:
    source = tgl.sources.Paths(coloured, range(COLOURS))
    pipeline = [ops.RandomCrop(32, 30), ops.RandomFlip()]
    with tgl.ImageLoader(source, pipeline, shuffle=True, seed=4, batch_size=7, num_workers=5, dtype="uint8") as loader:
        for _ in range(3):
            for images, labels in loader:
                assert labels_seen(images).tolist() == labels.tolist()


@pytest.mark.usefixtures("tf")
def test_labels_stay_with_their_pictures_in_a_dataset(coloured: list[Path]) -> None:
    source = tgl.sources.Paths(coloured, range(COLOURS))
    pipeline = [ops.RandomCrop(32, 30)]
    labels = ops.OneHot(COLOURS, label_smoothing=0.2)
    with tgl.ImageLoader(
        source, pipeline, labels=labels, shuffle=True, batch_size=7, num_workers=5, dtype="uint8"
    ) as loader:
        seen, given = pictures.join(loader.as_dataset())
    assert labels_seen(seen).tolist() == given.argmax(axis=1).tolist()
    assert len(set(labels_seen(seen))) == COLOURS


def test_integer_labels_are_kept_as_they_are(photograph: Path) -> None:
    values = [3, -1, 2**63 - 1, -(2**63), 0, 3]
    with tgl.ImageLoader(tgl.sources.Paths([photograph] * 6, values), [ops.CenterCrop(8, 8)], batch_size=4) as loader:
        _, labels = pictures.join(loader)
    assert labels.dtype == np.int64
    assert labels.tolist() == values


@pytest.mark.parametrize("classes", [1, 7, 50])
def test_one_hot_is_to_categorical(photograph: Path, keras: Any, classes: int) -> None:
    values = [index * 3 % classes for index in range(20)]
    source = tgl.sources.Paths([photograph] * 20, values)
    with tgl.ImageLoader(source, [ops.CenterCrop(8, 8)], labels=ops.OneHot(classes), batch_size=9) as loader:
        _, labels = pictures.join(loader)
    expected = keras.utils.to_categorical(values, classes)
    assert labels.dtype == np.float32
    assert np.array_equal(labels, expected)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.25, 1.0])
def test_label_smoothing_is_that_of_the_loss(photograph: Path, keras: Any, smoothing: float) -> None:
    classes, values = 11, list(range(11))
    source = tgl.sources.Paths([photograph] * 11, values)
    one_hot = ops.OneHot(classes, label_smoothing=smoothing)
    with tgl.ImageLoader(source, [ops.CenterCrop(8, 8)], labels=one_hot, batch_size=11) as loader:
        ((_, labels),) = loader
    plain = keras.utils.to_categorical(values, classes).astype(np.float32)
    expected = plain * np.float32(1 - smoothing) + np.float32(smoothing / classes)
    np.testing.assert_allclose(labels, expected, rtol=0, atol=1e-7)
    # The loss that smooths by itself agrees, row by row.
    predictions = keras.random.uniform((11, classes), 0.01, 1, seed=1)
    predictions = predictions / keras.ops.sum(predictions, axis=1, keepdims=True)
    theirs = keras.losses.CategoricalCrossentropy(label_smoothing=smoothing, reduction=None)(plain, predictions)
    ours = keras.losses.CategoricalCrossentropy(reduction=None)(labels, predictions)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_images_come_alone_where_there_are_no_labels(photographs: list[Path]) -> None:
    with tgl.ImageLoader(tgl.sources.Paths(photographs), [ops.CenterCrop(8, 9)], batch_size=50) as loader:
        assert [type(batch) for batch in loader] == [np.ndarray] * 2
        assert loader.element_spec == tgl.ArraySpec((None, 8, 9, 3), np.dtype(np.float32))
