#!/usr/bin/env python3
"""Batches as NumPy arrays in a plain loop: numpy_loop.py DIRECTORY, which holds a folder of JPEGs for each class.

It computes each channel's mean and variance, what ops.Normalization(mean=..., variance=...) wants.
After `make demo`: numpy_loop.py build/demo/data/train
"""

import sys

import numpy as np

import tfgoloader as tgl
from tfgoloader import ops

with tgl.ImageLoader(tgl.sources.Directory(sys.argv[1]), [ops.CenterCrop(224, 224)], batch_size=64) as loader:
    sums, squares, pixels = np.zeros(3), np.zeros(3), 0
    for images, _labels in loader:  # float32, (batch, 224, 224, 3), and int64, (batch,)
        sums += images.sum(axis=(0, 1, 2), dtype=np.float64)
        squares += np.square(images).sum(axis=(0, 1, 2), dtype=np.float64)
        pixels += images[..., 0].size
    mean = sums / pixels
    print(f"{loader.num_samples} pictures of the classes {loader.class_names}")
    print(f"mean {mean}, variance {squares / pixels - mean**2}, of values from 0 to 255")
