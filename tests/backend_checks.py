"""What test_keras.py runs on each backend of Keras, in a process of its own: KERAS_BACKEND names it."""

from __future__ import annotations

import gc
import os
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BACKEND = os.environ["KERAS_BACKEND"]
if BACKEND != "tensorflow":
    sys.modules["tensorflow"] = None  # type: ignore[assignment]  # nobody needs it, and its import would fail

import keras  # noqa: E402

import tfgoloader as tgl  # noqa: E402
from tfgoloader import ops  # noqa: E402
from tfgoloader.callbacks import BackupAndRestore  # noqa: E402

# Of Keras' own variables, which it reads for get_weights.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")

COUNT = 22
HEIGHT, WIDTH = 8, 10


@pytest.fixture(scope="module")
def paths(photographs: list[Path]) -> list[Path]:
    return photographs[:COUNT]


def loader_of(paths: list[Path], **options: Any) -> tgl.ImageLoader:
    source = tgl.sources.Paths(paths, [index % 3 for index in range(len(paths))])
    pipeline = [ops.RandomCrop(HEIGHT, WIDTH), ops.RandomFlip(), ops.Rescaling(1 / 255)]
    return tgl.ImageLoader(source, pipeline, **{"batch_size": 5, "shuffle": True, "seed": 3, **options})


def epochs(paths: list[Path], count: int, **options: Any) -> list[list[Any]]:
    with loader_of(paths, **options) as loader:
        return [list(loader) for _ in range(count)]


def chain(epochs: list[list[Any]]) -> list[Any]:
    return [batch for epoch in epochs for batch in epoch]


def native(adapter: Any) -> Iterator[Any]:
    """Return the iterator that this backend's trainer takes."""
    makers = {
        "tensorflow": adapter.get_tf_dataset,
        "jax": adapter.get_jax_iterator,
        "torch": adapter.get_torch_dataloader,
    }
    return iter(makers[BACKEND]())


def model_of(
    loss: str = "sparse_categorical_crossentropy", built: bool = False, compiled: bool = False, **options: Any
) -> Any:
    """Return a small model; compiling it takes the backends seconds."""
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(3, activation="softmax")])
    model.compile(
        keras.optimizers.SGD(0.1, momentum=0.9),
        loss,
        weighted_metrics=["accuracy"],
        run_eagerly=not compiled,
        **options,
    )
    if built:
        model.build((None, HEIGHT, WIDTH, 3))
    return model


def stepped(batches: list[Any], **options: Any) -> list[np.ndarray]:
    """Return the weights after these batches, given to the model one by one."""
    model = model_of(**options)
    for batch in batches:
        model.train_on_batch(*batch)
    return model.get_weights()


def assert_close(ours: list[np.ndarray], theirs: list[np.ndarray]) -> None:
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


def address(tensor: Any) -> int:
    if BACKEND == "tensorflow":
        return int(tensor._numpy().ctypes.data)
    return int(tensor.data_ptr() if BACKEND == "torch" else tensor.unsafe_buffer_pointer())


def test_the_batches_are_the_same_and_share_memory(paths: list[Path]) -> None:
    expected = epochs(paths, 2)
    with loader_of(paths) as loader:
        adapter = loader.as_keras()
        for epoch, batches in zip(expected, (adapter.get_numpy_iterator(), native(adapter)), strict=True):
            number = 0
            for got, want in zip(batches, epoch, strict=True):
                images, labels = map(np.asarray, got)
                assert images.dtype == np.float32
                np.testing.assert_array_equal(images, want[0])
                np.testing.assert_array_equal(labels, want[1])
                assert address(got[0]) % 4096 == 64 if epoch is expected[1] else isinstance(got[0], np.ndarray)
                number += 1
            assert number == adapter.num_batches == 5
        assert (adapter.batch_size, adapter.has_partial_batch, adapter.partial_batch_size) == (5, True, 2)


@pytest.mark.parametrize("weights", [None, {0: 2.0}], ids=["plain", "weighted"])
def test_a_loader_that_nobody_holds_is_collected(paths: list[Path], weights: dict[int, float] | None) -> None:
    model = model_of(built=True)
    loader = loader_of(paths)
    model.fit(loader.as_keras(class_weight=weights), validation_data=loader.as_keras(), verbose=0)
    gone = weakref.ref(loader)
    del loader
    gc.collect()
    assert gone() is None


