"""What else feeds the demo's training: the same windows, flips and labels by TensorFlow and by Python."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from PIL import Image

Pixels = npt.NDArray[np.float32]
Load = Callable[[tf.Tensor, tf.Tensor], tuple[tf.Tensor, tf.Tensor]]  # of a path and its label


def tf_data(directory: Path, size: int, batch: int, seed: int) -> tf.data.Dataset:
    """Plain tf.data, every parallelism left to AUTOTUNE."""

    def load(path: tf.Tensor, label: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        pixels = tf.io.decode_jpeg(tf.io.read_file(path), channels=3, dct_method="INTEGER_ACCURATE")
        pixels = tf.image.random_flip_left_right(tf.image.random_crop(pixels, [size, size, 3]))
        return tf.cast(pixels, tf.float32) / 127.5 - 1.0, label

    return _dataset(directory, load, batch, seed)


def py_function(directory: Path, size: int, batch: int, seed: int) -> tf.data.Dataset:
    """tf.data around a Python function: Pillow decodes, NumPy does the rest."""
    draw = np.random.default_rng(seed)

    def load_numpy(path: tf.Tensor) -> Pixels:
        with Image.open(path.numpy().decode()) as picture:
            pixels = np.asarray(picture.convert("RGB"))
        top, left = (draw.integers(0, side - size, endpoint=True) for side in pixels.shape[:2])
        pixels = pixels[top : top + size, left : left + size]
        if draw.random() < 0.5:
            pixels = pixels[:, ::-1]
        return pixels.astype(np.float32) / np.float32(127.5) - np.float32(1)

    def load(path: tf.Tensor, label: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return tf.ensure_shape(tf.py_function(load_numpy, [path], tf.float32), [size, size, 3]), label

    return _dataset(directory, load, batch, seed)


def memory(images: Pixels, labels: Pixels, steps: int) -> tf.data.Dataset:
    """The same batch so many times: no input work, so what the model alone can do."""
    return tf.data.Dataset.from_tensors((images, labels)).repeat(steps)


def _dataset(directory: Path, load: Load, batch: int, seed: int) -> tf.data.Dataset:
    """Full batches of what load makes of the class folders' files, in another order each epoch."""
    classes = sorted(path.name for path in directory.iterdir())
    files = [(str(path), label) for label, name in enumerate(classes) for path in sorted((directory / name).iterdir())]
    paths, labels = zip(*files, strict=True)
    return (
        tf.data.Dataset.from_tensor_slices((list(paths), tf.one_hot(labels, len(classes))))
        .shuffle(len(files), seed)
        .map(load, num_parallel_calls=tf.data.AUTOTUNE)
        .batch(batch, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE)
    )
