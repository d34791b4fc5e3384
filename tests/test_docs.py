"""The snippets of the README run as they stand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pictures
from PIL import Image

README = Path(__file__).parent.parent / "README.md"


def test_the_snippets_of_the_readme_run(tmp_path: Path) -> None:
    snippets = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(snippets) == 2
    folder = tmp_path / "images"
    folder.mkdir()
    lines = []
    for index in range(130):
        Image.fromarray(pictures.photograph(225, 230, index)).save(folder / f"{index}.jpg")
        lines.append(f"{index}.jpg {index % 50}\n")
    (tmp_path / "train.txt").write_text("".join(lines))
    script = "\n".join(snippets).replace("epochs=10", "epochs=1")  # the rest would be more of the same
    run = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "(128, 224, 224, 3) float32 (128, 50)" in run.stdout
    assert "1/1" in run.stdout  # the number of steps is known
