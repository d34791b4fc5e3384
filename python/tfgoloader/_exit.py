"""The interpreter's end: threads that wait for a batch leave Python before it goes.

A thread that asks for the GIL once Python ends never comes back, and TensorFlow waits for its threads: the process
would hang. So iterations end here, as at the end of an epoch, while there still is a GIL to give back.
"""

from __future__ import annotations

import atexit
import time
import weakref
from typing import Protocol


class Epoch(Protocol):
    """An iteration over a loader."""

    entered: bool  # a thread is in its __next__

    def close(self) -> None:
        """End it."""


class Crew(Protocol):
    """Threads that call functions, and their processes."""

    def stop(self, patience: float) -> None:
        """End them, and wait so many seconds for that."""


exiting = False
_crews: weakref.WeakSet[Crew] = weakref.WeakSet()
_epochs: weakref.WeakSet[Epoch] = weakref.WeakSet()

_PATIENCE = 5.0  # seconds: a thread that does something else may keep its iterator for ever
_TURN = 0.02  # seconds, several of the GIL's turns: for threads that are not in an iteration but on their way


def watch(epoch: Epoch) -> None:
    """End this iteration at the interpreter's end, if it lives so long."""
    _epochs.add(epoch)


def watch_crew(crew: Crew) -> None:
    """End these threads at the interpreter's end, if they live so long."""
    _crews.add(crew)


def _close_all() -> None:  # a function, so that no variable keeps the last one alive
    for epoch in list(_epochs):
        epoch.close()


def _end() -> None:
    global exiting
    exiting = True
    deadline = time.monotonic() + _PATIENCE  # of all together
    for crew in list(_crews):
        crew.stop(0.0)
    for crew in list(_crews):
        crew.stop(max(0.0, deadline - time.monotonic()))
    if not _epochs:
        return
    time.sleep(_TURN)
    busy: weakref.WeakSet[Epoch] = weakref.WeakSet(epoch for epoch in _epochs if epoch.entered)
    _close_all()
    deadline = time.monotonic() + _PATIENCE
    while busy and time.monotonic() < deadline:  # until whoever was served lets go of the iterator
        time.sleep(0.001)
    time.sleep(_TURN)


atexit.register(_end)
