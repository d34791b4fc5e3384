"""from_image_data_generator: what Keras' ImageDataGenerator does to pictures, as a list of operations."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from tfgoloader import _check, ops
from tfgoloader._errors import ConfigError

_INTERPOLATIONS = {0: "nearest", 1: "bilinear"}


def from_image_data_generator(generator: Any, *, strict: bool = True) -> list[ops.Op]:
    """Return the operations for a loader that do what a Keras ImageDataGenerator does to each picture, in its order.

    They follow a `Resizing` or a crop, as target_size comes first in flow_from_directory. What the generator says of
    files and arrays goes elsewhere: data_format to the loader, validation_split to `image_dataset_from_directory`.

        loader = tgl.ImageLoader(source, [ops.Resizing(150, 150, "nearest"), *tgl.from_image_data_generator(generator)])

    Mapped are rotation_range, width_shift_range and height_shift_range as shares of the size, zoom_range, fill_mode,
    cval, interpolation_order 0 and 1, horizontal_flip, vertical_flip, rescale, and featurewise_center and
    featurewise_std_normalization with what `generator.fit` has found. The ranges are the same, the draws are our own.
    What Keras 3 has the wrong way round is the right way here: its height_shift_range moves columns and its
    width_shift_range rows, and it turns pictures that are not square about a point beside their middle.

    Args:
        generator: keras.src.legacy.preprocessing.image.ImageDataGenerator, or one of an older Keras.
        strict: whether an argument without an operation of the same effect is an error. False warns of each, and takes
            the operation that comes near, if there is one: for shear_range, which is about the middle, RandomShear,
            which is about a corner; for channel_shift_range RandomBrightness, which clips to 0 and 255 in place of the
            picture's own least and largest value; for fill_mode="wrap", by which SciPy lets first and last pixels fall
            together, that of Keras' layers. The others are left out.

    Raises:
        ConfigError: it is no ImageDataGenerator, or, with strict, an argument that it was given cannot be mapped; all
            such arguments are named.
    """
    if not any(kind.__name__ == "ImageDataGenerator" for kind in type(generator).__mro__):
        _check.fail("generator", generator, "a Keras ImageDataGenerator")
    unlike = list(_unlike(generator))
    if unlike and strict:
        raise ConfigError(f"generator: {'; '.join(unlike)}; strict=False goes on without")
    for text in unlike:
        warnings.warn(text, stacklevel=2)
    return [*_geometry(generator), *_colours(generator), *_flips(generator), *_values(generator)]


def _unlike(generator: Any) -> Iterator[str]:
    """Give a line for each argument that no operation has the effect of."""
    reasons = {
        "shear_range": "shears about the middle, ops.RandomShear about a corner",
        "brightness_range": "multiplies, ops.RandomBrightness adds",
        "channel_shift_range": "clips to the picture's own range, ops.RandomBrightness to 0 and 255",
        "preprocessing_function": "is Python's; what it does may be Rescaling or Normalization",
        "samplewise_center": "depends on all of the picture's values",
        "samplewise_std_normalization": "depends on all of the picture's values",
        "zca_whitening": "mixes all of the picture's values",
        "_validation_split": "splits files, as tfgoloader.image_dataset_from_directory can",
    }
    for name, reason in reasons.items():
        if value := getattr(generator, name):
            yield f"{name.lstrip('_')}={value!r} {reason}"
    if generator.fill_mode == "wrap" and any(_geometry(generator)):
        yield "fill_mode='wrap' overlaps by a pixel, that of the operations does not"
    for name in ("width_shift_range", "height_shift_range"):
        value = getattr(generator, name)
        if np.any(value) and not _is_share(value):
            yield f"{name}={value!r} is in pixels or a list, ops.RandomTranslation takes a share of the size"
    least, most = generator.zoom_range
    if not 0 < least <= most <= 2:
        yield f"zoom_range={generator.zoom_range!r} is not within 0 and 2"
    if generator.interpolation_order not in _INTERPOLATIONS:
        yield f"interpolation_order={generator.interpolation_order!r} is neither 0 nor 1"
    if np.dtype(generator.dtype) != np.float32:
        yield f"dtype={generator.dtype!r} is not float32"
    for name, found in (("featurewise_center", "mean"), ("featurewise_std_normalization", "std")):
        if getattr(generator, name) and getattr(generator, found) is None:
            yield f"{name}=True needs generator.fit"


def _is_share(value: Any) -> bool:
    return isinstance(value, (float, np.floating)) and 0 < abs(float(value)) < 1


def _geometry(generator: Any) -> Iterator[ops.Op]:
    """Give the generator's one transformation as the turns and shifts that it multiplies."""
    how: dict[str, Any] = {
        "fill_mode": generator.fill_mode,
        "interpolation": _INTERPOLATIONS.get(generator.interpolation_order, "bilinear"),
        "fill_value": float(generator.cval),
    }
    if generator.rotation_range:
        yield ops.RandomRotation(generator.rotation_range / 360, **how)
    height, width = (
        abs(float(value)) if _is_share(value) else 0.0
        for value in (generator.height_shift_range, generator.width_shift_range)
    )
    if height or width:
        yield ops.RandomTranslation(height, width, **how)
    if generator.shear_range:
        yield ops.RandomShear(x_factor=abs(math.sin(math.radians(generator.shear_range))), **how)
    least, most = generator.zoom_range
    if 0 < least <= most <= 2 and (least, most) != (1, 1):
        yield ops.RandomZoom((least - 1, most - 1), (least - 1, most - 1), **how)


def _colours(generator: Any) -> Iterator[ops.Op]:
    if generator.channel_shift_range:
        yield ops.RandomBrightness(min(1.0, abs(generator.channel_shift_range) / 255))


def _flips(generator: Any) -> Iterator[ops.Op]:
    modes = [mode for mode in ("horizontal", "vertical") if getattr(generator, f"{mode}_flip")]
    if modes:
        yield ops.RandomFlip("_and_".join(modes))


def _values(generator: Any) -> Iterator[ops.Op]:
    if generator.rescale:
        yield ops.Rescaling(generator.rescale)
    mean = generator.mean if generator.featurewise_center else None
    std = generator.std if generator.featurewise_std_normalization else None
    if mean is not None or std is not None:
        yield ops.Normalization(
            mean=0.0 if mean is None else np.ravel(mean).tolist(),
            variance=1.0 if std is None else ((np.ravel(std).astype(float) + 1e-6) ** 2).tolist(),  # as it divides
        )
