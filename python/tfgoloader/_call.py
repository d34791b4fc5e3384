"""Calls of a user's function on samples in shared memory: by threads of the loader's process, or by other processes.

A process of its own runs this file by its path, so it imports nothing of the package: neither the core nor its threads
are needed there.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import mmap
import operator
import os
import pickle
import signal
import socket
import struct
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

NAMES = ("label", "mask", "boxes", "box_labels", "rng")  # what a function may be given beside the image


class Call(ctypes.Structure):
    """What an area begins with; see docs/abi.md."""

    _fields_ = (
        ("seed", ctypes.c_uint64),
        ("epoch", ctypes.c_int64),
        ("index", ctypes.c_int64),
        ("label", ctypes.c_int64),
        ("picture", ctypes.c_uint64),
        ("output", ctypes.c_uint64),
        ("mask", ctypes.c_uint64),
        ("output_mask", ctypes.c_uint64),
        ("box_values", ctypes.c_uint64),
        ("box_labels", ctypes.c_uint64),
        ("boxes", ctypes.c_uint32),
        ("most_boxes", ctypes.c_uint32),
        ("height", ctypes.c_uint32),
        ("width", ctypes.c_uint32),
        ("channels", ctypes.c_uint32),
        ("output_height", ctypes.c_uint32),
        ("output_width", ctypes.c_uint32),
        ("is_float", ctypes.c_uint32),
        ("reserved", ctypes.c_uint8 * 16),
    )


class Header(ctypes.Structure):
    """The first 64 bytes of a slab; see docs/abi.md."""

    _fields_ = (
        ("references", ctypes.c_uint32),
        ("samples", ctypes.c_uint32),
        ("size", ctypes.c_uint64),
        ("epoch", ctypes.c_int64),
        ("batch", ctypes.c_int64),
        ("tail", ctypes.c_int64),
        ("reserved", ctypes.c_uint8 * 24),
    )


class Area:
    """Memory that one worker of the core writes samples into; it stays mapped while an array over it lives."""

    def __init__(self, descriptor: int) -> None:
        """Take the file descriptor of the memory."""
        try:
            self._memory = mmap.mmap(descriptor, os.fstat(descriptor).st_size)
        finally:
            os.close(descriptor)
        self.call = Call.from_buffer(self._memory)  # where it holds a sample
        self.header = Header.from_buffer(self._memory)  # where it holds a batch

    def array(self, at: int, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return an array over the memory itself."""
        return np.ndarray(shape, dtype, self._memory, at)


class Areas:
    """The areas that are in use, one in each slot."""

    def __init__(self) -> None:
        self._areas: dict[int, tuple[int, Area]] = {}

    def knows(self, slot: int, number: int) -> bool:
        """Tell whether a slot's area is this one still."""
        return slot in self._areas and self._areas[slot][0] == number

    def get(self, slot: int, number: int, descriptor: Callable[[], int]) -> Area:
        """Return an area, mapped anew where it is not known; the descriptor is asked for then."""
        if not self.knows(slot, number):
            self._areas[slot] = number, Area(descriptor())
        return self._areas[slot][1]


class Function:
    """A user's function with what it is given by name."""

    def __init__(self, function: Callable[..., Any], name: str, wanted: tuple[str, ...], position: int) -> None:
        self.function = function
        self.name = name
        self.wanted = wanted
        self.position = position

    def __call__(self, area: Area) -> None:
        """Call it with the sample that is in the area, and leave there what it gives."""
        call = area.call
        dtype = np.float32 if call.is_float else np.uint8
        image = area.array(call.picture, (call.height, call.width, call.channels), dtype)
        given: dict[str, Any] = {}
        for name in self.wanted:
            if name == "label":
                given[name] = call.label
            elif name == "mask":
                given[name] = area.array(call.mask, (call.height, call.width), np.uint8)
            elif name == "boxes":
                given[name] = area.array(call.box_values, (call.boxes, 4), np.float64)
            elif name == "box_labels":
                given[name] = area.array(call.box_labels, (call.boxes,), np.int64)
            else:
                given[name] = np.random.default_rng([call.seed, call.epoch, call.index, self.position])
        result = self.function(image, **given)
        if not isinstance(result, dict):
            result = {"image": result}
        if unknown := [key for key in result if key != "image" and (key not in self.wanted or key == "rng")]:
            raise ValueError(f"{self.name} returned {unknown[0]!r}, which it was not given")
        if call.output != call.picture and (
            missing := {"image", *self.wanted} - {*result, "label", "rng", "box_labels"}
        ):
            raise ValueError(
                f"{self.name} changes the size, so it has to return {', '.join(map(repr, sorted(missing)))}"
            )
        shape = call.output_height, call.output_width
        if "image" in result and (result["image"] is not image or call.output != call.picture):
            _put(area.array(call.output, (*shape, call.channels), dtype), self.name, "image", result["image"])
        if "mask" in result:
            _put(area.array(call.output_mask, (*shape, 1), np.uint8), self.name, "mask", result["mask"])
        if "boxes" in result or "box_labels" in result:
            self._put_boxes(
                area, result.get("boxes", given.get("boxes")), result.get("box_labels", given.get("box_labels"))
            )
        if "label" in result:
            call.label = int(np.int64(operator.index(result["label"])))  # or it would be cut, or wrap around

    def _put_boxes(self, area: Area, boxes: Any, labels: Any) -> None:
        call = area.call
        values = np.array(boxes, np.float64).reshape(-1, 4)  # copies, which what is written may not change
        if labels is None and len(values) == call.boxes:
            labels = area.array(call.box_labels, (call.boxes,), np.int64)
        classes = np.array(labels if labels is not None else [], np.int64)
        if classes.shape != (len(values),):
            raise ValueError(f"{self.name} returned {len(values)} boxes and box_labels of shape {classes.shape}")
        if len(values) > call.most_boxes:
            raise ValueError(f"{self.name} returned {len(values)} boxes, at most {call.most_boxes} fit (max_boxes)")
        call.boxes = len(values)
        area.array(call.box_values, values.shape, np.float64)[:] = values
        area.array(call.box_labels, classes.shape, np.int64)[:] = classes


