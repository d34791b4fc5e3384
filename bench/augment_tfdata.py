"""tf.data at its best: of a JPEG only the window is decoded, tf.image.resize antialiases; or Keras' RandAugment."""

from typing import Any

import peer_tfdata
from augment_work import (
    DEVIATION,
    FACTOR,
    MEAN,
    NUM_OPS,
    RAND_AUGMENT,
    RANDOM_RESIZED_CROP,
    RATIO,
    RESIZE_SHORTER,
    SCALE,
    SHORTER,
)
from peer import SEED, SIDE, work
from peer_tfdata import ACCURATE, tf

SIZE = [SIDE, SIDE]


def random_window(shape: Any) -> Any:
    """Top, left, height and width of a window, as RandomResizedCrop draws one."""
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        shape,
        tf.zeros([1, 0, 4]),
        min_object_covered=0.0,
        aspect_ratio_range=RATIO,
        area_range=SCALE,
        max_attempts=10,
        use_image_if_no_bounding_boxes=True,
    )
    return tf.concat([begin[:2], size[:2]], 0)


def middle_window(shape: Any) -> Any:
    """The window in the middle that a shorter side of SHORTER pixels makes SIDE pixels large."""
    shorter = tf.cast(tf.minimum(shape[0], shape[1]), tf.float32)
    side = tf.cast(tf.round(shorter * SIDE / SHORTER), tf.int32)
    return tf.concat([(shape[:2] - side) // 2, [side, side]], 0)


def window(path: Any, job: str) -> Any:
    """The window, and no more, decoded; flipped while it is bytes; resized as float32."""
    data = tf.io.read_file(path)
    shape = tf.io.extract_jpeg_shape(data)
    part = random_window(shape) if job == RANDOM_RESIZED_CROP else middle_window(shape)
    pixels = tf.io.decode_and_crop_jpeg(data, part, channels=3, dct_method=ACCURATE)
    if job == RANDOM_RESIZED_CROP:
        pixels = tf.image.random_flip_left_right(pixels)
    return tf.ensure_shape(tf.image.resize(pixels, SIZE, antialias=True), [*SIZE, 3])


def normalise(images: Any) -> Any:
    return (images - tf.constant(MEAN)) * (1 / tf.constant(DEVIATION))


def main() -> None:
    task = work()
    job = task.variant

    def load(path: Any, label: Any) -> tuple[Any, Any]:
        label = tf.one_hot(label, task.classes)
        if job == RAND_AUGMENT:
            pixels = tf.io.decode_jpeg(tf.io.read_file(path), channels=3, dct_method=ACCURATE)
            return tf.image.resize(pixels, SIZE), label
        return normalise(window(path, job)), label

    if job == RAND_AUGMENT:
        import keras

        layer = keras.layers.RandAugment(num_ops=NUM_OPS, factor=FACTOR, seed=SEED)

        def augment(images: Any, labels: Any) -> tuple[Any, Any]:
            return normalise(layer(images, training=True)), labels

        peer_tfdata.deliver(task, peer_tfdata.batches(task, load, then=augment), ["keras"])
    else:
        peer_tfdata.deliver(task, peer_tfdata.batches(task, load, shuffle=job != RESIZE_SHORTER), [])


if __name__ == "__main__":
    main()
