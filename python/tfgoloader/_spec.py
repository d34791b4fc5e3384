"""What decides the pixels, as a plain dict that JSON takes, and back."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from tfgoloader import _check, _elements, ops
from tfgoloader._errors import ConfigError
from tfgoloader.ops import BatchOp, OneHot, Op
from tfgoloader.ops._external import External

_OPS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (getattr(ops, name) for name in ops.__all__)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind) and not issubclass(kind, External)
}

_DTYPES = ("float32", "float16", "bfloat16", "uint8", "uint16")
PIXELS = ("dtype", "data_format", "channels", "background", "exif", "dct_method", "truncated", "max_pixels")
_BOXES = ("box_format", "max_boxes", "min_visible")
_FIELDS = ("tfgoloader", "ops", "labels", "class_names", "views", *PIXELS, *_BOXES)


def op_to_dict(op: Op | BatchOp | OneHot) -> dict[str, Any]:
    """Return an operation's name, as op, and its arguments."""
    name = type(op).__name__
    if _OPS.get(name) is not type(op):
        raise ConfigError(f"ops: {op!r} cannot be written down: a function of one's own is no part of a specification")
    return {"op": name, **{field.name: _plain(getattr(op, field.name)) for field in dataclasses.fields(_OPS[name])}}


def _plain(value: Any) -> Any:
    if isinstance(value, (Op, BatchOp)):
        return op_to_dict(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def op_from_dict(field: str, about: Any) -> Any:
    """Return the operation that `op_to_dict` told of; the field is where it stands, for errors."""
    if not isinstance(about, Mapping) or not isinstance(about.get("op"), str):
        _check.fail(field, about, "a dict with an operation's name as op")
    arguments = {name: value for name, value in about.items() if name != "op"}
    kind = _OPS.get(about["op"])
    if kind is None:
        _check.fail(field, about["op"], f"an operation that tfgoloader {version('tfgoloader')} has")
    known = dataclasses.fields(kind)
    unknown = arguments.keys() - {argument.name for argument in known}
    required = {item.name for item in known if item.default is item.default_factory is dataclasses.MISSING}
    if unknown or required - arguments.keys():
        what = f"unknown: {sorted(unknown)}" if unknown else f"missing: {sorted(required - arguments.keys())}"
        raise ConfigError(f"{field}={about['op']!r}: expected its arguments; {what}")
    return kind(**{name: _revived(f"{field}.{name}", value) for name, value in arguments.items()})


def _revived(field: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return op_from_dict(field, value)
    if isinstance(value, list):
        return tuple(_revived(f"{field}[{place}]", item) for place, item in enumerate(value))
    return value


def describe(
    operations: Sequence[Op | BatchOp],
    labels: OneHot | None,
    class_names: Sequence[str] | None,
    core: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the specification of a loader, given what its core was given."""
    boxes = core["boxes"]
    of_boxes = (boxes["format"], boxes["most"] or None, boxes["min_visible"]) if boxes else ("xyxy", None, 0.0)
    return {
        "tfgoloader": version("tfgoloader"),
        "ops": [op_to_dict(op) for op in operations],
        "labels": labels and op_to_dict(labels),
        "class_names": class_names and list(class_names),
        "views": core["views"],
        **{name: core[name] for name in PIXELS},
        **dict(zip(_BOXES, of_boxes, strict=True)),
    }


def arguments(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the specification with operations and labels in it, as ImageLoader takes them.

    Raises:
        ConfigError: it is none, of a newer version, or holds names that are not known here.
    """
    if not isinstance(spec, Mapping) or not isinstance(spec.get("tfgoloader"), str):
        _check.fail("spec", spec, "what the spec of a loader is")
    here = version("tfgoloader")
    if _release(spec["tfgoloader"]) > _release(here):
        _check.fail("spec['tfgoloader']", spec["tfgoloader"], f"at most {here}, the version that is installed")
    unknown, missing = spec.keys() - set(_FIELDS), set(_FIELDS) - spec.keys()
    if unknown or missing:
        raise ConfigError(f"spec: unknown fields {sorted(unknown)}, missing ones {sorted(missing)}")
    if not isinstance(spec["ops"], Sequence) or isinstance(spec["ops"], str):
        _check.fail("spec['ops']", spec["ops"], "a list")
    found = {name: spec[name] for name in _FIELDS}
    found["ops"] = [op_from_dict(f"ops[{place}]", about) for place, about in enumerate(spec["ops"])]
    found["labels"] = None if spec["labels"] is None else op_from_dict("labels", spec["labels"])
    del found["tfgoloader"]
    return found


def _release(text: str) -> tuple[int, ...]:
    match = re.match(r"\d+(\.\d+)*", text)
    return tuple(map(int, match[0].split("."))) if match else ()


def pixels(
    *,
    dtype: Any,
    data_format: str,
    channels: int,
    background: Sequence[int] | None,
    exif: bool,
    dct_method: str,
    truncated: str,
    max_pixels: int,
) -> dict[str, Any]:
    """Return these arguments, which are ImageLoader's, checked and as the core takes them."""
    channels = _check.integer("channels", channels, 1, 4)
    if channels == 2:
        _check.fail("channels", channels, "1, 3 or 4")
    return {
        "dtype": _elements.numpy_dtype(_check.choice("dtype", _dtype_name(dtype), _DTYPES)).name,
        "data_format": _check.choice("data_format", data_format, ("channels_last", "channels_first")),
        "channels": channels,
        "background": _background(background, channels),
        "exif": _check.boolean("exif", exif),
        "dct_method": _check.choice("dct_method", dct_method, ("accurate", "fast")),
        "truncated": _check.choice("truncated", truncated, ("raise", "accept")),
        "max_pixels": _check.integer("max_pixels", max_pixels, 1),
    }


def _dtype_name(dtype: Any) -> str:
    if isinstance(dtype, str) and dtype == "bfloat16":  # which NumPy need not know
        return dtype
    try:
        kind = np.dtype(dtype)
    except TypeError:
        return repr(dtype)
    return str(kind.name) if kind.isnative else repr(dtype)


def _background(colour: Sequence[int] | None, channels: int) -> list[int] | None:
    if colour is None:
        return None
    if channels == 4:
        _check.fail("background", colour, "None with channels=4, which keeps the alpha channel")
    allowed = "None or three integers from 0 to 255"
    values = _check.items("background", colour, allowed, object)
    if len(values) != 3:
        _check.fail("background", colour, allowed)
    return [_check.integer("background", value, 0, 255) for value in values]
