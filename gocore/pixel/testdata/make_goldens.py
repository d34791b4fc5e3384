"""Makes the pictures that the tests compare with, by the libraries themselves.

    python make_goldens.py keras opencv pillow torchvision
    python make_goldens.py warp border half

writes one file for each name: an archive of arrays, each of which says in its name how it came about. The first are for
TestResampleIsLikeTheLibraries; the others, by TensorFlow, NumPy and ml_dtypes, for tests of what they are called after.
"""

import sys
from pathlib import Path

import numpy as np

# Width and height before and after: smaller, larger, halved, by whole numbers, much smaller, both ways, and as it was.
SIZES = [
    (37, 29, 11, 8),
    (13, 7, 14, 9),
    (24, 16, 12, 8),
    (36, 20, 6, 10),
    (90, 61, 8, 5),
    (9, 50, 14, 7),
    (50, 9, 8, 11),
    (10, 7, 10, 7),
]
BOXES = [(0.3, 1.25, 30.7, 28.5), (5.0, 3.0, 13.5, 9.75)]

# Width and height before and after.
WARPED = [(13, 9, 17, 12), (8, 21, 9, 6), (1, 6, 5, 7), (4, 1, 7, 3)]
MATRICES = {
    "same": (1, 0, 0, 0, 1, 0, 0, 0),
    "moved": (1, 0, -3.25, 0, 1, 2.5, 0, 0),
    "moved whole": (1, 0, 5, 0, 1, -2, 0, 0),
    "turned": (0.87, -0.49, 3.1, 0.49, 0.87, -2.3, 0, 0),
    "mirrored": (-1.1, 0.05, 12.3, 0.2, 0.9, -0.7, 0, 0),
    "sheared": (1, 0.6, -2.2, 0, 1, 0, 0, 0),
    "shrunk": (5.3, 1.9, -31.7, -2.1, 6.7, -9.9, 0, 0),
    "enlarged": (0.21, 0.02, 1.7, -0.01, 0.13, 0.9, 0, 0),
    "to a line": (0, 0.5, 3.2, 0, 1.25, 0.4, 0, 0),
    "tilted": (0.9, -0.2, 2.4, 0.15, 1.05, -0.9, 0.012, -0.007),
    "behind": (1.2, 0.3, -4.1, 0.1, 0.8, 1.3, -0.25, 0.125),
}


def picture(width: int, height: int, channels: int = 3) -> np.ndarray:
    """Bytes of a linear congruential generator; those divisible by 8 are made 0 or 255, so that kernels overshoot."""
    state, values = 1, []
    for _ in range(width * height * channels):
        state = (state * 1664525 + 1013904223) % 2**32
        value = state >> 24
        values.append(value if value % 8 else 255 * (value >= 128))
    return np.array(values, np.uint8).reshape(height, width, channels)


def keras(goldens: dict[str, np.ndarray]) -> None:
    import keras
    import tensorflow as tf

    for width, height, to_width, to_height in SIZES:
        image = picture(width, height)
        for method in ("nearest", "bilinear", "bicubic", "area", "lanczos3", "lanczos5"):
            for antialias in (False,) if method in ("nearest", "area") else (False, True):
                name = f"{method} {antialias:d} {width} {height} {to_width} {to_height} 0 0 {width} {height}"
                resized = tf.image.resize(image, (to_height, to_width), method, antialias=antialias)
                goldens[f"float32 {name}"] = tf.cast(resized, tf.float32).numpy()
                layer = keras.layers.Resizing(to_height, to_width, method, antialias=antialias, dtype="uint8")
                goldens[f"uint8 {name}"] = np.asarray(layer(image))


def opencv(goldens: dict[str, np.ndarray]) -> None:
    import cv2

    methods = {"nearest": "NEAREST", "bilinear": "LINEAR", "bicubic": "CUBIC", "area": "AREA", "lanczos4": "LANCZOS4"}
    for width, height, to_width, to_height in SIZES:
        for method, flag in methods.items():
            name = f"uint8 {method} 0 {width} {height} {to_width} {to_height} 0 0 {width} {height}"
            interpolation = getattr(cv2, f"INTER_{flag}")
            goldens[name] = cv2.resize(picture(width, height), (to_width, to_height), interpolation=interpolation)


