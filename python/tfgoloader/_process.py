"""A process that calls a user's function."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable

from tfgoloader import _call, _check
from tfgoloader._errors import ConfigError, annotate

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

Function = _call.Function | _call.BatchFunction


class DiedError(Exception):
    """The process is gone, or took too long; the text says how."""


class Process:
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
            raise DiedError(f"{self._name} could not be given a process: {error}") from None
        with theirs, self._lock:
            if self._stopped:
                ours.close()
                raise DiedError("the loader is closed")
            try:
                self._process = _popen(theirs.fileno())
            except OSError as error:
                ours.close()
                raise DiedError(f"{self._name} could not be given a process: {error}") from None
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
            raise DiedError(
                f"{self._name} took longer than timeout={timeout} seconds, so its process was ended"
            ) from None
        except (EOFError, ConnectionError):
            raise self._death() from None
        except BaseException:  # what is left of the answer would be taken for the next one
            self.end()
            raise
        self._connection.settimeout(None)
        return spent, _unpickled(data) if size else None

    def _death(self) -> DiedError:
        code = self.end(kill=False)
        if code >= 0:
            return DiedError(f"{self._name} ended its process with exit code {code}")
        try:
            name = signal.Signals(-code).name
        except ValueError:  # a real-time one
            name = f"signal {-code}"
        perhaps = ", perhaps by the kernel for want of memory" if code == -signal.SIGKILL else ""
        return DiedError(f"{self._name} lost its process, which was ended by {name}{perhaps}")

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


def _unpickled(data: bytes) -> BaseException:
    """Return the exception that a process sent, with its traceback there."""
    pickled, text = pickle.loads(data)
    try:
        error: BaseException = pickle.loads(pickled)
    except Exception:  # its class can be imported there, but not here
        return RuntimeError(text)
    if not isinstance(error, BaseException):  # by a wrong __reduce__
        return RuntimeError(text)
    annotate(error, f"in a process of its own:\n{text}", RuntimeError(text))
    return error


def payload(function: Function) -> bytes:
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
