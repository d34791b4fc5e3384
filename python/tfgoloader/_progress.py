"""Progress of what takes long: a line on the terminal, where there is one and rich is installed."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator

_DELAY = 1.0  # seconds without a line: what is quick needs none
_INTERVAL = 0.1  # seconds between two looks at the count


@contextlib.contextmanager
def shown(what: str, count: Callable[[], int]) -> Iterator[None]:
    """Show by how much a count has grown while the body runs, which must give up the GIL."""
    if sys.stderr is None or not sys.stderr.isatty():  # None where a service is started without it
        yield
        return
    done = threading.Event()
    before = count()
    thread = threading.Thread(target=lambda: _show(what, lambda: count() - before, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _show(what: str, count: Callable[[], int], done: threading.Event) -> None:
    if done.wait(_DELAY):
        return
    try:
        from rich.console import Console
    except ImportError:
        return
    with Console(stderr=True).status(what) as status:
        while not done.wait(_INTERVAL):
            status.update(f"{what}: {count():,}")
