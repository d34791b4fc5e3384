#!/usr/bin/env python3
"""Trains on a list of JPEGs: train.py LIST ROOT CLASSES, with "path label" a line in the list.

After `make demo`: train.py build/demo/data/train.txt build/demo/data 12
"""

import sys

import keras
from keras import layers

import tfgoloader as tgl
from tfgoloader import ops

path, root, classes = sys.argv[1], sys.argv[2], int(sys.argv[3])

train = tgl.ImageLoader(
    tgl.sources.ListFile(path, root=root),
    [ops.RandomCrop(224, 224), ops.RandomFlip("horizontal"), ops.Rescaling(1 / 127.5, offset=-1)],
    labels=ops.OneHot(classes),
    batch_size=32, shuffle=True, drop_remainder=True, seed=7,
)  # fmt: skip
model = keras.Sequential(
    [
        layers.Conv2D(32, 8, 8, activation="relu"),
        layers.Conv2D(64, 3, 2, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(classes, activation="softmax"),
    ]
)
model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
model.fit(train.as_dataset(), epochs=10, shuffle=False)  # the loader has shuffled
