"""What an element of a loader is: arrays, alone or in tuples and dicts, each at its place in a slab."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfgoloader import _check
from tfgoloader._core import Slab


@dataclass(frozen=True)
class ArraySpec:
    """Shape and dtype of an array; None in the shape stands for a size that differs between batches."""

    shape: tuple[int | None, ...]
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class Place:
    """Where the core puts an array: a row for each sample, so many bytes from the start of the slab."""

    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def spec(self, batch: int | None) -> ArraySpec:
        """Return the array's specification in a batch of so many samples."""
        return ArraySpec((batch, *self.shape), self.dtype)

    def array(self, slab: Slab) -> np.ndarray[Any, Any]:
        """Return the rows of the samples that are in the slab."""
        return slab.array(self.offset, (slab.header.samples, *self.shape), self.dtype)


def numpy_dtype(name: str) -> np.dtype[Any]:
    """Return NumPy's dtype of a name; bfloat16 is none of its own."""
    if name != "bfloat16":
        return np.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        _check.fail("dtype", name, "the package ml_dtypes to be installed, which gives NumPy this dtype")
    dtype: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return dtype


def element(description: str) -> Any:
    """Return an element with a Place for every array, from what the core says of its arrays."""
    places = {
        about["name"]: Place(about["offset"], tuple(about["shape"]), numpy_dtype(about["dtype"]))
        for about in json.loads(description)["arrays"]
    }
    views = tuple(place for name, place in places.items() if name.startswith("images"))
    images = views if len(views) > 1 else views[0]
    targets: dict[str, Any] = {name: places[name] for name in ("labels", "segmentation_masks") if name in places}
    if "boxes" in places:
        parts = {"boxes": "boxes", "labels": "box_labels", "count": "box_counts"}
        targets["bounding_boxes"] = {part: places[name] for part, name in parts.items()}
    match len(targets):
        case 0:
            return images
        case 1:
            return images, *targets.values()
        case _:
            return images, targets


def map_arrays(function: Callable[[Any], Any], part: Any) -> Any:
    """Return an element with the function's result in place of every array."""
    if isinstance(part, tuple):
        return tuple(map_arrays(function, item) for item in part)
    if isinstance(part, dict):
        return {name: map_arrays(function, item) for name, item in part.items()}
    return function(part)
