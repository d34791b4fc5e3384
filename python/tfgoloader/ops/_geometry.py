"""Operations that move pixels."""

from __future__ import annotations

from dataclasses import dataclass

from tfgoloader import _check
from tfgoloader.ops._op import Op


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
