"""The batches as a tf.data.Dataset."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
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


def _begin(batches: Batches | None) -> Iterator[Any]:
    if batches is None:
        raise TfGoLoaderError("the data set that held the loader is gone")
    elements = _annotated(batches) if getattr(batches, "_traced", False) else iter(batches)
    return map(_with_bytes, elements) if getattr(batches, "_return_meta", False) else elements


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


def from_loader(loader: ImageLoader) -> tf.data.Dataset:
    """Return a data set over the loader; with on_error="skip" an epoch may end sooner."""
    return from_batches(loader, None if loader._on_error == "skip" else len(loader))


def from_batches(batches: Batches, count: int | None) -> tf.data.Dataset:
    """Return a data set over so many batches; TensorFlow takes the arrays' memory as it is."""
    signature = _elements.map_arrays(lambda spec: tf.TensorSpec(spec.shape, spec.dtype), batches.element_spec)
    # TensorFlow keeps the generator function for ever; the data set, which it does not, holds the loader.
    alive = weakref.ref(batches)
    dataset = tf.data.Dataset.from_generator(lambda: _begin(alive()), output_signature=signature)
    dataset._tfgoloader = batches
    if count is not None:
        dataset = dataset.apply(tf.data.experimental.assert_cardinality(count))
    # The hand-over of a batch takes a turn of the GIL, which need not be between two steps of the model. There is
    # nothing for TensorFlow to tune, and its looking for that costs a twentieth of the CPU time.
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.prefetch(1).with_options(options)
