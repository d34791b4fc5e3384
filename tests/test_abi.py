"""docs/abi.md is true: an epoch runs through the functions it declares, and it declares all there are."""

import ast
import ctypes
import json
import mmap
import os
import re
import subprocess
import threading
from contextlib import contextmanager

import numpy as np
import pytest
from abi import FOLDER, HEADER, LIBRARY, LOADER, PAGE, Call, Library, Slab, array, arrays, declared
from flat import SIZE, flat_pictures


@pytest.fixture(scope="module")
def library():
    return Library()


@pytest.fixture(scope="module")
def flat(tmp_path_factory):
    return flat_pictures(tmp_path_factory.mktemp("flat"), 10)


def test_the_page_declares_what_the_library_exports():
    lines = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
    exported = {line.split()[-1] for line in lines.splitlines()}
    assert {name for name in exported if name.startswith(("pybind_", "tgl_slab_"))} == set(declared())


def test_the_stub_declares_what_the_page_does():
    stub = ast.parse((FOLDER / "_native.pyi").read_text())
    signatures = {f.name: len(f.args.posonlyargs + f.args.args) for f in stub.body if isinstance(f, ast.FunctionDef)}
    page = {name: len(arguments) for name, (_, arguments) in declared().items() if name.startswith("pybind_")}
    assert signatures == page


def test_the_header_compiles():
    source = "#include <stdint.h>\n" + HEADER + '_Static_assert(sizeof(tgl_slab) == 64, "images start here");\n'
    subprocess.run(["cc", "-fsyntax-only", "-Wall", "-Werror", "-xc", "-"], input=source, text=True, check=True)
    assert ctypes.sizeof(Slab) == 64


def test_an_epoch(library, flat):
    paths = list(map(str, flat))
    source = library.open_source(kind="paths", paths=paths, labels=list(range(100, 110)))
    assert json.loads(library.text("pybind_DescribeSource", source)) == {
        "count": 10,
        "has_labels": True,
        "has_masks": False,
        "has_boxes": False,
        "class_names": [],
        "empty_classes": [],
    }
    assert json.loads(library.text("pybind_ListSource", source, 8, 20)) == {"paths": paths[8:], "labels": [108, 109]}
    loader = library.open_loader(source)
    library.text("pybind_Close", source)
    where = arrays(library, loader)
    assert where["images"] == {"name": "images", "dtype": "float32", "shape": [SIZE, SIZE, 3], "offset": 64}
    labels_at = where["labels"].pop("offset")
    assert where["labels"] == {"name": "labels", "dtype": "int64", "shape": []}

    for number in range(2):
        epoch = library.pybind_Begin(loader, -1, 0, -1)
        taken = []
        while (address := library.next_batch(epoch)) != 1:
            slab = Slab.from_address(address)
            assert (slab.epoch, slab.batch) == (number, len(taken))
            assert slab.samples == (4, 4, 2)[slab.batch]
            assert slab.size % 64 == labels_at % 64 == address % 64 == 0
            images = array(address, 64, (slab.samples, SIZE, SIZE, 3), np.float32)
            first = slab.batch * 4
            gray = np.arange(first, first + slab.samples) * 2 + 1
            np.testing.assert_array_equal(images, np.broadcast_to(gray[:, None, None, None], images.shape))
            labels = array(address, labels_at, (slab.samples,), np.int64)
            assert labels.tolist() == list(range(100 + first, 100 + first + slab.samples))
            assert labels_at + labels.nbytes <= slab.size
            taken.append(address)
        assert len(taken) == len(set(taken)) == 3
        assert library.pybind_Next(epoch) == 1
        for address in taken:
            library.tgl_slab_release(address)
        assert library.text("pybind_Close", epoch) == ""
    stats = json.loads(library.text("pybind_Stats", loader))
    assert (stats["batches"], stats["images_taken"], stats["bad_files"]) == (6, 20, None)
    assert set(stats["pixels"]) == {"stored", "decoded"}
    assert set(stats["seconds"]) == {"read", "decode", "augment", "wait"}
    assert stats["bytes"] >= 2 * sum(path.stat().st_size for path in flat)
    assert library.text("pybind_Close", loader) == library.text("pybind_Close", loader) == ""


