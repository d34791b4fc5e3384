"""A list that takes long shows its progress on a terminal, and nowhere else."""

from __future__ import annotations

import errno
import os
import pty
import subprocess
import time
from pathlib import Path
from typing import TextIO

import processes
import pytest

# The list is a named pipe, so that it takes as long as its writer wants.
LIST = """
import sys
import tfgoloader as tgl
from tfgoloader import _progress
_progress._DELAY = 0
print(len(tgl.sources.ListFile(sys.argv[1])))
"""


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "list.txt")
    return tmp_path / "list.txt"


def listing(pipe: Path, stderr: int, script: str = LIST) -> subprocess.Popen[str]:
    environment = {**os.environ, "TERM": "xterm"}
    return subprocess.Popen(
        processes.command(script, pipe), stdout=subprocess.PIPE, stderr=stderr, text=True, env=environment
    )


def writer_of(pipe: Path, process: subprocess.Popen[str]) -> TextIO:
    """Open the pipe for writing, as soon as the process reads from it."""
    while True:
        assert process.poll() is None
        try:
            return os.fdopen(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK), "w")
        except OSError as error:
            if error.errno != errno.ENXIO:  # nobody reads yet
                raise
            time.sleep(0.01)


def write_one(pipe: Path, process: subprocess.Popen[str]) -> None:
    with writer_of(pipe, process) as writer:
        writer.write("picture.jpg 0\n")


def test_a_terminal_sees_the_count_grow(pipe: Path) -> None:
    ours, theirs = pty.openpty()
    with listing(pipe, theirs) as process:
        os.close(theirs)
        shown = b""
        with writer_of(pipe, process) as writer:
            for count in (1234, 2345):
                writer.write("picture.jpg 0\n" * (count - 1234 or 1234))
                writer.flush()
                while f"Listing pictures: {count:,}".encode() not in shown:
                    shown += os.read(ours, 4096)
        assert process.stdout is not None
        assert process.stdout.read() == "2345\n"
        assert process.wait(60) == 0
    os.close(ours)


def test_what_is_quick_shows_nothing(pipe: Path) -> None:
    ours, theirs = pty.openpty()
    with listing(pipe, theirs, LIST.replace("_DELAY = 0", "_DELAY = 3600")) as process:
        write_one(pipe, process)
        assert process.wait(60) == 0
        os.write(theirs, b"end")
        assert os.read(ours, 4096) == b"end"
    os.close(ours)
    os.close(theirs)


def test_without_a_terminal_there_is_nothing(pipe: Path) -> None:
    with listing(pipe, subprocess.PIPE) as process:
        write_one(pipe, process)
        assert process.communicate(timeout=60) == ("1\n", "")


def test_without_a_standard_error_there_is_nothing(pipe: Path) -> None:
    with listing(pipe, subprocess.PIPE, "import sys; sys.stderr = None\n" + LIST) as process:
        write_one(pipe, process)
        assert process.communicate(timeout=60)[0] == "1\n"


def test_without_rich_there_is_nothing(pipe: Path) -> None:
    ours, theirs = pty.openpty()
    with listing(pipe, theirs, "import sys; sys.modules['rich.console'] = None\n" + LIST) as process:
        write_one(pipe, process)
        assert process.wait(60) == 0
        os.write(theirs, b"end")
        assert os.read(ours, 4096) == b"end"
    os.close(ours)
    os.close(theirs)


def test_an_error_ends_the_line(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    script = LIST.replace("print(", "try:\n    print(") + "except tgl.SourceError as error:\n    print(error.reason)\n"
    with listing(tmp_path / "none.txt", theirs, script) as process:
        assert process.communicate(timeout=60)[0] == "no such file or directory\n"
        assert process.returncode == 0
    os.close(ours)
    os.close(theirs)


def test_a_directory_is_counted(tmp_path: Path) -> None:
    from tfgoloader import _native
    from tfgoloader.sources import Directory

    for index in range(70):
        folder = tmp_path / f"class {index % 7}"
        folder.mkdir(exist_ok=True)
        (folder / f"{index}.jpg").touch()
        (folder / f"{index}.txt").touch()
    before = _native.pybind_ListedSamples()
    assert len(Directory(tmp_path)) == _native.pybind_ListedSamples() - before == 70
