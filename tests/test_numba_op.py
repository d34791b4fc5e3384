"""ops.Native calls what numba compiles, in both of its forms."""

import gc
import subprocess
import sys
import weakref

import numba
import numpy as np
import pictures
import pytest
from flat import flat_pictures

import tfgoloader as tgl
from tfgoloader import ops

COUNT = 9
HEIGHT, WIDTH = 30, 34
CROP = ops.RandomCrop(HEIGHT, WIDTH)
SCALED = [CROP, ops.Rescaling(1 / 127.5, offset=-1)]
CHANGE = "int32(voidptr, int64, int64, int64, int64, uint64, voidptr)"
MAKE = "int32(voidptr, int64, int64, int64, int64, voidptr, int64, int64, int64, uint64, voidptr)"


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return pictures.write_photographs(tmp_path_factory.mktemp("pictures"), COUNT)


def load(paths, pipeline, dtype, workers=2):
    """Return two epochs' pictures."""
    source = tgl.sources.Paths(paths)
    with tgl.ImageLoader(source, pipeline, batch_size=4, seed=11, dtype=dtype, num_workers=workers) as loader:
        return np.concatenate([images for _ in range(2) for images in loader])


@numba.cfunc(CHANGE)
def tell_seed(pixels, height, width, channels, stride, seed, user_data):
    numba.carray(pixels, 1, np.uint64)[0] = seed
    return 0


