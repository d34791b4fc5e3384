"""How much of the time Python's global interpreter lock (GIL) is held, found by knocking now and then."""

from __future__ import annotations

import ctypes
import math
import random
import sys
import threading
import time
from typing import NamedTuple

from tfgoloader import _native

INTERVAL = 0.05  # seconds between two knocks, on average; each costs 0.1 ms of a processor, caches being cold by then

PATIENCE = 10.0  # seconds without work after which the thread ends: an error may have ended the work for good

_knock = ctypes.PyDLL(_native.__file__).tgl_knock
_knock.argtypes = (ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_knock.restype = ctypes.c_int64
_save = ctypes.cast(ctypes.pythonapi.PyEval_SaveThread, ctypes.c_void_p)
_restore = ctypes.cast(ctypes.pythonapi.PyEval_RestoreThread, ctypes.c_void_p)


class Knocks(NamedTuple):
    """How many knocks there were, and how many of them found the GIL held; see GilMeter."""

    held: float = 0.0
    all: float = 0.0

    def share_since(self, before: Knocks) -> float | None:
        """Return the share of the time since then that the GIL was held, from 0 to 1; None without a knock."""
        knocks = self.all - before.all
        return (self.held - before.held) / knocks if knocks else None


class GilMeter:
    """Measures which share of the time the threads of this process hold the GIL, while there is work.

    A thread asks for the GIL at random moments, as a Poisson process has them, so that no rhythm of the work meets one
    of its own: the share of these knocks that find it held is the share of the time that it is. A knock that has to
    wait counts also for those that would have come meanwhile, or long turns would be met too rarely.
    A thread that has the GIL and waits for a processor holds it.

    Work is what runs in `with meter:`, once or many times. The thread starts with it, and ends with `stop` or PATIENCE
    seconds after the last of it.

    Attributes:
        knocks: so far.
    """

    def __init__(self) -> None:
        self.knocks = Knocks()
        self._thread: threading.Thread | None = None
        self._stopped = False
        self._left = math.inf  # when the last work was over; none while there is some

    def __enter__(self) -> None:
        self._left = math.inf
        if not self._stopped and not (self._thread and self._thread.is_alive()):
            self._thread = threading.Thread(target=self._watch, name="tfgoloader GIL meter", daemon=True)
            self._thread.start()

    def __exit__(self, *error: object) -> None:
        self._left = time.monotonic()

    def stop(self, wait: bool = False) -> None:
        """End the thread for good after its next knock, and wait for that if told to."""
        self._stopped = True
        if wait and self._thread:
            self._thread.join()

    def _watch(self) -> None:
        interval = random.Random().expovariate  # nobody else's numbers change
        waited = ctypes.c_int64()
        while not self._stopped and time.monotonic() < self._left + PATIENCE:
            until = time.monotonic_ns() + int(1e9 * interval(1 / INTERVAL))
            sleeps = _knock(until, _save, _restore, ctypes.byref(waited))
            # Whoever sleeps for the GIL looks again after each switch interval: what is beyond is a processor's delay.
            asleep = min(1e-9 * waited.value, sleeps * sys.getswitchinterval())
            weight = 1 + asleep / INTERVAL
            self.knocks = Knocks(self.knocks.held + weight * (sleeps > 0), self.knocks.all + weight)
