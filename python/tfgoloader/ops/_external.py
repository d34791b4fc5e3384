"""Operations that are the user's own: a Python function, or a native one."""

from __future__ import annotations

import ctypes
import inspect
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfgoloader import _call, _check
from tfgoloader.ops._op import Op

_FUNCTION = ctypes._CFuncPtr  # type: ignore[attr-defined]  # the type of all functions of ctypes
_MOST_SECONDS = 2_000_000  # that a socket waits; its milliseconds are an int
_NATIVE_VERSION = 1  # TFGOLOADER_NATIVE_VERSION of include/tfgoloader_native.h


class External(Op):
    """What these operations share; their place is in the loader's own list, not within another operation."""

    output_shape: Sequence[int] | None

    def _check_output_shape(self) -> None:
        if self.output_shape is None:
            return
        name, allowed = f"{type(self).__name__}.output_shape", "None, or (height, width), each from 1 to 65535"
        sides = _check.items(name, self.output_shape, allowed, object)
        if len(sides) != 2:
            _check.fail(name, self.output_shape, allowed)
        self._set("output_shape", tuple(_check.integer(name, side, 1, 65_535) for side in sides))

    def _shape(self) -> dict[str, int]:
        height, width = self.output_shape or (0, 0)
        return {"height": height, "width": width}


@dataclass(frozen=True, eq=False)
class Python(External):
    """Calls a Python function for each picture, at its place among the operations, or for each batch.

    The core does what comes before and after it in parallel. The function is given the picture, a uint8 array of shape
    (height, width, channels), float32 after Rescaling or Normalization (which needs dtype="float32" and
    "channels_last", and is the last operation on pictures then). It may change the array in place, and returns it or
    another one of the same dtype and shape. An array that it keeps stays memory, but the next picture is written there.

    Where its signature has them by name it is given more: label (int), mask (uint8, (height, width)), boxes (float64,
    (n, 4), as the loader's box_format has them), box_labels (int64, (n,)), and rng, `numpy.random.default_rng([seed,
    epoch, index, position])` of the loader's seed (each view has its own), the sample's index in the source and the
    operation's place in the list. With all randomness from rng, pixels are the same for threads, processes and any
    number of workers. A function that changes more than the picture returns a dict of what it changed, with the keys
    "image", "label", "mask", "boxes" and "box_labels".

    With batched=True it is called for whole batches, as the loop gets them, after all operations on single pictures,
    before, between or after MixUp and CutMix: with images of shape (n, height, width, channels) or (n, channels,
    height, width) and the loader's dtype; label, int64 (n,) or the rows of OneHot; mask, as in the loader's element;
    boxes, float32 (n, max_boxes, 4), and box_labels, int64 (n, max_boxes), -1 where there is none; and an rng that is
    made of the batch's place in its epoch in place of the index. Batches of an epoch that are not full are shorter. It
    may change all of them in place, also the batch that the loop is handed, and returns arrays of the same shapes. What
    it raises takes the place of the batch, whatever on_error says. There is one view.

    An exception of the function arrives where the batch is awaited, as itself, with the sample's path and index as a
    note (before Python 3.11 as its cause); on_error="skip" and "replace" treat the sample as a bad file.

    Args:
        fn: the function.
        executor: "thread", for functions that give up the GIL while they work, as those of OpenCV, Pillow and NumPy
            do; "process" for others. Processes live as long as the loader, and see the pictures in shared memory. The
            function is sent to them by cloudpickle where that is installed, or else by its module and name; the script
            that makes the loader is not run again. What the function imports, each process imports. A process that
            dies is started again; the sample that it was at is a FunctionError.
        workers: how many pictures, or batches, the function is given at once, at least 1: by as many processes, or in
            as many of the threads in which the loader's workers run then; None for the loader's num_workers.
        batched: whether it is given whole batches.
        timeout: seconds that one call may take, after which its process is ended; for processes alone. None for no
            limit.
        output_shape: (height, width) of what the function returns; None where the size stays, as that of batches does.
            With masks or boxes it has to return these too.
    """

    fn: Callable[..., Any]
    executor: str = "thread"
    workers: int | None = None
    batched: bool = False
    timeout: float | None = None
    output_shape: Sequence[int] | None = None
    _wanted: tuple[str, ...] = field(init=False, repr=False)  # what fn takes by name,
    _required: tuple[str, ...] = field(init=False, repr=False)  # and what of that it cannot do without
    _box_format: str | None = field(init=False, repr=False, default=None)  # in which it takes boxes; None for any

    def __post_init__(self) -> None:
        if not callable(self.fn):
            _check.fail("Python.fn", self.fn, "a function of a picture")
        _check.choice("Python.executor", self.executor, ("thread", "process"))
        if self.workers is not None:
            self._set("workers", _check.integer("Python.workers", self.workers, 1, 1024))
        if self.timeout is not None:
            if self.executor != "process":
                _check.fail("Python.timeout", self.timeout, 'None with executor="thread", since no thread can be ended')
            allowed = f"seconds above 0, at most {_MOST_SECONDS}, or None"
            if not 0 < _check.number("Python.timeout", self.timeout, allowed) <= _MOST_SECONDS:
                _check.fail("Python.timeout", self.timeout, allowed)
        self._check_output_shape()
        if _check.boolean("Python.batched", self.batched) and self.output_shape is not None:
            _check.fail("Python.output_shape", self.output_shape, "None with batched=True")
        self._set("_whole", self.batched)
        wanted, required = _arguments(self.fn)
        self._set("_wanted", wanted)
        self._set("_required", required)

    @property
    def name(self) -> str:
        """The function's name, by which `stats()` and errors call it."""
        function = self.fn
        while not hasattr(function, "__name__") and hasattr(function, "func"):  # functools.partial
            function = function.func
        return str(getattr(function, "__name__", type(function).__name__))

    def _with(self, wanted: tuple[str, ...], box_format: str | None) -> Python:
        """Say of a function that takes anything what it is to be given."""
        self._set("_wanted", wanted)
        self._set("_box_format", box_format)
        return self

    def _spec(self) -> dict[str, Any]:
        about = {"op": "Python", "name": self.name, "workers": self.workers or 0}  # 0 for num_workers
        about["shared"] = self.executor == "process"
        return {**about, **self._shape(), "masks": "mask" in self._wanted, "boxes": "boxes" in self._wanted}


