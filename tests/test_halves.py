"""float16 and bfloat16 are float32, rounded half to even."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tfgoloader as tgl
from tfgoloader import ops

NORMALISED = [ops.RandomFlip(), ops.Normalization(mean=[120, 110, 100], variance=[3000, 3100, 3200])]
PIPELINES = {
    "crop": [ops.RandomCrop(40, 41)],
    "crop, normalised": [ops.RandomCrop(40, 41), *NORMALISED],
    "resized crop, normalised": [ops.RandomResizedCrop(33, 37), *NORMALISED],
    "crop of a resized picture": [ops.Resizing(60, 60), ops.RandomCrop(31, 33), *NORMALISED],
    "colours": [ops.RandomResizedCrop(33, 37), ops.RandomBrightness(0.3), ops.Rescaling(1 / 255)],
}


def loader_of(paths: list[Path], pipeline: list[ops.Op], **options: Any) -> tgl.ImageLoader:
    return tgl.ImageLoader(tgl.sources.Paths(paths), pipeline, **{"batch_size": 9, "seed": 8, **options})


@pytest.mark.parametrize("pipeline", PIPELINES.values(), ids=PIPELINES)
@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_halves_are_the_floats_rounded(
    photographs: list[Path], pipeline: list[ops.Op], data_format: str, dtype: Any
) -> None:
    options = {"data_format": data_format}
    halves, floats = (
        loader_of(photographs, pipeline, dtype=dtype, **options),
        loader_of(photographs, pipeline, **options),
    )
    with halves, floats:
        assert halves.element_spec.dtype == np.dtype(dtype)
        for half, whole in zip(halves, floats, strict=True):
            assert half.dtype == dtype
            np.testing.assert_array_equal(half.view(np.uint16), whole.astype(dtype).view(np.uint16))


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_tensors_share_the_memory(photographs: list[Path], tf: Any, name: str) -> None:
    with loader_of(photographs, [ops.CenterCrop(40, 41)], dtype=name) as loader:
        expected = list(loader)
    with loader_of(photographs, [ops.CenterCrop(40, 41)], dtype=name) as loader:
        dataset = loader.as_dataset()
        assert dataset.element_spec == tf.TensorSpec((None, 40, 41, 3), tf.dtypes.as_dtype(name))
        tensors = list(dataset)
        for tensor, images in zip(tensors, expected, strict=True):
            array = tensor._numpy()
            assert array.__array_interface__["data"][0] % 64 == 0
            np.testing.assert_array_equal(np.asarray(array).view(np.uint16), images.view(np.uint16))


def test_bfloat16_without_its_package_is_an_error_that_names_it(photograph: Path) -> None:
    script = f"""
import sys
sys.modules["ml_dtypes"] = None  # as if it were not installed
import tfgoloader as tgl
source, pipeline = tgl.sources.Paths([{str(photograph)!r}]), [tgl.ops.CenterCrop(8, 8)]
assert [images.dtype.name for images in tgl.ImageLoader(source, pipeline, dtype="float16")] == ["float16"]
try:
    tgl.ImageLoader(source, pipeline, dtype="bfloat16")
except tgl.ConfigError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert (
        run.stdout == "dtype='bfloat16': expected the package ml_dtypes to be installed, which gives NumPy this dtype\n"
    )
