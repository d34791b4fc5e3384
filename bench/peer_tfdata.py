"""tf.data: plain, crop (the header's size, then only the window is decoded), or pyfunction (Pillow and NumPy)."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from peer import BATCH, SEED, SIDE, Work, serve, tensors, work

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
import tensorflow as tf  # reads the two variables when it is imported

ACCURATE = "INTEGER_ACCURATE"
Mapped = Callable[[Any, Any], tuple[Any, Any]]  # of images and labels


def whole(path: Any) -> Any:
    """The window, cut from the whole decoded picture."""
    picture = tf.io.decode_jpeg(tf.io.read_file(path), channels=3, dct_method=ACCURATE)
    return tf.image.random_crop(picture, [SIDE, SIDE, 3])


def window(path: Any) -> Any:
    """The window, and no more, decoded."""
    data = tf.io.read_file(path)
    room = tf.io.extract_jpeg_shape(data)[:2] - SIDE + 1
    corner = tf.cast(tf.random.uniform([2]) * tf.cast(room, tf.float32), tf.int32)
    picture = tf.io.decode_and_crop_jpeg(data, tf.concat([corner, [SIDE, SIDE]], 0), channels=3, dct_method=ACCURATE)
    return tf.ensure_shape(picture, [SIDE, SIDE, 3])


def pillow(path: Any, draw: np.random.Generator) -> NDArray[np.float32]:
    """The whole work in Python, as a py_function."""
    with Image.open(path.numpy().decode()) as picture:
        pixels = np.asarray(picture.convert("RGB"))
    top = draw.integers(pixels.shape[0] - SIDE + 1)
    left = draw.integers(pixels.shape[1] - SIDE + 1)
    pixels = pixels[top : top + SIDE, left : left + SIDE]
    if draw.random() < 0.5:
        pixels = pixels[:, ::-1]
    return pixels.astype(np.float32) / np.float32(127.5) - np.float32(1)


def batches(task: Work, load: Mapped, shuffle: bool = True, then: Mapped | None = None) -> Any:
    """The data set as TensorFlow's guide to performance builds one: load for each picture, then for each batch."""
    options = tf.data.Options()
    options.deterministic = False
    options.threading.private_threadpool_size = task.workers
    dataset = tf.data.Dataset.from_tensor_slices((task.paths, task.labels))
    if shuffle:
        dataset = dataset.shuffle(len(task.paths), seed=SEED)
    dataset = dataset.map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(BATCH, drop_remainder=True)
    if then:
        dataset = dataset.map(then, num_parallel_calls=tf.data.AUTOTUNE)
    return dataset.prefetch(tf.data.AUTOTUNE).with_options(options)


def deliver(task: Work, dataset: Any, packages: list[str]) -> None:
    """Takes the turns."""
    serve(task, tensors(dataset), ["tensorflow-cpu", "tensorflow", "numpy", *packages])


def make(task: Work) -> Any:
    """The data set of the task's variant."""
    draw = np.random.default_rng(SEED)

    def load(path: Any, label: Any) -> tuple[Any, Any]:
        if task.variant == "pyfunction":
            images = tf.py_function(lambda path: pillow(path, draw), [path], tf.float32)
            images = tf.ensure_shape(images, [SIDE, SIDE, 3])
        else:
            pixels = tf.image.random_flip_left_right(whole(path) if task.variant == "plain" else window(path))
            images = tf.cast(pixels, tf.float32) / 127.5 - 1.0
        return images, tf.one_hot(label, task.classes)

    return batches(task, load)


def main() -> None:
    task = work()
    deliver(task, make(task), ["pillow"])


if __name__ == "__main__":
    main()
