"""Where samples come from. A source lists its samples once, when it is made, and never again."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tfgoloader import _check, _native
from tfgoloader._core import Handle, call, from_text, to_text

__all__ = ["Directory", "ListFile", "Paths", "Source"]

_PathLike = str | bytes | os.PathLike[str] | os.PathLike[bytes]


def _path(field: str, value: Any) -> str:
    if not isinstance(value, (str, bytes, os.PathLike)):
        _check.fail(field, value, "a path")
    return from_text(value)


class Source:
    """Base of the sources: a list of paths, perhaps with labels, that does not change.

    Attributes:
        class_names: names of the classes in the order of their labels, or None.
        has_labels: whether the samples have labels.
    """

    def __init__(self, spec: dict[str, Any]) -> None:
        self._handle = Handle(call(_native.pybind_OpenSource, json.dumps(spec)))
        about = json.loads(call(_native.pybind_DescribeSource, self._handle.number))
        self._count: int = about["count"]
        self.has_labels: bool = about["has_labels"]
        self.class_names: list[str] | None = [to_text(name) for name in about["class_names"]] or None
        self._known_digests: tuple[str, str | None] | None = None
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

    def _digests(self) -> tuple[str, str | None]:
        """Return a digest of the paths, and one of the labels where there are some."""
        if self._known_digests is None:
            paths = hashlib.sha256()
            for path in self._all("paths"):
                paths.update(path.encode("latin-1") + b"\0")
            labels = self.labels
            self._known_digests = (
                paths.hexdigest(),
                None if labels is None else hashlib.sha256(labels.astype("<i8").tobytes()).hexdigest(),
            )
        return self._known_digests

    def _all(self, field: str) -> list[Any]:
        items = json.loads(call(_native.pybind_ListSource, self._handle.number, 0, self._count))[field]
        return items or []


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
                "root": "" if root is None else _path("root", root),
                "delimiter": from_text(delimiter or ""),
            }
        )


class Paths(Source):
    """Samples are given as paths, perhaps with a label each.

    Args:
        paths: the files, in order.
        labels: as many integers, kept as they are; None for pictures without labels.

    Raises:
        ConfigError: there are no paths, or not as many labels as paths, or a label is not an integer.
    """

    def __init__(self, paths: Sequence[_PathLike], labels: Sequence[int] | npt.ArrayLike | None = None) -> None:
        found = _check.items("paths", paths, "a list of at least one path", (str, bytes, os.PathLike))
        if not found:
            _check.fail("paths", paths, "a list of at least one path")
        numbers: list[int] | None = None
        if labels is not None:
            try:
                array = np.asarray(labels)
            except ValueError:
                _check.fail("labels", labels, "a list of integers")
            if array.ndim != 1 or len(array) != len(found):
                _check.fail("labels", f"shape {array.shape}", f"one label for each of the {len(found)} paths")
            if array.dtype.kind not in "iu" or (array.dtype.kind == "u" and array.max() > np.iinfo(np.int64).max):
                _check.fail("labels", f"dtype {array.dtype}", "integers that int64 holds")
            numbers = array.tolist()
        super().__init__({"kind": "paths", "paths": [from_text(path) for path in found], "labels": numbers})
