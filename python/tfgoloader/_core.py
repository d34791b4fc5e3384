"""The one door to the compiled module: errors become exceptions, handles and memory get owners."""

from __future__ import annotations

import ctypes
import json
import os
import weakref
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from tfgoloader import _native
from tfgoloader._call import Header
from tfgoloader._errors import (
    ConfigError,
    DecodeError,
    ForkError,
    FunctionError,
    InternalError,
    OutOfMemoryError,
    SourceError,
    TfGoLoaderError,
    printable,
)

PENDING, ENDED = 0, 1  # what Next gives in place of an address

_T = TypeVar("_T")
_forked = False


def _mark_forked() -> None:
    global _forked
    _forked = True


os.register_at_fork(after_in_child=_mark_forked)


def call(function: Callable[..., _T], *arguments: Any) -> _T:
    """Call a function of the compiled module; its errors are raised as this package's."""
    if _forked:
        raise ForkError(
            "tfgoloader was imported before this process was forked, and Go's threads did not come along: start "
            'processes with multiprocessing.get_context("spawn"), or import tfgoloader in the child only'
        )
    try:
        return function(*arguments)
    except RuntimeError as error:
        failure = _exception(str(error))
    try:
        raise failure
    finally:
        del failure  # its traceback has this frame, and all that the callers' frames have would wait for the collector


def _exception(text: str) -> TfGoLoaderError:
    code, _, about = text.partition(" ")
    try:
        fields = json.loads(about)
    except ValueError:
        return InternalError(text)
    reason = printable(to_text(fields["reason"]))
    if code in ("decode", "source"):
        kind = DecodeError if code == "decode" else SourceError
        return kind(to_text(fields["path"]), reason, fields.get("index"))
    if code == "function":
        error = FunctionError(to_text(fields["path"]), reason, fields.get("index"))
        error._call = fields.get("call", 0)
        return error
    if code == "config":
        return ConfigError(reason)
    if code in ("closed", "bad"):
        return TfGoLoaderError(reason)
    other = OutOfMemoryError if code == "memory" else InternalError
    return other(f"{printable(to_text(fields['path']))}: {reason}" if "path" in fields else reason)


def to_text(latin1: str) -> str:
    """Return the file name whose bytes crossed the boundary as one code point each."""
    return os.fsdecode(latin1.encode("latin-1"))


def from_text(name: str | bytes | os.PathLike[str] | os.PathLike[bytes]) -> str:
    """Return a file name with one code point a byte, as the core takes it: it need not be UTF-8."""
    return os.fsencode(name).decode("latin-1")


def build_info() -> dict[str, str]:
    """Return the versions of the package, Go, gopy and libjpeg-turbo, and the vector instructions in use."""
    info: dict[str, str] = json.loads(call(_native.pybind_BuildInfo))
    return info


def close(handle: int, keep: Any = None) -> None:
    """End what a number stands for, once or again; `keep` has lived as long as it."""
    if not _forked:  # the parent still owns it
        _native.pybind_Close(handle)


class Handle:
    """Owns something in the core, which ends with `close` or garbage collection."""

    def __init__(self, number: int, keep: Any = None) -> None:
        """Take the number, and what has to live as long as that which it stands for."""
        self.number = number
        self._finalizer = weakref.finalize(self, close, number, keep)
        self._finalizer.atexit = False  # what waits is ended by _exit.py, the rest goes with the process

    def close(self) -> None:
        """End it; a second call does nothing."""
        self._finalizer()

    def __reduce__(self) -> NoReturn:
        """Refuse: in another process the number stands for something else, and a copy would end it twice."""
        raise TypeError(
            "sources, loaders and their iterations belong to this process, and cannot be pickled or copied: make new "
            "ones where they are used"
        )


_of_slabs = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_library = ctypes.CDLL(_native.__file__)
_retain, _release = (_of_slabs((name, _library)) for name in ("tgl_slab_retain", "tgl_slab_release"))


class Slab:
    """Owns one reference to a batch's memory; the arrays made of it keep it alive."""

    def __init__(self, address: int) -> None:
        self._finalizer = weakref.finalize(self, _release, address)
        self._finalizer.atexit = False  # the memory goes with the process
        self.header = Header.from_address(address)
        self.__array_interface__ = {
            "version": 3,
            "shape": (self.header.size,),
            "typestr": "|u1",
            "data": (address, False),
        }

    @classmethod
    def shared(cls, address: int) -> Slab:
        """Return an owner of one more reference."""
        _retain(address)
        return cls(address)

    def array(self, offset: int, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return an array over the slab's own memory that starts so many bytes into it."""
        kind = np.dtype(dtype)
        size = kind.itemsize * int(np.prod(shape))
        return np.asarray(self)[offset : offset + size].view(kind).reshape(shape)
