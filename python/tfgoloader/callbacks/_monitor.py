"""InputMonitor: how long the model waits for its input, and why."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import keras

from tfgoloader import _check, _cpus, _loader
from tfgoloader._errors import ConfigError
from tfgoloader._gil import GilMeter
from tfgoloader._loader import ImageLoader
from tfgoloader.callbacks._verdict import STAGES, Figures, Verdict, total
from tfgoloader.ops._external import Python


class _NoBatchError(Exception):
    """The data end before a call's first batch; Keras' loop over an iterator would take StopIteration for its own."""


class _Clocked:
    """An iterator that sums up how long its items are waited for."""

    def __init__(self, iterator: Iterator[Any]) -> None:
        self.waited = 0.0
        self._iterator = iterator
        self._first = True

    def __iter__(self) -> _Clocked:
        return self

    def __next__(self) -> Any:
        asked = time.perf_counter()
        try:
            return next(self._iterator)
        except StopIteration:
            if self._first:
                raise _NoBatchError from None
            raise
        finally:
            self._first = False
            self.waited += time.perf_counter() - asked


class _Steps:
    """Stands for the model's train_function, and looks at the clocks around each call and each batch.

    Compiled by TensorFlow, Keras' function fetches its batches itself, where no clock can stand. But it takes any other
    iterator too, as train_on_batch has it, and then calls the compiled step for each batch.
    """

    def __init__(self, function: Any) -> None:
        self.function = function
        self.meter = GilMeter()
        self.fetches = keras.backend.backend() != "torch"  # where Keras hands over batches, not an iterator
        self.restart()

    def restart(self) -> None:
        """Begin an epoch."""
        self.begin = self.end = time.perf_counter()  # of the epoch; of the last step
        self.begin_cpu = self.end_cpu = time.process_time()
        self.begin_knocks = self.end_knocks = self.meter.knocks
        self.count = 0
        self.inside = 0.0  # seconds in calls
        self.waited = 0.0  # of these, for input

    def __call__(self, *arguments: Any) -> Any:
        begin = time.perf_counter()
        with self.meter:
            outputs = self._call(*arguments)
            _finish(outputs)
        self.end, self.end_cpu, self.end_knocks = time.perf_counter(), time.process_time(), self.meter.knocks
        self.inside += self.end - begin
        self.count += 1
        return outputs

    def _call(self, *arguments: Any) -> Any:
        if not self.fetches:
            return self.function(*arguments)
        *state, iterator = arguments
        batches = _Clocked(iterator)
        try:
            outputs = self.function(*state, batches)
        except _NoBatchError:
            raise StopIteration from None  # as Keras expects it
        self.waited += batches.waited
        return outputs


def _finish(outputs: Any) -> None:
    """Wait until a step is computed: an accelerator may still be at it when its function has returned."""
    logs = outputs[0] if isinstance(outputs, tuple) else outputs  # JAX has its state beside the logs
    for leaf in keras.tree.flatten(logs)[:1]:
        keras.ops.convert_to_numpy(leaf)


class InputMonitor(keras.callbacks.Callback):  # type: ignore[misc]  # Keras has no types
    """Measures in `fit` how long the model waits for its input, and says what holds the training up.

    Each epoch's logs, so also the progress bar and the History, get `input_wait`, the share of the time from 0 to 1
    that the model waited, and `images_per_second`. At the end of the training a summary is printed, unless fit is
    told verbose=0. The time is that from an epoch's begin to the end of its last step: validation is not in it.

    The wait is the time between asking for a batch and having it, whatever lies between the loader and the model.
    While it is measured, batches are fetched from Python, which costs a turn of the GIL a step and is part of the wait;
    steps_per_execution's steps are called one by one; and each call is waited for until it is computed, as Keras does
    for any callback that looks at batches.

    How much of the time the GIL is held tells a thread that asks for it some 20 times a second, for less than 0.5 % of
    a core, until fit ends. The share is that of the whole process: functions of ops.Python by threads, Keras and what
    else of the training is Python, and threads that have nothing to do with it.

    Args:
        loader: what feeds the training; None finds the one loader that hands out batches in the first epoch.
        log_dir: folder for TensorBoard: each epoch's figures as scalars below input/. They are written by tf.summary,
            which imports TensorFlow, whatever Keras' backend is.
        trace: whether the TensorFlow Profiler's trace shows the loader: an event tfgoloader.next a batch, for as long
            as tf.data's thread waits for it, and after it events tfgoloader.read, .decode and .augment whose
            worker_seconds the workers spent since the last batch. Batches of as_dataset() only, and only while the
            profiler runs.

    Attributes:
        epochs: the figures of each epoch of the last fit.

    Raises:
        ConfigError: an argument is wrong; in fit: the model has a make_train_function of its own, which TensorFlow's
            backend allows no look into, or with loader=None it is not just one loader that hands out batches.
    """

    def __init__(
        self, loader: ImageLoader | None = None, *, log_dir: str | os.PathLike[str] | None = None, trace: bool = False
    ) -> None:
        super().__init__()
        if loader is not None and not isinstance(loader, ImageLoader):
            _check.fail("loader", loader, "None or the ImageLoader that feeds the training")
        if log_dir is not None and not isinstance(log_dir, (str, os.PathLike)):
            _check.fail("log_dir", log_dir, "None or a folder")
        self._given = self._loader = loader
        self._log_dir = log_dir
        self._trace = _check.boolean("trace", trace)
        self._writer: Any = None
        self._before: dict[ImageLoader, Any] = {}  # stats at an epoch's begin
        self._after: dict[ImageLoader, Any] = {}  # and after its last step
        self.epochs: list[Figures] = []

    @property
    def total(self) -> Figures:
        """The figures of all epochs but the first, in which the model is compiled; of the first if it is alone."""
        return total(self.epochs[1:] or self.epochs)

    @property
    def verdict(self) -> Verdict:
        """What holds the training up: one word, and a sentence."""
        return self.total.verdict

    def summary(self) -> str:
        """Return the verdict and the figures in three lines."""
        figures = self.total
        stages = ", ".join(f"{stage} {getattr(figures, stage):.1f} s" for stage in STAGES)
        gil = "" if figures.gil is None else f", the GIL held {100 * figures.gil:.0f} % of the time"
        later = " after the first epoch" if len(self.epochs) > 1 else ""
        return (
            f"{figures.verdict.text}\n"
            f"{figures.images_per_second:.0f} images/s in {figures.seconds:.1f} s of training{later}; "
            f"waited for input {figures.waited:.1f} s, between the steps {figures.between:.1f} s\n"
            f"{figures.workers} workers: {stages}; "
            f"{figures.busy_workers:.1f} of them at work, {figures.busy_cpus:.1f} of {figures.cpus} cores busy{gil}"
        )

    def on_train_begin(self, logs: Any = None) -> None:
        """Put the clocks around the model's train_function."""
        make = type(self.model).make_train_function
        if keras.backend.backend() == "tensorflow" and not make.__module__.startswith("keras."):
            _check.fail("model", self.model, "one with Keras' own make_train_function")
        function = self.model.train_function
        if isinstance(function, _Steps):  # of a fit that an error ended
            function.meter.stop()
            function = function.function
        self._steps = self.model.train_function = _Steps(function)
        weakref.finalize(self, self._steps.meter.stop)  # an error may end this fit too, and the model keeps the steps
        self._loader = self._given
        self.epochs = []
        if self._log_dir is not None:
            import tensorflow as tf

            self._writer = tf.summary.create_file_writer(os.fspath(self._log_dir))

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Begin an epoch."""
        loaders = [self._loader] if self._loader else list(_loader.alive)
        for loader in loaders:
            loader._traced = self._trace
        self._before = {loader: loader.stats() for loader in loaders}
        self._after = {}
        self._steps.restart()

    def on_test_begin(self, logs: Any = None) -> None:
        """End the epoch's training, where validation follows it."""
        self._end_steps()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Add the epoch's figures to the logs."""
        self._end_steps()
        if not self._steps.count:
            return
        figures = self._figures(self._find())
        self.epochs.append(figures)
        if logs is not None:
            logs["input_wait"] = figures.wait_share
            logs["images_per_second"] = figures.images_per_second
        if self._writer is not None:
            _write(self._writer, epoch, figures)

    def on_train_end(self, logs: Any = None) -> None:
        """Leave the model as it was, and print the summary."""
        self.model.train_function = self._steps.function
        self._steps.meter.stop(wait=True)
        for loader in self._before:
            loader._traced = False
        self._before, self._after = {}, {}
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        if self.epochs and self.params.get("verbose"):
            print(self.summary())

    def _end_steps(self) -> None:
        self._after = self._after or {loader: loader.stats() for loader in self._before if loader in _loader.alive}

    def _find(self) -> ImageLoader:
        if self._loader is None:
            active = [o for o, after in self._after.items() if after["batches"] > self._before[o]["batches"]]
            if len(active) != 1:
                raise ConfigError(
                    f"loader=None: expected one loader that hands out batches in fit, and there are {len(active)}: "
                    "name yours in InputMonitor(loader)"
                )
            (self._loader,) = active
        return self._loader

    def _figures(self, loader: ImageLoader) -> Figures:
        steps, before, after = self._steps, self._before[loader], self._after[loader]
        operations = [*loader._operations, *loader._batch_ops]

        def grown(key: str, part: str | None = None) -> Any:
            return after[key] - before[key] if part is None else after[key][part] - before[key][part]

        seconds = steps.end - steps.begin
        waited = steps.waited if steps.fetches else grown("seconds", "wait")
        return Figures(
            seconds=seconds,
            waited=waited,
            between=max(0.0, seconds - steps.inside - (waited - steps.waited)),
            images=grown("images_taken"),
            **{stage: grown("seconds", stage) for stage in STAGES},
            decoded=grown("pixels", "decoded") / max(1, grown("pixels", "stored")),
            bytes=grown("bytes"),
            cpu=steps.end_cpu - steps.begin_cpu,
            workers=loader.num_workers,
            cpus=_cpus.available(),
            functions={
                name: about["seconds"] - before["functions"][name]["seconds"]
                for name, about in after["functions"].items()
            },
            threaded=frozenset(
                name
                for name, about in after["functions"].items()
                if isinstance(op := operations[about["position"]], Python) and op.executor == "thread"
            ),
            gil=steps.end_knocks.share_since(steps.begin_knocks),
        )


def _write(writer: Any, epoch: int, figures: Figures) -> None:
    """Write scalars as TensorBoard reads them; tf.summary.scalar would need it to be installed."""
    import tensorflow as tf

    metadata = tf.compat.v1.SummaryMetadata(
        plugin_data=tf.compat.v1.SummaryMetadata.PluginData(plugin_name="scalars"), data_class="DATA_CLASS_SCALAR"
    )
    values = {**asdict(figures), "wait_share": figures.wait_share, "images_per_second": figures.images_per_second}
    values.update((f"functions/{name}", seconds) for name, seconds in values.pop("functions").items())
    del values["threaded"]
    if figures.gil is None:
        del values["gil"]
    with writer.as_default(step=epoch):
        for name, value in values.items():
            tf.summary.write(f"input/{name}", tf.constant(value, tf.float32), metadata=metadata)
