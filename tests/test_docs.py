"""The snippets of the README and of docs/ run as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pictures
from PIL import Image

import tfgoloader as tgl
from tfgoloader import ops

ROOT = Path(__file__).parent.parent


def snippets_of(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


def write_lists(tmp_path: Path) -> None:
    folder = tmp_path / "images"
    folder.mkdir()
    lines = []
    for index in range(130):
        Image.fromarray(pictures.photograph(225, 230, index)).save(folder / f"{index}.jpg")
        lines.append(f"{index}.jpg {index % 50}\n")
    (tmp_path / "train.txt").write_text("".join(lines))
    (tmp_path / "validation.txt").write_text("".join(lines[:40]))


def test_the_snippets_of_the_readme_run(tmp_path: Path) -> None:
    snippets = snippets_of("README.md")
    assert len(snippets) == 2
    write_lists(tmp_path)
    script = "\n".join(snippets).replace("epochs=10", "epochs=1")  # the rest would be more of the same
    run = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "(128, 224, 224, 3) float32 (128, 50)" in run.stdout
    assert "1/1" in run.stdout  # the number of steps is known


def test_the_snippets_about_keras_run(tmp_path: Path) -> None:
    snippets = snippets_of("docs/keras.md")
    assert len(snippets) == 2
    write_lists(tmp_path)
    run = subprocess.run([sys.executable, "-c", "\n".join(snippets)], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "5/5" in run.stdout
    assert "4 1 (32, 224, 224, 3)" in run.stdout
    assert "ran out" not in run.stderr


def test_the_snippets_about_serving_run(tmp_path: Path) -> None:
    snippets = snippets_of("docs/serving.md")
    assert len(snippets) == 5
    for place in ("train", "validation"):
        for label, name in enumerate(("dark", "light")):
            folder = tmp_path / place / name
            folder.mkdir(parents=True)
            for index in range(21):
                picture = pictures.photograph(70, 80, index) // 4 + 190 * label
                Image.fromarray(picture).save(folder / f"{index}.jpg")
    (tmp_path / "new").mkdir()
    for index in (1, 2, 3):
        Image.fromarray(pictures.photograph(75, 90, index)).save(tmp_path / f"new/{index}.jpg")
    script = "\n".join(snippets)
    run = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert re.search(r"^(dark|light)$", run.stdout, re.MULTILINE)
    assert re.findall(r"^new/(\d).jpg (?:dark|light)$", run.stdout, re.MULTILINE) == ["1", "2", "3"]
    assert "['new/1.jpg' 'new/2.jpg' 'new/3.jpg']" in run.stdout
    assert re.search(r"^train/dark/\S+\.jpg \(\d+, \d+, \d+, \d+\)", run.stdout, re.MULTILINE)
    assert re.search(r"^RandomResizedCrop True {'resized_from'", run.stdout, re.MULTILINE)
    assert "(70, 80, 3) (64, 64, 3)" in run.stdout


CALL_WITH_LONG_ROWS = """
rows, everywhere = np.full((4, 20), 9, np.uint8), np.array([1.0])
code = speckle.ctypes(rows.ctypes.data, 4, 5, 3, 20, 0, everywhere.ctypes.data)
print(code, np.unique(rows[:, :15]), np.unique(rows[:, 15:]))
"""


def test_the_snippets_about_functions_run(tmp_path: Path) -> None:
    snippets = snippets_of("docs/python.md")
    assert len(snippets) == 4
    write_lists(tmp_path)
    script = "\n".join([*snippets, CALL_WITH_LONG_ROWS])
    run = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout == "(32, 224, 224, 3) float32\nTrue\nTrue\n0.25\n0 [255] [9]\n"


def test_the_function_in_c_compiles(tmp_path: Path) -> None:
    (code,) = re.findall(r"```c\n(.*?)```", (ROOT / "docs/python.md").read_text(), re.DOTALL)
    (tmp_path / "darken.c").write_text(code.replace("seed % 3", "0 * seed + 1"))  # always half as bright
    command = ["cc", "-shared", "-fPIC", "-Wall", "-Werror", f"-I{tgl.get_include()}", "-o", "darken.so", "darken.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    write_lists(tmp_path)
    source = tgl.sources.ListFile(tmp_path / "validation.txt", root=tmp_path / "images")
    crop, darken = ops.CenterCrop(64, 64), ops.Native("darken", tmp_path / "darken.so")
    with (
        tgl.ImageLoader(source, [crop], dtype="uint8") as plain,
        tgl.ImageLoader(source, [crop, darken], dtype="uint8") as dark,
    ):
        np.testing.assert_array_equal(next(iter(dark))[0], next(iter(plain))[0] // 2)


def test_the_examples_with_functions_run(tmp_path: Path) -> None:
    write_lists(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "images").rename(tmp_path / "data/images")
    environment = {**os.environ, "NO_ALBUMENTATIONS_UPDATE": "1"}
    for example in ("opencv", "with_albumentations"):
        command = [sys.executable, ROOT / f"examples/{example}.py", tmp_path / "data"]
        run = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        assert re.fullmatch(r"\d+ calls, [\d.]+ ms each\n", run.stdout)
