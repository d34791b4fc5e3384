"""The exceptions of the package; every one is a TfGoLoaderError."""

from __future__ import annotations

import contextlib
import sys
from typing import Any


def printable(path: str) -> str:
    """Return a file name with escapes for the bytes that are not UTF-8, which no stream or log would take."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


class TfGoLoaderError(Exception):
    """Base of all errors of this package; itself the use of a closed loader, or more bad files than max_bad."""


class ConfigError(TfGoLoaderError, ValueError):
    """An argument that cannot work, raised at once: names the field, the value and what is allowed."""


class ForkError(TfGoLoaderError):
    """Use in a forked child: Go's threads do not live on after a fork. The parent goes on; use spawn."""


class OutOfMemoryError(TfGoLoaderError, MemoryError):
    """There is no memory for a batch, or for a picture, which the text names then."""


class InternalError(TfGoLoaderError):
    """A defect of this package, met on some input; please report it."""


class _FileError(TfGoLoaderError):
    """What is wrong with one file.

    Attributes:
        path: the file, as the source names it.
        reason: why, in words.
        index: the sample's index in its source, or None where it is no sample.
    """

    def __init__(self, path: str, reason: str, index: int | None = None) -> None:
        super().__init__(f"{printable(path)}: {reason}")
        self.path = path
        self.reason = reason
        self.index = index

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.reason, self.index)


class DecodeError(_FileError):
    """A picture that cannot be decoded or is too small for the operations: has path, reason and index."""


class SourceError(_FileError, OSError):
    """A file or folder that cannot be read, or a list with a wrong line: has path, reason and index."""


class FunctionError(_FileError):
    """What went wrong with a function of the user's on a sample, in place of an exception of its own.

    A process that died or took too long, a code that a native function returned: has path, reason and index.
    """

    _call = 0  # by which the function's own exception is found


def annotate(error: BaseException, note: str, cause: BaseException) -> None:
    """Add a note to an exception; before Python 3.11, which has none, what says the same as its first cause."""
    with contextlib.suppress(Exception):  # a class of the user's, such as a frozen dataclass, may take none
        if sys.version_info >= (3, 11):
            error.add_note(note)
            return
        first, seen = error, [error]
        while first.__cause__ is not None and first.__cause__ not in seen:  # it may be its own cause
            first = first.__cause__
            seen.append(first)
        first.__cause__ = cause
