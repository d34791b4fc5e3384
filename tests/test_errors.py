"""What goes wrong reaches the caller as an exception that says what, where and why; then the loader goes on."""

import copy
import json
import os
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from flat import SIZE, flat_pictures, levels
from processes import run

import tfgoloader as tgl
from tfgoloader import ops

CASES = Path(__file__).parent / "cases" / "files"


@pytest.fixture(scope="module")
def flat(tmp_path_factory):
    return flat_pictures(tmp_path_factory.mktemp("flat"), 8)


def cut(path, flat):
    path.write_bytes(flat[0].read_bytes()[:-20])


# Each makes a bad file; the error's type and words that its reason holds.
BAD_FILES = {
    "missing": (lambda path, flat: None, tgl.SourceError, "no such file"),
    "empty": (lambda path, flat: path.touch(), tgl.DecodeError, "empty"),
    "one byte": (lambda path, flat: path.write_bytes(b"\xff"), tgl.DecodeError, "too short"),
    "truncated": (cut, tgl.DecodeError, "truncated"),
    "html": (lambda path, flat: path.write_text("<!DOCTYPE html><html></html>"), tgl.DecodeError, "HTML"),
    "text": (lambda path, flat: path.write_text("just a text"), tgl.DecodeError, "just a text"),
    "directory": (lambda path, flat: path.mkdir(), tgl.SourceError, "not a regular file"),
    "dangling link": (lambda path, flat: path.symlink_to("nothing"), tgl.SourceError, "no such file"),
    "link to itself": (lambda path, flat: path.symlink_to(path), tgl.SourceError, "symbolic links"),
    "under a file": (lambda path, flat: path.symlink_to(flat[0] / "below"), tgl.SourceError, "not a directory"),
}


@pytest.fixture(params=BAD_FILES)
def bad(request, flat, tmp_path):
    """A bad file, the error's type, and words of the reason."""
    make, kind, reason = BAD_FILES[request.param]
    path = tmp_path / "bad.jpg"
    make(path, flat)
    return path, kind, reason


def loader_of(paths, **options):
    source = tgl.sources.Paths(paths, range(len(paths)))
    return tgl.ImageLoader(source, [ops.CenterCrop(SIZE, SIZE)], **{"batch_size": 2, **options})


def outcomes(loader):
    """Return what an epoch gives, batch by batch: the labels, or the error."""
    iterator, results = iter(loader), []
    while True:
        try:
            results.append(next(iterator)[1].tolist())
        except StopIteration:
            return results
        except tgl.TfGoLoaderError as error:
            results.append(error)


def describe(results):
    return [result if isinstance(result, list) else (type(result), result.path, result.index) for result in results]


