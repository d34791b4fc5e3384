"""DALI on the processor. Its decoder decodes a random window alone; the middle one, too, in the kind "window"."""

from typing import Any

from nvidia.dali import fn, types

from augment_work import DEVIATION, MEAN, RANDOM_RESIZED_CROP, RATIO, SCALE, SHORTER
from peer import SIDE, work
from peer_dali import DECODING, deliver, files

RESIZING = {"interp_type": types.INTERP_LINEAR, "antialias": True}


def normalise(pixels: Any, **how: Any) -> Any:
    return fn.crop_mirror_normalize(pixels, mean=MEAN, std=DEVIATION, dtype=types.FLOAT, output_layout="HWC", **how)


def random_resized_crop(data: Any) -> Any:
    """The window is drawn by the decoder."""
    pixels = fn.decoders.image_random_crop(
        data, random_area=SCALE, random_aspect_ratio=RATIO, num_attempts=10, **DECODING
    )
    pixels = fn.resize(pixels, size=(SIDE, SIDE), **RESIZING)
    return normalise(pixels, mirror=fn.random.coin_flip())


def resize_shorter(data: Any) -> Any:
    """As DALI's examples for evaluation have it: everything is decoded and resized."""
    pixels = fn.resize(fn.decoders.image(data, **DECODING), resize_shorter=SHORTER, **RESIZING)
    return normalise(pixels, crop=(SIDE, SIDE))


def resize_window(data: Any) -> Any:
    """The same by hand: the window from the header's size, then it alone."""
    size = fn.peek_image_shape(data, dtype=types.FLOAT)[:2]
    side = fn.reductions.min(size) * (SIDE / SHORTER)
    shape = fn.stack(side, side)
    pixels = fn.decoders.image_slice(
        data, (size - shape) * 0.5, shape, axes=(0, 1), normalized_anchor=False, normalized_shape=False, **DECODING
    )
    return normalise(fn.resize(pixels, size=(SIDE, SIDE), **RESIZING))


def main() -> None:
    task = work()
    job, _, kind = task.variant.partition("/")

    def graph() -> tuple[Any, Any]:
        data, labels = files(task, shuffle=job == RANDOM_RESIZED_CROP)
        if job == RANDOM_RESIZED_CROP:
            return random_resized_crop(data), labels
        return (resize_window if kind == "window" else resize_shorter)(data), labels

    deliver(task, graph)


if __name__ == "__main__":
    main()
