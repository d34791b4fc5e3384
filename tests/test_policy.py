"""What bad files do to a run: raise, skip, replace, max_bad, exclude."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import tfgoloader as tgl
from tfgoloader import ops

FILES, BAD = 5000, 50  # one in a hundred
FOLDER = Path(__file__).parent / "cases"
SIDE = 16


def broken_files() -> Iterator[bytes | None]:
    """Yield 40 kinds of bad file; None stands for one that is gone."""
    cases = json.loads((FOLDER / "expected.json").read_text())["cases"]
    for case in cases:
        if case["expect"] == "error":
            yield (FOLDER / "files" / case["file"]).read_bytes()
    yield None
    yield b"\0" * 1000
    yield b"\xff" * 1000
    yield b"\xff\xd8\xff\xd9"
    yield b"version https://git-lfs.github.com/spec/v1\n"
    for name in ("gray.jpg", "progressive_420.jpg", "rgba.png", "interlaced_rgb.png", "gif_named.jpg", "rgb24.bmp"):
        whole = (FOLDER / "files" / name).read_bytes()
        for share in (0.05, 0.3, 0.6):
            yield whole[: int(len(whole) * share)]


@pytest.fixture(scope="module")
def spoiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], list[int]]:
    """Return 5,000 files and the indices of the bad ones; good pictures hold their index in their pixels."""
    folder = tmp_path_factory.mktemp("spoiled")
    kinds = list(broken_files())
    assert len(kinds) >= 40
    bad = sorted(np.random.default_rng(3).choice(FILES, BAD, replace=False).tolist())
    paths = []
    for index in range(FILES):
        paths.append(folder / f"{index:04}.jpg")
        if index in bad:
            content = kinds[bad.index(index) % len(kinds)]
            if content is not None:
                paths[-1].write_bytes(content)
        else:
            pixels = np.zeros((SIDE, SIDE, 3), np.uint8)
            pixels[..., 0], pixels[..., 1] = index // 100, index % 100
            Image.fromarray(pixels).save(paths[-1], "PNG", compress_level=0)
    return paths, bad


def make(spoiled: tuple[list[Path], list[int]], **options: Any) -> tgl.ImageLoader:
    paths, _ = spoiled
    arguments: dict[str, Any] = {"batch_size": 64, "shuffle": True, "seed": 5, "dtype": "uint8", **options}
    return tgl.ImageLoader(tgl.sources.Paths(paths, range(FILES)), [ops.CenterCrop(SIDE, SIDE)], **arguments)


def epoch_of(loader: tgl.ImageLoader) -> tuple[list[int], list[int]]:
    """Return the labels of an epoch and the sizes of its batches, the warning at its end taken for granted."""
    labels, sizes = [], []
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        for images, numbers in loader:
            assert np.array_equal(images[:, 3, 3, 0].astype(int) * 100 + images[:, 3, 3, 1], numbers)
            labels += numbers.tolist()
            sizes.append(len(numbers))
    return labels, sizes


def bad_names(spoiled: tuple[list[Path], list[int]]) -> list[str]:
    paths, bad = spoiled
    return [str(paths[index]) for index in bad]


def test_raise_names_the_first_bad_file_of_the_order(spoiled: tuple[list[Path], list[int]]) -> None:
    for workers in (1, 3):
        with make(spoiled, shuffle=False, num_workers=workers) as loader:
            with pytest.raises((tgl.DecodeError, tgl.SourceError)) as caught:
                list(loader)
            assert caught.value.path == bad_names(spoiled)[0]
            assert caught.value.index == spoiled[1][0]


def test_skip_keeps_every_good_file_and_lists_the_bad_ones(spoiled: tuple[list[Path], list[int]]) -> None:
    runs = []
    for workers in (1, 3):
        with make(spoiled, on_error="skip", num_workers=workers) as loader:
            labels, sizes = epoch_of(loader)
            assert sorted(labels) == sorted(set(range(FILES)) - set(spoiled[1]))
            assert set(sizes[:-1]) == {64}
            assert len(sizes) <= len(loader)
            files = loader.stats()["bad_files"]
            assert list(files) == bad_names(spoiled)
            assert all(files.values())
            runs.append((labels, files))
    assert runs[0] == runs[1]


def test_replace_keeps_the_length_and_lists_the_bad_ones(spoiled: tuple[list[Path], list[int]]) -> None:
    runs = []
    for workers in (1, 3):
        with make(spoiled, on_error="replace", num_workers=workers) as loader:
            labels, sizes = epoch_of(loader)
            assert sizes == [64] * (FILES // 64) + [FILES % 64]
            assert set(labels) == set(range(FILES)) - set(spoiled[1])
            assert list(loader.stats()["bad_files"]) == bad_names(spoiled)
            runs.append(labels)
    assert runs[0] == runs[1]


def test_skip_with_drop_remainder_takes_the_remainder_first(spoiled: tuple[list[Path], list[int]]) -> None:
    with make(spoiled, on_error="skip", drop_remainder=True, batch_size=49) as loader:
        _, sizes = epoch_of(loader)
        assert len(loader) == FILES // 49
        assert sizes == [49] * ((FILES - BAD) // 49)


def test_excluded_files_do_not_come_again(spoiled: tuple[list[Path], list[int]]) -> None:
    with make(spoiled, on_error="skip") as loader:
        epoch_of(loader)
        files = loader.stats()["bad_files"]
    with make(spoiled, exclude=files) as loader:
        assert loader.num_samples == FILES - BAD
        labels, _ = epoch_of(loader)
        assert sorted(labels) == sorted(set(range(FILES)) - set(spoiled[1]))
        assert loader.stats()["bad_files"] == {}


def test_a_warning_at_the_end_of_the_epoch_names_bad_files(spoiled: tuple[list[Path], list[int]]) -> None:
    with make(spoiled, on_error="replace") as loader:
        with pytest.warns(UserWarning, match=f"{BAD} bad files so far, replaced: "):
            list(loader)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # the same files again are no news
            list(loader)


@pytest.mark.parametrize("most", [BAD - 1, (BAD - 1) / FILES])
def test_more_bad_files_than_max_bad_end_the_run(spoiled: tuple[list[Path], list[int]], most: float) -> None:
    for policy in ("skip", "replace"):
        with make(spoiled, on_error=policy, max_bad=most) as loader:
            batches = iter(loader)
            with pytest.raises(tgl.TfGoLoaderError, match=f"too many bad files: {BAD}") as caught:
                list(batches)
            assert all(name in str(caught.value) for name in bad_names(spoiled))
            with pytest.warns(UserWarning, match=f"{BAD} bad files so far"):
                assert next(batches, None) is None


def test_as_many_bad_files_as_max_bad_are_fine(spoiled: tuple[list[Path], list[int]]) -> None:
    for most in (BAD, BAD / FILES):
        with make(spoiled, on_error="skip", max_bad=most) as loader:
            assert len(epoch_of(loader)[0]) == FILES - BAD


def test_a_data_set_of_a_loader_that_skips_ends_where_the_loader_does(
    spoiled: tuple[list[Path], list[int]], tf: Any
) -> None:
    with make(spoiled, on_error="skip", batch_size=100) as loader, warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        dataset = loader.as_dataset()
        assert dataset.cardinality() == tf.data.UNKNOWN_CARDINALITY
        sizes = [len(labels) for _, labels in dataset]
        assert sizes == [100] * 49 + [50]


def test_paths_to_exclude_that_are_not_there_are_named(spoiled: tuple[list[Path], list[int]]) -> None:
    with pytest.warns(UserWarning, match="not in the source: nowhere.jpg"), make(spoiled, exclude=["nowhere.jpg"]):
        pass


def test_all_forms_of_paths_are_excluded(tmp_path: Path) -> None:
    paths: list[Any] = [tmp_path / f"{index}.jpg" for index in range(3)]
    source = tgl.sources.Paths(paths)
    with tgl.ImageLoader(source, [ops.CenterCrop(8, 8)], exclude=[str(paths[0]), os.fsencode(paths[1])]) as loader:
        assert loader.num_samples == 1
    with pytest.warns(UserWarning, match="no batch: all samples are excluded"):
        assert len(tgl.ImageLoader(source, [ops.CenterCrop(8, 8)], exclude=paths)) == 0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("on_error", "ignore"),
        ("on_error", None),
        ("max_bad", 3),  # with on_error="raise"
        ("exclude", "one.jpg"),
        ("truncated", True),
        ("channels", 2),
        ("channels", 0),
        ("exif", 1),
        ("background", (1, 2)),
        ("background", (0, 0, 256)),
        ("background", "white"),
    ],
)
def test_wrong_values_are_named_at_once(field: str, value: Any) -> None:
    source = tgl.sources.Paths([os.devnull])
    with pytest.raises(tgl.ConfigError, match=field):
        tgl.ImageLoader(source, [ops.CenterCrop(1, 1)], **{field: value})


@pytest.mark.parametrize("value", [-1, 1.5, -0.1, True, "all"])
def test_wrong_bounds_of_bad_files(value: Any) -> None:
    with pytest.raises(tgl.ConfigError, match="max_bad"):
        tgl.ImageLoader(tgl.sources.Paths([os.devnull]), [ops.CenterCrop(1, 1)], on_error="skip", max_bad=value)