class Memory(Protocol):
    """What holds a batch."""

    header: Header

    def array(self, offset: int, shape: tuple[int, ...], dtype: npt.DTypeLike, /) -> npt.NDArray[Any]:
        """Return an array over the memory itself."""


class BatchFunction:
    """A user's function of whole batches, whose arrays lie at places as `_elements.Place` has them."""

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        wanted: tuple[str, ...],
        position: int,
        places: Mapping[str, tuple[int, tuple[int, ...], npt.DTypeLike]],
        seed: int,
    ) -> None:
        self.function = function
        self.name = name
        self.wanted = wanted
        self.position = position
        self.places = places  # of the image, and by the names of what is wanted
        self.seed = seed

    def __call__(self, memory: Memory) -> None:
        """Call it with the batch in the memory, and leave there what it gives."""
        header = memory.header
        arrays = {
            name: memory.array(offset, (header.samples, *shape), dtype)
            for name, (offset, shape, dtype) in self.places.items()
        }
        given: dict[str, Any] = {name: array for name, array in arrays.items() if name != "image"}
        if "rng" in self.wanted:
            given["rng"] = np.random.default_rng([self.seed, header.epoch, header.batch, self.position])
        result = self.function(arrays["image"], **given)
        for name, value in (result if isinstance(result, dict) else {"image": result}).items():
            if name not in arrays:
                raise ValueError(f"{self.name} returned {name!r}, which it was not given")
            _put(arrays[name], self.name, name, value)


def _put(place: npt.NDArray[Any], function: str, what: str, value: Any) -> None:
    value = np.asarray(value)
    if value.dtype != place.dtype:
        raise TypeError(f"{function} returned {value.dtype} for the {what}, expected {place.dtype}")
    if value.shape == place.shape[:-1] and place.shape[-1] == 1:  # many libraries drop the axis of a single channel
        value = value[..., np.newaxis]
    if value.shape != place.shape:
        raise ValueError(f"{function} returned shape {value.shape} for the {what}, expected {place.shape}")
    if value is not place:
        np.copyto(place, value)  # also where they overlap


# What parent and child say to each other: a request is the slot, the area and whether its descriptor comes along; an
# answer is the nanoseconds of the processor, and how many bytes of an exception follow.
REQUEST = struct.Struct("<qq?")
ANSWER = struct.Struct("<qq")
LENGTH = struct.Struct("<q")


def receive(connection: socket.socket, size: int) -> bytes:
    """Return so many bytes; EOFError where the other side is gone."""
    parts = []
    while size:
        part = connection.recv(min(size, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _pickled(error: BaseException) -> bytes:
    """Return the exception, pickled, and the text of its traceback, which serves as one where it cannot be sent."""
    text = "".join(traceback.format_exception(error))
    try:
        import cloudpickle as pickler  # keeps classes of __main__ what they are
    except (ImportError, OSError):  # it may be there, but not to be read
        pickler = pickle
    try:
        data: bytes = pickler.dumps(error)
        pickle.loads(data)
    except Exception:
        data = pickle.dumps(RuntimeError(text))
    return pickle.dumps((data, text))


def _serve(connection: socket.socket) -> None:
    payload = receive(connection, *LENGTH.unpack(receive(connection, LENGTH.size)))
    areas = Areas()
    try:
        whole, about = pickle.loads(payload)
        function = BatchFunction(**about) if whole else Function(**about)
    except BaseException as error:
        data = _pickled(error)
        connection.sendall(ANSWER.pack(0, len(data)) + data)
        return
    connection.sendall(ANSWER.pack(0, 0))
    while True:
        message, descriptors, _, _ = socket.recv_fds(connection, REQUEST.size, 1)
        if not message:
            return
        message += receive(connection, REQUEST.size - len(message))
        slot, number, new = REQUEST.unpack(message)
        data, start = b"", time.thread_time_ns()
        try:
            if new and not descriptors:  # the kernel has left it out
                raise OSError(errno.EMFILE, f"{os.strerror(errno.EMFILE)}, in a process of ops.Python")
            function(areas.get(slot, number, descriptors.pop))
        except BaseException as error:
            data = _pickled(error)
        for descriptor in descriptors:  # of an area that is known already
            os.close(descriptor)
        connection.sendall(ANSWER.pack(time.thread_time_ns() - start, len(data)) + data)


def serve(descriptor: int, parent: int) -> None:
    """Answer the parent until it is gone: the end of the connection, or the kernel, ends this process too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's; it tells us
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    if os.getppid() != parent:  # it went before that
        return
    connection = socket.socket(fileno=descriptor)
    connection.set_inheritable(False)  # what the function starts must not keep it open when this process is gone
    os.register_at_fork(after_in_child=connection.close)
    with contextlib.suppress(EOFError, ConnectionError):
        _serve(connection)