def test_an_epoch_that_starts_in_its_middle(library, flat, tmp_path):
    text = tmp_path / "text.jpg"
    text.write_text("no picture")
    paths = [str(text), *map(str, flat[:9])]
    source = library.open_source(kind="paths", paths=paths, labels=list(range(10)))
    loader = library.open_loader(source, on_error="skip", max_bad=1)
    labels_at = arrays(library, loader)["labels"]["offset"]

    def labels_and_tails(epoch):
        taken = []
        while (address := library.next_batch(epoch)) != 1:
            slab = Slab.from_address(address)
            taken.append((array(address, labels_at, (slab.samples,), np.int64).tolist(), slab.tail))
            library.tgl_slab_release(address)
        return taken

    # The last sample takes the first one's place.
    whole = labels_and_tails(library.pybind_Begin(loader, 6, 0, -1))
    assert whole == [([9, 1, 2, 3], 9), ([4, 5, 6, 7], 9), ([8], 9)]
    assert labels_and_tails(library.pybind_Begin(loader, 6, 1, 9)) == whole[1:]
    address = library.next_batch(library.pybind_Begin(loader, -1, 0, -1))
    assert Slab.from_address(address).epoch == 7
    library.tgl_slab_release(address)
    assert failure(library.pybind_Begin, loader, 0, 4, -1)[0] == "config"


def test_rows_of_floats_as_labels(library, flat):
    source = library.open_source(kind="paths", paths=list(map(str, flat[:3])), labels=[2, 0, 1])
    loader = library.open_loader(source, one_hot={"classes": 4, "label_smoothing": 0.0})
    address = library.next_batch(library.pybind_Begin(loader, -1, 0, -1))
    where = arrays(library, loader)["labels"]
    assert (where["dtype"], where["shape"]) == ("float32", [4])
    labels = array(address, where["offset"], (3, 4), np.float32)
    np.testing.assert_array_equal(labels, np.eye(4)[[2, 0, 1]])
    library.tgl_slab_release(address)


def test_the_boxes_of_the_page(library, flat):
    spec = re.search(r'^({"kind": "paths".*?}})$', PAGE, re.DOTALL | re.MULTILINE)[1]
    source = library.open_source(**{**json.loads(spec), "paths": [*map(str, flat[:2])], "masks": None})
    loader = library.open_loader(source, boxes={"format": "xyxy", "most": 3, "min_visible": 0.0})
    where = arrays(library, loader)
    address = library.next_batch(library.pybind_Begin(loader, -1, 0, -1))
    values = {
        name: array(address, about["offset"], (2, *about["shape"]), about["dtype"]).tolist()
        for name, about in where.items()
        if name.startswith("box")
    }
    assert values == {
        "boxes": [[[0, 0, 8, 8], [0] * 4, [0] * 4], [[0] * 4] * 3],
        "box_labels": [[5, -1, -1], [-1] * 3],
        "box_counts": [1, 0],
    }
    library.tgl_slab_release(address)


