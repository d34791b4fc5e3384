"""Functions for ops.Python; a process of its own imports them, so they import little."""

import os
import resource
import signal
import sys
import time

import numpy as np


def jitter(image, rng):
    """Change everything by random numbers: the same ones give the same picture."""
    shifted = np.roll(image, rng.integers(0, 20, 2), (0, 1))
    return np.where(rng.random(image.shape) < 0.5, 255 - shifted, shifted)


def number_of_the_process(image):
    """Write the process's number into the first pixels."""
    image.reshape(-1)[:4] = np.frombuffer(os.getpid().to_bytes(4, "little"), np.uint8)
    return image


def modules(image):
    """Tell whether this process has imported what it has no use for."""
    image[:] = any(name in sys.modules for name in ("tensorflow", "tfgoloader", "pytest"))
    return image


class Refused(Exception):
    """An exception of the user's own, with more than a text."""

    def __init__(self, label):
        super().__init__(f"label {label} is refused")
        self.label = label

    def __reduce__(self):
        return Refused, (self.label,)


def refuse_five(image, label):
    """Raise for one sample."""
    if label == 5:
        raise Refused(label)
    return image


def exit_at_five(image, label):
    """End the process at one sample."""
    if label == 5:
        os._exit(3)
    return image


def kill_at_five(image, label):
    """Have the process ended as the kernel does it for want of memory."""
    if label == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return image


def hang_at_five(image, label):
    """Never come back with one sample."""
    while label == 5:
        time.sleep(60)
    return image


class Awkward(Exception):
    """An exception that pickle takes apart, but cannot put together."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


def raise_awkward(image):
    """Raise what cannot be sent."""
    raise Awkward("one", "two")


def swap(image, label, rng):
    """Change whole batches: another order, and another sign for some."""
    order = rng.permutation(len(image))
    return {"image": np.where(rng.random(image.shape) < 0.5, -image[order], image[order]), "label": label[order]}


def mirror(image):
    """Mirror pictures, whose last axis is the columns."""
    return image[..., ::-1]


def mirror_all(image, label, mask, boxes, box_labels):
    """Mirror batches with all that goes along, some of it in place."""
    left = boxes[..., 0].copy()
    boxes[..., 0] = image.shape[2] - boxes[..., 2]
    boxes[..., 2] = image.shape[2] - left
    box_labels *= 2
    return {"image": image[:, :, ::-1], "mask": mask[:, :, ::-1], "label": label + 1}


def refuse_batch_of_five(image, label):
    """Raise for the batch with one sample."""
    if 5 in label:
        raise Refused(5)
    return image


def kill_at_batch_of_five(image, label):
    """Have the process ended at one batch."""
    if 5 in label:
        os.kill(os.getpid(), signal.SIGKILL)
    return image


def leave_a_child(image, label):
    """Have a program, or a fork, outlive the process, which dies at one sample."""
    if label == 5:
        os.system("sleep 12 > /dev/null 2>&1 &")
        if not os.fork():
            time.sleep(12)
            os._exit(0)
        os._exit(3)
    return image


def die_by_a_number(image):
    """Die of a signal that has no name."""
    os.kill(os.getpid(), signal.SIGRTMIN + 3)
    return image


class NoException(Exception):
    """An exception that pickle makes something else of."""

    def __reduce__(self):
        return str, ("nothing",)


def raise_what_is_none(image):
    """Raise what arrives as something else."""
    raise NoException


def no_files_at_two(image, label):
    """Have no more files open than there are, from one sample on until a later one is met."""
    if label == 2:
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    return np.full((8, 8, 3), label, np.uint8)


class ExitsWhenSent:
    """A function that ends the process which takes it."""

    def __call__(self, image):
        return image

    def __reduce__(self):
        return os._exit, (7,)
