"""The threads, and processes, that call a user's functions for the core."""

from __future__ import annotations

import contextlib
import ctypes
import os
import pickle
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tfgoloader import _call, _check, _elements, _exit, _native
from tfgoloader._core import Slab, call, close
from tfgoloader._errors import ConfigError, FunctionError, InternalError, TfGoLoaderError, printable
from tfgoloader.ops._external import Python
from tfgoloader.ops._op import BatchOp, Op
from tfgoloader.sources import Source

if TYPE_CHECKING:
    from tfgoloader._loader import ImageLoader

# Runs _call.py by its path, with nothing of the package: python -c BOOT path descriptor parent *sys.path. It imports
# nothing before it has sys.path: because of -c, modules in the current folder would come before Python's own.
_BOOT = """
import sys
_, path, descriptor, parent, *sys.path[:] = sys.argv
import importlib.util
spec = importlib.util.spec_from_file_location("_tfgoloader_call", path)
sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
module.serve(int(descriptor), int(parent))
"""
_VISIT = ctypes.CFUNCTYPE(None, *4 * (ctypes.c_int64,))  # called with position, call, slot and area; see docs/abi.md
_ARRAYS = {
    "image": "images",
    "label": "labels",
    "mask": "segmentation_masks",
    "boxes": "boxes",
    "box_labels": "box_labels",
}  # of a batch, by what a function calls them
_PATIENCE = 5.0  # seconds, for a function to come back; a process that was killed is gone far sooner


_Function = _call.Function | _call.BatchFunction


class _DiedError(Exception):
    """The process is gone, or took too long; the text says how."""


class _Process:
    """A process that calls a function; started again where it died. One thread at a time uses it."""

    def __init__(self, name: str, payload: bytes, timeout: float | None) -> None:
        self._name = name  # the function's
        self._payload = payload
        self._timeout = timeout
        self._lock = threading.RLock()  # whether it may still be started; the garbage collector may stop it in `start`
        self._stopped = False
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: socket.socket
        self._areas: dict[int, int] = {}  # those that the process knows, by slot

    def start(self) -> None:
        """Start the process and wait until it has the function, whose errors are raised."""
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:
            raise _DiedError(f"{self._name} could not be given a process: {error}") from None
        with theirs, self._lock:
            if self._stopped:
                ours.close()
                raise _DiedError("the loader is closed")
            try:
                self._process = _popen(theirs.fileno())
            except OSError as error:
                ours.close()
                raise _DiedError(f"{self._name} could not be given a process: {error}") from None
            self._connection, self._areas = ours, {}
            if self._stopped:  # meanwhile
                self._process.kill()
        try:
            ours.sendall(_call.LENGTH.pack(len(self._payload)) + self._payload)
        except ConnectionError:
            raise self._death() from None
        _, refusal = self._answer(None)
        if refusal is not None:
            self.end()
            raise refusal

    def call(self, slot: int, number: int, area: Callable[[], int]) -> tuple[int, BaseException | None]:
        """Have the function called; return the nanoseconds of the processor and the function's error."""
        if self._process is None:
            self.start()
        new = self._areas.get(slot) != number
        request = _call.REQUEST.pack(slot, number, new)
        try:
            if new:
                descriptor = area()
                try:
                    socket.send_fds(self._connection, [request], [descriptor])
                finally:
                    os.close(descriptor)
            else:
                self._connection.sendall(request)
        except ConnectionError:
            raise self._death() from None
        spent, error = self._answer(self._timeout)
        if error is None:  # or it may not have the area
            self._areas[slot] = number
        return spent, error

    def _answer(self, timeout: float | None) -> tuple[int, BaseException | None]:
        try:
            self._connection.settimeout(timeout)
            spent, size = _call.ANSWER.unpack(_call.receive(self._connection, _call.ANSWER.size))
            data = _call.receive(self._connection, size)
        except TimeoutError:
            self.end()
            raise _DiedError(
                f"{self._name} took longer than timeout={timeout} seconds, so its process was ended"
            ) from None
        except (EOFError, ConnectionError):
            raise self._death() from None
        except BaseException:  # what is left of the answer would be taken for the next one
            self.end()
            raise
        self._connection.settimeout(None)
        return spent, _unpickled(data) if size else None

    def _death(self) -> _DiedError:
        code = self.end(kill=False)
        if code >= 0:
            return _DiedError(f"{self._name} ended its process with exit code {code}")
        try:
            name = signal.Signals(-code).name
        except ValueError:  # a real-time one
            name = f"signal {-code}"
        perhaps = ", perhaps by the kernel for want of memory" if code == -signal.SIGKILL else ""
        return _DiedError(f"{self._name} lost its process, which was ended by {name}{perhaps}")

    def end(self, kill: bool = True) -> int:
        """End the process and return its exit code; `call` starts another one."""
        assert self._process is not None
        if kill:
            self._process.kill()
        self._connection.close()  # which ends one that lives
        code = self._process.wait()
        self._process = None
        return code

    def stop(self) -> None:
        """From any thread: end the process for good; whoever waits for its answer is told."""
        with self._lock:
            self._stopped = True
            if (process := self._process) is not None:  # which another thread may forget
                process.kill()

    def close(self) -> None:
        """Leave nothing of it, once it is stopped."""
        if self._process is not None:
            self.end()


