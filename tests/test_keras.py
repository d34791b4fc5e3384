"""as_keras and BackupAndRestore on the backends of Keras, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tfgoloader as tgl
from tfgoloader import ops

CHECKS = Path(__file__).parent / "backend_checks.py"
BACKENDS = os.environ.get("TFGOLOADER_BACKENDS", "tensorflow jax").split()


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_checks_pass(backend: str, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "KERAS_BACKEND": backend,
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    }
    command = [sys.executable, "-m", "pytest", "-q", str(CHECKS)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert " passed" in run.stdout


def test_keras_is_imported_only_where_it_is_used() -> None:
    script = (
        "import sys, tfgoloader; tfgoloader.callbacks; assert not {'keras', 'tensorflow', 'jax'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


@pytest.mark.parametrize("version", ["3.6.0", "2.15.0"])
def test_an_old_keras_is_told_what_to_use(
    version: str, photograph: Path, keras: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "tfgoloader._keras", raising=False)
    monkeypatch.setattr(keras, "__version__", version)
    with (
        tgl.ImageLoader(tgl.sources.Paths([photograph]), [ops.CenterCrop(8, 8)]) as loader,
        pytest.raises(tgl.TfGoLoaderError, match=rf"Keras 3\.7.*this is {version}.*as_dataset"),
    ):
        loader.as_keras()


def test_a_keras_without_adapters_is_told_what_to_use(
    photograph: Path, keras: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "tfgoloader._keras", raising=False)
    monkeypatch.setitem(sys.modules, "keras.src.trainers.data_adapters.data_adapter", None)
    with (
        tgl.ImageLoader(tgl.sources.Paths([photograph]), [ops.CenterCrop(8, 8)]) as loader,
        pytest.raises(tgl.TfGoLoaderError, match="as_dataset"),
    ):
        loader.as_keras()
