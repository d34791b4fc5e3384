#!/usr/bin/env python3
"""OpenCV as an operation: opencv.py DIRECTORY, which holds a folder of JPEGs for each class.

After `make demo`: opencv.py build/demo/data/train
"""

import sys

import cv2
import numpy as np

import tfgoloader as tgl
from tfgoloader import ops

cv2.setNumThreads(0)  # the loader already has a thread for each core


def turn_and_blur(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    height, width = image.shape[:2]
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), rng.uniform(-15, 15), 1.0)
    turned = cv2.warpAffine(image, turn, (width, height), borderMode=cv2.BORDER_REFLECT)
    return cv2.GaussianBlur(turned, (5, 5), rng.uniform(0.3, 1.5))


operations = [ops.RandomCrop(224, 224), ops.Python(turn_and_blur), ops.RandomFlip("horizontal")]
with tgl.ImageLoader(tgl.sources.Directory(sys.argv[1]), operations, batch_size=64, dtype="uint8") as loader:
    for images, _labels in loader:
        assert images.shape[1:] == (224, 224, 3)
    figures = loader.stats()["functions"]["turn_and_blur"]
print(f"{figures['calls']} calls, {1000 * figures['seconds'] / figures['calls']:.2f} ms each")
