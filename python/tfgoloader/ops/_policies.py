"""Policies: operations that choose among operations, anew for each picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tfgoloader import _check
from tfgoloader.ops._colour import (
    AutoContrast,
    Equalization,
    RandomBrightness,
    RandomColorDegeneration,
    RandomContrast,
    RandomPosterization,
    RandomSharpness,
    Solarization,
)
from tfgoloader.ops._external import External
from tfgoloader.ops._geometry import RandomRotation, RandomShear, RandomTranslation
from tfgoloader.ops._op import Op
from tfgoloader.ops._values import Normalization, Rescaling

_Range = float | Sequence[float]


class _Policy(Op):
    """What policies share: operations of their own."""

    ops: Sequence[Op]

    def _check_ops(self) -> None:
        name, allowed = (
            f"{type(self).__name__}.ops",
            "a list of operations, without Rescaling, Normalization, Python and Native",
        )
        ops = _check.items(name, self.ops, allowed, Op)
        if not ops or any(isinstance(op, (Rescaling, Normalization, External)) for op in ops):
            _check.fail(name, self.ops, allowed)
        self._set("ops", ops)

    def _spec(self) -> dict[str, Any]:
        return {**super()._spec(), "ops": [op._spec() for op in self.ops]}


@dataclass(frozen=True)
class RandomApply(_Policy):
    """Applies all its operations, one after another, or none (torchvision.transforms.RandomApply).

    Args:
        ops: operations that leave the size as it is.
        p: probability that they are applied, from 0 to 1.
    """

    ops: Sequence[Op]
    p: float = 0.5

    def __post_init__(self) -> None:
        self._check_ops()
        self._check_number("p", 0, 1)


@dataclass(frozen=True)
class OneOf(_Policy):
    """Applies one of its operations (torchvision.transforms.RandomChoice).

    Args:
        ops: operations, all of which leave the same size.
        weights: one number >= 0 for each, how likely it is beside the others; None for equally likely ones.
    """

    ops: Sequence[Op]
    weights: Sequence[float] | None = None

    def __post_init__(self) -> None:
        self._check_ops()
        if self.weights is not None:
            allowed = f"None, or {len(self.ops)} numbers >= 0 whose sum is above 0"
            given = _check.items("OneOf.weights", self.weights, allowed, object)
            weights = tuple(_check.number("OneOf.weights", weight, allowed) for weight in given)
            if len(weights) != len(self.ops) or min(weights) < 0 or sum(weights) == 0:
                _check.fail("OneOf.weights", self.weights, allowed)
            self._set("weights", weights)


@dataclass(frozen=True)
class RandomOrder(_Policy):
    """Applies all its operations in a random order (torchvision.transforms.RandomOrder).

    Args:
        ops: operations that leave the size as it is.
    """

    ops: Sequence[Op]

    def __post_init__(self) -> None:
        self._check_ops()


class _Magnitude(Op):
    """What Keras' policies share: one factor for all their operations."""

    value_range: Sequence[float]
    factor: _Range
    interpolation: str

    def _check_magnitude(self) -> None:
        self._check_value_range()
        self._check_range("factor")
        _check.choice(f"{type(self).__name__}.interpolation", self.interpolation, ("nearest", "bilinear"))

    def _operations(self, more: bool) -> list[dict[str, Any]]:
        factor: Any = self.factor
        how = self.interpolation
        ops: list[Op] = [
            RandomShear(factor, factor, interpolation=how),
            RandomTranslation(factor, factor, interpolation=how),
            RandomRotation(factor, interpolation=how),
            Solarization(factor, factor),
            RandomPosterization(max(1, int(8 * factor[1]))),
            AutoContrast(),
            Equalization(),
        ]
        if more:
            ops += [
                RandomBrightness(factor),
                RandomColorDegeneration(factor),
                RandomContrast(factor),
                RandomSharpness(factor),
            ]
        return [op._spec() for op in ops]


