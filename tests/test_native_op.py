"""ops.Native calls C functions: compiled against the header of the package, given in every form it takes."""

import ctypes
import gc
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pictures
import pytest
from flat import flat_pictures

import tfgoloader as tgl
from tfgoloader import ops

COUNT = 9
SOURCE = Path(__file__).parent / "native.c"


def compile_library(folder, source=SOURCE, *options):
    library = folder / "native.so"
    flags = ["-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", f"-I{tgl.get_include()}"]
    subprocess.run(["cc", *flags, *options, "-o", library, source], check=True)
    return library


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return compile_library(tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return pictures.write_photographs(tmp_path_factory.mktemp("pictures"), COUNT)


def load(paths, pipeline, **options):
    arguments = {"batch_size": 4, "seed": 11, "dtype": "uint8", **options}
    with tgl.ImageLoader(tgl.sources.Paths(paths), pipeline, **arguments) as loader:
        return np.concatenate(list(loader))


CROP = ops.RandomCrop(30, 34)


class Object:
    """What a numba cfunc looks like."""

    def __init__(self, address):
        self.address = address


def test_every_form_of_a_function(paths, library):
    loaded = ctypes.CDLL(str(library))
    address = ctypes.cast(loaded.invert, ctypes.c_void_p).value
    expected = 255 - load(paths, [CROP])
    for operation in (
        ops.Native("invert", library),
        ops.Native(loaded.invert),
        ops.Native(address),
        ops.Native(Object(address)),
    ):
        np.testing.assert_array_equal(load(paths, [CROP, operation]), expected)


def test_the_same_as_an_operation_of_the_core(paths, library):
    rest = [ops.RandomFlip("horizontal"), ops.Rescaling(1 / 127.5, offset=-1)]
    ours = load(paths, [CROP, ops.Native("invert", library), *rest], dtype="float32")
    built_in = load(paths, [CROP, ops.RandomInvert((1.0, 1.0)), *rest], dtype="float32")
    np.testing.assert_array_equal(ours, built_in)


def test_floats(paths, library):
    scaled = [CROP, ops.Rescaling(1 / 127.5, offset=-1)]
    ours = load(paths, [*scaled, ops.Native("square", library)], dtype="float32")
    np.testing.assert_array_equal(ours, np.square(load(paths, scaled, dtype="float32")))


def test_another_size(paths, library):
    ours = load(paths, [CROP, ops.Native("halve", library, output_shape=(15, 17))])
    np.testing.assert_array_equal(ours, load(paths, [CROP])[:, ::2, ::2])


def test_seeds_and_user_data(paths, library):
    """A seed of its own for each sample and epoch, whoever calls; memory that only the loader keeps alive."""

    def told(user_data, workers):
        operation = ops.Native("tell", library, user_data=user_data)
        with tgl.ImageLoader(
            tgl.sources.Paths(paths), [CROP, operation], seed=5, dtype="uint8", num_workers=workers
        ) as loader:
            del operation, user_data
            gc.collect()
            images = np.concatenate([images for _ in range(2) for images in loader])
        words = np.ascontiguousarray(images.reshape(len(images), -1)[:, :16]).view(np.uint64)
        return words[:, 0].tolist(), set(words[:, 1].tolist())

    seeds, data = told(np.array([2**60 + 3], np.uint64), 1)
    assert len(set(seeds)) == 2 * COUNT
    assert data == {2**60 + 3}
    assert told(ctypes.c_uint64(77), 3) == (seeds, {77})
    assert told(None, 2) == (seeds, {0})


def test_a_code_is_a_bad_sample(tmp_path, library):
    files = flat_pictures(tmp_path, 8)
    pipeline = [ops.CenterCrop(8, 8), ops.Native("refuse", library)]
    with tgl.ImageLoader(tgl.sources.Paths(files), pipeline, batch_size=4) as loader:
        iterator = iter(loader)
        next(iterator)
        with pytest.raises(tgl.FunctionError, match="refuse returned -3") as caught:
            next(iterator)
        assert (caught.value.path, caught.value.index) == (str(files[5]), 5)
        functions = loader.stats()["functions"]
    assert (list(functions), functions["refuse"]["cpu_seconds"]) == (["refuse"], 0)
    assert functions["refuse"]["calls"] >= 8
    skipping = tgl.ImageLoader(tgl.sources.Paths(files), pipeline, batch_size=7, on_error="skip")
    with skipping, pytest.warns(UserWarning, match="refuse returned -3"):
        assert [len(images) for images in skipping] == [7]


def test_a_state_knows_no_addresses(paths, library, tmp_path):
    """A run goes on in another process, where the function lies elsewhere."""
    source, copy = tgl.sources.Paths(paths), shutil.copy(library, tmp_path)
    operations = [ops.Native("invert", path, user_data=np.zeros(1)) for path in (library, copy)]
    assert operations[0]._address != operations[1]._address
    first, second = (tgl.ImageLoader(source, [CROP, operation], seed=1) for operation in operations)
    with first, second:
        second.load_state_dict(first.state_dict())


def test_another_version_of_the_header(tmp_path):
    source = tmp_path / "other.c"
    source.write_text(
        "extern const unsigned tfgoloader_native_version;\nconst unsigned tfgoloader_native_version = 99;\n"
    )
    library = compile_library(tmp_path, source)
    with pytest.raises(tgl.ConfigError, match=r"Native\.library.*version 1 .*, not 99"):
        ops.Native("invert", library)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda library: ops.Native("invert"), r"Native\.library=None"),
        (lambda library: ops.Native("invert", library.parent / "none.so"), r"Native\.library.*a shared library"),
        (lambda library: ops.Native("nothing", library), r"Native\.function='nothing'"),
        (lambda library: ops.Native(0), r"Native\.function=0"),
        (lambda library: ops.Native(1, library), r"Native\.library"),
        (lambda library: ops.Native(None), r"Native\.function=None"),
        (lambda library: ops.Native(1, user_data="text"), r"Native\.user_data='text'"),
        (lambda library: ops.Native(1, output_shape=(1, 2, 3)), r"Native\.output_shape"),
    ],
)
def test_wrong_arguments(library, make, text):
    with pytest.raises(tgl.ConfigError, match=text):
        make(library)
