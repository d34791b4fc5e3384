"""Augmentations in Python that the peers of python_op.py call, each with a picture of uint8 and random numbers."""

import cv2
import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]

cv2.setNumThreads(0)  # pictures are what is done at once, in every peer


def opencv(image: Picture, rng: np.random.Generator) -> Picture:
    """A warp, a blur and another saturation, by functions that give up the GIL."""
    height, width = image.shape[:2]
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), rng.uniform(-15, 15), rng.uniform(0.9, 1.1))
    turned = cv2.warpAffine(image, turn, (width, height), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
    blurred = cv2.GaussianBlur(turned, (5, 5), rng.uniform(0.3, 1.5))
    gray = cv2.cvtColor(cv2.cvtColor(blurred, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)
    share = rng.uniform(0.6, 1.4)
    return cv2.addWeighted(blurred, share, gray, 1 - share, rng.uniform(-20, 20))


def loop(image: Picture, rng: np.random.Generator, rounds: int = 30) -> Picture:
    """A loop of Python's own over every eighth pixel, which keeps the GIL for some milliseconds."""
    level = int(rng.integers(256))
    for row in image[::8, ::8].tolist():
        for red, green, blue in row:
            for _ in range(rounds):
                level = (level * 31 + red * 7 + green * 5 + blue * 3) % 257
    return image ^ np.uint8(level % 256)


def long_loop(image: Picture, rng: np.random.Generator) -> Picture:
    """The same for three times as long: beside it, decoding is little."""
    return loop(image, rng, 100)


FUNCTIONS = {"opencv": opencv, "loop": loop, "long_loop": long_loop}
