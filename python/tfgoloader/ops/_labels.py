"""What becomes of labels."""

from __future__ import annotations

from dataclasses import dataclass

from tfgoloader import _check


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
        smoothing = _check.between("OneHot.label_smoothing", self.label_smoothing, 0, 1)
        object.__setattr__(self, "label_smoothing", smoothing)
