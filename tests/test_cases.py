"""The awkward files of cases/: exact pixels where expected.json has them, else an error that says why."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pictures
import pytest
from PIL import Image

import tfgoloader as tgl
from tfgoloader import ops

FOLDER = Path(__file__).parent / "cases"
CASES: list[dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text())["cases"]


def path_of(case: dict[str, Any]) -> Path:
    return FOLDER / "files" / case["file"]


def is_jpeg(case: dict[str, Any]) -> bool:
    return path_of(case).read_bytes().startswith(b"\xff\xd8")


def named(cases: list[dict[str, Any]]) -> Any:
    return pytest.mark.parametrize("case", cases, ids=[case["file"] for case in cases])


GOOD = [case for case in CASES if case["expect"] == "ok"]
BROKEN = [case for case in CASES if case["expect"] == "error"]
JPEGS = [case for case in GOOD if is_jpeg(case)]


def stored(case: dict[str, Any], **options: Any) -> np.ndarray:
    """Return the picture as it is stored, whatever its EXIF orientation."""
    height, width, _ = case["shape"]
    return pictures.load_whole([path_of(case)], height, width, exif=False, **options)[0]


def decode_error(case: dict[str, Any], pipeline: list[ops.Op]) -> tgl.DecodeError:
    loader = tgl.ImageLoader(tgl.sources.Paths([path_of(case)]), pipeline)
    with loader, pytest.raises(tgl.DecodeError) as caught:
        next(iter(loader))
    assert caught.value.path == str(path_of(case))
    assert caught.value.reason in str(caught.value)
    return caught.value


def test_nothing_is_left_out() -> None:
    assert len(GOOD) + len(BROKEN) == len(CASES)
    assert {case["file"] for case in CASES} == {path.name for path in (FOLDER / "files").iterdir()}
    assert min(len(GOOD), len(BROKEN), len(JPEGS), len(GOOD) - len(JPEGS)) > 10


@named(GOOD)
def test_pixels_are_exact(case: dict[str, Any], capfd: pytest.CaptureFixture[str]) -> None:
    refusal = ""
    try:
        image = stored(case)
    except tgl.DecodeError as error:
        refusal = error.reason.lower()
    if refusal:
        words = case["also_accept"]["reason_any"]  # a KeyError where only the pixels are right
        assert any(word in refusal for word in words), refusal
        return
    if "mask_npy" in case:  # the rest of the canvas is free
        mask = np.load(FOLDER / case["mask_npy"])
        assert np.array_equal(image[mask], np.load(FOLDER / case["ref_npy"])[mask])
    else:
        assert case["tolerance"] == 0
        assert pictures.checksum(image) == case["sha256"]
    assert capfd.readouterr() == ("", "")


@named([case for case in GOOD if "oriented" in case])
def test_pictures_are_upright_by_default(case: dict[str, Any]) -> None:
    height, width, _ = case["oriented"]["shape"]
    image = pictures.load_whole([path_of(case)], height, width)[0]
    assert pictures.checksum(image) == case["oriented"]["sha256"]


@named([case for case in BROKEN if "lenient" in case])
def test_what_is_there_of_a_truncated_file(case: dict[str, Any]) -> None:
    height, width, _ = case["lenient"]["shape"]
    image = pictures.load_whole([path_of(case)], height, width, truncated="accept")[0]
    rows = image[: case["lenient"]["rows_exact"]]
    assert pictures.checksum(rows) == case["lenient"]["sha256_of_those_rows"]


def test_pixels_equal_this_tensorflow(tf_decode: Callable[..., np.ndarray]) -> None:
    different = [case["file"] for case in JPEGS if not np.array_equal(stored(case), tf_decode(path_of(case)))]
    assert different == []


def test_windows_equal_those_of_the_whole_picture() -> None:
    different = []
    for case in GOOD:
        whole = stored(case)
        height, width = (max(1, size * 2 // 5) for size in whole.shape[:2])
        loader = tgl.ImageLoader(
            tgl.sources.Paths([path_of(case)] * 40), [ops.RandomCrop(height, width)], dtype="uint8", seed=1, exif=False
        )
        with loader:
            if not all(pictures.find_window(crop, whole) for crop in np.concatenate(list(loader))):
                different.append(case["file"])
    assert different == []


def size_in_header(case: dict[str, Any]) -> tuple[int, int]:
    with Image.open(path_of(case)) as picture:
        return picture.height, picture.width


# Their headers are sound.
DAMAGED = [case for case in BROKEN if case["file"] in ("no_eoi.jpg", "cut_half_scan.jpg", "marker_in_scan.jpg")]


@named(BROKEN)
def test_broken_files_are_errors(case: dict[str, Any], capfd: pytest.CaptureFixture[str]) -> None:
    size = size_in_header(case) if case in DAMAGED else (1, 1)
    reason = decode_error(case, [ops.CenterCrop(*size)]).reason.lower()
    assert any(word in reason for word in case["reason_any"]), reason
    assert capfd.readouterr() == ("", "")


@named(DAMAGED)
@pytest.mark.parametrize("part", [0.02, 0.2, 0.5])
def test_whether_a_file_is_broken_does_not_depend_on_the_window(case: dict[str, Any], part: float) -> None:
    height, width = (max(1, int(size * part)) for size in size_in_header(case))
    samples = 60
    source = tgl.sources.Paths([path_of(case)] * samples)
    with tgl.ImageLoader(source, [ops.RandomCrop(height, width)], batch_size=1, seed=2) as loader:
        batches = iter(loader)
        for _ in range(samples):
            with pytest.raises(tgl.DecodeError):
                next(batches)
        assert next(batches, None) is None


def test_a_broken_file_costs_only_its_batch() -> None:
    good = [case for case in GOOD if case["shape"] == [17, 23, 3]]
    mixed = [case for pair in zip(good, BROKEN, strict=False) for case in pair]
    source = tgl.sources.Paths([path_of(case) for case in mixed])
    with tgl.ImageLoader(source, [ops.CenterCrop(17, 23)], batch_size=1, dtype="uint8", exif=False) as loader:
        batches = iter(loader)
        for index, case in enumerate(mixed):
            if case["expect"] == "ok":
                assert pictures.checksum(next(batches)[0]) == case["sha256"]
            else:
                with pytest.raises(tgl.DecodeError) as caught:
                    next(batches)
                assert (caught.value.path, caught.value.index) == (str(path_of(case)), index)
        assert next(batches, None) is None


def test_a_picture_smaller_than_the_window_names_both_sizes() -> None:
    (case,) = (case for case in GOOD if case["file"] == "small_5x7.jpg")
    for crop in (ops.RandomCrop(32, 31), ops.CenterCrop(32, 31), ops.RandomCrop(5, 8), ops.CenterCrop(6, 7)):
        reason = decode_error(case, [crop]).reason
        assert "5 x 7" in reason
        assert f"height={crop.height}" in reason
        assert f"width={crop.width}" in reason


@pytest.mark.parametrize("excess", [0, 1])
def test_max_pixels_is_the_largest_picture_allowed(photograph: Path, excess: int) -> None:
    loader = tgl.ImageLoader(tgl.sources.Paths([photograph]), [ops.CenterCrop(1, 1)], max_pixels=90 * 121 - excess)
    with loader:
        if not excess:
            assert next(iter(loader)).shape == (1, 1, 1, 3)
            return
        with pytest.raises(tgl.DecodeError, match=f"121 x 90 .* {90 * 121 - 1} pixels"):
            next(iter(loader))


@named([case for case in BROKEN if "limits" in case])
def test_a_bomb_takes_no_memory(case: dict[str, Any]) -> None:
    script = """
import sys
import tfgoloader as tgl

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

before = peak()
try:
    next(iter(tgl.ImageLoader(tgl.sources.Paths([sys.argv[1]]), [tgl.ops.CenterCrop(1, 1)])))
except tgl.DecodeError:
    print(peak() - before)
"""
    process = subprocess.run([sys.executable, "-c", script, path_of(case)], capture_output=True, text=True, check=True)
    assert int(process.stdout) < 64 * 1024
