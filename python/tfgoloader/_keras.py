"""The batches as what Keras' fit, evaluate and predict take, on each of its backends."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from tfgoloader import _check, _elements
from tfgoloader._errors import TfGoLoaderError
from tfgoloader._position import Position

if TYPE_CHECKING:
    import tensorflow as tf

    from tfgoloader._loader import ImageLoader

_MISSING = (
    f"as_keras() needs Keras 3.7 or newer, this is {keras.__version__}: use as_dataset() on the TensorFlow backend"
)
if tuple(map(int, keras.__version__.split(".")[:2])) < (3, 7):  # whose fit takes no adapter
    raise TfGoLoaderError(_MISSING)
try:
    from keras.src.trainers.data_adapters.data_adapter import DataAdapter
except ImportError as error:
    raise TfGoLoaderError(_MISSING) from error


class _Opened:
    """An epoch of the loader that keeps its first batches for as long as they may be no more than a peek."""

    def __init__(self, start: Position, batches: Iterator[Any]) -> None:
        self.start = start
        self.kept: list[Any] | None = []
        self._batches = batches

    def __iter__(self) -> Iterator[Any]:
        yield from list(self.kept or ())
        for batch in self._batches:
            if self.kept is not None:
                self.kept.append(batch)
            yield batch


class LoaderAdapter(DataAdapter):  # type: ignore[misc]
    """The data adapter of an ImageLoader; see ImageLoader.as_keras.

    Keras takes a batch to build a model, drops the iterator, and begins again. All it says of that is that it asks for
    num_batches, once, between on_epoch_begin and on_epoch_end. Such an epoch is kept, and is the next one.
    """

    def __init__(self, loader: ImageLoader, repeat: bool, class_weight: Mapping[int, float] | None) -> None:
        if loader._return_meta:
            _check.fail("return_meta", True, "False with as_keras(), since Keras would take meta for weights")
        self._loader = loader
        self._repeat = _check.boolean("repeat", repeat)
        self._class_weight = None if class_weight is None else _class_weights(loader, class_weight)
        self._views_alone = loader._spec["views"] > 1 and not loader._source.has_labels
        # No method: TensorFlow keeps it for ever, and would keep the loader with it.
        self._arrange = functools.partial(_arrange, self._views_alone, self._class_weight)
        self._start = Position()  # of the epoch under way
        self._asked: int | None = None  # for num_batches, in the epoch under way
        self._opened: _Opened | None = None  # of which no more than a peek was taken so far
        self._kept: _Opened | None = None  # after the peek

    def get_numpy_iterator(self) -> Iterator[Any]:
        """Return an iterator of NumPy batches."""
        return self._iterate(lambda array: array)

    def get_jax_iterator(self) -> Iterator[Any]:
        """Return an iterator of JAX arrays; on the CPU they are the batches' memory."""
        import jax

        # Keras distributes NumPy arrays itself, and looks one batch ahead where there is an accelerator.
        put = jax.device_put if keras.distribution.distribution() is None else lambda array: array
        return self._iterate(put, 1 if jax.default_backend() == "cpu" else 2)

    def get_torch_dataloader(self) -> Any:
        """Return a torch DataLoader of tensors; on the CPU they are the batches' memory."""
        import torch
        from keras.src.backend.torch.core import convert_to_tensor

        iterate = self._iterate

        def convert(array: Any) -> Any:
            # Keras has int32 for uint16 on this backend, and copies what is no tensor.
            return convert_to_tensor(torch.from_numpy(array.astype("int32") if array.dtype == "uint16" else array))

        class Batches(torch.utils.data.IterableDataset):  # type: ignore[misc]
            def __iter__(self) -> Iterator[Any]:
                return iterate(convert)

        # With a generator of its own, of which it draws a seed for workers, it leaves the global one alone.
        return torch.utils.data.DataLoader(
            Batches(), batch_size=None, collate_fn=lambda batch: batch, generator=torch.Generator()
        )

    def get_tf_dataset(self) -> tf.data.Dataset:
        """Return a tf.data.Dataset, of which each iteration is the next epoch."""
        from tfgoloader import _dataset

        specs: Any = self._loader.element_spec
        if self._views_alone:
            specs = (specs,)
        if self._class_weight is not None:
            images, labels, *_ = specs
            specs = (images, labels, _elements.ArraySpec(labels.shape[:1], np.dtype(keras.config.floatx())))
        dataset = _dataset.from_loader(self._loader, specs, self._arrange)
        return dataset.repeat() if self._repeat else dataset

    @property
    def num_batches(self) -> int | None:
        """Batches of an epoch; None where they are endless, or bad files may make them fewer."""
        if self._asked is not None:
            self._asked += 1
        return None if self._repeat or self._loader._on_error == "skip" else len(self._loader)

    @property
    def batch_size(self) -> int:
        """Samples of a batch."""
        return self._loader._batch_size

    @property
    def has_partial_batch(self) -> bool:
        """Whether an epoch's last batch is not full."""
        return self.partial_batch_size is not None

    @property
    def partial_batch_size(self) -> int | None:
        """Samples of an epoch's last batch, where it is not full."""
        if self._loader._drop_remainder or self._loader._pad_last:
            return None
        return self._loader.num_samples % self.batch_size or None

    def on_epoch_begin(self) -> None:
        """Note where the epoch starts."""
        self._start = self._loader._progress.upcoming
        self._asked = 0
        self._opened = None

    def on_epoch_end(self) -> None:
        """Note the end of an epoch, or of a peek."""
        if self._asked == 1:
            self._loader._progress.upcoming = self._start
            self._kept = self._opened  # none with a tf.data.Dataset, whose next iteration opens the epoch anew
        self._asked = None
        self._opened = None

    def _iterate(self, convert: Callable[[Any], Any], peek: int = 1) -> Iterator[Any]:
        while True:
            opened = self._opened = self._open()
            for number, batch in enumerate(opened):
                if number == peek:
                    opened.kept = self._opened = None
                yield _elements.map_arrays(convert, self._arrange(batch))
            if not self._repeat or not len(self._loader):
                return

    def _open(self) -> _Opened:
        kept, self._kept = self._kept, None
        progress = self._loader._progress
        if kept is None or kept.start != progress.upcoming:
            return _Opened(progress.upcoming, iter(self._loader))
        progress.upcoming = Position(kept.start.epoch + 1)
        return kept


def _arrange(views_alone: bool, class_weight: Mapping[int, float] | None, batch: Any) -> Any:
    """Return a batch as Keras takes it."""
    if views_alone:
        return (batch,)  # or Keras would take the first view for x and the second for y
    if class_weight is None:
        return batch
    images, labels, *padding = batch
    classes = labels.argmax(axis=-1) if labels.ndim > 1 else labels
    weights = np.array([class_weight.get(label, 1.0) for label in classes.tolist()], keras.config.floatx())
    return images, labels, weights * padding[0] if padding else weights


def _class_weights(loader: ImageLoader, class_weight: Any) -> dict[int, float]:
    allowed = "None or a dict from a class' number to its weight"
    if not isinstance(class_weight, Mapping):
        _check.fail("class_weight", class_weight, allowed)
    source = loader._source
    if not source.has_labels or source.has_masks or source.has_boxes:
        _check.fail("class_weight", class_weight, "None, since the targets are not labels alone")
    return {
        _check.integer("class_weight", label, -(2**63)): _check.number("class_weight", weight)
        for label, weight in class_weight.items()
    }
