"""One specification for training, validation and serving, and the same pixels from it everywhere."""

from __future__ import annotations

import dataclasses
import io
import json
import pickle
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pictures
import pytest
from PIL import Image

import tfgoloader as tgl
from tfgoloader import ops

FILES = 500
PIPELINES: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "resized": ([ops.Resizing(32, 36), ops.Rescaling(1 / 127.5, -1)], {}),
    "of Pillow, gray": (
        [ops.ResizeShorter(40, like="pillow"), ops.CenterCrop(32, 32)],
        {"channels": 1, "dtype": "uint8"},
    ),
    "by channel": (
        [ops.Resizing(30, 30, pad_to_aspect_ratio=True), ops.Normalization(mean=[120, 110, 100], variance=[9, 16, 25])],
        {"data_format": "channels_first", "background": (9, 99, 199), "dct_method": "fast"},
    ),
    "deep": ([ops.CenterCrop(20, 24)], {"dtype": "uint16", "channels": 4, "exif": False}),
    "halves": ([ops.ResizeWithPad(30, 34), ops.Rescaling(1 / 255)], {"dtype": "float16"}),
    "short halves": ([ops.Resizing(30, 34), ops.Rescaling(1 / 255)], {"dtype": "bfloat16"}),
    "equalized": ([ops.CenterCrop(30, 30), ops.Equalization(), ops.AutoContrast(), ops.Solarization()], {}),
}
# Every operation with arguments that are not its defaults.
ALL_OPS = [
    ops.AutoContrast(p=0.25),
    ops.CenterCrop(200, 201),
    ops.Equalization(bins=99, p=0.5),
    ops.Pad(((1, 2), (3, 4)), "reflect", 5),
    ops.RandomBrightness(0.2),
    ops.RandomColorDegeneration((0.1, 0.4)),
    ops.RandomColorJitter((0, 255), 0.2, (0.1, 0.3), 0.4, None, p=0.5),
    ops.RandomContrast((-0.1, 0.3), p=0.5),
    ops.RandomCrop(190, 191, "pad", "reflect", (1, 2, 3)),
    ops.RandomErasing(0.5, (0.1, 0.2), (1, 2, 3)),
    ops.RandomFlip("vertical"),
    ops.RandomGaussianBlur(0.5, 5, (0.5, 2)),
    ops.RandomGrayscale(0.3),
    ops.RandomHue(0.1),
    ops.RandomInvert(0.1),
    ops.RandomPerspective(0.3, 0.4, "nearest", 7),
    ops.RandomPosterization((3, 6)),
    ops.RandomRotation((-0.1, 0.3), "wrap", "nearest"),
    ops.RandomSaturation((0.2, 0.7)),
    ops.RandomSharpness(0.4),
    ops.RandomShear(0.1, (0.1, 0.2)),
    ops.RandomTranslation(0.1, (0.0, 0.2)),
    ops.RandomZoom((-0.3, 0.1), 0.2),
    ops.Solarization((0.1, 0.2), 0.4),
    ops.OneOf([ops.RandomFlip("horizontal"), ops.RandomApply([ops.RandomHue(0.2), ops.RandomInvert()], 0.3)], [1, 3]),
    ops.RandomApply([ops.RandomHue(0.2)], 0.4),
    ops.RandomOrder([ops.RandomInvert(0.2), ops.RandomContrast(0.2)]),
    ops.RandAugment(num_ops=3, factor=(0.2, 0.4), interpolation="nearest"),
    ops.AugMix(num_chains=2, chain_depth=4, alpha=0.5, all_ops=False),
    ops.AutoAugment(fill_value=4),
    ops.TrivialAugmentWide(21, "bilinear", (1, 2, 3)),
    ops.ResizeShorter(64, "bicubic", False, "opencv"),
    ops.RandomResizedCrop(60, 61, (0.2, 0.9), (0.5, 2), "nearest", False, "torchvision"),
    ops.Resizing(48, 49, "lanczos3", True, antialias=True, like="pillow"),
    ops.ResizeWithPad(70, 71, "area", True, "pillow", (7, 8, 9)),
    ops.Rescaling(0.5, 3),
    ops.Normalization(mean=(1, 2, 3), variance=4),
    ops.MixUp(0.3),
    ops.CutMix((0.1, 0.5)),
]