class TestBadFile:
    def test_numpy(self, bad, flat):
        path, kind, reason = bad
        loader = loader_of([*flat[:3], path, *flat[4:]])
        error = (kind, str(path), 3)
        for _ in range(2):  # the loader lives on, and so does the epoch
            results = outcomes(loader)
            assert describe(results) == [[0, 1], error, [4, 5], [6, 7]]
            assert reason in results[1].reason
            assert str(results[1]) == f"{path}: {results[1].reason}"

    def test_dataset(self, bad, flat, tf):
        path, kind, reason = bad
        dataset = loader_of([*flat[:3], path, *flat[4:]]).as_dataset()
        for _ in range(2):
            iterator = iter(dataset)
            assert next(iterator)[1].numpy().tolist() == [0, 1]
            with pytest.raises(tf.errors.OpError) as caught:
                next(iterator)
            message = caught.value.message
            assert f"{kind.__name__}: {path}: " in message
            assert reason in message
            assert [labels.numpy().tolist() for _, labels in (next(iterator), next(iterator))] == [[4, 5], [6, 7]]

    def test_several_bad_files(self, flat, tmp_path):
        gone = [tmp_path / f"{i}.jpg" for i in range(3)]
        loader = loader_of([gone[0], *flat[:4], gone[1], gone[2]], num_workers=3)
        assert describe(outcomes(loader)) == [
            (tgl.SourceError, str(gone[0]), 0),
            [2, 3],
            (tgl.SourceError, str(gone[1]), 5),
            (tgl.SourceError, str(gone[2]), 6),
        ]

    @pytest.mark.parametrize("num_workers", [1, 2, 7])
    def test_the_first_in_order_is_named(self, flat, tmp_path, num_workers):
        slow, quick = tmp_path / "slow.jpg", tmp_path / "quick.jpg"
        cut(slow, flat)
        os.truncate(slow, 32 << 20)  # takes a while to read and to find no end in
        loader = loader_of([*flat[:3], slow, flat[4], quick, *flat[6:]], batch_size=8, num_workers=num_workers)
        for _ in range(5):
            assert describe(outcomes(loader)) == [(tgl.DecodeError, str(slow), 3)]

    def test_shuffled_epochs_name_the_sample(self, flat, tmp_path):
        path = tmp_path / "gone.jpg"
        loader = loader_of([*flat[:3], path, *flat[4:]], batch_size=1, shuffle=True, seed=1)
        places = set()
        for _ in range(6):
            results = describe(outcomes(loader))
            errors = [result for result in results if isinstance(result, tuple)]
            assert errors == [(tgl.SourceError, str(path), 3)]
            assert sorted(result[0] for result in results if isinstance(result, list)) == [0, 1, 2, 4, 5, 6, 7]
            places.add(results.index(errors[0]))
        assert len(places) > 1


# What scripts in other processes start with; they print the error that one epoch over their files gives.
SCRIPT = """
import json, os, resource, sys
import tfgoloader as tgl
from tfgoloader import ops

def error_of(paths, **options):
    loader = tgl.ImageLoader(tgl.sources.Paths(paths), [ops.CenterCrop(8, 8)], **options)
    try:
        for images in loader:
            pass
    except tgl.TfGoLoaderError as error:
        return type(error).__name__, error.path, error.reason
"""


def script_error(script, *arguments):
    result = run(SCRIPT + script, *arguments)
    assert (result.returncode, result.stderr) == (0, "")
    return json.loads(result.stdout)


def test_a_pipe_is_no_wait_for_a_writer(tmp_path):
    pipe = tmp_path / "pipe.jpg"
    os.mkfifo(pipe)
    kind, path, reason = script_error("print(json.dumps(error_of(sys.argv[1:])))", pipe)
    assert (kind, path) == ("SourceError", str(pipe))
    assert "not a regular file" in reason


def test_permission_denied():
    # Root may read everything, so it becomes somebody else, in a folder where that one may write.
    script = """
import pathlib, tempfile
if os.geteuid() == 0:
    os.setegid(65534)
    os.seteuid(65534)
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder, "secret.jpg")
    path.touch(mode=0)
    print(json.dumps([str(path), *error_of([path])]))
"""
    given, kind, path, reason = script_error(script)
    assert (kind, path) == ("SourceError", given)
    assert "permission denied" in reason


@pytest.mark.parametrize("on_error", ["raise", "skip", "replace"])
def test_too_many_open_files_are_not_the_files_fault(flat, on_error):
    script = """
on_error, *paths = sys.argv[1:]
loader = tgl.ImageLoader(tgl.sources.Paths(paths), [ops.CenterCrop(8, 8)], batch_size=2, on_error=on_error)
resource.setrlimit(resource.RLIMIT_NOFILE, (100, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
held = []
try:
    while True:
        held.append(os.open(os.devnull, os.O_RDONLY))
except OSError:
    pass
reasons = set()
batches = iter(loader)
for _ in range(len(loader)):
    try:
        reasons.add(len(next(batches)))
    except tgl.SourceError as error:
        reasons.add(error.reason)
print(json.dumps(list(reasons)))
"""
    assert script_error(script, on_error, *flat) == ["cannot read: too many open files"]


