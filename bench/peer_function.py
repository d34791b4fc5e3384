"""Peers of python_op.py: they decode JPEGs, cut a random window, and call a function of Python with it.

The variant is the function's name and the feeder's, with a colon between.
"""

import math
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from peer import BATCH, SEED, SIDE, Epoch, Work, serve, tensors, work
from python_functions import FUNCTIONS

INVERT = """
#include <tfgoloader_native.h>
int32_t invert(
    void *pixels, int64_t height, int64_t width, int64_t channels, int64_t stride, uint64_t seed, void *user_data) {
    (void)seed, (void)user_data;
    for (int64_t y = 0; y < height; y++) {
        uint8_t *row = (uint8_t *)pixels + y * stride;
        for (int64_t x = 0; x < width * channels; x++) row[x] = 255 - row[x];
    }
    return 0;
}
"""


def window(path: str, draw: np.random.Generator) -> NDArray[np.uint8]:
    """A random window of a picture, decoded by OpenCV, which gives up the GIL."""
    pixels = cv2.imread(path, cv2.IMREAD_COLOR_RGB)
    assert pixels is not None
    top = draw.integers(pixels.shape[0] - SIDE + 1)
    left = draw.integers(pixels.shape[1] - SIDE + 1)
    return pixels[top : top + SIDE, left : left + SIDE]


def invert_in_c() -> Any:
    """The operation that calls a C function."""
    import tfgoloader as tgl

    folder = Path(tempfile.mkdtemp())
    (folder / "invert.c").write_text(INVERT)
    flags = ["-O3", "-march=native", "-shared", "-fPIC", f"-I{tgl.get_include()}"]
    subprocess.run(["cc", *flags, "-o", folder / "invert.so", folder / "invert.c"], check=True)
    return tgl.ops.Native("invert", folder / "invert.so")


def invert_by_numba() -> Any:
    """The operation that calls what numba compiles."""
    import numba
    import tfgoloader as tgl

    @numba.cfunc("int32(voidptr, int64, int64, int64, int64, uint64, voidptr)")
    def invert(pixels: Any, height: int, width: int, channels: int, stride: int, seed: int, user_data: Any) -> int:
        rows = numba.carray(pixels, (height, stride), np.uint8)
        for y in range(height):
            for x in range(width * channels):
                rows[y, x] = 255 - rows[y, x]
        return 0

    return tgl.ops.Native(invert)


def tfgoloader(task: Work, function: str, how: str) -> Epoch:
    """This project; how is thread, process, one (process), native, numba or built_in."""
    from tfgoloader import ops

    from peer_tfgoloader import make

    if how == "native":
        operation = invert_in_c()
    elif how == "numba":
        operation = invert_by_numba()
    elif how == "built_in":
        operation = ops.RandomInvert((1.0, 1.0))
    elif how == "thread":
        operation = ops.Python(FUNCTIONS[function], workers=task.workers)
    else:
        operation = ops.Python(FUNCTIONS[function], "process", workers=1 if how == "one" else task.workers)
    loader = make(task, [ops.RandomCrop(SIDE, SIDE), operation, ops.Rescaling(1 / 127.5, offset=-1)])
    return lambda: loader


def tf_data(task: Work, function: str, how: str) -> Epoch:
    """tf.data, its function called by numpy_function or py_function.

    They decode only the window, which is the fastest; numpy_function_whole decodes all of it, as most users write it.
    """
    from peer_tfdata import batches, tf, whole, window

    draw = np.random.default_rng(SEED)
    call = FUNCTIONS[function]

    def load(path: Any, label: Any) -> tuple[Any, Any]:
        pixels = whole(path) if how == "numpy_function_whole" else window(path)
        if how == "py_function":
            pixels = tf.py_function(lambda image: call(image.numpy(), draw), [pixels], tf.uint8)
        else:
            pixels = tf.numpy_function(lambda image: call(image, draw), [pixels], tf.uint8)
        pixels = tf.ensure_shape(pixels, [SIDE, SIDE, 3])
        return tf.cast(pixels, tf.float32) / 127.5 - 1.0, tf.one_hot(label, task.classes)

    return tensors(batches(task, load))


class Samples:
    """One sample by index: what torch calls a map-style data set."""

    def __init__(self, task: Work, function: str) -> None:
        self.task = task
        self.call = FUNCTIONS[function]
        self.draw = np.random.default_rng(SEED)

    def __len__(self) -> int:
        return len(self.task.paths)

    def __getitem__(self, index: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        pixels = self.call(window(self.task.paths[index], self.draw), self.draw)
        label = np.eye(self.task.classes, dtype=np.float32)[self.task.labels[index]]
        return pixels.astype(np.float32) / np.float32(127.5) - np.float32(1), label


def torch(task: Work, function: str, _how: str) -> Epoch:
    """torch's DataLoader with a process a worker."""
    from torch.utils.data import DataLoader

    loader = DataLoader(
        Samples(task, function), BATCH, shuffle=True, drop_last=True, num_workers=task.workers, persistent_workers=True
    )
    return lambda: ((images.numpy(), labels.numpy()) for images, labels in loader)


def py_dataset(task: Work, function: str, _how: str) -> Epoch:
    """keras.utils.PyDataset with use_multiprocessing, as model.fit iterates it."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import keras
    from keras.src.trainers.data_adapters.py_dataset_adapter import PyDatasetAdapter

    class Batches(keras.utils.PyDataset):
        def __init__(self) -> None:
            super().__init__(workers=task.workers, use_multiprocessing=True, max_queue_size=4)
            self.samples = Samples(task, function)

        def __len__(self) -> int:
            return math.floor(len(self.samples) / BATCH)

        def __getitem__(self, number: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
            images, labels = zip(
                *(self.samples[index] for index in range(number * BATCH, (number + 1) * BATCH)), strict=True
            )
            return np.stack(images), np.stack(labels)

    adapter = PyDatasetAdapter(Batches(), shuffle=True)

    def epoch() -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        adapter.on_epoch_begin()
        for images, labels in adapter.get_tf_dataset():
            yield images._numpy(), labels._numpy()
        adapter.on_epoch_end()

    return epoch


FEEDERS = {
    **dict.fromkeys(("thread", "process", "one", "native", "numba", "built_in"), tfgoloader),
    **dict.fromkeys(("numpy_function", "numpy_function_whole", "py_function"), tf_data),
    "torch": torch,
    "py_dataset": py_dataset,
}


def main() -> None:
    task = work()
    function, _, how = task.variant.partition(":")
    packages = ["tfgoloader", "tensorflow-cpu", "keras", "torch", "opencv-python-headless", "opencv-python", "numba"]
    serve(task, FEEDERS[how](task, function, how), packages)


if __name__ == "__main__":
    main()
