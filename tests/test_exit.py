"""Ctrl-C, the end of the interpreter, and other processes, each tried in a process of its own."""

import multiprocessing
import os
import signal
import subprocess
import time
from typing import ClassVar

import pytest
from flat import SIZE, flat_pictures
from pictures import photograph
from PIL import Image
from processes import command, run

import tfgoloader as tgl
from tfgoloader import ops

COUNT = 24


@pytest.fixture(scope="module")
def flat(tmp_path_factory):
    return flat_pictures(tmp_path_factory.mktemp("flat"), COUNT)


def noisy(path, size):
    """Write a picture that takes its time to decode; return the path."""
    Image.fromarray(photograph(size, size, seed=1)).save(path)
    return path


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    return noisy(tmp_path_factory.mktemp("large") / "large.jpg", 1500)


# What scripts in other processes start with: a loader over the files that they are given.
LOADER = """
import sys
import tfgoloader as tgl
from tfgoloader import ops
paths = sys.argv[1:]
source = tgl.sources.Paths(paths, range(len(paths)))
loader = tgl.ImageLoader(source, [ops.CenterCrop(8, 8)], batch_size=4, num_workers=2)
"""

# A loader whose first batch takes minutes.
SLOW = """
import sys
import tfgoloader as tgl
from tfgoloader import ops
source = tgl.sources.Paths([sys.argv[1]] * 50_000)
loader = tgl.ImageLoader(source, [ops.CenterCrop(8, 8)], batch_size=50_000, dtype="uint8", num_workers=1)
"""

INTERRUPTED = """
import signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell would ignore it

def announce():
    while loader.stats()["seconds"]["wait"] == 0:  # counted when a wait has come back to Python once
        time.sleep(0.001)
    print("waiting", flush=True)

threading.Thread(target=announce, daemon=True).start()
try:
    next(iter(loader))
except KeyboardInterrupt:
    print(time.monotonic(), loader.stats()["batches"], flush=True)
    raise
"""


def test_ctrl_c_while_waiting(large):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command(SLOW + INTERRUPTED, large), **pipes) as process:
        assert process.stdout.readline() == "waiting\n"
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    arrived, batches = output.split()
    assert batches == "0"
    assert float(arrived) - sent < 2
    assert errors.endswith("KeyboardInterrupt\n")
    assert process.returncode == -signal.SIGINT


NUMPY_EXIT = """
iterator = iter(loader)
next(iterator)
"""
NUMPY_WAITING_EXIT = """
import threading, time
threading.Thread(target=lambda: list(loader), daemon=True).start()
while not loader.stats()["images"]:
    time.sleep(0.001)
"""
DATASET_EXIT = """
iterator = iter(loader.as_dataset())
next(iterator)
"""
# Eight threads of TensorFlow ask for a second batch, which is not ready, so that some of them surely need Python
# at the moment when it ends: such a thread never comes back, and TensorFlow waits for it for ever.
DATASET_WAITING_EXIT = """
import sys
import tfgoloader as tgl
from tfgoloader import ops
quick, slow = sys.argv[1:]
source = tgl.sources.Paths([quick] * 2_000 + [slow] * 2_000)
options = {"batch_size": 2_000, "prefetch": 0, "dtype": "uint8", "num_workers": 1}
loaders = [tgl.ImageLoader(source, [ops.CenterCrop(8, 8)], **options) for _ in range(8)]
iterators = [iter(loader.as_dataset()) for loader in loaders]
for iterator in iterators:
    next(iterator)
"""


class TestExit:
    # TensorFlow logs what goes wrong in its threads.
    ENVIRONMENT: ClassVar = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "0"}

    @pytest.mark.parametrize("script", [NUMPY_EXIT, NUMPY_WAITING_EXIT], ids=["idle", "waiting"])
    def test_numpy(self, flat, large, script):
        start, paths = (LOADER, flat) if script == NUMPY_EXIT else (SLOW, [large])
        result = run(start + script, *paths)
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")

    def test_dataset(self, flat):
        self.assert_quiet(run(LOADER + DATASET_EXIT, *flat, env=self.ENVIRONMENT))

    def test_dataset_that_waits(self, flat, tmp_path):
        slow = noisy(tmp_path / "medium.jpg", 400)
        self.assert_quiet(run(DATASET_WAITING_EXIT, flat[0], slow, env=self.ENVIRONMENT))

    def assert_quiet(self, result):
        assert "Traceback" not in result.stderr
        assert "tfgoloader" not in result.stderr
        assert (result.returncode, result.stdout) == (0, "")

    def test_import_in_a_folder_that_is_gone(self, tmp_path, flat):
        folder = tmp_path / "gone"
        folder.mkdir()
        script = "import os\nos.rmdir(os.getcwd())\n" + LOADER + "print(sum(len(labels) for _, labels in loader))"
        result = run(script, *flat, cwd=folder)
        assert (result.returncode, result.stdout, result.stderr) == (0, f"{COUNT}\n", "")


