"""What happens to a picture, and to its label. Names and arguments are those of the Keras layers.

Operations are values: they draw nothing themselves. The core draws for each sample from (seed, epoch, index),
before it decodes the picture.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tfgoloader import _check

__all__ = ["CenterCrop", "Normalization", "OneHot", "Op", "RandomCrop", "RandomFlip", "Rescaling"]

_EPSILON = 1e-7  # keras.config.epsilon(), the least deviation that Normalization divides by


class Op:
    """Base of the operations on pictures."""

    def _spec(self) -> dict[str, Any]:
        return {"op": type(self).__name__, **vars(self)}


@dataclass(frozen=True)
class RandomCrop(Op):
    """Cuts a window out of each picture, every place being equally likely (keras.layers.RandomCrop).

    Only the window is decoded. A picture smaller than the window is a DecodeError that names both sizes.

    Args:
        height, width: size of the window in pixels, at least 1.
    """

    height: int
    width: int

    def __post_init__(self) -> None:
        _check_window(self)


@dataclass(frozen=True)
class CenterCrop(Op):
    """Cuts the middle out of each picture (keras.layers.CenterCrop on pictures that are large enough).

    The first row is (picture height - height) // 2, columns alike. Only the window is decoded. A picture smaller
    than the window is a DecodeError that names both sizes.

    Args:
        height, width: size of the window in pixels, at least 1.
    """

    height: int
    width: int

    def __post_init__(self) -> None:
        _check_window(self)


def _check_window(crop: RandomCrop | CenterCrop) -> None:
    for field in ("height", "width"):
        value = _check.integer(f"{type(crop).__name__}.{field}", getattr(crop, field), 1, 65_535)
        object.__setattr__(crop, field, value)


@dataclass(frozen=True)
class RandomFlip(Op):
    """Flips each picture with probability 1/2 in each direction that the mode names (keras.layers.RandomFlip).

    Args:
        mode: "horizontal", "vertical" or "horizontal_and_vertical".
    """

    mode: str = "horizontal_and_vertical"

    def __post_init__(self) -> None:
        _check.choice("RandomFlip.mode", self.mode, ("horizontal", "vertical", "horizontal_and_vertical"))


@dataclass(frozen=True)
class Rescaling(Op):
    """Gives x * scale + offset (keras.layers.Rescaling) as the nearest float32, not the product rounded and then the sum.

    Neighbouring Rescaling and Normalization operations are joined into one such step.

    Args:
        scale, offset: finite numbers.
    """

    scale: float
    offset: float = 0.0

    def __post_init__(self) -> None:
        for field in ("scale", "offset"):
            object.__setattr__(self, field, _check.number(f"Rescaling.{field}", getattr(self, field)))


@dataclass(frozen=True)
class Normalization(Op):
    """Gives (x - mean) / sqrt(variance), channel by channel (keras.layers.Normalization with given statistics).

    The result is rounded to float32 once, at the end. As in Keras the divisor is at least 1e-7.

    Args:
        axis: -1, the channels; nothing else is supported.
        mean, variance: one number for all channels or one for each; in the units of the operation's input.
    """

    axis: int = -1
    mean: float | Sequence[float] | None = None
    variance: float | Sequence[float] | None = None

    def __post_init__(self) -> None:
        if self.axis != -1:
            _check.fail("Normalization.axis", self.axis, "-1 (the channels)")
        for field in ("mean", "variance"):
            object.__setattr__(self, field, _channels(f"Normalization.{field}", getattr(self, field)))
        if any(value < 0 for value in self._values("variance")):
            _check.fail("Normalization.variance", self.variance, "numbers >= 0")

    def _values(self, field: str) -> tuple[float, ...]:
        values: tuple[float, ...] = getattr(self, field)
        return values

    def _spec(self) -> dict[str, Any]:
        deviation = [max(math.sqrt(variance), _EPSILON) for variance in self._values("variance")]
        return {"op": "Normalization", "mean": self._values("mean"), "deviation": deviation}


def _channels(field: str, value: Any) -> tuple[float, ...]:
    allowed = "a number, or one for each of the 3 channels"
    if value is None:
        _check.fail(field, value, allowed)
    try:
        items = tuple(value)
    except TypeError:
        items = (value,)
    if len(items) not in (1, 3):
        _check.fail(field, value, allowed)
    return tuple(_check.number(field, item, allowed) for item in items)


@dataclass(frozen=True)
class OneHot:
    """Turns integer labels into rows of float32: y * (1 - label_smoothing) + label_smoothing / num_classes.

    The rows are those of keras.utils.to_categorical, smoothed as keras.losses.CategoricalCrossentropy does it.
    A label outside 0 ... num_classes - 1 is a ConfigError when the loader is made.

    Args:
        num_classes: length of a row, at least 1.
        label_smoothing: from 0 to 1.
    """

    num_classes: int
    label_smoothing: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "num_classes", _check.integer("OneHot.num_classes", self.num_classes, 1, 2**24))
        smoothing = _check.number("OneHot.label_smoothing", self.label_smoothing, "a number from 0 to 1")
        if not 0 <= smoothing <= 1:
            _check.fail("OneHot.label_smoothing", self.label_smoothing, "a number from 0 to 1")
        object.__setattr__(self, "label_smoothing", smoothing)
