"""ImageLoader: checks what the user asked for, starts the core, and hands out its batches."""

from __future__ import annotations

import json
import secrets
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tfgoloader import _check, _cpus, _native
from tfgoloader._core import ENDED, PENDING, Handle, Header, Slab, call
from tfgoloader._errors import ConfigError
from tfgoloader.ops import OneHot, Op
from tfgoloader.sources import Source

if TYPE_CHECKING:
    import tensorflow as tf


@dataclass(frozen=True)
class ArraySpec:
    """Shape and dtype of an array; None in the shape stands for a size that differs between batches."""

    shape: tuple[int | None, ...]
    dtype: np.dtype[Any]


class ImageLoader:
    """Reads, decodes, augments and batches pictures on all cores, ahead of the loop that uses them.

    Each `iter` is the next epoch. Pixels are a function of (seed, epoch, sample index, file), the order one of
    (seed, epoch): neither depends on the number of workers, the batch size or timing. Batches are NumPy arrays over
    memory that belongs to them for as long as they live.

    Args:
        source: where samples come from, see `tfgoloader.sources`.
        ops: what happens to each picture, in order, see `tfgoloader.ops`; it must fix the size.
        labels: `ops.OneHot(n)` for float32 rows; None for the source's labels as int64.
        batch_size: samples in a batch, at least 1.
        shuffle: whether the order is a random one, anew each epoch; every sample comes exactly once.
        seed: integer from 0 to 2**64 - 1 that decides order and augmentation; None draws one, see `seed`.
        drop_remainder: whether an epoch's last batch is left out where it is not full.
        dtype: "float32" or "uint8".
        data_format: "channels_last", shape (batch, height, width, 3), or "channels_first", (batch, 3, height, width).
        dct_method: "accurate", bit-equal to tf.io.decode_jpeg(dct_method="INTEGER_ACCURATE"), or "fast".
        num_workers: threads that decode; None for the processors that this process may use.
        prefetch: batches kept ready ahead of the loop, at least 0.
        max_pixels: largest width times height; a larger picture is a DecodeError, before memory is taken for it.

    Raises:
        ConfigError: an argument is wrong, or a label is outside OneHot's classes.
        ForkError: in a forked child of a process that had imported the package.

    Iteration raises DecodeError or SourceError in place of the batch that would hold the sample, and goes on with
    the next batch if it is asked to.
    """

    def __init__(
        self,
        source: Source,
        ops: Sequence[Op] = (),
        *,
        labels: OneHot | None = None,
        batch_size: int = 32,
        shuffle: bool = False,
        seed: int | None = None,
        drop_remainder: bool = False,
        dtype: npt.DTypeLike = "float32",
        data_format: str = "channels_last",
        dct_method: str = "accurate",
        num_workers: int | None = None,
        prefetch: int = 2,
        max_pixels: int = 178_956_970,
    ) -> None:
        if not isinstance(source, Source):
            _check.fail("source", source, "one of tfgoloader.sources, for instance sources.Directory(path)")
        if isinstance(ops, Op) or not all(isinstance(op, Op) for op in ops):
            _check.fail("ops", ops, "a list of operations from tfgoloader.ops")
        if labels is not None and not isinstance(labels, OneHot):
            _check.fail("labels", labels, "None or ops.OneHot(num_classes)")
        if labels is not None and not source.has_labels:
            _check.fail("labels", labels, "None, since the source has no labels")
        self._source = source
        self._labels = labels
        self._batch_size = _check.integer("batch_size", batch_size, 1, 2**31 - 1)
        self._drop_remainder = _check.boolean("drop_remainder", drop_remainder)
        self._dtype = np.dtype(_check.choice("dtype", _dtype_name(dtype), ("float32", "uint8")))
        self._data_format = _check.choice("data_format", data_format, ("channels_last", "channels_first"))
        self.num_workers = (
            _cpus.available() if num_workers is None else _check.integer("num_workers", num_workers, 1, 4096)
        )
        self.seed = secrets.randbits(64) if seed is None else _check.integer("seed", seed, 0, 2**64 - 1)
        spec = {
            "ops": [op._spec() for op in ops],
            "one_hot": labels and {"classes": labels.num_classes, "label_smoothing": labels.label_smoothing},
            "batch_size": self._batch_size,
            "shuffle": _check.boolean("shuffle", shuffle),
            "seed": self.seed,
            "drop_remainder": self._drop_remainder,
            "dtype": self._dtype.name,
            "data_format": self._data_format,
            "dct_method": _check.choice("dct_method", dct_method, ("accurate", "fast")),
            "num_workers": self.num_workers,
            "prefetch": _check.integer("prefetch", prefetch, 0, 2**31 - 1),
            "max_pixels": _check.integer("max_pixels", max_pixels, 1),
        }
        self._handle = Handle(call(_native.pybind_OpenLoader, source._handle.number, json.dumps(spec)))
        height, width = json.loads(call(_native.pybind_DescribeLoader, self._handle.number))["output_size"]
        self._shape = (height, width, 3) if self._data_format == "channels_last" else (3, height, width)
        if len(self) == 0:
            warnings.warn(
                f"the loader has no batch: {self.num_samples} samples do not fill one of {self._batch_size} "
                "and drop_remainder is set",
                stacklevel=2,
            )

    @property
    def num_samples(self) -> int:
        """Samples of the source."""
        return len(self._source)

    @property
    def class_names(self) -> list[str] | None:
        """Names of the classes in the order of their labels, where the source has them."""
        return self._source.class_names

    @property
    def element_spec(self) -> ArraySpec | tuple[ArraySpec, ArraySpec]:
        """Shape and dtype of the images, or of images and labels, of a batch."""
        whole = self._drop_remainder or self.num_samples % self._batch_size == 0
        batch = self._batch_size if whole else None
        images = ArraySpec((batch, *self._shape), self._dtype)
        if not self._source.has_labels:
            return images
        return images, ArraySpec((batch, *self._label_shape), self._label_dtype)

    @property
    def _label_shape(self) -> tuple[int, ...]:
        return (self._labels.num_classes,) if self._labels else ()

    @property
    def _label_dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float32 if self._labels else np.int64)

    def __len__(self) -> int:
        """Return the number of batches in an epoch."""
        full, rest = divmod(self.num_samples, self._batch_size)
        return full + (rest > 0 and not self._drop_remainder)

    def __iter__(self) -> Iterator[Any]:
        """Start the next epoch: an iterator of (images, labels), or of images where there are no labels."""
        return _Epoch(self)

    def as_dataset(self) -> tf.data.Dataset:
        """Return a tf.data.Dataset of the same batches; each of its iterations is the loader's next epoch.

        Shapes are static where every batch is full, the cardinality is `len(loader)`, and the tensors share the
        batches' memory. An error reaches the caller as a tf.errors.OpError whose message holds the DecodeError's
        or SourceError's name, the path and the reason.
        """
        from tfgoloader import _dataset

        return _dataset.from_loader(self)

    def stats(self) -> dict[str, Any]:
        """Return what the loader has done since it was made.

        Keys: images, bytes (of files), batches (taken), queue_depth (batches ready now), and seconds: a dict of
        read, decode and augment, summed over the workers, and wait, how long the loop waited for a batch.
        """
        stats: dict[str, Any] = json.loads(call(_native.pybind_Stats, self._handle.number))
        return stats

    def close(self) -> None:
        """Stop the workers and free what is not in the user's hands; arrays stay valid, iteration raises.

        Closing twice does nothing. A loader that is garbage collected is closed.
        """
        self._handle.close()

    def __enter__(self) -> ImageLoader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _batch(self, address: int) -> Any:
        slab = Slab(address)
        header = slab.header
        images = slab.array(_HEADER_SIZE, (header.samples, *self._shape), self._dtype)
        if not self._source.has_labels:
            return images
        return images, slab.array(header.labels, (header.samples, *self._label_shape), self._label_dtype)


_HEADER_SIZE = Header.reserved.offset + Header.reserved.size


class _Epoch:
    """One pass over the samples; it ends with its last batch, or when it is dropped."""

    def __init__(self, loader: ImageLoader) -> None:
        self._loader = loader
        self._handle = Handle(call(_native.pybind_Begin, loader._handle.number))

    def __iter__(self) -> _Epoch:
        return self

    def __next__(self) -> Any:
        while True:  # back in Python ten times a second, where Ctrl-C is seen
            address = call(_native.pybind_Next, self._handle.number)
            if address == ENDED:
                raise StopIteration
            if address != PENDING:
                return self._loader._batch(address)


def _dtype_name(dtype: Any) -> str:
    try:
        return np.dtype(dtype).name
    except TypeError:
        raise ConfigError(f"dtype={dtype!r}: expected 'float32' or 'uint8'") from None
