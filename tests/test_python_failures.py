"""What functions of one's own can do wrong besides raising: each is told, and nothing is left of it."""

import contextlib
import dataclasses
import errno
import gc
import os
import socket
import subprocess
import threading
import weakref
from pathlib import Path

import functions
import pictures
import pytest
from PIL import Image
from processes import run
from test_python_op import close_within_a_call
from test_python_processes import children, open_loader, state

import tfgoloader as tgl
from tfgoloader import _process, ops

COUNT = 12
CROP = ops.CenterCrop(8, 8)


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return pictures.write_photographs(tmp_path_factory.mktemp("pictures"), COUNT)


def in_threads(paths, function, **options):
    source = tgl.sources.Paths(paths, range(len(paths)))
    return tgl.ImageLoader(source, [CROP, ops.Python(function)], **{"batch_size": 4, "dtype": "uint8", **options})


def memory():
    """Return how often a picture's memory is mapped."""
    return Path("/proc/self/maps").read_text().count("memfd:tfgoloader")


class TestExceptions:
    def test_one_without_a_text(self, paths):
        class Mute(Exception):
            def __str__(self):
                raise ValueError("no text")

        def fail(image):
            raise Mute

        with in_threads(paths, fail) as loader, pytest.raises(Mute):
            next(iter(loader))
        with (
            in_threads(paths, fail, on_error="skip", max_bad=2) as loader,
            pytest.raises(tgl.TfGoLoaderError, match="fail: Mute: <exception str"),
        ):
            next(iter(loader))

    def test_a_null_character(self, paths):
        def fail(image, label):
            if label == 5:
                raise ValueError("a\0b")
            return image

        with in_threads(paths, fail) as loader, pytest.raises(ValueError, match="a\0b"):
            list(loader)
        with in_threads(paths, fail, on_error="skip") as loader:
            with pytest.warns(UserWarning, match="1 bad file"):
                list(loader)
            assert loader.stats()["bad_files"] == {str(paths[5]): r"fail: ValueError: a\0b"}

    def test_one_that_takes_no_notes(self, paths):
        @dataclasses.dataclass(frozen=True)
        class Frozen(Exception):
            number: int

        def fail(image):
            raise Frozen(3)

        with in_threads(paths, fail) as loader, pytest.raises(Frozen):
            next(iter(loader))

    def test_one_that_is_its_own_cause(self, paths):
        def fail(image):
            error = ValueError("round and round")
            raise error from error

        with in_threads(paths, fail) as loader, pytest.raises(ValueError, match="round and round"):
            next(iter(loader))

    def test_one_that_arrives_as_something_else(self, paths):
        with (
            open_loader(paths, functions.raise_what_is_none) as loader,
            pytest.raises(RuntimeError, match="in raise_what_is_none"),
        ):
            next(iter(loader))

    @pytest.mark.parametrize(("label", "error"), [(1.5, TypeError), ("1", TypeError), (2**70, OverflowError)])
    def test_a_label_that_is_no_label(self, paths, label, error):
        def relabel(image, label):
            return {"label": wrong}

        wrong = label
        with in_threads(paths, relabel) as loader, pytest.raises(error):
            next(iter(loader))


class TestProcesses:
    def test_what_a_function_starts_does_not_hide_that_its_process_is_gone(self, paths):
        with open_loader(paths, functions.leave_a_child, timeout=6) as loader:
            iterator = iter(loader)
            next(iterator)
            with pytest.raises(tgl.FunctionError, match="leave_a_child ended its process with exit code 3"):
                next(iterator)

    def test_a_signal_without_a_name(self, paths):
        with (
            open_loader(paths, functions.die_by_a_number, on_error="raise") as loader,
            pytest.raises(tgl.FunctionError, match=r"was ended by signal \d\d"),
        ):
            next(iter(loader))

    def test_memory_that_a_process_could_not_take_is_offered_again(self, paths, tmp_path):
        """Each picture is too large for the memory of the one before; two workers take turns with the process."""
        files = [tmp_path / f"{i}.png" for i in range(9)]
        for i, file in enumerate(files):
            Image.new("RGB", (8 * 2**i, 8)).save(file)
        operation = ops.Python(functions.no_files_at_two, "process", workers=1, output_shape=(8, 8))
        source = tgl.sources.Paths(files, range(9))
        options = {"dtype": "uint8", "num_workers": 1, "batch_size": 1, "prefetch": 0}
        with tgl.ImageLoader(source, [operation], **options) as loader:
            iterator, labels = iter(loader), []
            for _ in range(4):
                with contextlib.suppress(OSError):  # the neighbours of 2 may be called before it or after
                    labels += next(iterator)[1].tolist()
            assert {0, 2} <= set(labels)
            for _ in range(5):
                with pytest.raises(OSError, match=r"in a process of ops\.Python") as caught:
                    next(iterator)
                assert caught.value.errno == errno.EMFILE

    def test_a_timeout_that_no_socket_has(self):
        for timeout in (2_000_001, 1e300):
            with pytest.raises(tgl.ConfigError, match=r"Python\.timeout=.*at most 2000000"):
                ops.Python(functions.jitter, executor="process", timeout=timeout)

    def test_modules_in_the_current_folder_are_not_pythons_own(self, paths, tmp_path, monkeypatch):
        for name in ("importlib", "socket", "struct", "pickle"):
            (tmp_path / f"{name}.py").write_text("raise SystemError\n")
        monkeypatch.chdir(tmp_path)
        with open_loader(paths, functions.jitter) as loader:
            assert next(iter(loader))[0].shape == (4, 8, 8, 3)

    def test_ctrl_c_before_a_process_is_ready(self, tmp_path):
        """Its start takes most of a second, in which a terminal's Ctrl-C would end it with a traceback."""
        script = """
import signal, socket
from tfgoloader import _process
ours, theirs = socket.socketpair()
process = _process._popen(theirs.fileno())
process.send_signal(signal.SIGINT)
theirs.close()
ours.sendall((1).to_bytes(8, "little") + b"x")  # which it answers with an error, and ends
print(len(ours.recv(1)), process.wait(), signal.pthread_sigmask(signal.SIG_BLOCK, []))
"""
        result = run(script)
        assert (result.stdout, result.stderr) == ("1 0 set()\n", "")