def test_a_header_that_claims_a_giant_picture():
    # Memory is measured from after the first picture on: what the workers need once is theirs.
    script = """
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

good, bomb = sys.argv[1:]
error_of([good])
before = peak()
error = error_of([bomb])
print(json.dumps([*error, peak() - before]))
"""
    kind, path, reason, grown = script_error(script, CASES / "gray.jpg", CASES / "bomb_65500.jpg")
    assert (kind, path) == ("DecodeError", str(CASES / "bomb_65500.jpg"))
    assert "65500 x 65500" in reason
    assert "178956970" in reason
    assert grown * 1024 < 64 << 20


def test_the_limit_of_pixels_is_the_users(flat):
    assert outcomes(loader_of(flat[:1], max_pixels=SIZE * SIZE)) == [[0]]
    source = tgl.sources.Paths(flat[:1])
    with pytest.raises(tgl.DecodeError, match=r"8 x 8 .* 63 pixels"):
        next(iter(tgl.ImageLoader(source, [ops.CenterCrop(4, 4)], max_pixels=63)))


@pytest.mark.parametrize("crop", [ops.RandomCrop(9, 4), ops.CenterCrop(4, 9), ops.RandomCrop(200, 300)], ids=repr)
def test_a_crop_larger_than_the_picture(flat, crop):
    loader = tgl.ImageLoader(tgl.sources.Paths(flat), [crop])
    with pytest.raises(tgl.DecodeError) as caught:
        next(iter(loader))
    assert caught.value.path == str(flat[0])
    assert "8 x 8" in caught.value.reason
    assert f"{type(crop).__name__}(height={crop.height}, width={crop.width})" in caught.value.reason
    assert caught.value.index == 0


def test_no_memory_for_a_batch(flat):
    """The loader is of no use then, but the process goes on."""
    script = (
        "import resource, sys\n"
        "import tfgoloader as tgl\n"
        "source = tgl.sources.Paths(sys.argv[1:])\n"
        "size = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (size + 2**28, size + 2**28))\n"
        "loader = tgl.ImageLoader(source, [tgl.ops.CenterCrop(8, 8)], batch_size=2**24)\n"
        "try:\n"
        "    next(iter(loader))\n"
        "except tgl.OutOfMemoryError as error:\n"
        "    print(error)\n"
    )
    result = run(script, *flat)
    assert (result.stdout, result.stderr) == ("cannot allocate memory for a batch\n", "")