def pillow(goldens: dict[str, np.ndarray]) -> None:
    from PIL import Image

    methods = {"nearest": "NEAREST", "bilinear": "BILINEAR", "bicubic": "BICUBIC", "area": "BOX", "lanczos3": "LANCZOS"}
    cases = [(*size, (0, 0, *size[:2])) for size in SIZES] + [(37, 29, 11, 8, box) for box in BOXES]
    for width, height, to_width, to_height, box in cases:
        for method, flag in methods.items():
            resized = Image.fromarray(picture(width, height)).resize(
                (to_width, to_height), Image.Resampling[flag], box=box
            )
            ends = " ".join(map(str, box))
            goldens[f"uint8 {method} 1 {width} {height} {to_width} {to_height} {ends}"] = np.asarray(resized)


def torchvision(goldens: dict[str, np.ndarray]) -> None:
    import torch
    from torchvision.transforms import InterpolationMode
    from torchvision.transforms.v2.functional import resize

    for width, height, to_width, to_height in SIZES:
        image = torch.from_numpy(picture(width, height)).permute(2, 0, 1)
        for method in ("nearest", "bilinear", "bicubic", "lanczos"):
            for antialias in (True,) if method == "lanczos" else (False, True):
                named = "lanczos3" if method == "lanczos" else method
                name = f"uint8 {named} {antialias:d} {width} {height} {to_width} {to_height} 0 0 {width} {height}"
                resized = resize(image, [to_height, to_width], InterpolationMode(method), antialias=antialias)
                goldens[name] = resized.permute(1, 2, 0).contiguous().numpy()


def warp(goldens: dict[str, np.ndarray]) -> None:
    import tensorflow as tf

    for width, height, to_width, to_height in WARPED:
        image = picture(width, height).astype(np.float32)[np.newaxis]
        for matrix in MATRICES.values():
            numbers = " ".join(str(np.float32(value)) for value in matrix)
            for interpolation in ("nearest", "bilinear"):
                for fill in ("constant", "nearest", "reflect", "wrap"):
                    name = f"{interpolation} {fill} 77.25 {width} {height} {to_width} {to_height} {numbers}"
                    goldens[name] = tf.raw_ops.ImageProjectiveTransformV3(
                        images=image,
                        transforms=np.array([matrix], np.float32),
                        output_shape=(to_height, to_width),
                        fill_value=77.25,
                        interpolation=interpolation.upper(),
                        fill_mode=fill.upper(),
                    )[0].numpy()


def border(goldens: dict[str, np.ndarray]) -> None:
    borders = [(5, 4, 2, 1, 3, 0), (3, 2, 9, 5, 4, 7), (1, 1, 2, 3, 1, 0), (4, 3, 0, 0, 0, 0)]
    for width, height, left, top, right, bottom in borders:
        for fill, mode in {"constant": "constant", "nearest": "edge", "reflect": "symmetric", "wrap": "wrap"}.items():
            constants = {"constant_values": 77} if fill == "constant" else {}
            padded = np.pad(picture(width, height), ((top, bottom), (left, right), (0, 0)), mode, **constants)
            goldens[f"{fill} 77 {width} {height} {left} {top} {right} {bottom}"] = padded


def half(goldens: dict[str, np.ndarray]) -> None:
    import ml_dtypes

    affines = [(1, 0), (1 / 255, 0), (1 / 127.5, -1), (-3.7e-7, 1e-6), (1 / 58.395, -123.675 / 58.395), (300.7, -9000)]
    levels = np.arange(256)
    values = [(levels * scale + offset).astype(np.float32) for scale, offset in affines]
    bits = np.random.default_rng(1).integers(0, 2**32, 4096, np.uint64).astype(np.uint32).view(np.float32)
    floats = np.concatenate([*values, bits[np.isfinite(bits)]])
    goldens["floats"] = floats
    with np.errstate(over="ignore"):
        goldens["float16"] = floats.astype(np.float16).view(np.uint16)
    goldens["bfloat16"] = floats.astype(ml_dtypes.bfloat16).view(np.uint16)
    # Half way from each positive number to the next; the last, to infinity.
    exact = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float32)
    halfway = (exact + np.append(exact[1:], np.float32(2**16))) / 2
    with np.errstate(over="ignore"):
        goldens["halfway"] = halfway.astype(np.float16).view(np.uint16)


if __name__ == "__main__":
    for library in sys.argv[1:]:
        goldens: dict[str, np.ndarray] = {}
        makers = (keras, opencv, pillow, torchvision, warp, border, half)
        {maker.__name__: maker for maker in makers}[library](goldens)
        np.savez_compressed(Path(__file__).with_name(f"{library}.npz"), **goldens)
