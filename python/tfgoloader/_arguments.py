"""Checks of ImageLoader's arguments that say what the core is given."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from tfgoloader import _check
from tfgoloader.ops import BatchOp, OneHot, Op
from tfgoloader.sources import Source, _PathLike


def operations(ops: Sequence[Op | BatchOp]) -> tuple[list[Op], list[Op | BatchOp]]:
    """Return the operations on pictures, and those on batches, which come after them."""
    allowed = "a list of operations from tfgoloader.ops, such as [ops.RandomFlip()]"
    items = _check.items("ops", ops, allowed, (Op, BatchOp))
    single = [op for op in items if not op._whole]
    whole = [op for op in items if op._whole]
    if items != (*single, *whole):
        _check.fail("ops", list(items), f"{whole[0]}, which is for whole batches, after the operations on pictures")
    return single, whole


def whole_batches(ops: Sequence[Op | BatchOp], source: Source, labels: OneHot | None, views: int) -> None:
    """Check what operations on batches need."""
    for op in ops:
        if not isinstance(op, BatchOp):
            if views != 1:
                _check.fail("views", views, f"1 with {op}")
        elif labels is None:
            _check.fail("labels", labels, f"ops.OneHot(num_classes), whose rows {op} mixes")
        elif source.has_masks or source.has_boxes:
            _check.fail("ops", list(ops), f"none of {op} with masks or boxes, which it does not mix")


def indices(source: Source, exclude: Collection[_PathLike]) -> list[int]:
    """Return the places of the excluded paths in the source, ascending."""
    wanted = set(map(os.fsdecode, _check.items("exclude", exclude, "a list of paths", (str, bytes, os.PathLike))))
    if not wanted:
        return []
    paths = source.file_paths
    missing = wanted.difference(paths)
    if missing:
        warnings.warn(f"exclude: not in the source: {', '.join(sorted(missing))}", stacklevel=3)
    return [index for index, path in enumerate(paths) if path in wanted]


def boxes(source: Source, box_format: str, most: int | None, min_visible: float) -> dict[str, Any] | None:
    """Return what the core is told of boxes; None where the source has none."""
    if most is not None and not source.has_boxes:
        _check.fail("max_boxes", most, "None, since the source has no boxes")
    share = _check.between("min_visible", min_visible, 0, 1, "a share from 0 to 1")
    about = {
        "format": _check.choice("box_format", box_format, ("xyxy", "rel_xyxy", "xywh")),
        "most": 0 if most is None else _check.integer("max_boxes", most, 1, 2**24),
        "min_visible": share,
    }
    return about if source.has_boxes else None


def views(source: Source, views: int) -> int:
    """Return the number of views."""
    count = _check.integer("views", views, 1, 2**10)
    if count > 1 and (source.has_masks or source.has_boxes):
        _check.fail("views", views, "1 for a source with masks or boxes")
    return count


def pad_last(pad_last: bool, source: Source, drop_remainder: bool) -> bool:
    """Return whether the last batch is padded."""
    padded = _check.boolean("pad_last", pad_last)
    if padded and not (source.has_labels or source.has_masks or source.has_boxes):
        _check.fail("pad_last", padded, "False for a source without labels, masks or boxes, which weights go with")
    if padded and drop_remainder:
        _check.fail("pad_last", padded, "False with drop_remainder=True, which leaves out what would be padded")
    return padded


def most_bad(max_bad: float | None, on_error: str, samples: int) -> int:
    """Return how many bad files are put up with."""
    if max_bad is None:
        return 2**63 - 1
    if on_error == "raise":
        _check.fail("max_bad", max_bad, 'None with on_error="raise"')
    if isinstance(max_bad, (float, np.floating)):
        if not 0 <= max_bad <= 1:
            _check.fail("max_bad", max_bad, "an integer >= 0, or a share from 0.0 to 1.0")
        return int(max_bad * samples)
    return _check.integer("max_bad", max_bad, 0)