def encoded(index: int) -> tuple[str, bytes]:
    """Return a file's suffix and content, of one of fifteen kinds."""
    random = np.random.default_rng(index)
    height, width = (int(side) for side in random.integers(40, 70, 2))
    picture = Image.fromarray(random.integers(0, 256, (5, 5, 4), np.uint8)).resize((width, height), 2)
    exif = Image.Exif()
    exif[0x0112] = index % 8 + 1
    kind, mode, options = [
        ("jpeg", "RGB", {"quality": 80}),
        ("jpeg", "RGB", {"progressive": True, "exif": exif}),
        ("jpeg", "L", {}),
        ("jpeg", "CMYK", {}),
        ("jpeg", "RGB", {"subsampling": 0, "exif": exif}),
        ("png", "RGB", {"exif": exif}),
        ("png", "RGBA", {}),
        ("png", "P", {}),
        ("png", "I;16", {}),
        ("gif", "P", {}),
        ("bmp", "RGB", {}),
        ("webp", "RGBA", {"lossless": True}),
        ("webp", "RGB", {"exif": exif}),
        ("tiff", "RGB", {"compression": "tiff_lzw"}),
        ("tiff", "L", {}),
    ][index % 15]
    picture = (
        Image.fromarray(random.integers(0, 2**16, (height, width), np.uint16))
        if mode == "I;16"
        else picture.convert(mode)
    )
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return kind, file.getvalue()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("files")
    paths = []
    for index in range(FILES):
        kind, content = encoded(index)
        paths.append(folder / f"{index:03}.{kind}")
        paths[-1].write_bytes(content)
    return paths


def batches_of(loader: tgl.ImageLoader) -> Iterator[np.ndarray]:
    for batch in loader:
        yield batch[0] if isinstance(batch, tuple) else batch


@pytest.mark.parametrize("name", PIPELINES)
def test_pixels_are_those_of_validation(name: str, files: list[Path], tmp_path: Path) -> None:
    pipeline, options = PIPELINES[name]
    with tgl.ImageLoader(tgl.sources.Paths(files), pipeline, batch_size=64, **options) as loader:
        tgl.Preprocess(loader.spec).save(tmp_path / "spec.json")
        expected = np.concatenate(list(loader))
    preprocess = tgl.Preprocess.load(tmp_path / "spec.json")
    assert len(expected) == FILES
    for index, path in enumerate(files):
        found = preprocess(path if index % 2 else path.read_bytes())
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape[1:])
        np.testing.assert_array_equal(found, expected[index], str(path))
    some = [
        str(files[0]),
        files[1],
        files[2].read_bytes(),
        bytearray(files[3].read_bytes()),
        memoryview(files[4].read_bytes()),
    ]
    for batch in (some, tuple(some)):
        np.testing.assert_array_equal(preprocess(batch), expected[:5])
    assert preprocess([]).shape == (0, *expected.shape[1:])


def test_the_parts_of_a_list_keep_their_places(files: list[Path]) -> None:
    loader = tgl.ImageLoader(tgl.sources.Paths(files[:15]), [ops.Resizing(9, 9)])
    preprocess = tgl.Preprocess(loader.spec)
    first, last = preprocess(files[0]), preprocess(files[14])
    np.testing.assert_array_equal(preprocess([files[14], files[0]]), [last, first])
    kept = first.copy()
    preprocess(files[1])
    preprocess.close()
    np.testing.assert_array_equal(first, kept)
    with pytest.raises(tgl.TfGoLoaderError, match="closed"):
        preprocess(files[0])


