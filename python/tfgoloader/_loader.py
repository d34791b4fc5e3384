"""ImageLoader: checks what the user asked for, starts the core, and hands out its batches."""

from __future__ import annotations

import json
import secrets
import warnings
import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tfgoloader import _arguments, _check, _cpus, _crew, _elements, _native, _replay, _spec
from tfgoloader._call import Header
from tfgoloader._core import Handle, Slab, call, to_text
from tfgoloader._epoch import Epoch
from tfgoloader._errors import TfGoLoaderError
from tfgoloader._position import Position, Progress, compare, fingerprint, from_state
from tfgoloader._replay import Replay
from tfgoloader.ops import BatchOp, OneHot, Op
from tfgoloader.sources import Source, _PathLike

if TYPE_CHECKING:
    import tensorflow as tf
    from keras.src.trainers.data_adapters.data_adapter import DataAdapter


class ImageLoader:
    """Reads, decodes, augments and batches pictures on all cores, ahead of the loop that uses them.

    Each `iter` is the next epoch. Pixels are a function of (seed, epoch, sample index, file), the order one of
    (seed, epoch): neither depends on the number of workers, the batch size or timing. Batches are NumPy arrays over
    memory that belongs to them for as long as they live.

    Args:
        source: where samples come from, see `tfgoloader.sources`.
        ops: what happens to each picture, in order, see `tfgoloader.ops`; it must fix the size. MixUp and CutMix, which
            mix pictures and labels of a batch, come last and need OneHot labels.
        labels: `ops.OneHot(n)` for float32 rows; None for the source's labels as int64.
        batch_size: samples in a batch, at least 1.
        shuffle: whether the order is a random one, anew each epoch; every sample comes exactly once.
        seed: integer from 0 to 2**64 - 1 that decides order and augmentation; None draws one, see `seed`.
        drop_remainder: whether an epoch's last batch is left out where it is not full.
        dtype: "float32", "float16", "bfloat16" or "uint8", from 8 bits a channel (of 16-bit files the high byte), or
            "uint16", where 16-bit files keep all and 8-bit values become v * 257. The shorter floats are those of
            float32, rounded half to even; "bfloat16" needs the package ml_dtypes, which TensorFlow and JAX bring.
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
        box_format: what the four numbers of a box are, in the source and in batches: "xyxy", its left, upper, right and
            lower edge in pixels; "rel_xyxy", these as shares of the picture's width and height; "xywh", left and upper
            edge, width and height in pixels (keras.utils.bounding_boxes). Edges lie between pixels: 0 and the width
            are the picture's own.
        max_boxes: places for one picture's boxes, at least 1; those beyond are left out. None for as many as the
            source's picture with the most boxes has.
        min_visible: share, from 0 to 1, of its area that a box shows at least after it is clipped to the picture; those
            that show less, or no area at all, are left out.
        views: how many times each picture goes through the operations, each time with random numbers of its own; the
            first view is what views=1 gives. It is decoded once. Views have labels, but neither masks nor boxes.
        pad_last: whether an epoch's last batch is filled up with zeros, and every element has sample weights: 1 for
            samples, 0 for what fills up. All batches have one shape then, and whoever heeds the weights, such as Keras'
            weighted_metrics, counts every sample once. It needs targets, and no drop_remainder.
        return_meta: whether every element tells, last, where its pictures come from, as below.

    Raises:
        ConfigError: an argument is wrong, a label is outside OneHot's classes, or a box is not finite or ends before
            it starts.
        ForkError: in a forked child of a process that had imported the package.

    An element is the images alone, or the tuple of images and targets. Images are one array, or with several views a
    tuple of as many. Targets are the labels, the masks or the boxes where the source has one of them, and a dict of
    those it has, by Keras' names, where it has more: labels, segmentation_masks, bounding_boxes. The labels are int64
    of shape (batch,) or float32 rows; the masks uint8 class indices of shape (batch, height, width, 1), or (batch, 1,
    height, width) with "channels_first". The boxes are a dict of boxes, float32 of shape (batch, max_boxes, 4), labels,
    int64 of shape (batch, max_boxes), and count, int32 of shape (batch,), how many of them there are; the places behind
    hold boxes of 0 and the label -1.

    With pad_last the sample weights, float32 of shape (batch,), are the third part of an element. With return_meta the
    last part is a dict: index in the source, int64 of shape (batch,), with on_error="replace" that of the picture that
    is shown; path, str objects of shape (batch,), in `as_dataset` tf.string; original_size, int32 (batch, 2), height
    and width of the upright picture; window, int32 (batch, 4), top, left, height and width of the smallest part of it
    in which lies what is shown, the bounding box where it is rotated; flip, bool (batch, 2), whether it was flipped
    left to right, and upside down. Window and flip of several views have the shapes (batch, views, 4) and (batch,
    views, 2). Padding has the index -1 and the path "". Keras does not know this part: it is for loops of your own.

    Iteration raises DecodeError or SourceError in place of the batch that would hold the sample, and goes on with
    the next batch if it is asked to.
    """

    def __init__(
        self,
        source: Source,
        ops: Sequence[Op | BatchOp] = (),
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
        exclude: Collection[_PathLike] = (),
        truncated: str = "raise",
        max_pixels: int = 178_956_970,
        box_format: str = "xyxy",
        max_boxes: int | None = None,
        min_visible: float = 0.0,
        views: int = 1,
        pad_last: bool = False,
        return_meta: bool = False,
    ) -> None:
        if not isinstance(source, Source):
            _check.fail("source", source, "one of tfgoloader.sources, for instance sources.Directory(path)")
        operations, batch_operations = _arguments.operations(ops)
        if labels is not None and not isinstance(labels, OneHot):
            _check.fail("labels", labels, "None or ops.OneHot(num_classes)")
        if labels is not None and not source.has_labels:
            _check.fail("labels", labels, "None, since the source has no labels")
        _arguments.whole_batches(batch_operations, source, labels, views)
        self._source = source
        self._ops, self._batch_ops, self._labels = operations, batch_operations, labels
        self._batch_size = _check.integer("batch_size", batch_size, 1, 2**31 - 1)
        self._drop_remainder = _check.boolean("drop_remainder", drop_remainder)
        self._pad_last = _arguments.pad_last(pad_last, source, self._drop_remainder)
        self._return_meta = _check.boolean("return_meta", return_meta)
        self._on_error = _check.choice("on_error", on_error, ("raise", "skip", "replace"))
        self._excluded = _arguments.indices(source, exclude)
        self._warned = 0  # bad files that a warning has named
        self.num_workers = (
            _cpus.available() if num_workers is None else _check.integer("num_workers", num_workers, 1, 4096)
        )
        self.seed = secrets.randbits(64) if seed is None else _check.integer("seed", seed, 0, 2**64 - 1)
        self._seed_is_drawn = seed is None
        self._operations = operations
        self._spec: dict[str, Any] = {
            "ops": [op._spec() for op in operations],
            "batch_ops": [op._spec() for op in batch_operations],
            "one_hot": labels and {"classes": labels.num_classes, "label_smoothing": labels.label_smoothing},
            "boxes": _arguments.boxes(source, box_format, max_boxes, min_visible),
            "views": _arguments.views(source, views),
            "batch_size": self._batch_size,
            "shuffle": _check.boolean("shuffle", shuffle),
            "seed": self.seed,
            "drop_remainder": self._drop_remainder,
            **_spec.pixels(
                dtype=dtype,
                data_format=data_format,
                channels=channels,
                background=background,
                exif=exif,
                dct_method=dct_method,
                truncated=truncated,
                max_pixels=max_pixels,
            ),
            "num_workers": self.num_workers,
            "prefetch": _check.integer("prefetch", prefetch, 0, 2**31 - 1),
            "on_error": self._on_error,
            "max_bad": _arguments.most_bad(max_bad, self._on_error, self.num_samples),
            "exclude": self._excluded,
            "pad_last": self._pad_last,
            "return_meta": self._return_meta,
        }
        self._open()
        self._progress = Progress()
        self._traced = False  # whether as_dataset's thread annotates the profile of TensorFlow
        alive.add(self)
        if len(self) == 0:
            few = f"{self.num_samples} samples do not fill one of {self._batch_size} and drop_remainder is set"
            reason = few if self.num_samples else "all samples are excluded"
            warnings.warn(f"the loader has no batch: {reason}", stacklevel=2)

    @classmethod
    def from_spec(cls, source: Source, spec: Mapping[str, Any], **overrides: Any) -> ImageLoader:
        """Return a loader whose pixels and targets are those of another one's `spec`, over a source of its own.

        Labels' and boxes' arguments are left out where the source has none.

        Args:
            source: where samples come from.
            spec: the other loader's.
            overrides: arguments of ImageLoader that the specification does not hold, such as batch_size, or others in
                place of those that it does, such as ops.

        Raises:
            ConfigError: the specification is wrong, of a newer version of this package, holds names that are not
                known, or names other classes than the source.
        """
        arguments = _spec.arguments(spec)
        names = arguments.pop("class_names")
        if names and source.class_names and names != source.class_names:
            _check.fail("source.class_names", source.class_names, f"{names}, as in the specification")
        if not source.has_labels:
            arguments["labels"] = None
        if not source.has_boxes:
            arguments["max_boxes"] = None
        return cls(source, **{**arguments, **overrides})

    @property
    def spec(self) -> dict[str, Any]:
        """All that decides the pixels and the targets of a sample, as a plain dict that JSON takes.

        It holds the version of the package as tfgoloader, ops and labels, each by its name, as op, with its arguments,
        class_names, and by their names here the arguments dtype, data_format, channels, background, exif, dct_method,
        truncated, max_pixels, views, box_format, max_boxes and min_visible. See `from_spec` and `Preprocess`.
        """
        return _spec.describe([*self._ops, *self._batch_ops], self._labels, self.class_names, self._spec)

    @property
    def num_samples(self) -> int:
        """Samples of the source that are not excluded."""
        return len(self._source) - len(self._excluded)

    @property
    def class_names(self) -> list[str] | None:
        """Names of the classes in the order of their labels, where the source has them."""
        return self._source.class_names

    @property
    def element_spec(self) -> Any:
        """A batch with an `ArraySpec` in place of every array."""
        exact = self._on_error != "skip" and self.num_samples % self._batch_size == 0
        whole = self._drop_remainder or self._pad_last or exact
        batch = self._batch_size if whole else None
        return _elements.map_arrays(lambda place: place.spec(batch), self._element)

    def __len__(self) -> int:
        """Return the number of batches in an epoch; the most there can be with on_error="skip"."""
        full, rest = divmod(self.num_samples, self._batch_size)
        return full + (rest > 0 and not self._drop_remainder)

    def __iter__(self) -> Iterator[Any]:
        """Start the next epoch: an iterator of its batches, as the class describes them."""
        return Epoch(self)

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
            TfGoLoaderError: the loader is closed, and would have to take the state's seed.
        """
        if not isinstance(state, Mapping):
            _check.fail("state", state, "what state_dict() gave")
        compare(self._fingerprint(), state.get("fingerprint"))
        seed = _check.integer("state['seed']", state.get("seed"), 0, 2**64 - 1)
        start = from_state(state, len(self), self.num_samples, self._on_error == "skip")
        if seed != self.seed:
            if not self._seed_is_drawn:
                _check.fail("seed", self.seed, f"{seed}, that of the state, or None, which takes it from there")
            if self not in alive:
                raise TfGoLoaderError("the loader is closed")
            self.seed = self._spec["seed"] = seed
            self._handle.close()
            self._crew.stop()
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
        number = call(_native.pybind_OpenLoader, self._source._handle.number, json.dumps(self._spec))
        self._handle = Handle(number, self._operations)
        self._crew = _crew.start(self)
        paths = self._source.file_paths if self._return_meta else ()
        self._element = _elements.element(call(_native.pybind_DescribeLoader, self._handle.number), paths)

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
        takes to build a model that is not built comes again, as the first one of the training. Several views without
        labels are the model's inputs.

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

    def replay(self, epoch: int, index: int) -> Replay:
        """Return one sample as an epoch makes it, with what was drawn for it and the picture before it all.

        No epoch is run for it, and none is disturbed. With on_error="replace" the index is that of the substitute,
        which return_meta tells. What MixUp, CutMix and functions do to a whole batch is left out.

        Args:
            epoch: counted from 0.
            index: in the source, also where the sample is excluded.

        Raises:
            ConfigError: an argument is wrong.
            DecodeError, SourceError: the file cannot be read or decoded as a whole.
        """
        epoch = _check.integer("epoch", epoch, 0)
        index = _check.integer("index", index, 0, len(self._source) - 1)
        text = call(_native.pybind_Replay, self._handle.number, epoch, index)
        targets = self._source.has_labels or self._source.has_masks or self._source.has_boxes
        return _replay.from_core(text, epoch, index, self._element, self._ops, targets)

    def preview(self, n: int = 9) -> npt.NDArray[np.uint8]:
        """Return one picture of the first `n` samples of the first epoch, augmented as the model gets them.

        It is a grid of shape (height, width, 3), dtype uint8, 0 to 255, with the names of the classes, boxes and masks
        drawn, views side by side; Rescaling, Normalization and functions of batches are left out. The loader's own
        epochs go on as if nothing had happened. Save it with PIL.Image.fromarray(loader.preview()).save("preview.png").

        Args:
            n: at least 1; there are fewer in the grid where the epoch has fewer.

        Raises:
            ImportError: Pillow, which draws, is not installed.
        """
        from tfgoloader import _preview

        return _preview.draw(self, _check.integer("n", n, 1))

    def stats(self) -> dict[str, Any]:
        """Return what the loader has done since it was made.

        Keys: images, bytes (of files), batches (taken), images_taken (in these), pixels: a dict of stored (in the
        files) and decoded, queue_depth (batches ready now), seconds: a dict of read, decode and augment, summed over
        the workers, and wait, how long the loop waited for a batch (through as_dataset() the loop is a thread of
        TensorFlow's, a batch ahead of the model, see callbacks.InputMonitor); and bad_files: a dict from path to
        reason of the files in the batches so far that were left out, replaced or raised.
        """
        stats: dict[str, Any] = json.loads(call(_native.pybind_Stats, self._handle.number))
        stats["functions"] = _crew.by_name(stats["functions"])
        stats["bad_files"] = {to_text(path): to_text(reason) for path, reason in stats["bad_files"] or ()}
        return stats

    def close(self) -> None:
        """Stop the workers and free what is not in the user's hands; arrays stay valid, iteration raises.

        Processes of ops.Python are gone afterwards; a thread that is in a function is waited for, at most five seconds.
        Closing twice does nothing. A loader that is garbage collected is closed.
        """
        alive.discard(self)
        self._handle.close()
        self._crew.stop()

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
        return _elements.map_arrays(lambda place: place.array(slab), self._element)


alive: weakref.WeakSet[ImageLoader] = weakref.WeakSet()  # those that are not closed
