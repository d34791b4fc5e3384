"""Where samples come from. A source lists its samples once, when it is made, and never again."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tfgoloader import _check, _native, _progress
from tfgoloader._core import Handle, call, from_text, to_text

__all__ = ["Directory", "ListFile", "Paths", "Source"]

_PathLike = str | bytes | os.PathLike[str] | os.PathLike[bytes]


def _path(field: str, value: Any) -> str:
    if not isinstance(value, (str, bytes, os.PathLike)):
        _check.fail(field, value, "a path")
    path = from_text(value)
    if not path or "\0" in path:
        _check.fail(field, value, "a path, which is not empty and holds no zero byte")
    return path


def _paths(field: str, values: Any, allowed: str) -> list[str]:
    found = _check.items(field, values, allowed, (str, bytes, os.PathLike))
    return [_path(f"{field}[{place}]", value) for place, value in enumerate(found)]


class Source:
    """Base of the sources: a list of paths, perhaps with labels, that does not change.

    Attributes:
        class_names: names of the classes in the order of their labels, or None.
        has_labels, has_masks, has_boxes: whether the samples have them.
    """

    def __init__(self, spec: dict[str, Any]) -> None:
        with _progress.shown("Listing pictures", lambda: call(_native.pybind_ListedSamples)):
            self._handle = Handle(call(_native.pybind_OpenSource, json.dumps(spec)))
        about = json.loads(call(_native.pybind_DescribeSource, self._handle.number))
        self._count: int = about["count"]
        self.has_labels: bool = about["has_labels"]
        self.has_masks: bool = about["has_masks"]
        self.has_boxes: bool = about["has_boxes"]
        self.class_names: list[str] | None = [to_text(name) for name in about["class_names"]] or None
        self._known_digests: dict[str, str] | None = None
        self._targets = {f"source {name}": _digest(spec[name]) for name in ("masks", "boxes") if spec.get(name)}
        for name in about["empty_classes"]:
            warnings.warn(f"class {to_text(name)!r} has no pictures; its label stays free", stacklevel=3)

    def __len__(self) -> int:
        return self._count

    @property
    def file_paths(self) -> list[str]:
        """The path of every sample, in order."""
        return [to_text(path) for path in self._all("paths")]

    @property
    def labels(self) -> npt.NDArray[np.int64] | None:
        """The label of every sample, in order, shape (samples,); None where there are none."""
        return np.array(self._all("labels"), np.int64) if self.has_labels else None

    def _digests(self) -> dict[str, str]:
        """Return digests of the paths, and of the labels, masks and boxes where there are some."""
        if self._known_digests is None:
            digests = {"source paths": _digest(self._all("paths")), **self._targets}
            if self.has_labels:
                digests["source labels"] = _digest(self._all("labels"))
            self._known_digests = digests  # whole, for other threads
        return self._known_digests

    def _all(self, field: str) -> list[Any]:
        items = json.loads(call(_native.pybind_ListSource, self._handle.number, 0, self._count))[field]
        return items or []


def _digest(values: Any) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


class Directory(Source):
    """Samples are the pictures below a folder; each of its sub-folders is a class, as Keras has it.

    Classes are in code-point order of their names, the pictures of a class in order of folder, then name. Names that
    start with a dot are left out, and so are files beside the class folders. Links are followed, each real folder
    once. The extension decides what is a picture (jpg, jpeg, png, gif, bmp, webp, tif, tiff, in any case), the
    content how it is decoded. A class without pictures keeps its label, with a warning.

    Args:
        path: the folder.
        class_names: the sub-folders in the order of their labels, in place of code-point order.

    Raises:
        SourceError: the folder cannot be read, holds no picture, or class_names differ from its sub-folders.
    """

    def __init__(self, path: _PathLike, class_names: Sequence[str] | None = None) -> None:
        names = None
        if class_names is not None:
            names = [
                from_text(n) for n in _check.items("class_names", class_names, "None or a list of names", (str, bytes))
            ]
        super().__init__({"kind": "directory", "path": _path("path", path), "class_names": names})


class ListFile(Source):
    """Samples are the lines "path label" of a text file, in order, repeated ones too.

    UTF-8 with or without a byte-order mark, lines end in LF or CRLF, blank lines are left out. The label is the
    last field, an integer that is kept as it is; the path is all before it and may hold spaces.

    Args:
        path: the text file.
        root: folder of relative paths; None is the current directory.
        delimiter: what stands between path and label; None is any white space.

    Raises:
        SourceError: the file cannot be read or holds no sample, or a line is wrong: its number and text are named.
    """

    def __init__(self, path: _PathLike, root: _PathLike | None = None, delimiter: str | None = None) -> None:
        if delimiter is not None and (not isinstance(delimiter, str) or not delimiter or "\n" in delimiter):
            _check.fail("delimiter", delimiter, "None or a text without line ends")
        super().__init__(
            {
                "kind": "list",
                "path": _path("path", path),
                "root": "" if root is None or root == "" else _path("root", root),
                "delimiter": from_text(delimiter or ""),
            }
        )


class Paths(Source):
    """Samples are given as paths, perhaps with a label, a mask and boxes each.

    A mask is a PNG, GIF or BMP file of the picture's size, gray or with a palette, of at most 8 bits; the numbers that
    it holds, a palette's indices or the gray values as they are stored, are class indices. A loader turns and crops
    it as its picture, and hands out the nearest pixel's index, never one in between.

    Args:
        paths: the files, in order; the current directory is that of when they are read.
        labels: as many integers, kept as they are; None for pictures without labels.
        masks: as many paths of masks; None for pictures without masks.
        boxes: as many arrays of boxes, each of shape (number, 4), in the format that the loader is told; the number
            differs from picture to picture and may be 0. None for pictures without boxes. They lie in the upright
            picture, or in the one that is stored where the loader is told exif=False.
        box_labels: as many arrays of integers, each of shape (number,): one for each box. None makes them all 0.

    Raises:
        ConfigError: there are no paths; not as many labels, masks or boxes as paths, or labels as boxes; a label is not
            an integer, or a box not four numbers.
    """

    def __init__(
        self,
        paths: Sequence[_PathLike],
        labels: Sequence[int] | npt.ArrayLike | None = None,
        masks: Sequence[_PathLike] | None = None,
        boxes: Sequence[npt.ArrayLike] | None = None,
        box_labels: Sequence[npt.ArrayLike] | None = None,
    ) -> None:
        found = _paths("paths", paths, "a list of at least one path")
        if not found:
            _check.fail("paths", paths, "a list of at least one path")
        numbers: list[int] | None = None
        if labels is not None:
            given: Any = labels
            try:
                array = np.asarray(given if hasattr(given, "__array__") else list(given))
            except (ValueError, TypeError):
                _check.fail("labels", labels, "a list of integers")
            if array.ndim != 1 or len(array) != len(found):
                _check.fail("labels", f"shape {array.shape}", f"one label for each of the {len(found)} paths")
            if array.dtype.kind not in "iu" or (array.dtype.kind == "u" and array.max() > np.iinfo(np.int64).max):
                _check.fail("labels", f"dtype {array.dtype}", "integers that int64 holds")
            numbers = array.tolist()
        if box_labels is not None and boxes is None:
            _check.fail("box_labels", "a list", "None without boxes")
        super().__init__(
            {
                "kind": "paths",
                "paths": found,
                "labels": numbers,
                "masks": None if masks is None else _masks(masks, len(found)),
                "boxes": None if boxes is None else _boxes(boxes, box_labels, len(found)),
            }
        )


def _boxes(boxes: Sequence[npt.ArrayLike], labels: Sequence[npt.ArrayLike] | None, count: int) -> dict[str, str]:
    """Return what the core takes: how many boxes each picture has, then those of all, packed."""
    found = [_box_array(f"boxes[{i}]", item, (4,)) for i, item in enumerate(_one_each("boxes", boxes, count))]
    numbers = [len(array) for array in found]
    if labels is None:
        classes = [np.zeros(number, np.int64) for number in numbers]
    else:
        arrays = _one_each("box_labels", labels, count)
        classes = [_box_array(f"box_labels[{i}]", item, ()) for i, item in enumerate(arrays)]
    for i, (array, number) in enumerate(zip(classes, numbers, strict=True)):
        if len(array) != number:
            _check.fail(f"box_labels[{i}]", f"shape {array.shape}", f"one label for each of the {number} boxes")
        if array.size and not np.can_cast(array.dtype, np.int64):
            _check.fail(f"box_labels[{i}]", f"dtype {array.dtype}", "integers that int64 holds")
    return {
        "counts": _packed(numbers, "<i8"),
        "coordinates": _packed(np.concatenate(found), "<f8"),
        "labels": _packed(np.concatenate(classes), "<i8"),
    }


def _one_each(field: str, items: Any, count: int) -> tuple[Any, ...]:
    found = _check.items(field, items, "None or a list of arrays", object)
    if len(found) != count:
        _check.fail(field, f"{len(found)} arrays", f"one array for each of the {count} paths")
    return found


def _box_array(field: str, item: Any, row: tuple[int, ...]) -> npt.NDArray[Any]:
    """Return an array of rows, perhaps of none."""
    allowed = f"numbers of shape {('number', *row)}".replace("'", "")
    try:
        array = np.asarray(item)
    except ValueError:
        _check.fail(field, item, allowed)
    if array.size == 0:
        return np.zeros((0, *row), np.int64)
    if array.ndim != 1 + len(row) or array.shape[1:] != row or array.dtype.kind not in "iuf":
        _check.fail(field, f"shape {array.shape}, dtype {array.dtype}", allowed)
    return array


def _packed(values: npt.ArrayLike, dtype: str) -> str:
    return base64.b64encode(np.asarray(values, dtype).tobytes()).decode()


def _masks(masks: Sequence[_PathLike], count: int) -> list[str]:
    found = _paths("masks", masks, "None or a list of paths")
    if len(found) != count:
        _check.fail("masks", f"{len(found)} paths", f"one mask for each of the {count} paths")
    return found
