#!/usr/bin/env python3
"""An albumentations.Compose as an operation: with_albumentations.py DIRECTORY, a folder of JPEGs for each class.

It wants `pip install albumentations`. After `make demo`: with_albumentations.py build/demo/data/train
"""

import sys

import albumentations as A
import cv2

import tfgoloader as tgl
from tfgoloader import ops

cv2.setNumThreads(0)  # the loader already has a thread for each core

transform = A.Compose([A.RandomBrightnessContrast(p=0.5), A.Affine(rotate=(-15, 15), p=0.5), A.GaussNoise(p=0.3)])
operations = [
    ops.RandomCrop(224, 224),
    ops.from_albumentations(transform),
    ops.RandomFlip("horizontal"),
    ops.Rescaling(1 / 127.5, offset=-1),  # in place of A.Normalize
]
with tgl.ImageLoader(tgl.sources.Directory(sys.argv[1]), operations, batch_size=64, seed=7) as loader:
    for images, _labels in loader:
        assert images.shape[1:] == (224, 224, 3)
    figures = loader.stats()["functions"]["albumentations.Compose"]
print(f"{figures['calls']} calls, {1000 * figures['seconds'] / figures['calls']:.2f} ms each")
