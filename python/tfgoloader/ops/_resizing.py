"""Operations that make pictures of another size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tfgoloader import _check
from tfgoloader.ops._op import Op

_INTERPOLATIONS = {
    "keras": ("nearest", "bilinear", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"),
    "pillow": ("nearest", "bilinear", "bicubic", "area", "lanczos3"),
    "torchvision": ("nearest", "bilinear", "bicubic", "lanczos3"),
    "opencv": ("nearest", "bilinear", "bicubic", "area", "lanczos4"),
}


class _Resizing(Op):
    """What the operations share that resize: how the new pixels come about."""

    interpolation: str
    antialias: bool
    like: str

    def _check_how(self) -> None:
        name = type(self).__name__
        _check.choice(f"{name}.like", self.like, tuple(_INTERPOLATIONS))
        _check.choice(f"{name}.interpolation", self.interpolation, _INTERPOLATIONS[self.like])
        _check.boolean(f"{name}.antialias", self.antialias)


@dataclass(frozen=True)
class Resizing(_Resizing):
    """Resizes each picture (keras.layers.Resizing).

    Crops that follow are taken into account: only the pixels that are left are decoded and computed.

    Args:
        height, width: size in pixels, at least 1.
        interpolation: "nearest", "bilinear", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic" or,
            of OpenCV, "lanczos4".
        crop_to_aspect_ratio: whether the largest part in the middle that has the output's aspect ratio is resized, in
            place of the whole picture.
        pad_to_aspect_ratio: whether the picture is padded to the output's aspect ratio, half of it on either side,
            before it is resized.
        fill_mode: what the padding is, see Pad; Keras has "constant" alone.
        fill_value: of "constant", from 0 to 255: one number, or three.
        antialias: whether all pixels count where a picture shrinks; Pillow always does, OpenCV by "area" alone.
        like: whose pixels: "keras" for tf.image.resize (float32), "pillow" for PIL.Image.resize, "torchvision" for
            v2.functional.resize of uint8 tensors, "opencv" for cv2.resize. The last three round to bytes.
    """

    height: int
    width: int
    interpolation: str = "bilinear"
    crop_to_aspect_ratio: bool = False
    pad_to_aspect_ratio: bool = False
    fill_mode: str = "constant"
    fill_value: float | Sequence[float] = 0.0
    antialias: bool = False
    like: str = "keras"

    def __post_init__(self) -> None:
        self._check_side("height")
        self._check_side("width")
        _check.boolean("Resizing.crop_to_aspect_ratio", self.crop_to_aspect_ratio)
        if _check.boolean("Resizing.pad_to_aspect_ratio", self.pad_to_aspect_ratio) and self.crop_to_aspect_ratio:
            _check.fail("Resizing.pad_to_aspect_ratio", True, "False where crop_to_aspect_ratio is True")
        self._check_fill()
        self._check_how()


@dataclass(frozen=True)
class ResizeWithPad(_Resizing):
    """Resizes each picture so that it just fits, and lays it in the middle of a constant (tf.image.resize_with_pad).

    Resizing(pad_to_aspect_ratio=True) pads first, so that the resizing blurs the border.

    Args:
        height, width: size of the result in pixels, at least 1.
        interpolation, antialias, like: see Resizing.
        fill_value: the constant, from 0 to 255: one number, or three.
    """

    height: int
    width: int
    interpolation: str = "bilinear"
    antialias: bool = False
    like: str = "keras"
    fill_value: float | Sequence[float] = 0.0

    def __post_init__(self) -> None:
        self._check_side("height")
        self._check_side("width")
        self._set("fill_mode", "constant")
        self._check_fill()
        self._check_how()


@dataclass(frozen=True)
class ResizeShorter(_Resizing):
    """Resizes each picture so that its shorter side has a size; the longer one is int(size * longer / shorter).

    That is torchvision.transforms.Resize with one number. The size of the result differs from picture to picture: a
    crop must follow, and of what it leaves out nothing is decoded or computed.

    Args:
        size: of the shorter side, in pixels, at least 1.
        interpolation, antialias, like: see Resizing.
    """

    size: int
    interpolation: str = "bilinear"
    antialias: bool = True
    like: str = "keras"

    def __post_init__(self) -> None:
        self._check_side("size")
        self._check_how()


@dataclass(frozen=True)
class RandomResizedCrop(_Resizing):
    """Cuts a part of random area and aspect ratio out of each picture and resizes it.

    The rule is that of torchvision.transforms.RandomResizedCrop: up to ten times an area is drawn evenly from scale,
    and the logarithm of an aspect ratio evenly from that of ratio; the first part that fits is taken, at an even place.
    Where none fits it is the largest in the middle whose aspect ratio is within ratio. Only the part is decoded.

    Args:
        height, width: size of the result in pixels, at least 1.
        scale: least and largest share of the picture's area, above 0 and at most 1.
        ratio: least and largest width / height, above 0.
        interpolation, antialias, like: see Resizing.
    """

    height: int
    width: int
    scale: Sequence[float] = (0.08, 1.0)
    ratio: Sequence[float] = (3 / 4, 4 / 3)
    interpolation: str = "bilinear"
    antialias: bool = True
    like: str = "keras"

    def __post_init__(self) -> None:
        self._check_side("height")
        self._check_side("width")
        self._check_bounds("scale", 1.0)
        self._check_bounds("ratio", float("inf"))
        self._check_how()

    def _check_bounds(self, field: str, most: float) -> None:
        name = f"RandomResizedCrop.{field}"
        value: Any = getattr(self, field)
        allowed = f"two ascending numbers above 0{' and at most 1' if most == 1 else ''}"
        bounds = tuple(_check.number(name, bound, allowed) for bound in _check.items(name, value, allowed, object))
        if len(bounds) != 2 or not 0 < bounds[0] <= bounds[1] <= most:
            _check.fail(name, value, allowed)
        object.__setattr__(self, field, bounds)