def _arguments(function: Callable[..., Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what a function takes by name, and what of that it cannot do without."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:  # compiled ones may have none
        return (), ()
    kinds = inspect.Parameter
    named = [p for p in parameters if p.kind in (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)]
    if parameters and parameters[0].kind == kinds.POSITIONAL_OR_KEYWORD:
        named = named[1:]
    elif not parameters or parameters[0].kind not in (kinds.POSITIONAL_ONLY, kinds.VAR_POSITIONAL):
        _check.fail("Python.fn", function, "a function whose first argument is the picture")
    required = tuple(p.name for p in named if p.default is kinds.empty)
    if unknown := [name for name in required if name not in _call.NAMES]:
        _check.fail(
            "Python.fn", function, f"arguments named {', '.join(_call.NAMES)} after the picture, not {unknown[0]}"
        )
    return tuple(p.name for p in named if p.name in _call.NAMES), required


@dataclass(frozen=True, eq=False)
class Native(External):
    """Calls a native function for each picture, at its place among the operations, from the core's own threads.

    There is no Python in the call, and no GIL. The function has the signature that include/tfgoloader_native.h (in the
    folder that `tfgoloader.get_include()` returns) declares as tfgoloader_change, or with output_shape as
    tfgoloader_make. It is called with uint8 pixels, or float32 ones after Rescaling or Normalization, as ops.Python is.
    A wrong signature ends the process: nothing can check it. A code other than 0 that it returns makes the sample bad,
    with a FunctionError.

    Args:
        function: its address, as an integer; a ctypes function; an object with an address, such as a numba cfunc; or
            its name in a library.
        library: the shared library's path, where function is a name.
        user_data: what the function is given as such: None; an address; a NumPy array or ctypes object, which the
            loader keeps alive.
        output_shape: (height, width) of what the function makes; None where it changes the picture in place.

    Raises:
        ConfigError: also where the library or the function in it is not found, or the library was compiled with another
            version of the header.
    """

    function: Any
    library: str | os.PathLike[str] | None = None
    user_data: Any = None
    output_shape: Sequence[int] | None = None
    _address: int = field(init=False, repr=False)
    _user_address: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._check_output_shape()
        self._set("_address", self._resolve())
        self._set("_user_address", self._resolve_user_data())

    @property
    def name(self) -> str:
        """The function's name, by which `stats()` and errors call it."""
        if isinstance(self.function, str):
            return self.function
        return str(getattr(self.function, "__name__", None) or f"{self._address:#x}")

    def _resolve(self) -> int:
        function, allowed = (
            self.function,
            "an address, a ctypes function, an object with an address, or a name and a library",
        )
        if isinstance(function, str):
            return self._symbol(function)
        if self.library is not None:
            _check.fail("Native.library", self.library, "None, unless function is a name in it")
        if isinstance(function, _FUNCTION):
            return ctypes.cast(function, ctypes.c_void_p).value or _check.fail("Native.function", function, allowed)
        return _check.integer("Native.function", getattr(function, "address", function), 1, 2**64 - 1)

    def _symbol(self, name: str) -> int:
        if self.library is None:
            _check.fail("Native.library", None, f"the path of the library that has {name}")
        try:
            library = ctypes.CDLL(os.fspath(self.library))
        except OSError as error:
            _check.fail("Native.library", self.library, f"a shared library: {error}")
        try:
            version = ctypes.c_uint32.in_dll(library, "tfgoloader_native_version").value
        except ValueError:  # it does not say
            version = _NATIVE_VERSION
        if version != _NATIVE_VERSION:
            allowed = f"one compiled with version {_NATIVE_VERSION} of tfgoloader_native.h, not {version}"
            _check.fail("Native.library", self.library, allowed)
        try:
            symbol = getattr(library, name)
        except AttributeError:
            _check.fail("Native.function", name, f"a function of {os.fspath(self.library)}")
        return ctypes.cast(symbol, ctypes.c_void_p).value or 0

    def _resolve_user_data(self) -> int:
        data = self.user_data
        if data is None:
            return 0
        if isinstance(data, np.ndarray):
            return data.ctypes.data
        if isinstance(data, (ctypes.Structure, ctypes.Array, ctypes.Union, ctypes._SimpleCData)):
            return ctypes.addressof(data)
        return _check.integer("Native.user_data", data, 0, 2**64 - 1)

    def _spec(self) -> dict[str, Any]:
        return {
            "op": "Native",
            "name": self.name,
            "function": self._address,
            "user_data": self._user_address,
            **self._shape(),
        }
