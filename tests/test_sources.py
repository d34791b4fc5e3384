"""Samples are what the folders and lists say: files, labels and classes, under whatever names."""

import os
import random
import warnings

import numpy as np
import pytest
from flat import SIZE, flat_pictures, levels
from layouts import LAYOUTS, build
from PIL import Image

import tfgoloader as tgl
from tfgoloader import ops

FOLDERS = [name for name, layout in LAYOUTS.items() if "files" in layout["expected"]]
LISTS = [name for name, layout in LAYOUTS.items() if "entries" in layout["expected"]]


@pytest.fixture(scope="module")
def flat(tmp_path_factory):
    return flat_pictures(tmp_path_factory.mktemp("flat"), 8)


def relative(source, root):
    """Return paths below the root, and labels, as the layouts have them."""
    return [
        [os.path.relpath(path, root), label]
        for path, label in zip(source.file_paths, source.labels.tolist(), strict=True)
    ]


def assert_pictures(source):
    """Check that one epoch gives the pictures of the source's files, with their labels."""
    loader = tgl.ImageLoader(source, [ops.CenterCrop(8, 8)], dtype="uint8", batch_size=3)
    batches = list(loader)
    expected = [np.asarray(Image.open(path).convert("RGB")) for path in source.file_paths]
    np.testing.assert_array_equal(np.concatenate([images for images, _ in batches]), expected)
    np.testing.assert_array_equal(np.concatenate([labels for _, labels in batches]), source.labels)


def open_source(name, root):
    """Return the source over a layout, and what it warns of."""
    file = LAYOUTS[name]["expected"].get("list")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        source = tgl.sources.ListFile(root / file, root=root) if file else tgl.sources.Directory(root)
    return source, [str(warning.message) for warning in caught]


class TestLayouts:
    @pytest.mark.parametrize("name", FOLDERS)
    def test_folders(self, tmp_path, name):
        expected = LAYOUTS[name]["expected"]
        change = build(name, tmp_path)
        source, warned = open_source(name, tmp_path)
        change()
        assert source.class_names == expected["classes"]
        assert relative(source, tmp_path) == expected["files"]
        assert len(source) == len(expected["files"])
        assert_pictures(source)
        used = {label for _, label in expected["files"]}
        empty = [name for label, name in enumerate(expected["classes"]) if label not in used]
        assert [repr(name) in text for name, text in zip(empty, warned, strict=True)] == [True] * len(empty)

    @pytest.mark.parametrize("name", LISTS)
    def test_lists(self, tmp_path, name):
        build(name, tmp_path)
        source, warned = open_source(name, tmp_path)
        assert relative(source, tmp_path) == LAYOUTS[name]["expected"]["entries"]
        assert (source.class_names, warned) == (None, [])
        assert_pictures(source)

    def test_negative_label(self, tmp_path):
        build("list_negative_label", tmp_path)
        source, _ = open_source("list_negative_label", tmp_path)
        assert relative(source, tmp_path) == LAYOUTS["list_negative_label"]["expected"]["also_accept"]["entries"]
        assert_pictures(source)

    @pytest.mark.parametrize("name", ["no_class", "list_bad_label", "list_label_missing"])
    def test_errors_of_the_listing(self, tmp_path, name):
        build(name, tmp_path)
        expected = LAYOUTS[name]["expected"]
        with pytest.raises(tgl.SourceError) as caught:
            open_source(name, tmp_path)
        place = tmp_path / expected["list"] if "list" in expected else tmp_path
        assert caught.value.path == str(place)
        assert any(words in caught.value.reason for words in expected["reason_any"])
        assert caught.value.index is None

    @pytest.mark.parametrize("name", ["deleted_after_listing", "list_missing_file", "dangling_link"])
    def test_errors_of_the_reading(self, tmp_path, name):
        expected = LAYOUTS[name]["expected"]
        change = build(name, tmp_path)
        source, _ = open_source(name, tmp_path)
        change()
        loader = tgl.ImageLoader(source, [ops.CenterCrop(8, 8)])
        for _ in range(2):
            with pytest.raises(tgl.SourceError) as caught:
                next(iter(loader))
            assert caught.value.path == str(tmp_path / expected["names"])
            assert any(words in caught.value.reason for words in expected["reason_any"])
            assert source.file_paths[caught.value.index] == caught.value.path

    def test_fewer_samples_than_a_batch(self, tmp_path):
        build("smaller_than_batch", tmp_path)
        source, _ = open_source("smaller_than_batch", tmp_path)
        with pytest.warns(UserWarning, match="3 samples do not fill one of 8"):
            loader = tgl.ImageLoader(source, [ops.CenterCrop(8, 8)], batch_size=8, drop_remainder=True)
        assert (len(loader), list(loader), list(loader)) == (0, [], [])
        loader = tgl.ImageLoader(source, [ops.CenterCrop(8, 8)], batch_size=8)
        assert [len(images) for images, _ in loader] == [3]

    @pytest.mark.parametrize("drop_remainder", [False, True])
    def test_as_many_samples_as_a_batch(self, tmp_path, drop_remainder):
        build("batch_8_of_8", tmp_path)
        source, _ = open_source("batch_8_of_8", tmp_path)
        loader = tgl.ImageLoader(source, [ops.CenterCrop(8, 8)], batch_size=8, drop_remainder=drop_remainder)
        assert len(loader) == 1
        assert [len(images) for images, _ in loader] == [8]

    def test_every_layout_is_used(self):
        tested = {"no_class", "list_bad_label", "list_label_missing", "deleted_after_listing", "list_missing_file"}
        tested |= {"dangling_link", "list_negative_label", "smaller_than_batch", "batch_8_of_8", *FOLDERS, *LISTS}
        assert tested == set(LAYOUTS)


