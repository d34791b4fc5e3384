"""The batches as a tf.data.Dataset."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import tensorflow as tf

from tfgoloader import _elements
from tfgoloader._errors import TfGoLoaderError

if TYPE_CHECKING:
    from tfgoloader._loader import ImageLoader


class Batches(Protocol):
    """What gives batches of arrays, each time it is iterated."""

    @property
    def element_spec(self) -> Any: ...

    def __iter__(self) -> Iterator[Any]: ...


def _with_bytes(element: Any) -> Any:
    """Return the element with the bytes of file names, which need not be UTF-8, in place of paths."""

    def encoded(array: Any) -> Any:
        return np.array([os.fsencode(path) for path in array], object) if array.dtype == object else array

    return _elements.map_arrays(encoded, element)


def _annotated(loader: Any) -> Iterator[Any]:
    """Give the batches, each with events for TensorFlow's profiler: how long it took, and the workers' stages."""
    trace = tf.profiler.experimental.Trace
    before = loader.stats()["seconds"]
    batches = iter(loader)
    while True:
        with trace("tfgoloader.next") as event:
            batch = next(batches, None)
            stats = loader.stats()
            event.set_metadata(batch=stats["batches"], queue_depth=stats["queue_depth"])
        if batch is None:
            return
        seconds = stats["seconds"]
        for stage in ("read", "decode", "augment"):
            with trace(f"tfgoloader.{stage}", worker_seconds=f"{seconds[stage] - before[stage]:.6f}"):
                pass
        before = seconds
        yield batch


class _Epochs:
    """What TensorFlow calls for the batches of an epoch; after a short one it is to find no more."""

    def __init__(self, batches: Batches, length: int, convert: Callable[[Any], Any]) -> None:
        # TensorFlow keeps this for ever; the data set, which it does not, holds the batches' loader.
        self._batches = weakref.ref(batches)
        self._length = length  # 0: nobody knows
        self._convert = convert
        self.was_short = False

    def __call__(self) -> Iterator[Any]:
        if self.was_short:
            self.was_short = False
            return iter(())
        batches = self._batches()
        if batches is None:
            raise TfGoLoaderError("the data set that held the loader is gone: keep the loader itself")
        started = _annotated(batches) if getattr(batches, "_traced", False) else iter(batches)
        if getattr(batches, "_return_meta", False):
            started = map(_with_bytes, started)
        return _Epoch(self, started, self._length, self._convert)


class _Epoch:
    """The batches of one epoch."""

    def __init__(self, epochs: _Epochs, batches: Iterator[Any], length: int, convert: Callable[[Any], Any]) -> None:
        self._epochs = epochs
        self._batches = batches
        self._length = self._missing = length
        self._convert = convert

    def __iter__(self) -> _Epoch:
        return self

    def __next__(self) -> Any:
        try:
            batch = next(self._batches)
        except StopIteration:
            # One that gives nothing at all ends the repetition by itself.
            self._epochs.was_short = 0 < self._missing < self._length
            raise
        self._missing -= 1
        if self._missing == 0:  # nobody will ask for the end
            next(self._batches, None)
        return self._convert(batch)


def from_loader(loader: ImageLoader, specs: Any, convert: Callable[[Any], Any]) -> tf.data.Dataset:
    """Return a data set over the loader, whose batches become what the specs say."""
    return _from_generator(loader, specs, None if loader._on_error == "skip" else len(loader), convert)


def from_batches(batches: Batches, count: int) -> tf.data.Dataset:
    """Return a data set over so many batches."""
    return _from_generator(batches, batches.element_spec, count, lambda batch: batch)


def _from_generator(batches: Batches, specs: Any, count: int | None, convert: Callable[[Any], Any]) -> tf.data.Dataset:
    """Return a data set; TensorFlow takes the arrays' memory as it is. With on_error="skip" nobody knows the count."""
    signature = _elements.map_arrays(lambda spec: tf.TensorSpec(spec.shape, spec.dtype), specs)
    dataset = tf.data.Dataset.from_generator(_Epochs(batches, count or 0, convert), output_signature=signature)
    dataset._tfgoloader = batches
    if count is not None:
        # A known length, of which an epoch that is begun in its middle may fall short: that ends the repetition.
        dataset = dataset.repeat().take(count)
    # The hand-over of a batch takes a turn of the GIL, which need not be between two steps of the model. There is
    # nothing for TensorFlow to tune, and its looking for that costs a twentieth of the CPU time.
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.prefetch(1).with_options(options)
