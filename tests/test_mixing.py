"""MixUp and CutMix give what NumPy makes of the unmixed batches, with weights of Keras' laws."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pictures
import pytest

import tfgoloader as tgl
from tfgoloader import ops

CLASSES = 53
HEIGHT, WIDTH = 30, 41
PIPELINE = [ops.RandomCrop(HEIGHT, WIDTH), ops.RandomFlip()]
DTYPES = ("uint8", "uint16", "float32", "float16", "bfloat16")
FORMS = [(dtype, layout) for dtype in DTYPES for layout in ("channels_last", "channels_first")]


def make(paths: list[Path], *batch_ops: ops.BatchOp, pipeline: list[ops.Op] = PIPELINE, **options: Any) -> Any:
    arguments = {"batch_size": 9, "shuffle": True, "seed": 3, **options}
    source = tgl.sources.Paths(paths, range(len(paths)))
    return tgl.ImageLoader(source, [*pipeline, *batch_ops], labels=ops.OneHot(len(paths)), **arguments)


def both(paths: list[Path], op: ops.BatchOp, epochs: int = 2, **options: Any) -> Any:
    """Yield the batches of two epochs, mixed and not: images, labels, images, labels."""
    with make(paths, op, **options) as mixed, make(paths, **options) as plain:
        for _ in range(epochs):
            for (images, labels), (before, rows) in zip(mixed, plain, strict=True):
                yield images, labels, before, rows


def shares(labels: np.ndarray, rows: np.ndarray) -> list[tuple[int, np.float32]]:
    """Return each sample's partner and its own weight, read from its row; all samples have different labels."""
    order = rows.argmax(axis=1)
    found = []
    for slot, row in enumerate(labels):
        others = [int(c) for c in np.nonzero(row)[0] if c != order[slot]]
        assert len(others) <= 1
        partner = order.tolist().index(others[0]) if others else slot
        found.append((partner, row[order[slot]]))
    return found


@pytest.mark.parametrize(("dtype", "data_format"), FORMS)
def test_mixup_is_the_weighted_mean(photographs: list[Path], dtype: str, data_format: str) -> None:
    mixed = 0
    for images, labels, before, rows in both(photographs, ops.MixUp(1.0), dtype=dtype, data_format=data_format):
        assert images.dtype == before.dtype
        for slot, (partner, weight) in enumerate(shares(labels, rows)):
            rest = np.float32(1) - weight
            expected = weight * before[slot].astype(np.float32) + rest * before[partner].astype(np.float32)
            if images.dtype.kind == "u":
                expected = np.floor(expected + np.float32(0.5))
            expected = expected.astype(images.dtype)
            if partner != slot:
                mixed += 1
                np.testing.assert_array_equal(images[slot], expected)
                assert labels[slot, rows[partner].argmax()] == rest
            else:  # met itself, or nothing of another
                np.testing.assert_array_equal(images[slot], before[slot])
    assert mixed > 70


@pytest.mark.parametrize(("dtype", "data_format"), FORMS)
def test_cutmix_replaces_a_rectangle_whose_area_is_in_the_label(
    photographs: list[Path], dtype: str, data_format: str
) -> None:
    mixed = 0
    for images, labels, before, rows in both(photographs, ops.CutMix(), dtype=dtype, data_format=data_format):
        channels = -1 if data_format == "channels_last" else 0
        for slot, (partner, weight) in enumerate(shares(labels, rows)):
            changed = (images[slot] != before[slot]).any(axis=channels)
            if partner == slot:
                assert not changed.any()
                continue
            # Where both pictures are equal nothing shows; the least rectangle around what changed is the part.
            ys, xs = np.nonzero(changed)
            part = np.zeros((HEIGHT, WIDTH), bool)
            part[ys.min() : ys.max() + 1, xs.min() : xs.max() + 1] = True
            place = np.expand_dims(part, channels)
            np.testing.assert_array_equal(images[slot], np.where(place, before[partner], before[slot]))
            assert weight == np.float32(1 - part.sum() / part.size)
            assert labels[slot].sum() == pytest.approx(1, abs=1e-6)
            mixed += 1
    assert mixed > 60


def test_one_after_the_other(photographs: list[Path]) -> None:
    """CutMix works on what MixUp has made, pictures and labels."""
    with make(photographs, ops.MixUp(1.0), ops.CutMix(0.9)) as loader:
        images, labels = pictures.join(loader)
    with make(photographs, ops.MixUp(1.0)) as loader:
        before, rows = pictures.join(loader)
    untouched = (images == before).all(axis=(1, 2, 3))
    np.testing.assert_array_equal(labels[untouched], rows[untouched])
    assert 0 < untouched.sum() < len(images)
    np.testing.assert_allclose(labels.sum(axis=1), 1, atol=1e-6)
    assert ((labels > 0).sum(axis=1) > 2).any()


def test_smoothed_labels_are_mixed_as_they_are(photographs: list[Path]) -> None:
    source = tgl.sources.Paths(photographs, range(CLASSES))

    def labels_with(smoothing: float) -> np.ndarray:
        rows = ops.OneHot(CLASSES, label_smoothing=smoothing)
        with tgl.ImageLoader(source, [*PIPELINE, ops.MixUp()], labels=rows, batch_size=CLASSES, seed=1) as loader:
            return pictures.join(loader)[1]

    np.testing.assert_allclose(labels_with(0.1), labels_with(0) * 0.9 + 0.1 / CLASSES, atol=1e-6)


