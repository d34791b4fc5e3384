"""Operations that change the colours of a picture, whose values are 0 to 255 here: Rescaling comes after them.

Names, arguments and meanings are those of the Keras 3.15 layers. Where a layer draws from another range than its own
documentation says, the documentation counts. Every operation rounds its result to the nearest level, and looks at one
picture: what the layers Equalization and RandomGaussianBlur count or draw for a whole batch is of each picture here.

A factor that is drawn from a range is given as two numbers, the ends, or as one number for the range from 0. `p` is the
probability that an operation is applied, for those that Keras always applies; the others have a factor for it. Pictures
of one channel have neither saturation nor hue, and are gray already; alpha, the fourth channel, stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tfgoloader import _check
from tfgoloader.ops._op import Op

_Range = float | Sequence[float]


class _Colour(Op):
    """What colour operations share; the checks replace a field by what the core is given."""

    def _spec(self) -> dict[str, Any]:
        return {name: value for name, value in super()._spec().items() if name != "value_range"}


@dataclass(frozen=True)
class _Applied(_Colour):
    """An operation that Keras always applies."""

    p: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        self._check_number("p", 0, 1)
        self._check_value_range()


@dataclass(frozen=True)
class _Factored(_Applied):
    """One that has a factor."""

    factor: _Range
    value_range: Sequence[float] = (0, 255)


@dataclass(frozen=True)
class RandomBrightness(_Factored):
    """Adds 255 times a random number to every value (keras.layers.RandomBrightness).

    Args:
        factor: the number, from -1 to 1, or the ends of its range; one number f stands for the range from -f to f.
        value_range: (0, 255); nothing else is supported.
        p: probability that it is applied.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_range("factor", -1, 1, "opposite")


@dataclass(frozen=True)
class RandomContrast(_Factored):
    """Gives (x - mean) * c + mean, mean being that of the channel and c a random number (keras.layers.RandomContrast).

    The mean is of the picture as it is at this place in the list: of the window where a crop comes before, of the whole
    picture, which is then decoded, where one comes after.

    Args:
        factor: c is drawn from 1 - lower to 1 + upper. Two numbers are lower and upper, one is both, as Keras documents
            it (the layer of Keras 3.15 itself takes 0 for lower then). From 0 to 1; negative ones are taken where the
            range is not empty, so that (-0.3, 0.3) is a contrast of 1.3 always.
        value_range: (0, 255); nothing else is supported.
        p: probability that it is applied.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_contrast(self, "factor")


@dataclass(frozen=True)
class RandomSaturation(_Factored):
    """Multiplies the saturation, in HSV, by f / (1 - f) (keras.layers.RandomSaturation).

    As with the layer on pictures of 0 to 255, what a saturation over 1 gives is clipped value by value.

    Args:
        factor: f, from 0 (gray) over 0.5 (no change) to 1, or the ends of its range; one number stands for the range
            from 0 to it, as Keras documents it (the layer of Keras 3.15 itself begins at its negative).
        value_range: (0, 255); nothing else is supported.
        p: probability that it is applied.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_range("factor")


@dataclass(frozen=True)
class RandomHue(_Factored):
    """Turns the hue, in HSV, by half of the circle times a random factor, either way round (keras.layers.RandomHue).

    Args:
        factor: the factor, from 0 to 1, or the ends of its range; one number stands for the range from 0 to it.
        value_range: (0, 255); nothing else is supported.
        p: probability that it is applied.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_range("factor")


@dataclass(frozen=True)
class RandomColorJitter(_Applied):
    """Applies RandomBrightness, RandomContrast, RandomSaturation and RandomHue (keras.layers.RandomColorJitter).

    Always in this order. Each rounds its result, as it does alone.

    Args:
        value_range: (0, 255); nothing else is supported.
        brightness_factor, contrast_factor, saturation_factor, hue_factor: the factor of each; None leaves it out.
        p: probability that they are applied.
    """

    value_range: Sequence[float] = (0, 255)
    brightness_factor: _Range | None = None
    contrast_factor: _Range | None = None
    saturation_factor: _Range | None = None
    hue_factor: _Range | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.brightness_factor is not None:
            self._check_range("brightness_factor", -1, 1, "opposite")
        if self.contrast_factor is not None:
            _check_contrast(self, "contrast_factor")
        if self.saturation_factor is not None:
            self._check_range("saturation_factor")
        if self.hue_factor is not None:
            self._check_range("hue_factor")


@dataclass(frozen=True)
class RandomColorDegeneration(_Factored):
    """Blends with gray, 0.2989 R + 0.5870 G + 0.1140 B (keras.layers.RandomColorDegeneration).

    Args:
        factor: the share of gray, from 0 to 1, or the ends of its range; one number stands for the range from 0 to it,
            as Keras documents it (the layer of Keras 3.15 itself begins at its negative).
        value_range: (0, 255); nothing else is supported.
        p: probability that it is applied.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_range("factor")


