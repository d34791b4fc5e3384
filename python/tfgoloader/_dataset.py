"""The batches as a tf.data.Dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

if TYPE_CHECKING:
    from tfgoloader._loader import ArraySpec, ImageLoader


def _tensor_spec(spec: ArraySpec) -> tf.TensorSpec:
    return tf.TensorSpec(spec.shape, spec.dtype)


def from_loader(loader: ImageLoader) -> tf.data.Dataset:
    """Return a data set over the loader; TensorFlow takes the arrays' memory as it is."""
    specs = loader.element_spec
    signature = tuple(map(_tensor_spec, specs)) if isinstance(specs, tuple) else _tensor_spec(specs)
    dataset = tf.data.Dataset.from_generator(lambda: iter(loader), output_signature=signature)
    # The hand-over of a batch takes a turn of the GIL, which need not be between two steps of the model.
    return dataset.apply(tf.data.experimental.assert_cardinality(len(loader))).prefetch(1)
