"""One sample made again, to be looked at."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from tfgoloader import _elements
from tfgoloader._core import Slab, to_text
from tfgoloader.ops import Op


@dataclass(frozen=True, eq=False)
class Replay:
    """A sample as an epoch makes it, and what it was made of.

    Attributes:
        epoch, index: which one; the index counts in the source.
        path: its file.
        format: "JPEG", "PNG", "GIF", "BMP", "WebP" or "TIFF".
        orientation: what EXIF says, from 1 (upright) to 8, whether it is applied or not.
        warnings: how many oddities the picture's decoder has passed over.
        original_size: height and width of the upright picture.
        window, flip: as with return_meta: (top, left, height, width) of what is shown, (horizontal, vertical).
        ops: a dict for each operation of the loader, in order: op, its name; applied, whether it did anything to the
            picture; drawn, a dict of its parameters; and ops, a list of such dicts of what it applied of operations of
            its own. Windows and sizes are of what the operation was given; a matrix tells where in it each of its
            pixels comes from, as keras.ops.image.affine_transform has it.
        before: the whole upright picture, uint8 (height, width, channels), or uint16 where the loader has that dtype.
        after: the picture as in the batch, MixUp and CutMix left out.
        targets: what the sample has of labels, masks and boxes, as in the batch; None where it has none.

    With several views window, flip, ops and after are tuples of as many.
    """

    epoch: int
    index: int
    path: str
    format: str
    orientation: int
    warnings: int
    original_size: tuple[int, int]
    window: Any
    flip: Any
    ops: Any
    before: npt.NDArray[Any]
    after: Any
    targets: Any


def from_core(text: str, epoch: int, index: int, element: Any, ops: Sequence[Op], has_targets: bool) -> Replay:
    """Return what the core says of a sample."""
    about = json.loads(text)
    slab = Slab(about["slab"])
    where = about["before"]
    parts = _elements.map_arrays(lambda place: place.array(slab)[0], element)
    views = about["views"]
    several = len(views) > 1
    images = parts[0] if isinstance(parts, tuple) and (several is isinstance(parts[0], tuple)) else parts

    def of_views(values: list[Any]) -> Any:
        return tuple(values) if several else values[0]

    return Replay(
        epoch=epoch,
        index=index,
        path=to_text(about["path"]),
        format=about["format"],
        orientation=about["orientation"],
        warnings=about["warnings"],
        original_size=tuple(about["original_size"]),
        window=of_views([tuple(view["window"]) for view in views]),
        flip=of_views([tuple(view["flip"]) for view in views]),
        ops=of_views([_steps(view["ops"] or (), ops) for view in views]),
        before=slab.array(where["offset"], tuple(where["shape"]), where["dtype"]),
        after=images,
        targets=parts[1] if has_targets else None,
    )


def _steps(steps: Sequence[dict[str, Any]], ops: Sequence[Op]) -> list[dict[str, Any]]:
    """Return what each operation did; those on values draw nothing, and the core says nothing of them."""
    said = {step["position"]: step for step in steps}
    plain = {"applied": True, "drawn": {}, "ops": None}
    return [_step({**said.get(position, plain), "op": type(op).__name__}) for position, op in enumerate(ops)]


def _step(step: dict[str, Any]) -> dict[str, Any]:
    inner = [_step(inner) for inner in step["ops"] or ()]
    return {"op": step["op"], "applied": step["applied"], "drawn": step["drawn"], "ops": inner}