@dataclass(frozen=True)
class RandomSharpness(_Factored):
    """Gives x + (1 - 2 f) * (smooth - x) (keras.layers.RandomSharpness).

    The smooth picture is the mean of 3 by 3 pixels, the middle one counted five times. As in Keras what lies outside
    the picture counts as 0, so its edge is darkened, or brightened; PIL.ImageEnhance.Sharpness leaves it alone.

    Args:
        factor: f, from 0 (smooth) over 0.5 (no change) to 1, or the ends of its range; one number stands for the range
            from 0 to it.
        value_range: (0, 255); nothing else is supported.
        p: probability that it is applied.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_range("factor")


@dataclass(frozen=True)
class RandomPosterization(_Applied):
    """Keeps the upper bits of every value and clears the rest (keras.layers.RandomPosterization).

    Args:
        factor: how many bits, from 1 to 8, as Keras documents it. Two numbers are drawn from as the layer of Keras 3.15
            draws: from the lower one up to, but not with, the upper one; equal ones are the number itself.
        value_range: (0, 255); nothing else is supported.
        p: probability that it is applied.
    """

    factor: int | Sequence[int]
    value_range: Sequence[float] = (0, 255)

    def __post_init__(self) -> None:
        super().__post_init__()
        pair = self.factor if isinstance(self.factor, Sequence) and len(self.factor) == 2 else [self.factor] * 2
        ends = [_check.integer("RandomPosterization.factor", bits, 1, 8) for bits in pair]
        self._set("factor", tuple(sorted(ends)))


@dataclass(frozen=True)
class Solarization(_Applied):
    """Gives 255 - x for the values that are not below a threshold, after an addition (keras.layers.Solarization).

    Args:
        addition_factor, threshold_factor: what is added, and the threshold, as shares of 255 from 0 to 1, or the ends
            of their ranges; one number stands for the range from 0 to it. Both ends are shares, as Keras documents it
            (the layer of Keras 3.15 itself takes the lower one for a value).
        value_range: (0, 255); nothing else is supported.
        p: probability that it is applied.
    """

    addition_factor: _Range = 0.0
    threshold_factor: _Range = 0.0
    value_range: Sequence[float] = (0, 255)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_range("addition_factor")
        self._check_range("threshold_factor")


@dataclass(frozen=True)
class Equalization(_Applied):
    """Gives every value the share of the channel's values that lie below it, times 255 (keras.layers.Equalization).

    The share is (n(x) - n(least)) / (n(largest) - n(least)), n(x) being how many lie in the bin of x or below it; the
    bin of x is x * (bins - 1) / 255, cut to an integer. A channel within one bin stays as it is.

    Args:
        value_range: (0, 255); nothing else is supported.
        bins: how many values are told apart, at least 1.
        p: probability that it is applied.
    """

    value_range: Sequence[float] = (0, 255)
    bins: int = 256

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("bins", _check.integer("Equalization.bins", self.bins, 1, 2**24))


@dataclass(frozen=True)
class AutoContrast(_Applied):
    """Spreads the values of each channel from 0 to 255 (keras.layers.AutoContrast); a flat channel stays as it is.

    Args:
        value_range: (0, 255); nothing else is supported.
        p: probability that it is applied.
    """

    value_range: Sequence[float] = (0, 255)


@dataclass(frozen=True)
class RandomGrayscale(_Colour):
    """Makes all channels 0.2989 R + 0.5870 G + 0.1140 B (keras.layers.RandomGrayscale).

    Args:
        factor: probability that it is applied.
    """

    factor: float = 0.5

    def __post_init__(self) -> None:
        self._check_number("factor", 0, 1)


@dataclass(frozen=True)
class RandomInvert(_Colour):
    """Gives 255 - x (keras.layers.RandomInvert).

    Args:
        factor: probability that it is applied, from 0 to 1, or the ends of the range it is drawn from; one number
            stands for the range from 0 to it.
        value_range: (0, 255); nothing else is supported.
    """

    factor: _Range = 1.0
    value_range: Sequence[float] = (0, 255)

    def __post_init__(self) -> None:
        self._check_value_range()
        self._check_range("factor")


@dataclass(frozen=True)
class RandomGaussianBlur(_Colour):
    """Blurs with a Gaussian window (keras.layers.RandomGaussianBlur).

    The weights are exp(-d^2 / (2 sigma^2)) at distance d, divided by their sum, along rows and across them, each with a
    sigma of its own. As in Keras what lies outside the picture counts as 0, so its edge is darkened.

    Args:
        factor: probability that it is applied, from 0 to 1, or the ends of the range it is drawn from; one number
            stands for the range from 0 to it.
        kernel_size: width and height of the window in pixels, an odd number up to 127.
        sigma: in pixels, from 0 to 100, or the ends of the range it is drawn from; one number stands for the range from
            0 to it.
        value_range: (0, 255); nothing else is supported.
    """

    factor: _Range = 1.0
    kernel_size: int = 3
    sigma: _Range = 1.0
    value_range: Sequence[float] = (0, 255)

    def __post_init__(self) -> None:
        self._check_value_range()
        self._check_range("factor")
        self._check_range("sigma", 0, 100)
        size = _check.integer("RandomGaussianBlur.kernel_size", self.kernel_size, 1, 127)
        if size % 2 == 0:
            _check.fail("RandomGaussianBlur.kernel_size", self.kernel_size, "an odd integer from 1 to 127")
        self._set("kernel_size", size)


@dataclass(frozen=True)
class RandomErasing(_Colour):
    """Fills a random rectangle, also known as cutout (keras.layers.RandomErasing).

    Width and height are the picture's times sqrt(u), u being drawn for each; the place is drawn evenly among those
    within the picture. What the operation sees is the picture at this place in the list: with a crop after it the whole
    picture is decoded.

    Args:
        factor: probability that it is applied, from 0 to 1, or the ends of the range it is drawn from; one number
            stands for the range from 0 to it.
        scale: the range of u, within 0 to 1; one number stands for the range from 0 to it.
        fill_value: a number from 0 to 255, one for each of three channels, or None for 255 times normal noise, rounded
            and clipped to 0 to 255.
        value_range: (0, 255); nothing else is supported.
    """

    factor: _Range = 1.0
    scale: _Range = (0.02, 0.33)
    fill_value: float | Sequence[float] | None = None
    value_range: Sequence[float] = (0, 255)

    def __post_init__(self) -> None:
        self._check_value_range()
        self._check_range("factor")
        self._check_range("scale")
        if self.fill_value is not None:
            self._set("fill_value", _fill(self.fill_value))


def _check_contrast(op: _Colour, field: str) -> None:
    given = getattr(op, field)
    op._check_range(field, -1, 1, "itself")
    lower, upper = getattr(op, field)
    if lower + upper < 0:
        _check.fail(f"{type(op).__name__}.{field}", given, "1 - lower to be at most 1 + upper")


def _fill(value: float | Sequence[float]) -> tuple[int, ...]:
    name, allowed = "RandomErasing.fill_value", "None, a number from 0 to 255, or three of them"
    items = value if isinstance(value, Sequence) and not isinstance(value, (str, bytes)) else [value] * 3
    if len(items) != 3:
        _check.fail(name, value, allowed)
    return tuple(int(_check.between(name, item, 0, 255, allowed) + 0.5) for item in items)
