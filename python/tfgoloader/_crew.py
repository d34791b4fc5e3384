"""The threads, and processes, that call a user's functions for the core."""

from __future__ import annotations

import contextlib
import ctypes
import queue
import threading
import time
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfgoloader import _call, _check, _elements, _exit, _native
from tfgoloader._core import Slab, call, close
from tfgoloader._errors import FunctionError, InternalError, TfGoLoaderError, annotate, printable
from tfgoloader._process import DiedError, Function, Process, payload
from tfgoloader.ops._external import Python
from tfgoloader.ops._op import BatchOp, Op
from tfgoloader.sources import Source

if TYPE_CHECKING:
    from tfgoloader._loader import ImageLoader

_VISIT = ctypes.CFUNCTYPE(None, *4 * (ctypes.c_int64,))  # called with position, call, slot and area; see docs/abi.md
_ARRAYS = {
    "image": "images",
    "label": "labels",
    "mask": "segmentation_masks",
    "boxes": "boxes",
    "box_labels": "box_labels",
}  # of a batch, by what a function calls them
_PATIENCE = 5.0  # seconds, for a function to come back; a process that was killed is gone far sooner


class _InThreads:
    """Calls a function in the thread of the worker that has the sample, or the batch."""

    def __init__(self, loader: int, function: Function) -> None:
        self.name = function.name
        self._loader = loader
        self._function = function
        self._areas = _call.Areas()

    def call(self, identity: int, slot: int, number: int) -> tuple[int, BaseException | None]:
        """Call the function; return the nanoseconds of the processor and the function's error."""
        start = time.thread_time_ns()
        try:
            if isinstance(self._function, _call.BatchFunction):
                self._function(Slab.shared(number))
            else:
                self._function(self._areas.get(slot, number, lambda: _open_area(self._loader, identity)))
        except BaseException as error:
            return time.thread_time_ns() - start, error
        return time.thread_time_ns() - start, None


class _InProcesses:
    """Has one of several processes call a function."""

    def __init__(self, loader: int, function: Function, workers: int, timeout: float | None) -> None:
        self.name = function.name
        self._loader = loader
        sent = payload(function)
        self.processes = [Process(function.name, sent, timeout) for _ in range(workers)]
        self._idle = list(self.processes)  # there are no more calls at once

    def call(self, identity: int, slot: int, number: int) -> tuple[int, BaseException | None]:
        """Have the function called; return the nanoseconds of the processor and the function's error."""
        process = self._idle.pop()
        try:
            return process.call(slot, number, lambda: _open_area(self._loader, identity))
        except BaseException as error:
            return 0, error
        finally:
            self._idle.append(process)


def _open_area(loader: int, identity: int) -> int:
    return call(_native.pybind_OpenArea, loader, identity)


