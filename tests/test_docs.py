"""The snippets of the README and of docs/ run as they stand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pictures
from PIL import Image

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
