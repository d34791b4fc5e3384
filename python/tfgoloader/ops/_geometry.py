"""Operations that move pixels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tfgoloader import _check
from tfgoloader.ops._op import Op

_Range = float | Sequence[float]


@dataclass(frozen=True)
class RandomCrop(Op):
    """Cuts a window out of each picture, every place being equally likely (keras.layers.RandomCrop).

    Only the window is decoded.

    Args:
        height, width: size of the window in pixels, at least 1.
        if_smaller: what is done with a picture that is smaller than the window. "error": it is a DecodeError that
            names both sizes. "resize": the largest part in the middle that has its aspect ratio is resized to it
            (bilinear), as the Keras layer documents. "pad": each side that is too short is padded on both ends by what
            is missing, and the window is cut out of that: torchvision.transforms.RandomCrop with pad_if_needed.
        fill_mode, fill_value: what the padding is; see Pad.
    """

    height: int
    width: int
    if_smaller: str = "error"
    fill_mode: str = "constant"
    fill_value: float | Sequence[float] = 0.0

    def __post_init__(self) -> None:
        self._check_side("height")
        self._check_side("width")
        _check.choice("RandomCrop.if_smaller", self.if_smaller, ("error", "resize", "pad"))
        self._check_fill()


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
        self._check_side("height")
        self._check_side("width")


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
class Pad(Op):
    """Adds a border to each picture (keras.layers.ZeroPadding2D, with other borders too).

    Args:
        padding: pixels, from 0 to 65,536: one number for all sides, two for (top and bottom, left and right), or
            ((top, bottom), (left, right)).
        fill_mode: "constant" (kkk|abcd|kkk), "nearest" (aaa|abcd|ddd), "reflect" (cba|abcd|dcb) or "wrap"
            (bcd|abcd|abc).
        fill_value: k of "constant", from 0 to 255: one number, or three.
    """

    padding: int | Sequence[int] | Sequence[Sequence[int]]
    fill_mode: str = "constant"
    fill_value: float | Sequence[float] = 0.0

    def __post_init__(self) -> None:
        sides = self.padding if isinstance(self.padding, Sequence) else (self.padding, self.padding)
        allowed = "an integer, two of them, or two pairs"
        if isinstance(sides, (str, bytes)) or len(sides) != 2:
            _check.fail("Pad.padding", self.padding, allowed)
        pairs: list[tuple[int, ...]] = []
        for side in sides:
            ends: Any = side if isinstance(side, Sequence) else (side, side)
            if isinstance(ends, (str, bytes)) or len(ends) != 2:
                _check.fail("Pad.padding", self.padding, allowed)
            pairs.append(tuple(_check.integer("Pad.padding", end, 0, 65_536) for end in ends))
        self._set("padding", tuple(pairs))
        self._check_fill()


class _Warp(Op):
    """What the operations share that look every pixel up by a matrix, as keras.ops.image.affine_transform does.

    The size stays as it is. Neighbours that have the same fill and interpolation are composed into one, flips between
    them included.
    """

    interpolation: str

    def _check_warp(self) -> None:
        _check.choice(f"{type(self).__name__}.interpolation", self.interpolation, ("nearest", "bilinear"))
        self._check_fill()


@dataclass(frozen=True)
class RandomRotation(_Warp):
    """Rotates each picture around its middle by a random angle (keras.layers.RandomRotation).

    Args:
        factor: the angle as a share of a full turn, drawn evenly: the ends of its range, or one number f for -f to f.
            Counter-clockwise is positive.
        fill_mode, fill_value: what lies beyond the edges; see Pad.
        interpolation: "nearest" or "bilinear".
    """

    factor: _Range
    fill_mode: str = "reflect"
    interpolation: str = "bilinear"
    fill_value: float | Sequence[float] = 0.0

    def __post_init__(self) -> None:
        self._check_range("factor", -1, 1, "opposite")
        self._check_warp()


@dataclass(frozen=True)
class RandomTranslation(_Warp):
    """Moves each picture by random shares of its size (keras.layers.RandomTranslation).

    Args:
        height_factor, width_factor: the shares, from -1 to 1, drawn evenly: the ends of the range, or one number f for
            -f to f. Down and right are positive.
        fill_mode, interpolation, fill_value: see RandomRotation.
    """

    height_factor: _Range
    width_factor: _Range
    fill_mode: str = "reflect"
    interpolation: str = "bilinear"
    fill_value: float | Sequence[float] = 0.0

    def __post_init__(self) -> None:
        self._check_range("height_factor", -1, 1, "opposite")
        self._check_range("width_factor", -1, 1, "opposite")
        self._check_warp()


@dataclass(frozen=True)
class RandomZoom(_Warp):
    """Zooms each picture around its middle (keras.layers.RandomZoom).

    Args:
        height_factor: above -1 and at most 1, drawn evenly: the ends of the range, or one number f for -f to f.
            Positive numbers zoom out, by 1 + factor; negative ones zoom in.
        width_factor: the same for the width; None keeps the aspect ratio.
        fill_mode, interpolation, fill_value: see RandomRotation.
    """

    height_factor: _Range
    width_factor: _Range | None = None
    fill_mode: str = "reflect"
    interpolation: str = "bilinear"
    fill_value: float | Sequence[float] = 0.0

    def __post_init__(self) -> None:
        for field in ("height_factor", "width_factor"):
            given = getattr(self, field)
            if field == "width_factor" and given is None:
                continue
            self._check_range(field, -1, 1, "opposite")
            if min(getattr(self, field)) <= -1:
                _check.fail(f"RandomZoom.{field}", given, "numbers above -1 and at most 1")
        self._check_warp()


@dataclass(frozen=True)
class RandomShear(_Warp):
    """Shears each picture, from its upper left corner (keras.layers.RandomShear).

    Args:
        x_factor, y_factor: by how much of its distance to the upper or left edge a pixel moves, from -1 to 1, drawn
            evenly: the ends of the range, or one number f for -f to f. Half of the pictures are sheared the other way.
        interpolation, fill_mode, fill_value: see RandomRotation.
    """

    x_factor: _Range = 0.0
    y_factor: _Range = 0.0
    interpolation: str = "bilinear"
    fill_mode: str = "reflect"
    fill_value: float | Sequence[float] = 0.0

    def __post_init__(self) -> None:
        self._check_range("x_factor", -1, 1, "opposite")
        self._check_range("y_factor", -1, 1, "opposite")
        self._check_warp()


@dataclass(frozen=True)
class RandomPerspective(_Warp):
    """Moves the corners of some pictures (keras.layers.RandomPerspective).

    The coordinates of every corner, counted from the upper left one, are multiplied by random numbers from
    1 - scale / 2 to 1 + scale / 2.

    Args:
        factor: the probability that a picture is changed, itself drawn evenly from 0 to factor, or between two numbers.
        scale: from 0 to 1.
        interpolation: "nearest" or "bilinear".
        fill_value: of what lies beyond the edges, from 0 to 255: one number, or three.
    """

    factor: _Range = 1.0
    scale: float = 1.0
    interpolation: str = "bilinear"
    fill_value: float | Sequence[float] = 0.0

    def __post_init__(self) -> None:
        self._check_range("factor")
        self._check_number("scale", 0, 1)
        self._set("fill_mode", "constant")
        self._check_warp()