def test_what_is_kept_stays_as_it_is(paths: list[Path]) -> None:
    kept, copies = [], []
    with loader_of(paths, prefetch=0) as loader:
        adapter = loader.as_keras()
        for _ in range(6):
            for images, _labels in native(adapter):
                if len(kept) < 8:
                    kept.append(images)
                    copies.append(np.array(images))
        del images
    for images, copy in zip(kept, copies, strict=True):
        np.testing.assert_array_equal(np.asarray(images), copy)
    assert len({address(images) for images in kept}) == len(kept)


@pytest.mark.parametrize("built", [False, True], ids=["peek", "built"])
@pytest.mark.parametrize("batch_size", [5, 22], ids=["five", "one"])
def test_fit_sees_what_numpy_sees(
    paths: list[Path], built: bool, batch_size: int, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = -(-COUNT // batch_size)
    expected = stepped(chain(epochs(paths, 3, batch_size=batch_size)))
    with loader_of(paths, batch_size=batch_size) as train, loader_of(paths, shuffle=False) as validation:
        model, data = model_of(built=built, compiled=batch_size == 5), train.as_keras()
        history = model.fit(data, epochs=2, validation_data=validation.as_keras())
        assert train._progress.upcoming.epoch == 2
        model.fit(data, epochs=3, initial_epoch=2, verbose=0)
        assert_close(model.get_weights(), expected)
        assert train.stats()["batches"] == 3 * steps
    assert {name: len(values) for name, values in history.history.items()} == dict.fromkeys(
        ["loss", "accuracy", "val_loss", "val_accuracy"], 2
    )
    printed = capsys.readouterr()
    assert f"{steps}/{steps}" in printed.out
    assert "Unknown" not in printed.out + printed.err
    assert "ran out" not in printed.out + printed.err


def test_steps_per_epoch_goes_through_the_epochs(paths: list[Path]) -> None:
    expected = stepped(chain(epochs(paths, 3))[:12])
    with loader_of(paths) as loader:
        model = model_of()
        model.fit(loader.as_keras(repeat=True), epochs=4, steps_per_epoch=3, verbose=0)
        assert_close(model.get_weights(), expected)
    expected = stepped(epochs(paths, 1)[0][:4])
    with loader_of(paths) as loader:
        model = model_of()
        model.fit(loader.as_keras(), epochs=4, steps_per_epoch=1, verbose=0)
        assert_close(model.get_weights(), expected)


@pytest.mark.parametrize("one_hot", [False, True], ids=["integers", "one_hot"])
def test_class_weights(paths: list[Path], one_hot: bool) -> None:
    weights = {0: 0.25, 2: 3}
    labels = ops.OneHot(3) if one_hot else None
    loss = "categorical_crossentropy" if one_hot else "sparse_categorical_crossentropy"
    batches = [
        (images, y, np.array([0.25, 1, 3], np.float32)[y.argmax(-1) if one_hot else y])
        for images, y in epochs(paths, 1, labels=labels)[0]
    ]
    with loader_of(paths, labels=labels) as loader:
        model = model_of(loss)
        model.fit(loader.as_keras(class_weight=weights), verbose=0)
        assert_close(model.get_weights(), stepped(batches, loss=loss))


def test_evaluate_and_predict(paths: list[Path]) -> None:
    model = model_of(built=True)
    with loader_of(paths, shuffle=False) as loader:
        images, labels = map(np.concatenate, zip(*loader, strict=True))
        loader.load_state_dict({**loader.state_dict(), "epoch": 0})
        data = loader.as_keras()
        result = model.evaluate(data, verbose=0, return_dict=True)
        predictions = model.predict_on_batch(images)
        np.testing.assert_allclose(result["loss"], -np.log(predictions[np.arange(22), labels]).mean(), rtol=1e-4)
    source = tgl.sources.Paths(paths)
    with tgl.ImageLoader(source, [ops.RandomCrop(HEIGHT, WIDTH)], batch_size=5, seed=1) as loader:
        first, second = (np.concatenate(list(loader)) for _ in range(2))
    with tgl.ImageLoader(source, [ops.RandomCrop(HEIGHT, WIDTH)], batch_size=5, seed=1) as loader:
        data, unbuilt = loader.as_keras(), model_of()
        np.testing.assert_allclose(unbuilt.predict(data, verbose=0), unbuilt.predict_on_batch(first), rtol=1e-4)
        np.testing.assert_allclose(unbuilt.predict(data, verbose=0), unbuilt.predict_on_batch(second), rtol=1e-4)


class Distance(keras.layers.Layer):  # type: ignore[misc]
    """Makes a loss of how far two views of a picture are apart."""

    def call(self, one: Any, other: Any) -> Any:
        self.add_loss(keras.ops.mean(keras.ops.square(one - other)))
        return one


def test_views_without_labels_are_the_inputs(paths: list[Path]) -> None:
    def pairs() -> tgl.ImageLoader:
        pipeline = [ops.RandomCrop(HEIGHT, WIDTH), ops.Rescaling(1 / 255)]
        return tgl.ImageLoader(tgl.sources.Paths(paths), pipeline, batch_size=5, seed=3, views=2)

    def model_of_two() -> Any:
        keras.utils.set_random_seed(0)
        inputs = [keras.Input((HEIGHT, WIDTH, 3)) for _ in range(2)]
        shared = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(3)])
        model = keras.Model(inputs, Distance()(*map(shared, inputs)))
        model.compile(keras.optimizers.SGD(0.1), run_eagerly=True)
        return model

    stepped = model_of_two()
    with pairs() as loader:
        for _ in range(2):
            for views in loader:
                stepped.train_on_batch(views)
        predictions = np.concatenate([stepped.predict_on_batch(views) for views in loader])
    fitted = model_of_two()
    with pairs() as loader:
        data = loader.as_keras()
        losses = fitted.fit(data, epochs=2, verbose=0).history["loss"]
        assert_close(fitted.get_weights(), stepped.get_weights())
        np.testing.assert_allclose(fitted.predict(data, verbose=0), predictions, rtol=1e-4, atol=1e-5)
        assert 0 < fitted.evaluate(data, verbose=0) < losses[0]


