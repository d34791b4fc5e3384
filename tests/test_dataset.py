"""as_dataset is a tf.data.Dataset like any other: its shapes and length are known, and Keras trains from it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pictures
import pytest

import tfgoloader as tgl
from tfgoloader import ops

PIPELINE = [ops.RandomCrop(32, 40), ops.RandomFlip(), ops.Rescaling(1 / 127.5, offset=-1)]


def loader_of(paths: list[Path], **options: Any) -> tgl.ImageLoader:
    source = tgl.sources.Paths(paths, range(len(paths)))
    return tgl.ImageLoader(source, PIPELINE, **{"batch_size": 7, "shuffle": True, "seed": 21, **options})


def epochs(paths: list[Path], count: int, **options: Any) -> list[list[Any]]:
    """The batches of so many epochs by NumPy, to compare with."""
    with loader_of(paths, **options) as loader:
        return [list(loader) for _ in range(count)]


def assert_equal(tensors: list[Any], arrays: list[Any]) -> None:
    assert len(tensors) == len(arrays)
    for got, expected in zip(tensors, arrays, strict=True):
        assert [part.shape for part in got] == [part.shape for part in expected]
        assert [pictures.checksum(part.numpy()) for part in got] == [pictures.checksum(part) for part in expected]


@pytest.mark.parametrize(
    ("options", "images", "labels"),
    [
        ({}, ((None, 32, 40, 3), "float32"), ((None,), "int64")),
        ({"drop_remainder": True}, ((7, 32, 40, 3), "float32"), ((7,), "int64")),
        ({"batch_size": 53}, ((53, 32, 40, 3), "float32"), ((53,), "int64")),
        ({"labels": ops.OneHot(60)}, ((None, 32, 40, 3), "float32"), ((None, 60), "float32")),
        (
            {"data_format": "channels_first", "drop_remainder": True, "labels": ops.OneHot(60)},
            ((7, 3, 32, 40), "float32"),
            ((7, 60), "float32"),
        ),
    ],
    ids=["partial", "dropped", "divides", "one_hot", "channels_first"],
)
def test_shapes_are_static(photographs: list[Path], tf: Any, options: dict[str, Any], images: Any, labels: Any) -> None:
    with loader_of(photographs, **options) as loader:
        dataset = loader.as_dataset()
        assert isinstance(dataset, tf.data.Dataset)
        assert dataset.element_spec == (tf.TensorSpec(*images), tf.TensorSpec(*labels))
        assert [(spec.shape, spec.dtype.name) for spec in loader.element_spec] == [images, labels]
        for batch in dataset:
            for tensor, array, spec in zip(batch, dataset.element_spec, loader.element_spec, strict=True):
                assert array.is_compatible_with(tensor)
                assert tensor.dtype.as_numpy_dtype == spec.dtype


def test_uint8_and_no_labels(photographs: list[Path], tf: Any) -> None:
    source = tgl.sources.Paths(photographs)
    pipeline = [ops.CenterCrop(32, 40)]
    with tgl.ImageLoader(source, pipeline, dtype="uint8", batch_size=20) as loader:
        dataset = loader.as_dataset()
        assert dataset.element_spec == tf.TensorSpec((None, 32, 40, 3), "uint8")
        batches = list(dataset)
        assert [tuple(images.shape) for images in batches] == [(20, 32, 40, 3), (20, 32, 40, 3), (13, 32, 40, 3)]
        assert np.array_equal(np.concatenate(batches), np.concatenate(list(loader)))


@pytest.mark.parametrize(("batch_size", "drop_remainder", "batches"), [(7, False, 8), (7, True, 7), (53, True, 1)])
@pytest.mark.usefixtures("tf")
def test_the_length_is_known(photographs: list[Path], batch_size: int, drop_remainder: bool, batches: int) -> None:
    with loader_of(photographs, batch_size=batch_size, drop_remainder=drop_remainder) as loader:
        dataset = loader.as_dataset()
        assert len(loader) == len(dataset) == dataset.cardinality().numpy() == batches
        assert sum(1 for _ in dataset) == batches


@pytest.mark.usefixtures("tf")
def test_an_empty_epoch_is_an_empty_dataset(photographs: list[Path]) -> None:
    with pytest.warns(UserWarning, match="no batch"):
        loader = loader_of(photographs, batch_size=100, drop_remainder=True)
    with loader:
        assert (list(loader.as_dataset()), len(loader.as_dataset())) == ([], 0)


@pytest.mark.usefixtures("tf")
def test_each_iteration_is_the_next_epoch(photographs: list[Path]) -> None:
    expected = epochs(photographs, 4)
    with loader_of(photographs) as loader:
        dataset = loader.as_dataset()
        assert_equal(list(dataset), expected[0])
        assert_equal(list(dataset), expected[1])
        another = loader.as_dataset()
        assert_equal(list(another), expected[2])
        assert [labels.tolist() for _, labels in loader] == [labels.tolist() for _, labels in expected[3]]


def test_repeat_goes_through_the_epochs(photographs: list[Path], tf: Any) -> None:
    expected = epochs(photographs, 3)
    with loader_of(photographs) as loader:
        endless = loader.as_dataset().repeat()
        assert endless.cardinality() == tf.data.INFINITE_CARDINALITY
        assert_equal(list(endless.take(20)), (expected[0] + expected[1] + expected[2])[:20])
    with loader_of(photographs) as loader:
        twice = loader.as_dataset().repeat(2)
        assert len(twice) == 16
        assert_equal(list(twice), expected[0] + expected[1])


@pytest.mark.usefixtures("tf")
def test_take_leaves_an_epoch_early(photographs: list[Path]) -> None:
    expected = epochs(photographs, 3)
    with loader_of(photographs) as loader:
        dataset = loader.as_dataset()
        few = dataset.take(2)
        assert len(few) == 2
        assert_equal(list(few), expected[0][:2])
        assert_equal(list(few), expected[1][:2])
        assert_equal(list(dataset), expected[2])


@pytest.mark.usefixtures("tf")
def test_a_loop_may_be_left_early(photographs: list[Path]) -> None:
    expected = epochs(photographs, 2)
    with loader_of(photographs) as loader:
        dataset = loader.as_dataset()
        for batch in dataset:
            assert_equal([batch], expected[0][:1])
            break
        assert_equal(list(dataset), expected[1])


def test_two_datasets_are_zipped(photographs: list[Path], tf: Any) -> None:
    first, second = {"seed": 1}, {"seed": 2, "batch_size": 11}
    expected = epochs(photographs, 1, **first)[0], epochs(photographs, 1, **second)[0]
    with loader_of(photographs, **first) as one, loader_of(photographs, **second) as other:
        both = tf.data.Dataset.zip((one.as_dataset(), other.as_dataset()))
        assert len(both) == 5
        pairs = list(both)
    assert_equal([pair[0] for pair in pairs], expected[0][:5])
    assert_equal([pair[1] for pair in pairs], expected[1])


@pytest.mark.usefixtures("tf")
def test_map_and_unbatch_follow(photographs: list[Path]) -> None:
    ((images, labels),) = epochs(photographs, 1, batch_size=53)[0]
    with loader_of(photographs) as loader:
        dataset = loader.as_dataset().map(lambda images, labels: (images * 2, labels)).unbatch().batch(53)
        ((doubled, same),) = dataset
    assert np.array_equal(doubled, images * 2)
    assert np.array_equal(same, labels)


# Keras 3.15 warns of its own default, shuffle=True, wherever it is given any tf.data.Dataset.
QUIET = {"shuffle": False}


def classifier(keras: Any, classes: int, loss: str) -> Any:
    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [keras.layers.AveragePooling2D(8), keras.layers.Flatten(), keras.layers.Dense(classes, activation="softmax")]
    )
    model.compile("adam", loss, metrics=["accuracy"])
    return model


@pytest.mark.parametrize("drop_remainder", [False, True], ids=["partial", "dropped"])
def test_keras_trains_and_validates(
    photographs: list[Path], keras: Any, drop_remainder: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Keras warns where a data set ends before it should, and a warning is an error here."""
    steps = 7 if drop_remainder else 8
    known, losses = [], []

    class Record(keras.callbacks.Callback):  # type: ignore[misc]
        def on_train_begin(self, logs: Any = None) -> None:
            known.append(self.params["steps"])

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            losses.append((batch, logs["loss"]))

    with (
        loader_of(photographs, labels=ops.OneHot(53), drop_remainder=drop_remainder) as train,
        loader_of(photographs, labels=ops.OneHot(53), batch_size=20, shuffle=False) as validation,
    ):
        history = classifier(keras, 53, "categorical_crossentropy").fit(
            train.as_dataset(), validation_data=validation.as_dataset(), epochs=2, callbacks=[Record()], **QUIET
        )
        assert known == [steps]
        assert [batch for batch, _ in losses] == [*range(steps)] * 2
        assert {name: len(values) for name, values in history.history.items()} == dict.fromkeys(
            ["loss", "accuracy", "val_loss", "val_accuracy"], 2
        )
        assert (train.stats()["batches"], validation.stats()["batches"]) == (2 * steps, 2 * 3)
    printed = capsys.readouterr().out
    assert printed.count(f"{steps}/{steps}") >= 2
    assert "Unknown" not in printed


