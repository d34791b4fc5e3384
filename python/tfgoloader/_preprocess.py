"""The pixels of a validation loader, for one picture at a time."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tfgoloader import _check, _elements, _native, _spec
from tfgoloader._core import Handle, Slab, call, from_text
from tfgoloader._errors import ConfigError, SourceError
from tfgoloader.ops import (
    AutoContrast,
    CenterCrop,
    Equalization,
    Normalization,
    Op,
    Pad,
    Rescaling,
    ResizeShorter,
    ResizeWithPad,
    Resizing,
    Solarization,
)

_Item = str | bytes | bytearray | memoryview | os.PathLike[str]

_WITHOUT_CHANCE = (CenterCrop, Normalization, Pad, Rescaling, ResizeShorter, ResizeWithPad, Resizing)


class Preprocess:
    """Turns a file, or its content, into exactly the pixels that a validation loader gives of it.

    `Preprocess(validation.spec).save("model.json")` beside the model, and `Preprocess.load("model.json")` where it is
    used. Each call works in the thread that calls, without the GIL, and threads may share an instance. It can be
    pickled, for processes that are not forked.

    Args:
        spec: the `spec` of an ImageLoader, of one view and without operations that draw at random. Keras' layers do
            nothing, or something else, outside of training; here they are refused, so that nothing is guessed: the
            specification to save is that of the validation data.

    Attributes:
        spec: the specification.
        class_names: names of the classes in the order of the model's outputs, or None.

    Raises:
        ConfigError: the specification is wrong, of a newer version of this package, or holds a random operation.
    """

    def __init__(self, spec: Mapping[str, Any]) -> None:
        arguments = _spec.arguments(spec)
        operations = arguments["ops"]
        for place, op in enumerate(operations):
            if not isinstance(op, Op) or _draws(op):
                _check.fail(f"ops[{place}]", op, "an operation that draws nothing at random, as for validation")
        if arguments["views"] != 1:
            _check.fail("views", arguments["views"], "1")
        core = {
            "ops": [op._spec() for op in operations],
            **_spec.pixels(**{name: arguments[name] for name in _spec.PIXELS}),
            **{"views": 1, "batch_size": 1, "num_workers": 1, "prefetch": 0, "on_error": "raise"},
        }
        self.spec = dict(spec)
        self.class_names: list[str] | None = arguments["class_names"]
        self._handle = Handle(call(_native.pybind_OpenPreprocess, json.dumps(core)))
        self._place: _elements.Place = _elements.element(call(_native.pybind_DescribeLoader, self._handle.number))

    @classmethod
    def load(cls, file: str | os.PathLike[str]) -> Preprocess:
        """Return what `save` wrote.

        Raises:
            SourceError: the file cannot be read.
            ConfigError: it holds something else, or what this version of the package does not know.
        """
        try:
            text = Path(file).read_text(encoding="utf-8")
        except OSError as error:
            raise SourceError(os.fspath(file), error.strerror or str(error)) from None
        except UnicodeDecodeError:
            raise ConfigError(f"file={os.fspath(file)!r}: expected JSON") from None
        try:
            spec = json.loads(text)
        except ValueError as error:
            raise ConfigError(f"file={os.fspath(file)!r}: expected JSON: {error}") from None
        return cls(spec)

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the specification to a JSON file."""
        Path(file).write_text(json.dumps(self.spec, indent=2) + "\n", encoding="utf-8")

    def __call__(self, item: _Item | Sequence[_Item]) -> npt.NDArray[Any]:
        """Return the pixels of one picture, or of several as a batch.

        Args:
            item: a path as str or PathLike, a file's content as bytes, or a list of such.

        Returns:
            An array (height, width, channels), or (channels, height, width) with "channels_first", of the
            specification's dtype; of a list of N one of shape (N, ...), N = 0 included.

        Raises:
            DecodeError: a picture that cannot be decoded or does not fit; its path is "<bytes>" where it has none.
            SourceError: a file that cannot be read.
            TfGoLoaderError: it is closed.
        """
        if not isinstance(item, (list, tuple)):
            return self._one("item", item)
        batch = np.empty((len(item), *self._place.shape), self._place.dtype)
        for place, single in enumerate(item):
            batch[place] = self._one(f"item[{place}]", single)
        return batch

    def _one(self, field: str, item: Any) -> npt.NDArray[Any]:
        if isinstance(item, (bytes, bytearray, memoryview)):
            path, content = "", bytes(item)
        elif isinstance(item, (str, os.PathLike)) and os.fspath(item) and "\0" not in from_text(item):
            path, content = from_text(item), b""
        else:
            _check.fail(field, item, "a path, a file's content as bytes, or a list of them")
        address = ctypes.cast(ctypes.c_char_p(content), ctypes.c_void_p).value
        slab = Slab(call(_native.pybind_Preprocess, self._handle.number, path, address, len(content)))
        picture: npt.NDArray[Any] = self._place.array(slab)[0]
        return picture

    def __reduce__(self) -> tuple[Any, ...]:
        """Make it anew from its specification, wherever it is unpickled."""
        return type(self), (self.spec,)

    def close(self) -> None:
        """Free what is not in the user's hands; arrays stay valid, calls raise. Closing twice does nothing."""
        self._handle.close()


def _draws(op: Op) -> bool:
    if isinstance(op, (AutoContrast, Equalization)):
        return op.p < 1
    if isinstance(op, Solarization):
        ranges: Any = (op.addition_factor, op.threshold_factor)
        return op.p < 1 or any(low < high for low, high in ranges)
    return not isinstance(op, _WITHOUT_CHANCE)
