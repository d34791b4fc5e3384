"""Processes that call a function: the same pixels as by threads, and nothing of them is left, whatever ends them."""

import contextlib
import gc
import os
import signal
import subprocess
import sys
import threading
import traceback
from pathlib import Path

import functions
import numpy as np
import pictures
import pytest
from PIL import Image
from test_python_op import said_of, until

import tfgoloader as tgl
from tfgoloader import ops

COUNT = 12
CROP = ops.CenterCrop(8, 8)


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return pictures.write_photographs(tmp_path_factory.mktemp("pictures"), COUNT)


def open_loader(paths, function, crop=CROP, workers=1, timeout=None, **options):
    operation = ops.Python(function, executor="process", workers=workers, timeout=timeout)
    source = tgl.sources.Paths(paths, range(len(paths)))
    return tgl.ImageLoader(source, [crop, operation], **{"batch_size": 4, "seed": 11, "dtype": "uint8", **options})


def numbers(images):
    """Return the numbers of the processes that functions.number_of_the_process was called in."""
    return {int.from_bytes(image.tobytes()[:4], "little") for image in images}


def children(parent="self"):
    """Return the live children of a process that call functions."""
    found = []
    for task in Path(f"/proc/{parent}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread that ends meanwhile
            found += map(int, (task / "children").read_text().split())
    return [child for child in found if "_tfgoloader_call" in command_line(child) and state(child) != "Z"]


def command_line(process):
    """Return the command line of a process, an empty one where it is gone."""
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def state(process):
    """Return the letter of a process's state, None where it is gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return None


@pytest.fixture(autouse=True)
def nothing_is_left():
    """No process and no shared memory, which has no name in any file system."""
    yield
    gc.collect()
    assert not children()
    until(lambda: "memfd:tfgoloader" not in Path("/proc/self/maps").read_text())  # threads may be about to end


def test_the_same_pixels_as_by_threads(paths):
    source = tgl.sources.Paths(paths, range(COUNT))

    def epochs(*arguments, **options):
        pipeline = [ops.RandomCrop(30, 34), ops.Python(functions.jitter, *arguments), ops.RandomFlip("vertical")]
        with tgl.ImageLoader(source, pipeline, seed=3, batch_size=5, shuffle=True, **options) as loader:
            return np.concatenate([images for _ in range(2) for images, _ in loader])

    by_threads = epochs("thread", 2)
    np.testing.assert_array_equal(epochs("process", 1, num_workers=1), by_threads)
    np.testing.assert_array_equal(epochs("process", 3, num_workers=3), by_threads)


def test_processes_live_as_long_as_the_loader_and_need_little(paths):
    with open_loader(paths, functions.number_of_the_process, workers=2) as loader:
        started = set(children())
        assert len(started) == 2
        for _ in range(3):
            assert numbers(image for images, _ in loader for image in images) <= started
        assert set(children()) == started
    with open_loader(paths, functions.modules) as loader:
        assert not next(iter(loader))[0].any()


def test_pictures_of_growing_size_are_seen(paths, tmp_path):
    """Each is too large for the memory of the one before."""

    def mean(image):
        return np.full((8, 8, 3), image.mean(), np.uint8)

    files = [tmp_path / f"{side}.png" for side in (8, 64, 512, 1024)]
    for file in files:
        Image.new("RGB", (int(file.stem),) * 2, (int(file.stem) // 8,) * 3).save(file)
    operation = ops.Python(mean, executor="process", workers=1, output_shape=(8, 8))
    with tgl.ImageLoader(tgl.sources.Paths(files), [operation], dtype="uint8", num_workers=1) as loader:
        assert next(iter(loader))[:, 0, 0, 0].tolist() == [1, 8, 64, 128]


class TestFailures:
    def test_an_exception_arrives_as_itself(self, paths):
        with open_loader(paths, functions.refuse_five) as loader:
            before, iterator = children(), iter(loader)
            next(iterator)
            with pytest.raises(functions.Refused) as caught:
                next(iterator)
            assert caught.value.label == 5
            assert said_of(caught.value) == (str(paths[5]), "5")
            assert "in refuse_five" in "".join(traceback.format_exception(caught.value))  # by the process
            next(iterator)
            assert children() == before

    def test_an_exception_that_cannot_be_sent_is_told(self, paths):
        with (
            open_loader(paths, functions.raise_awkward) as loader,
            pytest.raises(RuntimeError, match="Awkward: one and two"),
        ):
            next(iter(loader))

    @pytest.mark.parametrize(
        ("function", "timeout", "text"),
        [
            (functions.exit_at_five, None, "exit_at_five ended its process with exit code 3"),
            (functions.kill_at_five, None, "kill_at_five lost its process, which was ended by SIGKILL, perhaps"),
            (functions.hang_at_five, 0.5, r"hang_at_five took longer than timeout=0\.5 seconds"),
        ],
        ids=["exits", "is killed", "hangs"],
    )
    def test_a_process_that(self, paths, function, timeout, text):
        with open_loader(paths, function, timeout=timeout) as loader:
            iterator = iter(loader)
            next(iterator)
            with pytest.raises(tgl.FunctionError, match=text) as caught:
                next(iterator)
            assert (caught.value.path, caught.value.index) == (str(paths[5]), 5)
            assert next(iterator)[1].tolist() == [8, 9, 10, 11]  # by another process

    def test_policies(self, paths):
        with open_loader(paths, functions.exit_at_five, on_error="skip", workers=2) as loader:
            with pytest.warns(UserWarning, match="exit code 3"):
                labels = [label for _, labels in loader for label in labels.tolist()]
            assert sorted(labels) == [label for label in range(COUNT) if label != 5]
            assert list(loader.stats()["bad_files"]) == [str(paths[5])]

    def test_what_the_function_imports_is_not_there(self, paths, tmp_path, monkeypatch):
        (tmp_path / "elsewhere.py").write_text("def change(image):\n    return image\n")
        monkeypatch.syspath_prepend(tmp_path)
        import elsewhere

        monkeypatch.undo()
        with pytest.raises(ModuleNotFoundError, match="elsewhere"):
            open_loader(paths, elsewhere.change)
        del sys.modules["elsewhere"]

    def test_a_function_that_cannot_be_sent(self, paths):
        lock = threading.Lock()
        with pytest.raises(tgl.ConfigError, match=r"Python\.fn.*can be sent to a process"):
            open_loader(paths, lambda image: image if lock else None)

    def test_without_cloudpickle(self, paths, monkeypatch):
        monkeypatch.setitem(sys.modules, "cloudpickle", None)
        with open_loader(paths, functions.jitter) as loader:
            next(iter(loader))
        with pytest.raises(tgl.ConfigError, match="or the package cloudpickle"):
            open_loader(paths, lambda image: image)


class TestEnd:
    def test_close_while_a_function_hangs(self, paths):
        loader = open_loader(paths, functions.hang_at_five, prefetch=0)  # or the only process might hang too early
        next(iter(loader))
        assert len(children()) == 1
        assert "memfd:tfgoloader" in Path("/proc/self/maps").read_text()
        loader.close()
        assert not children()

    def test_a_dropped_loader(self, paths):
        loader = open_loader(paths, functions.hang_at_five, prefetch=0)  # or the only process might hang too early
        next(iter(loader))
        del loader
        gc.collect()
        until(lambda: not children())

    def test_early_break(self, paths):
        with open_loader(paths, functions.jitter, workers=2) as loader:
            for _ in loader:
                break
        assert not children()


# A script without `if __name__ == "__main__"`, whose function is its own.
SCRIPT = """
import os, signal, sys
import numpy as np
import tfgoloader as tgl
from tfgoloader import ops

print("started", flush=True)
signal.signal(signal.SIGINT, signal.default_int_handler)

class OwnError(Exception):
    pass

def own(image, label):
    if label == 7:
        raise OwnError(f"label {label}")
    image[:] = label + np.uint8(1)
    return image

def hang(image):
    sys.stdout.write("hangs\\n")  # at once, as another process writes too
    sys.stdout.flush()
    signal.pause()

source = tgl.sources.Paths(sys.argv[1:], range(len(sys.argv) - 1))
loader = tgl.ImageLoader(
    source, [ops.CenterCrop(8, 8), ops.Python(FUNCTION, executor="process", workers=2)], batch_size=4, dtype="uint8"
)
iterator = iter(loader)
"""
OWN = """
print(next(iterator)[0][:, 0, 0, 0].tolist())
try:
    next(iterator)
except OwnError as error:
    print("OwnError", error)
"""


class TestScripts:
    def start(self, paths, folder, function, rest="", **options):
        script = folder / "script.py"
        script.write_text(SCRIPT.replace("FUNCTION", function) + rest)
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen([sys.executable, script, *map(str, paths)], **pipes, **options)

    def test_without_a_guard(self, paths, tmp_path):
        """It runs once, and its end is that of its processes."""
        with self.start(paths, tmp_path, "own", OWN) as script:
            output, errors = script.communicate(timeout=60)
        assert (output, errors) == ("started\n[1, 2, 3, 4]\nOwnError label 7\n", "")
        assert script.returncode == 0

    def busy(self, paths, tmp_path, **options):
        """Return a script that waits for two processes which hang, and the processes."""
        script = self.start(paths, tmp_path, "hang", "next(iterator)\n", **options)
        assert [script.stdout.readline() for _ in range(3)] == ["started\n", "hangs\n", "hangs\n"]
        found = children(script.pid)
        assert len(found) == 2
        return script, found

    def test_kill_9_of_the_parent(self, paths, tmp_path):
        script, found = self.busy(paths, tmp_path)
        with script:
            script.kill()
            script.wait()
            until(lambda: all(state(child) in ("Z", None) for child in found))

    def test_ctrl_c(self, paths, tmp_path):
        """The terminal sends it to all of them."""
        script, found = self.busy(paths, tmp_path, start_new_session=True)
        with script:
            os.killpg(script.pid, signal.SIGINT)
            _, errors = script.communicate(timeout=60)
        assert errors.count("Traceback") == 1
        assert errors.endswith("KeyboardInterrupt\n")
        assert script.returncode == -signal.SIGINT
        assert all(state(child) in ("Z", None) for child in found)

    def test_an_idle_parent_that_is_killed(self, paths, tmp_path):
        with self.start(
            paths, tmp_path, "own", 'next(iterator)\nprint("idle", flush=True)\nsignal.pause()\n'
        ) as script:
            assert [script.stdout.readline() for _ in range(2)] == ["started\n", "idle\n"]
            found = children(script.pid)
            assert len(found) == 2
            script.kill()
            script.wait()
            until(lambda: all(state(child) in ("Z", None) for child in found))
