"""Operations that turn pixels into the values a model wants."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfgoloader import _check
from tfgoloader.ops._op import Op

_EPSILON = 1e-7  # keras.config.epsilon(), the least deviation that Normalization divides by


@dataclass(frozen=True)
class Rescaling(Op):
    """Gives x * scale + offset (keras.layers.Rescaling), rounded to float32 once.

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
        if not isinstance(self.axis, (int, np.integer)) or self.axis != -1:
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