class Crew:
    """All that call the functions of one loader, which it knows by its number alone, so as not to keep it alive.

    The loader's workers run in threads of the crew's, and call the functions from there.
    """

    def __init__(
        self, loader: int, ops: Sequence[Op | BatchOp], source: Source, seed: int, num_workers: int, keep: int
    ) -> None:
        """Start everything and wait until it is ready; `keep` exceptions at most wait to be raised.

        Raises:
            ConfigError: a function cannot be sent to a process, or needs what the source does not have.
            Exception: what a process met when it took a function, such as an ImportError.
        """
        self._loader = loader
        self._keep = keep
        self._lock = threading.Lock()
        self._errors: dict[int, BaseException] = {}  # by call, oldest first
        self._ready: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        self._functions: dict[int, _InThreads | _InProcesses] = {}  # by place in the list
        self._processes: list[Process] = []
        for position, op in enumerate(ops):
            if isinstance(op, Python):
                function = self._function(op, position, source, seed)
                if op.executor == "thread":
                    self._functions[position] = _InThreads(loader, function)
                else:
                    called = _InProcesses(loader, function, op.workers or num_workers, op.timeout)
                    self._functions[position] = called
                    self._processes += called.processes
        self._visit = _VISIT(self._call)
        self._hosts = call(_native.pybind_Hosts, loader)
        starts = [*self._processes, *[None] * (self._hosts - len(self._processes))]
        self._threads = [
            threading.Thread(target=self._host, args=(process,), name=f"tfgoloader {number}", daemon=True)
            for number, process in enumerate(starts)
        ]
        _exit.watch_crew(self)
        try:
            for thread in self._threads:
                try:
                    thread.start()
                except RuntimeError as error:
                    raise TfGoLoaderError(f"a thread of ops.Python could not be started: {error}") from error
            for _ in self._threads:
                if (failure := self._ready.get()) is not None:
                    raise failure
        except BaseException as error:
            self.stop()
            self._leave(sum(thread.ident is None for thread in self._threads))
            if isinstance(error, DiedError):
                raise TfGoLoaderError(f"a process of ops.Python could not be started: {error}") from None
            raise

    def _function(self, op: Python, position: int, source: Source, seed: int) -> Function:
        """Return an operation's function, and what it is to be given of what the source has."""
        has = {"rng", *(["label"] if source.has_labels else []), *(["mask"] if source.has_masks else [])}
        has |= {"boxes", "box_labels"} if source.has_boxes else set()
        if missing := [name for name in op._required if name not in has]:
            _check.fail("Python.fn", op.fn, f"one that needs no {missing[0]!r}, which the source does not have")
        wanted = tuple(name for name in op._wanted if name in has)
        if not op.batched:
            return _call.Function(op.fn, op.name, wanted, position)
        arrays = _elements.places(call(_native.pybind_DescribeLoader, self._loader))
        found = {name: arrays[_ARRAYS[name]] for name in ("image", *wanted) if name in _ARRAYS}
        places = {name: (place.offset, place.shape, place.dtype) for name, place in found.items()}
        return _call.BatchFunction(op.fn, op.name, wanted, position, places, seed)

    def _host(self, process: Process | None) -> None:
        """Be one of the loader's workers; a process ends with the thread that started it."""
        try:
            if process is not None:
                process.start()
        except BaseException as error:
            self._ready.put(error)
            self._leave(1)
            return
        self._ready.put(None)
        try:
            self._work()
        finally:
            self._leave(1)

    def _leave(self, threads: int) -> None:
        """Let so many threads go; after the last one nothing is left."""
        with self._lock:
            self._hosts -= threads
            if self._hosts or not threads:
                return
        for process in self._processes:
            process.close()
        self._functions.clear()  # and their memory
        self._errors.clear()  # whose tracebacks refer to this
        del self._visit  # which refers to this

    def _work(self) -> None:
        try:
            address = ctypes.c_void_p.from_buffer(self._visit).value  # ctypes.cast would leave a cycle of references
            call(_native.pybind_Host, self._loader, address)
        except InternalError:  # or the loop would wait for a worker that is no more
            close(self._loader)
            raise
        except TfGoLoaderError:  # the loader is closed
            pass

    def _call(self, position: int, identity: int, slot: int, number: int) -> None:
        function, reason = self._functions[position], ""
        spent, error = function.call(identity, slot, number)
        if isinstance(error, DiedError):
            reason = str(error)
        elif error is not None:
            reason = f"{function.name}: {type(error).__name__}: {_text(error)}"
            self._note(identity, error)
        del error  # its traceback leads to this frame
        with contextlib.suppress(TfGoLoaderError):  # the loader is closed
            text = reason.encode("utf-8", "backslashreplace").decode("latin-1").replace("\0", r"\0")
            call(_native.pybind_FinishCall, self._loader, identity, spent, text)

    def _note(self, identity: int, error: BaseException) -> None:
        with self._lock:
            self._errors[identity] = error
            while len(self._errors) > self._keep:
                del self._errors[next(iter(self._errors))]

    def original(self, error: FunctionError) -> BaseException:
        """Return the exception that the function raised, with the sample noted, or the error itself."""
        with self._lock:
            found = self._errors.pop(error._call, None)
        if found is None:
            return error
        sample = printable(error.path) if error.index is None else f"sample {error.index}: {printable(error.path)}"
        annotate(found, f"in a function of ops.Python, with {sample}", error)
        return found

    def stop(self, patience: float = _PATIENCE) -> None:
        """End the processes, have the threads end after their present call, and wait so many seconds for that.

        At the interpreter's end a thread that is in a library of C++ would end the process with an error.
        """
        close(self._loader)  # or the threads would not come back from their work
        for process in self._processes:
            process.stop()
        deadline = time.monotonic() + patience
        for thread in self._threads:
            if thread.is_alive() and thread is not threading.current_thread():
                thread.join(max(0.0, deadline - time.monotonic()))


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # of the user's own class
        return "<exception str() failed>"


def start(loader: ImageLoader) -> Crew:
    """Return the crew of a loader, which ends with it."""
    ops: list[Op | BatchOp] = [*loader._operations, *loader._batch_ops]
    boxes = loader._spec["boxes"]
    for op in ops:
        if isinstance(op, Python) and boxes and op._box_format not in (None, boxes["format"]):
            _check.fail("box_format", boxes["format"], f"{op._box_format!r}, which {op.name} takes")
    # So many may wait for somebody to take their batch: samples' where they are raised, and batches'.
    keep = (loader._batch_size * (loader._on_error == "raise") + 1) * (loader._spec["prefetch"] + 3)
    crew = Crew(loader._handle.number, ops, loader._source, loader.seed, loader.num_workers, keep)
    # With the handle, since the loader may get another one and another crew. The garbage collector waits for nobody.
    finalizer = weakref.finalize(loader._handle, crew.stop, 0.0)
    finalizer.atexit = False  # _exit.py ends it
    return crew


def by_name(functions: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return what the core says of functions, by their names, which get their places where they are not different."""
    names = [function.pop("name") for function in functions]
    return {
        name if names.count(name) == 1 else f"{name} (ops[{function['position']}])": function
        for name, function in zip(names, functions, strict=True)
    }