def test_a_replay(library, flat):
    source = library.open_source(kind="paths", paths=list(map(str, flat)), labels=list(range(100, 110)))
    loader = library.open_loader(source, return_meta=True)
    about = json.loads(library.text("pybind_Replay", loader, 3, 7))
    assert (about["path"], about["format"], about["original_size"]) == (str(flat[7]), "JPEG", [SIZE, SIZE])
    assert (about["orientation"], about["warnings"]) == (1, 0)
    (view,) = about["views"]
    assert (view["window"], view["flip"]) == ([0, 0, SIZE, SIZE], [False, False])
    assert [step["op"] for step in view["ops"]] == ["CenterCrop"]
    address, where = about["slab"], arrays(library, loader)
    assert library.tgl_slab_references(address) == Slab.from_address(address).samples == 1
    assert Slab.from_address(address).epoch == 3
    before = about["before"]
    assert (array(address, before["offset"], before["shape"], before["dtype"]) == 7).all()
    assert (array(address, where["images"]["offset"], (1, SIZE, SIZE, 3), np.float32) == 15).all()
    for name, value in (("labels", [107]), ("index", [7]), ("original_size", [[SIZE, SIZE]])):
        found = array(address, where[name]["offset"], (1, *where[name]["shape"]), where[name]["dtype"])
        assert found.tolist() == value
    library.text("pybind_Close", loader)
    assert (array(address, before["offset"], before["shape"], before["dtype"]) == 7).all()
    library.tgl_slab_release(address)
    assert failure(library.text, "pybind_Replay", loader, 0, 0)[0] == "closed"


def test_single_pictures(library, flat):
    preprocess = library.pybind_OpenPreprocess(json.dumps(LOADER).encode())
    where = arrays(library, preprocess)["images"]
    content = flat[5].read_bytes()
    for path, address, size in ((str(flat[5]).encode(), 0, 0), (b"", content, len(content))):
        address = ctypes.cast(address, ctypes.c_void_p).value or 0
        slab = library.pybind_Preprocess(preprocess, path, address, size)
        assert (array(slab, where["offset"], (1, *where["shape"]), where["dtype"]) == 11).all()
        assert Slab.from_address(slab).samples == library.tgl_slab_references(slab) == 1
        library.tgl_slab_release(slab)
    assert failure(library.pybind_Preprocess, preprocess, b"", 0, 0) == (
        "decode",
        {"path": "<bytes>", "reason": "unknown picture format: empty file (0 bytes)"},
    )
    assert failure(library.pybind_Preprocess, preprocess, b"", 0, -1)[0] == "config"
    library.text("pybind_Close", preprocess)
    assert failure(library.pybind_Preprocess, preprocess, b"", 0, 0)[0] == "closed"
    assert failure(library.pybind_OpenPreprocess, b"{}")[0] == "config"


def test_a_slab_outlives_its_loader(library, flat):
    source = library.open_source(kind="paths", paths=list(map(str, flat)), labels=None)
    loader = library.open_loader(source)
    epoch = library.pybind_Begin(loader, -1, 0, -1)
    kept = [library.next_batch(epoch) for _ in range(2)]
    assert [library.tgl_slab_references(address) for address in kept] == [2, 2]  # the loader's, and ours
    library.text("pybind_Close", loader)
    assert [library.tgl_slab_references(address) for address in kept] == [1, 1]
    for place, address in enumerate(kept):
        images = array(address, 64, (4, SIZE, SIZE, 3), np.float32)
        np.testing.assert_array_equal(images[:, 0, 0, 0], np.arange(4 * place, 4 * place + 4) * 2 + 1)
        library.tgl_slab_release(address)
    library.text("pybind_Close", epoch)


def test_a_slab_is_written_again_only_when_it_is_given_back(library, flat):
    source = library.open_source(kind="paths", paths=[str(flat[0])] * 400, labels=None)
    loader = library.open_loader(source, num_workers=1, prefetch=0)

    def addresses(keep):
        epoch, seen = library.pybind_Begin(loader, -1, 0, -1), []
        while (address := library.next_batch(epoch)) != 1:
            seen.append(address)
            if not keep:
                library.tgl_slab_release(address)
        library.text("pybind_Close", epoch)
        return seen

    kept = addresses(keep=True)
    assert len(set(kept)) == 100
    for address in kept:
        library.tgl_slab_release(address)
    assert len(set(addresses(keep=False))) < 10
    library.text("pybind_Close", loader)


