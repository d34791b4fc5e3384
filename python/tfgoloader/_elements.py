"""What an element of a loader is: arrays, alone or in tuples and dicts, each at its place in a slab."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
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


@dataclass(frozen=True)
class PathPlace(Place):
    """Where the core puts indices in the source, which stand for paths; the last path is that of padding."""

    paths: np.ndarray[Any, Any]

    def spec(self, batch: int | None) -> ArraySpec:
        """Return the specification of an array of str objects."""
        return ArraySpec((batch,), self.paths.dtype)

    def array(self, slab: Slab) -> np.ndarray[Any, Any]:
        """Return the paths of the samples that are in the slab."""
        paths: np.ndarray[Any, Any] = self.paths[super().array(slab)]
        return paths


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


def places(description: str) -> dict[str, Place]:
    """Return where each of a batch's arrays lies, by its name, from what the core says of them."""
    return {
        about["name"]: Place(about["offset"], tuple(about["shape"]), numpy_dtype(about["dtype"]))
        for about in json.loads(description)["arrays"]
    }


def element(description: str, paths: Sequence[str] = ()) -> Any:
    """Return an element with a Place for every array, from what the core says of its arrays.

    The paths are those of the source; they are looked at where the core hands out indices.
    """
    found = places(description)
    views = tuple(place for name, place in found.items() if name.startswith("images"))
    images = views if len(views) > 1 else views[0]
    targets: dict[str, Any] = {name: found[name] for name in ("labels", "segmentation_masks") if name in found}
    if "boxes" in found:
        of_boxes = {"boxes": "boxes", "labels": "box_labels", "count": "box_counts"}
        targets["bounding_boxes"] = {part: found[name] for part, name in of_boxes.items()}
    parts: list[Any] = [images]
    if targets:
        parts.append(targets if len(targets) > 1 else next(iter(targets.values())))
    if "sample_weight" in found:
        parts.append(found["sample_weight"])
    if "index" in found:
        index = found["index"]
        path = PathPlace(index.offset, index.shape, index.dtype, np.array([*paths, ""], object))
        rest = {name: found[name] for name in ("original_size", "window", "flip")}
        parts.append({"index": index, "path": path, **rest})
    return tuple(parts) if len(parts) > 1 else images


def map_arrays(function: Callable[[Any], Any], part: Any) -> Any:
    """Return an element with the function's result in place of every array."""
    if isinstance(part, tuple):
        return tuple(map_arrays(function, item) for item in part)
    if isinstance(part, dict):
        return {name: map_arrays(function, item) for name, item in part.items()}
    return function(part)
