"""A training that is killed at any step, and started again by the same script, ends with the same bits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pictures
import pytest
from PIL import Image

import tfgoloader as tgl
from tfgoloader import ops

SCRIPT = Path(__file__).parent / "resumable.py"
SAMPLES, STEPS = 24, 15  # of the script

BACKENDS = os.environ.get("TFGOLOADER_BACKENDS", "tensorflow jax").split()
ROADS = {"tensorflow": ["keras", "dataset"]}
ALL = [(backend, road) for backend in BACKENDS for road in ROADS.get(backend, ["keras"])]


def draw_points(seed: int) -> list[str]:
    """Return 5 points at which to die, in the order in which they come: one in an epoch's middle, before or after the
    backup of its step, one at a last step, one in a validation, one at an epoch's end, one anywhere.
    """
    random = np.random.default_rng(seed)
    last = random.permutation([5, 10, 15])
    middle, anywhere = random.choice([1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14], 2, replace=False)
    sides = random.choice(["before", "after"], 4)
    points = [
        (middle, 0, f"{middle} {sides[0]} 0"),
        (anywhere, 0, f"{anywhere} {sides[1]} 0"),
        (last[0], 0, f"{last[0]} {sides[2]} 0"),
        (last[1], 1, f"{last[1]} test {random.integers(3)}"),
        (last[2], 2, f"{last[2]} {sides[3]}_epoch_end 0"),
    ]
    return [point for _, _, point in sorted(points)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pictures to train on."""
    folder = tmp_path_factory.mktemp("pictures")
    for index in range(SAMPLES):
        Image.fromarray(pictures.photograph(16, 18, index)).save(folder / f"{index:02}.jpg")
    return folder


@pytest.fixture(scope="module")
def runs(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Any]:
    """Every chain of runs, at the same time: the processes, each with what it is told to do."""
    started = {}
    for number, (backend, road) in enumerate(ALL):
        where = tmp_path_factory.mktemp(f"{backend}_{road}")
        orders = [[str(folder), road, 1, str(where / "other"), str(where / "whole.npz"), "none"]]
        for point in [*draw_points(number), "none"]:
            orders.append([str(folder), road, 1 + number % 2, str(where / "backup"), str(where / "pieces.npz"), point])
        environment = {
            **os.environ,
            "KERAS_BACKEND": backend,
            "JAX_COMPILATION_CACHE_DIR": str(where / "cache"),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        }
        (where / "orders").write_text("".join(json.dumps(order) + "\n" for order in orders))
        with open(where / "orders") as orders_file, open(where / "errors", "w") as errors:
            process = subprocess.Popen(
                [sys.executable, SCRIPT], env=environment, text=True,
                stdin=orders_file, stdout=subprocess.PIPE, stderr=errors,
            )  # fmt: skip
        started[backend, road] = process, where
    return started


@pytest.mark.parametrize(("backend", "road"), ALL)
def test_killed_and_started_again(backend: str, road: str, runs: dict[tuple[str, str], Any]) -> None:
    process, where = runs[backend, road]
    output, _ = process.communicate(timeout=300)
    assert output.split() == ["0"] + ["-9"] * 5 + ["0"], (where / "errors").read_text()
    whole, pieces = np.load(where / "whole.npz"), np.load(where / "pieces.npz")
    assert len(whole.files) == len(pieces.files) > 15
    for name in whole.files:
        np.testing.assert_array_equal(pieces[name], whole[name])
    steps = [int(line) for line in (where / "pieces.log").read_text().split()]
    assert sorted(set(steps)) == [*range(1, STEPS + 1)]
    # A step comes again where the process died before its backup: each time no more than lie between two.
    assert len(steps) - len(set(steps)) <= 5 * 2
    assert list((where / "backup").iterdir()) == []


@pytest.fixture
def backup(folder: Path, tmp_path: Path, keras: Any) -> Any:
    """A callback that could save, with its model."""
    paths = sorted(folder.iterdir())
    loader = tgl.ImageLoader(tgl.sources.Paths(paths), [ops.CenterCrop(12, 12)], batch_size=5, seed=1)
    callback = tgl.callbacks.BackupAndRestore(tmp_path, 1, loader=loader)
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1, dtype="bfloat16")])
    model.compile("sgd", "mse")
    model.optimizer.build(model.trainable_variables)
    callback.set_model(model)
    callback.set_params({"steps": 5})
    callback.on_train_begin()
    callback.on_epoch_begin(0)
    yield callback
    loader.close()


def test_a_backup_is_whole_at_any_moment(backup: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backup.on_train_batch_end(0)
    kept = (tmp_path / "backup.npz").read_bytes()
    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, lambda *arguments: (_ for _ in ()).throw(OSError("the disk is gone")))
            with pytest.raises(OSError, match="the disk is gone"):
                backup.on_train_batch_end(1)
        assert (tmp_path / "backup.npz").read_bytes() == kept
    backup.on_train_batch_end(2)
    assert (tmp_path / "backup.npz").read_bytes() != kept
    backup.on_train_begin()
    assert (backup._resumed, backup._position[:2]) == (3, (0, 3))


def test_all_dtypes_come_back(backup: Any) -> None:
    kernel = backup.model.layers[0].kernel
    kernel.assign([[1.5], [-2.25]])
    backup.on_train_batch_end(0)
    kernel.assign([[0.0], [0.0]])
    backup.on_train_begin()
    assert kernel.dtype == "bfloat16"
    assert np.asarray(kernel.value, np.float32).tolist() == [[1.5], [-2.25]]


@pytest.mark.usefixtures("keras")
@pytest.mark.parametrize(
    ("field", "value"),
    [("save_freq", 0), ("save_freq", "batch"), ("save_freq", True), ("loader", None), ("directory", 3)],
)
def test_wrong_arguments(photograph: Path, tmp_path: Path, field: str, value: Any) -> None:
    with tgl.ImageLoader(tgl.sources.Paths([photograph]), [ops.CenterCrop(1, 1)]) as loader:
        arguments = {"directory": tmp_path, "loader": loader, field: value}
        with pytest.raises(tgl.ConfigError, match=field):
            tgl.callbacks.BackupAndRestore(**arguments)