def test_slabs_of_our_own(library):
    address = library.tgl_slab_new(10_000)
    assert address % 4096 == 0
    assert not any(array(address, 64, (10_000 - 64,), np.uint8))
    assert (Slab.from_address(address).size, Slab.from_address(address).samples) == (10_000, 0)
    assert library.tgl_slab_references(address) == Slab.from_address(address).references == 1
    library.tgl_slab_retain(address)
    assert library.tgl_slab_references(address) == 2
    library.tgl_slab_release(address)
    assert library.tgl_slab_references(address) == 1
    library.tgl_slab_release(address)
    assert library.tgl_slab_new(63) is library.tgl_slab_new(2**62) is library.tgl_slab_new(2**64 - 1) is None


def failure(function, *arguments, **keywords):
    """Return the code, and the object, of the error that a call ends with."""
    with pytest.raises(RuntimeError) as caught:
        function(*arguments, **keywords)
    code, _, about = str(caught.value).partition(" ")
    return code, json.loads(about)


def test_errors(library, flat, tmp_path):
    gone, text = tmp_path / "gone.jpg", tmp_path / "text.jpg"
    text.write_text("no picture")
    good = list(map(str, flat[:4]))
    source = library.open_source(kind="paths", paths=[*good, str(gone), *good[1:], str(text), *good[1:], *good])
    epoch = library.pybind_Begin(library.open_loader(source), -1, 0, -1)
    skipping = library.pybind_Begin(library.open_loader(source, on_error="skip", max_bad=0), -1, 0, -1)
    closed = library.open_loader(source)
    library.text("pybind_Close", closed)

    errors = {
        "no JSON": failure(library.pybind_OpenSource, b"{"),
        "unknown source": failure(library.open_source, kind="cloud"),
        "empty spec": failure(library.pybind_OpenLoader, source, b"{}"),
        "another kind": failure(library.pybind_Begin, source, -1, 0, -1),
        "closed": failure(library.pybind_Begin, closed, -1, 0, -1),
        "never opened": failure(library.pybind_Stats, 2**62),
    }
    codes = {name: code for name, (code, _) in errors.items()}
    assert codes == {**dict.fromkeys(errors, "config"), "closed": "closed", "never opened": "closed"}
    assert all(set(about) == {"reason"} for _, about in errors.values())

    no_folder = failure(library.open_source, kind="directory", path=str(gone))
    assert no_folder == ("source", {"path": str(gone), "reason": "no such file or directory"})
    codes["no folder"] = no_folder[0]

    library.tgl_slab_release(library.next_batch(epoch))
    for path, index, code in ((gone, 4, "source"), (text, 8, "decode")):
        codes[path], about = failure(library.next_batch, epoch)
        assert (codes[path], about["path"], about["index"]) == (code, str(path), index)
        assert set(about) == {"path", "index", "reason"}
    library.tgl_slab_release(library.next_batch(epoch))  # the batch after the bad ones
    assert library.next_batch(epoch) == 1

    library.tgl_slab_release(library.next_batch(skipping))
    codes["too many"], about = failure(library.next_batch, skipping)
    assert str(gone) in about["reason"]
    assert library.next_batch(skipping) == 1

    documented = set(re.findall(r"^\| `(\w+)` \|[^|]*\| \w+Error \|$", PAGE, re.MULTILINE))
    assert set(codes.values()) == documented - {"internal", "function", "memory"}
    assert documented > {"internal", "function"}


@contextmanager
def hosted(library, loader, function):
    """Run the workers in threads of ours, which call the function by its address until the loader is closed."""

    @ctypes.CFUNCTYPE(None, *4 * (ctypes.c_int64,))
    def visit(*about):
        try:
            function(*about)
        except RuntimeError as error:  # for a call of the epoch after, under way when the loader is closed
            if not str(error).startswith("closed "):
                raise

    arguments = "pybind_Host", loader, ctypes.cast(visit, ctypes.c_void_p).value
    names = [f"host {number}" for number in range(library.pybind_Hosts(loader))]
    threads = [threading.Thread(target=library.text, args=arguments, name=name) for name in names]
    for thread in threads:
        thread.start()
    try:
        yield names
    finally:
        library.text("pybind_Close", loader)
        for thread in threads:
            thread.join()