@dataclass(frozen=True)
class RandAugment(_Magnitude):
    """Applies some of eleven operations, each time one of all (keras.layers.RandAugment; Cubuk et al., 2020).

    They are RandomShear, RandomTranslation, RandomRotation, RandomBrightness, RandomColorDegeneration, RandomContrast,
    RandomSharpness, Solarization, RandomPosterization, AutoContrast and Equalization. An operation that is chosen twice
    draws twice, and every picture draws for itself; the Keras layer chooses once for a whole batch.

    Args:
        value_range: (0, 255); nothing else is supported.
        num_ops: how many are applied, at least 1.
        factor: of all of them, from 0 to 1, or the ends of its range; one number stands for the range from 0 to it.
        interpolation: "nearest" or "bilinear".
    """

    value_range: Sequence[float] = (0, 255)
    num_ops: int = 2
    factor: _Range = 0.5
    interpolation: str = "bilinear"

    def __post_init__(self) -> None:
        self._check_magnitude()
        self._set("num_ops", _check.integer("RandAugment.num_ops", self.num_ops, 1, 1000))

    def _spec(self) -> dict[str, Any]:
        return {"op": "OneOf", "ops": self._operations(more=True), "times": self.num_ops}


@dataclass(frozen=True)
class AugMix(_Magnitude):
    """Blends each picture with a blend of what chains of operations make of it (keras.layers.AugMix).

    The method is that of Hendrycks et al. (2020). The chains' weights are drawn from a Dirichlet distribution, the
    picture's own from a beta distribution. Masks and boxes stay where they are.

    Args:
        value_range: (0, 255); nothing else is supported.
        num_chains: how many chains, at least 1; a worker has memory for as many pictures and one more.
        chain_depth: how many operations in each, drawn from all and none, at least 1.
        factor: of all operations, from 0 to 1, or the ends of its range; one number stands for the range from 0 to it.
        alpha: the parameter of both distributions, above 0.
        all_ops: whether RandomBrightness, RandomColorDegeneration, RandomContrast and RandomSharpness are among the
            operations, beside those that always are: RandomShear, RandomTranslation, RandomRotation, Solarization,
            RandomPosterization, AutoContrast and Equalization.
        interpolation: "nearest" or "bilinear".
    """

    value_range: Sequence[float] = (0, 255)
    num_chains: int = 3
    chain_depth: int = 3
    factor: _Range = 0.3
    alpha: float = 1.0
    all_ops: bool = True
    interpolation: str = "bilinear"

    def __post_init__(self) -> None:
        self._check_magnitude()
        for field in ("num_chains", "chain_depth"):
            self._set(field, _check.integer(f"AugMix.{field}", getattr(self, field), 1, 100))
        self._check_number("alpha", 1e-3, 1e3)
        _check.boolean("AugMix.all_ops", self.all_ops)

    def _spec(self) -> dict[str, Any]:
        return {
            "op": "AugMix",
            "ops": self._operations(self.all_ops),
            "num_chains": self.num_chains,
            "chain_depth": self.chain_depth,
            "alpha": self.alpha,
        }


class _Published(Op):
    """What the policies share whose operations are those of AutoAugment."""

    interpolation: str
    fill_value: float | Sequence[float]

    def _check_published(self) -> None:
        _check.choice(f"{type(self).__name__}.interpolation", self.interpolation, ("nearest", "bilinear"))
        self._set("fill_mode", "constant")
        self._check_fill()


@dataclass(frozen=True)
class AutoAugment(_Published):
    """Applies a pair of operations with the probabilities and magnitudes found for ImageNet.

    The policy is that of Cubuk et al. (2019), table 9, by the rules of torchvision.transforms.AutoAugment.

    Args:
        policy: "imagenet".
        interpolation: "nearest" or "bilinear".
        fill_value: of what lies beyond the edges, from 0 to 255: one number, or three.
    """

    policy: str = "imagenet"
    interpolation: str = "nearest"
    fill_value: float | Sequence[float] = 0.0

    def __post_init__(self) -> None:
        _check.choice("AutoAugment.policy", self.policy, ("imagenet",))
        self._check_published()


@dataclass(frozen=True)
class TrivialAugmentWide(_Published):
    """Applies one of fourteen operations with a random magnitude (Mueller and Hutter, 2021).

    The rules are those of torchvision.transforms.TrivialAugmentWide.

    Args:
        num_magnitude_bins: how many magnitudes there are, at least 2.
        interpolation: "nearest" or "bilinear".
        fill_value: of what lies beyond the edges, from 0 to 255: one number, or three.
    """

    num_magnitude_bins: int = 31
    interpolation: str = "nearest"
    fill_value: float | Sequence[float] = 0.0

    def __post_init__(self) -> None:
        bins = _check.integer("TrivialAugmentWide.num_magnitude_bins", self.num_magnitude_bins, 2, 2**20)
        self._set("num_magnitude_bins", bins)
        self._check_published()
