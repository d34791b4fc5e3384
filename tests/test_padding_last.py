"""The last batch filled up: one shape for all, and weights by which every sample counts once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import tfgoloader as tgl
from tfgoloader import ops

CLASSES = 5
SIZE = 12
COUNT = 53  # photographs; 7 batches of 8, the last of 5


def loader_of(paths: list[Path], **options: Any) -> tgl.ImageLoader:
    source = tgl.sources.Paths(paths, [index % CLASSES for index in range(len(paths))])
    pipeline = options.pop("ops", [ops.CenterCrop(SIZE, SIZE), ops.Rescaling(1 / 255)])
    return tgl.ImageLoader(source, pipeline, **{"batch_size": 8, "seed": 1, "pad_last": True, **options})


def test_the_last_batch_is_filled_with_zeros_of_no_weight(photographs: list[Path]) -> None:
    with loader_of(photographs, shuffle=True) as padded, loader_of(photographs, shuffle=True, pad_last=False) as plain:
        for _ in range(2):
            pairs = list(zip(padded, plain, strict=True))
            assert len(pairs) == len(padded) == 7
            for (images, labels, weights), (same, same_labels) in pairs:
                assert (images.shape, labels.shape) == ((8, SIZE, SIZE, 3), (8,))
                assert (weights.shape, weights.dtype) == ((8,), np.float32)
                count = len(same)
                np.testing.assert_array_equal(images[:count], same)
                np.testing.assert_array_equal(labels[:count], same_labels)
                assert weights.tolist() == [1] * count + [0] * (8 - count)
                assert not images[count:].any()
                assert not labels[count:].any()
            assert count == 5


def test_memory_that_was_used_before_is_cleared(photographs: list[Path]) -> None:
    """Batches are dropped as they come, so that slabs are written again and again."""
    options = {"ops": [ops.CenterCrop(SIZE, SIZE), ops.Rescaling(0, 9)], "prefetch": 0, "num_workers": 1}
    with loader_of(photographs, return_meta=True, **options) as loader:
        for _ in range(4):
            for images, _, weights, meta in loader:
                np.testing.assert_array_equal(images[:, 0, 0, 0], 9 * weights)
                assert ((meta["index"] == -1) == (weights == 0)).all()
                assert ((meta["path"] == "") == (weights == 0)).all()
                assert (meta["original_size"].any(axis=1) == (weights == 1)).all()


def test_all_shapes_are_static(tf: Any, photographs: list[Path]) -> None:
    with loader_of(photographs, labels=ops.OneHot(CLASSES)) as loader:
        assert loader.element_spec == (
            tgl.ArraySpec((8, SIZE, SIZE, 3), np.dtype("float32")),
            tgl.ArraySpec((8, CLASSES), np.dtype("float32")),
            tgl.ArraySpec((8,), np.dtype("float32")),
        )
        dataset = loader.as_dataset()
        assert [spec.shape.as_list() for spec in dataset.element_spec] == [[8, SIZE, SIZE, 3], [8, CLASSES], [8]]
        assert dataset.cardinality() == 7
        batches = list(dataset)
    assert sum(float(weights.numpy().sum()) for *_, weights in batches) == COUNT
    assert not batches[-1][1].numpy()[5:].any()


@pytest.mark.parametrize("road", ["as_dataset", "numpy"])
def test_keras_counts_every_sample_once(keras: Any, photographs: list[Path], road: str) -> None:
    keras.utils.set_random_seed(2)
    model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(CLASSES, activation="softmax")])
    names = ["sparse_categorical_accuracy", "sparse_categorical_crossentropy"]
    model.compile(loss="sparse_categorical_crossentropy", weighted_metrics=names)
    with loader_of(photographs, pad_last=False, batch_size=COUNT) as loader:
        ((images, labels),) = loader
    probabilities = np.asarray(model(images), np.float64)
    accuracy = np.mean(probabilities.argmax(axis=1) == labels)
    loss = -np.log(probabilities[np.arange(COUNT), labels]).mean()

    with loader_of(photographs, shuffle=True) as loader:
        data = loader.as_dataset() if road == "as_dataset" else (batch for batch in loader)
        steps = {} if road == "as_dataset" else {"steps": len(loader)}
        found = model.evaluate(data, verbose=0, return_dict=True, **steps)
        assert 0 < accuracy < 1
        np.testing.assert_allclose(found[names[0]], accuracy, rtol=1e-6)
        np.testing.assert_allclose(found[names[1]], loss, rtol=1e-5)
        # Keras divides the sum of a batch's losses by its rows.
        np.testing.assert_allclose(found["loss"] * len(loader) * 8 / loader.num_samples, loss, rtol=1e-5)


def test_an_epoch_that_ends_sooner_is_filled_too(photographs: list[Path], tmp_path: Path) -> None:
    paths = list(photographs)
    for index in (3, 8, 21, 50, 51, 52, 40):  # 46 are left: 6 batches, the last of 6
        paths[index] = tmp_path / f"{index}.jpg"
        paths[index].write_text("no picture")
    with loader_of(paths, on_error="skip", shuffle=True, return_meta=True) as loader:
        with pytest.warns(UserWarning, match="left out"):
            batches = list(loader)
        assert loader.element_spec[0].shape == (8, SIZE, SIZE, 3)
    assert [len(images) for images, *_ in batches] == [8] * 6
    weights = np.concatenate([weights for *_, weights, _ in batches])
    index = np.concatenate([meta["index"] for *_, meta in batches])
    assert weights.tolist() == [1] * 46 + [0] * 2
    assert sorted(index[:46]) == [i for i in range(COUNT) if paths[i] in photographs]
    assert index[46:].tolist() == [-1, -1]


def test_mixing_leaves_padding_out(photographs: list[Path]) -> None:
    pipeline = [ops.CenterCrop(SIZE, SIZE), ops.Rescaling(0, 1), ops.MixUp(1.0)]
    with loader_of(photographs, ops=pipeline, labels=ops.OneHot(CLASSES)) as loader:
        for images, labels, weights in loader:
            np.testing.assert_allclose(images.mean(axis=(1, 2, 3)), weights, atol=1e-6)
            np.testing.assert_allclose(labels.sum(axis=1), weights, atol=1e-6)


def test_masks_boxes_and_views_are_filled_too(tmp_path: Path) -> None:
    Image.new("RGB", (20, 20), "white").save(tmp_path / "a.png")
    Image.new("L", (20, 20), 7).save(tmp_path / "m.png")
    three = [tmp_path / "a.png"] * 3
    source = tgl.sources.Paths(three, [1, 2, 3], [tmp_path / "m.png"] * 3, [[(0, 0, 20, 20)]] * 3, [[4]] * 3)
    with tgl.ImageLoader(source, [ops.CenterCrop(SIZE, SIZE)], batch_size=4, pad_last=True) as loader:
        ((images, targets, weights),) = loader
    assert weights.tolist() == [1, 1, 1, 0]
    assert images[:, 0, 0, 0].tolist() == [255, 255, 255, 0]
    assert targets["labels"].tolist() == [1, 2, 3, 0]
    assert targets["segmentation_masks"][:, 0, 0, 0].tolist() == [7, 7, 7, 0]
    assert targets["bounding_boxes"]["labels"][:, 0].tolist() == [4, 4, 4, -1]
    assert targets["bounding_boxes"]["count"].tolist() == [1, 1, 1, 0]
    source = tgl.sources.Paths(three, [1, 2, 3])
    with tgl.ImageLoader(source, [ops.CenterCrop(SIZE, SIZE)], batch_size=4, pad_last=True, views=2) as loader:
        ((views, _, weights),) = loader
    assert [view[:, 0, 0, 0].tolist() for view in views] == [[255, 255, 255, 0]] * 2


def test_full_batches_stay_as_they_are(photographs: list[Path]) -> None:
    with loader_of(photographs[:16]) as loader:
        assert [weights.tolist() for *_, weights in loader] == [[1] * 8] * 2


def test_an_error_in_the_last_batch_is_raised(photographs: list[Path], tmp_path: Path) -> None:
    (tmp_path / "bad.jpg").write_text("no picture")
    with loader_of([*photographs[:9], tmp_path / "bad.jpg"]) as loader:
        epoch = iter(loader)
        next(epoch)
        with pytest.raises(tgl.DecodeError, match=r"bad\.jpg"):
            next(epoch)
        assert list(epoch) == []


def test_wrong_arguments_are_named(photographs: list[Path]) -> None:
    for options in ({"pad_last": 1}, {"drop_remainder": True}):
        with pytest.raises(tgl.ConfigError, match="pad_last"):
            loader_of(photographs, **options)
    with pytest.raises(tgl.ConfigError, match=r"pad_last=True.*without labels"):
        tgl.ImageLoader(tgl.sources.Paths(photographs), [ops.CenterCrop(SIZE, SIZE)], pad_last=True)