class TestTypes:
    def test_families(self):
        kinds = (
            tgl.ConfigError,
            tgl.DecodeError,
            tgl.SourceError,
            tgl.ForkError,
            tgl.InternalError,
            tgl.OutOfMemoryError,
        )
        assert all(issubclass(kind, tgl.TfGoLoaderError) for kind in kinds)
        assert issubclass(tgl.ConfigError, ValueError)
        assert issubclass(tgl.SourceError, OSError)
        assert issubclass(tgl.OutOfMemoryError, MemoryError)
        assert not issubclass(tgl.DecodeError, OSError)
        assert {kind.__name__ for kind in kinds} <= set(tgl.__all__)

    @pytest.mark.parametrize("copied", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
    @pytest.mark.parametrize(
        "error",
        [
            tgl.TfGoLoaderError("why"),
            tgl.ConfigError("why"),
            tgl.ForkError("why"),
            tgl.InternalError("why"),
            tgl.OutOfMemoryError("why"),
            tgl.DecodeError("a.jpg", "why", 3),
            tgl.SourceError("a\udcff.jpg", "why"),
        ],
        ids=repr,
    )
    def test_copies(self, error, copied):
        other = copied(error)
        assert type(other) is type(error)
        assert (str(other), other.args, vars(other)) == (str(error), error.args, vars(error))

    def test_a_raised_error_survives_pickling(self, tmp_path):
        with pytest.raises(tgl.SourceError) as caught:
            next(iter(loader_of([tmp_path / "gone.jpg"])))
        other = pickle.loads(pickle.dumps(caught.value))
        assert (other.path, other.reason, other.index) == (caught.value.path, caught.value.reason, 0)


# Wrong values of each argument, and a word of what is allowed.
INTEGERS = (0, -1, True, 2.0, "32", np.float32(2), [2], 2**70)
LOADER_ARGUMENTS = {
    "source": ([None, "photos", ["a.jpg"], Path("photos"), 3], "tfgoloader.sources"),
    "ops": ([None, 5, "crop", ops.CenterCrop(8, 8)], "tfgoloader.ops"),
    "labels": ([5, "onehot", ops.OneHot, [ops.OneHot(3)]], "OneHot"),
    "batch_size": ([*INTEGERS, None, 2**31], "integer"),
    "shuffle": ([1, 0, None, "True", 100], "True or False"),
    "drop_remainder": ([1, 0, None, "True"], "True or False"),
    "seed": ([-1, True, 1.0, "7", 2**64, [1]], "integer"),
    "dtype": (["float64", "float8", "int32", "floaty", None, 7, np.int32, ["float32"], ">f4"], "float32"),
    "data_format": (["channels", "NHWC", None, 1, ["channels_last"], True, np.array([1, 2])], "channels_first"),
    "dct_method": (["slow", "INTEGER_FAST", None, 1, ["fast"]], "accurate"),
    "num_workers": ([*INTEGERS, 4097], "integer"),
    "prefetch": ([-1, True, 1.5, "2", None, 2**31], "integer"),
    "max_pixels": ([*INTEGERS, None, 2**63], "integer"),
    "exclude": ([3, None, "a.jpg", b"a.jpg"], "paths"),
    "background": ([3, "red", (1, 2), np.int64(3)], "three integers"),
}
CROP_ARGUMENTS = {field: ([*INTEGERS, None, 65_536], "integer") for field in ("height", "width")}
NOT_NUMBERS = ("1", None, True, np.True_, [1.0, 2.0], float("nan"), float("inf"), 1j, b"1", 10**400)
CHANNEL_NUMBERS = (None, "1", "abc", True, float("nan"), [1.0, 2.0], [], [1, 2, 3, 4], [1, 2, None], [1, 2, True])
OPERATIONS = {
    (ops.RandomCrop, (("height", 8), ("width", 8))): CROP_ARGUMENTS,
    (ops.CenterCrop, (("height", 8), ("width", 8))): CROP_ARGUMENTS,
    (ops.RandomFlip, ()): {"mode": (["sideways", "", None, 1, True, ["horizontal"]], "horizontal_and_vertical")},
    (ops.Rescaling, (("scale", 1),)): {"scale": (NOT_NUMBERS, "number"), "offset": (NOT_NUMBERS, "number")},
    (ops.Normalization, (("mean", 0), ("variance", 1))): {
        "axis": ([0, 1, None, True, "channels", [-1], np.array([-1, 3])], "-1"),
        "mean": (CHANNEL_NUMBERS, "number"),
        "variance": ((*CHANNEL_NUMBERS, -1, [1, 1, -1]), "number"),
    },
    (ops.OneHot, (("num_classes", 3),)): {
        "num_classes": ([*INTEGERS, None, 2**24 + 1], "integer"),
        "label_smoothing": ((*NOT_NUMBERS, -0.1, 1.1), "from 0 to 1"),
    },
}
PATH_LIKE = (None, 3, 1.5, ["a"], True)
SOURCES = {
    (tgl.sources.Directory, (("path", "."),)): {
        "path": (PATH_LIKE, "path"),
        "class_names": (["ab", b"ab", 3, [3], [None]], "name"),
    },
    (tgl.sources.ListFile, (("path", "list.txt"),)): {
        "path": (PATH_LIKE, "path"),
        "root": ((0, 3, False, ["a"]), "path"),
        "delimiter": ((3, "", b",", "\n", [","], 0), "None or a text"),
    },
    (tgl.sources.Paths, (("paths", ("a.jpg",)),)): {
        "paths": (
            [None, 3, "a.jpg", b"a.jpg", Path("a.jpg"), [], [3], [None], ["a.jpg", True], [""], ["a.jpg", b"\0"]],
            "path",
        ),
        "labels": (
            [3, [1, 2], [], "1", ["1"], [1.0], [True], [None], [[1]], [[1], [1, 2]], [2**63], [-(2**70)], {"a": 1}],
            "label|integer",
        ),
    },
}


def rows(table):
    """Return every wrong value with what it is given to."""
    found = []
    for (kind, required), arguments in table.items():
        for field, (values, allowed) in arguments.items():
            for value in values:
                name = f"{kind.__name__}.{field}={value!r}"
                found.append(pytest.param(kind, {**dict(required), field: value}, field, allowed, id=name[:60]))
    return found


class TestArguments:
    @pytest.mark.parametrize(
        ("field", "value", "allowed"),
        [
            pytest.param(field, value, allowed, id=f"{field}={value!r}"[:60])
            for field, (values, allowed) in LOADER_ARGUMENTS.items()
            for value in values
        ],
    )
    def test_loader(self, flat, field, value, allowed):
        arguments = {"source": tgl.sources.Paths(flat, range(8)), "ops": [ops.CenterCrop(8, 8)], field: value}
        with pytest.raises(tgl.ConfigError) as caught:
            tgl.ImageLoader(**arguments)
        assert f"{field}=" in str(caught.value)
        if field != "dtype" or isinstance(value, str):  # a dtype is named by its name
            assert repr(value) in str(caught.value)
        assert allowed in str(caught.value)

    @pytest.mark.parametrize(
        ("field", "items", "allowed"),
        [
            ("ops", [5], "tfgoloader.ops"),
            ("ops", [ops.RandomFlip], "such as [ops.RandomFlip()]"),
            ("ops", [ops.OneHot(3)], "tfgoloader.ops"),
            ("ops", [[ops.CenterCrop(8, 8)]], "tfgoloader.ops"),
            ("exclude", [3], "paths"),
        ],
        ids=str,
    )
    def test_the_wrong_item_of_many_is_named(self, flat, field, items, allowed):
        fine = {"ops": ops.CenterCrop(8, 8), "exclude": str(flat[0])}[field]
        arguments = {"ops": [ops.CenterCrop(8, 8)], field: [*[fine] * 1000, *items]}
        with pytest.raises(tgl.ConfigError) as caught:
            tgl.ImageLoader(tgl.sources.Paths(flat, range(8)), **arguments)
        assert str(caught.value).startswith(f"{field}[1000]={items[0]!r}: expected an item of a list of ")
        assert allowed in str(caught.value)

    def test_a_long_value_is_cut_short(self):
        with pytest.raises(tgl.ConfigError) as caught:
            tgl.ImageLoader([f"{index}.jpg" for index in range(10_000)])
        assert "source=['0.jpg'" in str(caught.value)
        assert "expected one of tfgoloader.sources" in str(caught.value)
        assert len(str(caught.value)) < 700

    @pytest.mark.parametrize(("kind", "arguments", "field", "allowed"), rows(OPERATIONS))
    def test_operation(self, kind, arguments, field, allowed):
        with pytest.raises(tgl.ConfigError) as caught:
            kind(**arguments)
        assert f"{kind.__name__}.{field}=" in str(caught.value)
        assert allowed in str(caught.value)

    @pytest.mark.parametrize(("kind", "arguments", "field", "allowed"), rows(SOURCES))
    def test_source(self, kind, arguments, field, allowed):
        with pytest.raises(tgl.ConfigError) as caught:
            kind(**arguments)
        assert field in str(caught.value)
        assert re.search(allowed, str(caught.value))

    @pytest.mark.parametrize(
        ("operations", "words"),
        [
            ([], ["ops", "size", "CenterCrop"]),
            ([ops.RandomFlip()], ["ops", "size", "CenterCrop"]),
            ([ops.CenterCrop(8, 8), ops.RandomCrop(9, 4)], ["ops[1]", "RandomCrop(height=9, width=4)", "8 x 8"]),
            ([ops.CenterCrop(60_000, 60_000)], ["60000 x 60000", "max_pixels", "178956970"]),
        ],
        ids=["none", "flip only", "crop after crop", "too large"],
    )
    def test_pipeline(self, flat, operations, words):
        with pytest.raises(tgl.ConfigError) as caught:
            tgl.ImageLoader(tgl.sources.Paths(flat), operations)
        assert [word for word in words if word not in str(caught.value)] == []

    def test_batch_larger_than_any_memory(self, flat):
        with pytest.raises(tgl.ConfigError, match=r"batch_size.*2147483647"):
            tgl.ImageLoader(tgl.sources.Paths(flat), [ops.CenterCrop(10_000, 10_000)], batch_size=2**31 - 1)

    @pytest.mark.parametrize("labels", [[0, 3], [0, -1]])
    def test_label_outside_the_classes(self, flat, labels):
        with pytest.raises(tgl.ConfigError) as caught:
            tgl.ImageLoader(tgl.sources.Paths(flat[:2], labels), [ops.CenterCrop(8, 8)], labels=ops.OneHot(3))
        for word in ("labels", str(labels[1]), str(flat[1]), "0 to 2"):
            assert word in str(caught.value)

    def test_one_hot_without_labels(self, flat):
        with pytest.raises(tgl.ConfigError, match=r"labels=OneHot.*no labels"):
            tgl.ImageLoader(tgl.sources.Paths(flat), [ops.CenterCrop(8, 8)], labels=ops.OneHot(3))

    def test_numbers_of_numpy(self, flat):
        mean = np.array([1, 2, 3], np.float32)
        loader = tgl.ImageLoader(
            tgl.sources.Paths(np.array(list(map(str, flat))), np.arange(8, dtype=np.uint8)),
            [ops.CenterCrop(np.int16(8), np.uint8(8)), ops.Rescaling(np.float32(2), np.int64(1))],
            labels=ops.OneHot(np.int32(8), np.float64(0)),
            batch_size=np.int64(4),
            seed=np.uint64(2**64 - 1),
            dtype=np.float32,
            num_workers=np.uint8(1),
            prefetch=np.int32(0),
            max_pixels=np.int64(64),
            shuffle=np.False_,
            on_error="skip",
            max_bad=np.float32(0.5),
            background=np.array([1, 2, 3], np.uint8),
        )
        assert loader.seed == 2**64 - 1
        images, labels = next(iter(loader))
        assert levels(images) == [1, 3, 5, 7]
        np.testing.assert_array_equal(labels, np.eye(8, dtype=np.float32)[:4])
        normalised = ops.Normalization(axis=np.int64(-1), mean=mean, variance=np.float32(4))
        images = next(iter(tgl.ImageLoader(tgl.sources.Paths(flat), [ops.CenterCrop(8, 8), normalised])))
        np.testing.assert_allclose(images[5, 0, 0], [2, 1.5, 1], rtol=1e-6)

    @pytest.mark.parametrize("operations", [tuple, list, iter], ids=["tuple", "list", "iterator"])
    def test_any_sequence_of_operations(self, flat, operations):
        given = operations([ops.CenterCrop(8, 8), ops.Rescaling(2)])
        assert levels(next(iter(tgl.ImageLoader(tgl.sources.Paths(flat), given, batch_size=3)))) == [0, 2, 4]