class TestKeras:
    @pytest.mark.parametrize("seed", range(4))
    def test_order_and_labels_of_a_random_tree(self, tmp_path, flat, keras, seed):
        dice = random.Random(seed)
        # Characters below and above the slash, so that the order of paths and that of names differ.
        names = ["a", "a b", "a-b", "a.b", "a0", "A", "b", "b!", "10", "2", "é", "ß", "猫", "ab", "a,b", "_"]
        content = flat[0].read_bytes()
        folders = [tmp_path / name for name in dice.sample(names, 6)]
        for folder in list(folders):
            for _ in range(dice.randrange(4)):
                parent = dice.choice([folder, *(f for f in folders if folder in f.parents)])
                folders.append(parent / dice.choice(names))
        for folder in folders:
            folder.mkdir(exist_ok=True)
            for name in dice.sample(names, dice.randrange(1, 6)):
                file = folder / f"{name}{dice.choice(['.jpg', '.JPG', '.jpeg', '.png', '.gif', '.bmp', '.txt', ''])}"
                if not file.is_dir():
                    file.write_bytes(content)
        source, _ = open_source("symlink_loop", tmp_path)
        theirs = keras.utils.image_dataset_from_directory(tmp_path, shuffle=False, batch_size=None, verbose=False)
        assert source.file_paths == theirs.file_paths
        assert source.class_names == theirs.class_names
        classes = [os.path.relpath(path, tmp_path).split("/")[0] for path in theirs.file_paths]
        assert source.labels.tolist() == [theirs.class_names.index(name) for name in classes]


class TestDirectory:
    @pytest.fixture
    def root(self, tmp_path, flat):
        for number, name in enumerate(["cat", "dog", "emu"]):
            (tmp_path / name).mkdir()
            (tmp_path / name / "x.jpg").write_bytes(flat[number].read_bytes())
        return tmp_path

    @pytest.mark.parametrize(
        ("names", "files"),
        [
            (["emu", "cat", "dog"], [["emu/x.jpg", 0], ["cat/x.jpg", 1], ["dog/x.jpg", 2]]),
            (("dog",), [["dog/x.jpg", 0]]),
        ],
    )
    def test_class_names(self, root, names, files):
        source = tgl.sources.Directory(root, class_names=names)
        assert relative(source, root) == files
        assert source.class_names == list(names)
        loader = tgl.ImageLoader(source, [ops.CenterCrop(8, 8)])
        assert loader.class_names == list(names)
        images, labels = next(iter(loader))
        assert levels(images) == [["cat", "dog", "emu"].index(names[label]) for label in labels]

    @pytest.mark.parametrize("names", [["cat", "cow"], ["cat", "cat"], [".."], ["cat/"]])
    def test_wrong_class_names(self, root, names):
        with pytest.raises(tgl.SourceError) as caught:
            tgl.sources.Directory(root, class_names=names)
        assert caught.value.path == str(root)
        assert names[-1] in caught.value.reason

    def test_no_folder(self, tmp_path, flat):
        for path, words in ((tmp_path / "gone", "no such file"), (flat[0], "not a directory")):
            with pytest.raises(tgl.SourceError, match=words) as caught:
                tgl.sources.Directory(path)
            assert caught.value.path == str(path)

    def test_pipes_and_folders_named_like_pictures_are_none(self, root):
        os.mkfifo(root / "cat" / "pipe.jpg")
        (root / "dog" / "folder.jpg").mkdir()
        assert relative(tgl.sources.Directory(root), root) == [["cat/x.jpg", 0], ["dog/x.jpg", 1], ["emu/x.jpg", 2]]

    def test_links_are_followed_once(self, root, flat, tmp_path_factory):
        elsewhere = tmp_path_factory.mktemp("elsewhere")
        (elsewhere / "y.jpg").write_bytes(flat[5].read_bytes())
        (root / "fox").symlink_to(elsewhere)  # a class
        (root / "cat" / "z.jpg").symlink_to(elsewhere / "y.jpg")  # a sample
        (root / "dog" / "more").symlink_to(root / "emu")  # another class's folder
        files = [["cat/x.jpg", 0], ["cat/z.jpg", 0], ["dog/x.jpg", 1], ["emu/x.jpg", 2], ["fox/y.jpg", 3]]
        source = tgl.sources.Directory(root)
        assert relative(source, root) == files
        assert_pictures(source)