def test_a_function(library, flat):
    """It is called for every sample by workers in our threads; the area is ours to change."""
    source = library.open_source(kind="paths", paths=list(map(str, flat[:4])), labels=[0, 1, 2, 3])
    (about,) = re.findall(r'`({"op": "Python"[^`]*})`', PAGE)
    crop = {"op": "CenterCrop", "height": SIZE, "width": SIZE}
    loader = library.open_loader(source, ops=[crop, json.loads(about)], num_workers=1)
    areas, called, early = {}, [], []

    def change(position, call, slot, area):
        if (slot, area) not in areas:
            descriptor = library.pybind_OpenArea(loader, call)
            areas[slot, area] = mmap.mmap(descriptor, os.fstat(descriptor).st_size)
            os.close(descriptor)
        head = Call.from_buffer(areas[slot, area])
        pixels = np.ndarray((SIZE, SIZE, 3), np.uint8, areas[slot, area], head.picture)
        if head.epoch == 0:
            size = head.height, head.width, head.channels
            same = (pixels == head.index).all() and head.label == head.index and head.output == head.picture
            called.append((position, head.seed, head.index, size, head.is_float, same, threading.current_thread().name))
        pixels += 100
        head.label += 50
        early.append(call)
        library.text("pybind_FinishCall", loader, call, 1_000_000, b"why \xc3\xa9" if head.epoch == 1 else b"")

    with hosted(library, loader, change) as names:
        address, where = library.next_batch(library.pybind_Begin(loader, -1, 0, -1)), arrays(library, loader)
        images = array(address, 64, (4, SIZE, SIZE, 3), np.float32)
        np.testing.assert_array_equal(images[:, 0, 0, 0], [100, 101, 102, 103])
        assert array(address, where["labels"]["offset"], (4,), np.int64).tolist() == [50, 51, 52, 53]
        library.tgl_slab_release(address)
        size = SIZE, SIZE, 3
        assert sorted(call[:-1] for call in called) == [(1, LOADER["seed"], i, size, 0, True) for i in range(4)]
        assert {call[-1] for call in called} <= set(names)
        (stats,) = json.loads(library.text("pybind_Stats", loader))["functions"]
        assert (stats["name"], stats["position"], stats["calls"] >= 4) == ("augment", 1, True)
        assert stats["cpu_seconds"] == pytest.approx(0.001 * stats["calls"])
        code, about = failure(library.next_batch, library.pybind_Begin(loader, -1, 0, -1))
        assert (code, about["reason"], about["index"]) == ("function", "why \xe9", 0)
        assert about["call"] in early
        assert failure(library.pybind_OpenArea, loader, early[0])[0] == "closed"
    assert failure(library.text, "pybind_Host", loader, 1)[0] == "closed"


def test_file_names_are_bytes(library, tmp_path):
    path = bytes(tmp_path) + b"/caf\xe9 \xff \xc3\xa9.jpg"
    source = library.open_source(kind="paths", paths=[path.decode("latin-1")], labels=None)
    listed = json.loads(library.text("pybind_ListSource", source, 0, 1))["paths"]
    assert [name.encode("latin-1") for name in listed] == [path]
    epoch = library.pybind_Begin(library.open_loader(source), -1, 0, -1)
    code, about = failure(library.next_batch, epoch)
    assert (code, about["path"].encode("latin-1")) == ("source", path)


def test_texts_are_the_callers(library):
    first, second = library.pybind_BuildInfo(), library.pybind_BuildInfo()
    assert first != second
    assert ctypes.string_at(first) == ctypes.string_at(second)
    information = json.loads(library.text("pybind_BuildInfo"))
    assert {"tfgoloader", "go", "gopy", "libjpeg-turbo"} <= set(information)
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    free(first)
    free(second)
