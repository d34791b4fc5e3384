"""One picture of many: what the model will see, with what is known about it."""

from __future__ import annotations

import copy
import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tfgoloader._errors import TfGoLoaderError
from tfgoloader._position import Progress
from tfgoloader.ops._external import External
from tfgoloader.ops._op import Op
from tfgoloader.ops._values import Normalization, Rescaling

if TYPE_CHECKING:
    from tfgoloader._loader import ImageLoader

_MARGIN = 4
_CAPTION = 14  # pixels of text above a picture
_COLOURS = np.array(
    [(230, 60, 50), (60, 160, 230), (90, 190, 80), (240, 180, 40), (170, 90, 200), (90, 200, 200), (240, 130, 180)],
    np.uint8,
)


def draw(loader: ImageLoader, n: int) -> npt.NDArray[np.uint8]:
    """Return a grid of a loader's first samples, from a loader of its own that keeps 8-bit values."""
    import PIL.Image  # noqa: F401  or it would be missed only after the work

    own = copy.copy(loader)
    own._progress = Progress()
    own._operations = _of_bytes(loader._operations)
    own._batch_ops = [op for op in loader._batch_ops if not isinstance(op, External)]  # they expect another dtype
    own._spec = {
        **loader._spec,
        "ops": [op._spec() for op in own._operations],
        "batch_ops": [op._spec() for op in own._batch_ops],
        "dtype": "uint8",
        "data_format": "channels_last",
        "prefetch": 0,
        "pad_last": False,
        "return_meta": False,
    }
    own._return_meta = False
    own._open()
    source = loader._source
    has_targets = source.has_labels or source.has_masks or source.has_boxes
    with own:
        box_format = (loader._spec["boxes"] or {}).get("format")
        batches = (_samples(batch, has_targets, box_format) for batch in own)
        samples = list(itertools.islice(itertools.chain.from_iterable(batches), n))
    if not samples:
        raise TfGoLoaderError("there is nothing to preview: the loader has no batch")
    return grid(samples, loader.class_names)


def _of_bytes(operations: list[Op]) -> list[Op]:
    """Return the operations on values of 0 to 255: no Rescaling, no Normalization, no function that comes after one."""
    kept: list[Op] = []
    for place, op in enumerate(operations):
        after = len(kept) < place
        if not isinstance(op, (Rescaling, Normalization)) and not (after and isinstance(op, External)):
            kept.append(op)
    return kept


def _edges(box: Any, box_format: str, height: int, width: int) -> Any:
    """Return a box's left, upper, right and lower edge in pixels."""
    if box_format == "xywh":
        return box[0], box[1], box[0] + box[2], box[1] + box[3]
    return box * (width, height, width, height) if box_format == "rel_xyxy" else box


def _samples(batch: Any, has_targets: bool, box_format: str | None) -> list[dict[str, Any]]:
    images, targets = batch if has_targets else (batch, {})
    views = images if isinstance(images, tuple) else (images,)
    if not isinstance(targets, dict):
        targets = {"segmentation_masks" if targets.ndim == 4 else "labels": targets}
    elif "count" in targets:
        targets = {"bounding_boxes": targets}
    samples = []
    for index in range(len(views[0])):
        sample: dict[str, Any] = {"images": [view[index] for view in views]}
        sample.update((name, targets[name][index]) for name in ("labels", "segmentation_masks") if name in targets)
        if box_format is not None:
            boxes = targets["bounding_boxes"]
            found = boxes["boxes"][index][: boxes["count"][index]]
            edges = [_edges(box, box_format, *views[0].shape[1:3]) for box in found]
            sample["bounding_boxes"] = list(zip(edges, boxes["labels"][index], strict=False))
        samples.append(sample)
    return samples


def grid(samples: list[dict[str, Any]], class_names: list[str] | None) -> npt.NDArray[np.uint8]:
    """Return the samples side by side, as many in a row as there are rows; (height, width, 3) uint8.

    Each has "images", a list of views, all (height, width, channels) of 0 to 255, and, where they are known, "labels",
    "segmentation_masks" (height, width, 1) and "bounding_boxes" in pixels, as (left, top, right, bottom) with "labels".
    """
    tiles = [_tile(sample, class_names) for sample in samples]
    columns = math.ceil(math.sqrt(len(tiles)))
    height, width = tiles[0].shape[:2]
    rows = math.ceil(len(tiles) / columns)
    sheet = np.full((rows * (height + _MARGIN) + _MARGIN, columns * (width + _MARGIN) + _MARGIN, 3), 255, np.uint8)
    for index, tile in enumerate(tiles):
        row, column = divmod(index, columns)
        top, left = _MARGIN + row * (height + _MARGIN), _MARGIN + column * (width + _MARGIN)
        sheet[top : top + height, left : left + width] = tile
    return sheet


def _tile(sample: dict[str, Any], class_names: list[str] | None) -> npt.NDArray[np.uint8]:
    from PIL import Image, ImageDraw

    views = [_rgb(view) for view in sample["images"]]
    if "segmentation_masks" in sample:
        views = [_tinted(view, sample["segmentation_masks"][..., 0]) for view in views]
    picture = Image.fromarray(np.concatenate(views, axis=1))
    draw = ImageDraw.Draw(picture)
    for box, label in sample.get("bounding_boxes", ()):
        colour = tuple(int(value) for value in _COLOURS[label % len(_COLOURS)])
        left, top, right, bottom = (float(value) for value in box)
        draw.rectangle((left, top, max(left, right - 1), max(top, bottom - 1)), outline=colour, width=2)
        draw.text((left + 3, top + 2), _name(label, class_names), fill=colour)
    caption = _caption(sample.get("labels"), class_names)
    if not caption:
        return np.asarray(picture)
    tile = Image.new("RGB", (picture.width, picture.height + _CAPTION), "white")
    tile.paste(picture, (0, _CAPTION))
    ImageDraw.Draw(tile).text((1, 1), caption, fill="black")
    return np.asarray(tile)


def _rgb(view: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    return np.broadcast_to(view, (*view.shape[:2], 3)) if view.shape[2] == 1 else view[..., :3]


def _tinted(view: npt.NDArray[np.uint8], mask: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    colours = _COLOURS[(mask.astype(int) - 1) % len(_COLOURS)]
    blended = (view.astype(np.uint16) + colours) // 2
    return np.where(mask[..., None] == 0, view, blended.astype(np.uint8))


def _name(label: int, class_names: list[str] | None) -> str:
    return class_names[label] if class_names and 0 <= label < len(class_names) else str(label)


def _caption(label: Any, class_names: list[str] | None) -> str:
    """Name the class of a label, or the classes that a soft one has a share of."""
    if label is None:
        return ""
    label = np.asarray(label)
    if label.ndim == 0:
        return _name(int(label), class_names)
    classes = np.flatnonzero(label >= max(0.1, label.max() / 4))
    if len(classes) == 1:
        return _name(int(classes[0]), class_names)
    return ", ".join(f"{_name(int(index), class_names)} {label[index]:.2f}" for index in classes)
