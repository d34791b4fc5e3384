"""InputMonitor's verdict names what was made slow; bench/input_monitor.py compares its wait with another clock's."""

from __future__ import annotations

import contextlib
import gc
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pictures
import processes
import pytest
from PIL import Image

import tfgoloader as tgl
from tfgoloader import ops

SIZE = 16  # pixels, of a window's sides
BATCH = 4


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A JPEG that costs next to nothing."""
    return save(tmp_path_factory.mktemp("small") / "small.jpg", 32)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A progressive JPEG, of which every window costs as much as the whole: some hundred times a small one."""
    return save(tmp_path_factory.mktemp("large") / "large.jpg", 800, progressive=True)


def save(path: Path, side: int, **options: Any) -> Path:
    Image.fromarray(pictures.photograph(side, side, 3)).save(path, quality=90, **options)
    return path


CROP = [ops.RandomCrop(SIZE, SIZE)]


def loader_of(path: Path, batches: int = 8, operations: Any = CROP, **options: Any) -> Any:
    source = tgl.sources.Paths([path] * batches * BATCH, np.zeros(batches * BATCH, int))
    return tgl.ImageLoader(source, operations, batch_size=BATCH, labels=ops.OneHot(2), **options)


@pytest.fixture(scope="module")
def build(keras: Any) -> Callable[..., Any]:
    """Makes a compiled model of next to no work, whose steps call a function."""
    import tensorflow as tf

    def add_call(function: Callable[[], None]) -> Callable[[Any], Any]:
        def call(value: Any) -> Any:
            function()
            return value

        # It is given a part of the batch, or TensorFlow would call it before the batch is there.
        return lambda x: (
            x + 0 * tf.ensure_shape(tf.py_function(call, [tf.stop_gradient(x[0, 0, 0, 0])], tf.float32), [])
        )

    def build(function: Callable[[], None] | None = None, **options: Any) -> Any:
        layers = [keras.layers.Rescaling(1 / 255), keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(2)]
        if function:
            layers.insert(0, keras.layers.Lambda(add_call(function)))
        model = keras.Sequential([keras.Input((SIZE, SIZE, 3)), *layers])
        model.compile("sgd", "mse", **options)
        return model

    return build


@pytest.fixture(scope="module")
def calls(keras: Any) -> Callable[..., Any]:
    """Makes a callback of functions, by the names of the hooks."""
    return lambda **hooks: type("Calls", (keras.callbacks.Callback,), {k: staticmethod(v) for k, v in hooks.items()})()


def fit(model: Any, loader: Any, *callbacks: Any, epochs: int = 2, **options: Any) -> Any:
    """Train under the watch of a monitor, and return it."""
    monitor = tgl.callbacks.InputMonitor(loader)
    data = loader.as_dataset()
    model.fit(data, epochs=epochs, callbacks=[*callbacks, monitor], verbose=0, shuffle=False, **options)
    return monitor


class Clock:
    """Shows the time, and more where somebody is to seem slow."""

    ahead = 0.0
    process_time = staticmethod(time.process_time)

    def perf_counter(self) -> float:
        return time.perf_counter() + self.ahead

    def pass_by(self, seconds: float) -> None:
        self.ahead += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The monitor's clock."""
    clock = Clock()
    monkeypatch.setattr("tfgoloader.callbacks._monitor.time", clock)
    return clock


def test_a_slow_model(build: Any, small: Path, clock: Clock) -> None:
    with loader_of(small) as loader:
        monitor = fit(build(lambda: clock.pass_by(100)), loader)
    assert monitor.verdict.bound == "model"
    assert monitor.total.seconds == pytest.approx(8 * 100, rel=0.1)


def test_a_slow_callback(build: Any, calls: Any, small: Path, clock: Clock) -> None:
    slow = calls(on_train_batch_end=lambda batch, logs=None: clock.pass_by(100))
    with loader_of(small) as loader:
        monitor = fit(build(), loader, slow)
    assert monitor.verdict.bound == "callbacks"
    assert monitor.total.between == pytest.approx(7 * 100, rel=0.1)  # the last one's is after the last step


def test_slow_decoding(build: Any, large: Path) -> None:
    with loader_of(large, 12) as loader:
        monitor = fit(build(), loader)
    assert monitor.verdict.bound == "decode"
    assert monitor.total.decoded == pytest.approx(SIZE**2 / 800**2)


def test_slow_decoding_of_whole_pictures(build: Any, large: Path) -> None:
    with loader_of(large, 12, [ops.Resizing(SIZE, SIZE)]) as loader:
        verdict = fit(build(), loader).verdict
    assert verdict.bound == "decode"
    assert "windowed decode off" in verdict.text