class TestStart:
    def test_a_process_that_ends_at_once(self, paths):
        with pytest.raises(tgl.TfGoLoaderError, match=r"not be started: ExitsWhenSent ended its process with .* 7"):
            open_loader(paths, functions.ExitsWhenSent(), workers=2)
        assert not children()

    @pytest.mark.parametrize("owner", [socket, _process.subprocess], ids=["connection", "process"])
    def test_no_file_can_be_opened(self, paths, owner, monkeypatch):
        def refuse(*arguments, **options):
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

        monkeypatch.setattr(owner, "socketpair" if owner is socket else "Popen", refuse)
        with pytest.raises(tgl.TfGoLoaderError, match=r"jitter could not be given a process: .*Too many open files"):
            open_loader(paths, functions.jitter)

    def test_no_thread_can_be_started(self, paths, monkeypatch):
        """Those that were started leave nothing."""
        start, before = threading.Thread.start, threading.active_count()

        def refuse(thread):
            if thread.name == "tfgoloader 2":
                raise RuntimeError("can't start new thread")
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(tgl.TfGoLoaderError, match=r"a thread of ops\.Python could not be started: can't"):
            open_loader(paths, functions.jitter, workers=2, num_workers=2)
        assert not children()
        assert threading.active_count() == before

    def test_stopped_by_the_thread_that_starts_it(self, monkeypatch):
        """As the garbage collector may do it: there is no deadlock, and the process does not live on."""
        process = _process.Process("name", b"", None)
        popen, started = subprocess.Popen, []

        def collect(*arguments, **options):
            process.stop()
            started.append(popen(*arguments, **options))
            return started[0]

        monkeypatch.setattr(subprocess, "Popen", collect)

        def begin():
            with pytest.raises(_process.DiedError):
                process.start()

        starting = threading.Thread(target=begin, daemon=True)
        starting.start()
        starting.join(20)
        assert not starting.is_alive()
        assert state(started[0].pid) is None


class TestNothingIsLeft:
    @pytest.fixture(autouse=True)
    def no_collector(self):
        for _ in range(2):  # the second is for what finalizers have let go
            gc.collect()
        assert memory() == 0
        gc.disable()
        yield
        gc.enable()

    def test_of_a_loader_that_is_closed_while_a_function_is_busy(self, paths):
        entered, leave = threading.Event(), threading.Event()

        def wait(image):
            entered.set()
            leave.wait(60)
            return image

        close_within_a_call(in_threads(paths, wait, num_workers=2), entered, leave)
        assert memory() == 0

    def test_of_the_crews_before_other_seeds(self, paths):
        loader = in_threads(paths, functions.jitter, num_workers=1)
        iterator = iter(loader)
        next(iterator)
        state, crews = loader.state_dict(), []
        for seed in range(3):
            crews.append(weakref.ref(loader._crew))
            loader.load_state_dict({**state, "seed": seed})
            iterator = iter(loader)
            next(iterator)
        assert [crew() for crew in crews] == [None, None, None]
        loader.close()
        assert memory() == 0


EXIT = """
import queue, sys, time
import tfgoloader as tgl
from tfgoloader import _exit, ops

_exit._PATIENCE = 1.0
entered = queue.SimpleQueue()

def hang(image):
    entered.put(image)
    time.sleep(100)

source = tgl.sources.Paths(sys.argv[1:])
loaders = [tgl.ImageLoader(source, [ops.CenterCrop(8, 8), ops.Python(hang)], num_workers=1) for _ in range(60)]
iterators = list(map(iter, loaders))
for _ in loaders:
    entered.get()
"""


def test_the_end_waits_once_for_all_loaders(paths):
    """Not a minute for 60 of them, one after the other."""
    result = run(EXIT, *paths, timeout=30)
    assert (result.returncode, result.stderr) == (0, "")