class TestListFile:
    @pytest.mark.parametrize(
        ("text", "delimiter", "entries"),
        [
            ("a.jpg,3\nb,c.jpg,4\n", ",", [["a.jpg", 3], ["b,c.jpg", 4]]),
            ("a.jpg\t3\n\n  \nb c.jpg\t-4", "\t", [["a.jpg", 3], ["b c.jpg", -4]]),
            ("a.jpg :: 3\n", " :: ", [["a.jpg", 3]]),
            ("a.jpg \t 9223372036854775807\nb.jpg +2\n", None, [["a.jpg", 2**63 - 1], ["b.jpg", 2]]),
            ("# no comment.jpg 1\n", None, [["# no comment.jpg", 1]]),
        ],
    )
    def test_delimiters(self, tmp_path, text, delimiter, entries):
        (tmp_path / "list.txt").write_text(text)
        source = tgl.sources.ListFile(tmp_path / "list.txt", root=tmp_path, delimiter=delimiter)
        assert relative(source, tmp_path) == entries

    @pytest.mark.parametrize(
        ("text", "delimiter", "words"),
        [
            ("a.jpg 0\nb.jpg 1.5\n", None, ["line 2", "integer", "b.jpg 1.5"]),
            ("a.jpg 9223372036854775808\n", None, ["line 1", "64 bits"]),
            ("\n\na.jpg 0\n", ",", ["line 3", "delimiter", "a.jpg 0"]),
            (" 7\n", None, ["line 1", "missing"]),
            ("\n \n", None, ["no samples"]),
            ("", None, ["no samples"]),
        ],
    )
    def test_wrong_lines(self, tmp_path, text, delimiter, words):
        path = tmp_path / "list.txt"
        path.write_text(text)
        with pytest.raises(tgl.SourceError) as caught:
            tgl.sources.ListFile(path, delimiter=delimiter)
        assert caught.value.path == str(path)
        assert [word for word in words if word not in caught.value.reason] == []

    def test_paths_are_relative_to_the_root_or_to_the_current_folder(self, tmp_path, flat, monkeypatch):
        path = tmp_path / "list.txt"
        path.write_text(f"003.jpg 3\n{flat[1]} 1\n")
        rooted = tgl.sources.ListFile(path, root=flat[0].parent)
        assert rooted.file_paths == [str(flat[3]), str(flat[1])]
        monkeypatch.chdir(flat[0].parent)
        here = tgl.sources.ListFile(path)
        assert here.file_paths == ["003.jpg", str(flat[1])]
        for source in (rooted, here):
            images, labels = next(iter(tgl.ImageLoader(source, [ops.CenterCrop(SIZE, SIZE)])))
            assert levels(images) == labels.tolist() == [3, 1]

    def test_no_list(self, tmp_path):
        for path, words in ((tmp_path / "gone.txt", "no such file"), (tmp_path, "is a directory")):
            with pytest.raises(tgl.SourceError, match=words) as caught:
                tgl.sources.ListFile(path)
            assert caught.value.path == str(path)


