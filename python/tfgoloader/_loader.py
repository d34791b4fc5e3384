"""ImageLoader: checks what the user asked for, starts the core, and hands out its batches."""

from __future__ import annotations

import json
import os
import secrets
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tfgoloader import _check, _cpus, _exit, _native
from tfgoloader._core import ENDED, PENDING, Handle, Header, Slab, call, to_text
from tfgoloader._errors import TfGoLoaderError
from tfgoloader._position import Position, Progress, compare, fingerprint, from_state
from tfgoloader.ops import OneHot, Op
from tfgoloader.sources import Source

if TYPE_CHECKING:
    import tensorflow as tf
    from keras.src.trainers.data_adapters.data_adapter import DataAdapter


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
        dtype: "float32" or "uint8", from 8 bits a channel (of 16-bit files the high byte), or "uint16", where 16-bit
            files keep all and 8-bit values become v * 257.
        data_format: "channels_last", shape (batch, height, width, channels), or "channels_first".
        channels: 3 for RGB, 1 for gray, 4 to keep the alpha channel.
        background: colour (red, green, blue) from 0 to 255 that transparent pictures are laid over; None drops the
            alpha channel and keeps the stored colours, as tf.io.decode_image does.
        exif: whether a picture's EXIF orientation is applied; sizes and crops are then those of the upright picture.
        dct_method: "accurate", bit-equal to tf.io.decode_jpeg(dct_method="INTEGER_ACCURATE"), or "fast".
        num_workers: threads that decode; None for the processors that this process may use.
        prefetch: batches kept ready ahead of the loop, at least 0.
        on_error: what a file does that cannot be read or decoded: "raise" its error in place of its batch, "skip"
            it, or "replace" it by another sample, a function of (seed, epoch, index): lengths stay as promised. With
            "skip" the last samples of the epoch's order take the places of bad ones, batch by batch and in order, so
            that batches stay full and the epoch may end sooner. Bad files are in `stats()`, and in a warning at the
            end of an epoch.
        max_bad: most bad files that "skip" and "replace" put up with, as a count, or as a share from 0.0 to 1.0 of the
            samples; one more raises a TfGoLoaderError that lists them. None is no limit.
        exclude: paths to leave out, as the source names them, for instance an earlier run's stats()["bad_files"].
        truncated: "raise", or "accept" what is there of a JPEG cut short. Up to the cut the pixels are those of
            tf.io.decode_jpeg(try_recover_truncated=True); below it they are gray, as libjpeg fills them.
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
        channels: int = 3,
        background: Sequence[int] | None = None,
        exif: bool = True,
        dct_method: str = "accurate",
        num_workers: int | None = None,
        prefetch: int = 2,
        on_error: str = "raise",
        max_bad: float | None = None,
        exclude: Collection[str] = (),
        truncated: str = "raise",
        max_pixels: int = 178_956_970,
    ) -> None:
        if not isinstance(source, Source):
            _check.fail("source", source, "one of tfgoloader.sources, for instance sources.Directory(path)")
        operations = _check.items("ops", ops, "a list of operations from tfgoloader.ops", Op)
        if labels is not None and not isinstance(labels, OneHot):
            _check.fail("labels", labels, "None or ops.OneHot(num_classes)")
        if labels is not None and not source.has_labels:
            _check.fail("labels", labels, "None, since the source has no labels")
        self._source = source
        self._labels = labels
        self._batch_size = _check.integer("batch_size", batch_size, 1, 2**31 - 1)
        self._drop_remainder = _check.boolean("drop_remainder", drop_remainder)
        self._dtype = np.dtype(_check.choice("dtype", _dtype_name(dtype), ("float32", "uint8", "uint16")))
        self._data_format = _check.choice("data_format", data_format, ("channels_last", "channels_first"))
        channels = _check.integer("channels", channels, 1, 4)
        if channels == 2:
            _check.fail("channels", channels, "1, 3 or 4")
        self._on_error = _check.choice("on_error", on_error, ("raise", "skip", "replace"))
        self._excluded = _indices(source, exclude)
        self._warned = 0  # bad files that a warning has named
        self.num_workers = (
            _cpus.available() if num_workers is None else _check.integer("num_workers", num_workers, 1, 4096)
        )
        self.seed = secrets.randbits(64) if seed is None else _check.integer("seed", seed, 0, 2**64 - 1)
        self._seed_is_drawn = seed is None
        self._spec = {
            "ops": [op._spec() for op in operations],
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
            "channels": channels,
            "background": _background(background, channels),
            "exif": _check.boolean("exif", exif),
            "on_error": self._on_error,
            "max_bad": _most_bad(max_bad, self._on_error, self.num_samples),
            "exclude": self._excluded,
            "truncated": _check.choice("truncated", truncated, ("raise", "accept")),
            "max_pixels": _check.integer("max_pixels", max_pixels, 1),
        }
        self._open()
        self._progress = Progress()
        height, width = json.loads(call(_native.pybind_DescribeLoader, self._handle.number))["output_size"]
        last = self._data_format == "channels_last"
        self._shape = (height, width, channels) if last else (channels, height, width)
        if len(self) == 0:
            warnings.warn(
                f"the loader has no batch: {self.num_samples} samples do not fill one of {self._batch_size} "
                "and drop_remainder is set",
                stacklevel=2,
            )

    @property
    def num_samples(self) -> int:
        """Samples of the source that are not excluded."""
        return len(self._source) - len(self._excluded)

    @property
    def class_names(self) -> list[str] | None:
        """Names of the classes in the order of their labels, where the source has them."""
        return self._source.class_names

    @property
    def element_spec(self) -> ArraySpec | tuple[ArraySpec, ArraySpec]:
        """Shape and dtype of the images, or of images and labels, of a batch."""
        exact = self._on_error != "skip" and self.num_samples % self._batch_size == 0
        whole = self._drop_remainder or exact
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
        """Return the number of batches in an epoch; the most there can be with on_error="skip"."""
        full, rest = divmod(self.num_samples, self._batch_size)
        return full + (rest > 0 and not self._drop_remainder)

    def __iter__(self) -> Iterator[Any]:
        """Start the next epoch: an iterator of (images, labels), or of images where there are no labels."""
        return _Epoch(self)

    def state_dict(self) -> dict[str, Any]:
        """Return where the run is, as a plain dict that JSON takes.

        Keys: seed; epoch and batch, both from 0, of the batch after the last one that the iteration begun last has
        handed over; tail, with on_error="skip": what bad files of this epoch have used of its order; and fingerprint,
        what the batches depend on: digests of paths and labels, and the arguments that matter (num_workers, prefetch
        and max_bad do not).

        What counts is handed over by a loop over the loader. Under `model.fit`, where batches are fetched ahead of the
        step that trains on them, `tfgoloader.callbacks.BackupAndRestore` counts steps.
        """
        return self._state(self._progress.position)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Let the next iteration start where a state was taken; the epochs after it follow.

        Nothing is read for the batches before. Iterations under way go on as they were, unless the loader has drawn
        its seed itself (seed=None): it takes the state's, and they end with an error. Bad files are counted from here.

        Raises:
            ConfigError: the data set or an argument is not as it was, and is named, or this is no state.
        """
        if not isinstance(state, Mapping):
            _check.fail("state", state, "what state_dict() gave")
        compare(self._fingerprint(), state.get("fingerprint"))
        seed = _check.integer("state['seed']", state.get("seed"), 0, 2**64 - 1)
        start = from_state(state, len(self), self.num_samples, self._on_error == "skip")
        if seed != self.seed:
            if not self._seed_is_drawn:
                _check.fail("seed", self.seed, f"{seed}, that of the state, or None, which takes it from there")
            self.seed = self._spec["seed"] = seed
            self._handle.close()
            self._open()
        self._progress.jump(start)

    def _state(self, position: Position) -> dict[str, Any]:
        state: dict[str, Any] = {"seed": self.seed, "epoch": position.epoch, "batch": position.batch}
        if self._on_error == "skip":
            state["tail"] = None if position.tail < 0 else position.tail
        return {**state, "fingerprint": self._fingerprint()}

    def _fingerprint(self) -> dict[str, Any]:
        return fingerprint(self._source, self._spec)

    def _open(self) -> None:
        self._handle = Handle(call(_native.pybind_OpenLoader, self._source._handle.number, json.dumps(self._spec)))

    def _open_epoch(self, start: Position) -> int:
        return call(_native.pybind_Begin, self._handle.number, *start)

    def as_dataset(self) -> tf.data.Dataset:
        """Return a tf.data.Dataset of the same batches; each of its iterations is the loader's next epoch.

        Shapes are static where every batch is full, the cardinality is `len(loader)` (unknown with on_error="skip"), of
        which the first epoch after `load_state_dict` may fall short, and the tensors share the batches' memory.
        TensorFlow's autotuning is off in it, as an option that yours may override. An error reaches the caller as a
        tf.errors.OpError whose message holds the DecodeError's or SourceError's name, the path and the reason.
        """
        from tfgoloader import _dataset

        return _dataset.from_loader(self, self.element_spec, lambda batch: batch)

    def as_keras(self, *, repeat: bool = False, class_weight: Mapping[int, float] | None = None) -> DataAdapter:
        """Return what Keras' fit, evaluate and predict take, on the TensorFlow, JAX and PyTorch backends.

        Each epoch is the loader's next one; its number of steps is known (not with on_error="skip"). TensorFlow is
        imported on its own backend only; on the CPU all three work on the batches' own memory. The batch that Keras
        takes to build a model that is not built comes again, as the first one of the training.

        Args:
            repeat: whether epoch follows epoch without an end, for `fit(..., steps_per_epoch=n)`.
            class_weight: weights of the samples by the number of their class, 1.0 for the others. Give it here, since
                Keras does not look at fit's own class_weight with an adapter.

        Raises:
            ConfigError: an argument is wrong.
            TfGoLoaderError: this Keras, older than 3.7, takes no adapter; as_dataset() is for it.
        """
        from tfgoloader import _keras

        return _keras.LoaderAdapter(self, repeat, class_weight)

    def stats(self) -> dict[str, Any]:
        """Return what the loader has done since it was made.

        Keys: images, bytes (of files), batches (taken), queue_depth (batches ready now), seconds: a dict of read,
        decode and augment, summed over the workers, and wait, how long the loop waited for a batch; and bad_files: a
        dict from path to reason of the files in the batches so far that were left out, replaced or raised.
        """
        stats: dict[str, Any] = json.loads(call(_native.pybind_Stats, self._handle.number))
        stats["bad_files"] = {to_text(path): to_text(reason) for path, reason in stats["bad_files"] or ()}
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

    def _end_epoch(self) -> None:
        if self._on_error == "raise":
            return
        bad = self.stats()["bad_files"]
        if len(bad) > self._warned:
            self._warned = len(bad)
            some = "; ".join(f"{path}: {reason}" for path, reason in list(bad.items())[:3])
            done = "left out" if self._on_error == "skip" else "replaced"
            warnings.warn(
                f"{len(bad)} bad files so far, {done}: {some}{' ...' if len(bad) > 3 else ''}; "
                'all of them are in stats()["bad_files"]',
                stacklevel=3,
            )

    def _after(self, header: Header) -> Position:
        """Return where a run goes on after a batch."""
        return Position(header.epoch, header.batch + 1, header.tail if self._on_error == "skip" else -1)

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
        self.entered = False
        self._loader = loader
        self._iteration, self._number, handle = loader._progress.begin(loader._open_epoch)
        self._handle = Handle(handle)
        _exit.watch(self)

    def close(self) -> None:
        """Give up the rest of the epoch."""
        self._handle.close()

    def __iter__(self) -> _Epoch:
        return self

    def __next__(self) -> Any:
        self.entered = True
        try:
            return self._wait()
        finally:
            self.entered = _exit.exiting

    def _wait(self) -> Any:
        while not _exit.exiting:  # back in Python ten times a second, where Ctrl-C is seen
            try:
                address = call(_native.pybind_Next, self._handle.number)
            except TfGoLoaderError:
                if _exit.exiting:
                    break
                raise
            if address == ENDED:
                self._loader._progress.hand_over(self._iteration, Position(self._number + 1))
                self._loader._end_epoch()
                break
            if address != PENDING:
                batch = self._loader._batch(address)
                self._loader._progress.hand_over(self._iteration, self._loader._after(Header.from_address(address)))
                return batch
        raise StopIteration


def _dtype_name(dtype: Any) -> str:
    try:
        kind = np.dtype(dtype)
    except TypeError:
        return repr(dtype)
    return str(kind.name) if kind.isnative else repr(dtype)


def _indices(source: Source, exclude: Collection[str]) -> list[int]:
    if isinstance(exclude, (str, bytes)):
        _check.fail("exclude", exclude, "a list of paths")
    if not exclude:
        return []
    wanted = set(map(os.fspath, exclude))
    paths = source.file_paths
    missing = wanted.difference(paths)
    if missing:
        warnings.warn(f"exclude: not in the source: {', '.join(sorted(missing))}", stacklevel=3)
    return [index for index, path in enumerate(paths) if path in wanted]


def _background(colour: Sequence[int] | None, channels: int) -> list[int] | None:
    if colour is None:
        return None
    if channels == 4:
        _check.fail("background", colour, "None with channels=4, which keeps the alpha channel")
    if isinstance(colour, (str, bytes)) or len(colour) != 3:
        _check.fail("background", colour, "None or three integers from 0 to 255")
    return [_check.integer("background", value, 0, 255) for value in colour]


def _most_bad(max_bad: float | None, on_error: str, samples: int) -> int:
    if max_bad is None:
        return 2**63 - 1
    if on_error == "raise":
        _check.fail("max_bad", max_bad, 'None with on_error="raise"')
    if isinstance(max_bad, float):
        if not 0 <= max_bad <= 1:
            _check.fail("max_bad", max_bad, "an integer >= 0, or a share from 0.0 to 1.0")
        return int(max_bad * samples)
    return _check.integer("max_bad", max_bad, 0)
