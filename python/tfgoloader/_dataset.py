"""The batches as a tf.data.Dataset."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfgoloader import _elements
from tfgoloader._errors import TfGoLoaderError

if TYPE_CHECKING:
    from tfgoloader._loader import ImageLoader


def _begin(loader: ImageLoader | None) -> Iterator[Any]:
    if loader is None:
        raise TfGoLoaderError("the data set that held the loader is gone")
    batches = iter(loader)
    return map(_with_bytes, batches) if loader._return_meta else batches


def _with_bytes(element: Any) -> Any:
    """Return the element with the bytes of file names, which need not be UTF-8, in place of paths."""

    def encoded(array: Any) -> Any:
        return np.array([os.fsencode(path) for path in array], object) if array.dtype == object else array

    return _elements.map_arrays(encoded, element)


def from_loader(loader: ImageLoader) -> tf.data.Dataset:
    """Return a data set over the loader; TensorFlow takes the arrays' memory as it is."""
    signature = _elements.map_arrays(lambda spec: tf.TensorSpec(spec.shape, spec.dtype), loader.element_spec)
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