class TestPaths:
    def test_forms_of_paths_and_labels(self, flat):
        forms = [str(flat[0]), os.fsencode(flat[1]), flat[2]]
        numbers = [5, -6, 2**40]
        for labels in (numbers, np.array(numbers), tuple(numbers), iter(numbers), dict(enumerate(numbers)).values()):
            source = tgl.sources.Paths(forms, labels)
            assert source.file_paths == list(map(str, flat[:3]))
            assert source.labels.tolist() == [5, -6, 2**40]
            images, got = next(iter(tgl.ImageLoader(source, [ops.CenterCrop(SIZE, SIZE)])))
            assert (levels(images), got.tolist()) == ([0, 1, 2], [5, -6, 2**40])

    def test_no_labels(self, flat):
        source = tgl.sources.Paths(flat)
        assert (source.has_labels, source.labels, source.class_names) == (False, None, None)
        assert levels(next(iter(tgl.ImageLoader(source, [ops.CenterCrop(SIZE, SIZE)])))) == list(range(8))

    def test_the_list_is_the_sources_own(self, flat):
        paths, labels = list(flat), np.arange(8)
        source = tgl.sources.Paths(paths, labels)
        paths[0], labels[0] = flat[7], 7
        assert source.file_paths == list(map(str, flat))
        assert source.labels[0] == 0

    def test_repeated_paths(self, flat):
        source = tgl.sources.Paths([flat[3], flat[1], flat[3]], [0, 1, 2])
        images, labels = next(iter(tgl.ImageLoader(source, [ops.CenterCrop(SIZE, SIZE)])))
        assert (levels(images), labels.tolist()) == ([3, 1, 3], [0, 1, 2])


class TestNamesThatAreNotText:
    NAMES = (b"caf\xe9.jpg", b"\xff\xfe.jpg", b"\xc3.jpg", "猫 \n\t\"'\\.jpg".encode(), b"<&>\x7f\x01.jpg")

    @pytest.fixture
    def root(self, tmp_path, flat):
        folder = os.fsencode(tmp_path) + b"/classes/caf\xe9"
        os.makedirs(folder)
        for number, name in enumerate(self.NAMES):
            with open(folder + b"/" + name, "wb") as file:
                file.write(flat[number].read_bytes())
        return tmp_path / "classes"

    def expected(self, root):
        return [os.fsencode(root) + b"/caf\xe9/" + name for name in self.NAMES]

    def assert_loads(self, source, expected):
        assert [os.fsencode(path) for path in source.file_paths] == expected
        images, labels = next(iter(tgl.ImageLoader(source, [ops.CenterCrop(SIZE, SIZE)])))
        assert levels(images) == [self.NAMES.index(os.path.basename(path)) for path in expected]
        return labels.tolist()

    def test_directory(self, root):
        for source in (tgl.sources.Directory(root), tgl.sources.Directory(os.fsencode(root), [b"caf\xe9"])):
            assert list(map(os.fsencode, source.class_names)) == [b"caf\xe9"]
            assert self.assert_loads(source, sorted(self.expected(root))) == [0] * 5

    def test_paths(self, root):
        expected = self.expected(root)
        assert self.assert_loads(tgl.sources.Paths(expected, range(5)), expected) == list(range(5))
        assert self.assert_loads(tgl.sources.Paths(list(map(os.fsdecode, expected)), range(5)), expected)

    def test_list_file(self, root, tmp_path):
        lines = [name + b" %d\n" % number for number, name in enumerate(self.NAMES) if b"\n" not in name]
        (tmp_path / "list.txt").write_bytes(b"".join(lines))
        source = tgl.sources.ListFile(tmp_path / "list.txt", root=os.fsencode(root) + b"/caf\xe9")
        expected = [path for path in self.expected(root) if b"\n" not in path]
        assert self.assert_loads(source, expected) == [0, 1, 2, 4]

    def test_errors(self, root, tf):
        path = os.fsencode(root) + b"/gone \xe9\xff.jpg"
        loader = tgl.ImageLoader(tgl.sources.Paths([path]), [ops.CenterCrop(SIZE, SIZE)])
        with pytest.raises(tgl.SourceError, match="no such file") as caught:
            next(iter(loader))
        assert os.fsencode(caught.value.path) == path
        with pytest.raises(tf.errors.OpError, match=r"SourceError: .*gone .*no such file"):
            next(iter(loader.as_dataset()))
