"""Other libraries' transforms as operations; each library is imported by whoever made the transform."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tfgoloader import _check
from tfgoloader.ops._external import Python

_Array = npt.NDArray[Any]
_BOX_FORMATS = {"pascal_voc": "xyxy", "albumentations": "rel_xyxy", "coco": "xywh"}


def from_albumentations(
    compose: Any,
    executor: str = "thread",
    workers: int | None = None,
    timeout: float | None = None,
    output_shape: Sequence[int] | None = None,
) -> Python:
    """Return an operation that calls an albumentations.Compose with the picture, its mask and its boxes.

    Each call is seeded with `compose.set_random_seed`, by a number of the operation's own rng; each thread has a copy
    of the transform. Masks are moved where the source has them; boxes where the Compose has bbox_params, whose format
    has to be that of the loader's box_format (pascal_voc for "xyxy", albumentations for "rel_xyxy", coco for "xywh")
    and whose label_fields are one name. Normalize and ToTensorV2 have no place in it: ops.Rescaling comes after.

    Args:
        compose: of albumentations >= 2.0.
        executor, workers, timeout, output_shape: as in `Python`; the transforms give up the GIL in OpenCV and NumPy.

    Raises:
        ConfigError: it is no Compose that can be seeded, or its bbox_params do not fit.
    """
    if not callable(getattr(compose, "set_random_seed", None)) or not hasattr(compose, "processors"):
        _check.fail("from_albumentations.compose", compose, "an albumentations.Compose of version 2.0 or later")
    label_field, box_format = None, None
    if (boxes := compose.processors.get("bboxes")) is not None:
        fields = list(boxes.params.label_fields or ())
        if len(fields) != 1:
            _check.fail("from_albumentations.compose", fields, "bbox_params with one label field")
        box_format = _BOX_FORMATS.get(boxes.params.format)
        if box_format is None:
            _check.fail("from_albumentations.compose", boxes.params.format, " or ".join(_BOX_FORMATS))
        label_field = fields[0]
    wanted = ("mask", "rng") if label_field is None else ("mask", "boxes", "box_labels", "rng")
    operation = Python(
        _Albumentations(compose, label_field), executor, workers, timeout=timeout, output_shape=output_shape
    )
    return operation._with(wanted, box_format)


class _Local(threading.local):
    """What each thread has of its own."""

    compose: Any = None


class _Albumentations:
    """Calls a Compose, of which each thread has a copy: it holds what it has drawn."""

    __name__ = "albumentations.Compose"

    def __init__(self, compose: Any, label_field: str | None) -> None:
        self._compose = compose
        self._label_field = label_field
        self._local = _Local()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._compose, self._label_field)

    def __call__(self, image: _Array, **targets: Any) -> dict[str, Any]:
        if self._local.compose is None:
            self._local.compose = copy.deepcopy(self._compose)
        compose = self._local.compose
        compose.set_random_seed(int(targets["rng"].integers(2**32)))
        data = {"image": image}
        if "mask" in targets:
            data["mask"] = targets["mask"]
        if "boxes" in targets and self._label_field is not None:
            data["bboxes"] = targets["boxes"]
            data[self._label_field] = targets["box_labels"]
        done = compose(**data)
        result: dict[str, Any] = {key: done[key] for key in ("image", "mask") if key in data}
        if "bboxes" in data and self._label_field is not None:
            result["boxes"] = np.reshape(np.asarray(done["bboxes"], np.float64), (-1, 4))
            result["box_labels"] = np.asarray(done[self._label_field], np.int64)
        return result


def from_keras_layer(
    layer: Any, workers: int | None = None, output_shape: Sequence[int] | None = None, batched: bool = False
) -> Python:
    """Return an operation that calls a Keras preprocessing layer with one picture, in training mode, and its mask.

    Its random number generators are set by numbers of the operation's own rng before each call, so one thread calls it
    at a time. The mask goes along where the source has one; boxes stay as they are. Values are rounded to the nearest
    of 0 to 255 where they are uint8. The core's own operations of the same name are many times faster: this is for
    layers that it does not have. With batched=True the layer is called once a batch, which costs less.

    Args:
        layer: keras.layers.Layer, or keras.Sequential of them, of Keras 3, that takes and gives values of 0 to 255.
        workers, output_shape, batched: as in `Python`.
    """
    if not callable(layer) or not hasattr(layer, "variables"):
        _check.fail("from_keras_layer.layer", layer, "a keras.layers.Layer of Keras 3")
    operation = Python(_KerasLayer(layer), "thread", workers, batched, output_shape=output_shape)
    return operation._with(("mask", "rng"), None)


class _KerasLayer:
    """Calls a layer, one thread at a time."""

    def __init__(self, layer: Any) -> None:
        self.__name__ = f"keras.{type(layer).__name__}"
        self._layer = layer
        self._lock = threading.Lock()

    def __call__(self, image: _Array, **targets: Any) -> dict[str, Any]:
        if image.ndim == 3:  # one picture is a batch of one
            if "mask" in targets:
                targets["mask"] = targets["mask"][np.newaxis, ..., np.newaxis]
            return {name: array[0] for name, array in self(image[np.newaxis], **targets).items()}
        images: Any = image.astype(np.float32)
        if "mask" in targets:
            images = {"images": images, "segmentation_masks": targets["mask"]}
        with self._lock:
            for variable in self._layer.variables:
                if variable.name == "seed_generator_state":
                    variable.assign(targets["rng"].integers(2**31, size=2))
            done = self._layer(images, training=True)
        if "mask" not in targets:
            return {"image": _cast(done, image.dtype)}
        mask = _cast(done["segmentation_masks"], np.dtype(np.uint8))
        return {"image": _cast(done["images"], image.dtype), "mask": mask}


def _cast(values: Any, dtype: np.dtype[Any]) -> _Array:
    array = np.asarray(values)
    return array.astype(dtype) if dtype != np.uint8 else np.rint(array.clip(0, 255)).astype(np.uint8)


def from_torchvision(
    transform: Callable[..., Any],
    executor: str = "process",
    workers: int | None = None,
    timeout: float | None = None,
    output_shape: Sequence[int] | None = None,
) -> Python:
    """Return an operation that calls a torchvision.transforms.v2 transform with the picture, its mask and its boxes.

    Each call is seeded with torch.manual_seed, by a number of the operation's own rng, and leaves torch's generator as
    it was; since that belongs to the whole process, one thread calls at a time, and processes are the default. Masks
    and boxes go along as tv_tensors; the loader's box_format has to be "xyxy". ToDtype and Normalize have no place in
    it: ops.Rescaling comes after.

    Args:
        transform: a transform of version 2, or a Compose of them.
        executor, workers, timeout, output_shape: as in `Python`.
    """
    if not callable(transform):
        _check.fail("from_torchvision.transform", transform, "a transform of torchvision.transforms.v2")
    operation = Python(_Torchvision(transform), executor, workers, timeout=timeout, output_shape=output_shape)
    return operation._with(("mask", "boxes", "box_labels", "rng"), "xyxy")


class _Torchvision:
    """Calls a transform, one thread at a time."""

    def __init__(self, transform: Callable[..., Any]) -> None:
        self.__name__ = f"torchvision.{type(transform).__name__}"
        self._transform = transform
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._transform,)

    def __call__(self, image: _Array, **targets: Any) -> dict[str, Any]:
        import torch
        from torchvision import tv_tensors

        sample: dict[str, Any] = {"image": tv_tensors.Image(torch.from_numpy(image).permute(2, 0, 1))}
        if "mask" in targets:
            sample["mask"] = tv_tensors.Mask(torch.from_numpy(targets["mask"]))
        if "boxes" in targets:
            size = image.shape[:2]
            sample["boxes"] = tv_tensors.BoundingBoxes(targets["boxes"], format="XYXY", canvas_size=size)
            sample["labels"] = torch.from_numpy(targets["box_labels"])
        with self._lock, torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(targets["rng"].integers(2**63)))
            done = self._transform(sample)
        result = {"image": done["image"].permute(1, 2, 0).numpy()}
        if "mask" in targets:
            result["mask"] = done["mask"].numpy()
        if "boxes" in targets:
            result["boxes"], result["box_labels"] = done["boxes"].numpy(), done["labels"].numpy()
        return result
