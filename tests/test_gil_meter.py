"""The GIL meter tells loads apart of which it is known whether they hold the GIL."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import random
import subprocess
import threading
import time
import zlib
from collections.abc import Callable, Iterator

import processes
import pytest

from tfgoloader import _gil
from tfgoloader._gil import GilMeter, Knocks

LARGE = bytes(8_000_000)  # takes tens of milliseconds, and the GIL only before and after
hold = ctypes.PyDLL(None).usleep  # asleep, with the GIL
give_up = ctypes.CDLL(None).usleep


def count() -> None:
    for _ in range(10_000):
        pass


def take_turns() -> None:
    """Hold the GIL for half of the time, far longer than the time between two knocks."""
    hold(200_000)
    give_up(200_000)


@contextlib.contextmanager
def repeated(function: Callable[[], object], threads: int) -> Iterator[None]:
    over = threading.Event()

    def run() -> None:
        while not over.is_set():
            function()

    running = [threading.Thread(target=run) for _ in range(threads)]
    for thread in running:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in running:
            thread.join()


@pytest.fixture(autouse=True)
def _interval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_gil, "INTERVAL", 0.01)  # for a good estimate in little time


def share(knocks: int = 100) -> float:
    """Return the share that is held while nothing runs here, as so many knocks find it."""
    meter = GilMeter()
    with meter:
        while meter.knocks.all < knocks:
            time.sleep(0.01)
    meter.stop(wait=True)
    found = meter.knocks.share_since(Knocks())
    assert found is not None
    return found


def test_nobody_holds_it() -> None:
    assert share() < 0.5


@pytest.mark.parametrize("threads", [1, 2])
def test_python_holds_it(threads: int) -> None:
    with repeated(count, threads):
        assert share() > 0.7


def test_who_holds_it_need_not_compute() -> None:
    with repeated(lambda: hold(20_000), 1):
        assert share() > 0.7


def test_long_turns_count_for_their_length() -> None:
    with repeated(take_turns, 1):
        assert 0.3 < share(200) < 0.7


@pytest.mark.parametrize("function", [lambda: hashlib.sha256(LARGE), lambda: zlib.compress(LARGE)])
def test_who_computes_need_not_hold_it(function: Callable[[], object]) -> None:
    with repeated(function, 2):
        assert share() < 0.5


def test_a_busy_processor_is_not_a_held_gil() -> None:
    """More computes than there are processors, here and elsewhere."""
    others = [subprocess.Popen(processes.command("while True: pass")) for _ in range(2)]
    try:
        with repeated(lambda: hashlib.sha256(LARGE), 2):
            assert share() < 0.5
    finally:
        for other in others:
            other.kill()
            other.wait()


def test_the_share_is_of_the_knocks_since_then() -> None:
    assert Knocks(6, 10).share_since(Knocks(3, 4)) == 0.5
    assert Knocks(6, 10).share_since(Knocks(6, 10)) is None


def test_nobody_elses_random_numbers_change() -> None:
    before = random.getstate()
    share(3)
    assert random.getstate() == before


def thread_of(meter: GilMeter) -> threading.Thread:
    assert meter._thread
    return meter._thread


def test_it_is_stopped_for_good() -> None:
    meter = GilMeter()
    meter.stop(wait=True)
    with meter:
        assert meter._thread is None
    meter = GilMeter()
    with meter:
        thread = thread_of(meter)
        assert thread.is_alive()
        meter.stop(wait=True)
        assert not thread.is_alive()
    with meter:
        assert thread_of(meter) is thread


def test_it_ends_without_work_and_goes_on_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    meter = GilMeter()
    with meter:
        first = thread_of(meter)
    with meter:
        assert thread_of(meter) is first  # which waits for more work
    monkeypatch.setattr(_gil, "PATIENCE", 0.0)
    first.join(30)
    assert not first.is_alive()
    before = meter.knocks.all
    with meter:
        while meter.knocks.all == before:
            time.sleep(0.01)
        assert thread_of(meter) is not first
    meter.stop(wait=True)


def test_it_keeps_no_process() -> None:
    script = """
import threading
from tfgoloader._gil import GilMeter

def run():
    while True:
        pass

threading.Thread(target=run, daemon=True).start()
meter = GilMeter()
meter.__enter__()
while meter.knocks.all < 3:
    pass
"""
    result = processes.run(script)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