def test_too_few_workers(build: Any, large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfgoloader._cpus.available", lambda: 64)
    with loader_of(large, num_workers=2) as loader:
        verdict = fit(build(), loader).verdict
    assert verdict.bound == "workers"
    assert "num_workers=2 are all at work; 64 would help" in verdict.text


def test_a_slow_operation(build: Any, tmp_path: Path) -> None:
    path = save(tmp_path / "middle.jpg", 128)
    blur = ops.RandomGaussianBlur(factor=(1, 1), kernel_size=127, sigma=(50, 50))
    with loader_of(path, 12, [*[blur] * 20, ops.CenterCrop(SIZE, SIZE)]) as loader:
        assert fit(build(), loader).verdict.bound == "augment"


def test_a_slow_function(build: Any, small: Path) -> None:
    def slow(image: np.ndarray) -> np.ndarray:
        time.sleep(0.02)
        return image

    with loader_of(small, 8, [ops.CenterCrop(SIZE, SIZE), ops.Python(slow)]) as loader:
        assert fit(build(), loader).verdict.bound == "function slow"


def count(image: np.ndarray) -> np.ndarray:
    for _ in range(800_000):
        pass
    return image


def blur(image: np.ndarray) -> np.ndarray:
    import cv2

    cv2.GaussianBlur(np.zeros((1200, 1200, 3), np.float32), (41, 41), 10)
    return image


def test_who_holds_the_gil(build: Any, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfgoloader._gil.INTERVAL", 0.005)  # for an epoch of half a second

    def train(function: Any, **options: Any) -> Any:
        with loader_of(small, 8, [ops.CenterCrop(SIZE, SIZE), ops.Python(function, **options)]) as loader:
            return fit(build(), loader)

    python, opencv, processes = train(count), train(blur), train(count, executor="process")
    assert python.total.gil > 0.6
    assert max(opencv.total.gil, processes.total.gil) < 0.5
    assert [monitor.verdict.bound for monitor in (python, opencv, processes)] == [
        "function count", "function blur", "function count",
    ]  # fmt: skip
    assert python.verdict.text.endswith(' % of the time; executor="process" or ops.Native would help')
    assert " of the time; cheaper steps" in processes.verdict.text
    assert python.summary().endswith(f", the GIL held {100 * python.total.gil:.0f} % of the time")


def meters() -> list[threading.Thread]:
    """Return the threads that measure how long the GIL is held."""
    return [thread for thread in threading.enumerate() if thread.name == "tfgoloader GIL meter"]


def fit_that_fails(model: Any, loader: Any, calls: Any, error: type[BaseException]) -> None:
    """Train until an error comes, of which nothing is kept."""

    def fail(batch: int, logs: Any = None) -> None:
        assert len(meters()) == 1
        raise error

    with contextlib.suppress(error):
        fit(model, loader, calls(on_train_batch_end=fail))


def test_the_gil_is_watched_while_fit_runs(build: Any, calls: Any, small: Path) -> None:
    seen: list[int] = []
    watch = calls(on_train_batch_end=lambda batch, logs=None: seen.append(len(meters())))
    assert not meters()
    with loader_of(small) as loader:
        fit(build(), loader, watch)
    assert not meters()
    assert seen == [1] * 16


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
def test_the_gil_is_not_watched_after_an_error(
    build: Any, calls: Any, small: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    model = build()
    with loader_of(small) as loader:
        fit_that_fails(model, loader, calls, error)
        (thread,) = meters()
        monkeypatch.setattr("tfgoloader._gil.PATIENCE", 0.0)
        thread.join(30)
        assert not thread.is_alive()


@pytest.mark.parametrize("goes", ["the monitor", "a new fit"])
def test_the_gil_is_watched_by_one(
    build: Any, calls: Any, small: Path, monkeypatch: pytest.MonkeyPatch, goes: str
) -> None:
    monkeypatch.setattr("tfgoloader._gil.PATIENCE", 1e9)
    model = build()
    with loader_of(small) as loader:
        fit_that_fails(model, loader, calls, KeyError)
        (thread,) = meters()
        if goes == "a new fit":
            fit(model, loader)
        else:
            gc.collect()
        thread.join(30)
        assert not thread.is_alive()


def test_slow_reading(build: Any, tmp_path: Path) -> None:
    path = save(tmp_path / "padded.jpg", 32)
    with path.open("r+b") as file:
        file.truncate(50_000_000)
    with loader_of(path) as loader:
        monitor = fit(build(), loader)
    assert monitor.verdict.bound == "read"
    assert monitor.total.bytes_per_image == pytest.approx(50e6, rel=0.5)  # of the images read, some for the next epoch


def events(folder: Path) -> list[str]:
    """Return the names of what TensorFlow's profiler saw, in the one profile in a folder."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    (path,) = folder.rglob("*.xplane.pb")
    return [
        plane.event_metadata[event.metadata_id].name.partition("#")[0]
        for plane in xplane_pb2.XSpace.FromString(path.read_bytes()).planes
        for line in plane.lines
        for event in line.events
    ]


@pytest.mark.parametrize("trace", [True, False])
def test_the_profile_shows_the_loader_on_request(build: Any, small: Path, tmp_path: Path, trace: bool) -> None:
    import tensorflow as tf

    with loader_of(small) as loader:
        monitor = tgl.callbacks.InputMonitor(trace=trace)
        tf.profiler.experimental.start(str(tmp_path))
        build().fit(loader.as_dataset(), callbacks=[monitor], verbose=0, shuffle=False)
        tf.profiler.experimental.stop()
        assert not loader._traced
    names = [name for name in events(tmp_path) if name.startswith("tfgoloader.")]
    assert {name: names.count(name) for name in names} == (
        {"tfgoloader.next": 9, "tfgoloader.read": 8, "tfgoloader.decode": 8, "tfgoloader.augment": 8} if trace else {}
    )  # the ninth finds the end


def test_validation_is_not_training(build: Any, calls: Any, small: Path, large: Path) -> None:
    moments: list[tuple[str, float]] = []
    note = calls(
        on_epoch_begin=lambda epoch, logs=None: moments.append(("begin", time.perf_counter())),
        on_test_begin=lambda logs=None: moments.append(("test", time.perf_counter())),
    )
    with loader_of(small) as loader, loader_of(large) as validation:
        monitor = fit(build(), loader, note, validation_data=validation.as_dataset())
        spent = validation.stats()["seconds"]["decode"]
    assert [name for name, _ in moments] == ["begin", "test"] * 2
    for epoch, (_, begin), (_, test) in zip(monitor.epochs, moments[::2], moments[1::2], strict=True):
        assert epoch.seconds < test - begin
        assert epoch.images == 8 * BATCH
        assert epoch.decode < spent / 10


def test_the_logs_and_the_summary(build: Any, small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    monitor = tgl.callbacks.InputMonitor()
    model = build()
    with loader_of(small) as loader:
        history = model.fit(loader.as_dataset(), epochs=2, callbacks=[monitor], verbose=2, shuffle=False).history
    assert history["input_wait"] == [epoch.wait_share for epoch in monitor.epochs]
    assert history["images_per_second"] == [8 * BATCH / epoch.seconds for epoch in monitor.epochs]
    assert monitor.total == monitor.epochs[1]
    shown = capsys.readouterr().out
    assert shown.count("input_wait: ") == shown.count("images_per_second: ") == 2
    assert shown.endswith(monitor.summary() + "\n")
    assert monitor.summary().startswith(monitor.verdict.text + "\n")

    with loader_of(small) as loader:
        model.fit(loader.as_dataset(), callbacks=[monitor], verbose=0, shuffle=False)
    assert len(monitor.epochs) == 1
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("measured", [True, False])
def test_scalars_for_tensorboard(
    build: Any, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, measured: bool
) -> None:
    import tensorflow as tf

    monkeypatch.setattr("tfgoloader._gil.INTERVAL", 1e-4)
    if not measured:  # as in an epoch that is over before the first knock
        monkeypatch.setattr("tfgoloader._gil.Knocks.share_since", lambda *_: None)
    monitor = tgl.callbacks.InputMonitor(log_dir=tmp_path)
    with loader_of(small) as loader:
        build().fit(loader.as_dataset(), epochs=2, callbacks=[monitor], verbose=0, shuffle=False)
    (path,) = tmp_path.iterdir()
    found: dict[str, dict[int, float]] = {}
    for record in tf.data.TFRecordDataset(str(path)):
        event = tf.compat.v1.Event.FromString(record.numpy())
        for value in event.summary.value:
            assert value.metadata.plugin_data.plugin_name == "scalars"
            found.setdefault(value.tag, {})[event.step] = float(tf.make_ndarray(value.tensor))
    assert ("input/gil" in found) is ("GIL" in monitor.summary()) is measured
    for name in ("wait_share", "images_per_second", "decode", *(["gil"] if measured else [])):
        assert found[f"input/{name}"] == {
            step: pytest.approx(getattr(epoch, name)) for step, epoch in enumerate(monitor.epochs)
        }


def test_batches_that_do_not_fill_an_execution(build: Any, small: Path) -> None:
    with loader_of(small) as loader:
        model = build(steps_per_execution=3)
        monitor = fit(model, loader)
    assert [epoch.images for epoch in monitor.epochs] == [8 * BATCH] * 2
    assert int(model.optimizer.iterations.numpy()) == 16


def test_an_epoch_of_unknown_length(build: Any, small: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.jpg").write_text("no picture")
    source = tgl.sources.Paths([*[small] * 8, tmp_path / "bad.jpg"], [0] * 9)
    options = {"labels": ops.OneHot(2), "batch_size": BATCH, "on_error": "skip"}
    with (
        tgl.ImageLoader(source, CROP, **options) as loader,
        pytest.warns(UserWarning, match=r"ran out of data|bad files"),
    ):
        monitor = fit(build(), loader)
    assert [epoch.images for epoch in monitor.epochs] == [8] * 2


def test_the_model_is_left_as_it_was(build: Any, calls: Any, small: Path) -> None:
    model = build()
    with loader_of(small) as loader:
        function = model.make_train_function()

        def fail(batch: int, logs: Any = None) -> None:
            raise KeyError("a user's own")

        with pytest.raises(KeyError):
            fit(model, loader, calls(on_train_batch_end=fail))
        fit(model, loader)
        assert model.train_function is function or function is None
        assert type(model.train_function).__name__ == "function"
        fit(model, loader)


def test_a_repeated_dataset_and_steps_per_epoch(build: Any, small: Path) -> None:
    monitor = tgl.callbacks.InputMonitor()
    with loader_of(small) as loader:
        endless = loader.as_dataset().repeat()
        build().fit(endless, steps_per_epoch=4, epochs=4, callbacks=[monitor], verbose=0, shuffle=False)
    # TensorFlow fetches a batch ahead, so an epoch may begin or end with one more.
    assert sum(epoch.images for epoch in monitor.epochs) in (16 * BATCH, 17 * BATCH)


def test_the_loader_is_found_or_asked_for(build: Any, small: Path) -> None:
    import tensorflow as tf

    def train(data: Any, **options: Any) -> Any:
        monitor = tgl.callbacks.InputMonitor(**options)
        build().fit(data, callbacks=[monitor], verbose=0, shuffle=False)
        return monitor

    with loader_of(small, 2) as loader, loader_of(small, 3) as other, loader_of(small) as idle:
        both = loader.as_dataset().concatenate(other.as_dataset())
        with pytest.raises(tgl.ConfigError, match=r"loader=None: .* there are 2"):
            train(both)
        assert train(both, loader=other).epochs[0].images == 3 * BATCH
        assert train(loader.as_dataset()).epochs[0].images == 2 * BATCH
        assert idle.stats()["batches"] == 0
    arrays = tf.data.Dataset.from_tensors((np.zeros((1, SIZE, SIZE, 3), np.float32), np.zeros((1, 2), np.float32)))
    with pytest.raises(tgl.ConfigError, match=r"loader=None: .* there are 0"):
        train(arrays)


@pytest.mark.usefixtures("keras")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"loader": 3}, "loader=3: "), ({"log_dir": 3}, "log_dir=3: "), ({"trace": 1}, "trace=1: ")],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(tgl.ConfigError, match=message):
        tgl.callbacks.InputMonitor(**arguments)


def test_a_training_function_of_the_users_own(keras: Any, small: Path) -> None:
    class Own(keras.Sequential):  # type: ignore[misc]
        def make_train_function(self, force: bool = False) -> None:
            self.train_function = lambda iterator: {"loss": len(next(iterator))}

    model = Own([keras.Input((SIZE, SIZE, 3)), keras.layers.Flatten(), keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    with loader_of(small) as loader, pytest.raises(tgl.ConfigError, match="make_train_function"):
        fit(model, loader)


def test_callbacks_are_imported_when_they_are_used() -> None:
    script = """
import sys
import tfgoloader as tgl
assert "InputMonitor" in dir(tgl.callbacks)
assert not {"keras", "tensorflow"} & set(sys.modules)
try:
    tgl.callbacks.Nothing
except AttributeError as error:
    print(error)
"""
    result = processes.run(script)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "module 'tfgoloader.callbacks' has no attribute 'Nothing'\n"
