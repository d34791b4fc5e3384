"""Several views of a sample: the same picture, drawn for anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pictures
import pytest

import tfgoloader as tgl
from tfgoloader import ops

SIZE = 40, 44
PIPELINE = [ops.RandomCrop(*SIZE)]


def loader_of(paths: list[Path], pipeline: list[Any] = PIPELINE, **options: Any) -> tgl.ImageLoader:
    source = tgl.sources.Paths(paths, range(len(paths)))
    return tgl.ImageLoader(source, pipeline, **{"dtype": "uint8", "batch_size": 9, "seed": 6, "views": 2, **options})


def test_every_view_is_a_window_of_the_picture(photographs: list[Path], tf_decode: Callable[..., np.ndarray]) -> None:
    places: list[list[tuple[int, int]]] = [[], [], []]
    with loader_of(photographs, shuffle=True, views=3) as loader:
        for views, labels in loader:
            for view, images in enumerate(views):
                for image, label in zip(images, labels, strict=True):
                    (place,) = pictures.find_window(image, tf_decode(photographs[label]))
                    places[view].append(place)
    assert len(places[0]) == len(photographs)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        same = sum(a == b for a, b in zip(places[one], places[other], strict=True))
        assert same < 5  # one in 20 * 20 to 50 * 50 by chance
        for axis in (0, 1):
            first, second = (np.array(places[view])[:, axis] for view in (one, other))
            room = np.maximum(first, second).max()
            assert abs(np.mean(first) - np.mean(second)) < room / 3


def test_the_first_view_is_the_only_one_of_a_loader_without(photographs: list[Path]) -> None:
    pipeline = [ops.RandomResizedCrop(*SIZE), ops.RandomFlip(), ops.RandomColorJitter((0, 255), 0.3, 0.3, 0.3, 0.1)]
    with loader_of(photographs, pipeline, views=1) as single, loader_of(photographs, pipeline) as double:
        for _ in range(2):
            for (images, labels), ((first, second), same_labels) in zip(single, double, strict=True):
                np.testing.assert_array_equal(images, first)
                np.testing.assert_array_equal(labels, same_labels)
                assert not np.array_equal(first, second)


def test_no_view_sees_what_another_did_to_the_picture(
    photographs: list[Path], tf_decode: Callable[..., np.ndarray]
) -> None:
    """Windows overlap, and colours change in place: each must be inverted once."""
    with loader_of(photographs, [*PIPELINE, ops.RandomInvert(factor=(1.0, 1.0))], views=4) as loader:
        for views, labels in loader:
            for images in views:
                for image, label in zip(images, labels, strict=True):
                    assert pictures.find_window(255 - image, tf_decode(photographs[label]))


def test_views_are_the_same_for_any_number_of_workers(photographs: list[Path]) -> None:
    pipeline = [ops.RandomResizedCrop(*SIZE), ops.RandomGaussianBlur()]
    epochs = []
    for workers in (1, 3):
        with loader_of(photographs, pipeline, num_workers=workers, shuffle=True) as loader:
            epochs.append([np.stack(views) for _ in range(2) for views, _ in loader])
    for one, other in zip(*epochs, strict=True):
        np.testing.assert_array_equal(one, other)


def test_views_come_in_a_tuple(photographs: list[Path], tf: Any) -> None:
    images = tgl.ArraySpec((9, *SIZE, 3), np.dtype(np.uint8))
    with loader_of(photographs[:18]) as loader:
        assert loader.element_spec == ((images, images), tgl.ArraySpec((9,), np.dtype(np.int64)))
        batches = list(loader)
    with loader_of(photographs[:18]) as loader:
        dataset = loader.as_dataset()
        tensor = tf.TensorSpec((9, *SIZE, 3), tf.uint8)
        assert dataset.element_spec == ((tensor, tensor), tf.TensorSpec((9,), tf.int64))
        tf.nest.map_structure(np.testing.assert_array_equal, list(dataset), batches)
    source = tgl.sources.Paths(photographs[:18])
    with tgl.ImageLoader(source, PIPELINE, views=2, dtype="uint8", batch_size=9) as loader:
        assert loader.element_spec == (images, images)
        assert [[image.shape for image in views] for views in loader] == [[(9, *SIZE, 3)] * 2] * 2


def test_all_views_are_mixed_as_their_label_is(photographs: list[Path]) -> None:
    options = {"labels": ops.OneHot(len(photographs)), "dtype": "float32"}
    mixed = loader_of(photographs, [*PIPELINE, ops.MixUp(1.0)], **options)
    plain = loader_of(photographs, **options)
    with mixed, plain:
        for (views, labels), (before, rows) in zip(mixed, plain, strict=True):
            weights = labels @ rows.T  # of every sample of the batch in every row
            for images, unmixed in zip(views, before, strict=True):
                expected = np.tensordot(weights, unmixed, 1)
                np.testing.assert_allclose(images, expected, rtol=1e-5, atol=1e-3)
                assert not np.array_equal(images, unmixed)


def test_wrong_arguments_are_named(photographs: list[Path]) -> None:
    for views in (0, 1.5, True, "2"):
        with pytest.raises(tgl.ConfigError, match="views"):
            loader_of(photographs, views=views)
    for targets in ({"masks": photographs}, {"boxes": [[]] * len(photographs)}):
        source = tgl.sources.Paths(photographs, **targets)
        with pytest.raises(tgl.ConfigError, match="views"):
            tgl.ImageLoader(source, PIPELINE, views=2)