def test_threads_share_it(files: list[Path]) -> None:
    loader = tgl.ImageLoader(tgl.sources.Paths(files), [ops.Resizing(24, 24)], batch_size=FILES, dtype="uint8")
    (expected,) = loader
    preprocess = tgl.Preprocess(loader.spec)
    wrong = []

    def work(start: int) -> None:
        for index in range(start, FILES, 6):
            if not np.array_equal(preprocess(files[index]), expected[index]):
                wrong.append(index)

    threads = [threading.Thread(target=work, args=(start,)) for start in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_pickled_one_makes_the_same(files: list[Path]) -> None:
    with tgl.ImageLoader(tgl.sources.Paths(files[:1]), [ops.Resizing(9, 7)]) as loader:
        preprocess = tgl.Preprocess(loader.spec)
    other = pickle.loads(pickle.dumps(preprocess))
    np.testing.assert_array_equal(other(files[0]), preprocess(files[0]))


def test_every_operation_goes_through_json() -> None:
    assert {type(op).__name__ for op in ALL_OPS} == {
        name
        for name in ops.__all__
        if dataclasses.is_dataclass(getattr(ops, name)) and name not in ("OneHot", "Python", "Native")
    }


def test_a_loader_from_a_specification_is_the_same(files: list[Path], tmp_path: Path) -> None:
    source = tgl.sources.Paths(files, [index % 4 for index in range(FILES)])
    options: dict[str, Any] = {"channels": 3, "background": (1, 2, 3), "exif": False, "max_pixels": 10**6}
    large = [op for op in ALL_OPS if not isinstance(op, (ops.CenterCrop, ops.Pad))]
    with tgl.ImageLoader(source, large, labels=ops.OneHot(4, 0.1), seed=5, batch_size=16, **options) as loader:
        spec = json.loads(json.dumps(loader.spec))
        assert spec == loader.spec
        with tgl.ImageLoader.from_spec(source, spec, seed=5, batch_size=16) as again:
            assert again.spec == spec
            for _ in range(3):
                for one, other in zip(next(iter(loader)), next(iter(again)), strict=True):
                    np.testing.assert_array_equal(one, other)
    rest = [ops.CenterCrop(200, 201), ops.Pad(((1, 2), (3, 4)), "reflect", 5)]
    with tgl.ImageLoader(source, rest) as loader, tgl.ImageLoader.from_spec(source, loader.spec) as again:
        assert again.spec == loader.spec


def test_what_a_specification_leaves_open(files: list[Path]) -> None:
    labelled, plain = tgl.sources.Paths(files, [1] * FILES), tgl.sources.Paths(files[:9])
    boxed = tgl.sources.Paths(files[:2], boxes=[[(0.1, 0.1, 0.5, 0.5)], []])
    pipeline = [ops.RandomCrop(20, 20), ops.Rescaling(2)]
    with tgl.ImageLoader(labelled, pipeline, labels=ops.OneHot(2), dtype="float32", views=2) as loader:
        train = loader.spec
    with tgl.ImageLoader.from_spec(plain, train, ops=[ops.CenterCrop(20, 20)], batch_size=9, views=1) as validation:
        assert validation.element_spec == tgl.ArraySpec((9, 20, 20, 3), np.dtype("float32"))
    with tgl.ImageLoader(boxed, [ops.Resizing(8, 8)], box_format="rel_xyxy", max_boxes=3, min_visible=0.2) as loader:
        assert [loader.spec[name] for name in ("box_format", "max_boxes", "min_visible")] == ["rel_xyxy", 3, 0.2]
        with tgl.ImageLoader.from_spec(boxed, loader.spec) as again:
            assert again.spec == loader.spec
        with tgl.ImageLoader.from_spec(plain, loader.spec) as again:
            assert again.spec["max_boxes"] is None


def test_classes_are_compared_by_name(tmp_path: Path, files: list[Path]) -> None:
    for root, names in (("a", "cat dog"), ("b", "cat dog"), ("c", "cat wolf")):
        for name in names.split():
            (tmp_path / root / name).mkdir(parents=True)
            (tmp_path / root / name / "1.jpg").write_bytes(files[0].read_bytes())
    one, same, other = (tgl.sources.Directory(tmp_path / root) for root in "abc")
    with tgl.ImageLoader(one, [ops.Resizing(8, 8)]) as loader:
        spec = loader.spec
    assert tgl.Preprocess(spec).class_names == ["cat", "dog"]
    tgl.ImageLoader.from_spec(same, spec).close()
    with pytest.raises(tgl.ConfigError, match=r"class_names=\['cat', 'wolf'\].*'dog'"):
        tgl.ImageLoader.from_spec(other, spec)


@pytest.mark.parametrize(
    "op", [op for op in ALL_OPS if "Random" in type(op).__name__ or op in ALL_OPS[23:31]], ids=repr
)
def test_what_draws_at_random_is_refused(op: Any, files: list[Path]) -> None:
    pipeline = [ops.Resizing(200, 200), op]
    if not isinstance(op, ops.BatchOp):
        pipeline.append(ops.Resizing(20, 20))
    with tgl.ImageLoader(tgl.sources.Paths(files), pipeline) as loader, pytest.raises(tgl.ConfigError) as caught:
        tgl.Preprocess(loader.spec)
    assert "ops[1]=" + type(op).__name__ in str(caught.value)


def test_mixing_and_views_are_refused(files: list[Path]) -> None:
    source = tgl.sources.Paths(files, [0] * FILES)
    with tgl.ImageLoader(source, [ops.Resizing(8, 8), ops.MixUp()], labels=ops.OneHot(1)) as loader:
        mixing = loader.spec
    with tgl.ImageLoader(source, [ops.Resizing(8, 8)], views=2) as loader:
        views = loader.spec
    for spec, message in ((mixing, r"ops\[1\]=MixUp"), (views, "views=2")):
        with pytest.raises(tgl.ConfigError, match=message):
            tgl.Preprocess(spec)


def test_wrong_specifications_are_named(files: list[Path], tmp_path: Path) -> None:
    source = tgl.sources.Paths(files)
    with tgl.ImageLoader(source, [ops.OneOf([ops.RandomFlip("horizontal")]), ops.Resizing(8, 8)]) as loader:
        good = loader.spec
    inner = good["ops"][0]["ops"][0]
    for spec, message in {
        "none": (None, "spec=None"),
        "newer": ({**good, "tfgoloader": "99.0"}, r"'99.0'.*at most"),
        "no version": ({**good, "tfgoloader": 1}, "spec="),
        "unknown": ({**good, "colour": 1}, r"unknown fields \['colour'\]"),
        "missing": ({name: value for name, value in good.items() if name != "exif"}, r"missing ones \['exif'\]"),
        "ops": ({**good, "ops": "Resizing"}, r"\['ops'\]='Resizing'"),
        "no op": ({**good, "ops": [1]}, r"ops\[0\]=1"),
        "unknown op": ({**good, "ops": [{"op": "Swirl"}]}, r"ops\[0\]='Swirl'"),
        "no operation": ({**good, "ops": [{"op": "Source"}]}, r"ops\[0\]='Source'"),
        "inner": (
            {**good, "ops": [{**good["ops"][0], "ops": [{**inner, "op": "Swirl"}]}]},
            r"ops\[0\].ops\[0\]='Swirl'",
        ),
        "argument": ({**good, "ops": [{**inner, "axis": 1}]}, r"'RandomFlip'.*unknown: \['axis'\]"),
        "no argument": ({**good, "ops": [{"op": "Resizing", "width": 1}]}, r"'Resizing'.*missing: \['height'\]"),
        "value": ({**good, "ops": [{**inner, "mode": "up"}]}, "RandomFlip.mode='up'"),
        "dtype": ({**good, "ops": good["ops"][1:], "dtype": "complex64"}, "dtype="),
    }.values():
        with pytest.raises(tgl.ConfigError, match=message):
            tgl.ImageLoader.from_spec(source, spec)
        with pytest.raises(tgl.ConfigError, match=message):
            tgl.Preprocess(spec)

    class Mine(ops.Rescaling):
        def _spec(self) -> dict[str, Any]:
            return {**super()._spec(), "op": "Rescaling"}

    with tgl.ImageLoader(source, [ops.Resizing(8, 8), Mine(2)]) as loader, pytest.raises(tgl.ConfigError, match="Mine"):
        _ = loader.spec


def test_wrong_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(tgl.SourceError, match=r"gone\.json"):
        tgl.Preprocess.load(tmp_path / "gone.json")
    for content in (b"{", b"\xff", b"[]"):
        (tmp_path / "spec.json").write_bytes(content)
        with pytest.raises(tgl.ConfigError, match=r"spec"):
            tgl.Preprocess.load(tmp_path / "spec.json")


def test_wrong_pictures_are_named(files: list[Path], tmp_path: Path) -> None:
    with tgl.ImageLoader(tgl.sources.Paths(files), [ops.CenterCrop(30, 30)]) as loader:
        preprocess = tgl.Preprocess(loader.spec)
    (tmp_path / "bad.jpg").write_text("no picture")
    Image.fromarray(pictures.photograph(9, 9, 1)).save(tmp_path / "small.png")
    for item, kind, path, reason in (
        (b"no picture", tgl.DecodeError, "<bytes>", "unknown picture format"),
        (b"", tgl.DecodeError, "<bytes>", "unknown picture format"),
        (files[0].read_bytes()[:-200], tgl.DecodeError, "<bytes>", "truncated"),
        ((tmp_path / "small.png").read_bytes(), tgl.DecodeError, "<bytes>", "smaller than CenterCrop"),
        (tmp_path / "bad.jpg", tgl.DecodeError, str(tmp_path / "bad.jpg"), "unknown picture format"),
        (str(tmp_path / "small.png"), tgl.DecodeError, str(tmp_path / "small.png"), "smaller than CenterCrop"),
        (tmp_path / "gone.jpg", tgl.SourceError, str(tmp_path / "gone.jpg"), "no such file"),
        (tmp_path, tgl.SourceError, str(tmp_path), "not a regular file"),
    ):
        with pytest.raises(kind, match=reason) as caught:
            preprocess(item)
        assert (caught.value.path, caught.value.index) == (path, None)
    for item in (None, 3, "", "a\0b", np.zeros((4, 4, 3), np.uint8)):
        with pytest.raises(tgl.ConfigError, match="item="):
            preprocess(item)
    with pytest.raises(tgl.ConfigError, match=r"item\[1\]=None"):
        preprocess([files[0], None])
    assert preprocess(files[0]).shape == (30, 30, 3)  # as before