@pytest.mark.parametrize("op", [ops.MixUp(), ops.CutMix()], ids=str)
@pytest.mark.parametrize("policy", ["raise", "skip", "replace"])
def test_any_number_of_workers_gives_the_same(
    photographs: list[Path], tmp_path: Path, op: ops.BatchOp, policy: str
) -> None:
    paths = list(photographs)
    if policy != "raise":
        for index in (0, 7, 30, 52):
            paths[index] = tmp_path / f"{index}.jpg"
            paths[index].write_bytes(b"no picture")
    epochs = []
    for workers, prefetch in ((1, 0), (2, 3), (5, 1)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # bad files are named
            with make(paths, op, num_workers=workers, prefetch=prefetch, on_error=policy) as loader:
                epochs.append([pictures.join(loader) for _ in range(2)])
    for other in epochs[1:]:
        for mine, theirs in zip(epochs[0], other, strict=True):
            assert len(mine[0]) == (49 if policy == "skip" else 53)
            np.testing.assert_array_equal(mine[0], theirs[0])
            np.testing.assert_array_equal(mine[1], theirs[1])
    assert not np.array_equal(epochs[0][0][1], epochs[0][1][1])


def test_batches_draw_apart(photographs: list[Path]) -> None:
    """Every batch, epoch and seed has weights of its own."""
    with make(photographs, ops.MixUp(1.0), batch_size=17, drop_remainder=True) as loader:
        weights = [labels.max(axis=1).tobytes() for _ in range(3) for _, labels in loader]
    with make(photographs, ops.MixUp(1.0), batch_size=17, drop_remainder=True, seed=4) as loader:
        weights += [labels.max(axis=1).tobytes() for _, labels in loader]
    assert len(set(weights)) == len(weights) == 12


def test_a_batch_of_one_stays_as_it_is(photographs: list[Path]) -> None:
    for images, labels, before, rows in both(photographs, ops.MixUp(1.0), epochs=1, batch_size=13):
        if len(images) == 1:
            np.testing.assert_array_equal(images, before)
            np.testing.assert_array_equal(labels, rows)
    assert len(images) == 1


def assert_one_law(ours: list[float], theirs: list[np.ndarray]) -> None:
    """Compare larger weights, which rows show, with Keras' weights: a two-sample Kolmogorov-Smirnov test."""
    weights = np.concatenate(theirs).ravel()
    first, second = np.sort(ours), np.sort(np.maximum(weights, 1 - weights))
    assert min(len(first), len(second)) > 900
    at = np.concatenate([first, second])
    shares = [np.searchsorted(values, at, "right") / len(values) for values in (first, second)]
    # One pair of samples in 10,000 that follow one law is further apart.
    assert np.abs(shares[0] - shares[1]).max() < 2.23 * np.sqrt(1 / len(first) + 1 / len(second))


def test_the_weights_have_the_law_of_keras(photographs: list[Path], keras: Any) -> None:
    ours = []
    with make(photographs, ops.MixUp(0.4), batch_size=CLASSES, pipeline=[ops.CenterCrop(2, 2)]) as loader:
        for _ in range(30):
            ((_, labels),) = loader
            ours += labels[(labels > 0).sum(axis=1) == 2].max(axis=1).tolist()
    layer = keras.layers.MixUp(alpha=0.4, seed=5)
    theirs = [
        np.asarray(layer.get_random_transformation(np.zeros((100, 2, 2, 3), np.float32))["mix_weight"])
        for _ in range(15)
    ]
    assert_one_law(ours, theirs)


def test_the_shares_that_are_cut_have_the_law_of_keras(photographs: list[Path], keras: Any) -> None:
    ours = []
    pipeline = [ops.CenterCrop(60, 64)]
    with make(photographs, ops.CutMix((1.0, 1.0)), batch_size=CLASSES, pipeline=pipeline) as loader:
        for _ in range(20):
            ((_, labels),) = loader
            ours += labels[(labels > 0).sum(axis=1) == 2].max(axis=1).tolist()
    layer = keras.layers.CutMix(factor=(1.0, 1.0), seed=5)
    theirs = [
        np.asarray(layer.get_random_transformation(np.zeros((100, 60, 64, 3), np.float32))["mix_weight"])
        for _ in range(10)
    ]
    assert_one_law(ours, theirs)


@pytest.mark.usefixtures("tf")
def test_a_dataset_holds_the_mixed_batches(photographs: list[Path]) -> None:
    with make(photographs, ops.CutMix()) as loader:
        images, labels = pictures.join(loader)
    with make(photographs, ops.CutMix()) as loader:
        theirs = pictures.join(loader.as_dataset())
    np.testing.assert_array_equal(images, theirs[0])
    np.testing.assert_array_equal(labels, theirs[1])


def test_what_cannot_be_is_named(photographs: list[Path]) -> None:
    labelled, bare = tgl.sources.Paths(photographs, range(CLASSES)), tgl.sources.Paths(photographs)
    crop, rows = ops.CenterCrop(4, 4), ops.OneHot(CLASSES)
    for source in (labelled, bare):
        with pytest.raises(tgl.ConfigError, match=re.escape("labels=None: expected ops.OneHot(num_classes)")):
            tgl.ImageLoader(source, [crop, ops.MixUp()])
    with pytest.raises(tgl.ConfigError, match=r"ops=.*MixUp.*after the operations on pictures"):
        tgl.ImageLoader(labelled, [crop, ops.MixUp(), ops.Rescaling(2)], labels=rows)
    for alpha in (0, -1, float("nan"), "1", None):
        with pytest.raises(tgl.ConfigError, match=r"MixUp\.alpha"):
            ops.MixUp(alpha)
    for factor in (-0.1, 1.1, (0, 0.5, 1), "1", None):
        with pytest.raises(tgl.ConfigError, match=r"CutMix\.factor"):
            ops.CutMix(factor)
    assert ops.CutMix(0.5) == ops.CutMix((0.0, 0.5))
