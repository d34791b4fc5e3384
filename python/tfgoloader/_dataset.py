"""The batches as a tf.data.Dataset."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfgoloader._errors import TfGoLoaderError

if TYPE_CHECKING:
    from tfgoloader._loader import ArraySpec, ImageLoader


def _tensor_spec(spec: ArraySpec) -> tf.TensorSpec:
    return tf.TensorSpec(spec.shape, spec.dtype)


def _begin(loader: ImageLoader | None) -> Iterator[Any]:
    if loader is None:
        raise TfGoLoaderError("the data set that held the loader is gone")
    return _annotated(loader) if loader._traced else iter(loader)


def _annotated(loader: ImageLoader) -> Iterator[Any]:
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
    """Return a data set over the loader; TensorFlow takes the arrays' memory as it is."""
    specs = loader.element_spec
    signature = tuple(map(_tensor_spec, specs)) if isinstance(specs, tuple) else _tensor_spec(specs)
    # TensorFlow keeps the generator function for ever; the data set, which it does not, holds the loader.
    alive = weakref.ref(loader)
    dataset = tf.data.Dataset.from_generator(lambda: _begin(alive()), output_signature=signature)
    dataset._tfgoloader = loader
    if loader._on_error != "skip":  # which may end an epoch sooner
        dataset = dataset.apply(tf.data.experimental.assert_cardinality(len(loader)))
    # The hand-over of a batch takes a turn of the GIL, which need not be between two steps of the model. There is
    # nothing for TensorFlow to tune, and its looking for that costs a twentieth of the CPU time.
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.prefetch(1).with_options(options)
