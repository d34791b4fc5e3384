"""Pure-Python threads run on while the loader works, and while it waits."""

import json

import pytest
from flat import flat_pictures
from processes import run

import tfgoloader as tgl
from tfgoloader import _epoch, _loader, ops
from tfgoloader._core import PENDING, call

COUNT_WHILE = """
import ctypes, json, sys, threading, time
import tfgoloader as tgl
from tfgoloader import ops

source = tgl.sources.Paths([sys.argv[1]] * 20_000)

def wait():
    '''Wait once, for a batch that one worker fills.'''
    loader = tgl.ImageLoader(source, [ops.CenterCrop(8, 8)], batch_size=20_000, dtype="uint8", num_workers=1)
    next(iter(loader))

def iterate():
    '''Take many batches, each as soon as it is ready.'''
    loader = tgl.ImageLoader(source, [ops.CenterCrop(8, 8)], batch_size=400, dtype="uint8", num_workers=1)
    for _ in loader:
        pass

def sleep():
    '''Leave Python to the other thread.'''
    time.sleep(0.5)

def hold():
    '''Keep Python from the other thread, as an extension does that does not give up the GIL.'''
    ctypes.PyDLL(None).usleep(500_000)

count = 0

def run():
    global count
    while True:
        count += 1

threading.Thread(target=run, daemon=True).start()

def rate(occupation):
    '''Return how far the other thread gets in a second meanwhile.'''
    before, start = count, time.monotonic()
    occupation()
    return (count - before) / (time.monotonic() - start)

# In turn, so that what else the machine does meets all alike.
rounds = [[rate(occupation) for occupation in (sleep, wait, iterate, hold)] for _ in range(2)]
print(json.dumps([max(rates) for rates in zip(*rounds)]))
"""


@pytest.fixture(scope="module")
def rates(tmp_path_factory):
    (path,) = flat_pictures(tmp_path_factory.mktemp("flat"), 1)
    result = run(COUNT_WHILE, path)
    assert (result.returncode, result.stderr) == (0, "")
    alone, *others = json.loads(result.stdout)
    return dict(zip(("wait", "iterate", "hold"), (other / alone for other in others), strict=True))


@pytest.mark.parametrize("occupation", ["wait", "iterate"])
def test_another_thread_runs_on(rates, occupation):
    assert rates[occupation] > 0.15


def test_a_held_gil_would_be_seen(rates):
    assert rates["hold"] < 0.15


def test_one_call_a_batch(photographs, monkeypatch):
    """Nothing crosses into the core for a sample; a call that found no batch ready is repeated."""
    results = []

    def counted(function, *arguments):
        result = call(function, *arguments)
        results.append((function.__name__, result))
        return result

    for module in (_loader, _epoch):
        monkeypatch.setattr(module, "call", counted)
    loader = tgl.ImageLoader(tgl.sources.Paths(photographs), [ops.CenterCrop(8, 8)], batch_size=8)
    results.clear()
    batches = list(loader)
    names = [name for name, result in results if result != PENDING]
    assert names == ["pybind_Begin"] + ["pybind_Next"] * (len(batches) + 1)