CHILD_USES = """
def uses():
    '''Return what every use of the package gives in this process.'''
    attempts = {
        "iter": lambda: iter(loader),
        "next": lambda: next(iterator),
        "source": lambda: tgl.sources.Paths(paths),
        "loader": lambda: tgl.ImageLoader(source, [ops.CenterCrop(8, 8)]),
        "stats": loader.stats,
        "build_info": tgl.build_info,
    }
    results = {}
    for name, attempt in attempts.items():
        try:
            attempt()
            results[name] = "done"
        except tgl.TfGoLoaderError as error:
            results[name] = type(error).__name__
    return results

iterator = iter(loader)
kept = next(iterator)
"""

FORK = """
import gc, json, os, signal
pid = os.fork()
if pid == 0:
    signal.alarm(60)  # rather than hang
    print(json.dumps(uses()), kept[0][:, 0, 0, 0].tolist(), kept[1].tolist(), flush=True)
    loader.close()
    del loader, iterator, source, kept
    gc.collect()
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), kept[0][:, 0, 0, 0].tolist())
print([label for _, labels in iterator for label in labels.tolist()])
print([label for _, labels in loader for label in labels.tolist()])
"""

MULTIPROCESSING_FORK = """
import json, multiprocessing, signal

def child(pipe):
    signal.alarm(60)
    pipe.send((uses(), kept[0][:, 0, 0, 0].tolist()))

context = multiprocessing.get_context("fork")
receiver, sender = context.Pipe(duplex=False)
process = context.Process(target=child, args=(sender,))
process.start()
sender.close()  # so that a child that dies is the end of what it sends
results, inherited = receiver.recv()
process.join()
print(json.dumps(results), inherited, process.exitcode)
print([label for _, labels in iterator for label in labels.tolist()])
"""

IMPORT_IN_THE_CHILD = """
import os, signal, sys
pid = os.fork()
if pid == 0:
    signal.alarm(60)
    {loader}
    print([label for _, labels in loader for label in labels.tolist()], flush=True)
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


class TestFork:
    USES = '{"iter": "%s", "next": "%s", "source": "%s", "loader": "%s", "stats": "%s", "build_info": "%s"}'
    REFUSED = USES % (("ForkError",) * 6)

    def test_a_forked_child_is_told_and_the_parent_goes_on(self, flat):
        result = run(LOADER + CHILD_USES + FORK, *flat)
        assert result.stdout.splitlines() == [
            f"{self.REFUSED} [0.0, 1.0, 2.0, 3.0] [0, 1, 2, 3]",
            "7 [0.0, 1.0, 2.0, 3.0]",
            str(list(range(4, COUNT))),
            str(list(range(COUNT))),
        ]
        assert result.returncode == 0

    def test_multiprocessing_with_fork(self, flat):
        result = run(LOADER + CHILD_USES + MULTIPROCESSING_FORK, *flat)
        assert result.stdout.splitlines() == [
            f"{self.REFUSED} [0.0, 1.0, 2.0, 3.0] 0",
            str(list(range(4, COUNT))),
        ]
        assert result.returncode == 0

    def test_the_message_says_what_to_do(self, flat):
        script = LOADER + "import os\nif os.fork() == 0:\n    iter(loader)\nos.wait()"
        result = run(script, *flat)
        assert "tfgoloader._errors.ForkError" in result.stderr
        assert 'multiprocessing.get_context("spawn")' in result.stderr

    def test_import_after_the_fork(self, flat):
        script = IMPORT_IN_THE_CHILD.format(loader=LOADER.replace("\n", "\n    "))
        result = run(script, *flat)
        assert result.stdout.splitlines() == [str(list(range(COUNT))), "7"]
        assert result.returncode == 0

    def test_spawn(self, flat):
        assert epoch_labels(flat) == list(range(COUNT))  # the parent has workers of its own
        context = multiprocessing.get_context("spawn")
        with context.Pool(1) as pool:
            assert pool.apply(epoch_labels, (flat,)) == list(range(COUNT))
            pool.close()
            pool.join()


def epoch_labels(paths):
    source = tgl.sources.Paths(paths, range(len(paths)))
    loader = tgl.ImageLoader(source, [ops.CenterCrop(SIZE, SIZE)], batch_size=4)
    return [label for _, labels in loader for label in labels.tolist()]
