"""image_dataset_from_directory: a folder as a tf.data.Dataset, as Keras' function of that name gives it."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tfgoloader import _check, ops, sources
from tfgoloader._elements import ArraySpec
from tfgoloader._loader import ImageLoader

if TYPE_CHECKING:
    import tensorflow as tf

_EXTENSIONS = (".bmp", ".gif", ".jpeg", ".jpg", ".png")
_CHANNELS = {"grayscale": 1, "rgb": 3, "rgba": 4}
_INTERPOLATIONS = ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")
_UNBATCHED = 32  # pictures that are prepared together where the user wants them one by one
_Resizing = ops.Resizing | ops.ResizeWithPad


def image_dataset_from_directory(
    directory: str | os.PathLike[str],
    labels: str | Sequence[Any] | None = "inferred",
    label_mode: str | None = "int",
    class_names: Sequence[str] | None = None,
    color_mode: str = "rgb",
    batch_size: int | None = 32,
    image_size: int | Sequence[int] = (256, 256),
    shuffle: bool = True,
    seed: int | None = None,
    validation_split: float | None = None,
    subset: str | None = None,
    interpolation: str = "bilinear",
    follow_links: bool = False,
    crop_to_aspect_ratio: bool = False,
    pad_to_aspect_ratio: bool = False,
    data_format: str | None = None,
    format: str = "tf",
    verbose: bool = True,
    *,
    dct_method: str = "fast",
    num_workers: int | None = None,
) -> tf.data.Dataset | list[tf.data.Dataset]:
    """Return a tf.data.Dataset over the pictures of a folder, in place of keras.utils.image_dataset_from_directory.

    Arguments, defaults, files, their order, labels, splits, shapes, dtypes and pixels are those of Keras 3.15. So the
    EXIF orientation is not applied, and an alpha channel is dropped, not laid over a background. With shuffle, a seed
    gives Keras' files in each subset, in the order of Keras' `file_paths`; the order in which they come, anew each
    epoch, is our own: a shuffle of all files and not of a buffer.

    Args:
        directory: the folder; with labels="inferred" each of its sub-folders is a class.
        labels: "inferred" from the sub-folders; a list or tuple of one integer a file, in the order of the sorted
            paths; or None for pictures without labels.
        label_mode: "int" for labels of int32, shape (batch,); "categorical" for one-hot rows of float32, shape (batch,
            classes); "binary" for 0.0 and 1.0, shape (batch, 1); None for pictures without labels.
        class_names: the sub-folders to use, in the order of their labels, in place of all in code-point order.
        color_mode: "grayscale", "rgb" or "rgba", for 1, 3 or 4 channels.
        batch_size: pictures in a batch, of which the last may be smaller; None for single pictures.
        image_size: (height, width) in pixels that every picture is resized to, or one number for both.
        shuffle: whether the order is a random one, anew each epoch; False for that of the sorted paths. What
            subset="both" gives for validation keeps one order.
        seed: from 0 to 2**32 - 1, which makes shuffling repeatable; None draws one by NumPy's global generator, which
            keras.utils.set_random_seed seeds.
        validation_split: the share of the files, above 0 and below 1, that is set apart for validation: the last ones,
            after they are shuffled.
        subset: "training", "validation", or "both" for a list of the two; goes with validation_split.
        interpolation: "bilinear", "nearest" (pixels of uint8, all others give float32), "bicubic", "area", "lanczos3",
            "lanczos5", "gaussian" or "mitchellcubic", as tf.image.resize has them, without antialiasing.
        follow_links: whether links to folders are followed below the class folders.
        crop_to_aspect_ratio: whether the largest part in the middle that has image_size's aspect ratio is resized, in
            place of the whole picture.
        pad_to_aspect_ratio: whether black borders keep the picture's aspect ratio.
        data_format: "channels_last" or "channels_first"; None for keras.config.image_data_format().
        format: "tf"; Keras' "grain" is not there.
        verbose: whether the number of files is printed.
        dct_method: how JPEG is decoded: "fast" gives Keras' pixels, since tf.io.decode_image, which Keras calls, has
            libjpeg's fast, less exact DCT and no choice; "accurate" is that of tfgoloader.ImageLoader and Pillow, and
            differs by a few levels.
        num_workers: threads that decode; None for the processors that this process may use.

    Returns:
        A data set of (images, labels), or of images: levels from 0 to 255, shape (batch, height, width, channels). It
        has the attributes class_names, a list or None, and file_paths, a list in the order before shuffling anew.
        TensorFlow's autotuning is off in it, see ImageLoader.as_dataset; errors of files reach the caller as there.

    Raises:
        ConfigError: an argument is wrong, or no picture is found: a ValueError, as with Keras.
        OSError: with labels="inferred", the folder cannot be read.
    """
    if label_mode not in ("int", "categorical", "binary", None):
        _check.fail("label_mode", label_mode, "'int', 'categorical', 'binary' or None")
    inferred = isinstance(labels, str) and labels == "inferred"
    if not (inferred or labels is None or isinstance(labels, (list, tuple))):
        _check.fail("labels", labels, "'inferred', None, or a list or tuple of one integer a file")
    if labels is None or label_mode is None:
        labels, label_mode, inferred = None, None, False
    if class_names is not None and not inferred:
        _check.fail("class_names", class_names, 'None unless labels="inferred"')
    channels = _CHANNELS[_check.choice("color_mode", color_mode, tuple(_CHANNELS))]
    if batch_size is not None:
        batch_size = _check.integer("batch_size", batch_size, 1, 2**31 - 1)
    if seed is not None:
        seed = _check.integer("seed", seed, 0, 2**32 - 1)
    _check_split(validation_split, subset, shuffle, seed)
    resizing = _resizing(image_size, interpolation, crop_to_aspect_ratio, pad_to_aspect_ratio)
    _check.choice("format", format, ("tf",))
    options = {
        "channels": channels,
        "data_format": _data_format() if data_format is None else data_format,
        "dtype": "uint8" if resizing.interpolation == "nearest" else "float32",
        "exif": False,
        "dct_method": dct_method,
        "num_workers": num_workers,
    }

    folder = os.fsdecode(directory)
    pictures = _list_classes(folder, class_names, follow_links) if inferred else _list_all(folder, labels, follow_links)
    if label_mode == "binary" and len(pictures.class_names or ()) != 2:
        _check.fail("label_mode", label_mode, f"'int' or 'categorical' for the classes {pictures.class_names}")
    if label_mode == "categorical" and pictures.labels is not None and pictures.labels.dtype.kind not in "iu":
        _check.fail("labels", labels, 'integers with label_mode="categorical"')
    if verbose:
        belonging = "" if pictures.class_names is None else f" belonging to {len(pictures.class_names)} classes"
        print(f"Found {len(pictures.paths)} files{belonging}.")

    if seed is None:
        seed = int(np.random.randint(1_000_000))  # noqa: NPY002 - Keras' generator and draw
    order = np.arange(len(pictures.paths))
    if shuffle:
        np.random.RandomState(seed).shuffle(order)  # as Keras does, for the same files in each subset
    names = ("training", "validation") if subset == "both" else (subset,)
    parts = {name: _part(order, validation_split, name) for name in names}
    for name, part in parts.items():
        if verbose and name:
            print(f"Using {len(part)} files for {name}.")
        if not len(part):
            for_what = f", enough for {name}" if name else ""
            _check.fail("directory", directory, f"a folder with pictures{for_what} ({', '.join(_EXTENSIONS)})")
    datasets = [
        _make_dataset(
            pictures.select(part),
            resizing,
            label_mode,
            batch_size,
            shuffle=bool(shuffle) and (subset, name) != ("both", "validation"),
            seed=seed,
            **options,
        )
        for name, part in parts.items()
    ]
    return datasets if subset == "both" else datasets[0]


@dataclass(frozen=True)
class _Pictures:
    """Files, a label each or None, and the names of the classes or None."""

    paths: list[str]
    labels: npt.NDArray[Any] | None
    class_names: Sequence[str] | None

    def select(self, order: npt.NDArray[np.intp]) -> _Pictures:
        labels = None if self.labels is None else self.labels[order]
        return _Pictures([self.paths[i] for i in order], labels, self.class_names)


def _list_all(directory: str, labels: Any, follow_links: bool) -> _Pictures:
    """Return the pictures below a folder with the given labels, or without any."""
    paths = [os.path.join(directory, path) for path in _walk(directory, follow_links)]
    if labels is None:
        return _Pictures(paths, None, None)
    if len(labels) != len(paths):
        _check.fail("labels", f"{len(labels)} labels", f"one for each of the {len(paths)} files of {directory!r}")
    import tensorflow as tf

    values = tf.convert_to_tensor(labels).numpy()  # in the dtype that TensorFlow chooses for them
    return _Pictures(paths, values, [str(label) for label in sorted(set(labels))])


def _list_classes(directory: str, class_names: Sequence[str] | None, follow_links: bool) -> _Pictures:
    """Return the pictures of all classes, class by class; hidden ones, too, but no hidden classes."""
    folders = [name for name in sorted(os.listdir(directory)) if not name.startswith(".")]
    folders = [name for name in folders if os.path.isdir(os.path.join(directory, name))]
    if class_names is None:
        class_names = folders
    elif not set(_check.items("class_names", class_names, "None or a list of names", str)) <= set(folders):
        _check.fail("class_names", class_names, f"names from {folders}, the sub-folders of {directory!r}")
    label_of = {name: label for label, name in enumerate(class_names)}
    paths, numbers = [], []
    for name in class_names:
        top = os.path.join(directory, name)
        found = [os.path.join(top, path) for path in _walk(top, follow_links)]
        paths += found
        numbers += [label_of[name]] * len(found)
    return _Pictures(paths, np.array(numbers, np.int32), class_names)


def _walk(top: str, follow_links: bool) -> Iterator[str]:
    """Give the pictures below a folder, as paths that start there."""
    for folder, _, names in sorted(os.walk(top, followlinks=follow_links), key=operator.itemgetter(0)):
        inner = os.path.relpath(folder, top)
        for name in sorted(names):
            if name.lower().endswith(_EXTENSIONS):
                yield name if inner == os.curdir else os.path.join(inner, name)


def _check_split(validation_split: float | None, subset: str | None, shuffle: bool, seed: int | None) -> None:
    if subset not in (None, "training", "validation", "both"):
        _check.fail("subset", subset, "'training', 'validation', 'both' or None")
    if not validation_split:
        if subset is not None:
            _check.fail("validation_split", validation_split, f"a number above 0 and below 1 with subset={subset!r}")
        return
    if not 0 < _check.number("validation_split", validation_split, "a number above 0 and below 1") < 1:
        _check.fail("validation_split", validation_split, "a number above 0 and below 1")
    if subset is None:
        _check.fail("subset", subset, "'training', 'validation' or 'both' with validation_split")
    if shuffle and seed is None:
        _check.fail("seed", seed, "an integer where shuffled files are split, since the subsets would overlap without")


def _part(order: npt.NDArray[np.intp], validation_split: float | None, name: str | None) -> npt.NDArray[np.intp]:
    """Return what belongs to a subset."""
    if name is None or validation_split is None:
        return order
    held = int(validation_split * len(order))
    # Where the share makes less than one file, Keras takes all for validation and none for training.
    return order[:-held] if name == "training" else order[-held:]


def _resizing(image_size: Any, interpolation: Any, crop: bool, pad: bool) -> _Resizing:
    allowed = "(height, width) as two integers from 1 to 65535, or one for both"
    sides = _check.items("image_size", (image_size,) * 2 if np.isscalar(image_size) else image_size, allowed, object)
    if len(sides) != 2:
        _check.fail("image_size", image_size, allowed)
    height, width = (_check.integer("image_size", side, 1, 65_535) for side in sides)
    if isinstance(interpolation, str):
        interpolation = interpolation.lower()
    _check.choice("interpolation", interpolation, _INTERPOLATIONS)
    if crop and pad:
        _check.fail("pad_to_aspect_ratio", pad, "False with crop_to_aspect_ratio=True")
    if pad:
        return ops.ResizeWithPad(height, width, interpolation)
    return ops.Resizing(height, width, interpolation, crop_to_aspect_ratio=bool(crop))


def _data_format() -> str:
    import keras

    return str(keras.config.image_data_format())


def _make_dataset(
    pictures: _Pictures, resizing: _Resizing, label_mode: str | None, batch_size: int | None, **options: Any
) -> tf.data.Dataset:
    import tensorflow as tf

    from tfgoloader import _dataset

    count = len(pictures.paths)
    places = None if label_mode is None else np.arange(count)
    source = sources.Paths(pictures.paths, places)
    loader = ImageLoader(source, [resizing], batch_size=batch_size or _UNBATCHED, **options)
    dataset = _dataset.from_batches(_Batches(loader, pictures, label_mode), len(loader))
    if batch_size is None:
        dataset = dataset.unbatch().apply(tf.data.experimental.assert_cardinality(count)).prefetch(1)
    dataset.class_names = pictures.class_names
    dataset.file_paths = pictures.paths
    return dataset


class _Batches:
    """A loader's batches, whose labels are places in the list of pictures, with the labels that stand there."""

    def __init__(self, loader: ImageLoader, pictures: _Pictures, label_mode: str | None) -> None:
        self._loader = loader
        self._labels = pictures.labels
        self._classes: npt.NDArray[np.intp] | None = None
        if label_mode == "binary" and pictures.labels is not None:
            self._labels = pictures.labels.astype(np.float32)[:, np.newaxis]
        if label_mode == "categorical":
            self._classes = np.arange(len(pictures.class_names or ()))

    @property
    def element_spec(self) -> ArraySpec | tuple[ArraySpec, ArraySpec]:
        """Shapes and dtypes, without the batch's size, which Keras' function leaves open."""
        spec = self._loader.element_spec
        images, *_ = spec if isinstance(spec, tuple) else (spec,)
        images = ArraySpec((None, *images.shape[1:]), images.dtype)
        if self._labels is None:
            return images
        labels = self._take(np.arange(0))
        return images, ArraySpec((None, *labels.shape[1:]), labels.dtype)

    def __iter__(self) -> Iterator[Any]:
        if self._labels is None:
            return iter(self._loader)
        return map(self._relabel, self._loader)

    def _relabel(self, batch: tuple[npt.NDArray[Any], npt.NDArray[np.int64]]) -> tuple[npt.NDArray[Any], ...]:
        images, places = batch
        return images, self._take(places)

    def _take(self, places: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        assert self._labels is not None
        labels: npt.NDArray[Any] = self._labels[places]
        if self._classes is None:
            return labels
        one_hot: npt.NDArray[np.bool_] = labels[:, np.newaxis] == self._classes  # as tf.one_hot, of any label
        return one_hot.astype(np.float32)