def test_training_sees_what_numpy_sees(photographs: list[Path], keras: Any) -> None:
    """The same model, fed array by array, ends with the same weights."""
    with loader_of(photographs) as loader:
        fitted = classifier(keras, 53, "sparse_categorical_crossentropy")
        fitted.fit(loader.as_dataset(), epochs=2, verbose=0, **QUIET)
    stepped = classifier(keras, 53, "sparse_categorical_crossentropy")
    for epoch in epochs(photographs, 2):
        for images, labels in epoch:
            stepped.train_on_batch(images, labels)
    for ours, theirs in zip(fitted.get_weights(), stepped.get_weights(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


def test_evaluate_and_predict(photographs: list[Path], keras: Any) -> None:
    model = classifier(keras, 53, "sparse_categorical_crossentropy")
    source = tgl.sources.Paths(photographs)
    pipeline = [ops.CenterCrop(32, 40), ops.Rescaling(1 / 255)]
    with tgl.ImageLoader(source, pipeline, batch_size=20) as loader:
        images = np.concatenate(list(loader))
        predictions = model.predict(loader.as_dataset(), verbose=0)
    np.testing.assert_allclose(predictions, model.predict_on_batch(images), rtol=1e-4)
    labels = np.arange(53)
    with tgl.ImageLoader(tgl.sources.Paths(photographs, labels), pipeline, batch_size=20) as loader:
        result = model.evaluate(loader.as_dataset(), verbose=0, return_dict=True)
    np.testing.assert_allclose(result["loss"], -np.log(predictions[labels, labels]).mean(), rtol=1e-4)


def test_a_ready_batch_is_one_call(photographs: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Python enters the core once for each batch, and once for the end."""
    from tfgoloader import _epoch, _loader

    calls: list[str] = []
    call = _loader.call

    def record(function: Any, *arguments: Any) -> Any:
        calls.append(function.__name__)
        return call(function, *arguments)

    with loader_of(photographs, prefetch=8) as loader:
        list(loader)  # the next epoch is made ready in whole
        deadline = time.monotonic() + 30
        while loader.stats()["queue_depth"] < len(loader):
            assert time.monotonic() < deadline
            time.sleep(0.002)
        for module in (_loader, _epoch):
            monkeypatch.setattr(module, "call", record)
        assert len(list(loader)) == 8
    assert calls == ["pybind_Begin"] + ["pybind_Next"] * 9
