"""The batches as a tf.data.Dataset."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfgoloader._errors import TfGoLoaderError

if TYPE_CHECKING:
    from tfgoloader._loader import ArraySpec, ImageLoader


def _tensor_spec(spec: ArraySpec) -> tf.TensorSpec:
    return tf.TensorSpec(spec.shape, spec.dtype)


class _Epochs:
    """What TensorFlow calls for the batches of an epoch; after a short one it is to find no more."""

    def __init__(self, loader: ImageLoader, convert: Callable[[Any], Any]) -> None:
        # TensorFlow keeps this for ever; the data set, which it does not, holds the loader.
        self._loader = weakref.ref(loader)
        self._convert = convert
        self._length = 0 if loader._on_error == "skip" else len(loader)  # 0: nobody knows
        self.was_short = False

    def __call__(self) -> Iterator[Any]:
        if self.was_short:
            self.was_short = False
            return iter(())
        loader = self._loader()
        if loader is None:
            raise TfGoLoaderError("the data set that held the loader is gone")
        return _Epoch(self, iter(loader), self._length, self._convert)


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


def from_loader(
    loader: ImageLoader, specs: tuple[ArraySpec, ...] | ArraySpec, convert: Callable[[Any], Any]
) -> tf.data.Dataset:
    """Return a data set over the loader; TensorFlow takes the arrays' memory as it is."""
    signature = tuple(map(_tensor_spec, specs)) if isinstance(specs, tuple) else _tensor_spec(specs)
    dataset = tf.data.Dataset.from_generator(_Epochs(loader, convert), output_signature=signature)
    dataset._tfgoloader = loader
    if loader._on_error != "skip":  # which may end an epoch sooner
        # A known length, of which an epoch that is begun in its middle may fall short: that ends the repetition.
        dataset = dataset.repeat().take(len(loader))
    # The hand-over of a batch takes a turn of the GIL, which need not be between two steps of the model. There is
    # nothing for TensorFlow to tune, and its looking for that costs a twentieth of the CPU time.
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.prefetch(1).with_options(options)