def _popen(descriptor: int) -> subprocess.Popen[bytes]:
    """Start a process that serves a connection; Ctrl-C waits there until it is ignored."""
    command = [sys.executable, "-c", _BOOT, _call.__file__, str(descriptor), str(os.getpid())]
    command += [path for path in sys.path if isinstance(path, str)]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=(descriptor,))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _InThreads:
    """Calls a function in the thread of the worker that has the sample, or the batch."""

    def __init__(self, loader: int, function: _Function) -> None:
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

    def __init__(self, loader: int, function: _Function, workers: int, timeout: float | None) -> None:
        self.name = function.name
        self._loader = loader
        payload = _payload(function)
        self.processes = [_Process(function.name, payload, timeout) for _ in range(workers)]
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
        self._processes: list[_Process] = []
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
            if isinstance(error, _DiedError):
                raise TfGoLoaderError(f"a process of ops.Python could not be started: {error}") from None
            raise

    def _function(self, op: Python, position: int, source: Source, seed: int) -> _Function:
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

    def _host(self, process: _Process | None) -> None:
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
        if isinstance(error, _DiedError):
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
        _annotate(found, f"in a function of ops.Python, with {sample}", error)
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


def _annotate(error: BaseException, note: str, cause: BaseException) -> None:
    """Add a note to an exception; before Python 3.11, which has none, what says the same as its first cause."""
    with contextlib.suppress(Exception):  # a class of the user's, such as a frozen dataclass, may take none
        if sys.version_info >= (3, 11):
            error.add_note(note)
            return
        first, seen = error, [error]
        while first.__cause__ is not None and first.__cause__ not in seen:  # it may be its own cause
            first = first.__cause__
            seen.append(first)
        first.__cause__ = cause


def _unpickled(data: bytes) -> BaseException:
    """Return the exception that a process sent, with its traceback there."""
    pickled, text = pickle.loads(data)
    try:
        error: BaseException = pickle.loads(pickled)
    except Exception:  # its class can be imported there, but not here
        return RuntimeError(text)
    if not isinstance(error, BaseException):  # by a wrong __reduce__
        return RuntimeError(text)
    _annotate(error, f"in a process of its own:\n{text}", RuntimeError(text))
    return error


def _payload(function: _Function) -> bytes:
    """Return what a process is sent of a function."""
    parts = isinstance(function, _call.BatchFunction), vars(function)
    try:
        import cloudpickle
    except ImportError:
        allowed = "a function that a process of its own can import, or the package cloudpickle, which sends any other"
        try:
            payload = pickle.dumps(parts)
        except Exception as error:
            raise ConfigError(f"Python.fn={function.function!r}: expected {allowed}") from error
        if b"__main__" in payload:
            _check.fail("Python.fn", function.function, allowed)
        return payload
    try:
        data: bytes = cloudpickle.dumps(parts)
    except Exception as error:
        raise ConfigError(
            f"Python.fn={function.function!r}: expected a function that can be sent to a process: {error}"
        ) from error
    return data


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