def test_a_look_ahead_at_the_peek_shifts_nothing(paths: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """With an accelerator Keras holds one batch more of JAX; with tf.distribute it peeks at a tf.data.Dataset too."""
    expected = stepped(chain(epochs(paths, 2)))
    with loader_of(paths) as loader:
        if BACKEND == "jax":
            import jax

            monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
            model = model_of()
        elif BACKEND == "tensorflow":
            import tensorflow as tf

            with tf.distribute.OneDeviceStrategy("/cpu:0").scope():
                model = model_of()
        else:
            model = model_of()
        model.fit(loader.as_keras(), epochs=2, verbose=0)
        assert_close(model.get_weights(), expected)


def test_a_loader_that_skips_has_no_known_length(paths: list[Path]) -> None:
    with loader_of(paths, on_error="skip") as loader:
        data = loader.as_keras()
        assert data.num_batches is None
        with pytest.warns(UserWarning, match="ran out of data"):
            model_of().fit(data, verbose=0)


@pytest.mark.parametrize(
    ("name", "value"), [("class_weight", [1.0, 2.0]), ("class_weight", {0: "x"}), ("repeat", 1)], ids=str
)
def test_wrong_arguments(paths: list[Path], name: str, value: Any) -> None:
    with loader_of(paths) as loader, pytest.raises(tgl.ConfigError, match=name):
        loader.as_keras(**{name: value})


class Stop(Exception):
    """An end that nobody expected."""


class StopAt(keras.callbacks.Callback):  # type: ignore[misc]
    """Ends the training by an error after so many steps of the optimizer, and keeps the numbers of the steps."""

    def __init__(self, step: int) -> None:
        super().__init__()
        self.step = step
        self.steps: list[int] = []

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.steps.append(int(keras.ops.convert_to_numpy(self.model.optimizer.iterations.value)))
        if self.steps[-1] >= self.step:
            raise Stop


class Epochs(keras.callbacks.Callback):  # type: ignore[misc]
    """Keeps the epochs that ended, and stops after one of them."""

    def __init__(self, last: int) -> None:
        super().__init__()
        self.last = last
        self.ended: list[tuple[int, bool]] = []

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.ended.append((epoch, "val_loss" in (logs or {})))
        if epoch == self.last:
            self.model.stop_training = True


def train(paths: list[Path], folder: Path, stop: int, road: str = "keras", **options: Any) -> tuple[Any, Any, Any]:
    """Train for three epochs, in a new loader and model, as a new process would; return what became of it."""
    steps = options.pop("steps_per_epoch", None)
    ended_first = options.pop("ended_first", False)
    execution = options.pop("steps_per_execution", 1)
    frequency = options.pop("save_freq", 1)
    model = model_of(compiled=execution > 1, steps_per_execution=execution)
    watch, ended = StopAt(stop), Epochs(options.pop("last", 9))
    with loader_of(paths, **options) as loader, loader_of(paths, shuffle=False) as validation:
        backup = BackupAndRestore(folder, frequency, loader=loader)
        if road == "keras":
            data = loader.as_keras(repeat=steps is not None)
        else:
            data = loader.as_dataset().repeat() if steps else loader.as_dataset()
        try:
            model.fit(
                data,
                epochs=3,
                steps_per_epoch=steps,
                validation_data=validation.as_keras(),
                callbacks=[ended, backup, watch] if ended_first else [backup, watch, ended],
                verbose=0,
                shuffle=False,
            )
        except Stop:
            return None, watch.steps, ended.ended
    return model.get_weights(), watch.steps, ended.ended


ROADS = ["keras", "dataset"] if BACKEND == "tensorflow" else ["keras"]


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("stop", [4, 6])
def test_a_training_goes_on_at_the_next_batch(paths: list[Path], tmp_path: Path, stop: int, road: str) -> None:
    expected = stepped(chain(epochs(paths, 3)))
    _, before, _ = train(paths, tmp_path, stop, road)
    weights, after, ended = train(paths, tmp_path, 99, road)
    assert before + after == [*range(1, 16)]
    assert ended == [(epoch, True) for epoch in range(stop // 5, 3)]
    assert_close(weights, expected)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("road", ROADS)
def test_steps_over_several_epochs_are_resumed(paths: list[Path], tmp_path: Path, road: str) -> None:
    expected = stepped(chain(epochs(paths, 3))[:12])
    _, before, _ = train(paths, tmp_path, 7, road, steps_per_epoch=4)
    weights, after, ended = train(paths, tmp_path, 99, road, steps_per_epoch=4)
    assert before + after == [*range(1, 13)]
    assert ended == [(1, True), (2, True)]
    assert_close(weights, expected)


@pytest.mark.parametrize(("frequency", "again"), [("epoch", 6), (3, 7), (5, 6)])
def test_what_was_not_backed_up_is_done_again(paths: list[Path], tmp_path: Path, frequency: Any, again: int) -> None:
    expected = stepped(chain(epochs(paths, 3)))
    train(paths, tmp_path, 8, save_freq=frequency)
    weights, after, _ = train(paths, tmp_path, 99, save_freq=frequency)
    assert after == [*range(again, 16)]
    assert_close(weights, expected)


if BACKEND != "torch":  # on which Keras does not have it

    def test_several_steps_in_one_execution(paths: list[Path], tmp_path: Path) -> None:
        train(paths, tmp_path, 7, steps_per_execution=2)
        weights, after, _ = train(paths, tmp_path, 99, steps_per_execution=2)
        assert after == [9, 10, 12, 14, 15]
        assert_close(weights, stepped(chain(epochs(paths, 3))))


@pytest.mark.parametrize("ended_first", [False, True])
def test_another_callbacks_end_is_left_alone(paths: list[Path], tmp_path: Path, ended_first: bool) -> None:
    train(paths, tmp_path, 7)
    _, after, ended = train(paths, tmp_path, 99, last=1, ended_first=ended_first)
    assert after == [8, 9, 10]
    assert ended == [(1, True)]


def test_what_is_not_the_backups_is_named(paths: list[Path], tmp_path: Path) -> None:
    train(paths, tmp_path, 3)
    with pytest.raises(tgl.ConfigError, match="batch_size=6 here, 5 in the state"):
        train(paths, tmp_path, 99, batch_size=6, drop_remainder=False, save_freq=2, steps_per_epoch=5)
    with pytest.raises(tgl.ConfigError, match="steps_per_epoch"):
        train(paths, tmp_path, 99, steps_per_epoch=4)
    with loader_of(paths) as loader:
        model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(4)])
        model.compile("sgd", "sparse_categorical_crossentropy")
        with pytest.raises(tgl.ConfigError, match="variables"):
            model.fit(loader.as_keras(), callbacks=[BackupAndRestore(tmp_path, loader=loader)], verbose=0)