def seeds_of(paths, before, dtype):
    """Return the seeds that an operation gets behind some others, as integers."""
    told = load(paths, [*before, ops.Native(tell_seed)], dtype)
    first = np.ascontiguousarray(told.reshape(len(told), -1)[:, : 8 // told.itemsize])
    seeds = first.view(np.uint64).ravel().tolist()
    assert len(set(seeds)) == 2 * COUNT
    return seeds


@numba.cfunc(CHANGE)
def grain(pixels, height, width, channels, stride, seed, user_data):
    strength = numba.carray(user_data, channels, np.float64)
    rows = numba.carray(pixels, (height, stride), np.uint8)
    np.random.seed(seed & 0xFFFFFFFF)  # noqa: NPY002  # numba makes no Generator
    for y in range(height):
        for x in range(width):
            share = (y + x) / (height + width)
            for channel in range(channels):
                dark = share * strength[channel] * np.random.random()  # noqa: NPY002
                rows[y, x * channels + channel] = np.uint8(rows[y, x * channels + channel] * (1 - dark))
    return 0


def test_bytes_changed_in_place(paths):
    """Every argument tells; numba's random numbers are those of NumPy's RandomState."""
    strength = np.array([0.9, 0.6, 0.3])
    share = np.add.outer(np.arange(HEIGHT), np.arange(WIDTH))[:, :, None] / (HEIGHT + WIDTH)
    seeds = seeds_of(paths, [CROP], "uint8")
    expected = []
    for image, seed in zip(load(paths, [CROP], "uint8"), seeds, strict=True):
        draws = np.random.RandomState(seed & 0xFFFFFFFF).random_sample(image.shape)
        expected.append((image * (1 - share * strength * draws)).astype(np.uint8))
    for workers in (1, 3):
        ours = load(paths, [CROP, ops.Native(grain, user_data=strength)], "uint8", workers)
        np.testing.assert_array_equal(ours, expected)


@numba.cfunc(CHANGE)
def standardize(pixels, height, width, channels, stride, seed, user_data):
    mean = numba.carray(user_data, channels, np.float32)
    rows = numba.carray(pixels, (height, stride // 4), np.float32)
    for y in range(height):
        for x in range(width):
            for channel in range(channels):
                value = rows[y, x * channels + channel] - mean[channel]
                rows[y, x * channels + channel] = value if seed & 1 else value * value
    return 0


def test_floats_changed_in_place(paths):
    mean = np.array([-0.25, 0.1, 0.7], np.float32)
    centred = load(paths, SCALED, "float32") - mean
    odd = np.array([seed & 1 for seed in seeds_of(paths, SCALED, "float32")], bool)
    assert 0 < odd.sum() < len(odd)
    expected = np.where(odd[:, None, None, None], centred, centred * centred)
    for workers in (1, 3):
        ours = load(paths, [*SCALED, ops.Native(standardize, user_data=mean)], "float32", workers)
        np.testing.assert_array_equal(ours, expected)


@numba.cfunc(MAKE)
def halve(pixels, height, width, channels, stride, output, out_height, out_width, out_stride, seed, user_data):
    if height != 2 * out_height or width != 2 * out_width:
        return 1
    brighter = numba.carray(user_data, 1, np.uint8)[0]
    rows = numba.carray(pixels, (height, stride), np.uint8)
    made = numba.carray(output, (out_height, out_stride), np.uint8)
    for y in range(out_height):
        for x in range(out_width):
            to = out_width - 1 - x if seed & 1 else x
            for channel in range(channels):
                made[y, to * channels + channel] = rows[2 * y, 2 * x * channels + channel] | brighter
    return 0


def test_bytes_of_another_size(paths):
    """Every second pixel of every second row, from right to left where the seed is odd."""
    halves = load(paths, [CROP], "uint8")[:, ::2, ::2] | np.uint8(64)
    seeds = seeds_of(paths, [CROP], "uint8")
    expected = [half[:, ::-1] if seed & 1 else half for half, seed in zip(halves, seeds, strict=True)]
    operation = ops.Native(halve, user_data=np.uint8([64]), output_shape=(HEIGHT // 2, WIDTH // 2))
    for workers in (1, 3):
        np.testing.assert_array_equal(load(paths, [CROP, operation], "uint8", workers), expected)


@numba.cfunc(CHANGE)
def refuse(pixels, height, width, channels, stride, seed, user_data):
    return -3 if numba.carray(pixels, 1, np.uint8)[0] == 5 else 0


def test_a_code_is_a_bad_sample(tmp_path):
    files = flat_pictures(tmp_path, 8)
    pipeline = [ops.CenterCrop(8, 8), ops.Native(refuse)]
    with tgl.ImageLoader(tgl.sources.Paths(files), pipeline, batch_size=4) as loader:
        iterator = iter(loader)
        next(iterator)
        with pytest.raises(tgl.FunctionError, match="refuse returned -3") as caught:
            next(iterator)
        assert (caught.value.path, caught.value.index) == (str(files[5]), 5)
        assert loader.stats()["functions"]["refuse"]["calls"] >= 8


def test_compiled_code_lives_as_long_as_the_loader(paths):
    """It is numba's to free, with the object that it hands out."""

    def make(level):
        @numba.cfunc(CHANGE)
        def fill(pixels, height, width, channels, stride, seed, user_data):
            numba.carray(pixels, height * stride, np.uint8)[:] = level
            return 0

        loader = tgl.ImageLoader(tgl.sources.Paths(paths), [CROP, ops.Native(fill)], batch_size=1, dtype="uint8")
        return weakref.ref(fill), loader

    function, loader = make(77)
    gc.collect()
    assert function() is not None
    assert [set(images.ravel().tolist()) for images in loader] == [{77}] * COUNT
    iterator = iter(loader)
    del loader
    gc.collect()
    assert function() is not None
    assert [set(images.ravel().tolist()) for images in iterator] == [{77}] * COUNT
    del iterator
    gc.collect()
    assert function() is None


END = f"""
import sys
import numba, numpy as np, tfgoloader as tgl
from tfgoloader import ops

@numba.cfunc({CHANGE!r})
def work(pixels, height, width, channels, stride, seed, user_data):
    values = numba.carray(pixels, height * stride, np.uint8)
    for _ in range(2000):
        for i in range(len(values)):
            values[i] = values[i] * 31 + 7
    return 0

source = tgl.sources.Paths(sys.argv[1:] * 1000)
loader = tgl.ImageLoader(source, [ops.CenterCrop({HEIGHT}, {WIDTH}), ops.Native(work)], batch_size=4)
print(len(next(iter(loader))))
"""


def test_the_end_of_the_interpreter_within_calls(paths):
    """Nothing frees the code while workers still run it."""
    command = [sys.executable, "-c", END, *map(str, paths)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (0, "4\n", "")
