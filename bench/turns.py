"""The harness's side: starts a peer's process, gives it its turns, and measures what its process group uses."""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from machine import busy_seconds, usage


class PeerError(Exception):
    """The peer could not do its work; the text says why."""


class MissingError(PeerError):
    """The peer's packages are not installed."""


@dataclass(frozen=True)
class Turn:
    """One turn: images, wall seconds, processor seconds of the peer, and of everything else on the machine."""

    images: int
    seconds: float
    cpu_seconds: float
    other_seconds: float

    @property
    def images_per_second(self) -> float:
        return self.images / self.seconds

    @property
    def images_per_cpu_second(self) -> float:
        return self.images / self.cpu_seconds


class Peer:
    """A peer's process, stopped except during its turns.

    It leads a process group of its own in the harness's session: when the harness dies, the kernel ends the group.
    """

    def __init__(self, name: str, command: Sequence[str], log: Path, patience: float) -> None:
        """log receives what the peer writes to its standard error; patience is in seconds, for one turn."""
        self.name = name
        self.peak_bytes = 0
        self._command = command
        self._log = log
        self._patience = patience
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> dict[str, Any]:
        """Waits for the warm-up; what the peer says of itself."""
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                preexec_fn=os.setpgrp,
            )
        return self._await_stop()

    def turn(self) -> Turn:
        """One turn, with everybody else stopped."""
        group, busy = self._group, busy_seconds()
        before, start = usage(group), time.monotonic()
        os.killpg(group, signal.SIGCONT)
        said = self._await_stop()
        seconds = time.monotonic() - start
        after = usage(group)
        cpu = after.cpu_seconds - before.cpu_seconds
        self.peak_bytes = max(self.peak_bytes, after.peak_bytes)
        return Turn(said["images"], seconds, cpu, max(0.0, busy_seconds() - busy - cpu))

    def finish(self) -> None:
        """Lets the peer end after its last turn."""
        os.killpg(self._group, signal.SIGCONT)
        try:
            code = self._started.wait(self._patience)
        except subprocess.TimeoutExpired:
            raise PeerError("did not end after its last turn") from None
        if code:
            raise PeerError(f"ended with {code}: {self._last_words()}")

    def kill(self) -> None:
        """Ends what is left of the process group."""
        if self._process is None:
            return
        if self._process.poll() is None:
            os.killpg(self._group, signal.SIGKILL)
            self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()

    @property
    def _started(self) -> subprocess.Popen[str]:
        assert self._process is not None, "start() comes first"
        return self._process

    @property
    def _group(self) -> int:
        return self._started.pid

    def _await_stop(self) -> dict[str, Any]:
        """Waits until the peer has reported and stopped itself; its report."""
        late = threading.Timer(self._patience, os.killpg, (self._group, signal.SIGKILL))
        late.start()
        try:
            event = os.waitid(os.P_PID, self._group, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        finally:
            late.cancel()
        if event is None or event.si_code != os.CLD_STOPPED:
            raise self._death()
        for line in self._started.stdout or ():
            if line.startswith("{"):
                said: dict[str, Any] = json.loads(line)
                return said
        raise PeerError("stopped without a report")

    def _death(self) -> PeerError:
        code, words = self._started.wait(), self._last_words()
        if "ModuleNotFoundError" in words:
            return MissingError(words)
        if code == -signal.SIGKILL:
            return PeerError(f"killed; it may have taken longer than {self._patience:.0f} s")
        return PeerError(f"ended with {code}: {words}")

    def _last_words(self) -> str:
        lines = [line for line in self._log.read_text(errors="replace").splitlines() if line.strip()]
        return lines[-1].strip() if lines else "no message"
