"""image_dataset_from_directory gives what Keras' function of that name gives, picture for picture."""

from __future__ import annotations

import gc
import inspect
import os
import shutil
import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pictures
import pytest
from flat import flat_pictures, levels
from layouts import LAYOUTS, build
from PIL import Image

import tfgoloader as tgl

# What Pillow is asked for, one picture of each in every class.
FILES: dict[str, dict[str, Any]] = {
    "a.jpg": {"quality": 85},
    "b.JPEG": {"quality": 95, "subsampling": 0, "progressive": True},
    "c.jpg": {"mode": "L"},
    "d.png": {},
    "e.png": {"mode": "L"},
    "f.png": {"mode": "P"},
    "g.png": {"mode": "LA"},
    "h.Png": {"mode": "RGBA"},
    "more/a.jpg": {"quality": 30},
    "more/.hidden.jpg": {},
    "more-a/b.png": {"mode": "1"},
}
COLOURED = {"i.gif": {"mode": "P"}, "j.bmp": {}}  # which TensorFlow takes as RGB alone


def write(path: Path, seed: int, mode: str = "RGB", **options: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    size = 30 + seed * 17 % 53, 30 + seed * 29 % 61
    pixels = Image.fromarray(pictures.photograph(*size, seed))
    if mode.endswith("A"):
        pixels.putalpha(Image.fromarray(pictures.photograph(*size, seed + 1)[..., 0]))
    pixels.convert(mode).save(path, **options)


def write_classes(root: Path, classes: str, files: dict[str, dict[str, Any]]) -> Path:
    for number, name in enumerate(classes.split()):
        for seed, (file, options) in enumerate(files.items(), 40 * number):
            write(root / name / file, seed, **options)
    return root


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two classes of JPEG and PNG files, and what does not belong to them."""
    root = write_classes(tmp_path_factory.mktemp("two"), "cat dog", FILES)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    write(elsewhere / "z.jpg", 90)
    (root / "cat" / "linked").symlink_to(elsewhere)
    (root / "dog" / "linked.jpg").symlink_to(elsewhere / "z.jpg")
    write(root / "loose.jpg", 91)
    write(root / ".git" / "x.jpg", 92)
    (root / "cat" / "notes.txt").write_text("no picture")
    return root


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three classes of pictures of all formats, one with an EXIF orientation, and a class without pictures."""
    root = write_classes(
        tmp_path_factory.mktemp("three"), "10 2 B", {"a.jpg": {"quality": 75}, "b.png": {}, **COLOURED}
    )
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    write(root / "2" / "turned.jpg", 93, exif=exif)
    (root / "empty").mkdir()
    return root


@pytest.fixture(scope="module")
def transparent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """PNG files alone, which TensorFlow decodes to four channels."""
    # Not of one bit, to which TensorFlow gives an alpha of 1.
    files = {name: options for name, options in FILES.items() if name.lower().endswith(".png")}
    files.pop("more-a/b.png")
    return write_classes(tmp_path_factory.mktemp("transparent"), "a b", files)


def call(function: Callable[..., Any], folder: Path, **options: Any) -> list[Any]:
    """The data sets that a function gives, with options that make it quick and quiet."""
    given = {"image_size": (37, 28), "verbose": False, **options}
    if isinstance(given.get("labels"), list):
        given["labels"] = list(given["labels"])  # Keras shuffles what it is given
    made = function(folder, **given)
    return made if isinstance(made, list) else [made]


def assert_alike(ours: Any, theirs: Any) -> None:
    """Compare two data sets in all but the order of shuffled pictures."""
    assert ours.element_spec == theirs.element_spec
    assert ours.cardinality() == theirs.cardinality()
    assert ours.class_names == theirs.class_names
    assert ours.file_paths == theirs.file_paths


def assert_equal(ours: Any, theirs: Any, tolerance: float = 1e-3) -> None:
    """Compare two data sets with all their pictures and labels, in order."""
    assert_alike(ours, theirs)
    for mine, its in zip(ours, theirs, strict=True):
        images, labels = mine if isinstance(mine, tuple) else (mine, 0)
        expected, expected_labels = its if isinstance(its, tuple) else (its, 0)
        assert np.shape(images) == np.shape(expected)
        np.testing.assert_allclose(np.float64(images), np.float64(expected), rtol=0, atol=tolerance)
        np.testing.assert_array_equal(np.asarray(labels), np.asarray(expected_labels))


TWO: list[dict[str, Any]] = [
    {},
    {"label_mode": "categorical"},
    {"label_mode": "binary"},
    {"label_mode": None},
    {"labels": None},
    {"labels": None, "label_mode": "binary", "follow_links": True},
    {"labels": [7, 3, 5, 4, 4] * 5},
    {"labels": [0, 1, 5, 1, 1] * 5, "label_mode": "categorical"},
    {"labels": [1, 0, 1, 1, 0] * 5, "label_mode": "binary"},
    {"labels": [0.5, 1.5, 2.5, 0.5, 4.5] * 5},
    {"labels": [2**40, -1, 1, 2, 3] * 5},
    {"class_names": ["dog", "cat"]},
    {"class_names": ("dog",), "label_mode": "categorical"},
    {"color_mode": "grayscale"},
    {"batch_size": 5},
    {"batch_size": 11, "label_mode": "categorical"},
    {"batch_size": None},
    {"batch_size": None, "label_mode": "binary"},
    {"batch_size": None, "label_mode": None},
    {"image_size": 40},
    {"image_size": [20, 90]},
    {"image_size": (300, 200), "batch_size": 7},
    {"interpolation": "nearest"},
    {"interpolation": "Bicubic"},
    {"interpolation": "area"},
    {"interpolation": "lanczos3"},
    {"interpolation": "lanczos5"},
    {"interpolation": "gaussian"},
    {"interpolation": "mitchellcubic"},
    {"crop_to_aspect_ratio": True},
    {"crop_to_aspect_ratio": True, "image_size": (20, 90), "interpolation": "nearest"},
    {"data_format": "channels_first"},
    {"data_format": "channels_first", "crop_to_aspect_ratio": True, "color_mode": "grayscale"},
    {"follow_links": True},
    {"validation_split": 0.3, "subset": "training"},
    {"validation_split": 0.3, "subset": "validation"},
    {"validation_split": 0.3, "subset": "both", "label_mode": "categorical"},
    {"validation_split": 0.01, "subset": "validation"},
    {"seed": 5, "validation_split": 0.5, "subset": "both", "batch_size": None, "labels": None},
]


@pytest.mark.parametrize("options", TWO, ids=str)
def test_pictures_labels_and_files_are_those_of_keras(two: Path, keras: Any, options: dict[str, Any]) -> None:
    options = {"shuffle": False, **options}
    ours = call(tgl.image_dataset_from_directory, two, **options)
    theirs = call(keras.utils.image_dataset_from_directory, two, **options)
    for mine, its in zip(ours, theirs, strict=True):
        assert_equal(mine, its)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"label_mode": "categorical", "batch_size": 4},
        {"class_names": ["B", "empty", "10"], "crop_to_aspect_ratio": True},
        {"subset": "both", "validation_split": 0.4, "interpolation": "area"},
    ],
    ids=str,
)
def test_all_formats_without_exif(three: Path, keras: Any, options: dict[str, Any]) -> None:
    options = {"shuffle": False, **options}
    ours = call(tgl.image_dataset_from_directory, three, **options)
    theirs = call(keras.utils.image_dataset_from_directory, three, **options)
    for mine, its in zip(ours, theirs, strict=True):
        assert_equal(mine, its)


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_alpha_is_a_channel(transparent: Path, keras: Any, data_format: str) -> None:
    options = {"shuffle": False, "color_mode": "rgba", "data_format": data_format}
    (ours,) = call(tgl.image_dataset_from_directory, transparent, **options)
    (theirs,) = call(keras.utils.image_dataset_from_directory, transparent, **options)
    assert_equal(ours, theirs)


@pytest.mark.parametrize("method", ["accurate", "fast"])
def test_the_dct_is_the_one_asked_for(two: Path, tf: Any, method: str) -> None:
    (dataset,) = call(
        tgl.image_dataset_from_directory, two, shuffle=False, batch_size=None, labels=None, dct_method=method
    )
    files = [path for path in dataset.file_paths if path.lower().endswith(("jpg", "jpeg"))]
    assert len(files) > 8
    for path, image in zip(dataset.file_paths, dataset, strict=True):
        if path in files:
            data = Path(path).read_bytes()
            picture = tf.io.decode_jpeg(data, channels=3, dct_method=f"INTEGER_{method.upper()}")
            np.testing.assert_allclose(image, tf.image.resize(picture, (37, 28)), rtol=0, atol=1e-3)


def test_files_of_another_format_than_their_name_says(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    pixels = Image.fromarray(pictures.photograph(20, 30, 1))
    pixels.save(tmp_path / "a" / "1.jpg", "TIFF")
    pixels.save(tmp_path / "a" / "2.png", "WEBP", lossless=True)
    dataset = tgl.image_dataset_from_directory(tmp_path, image_size=(20, 30), shuffle=False, verbose=False)
    ((images, _),) = dataset
    np.testing.assert_array_equal(images, [np.asarray(pixels)] * 2)


@pytest.mark.parametrize("labels", ["inferred", None])
@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(tmp_path: Path, keras: Any, tf: Any, name: str, labels: str | None) -> None:
    """Folders of all kinds, among them such as neither function can read."""
    change = build(name, tmp_path)
    # Keras follows links again and again; only loops tell.
    options = {"labels": labels, "shuffle": False, "image_size": (8, 8), "follow_links": name == "symlink_loop"}
    try:
        (theirs,) = call(keras.utils.image_dataset_from_directory, tmp_path, **options)
    except ValueError:
        with pytest.raises(tgl.ConfigError, match=r"directory=.*: expected a folder with pictures"):
            tgl.image_dataset_from_directory(tmp_path, **options)
        return
    (ours,) = call(tgl.image_dataset_from_directory, tmp_path, **options)
    change()
    try:
        list(theirs)
    except tf.errors.OpError:
        assert_alike(ours, theirs)
        with pytest.raises(tf.errors.OpError, match="SourceError"):
            list(ours)
    else:
        assert_equal(ours, theirs)


SPLITS = [
    {},
    {"validation_split": 0.25, "subset": "training"},
    {"validation_split": 0.25, "subset": "validation"},
    {"validation_split": 0.25, "subset": "both"},
    {"validation_split": 0.6, "subset": "both", "class_names": ["dog", "cat"]},
    {"validation_split": 0.5, "subset": "both", "labels": [*range(25)]},
    {"validation_split": 0.5, "subset": "both", "label_mode": None, "batch_size": None},
]


@pytest.mark.parametrize("seed", [0, 123, 2**32 - 1])
@pytest.mark.parametrize("options", SPLITS, ids=str)
def test_a_seed_gives_the_files_of_keras_in_each_subset(
    two: Path, keras: Any, options: dict[str, Any], seed: int
) -> None:
    ours = call(tgl.image_dataset_from_directory, two, seed=seed, **options)
    theirs = call(keras.utils.image_dataset_from_directory, two, seed=seed, **options)
    for mine, its in zip(ours, theirs, strict=True):
        assert_alike(mine, its)


def test_without_a_seed_numpys_decides(two: Path, keras: Any) -> None:
    drawn = []
    for function in (tgl.image_dataset_from_directory, keras.utils.image_dataset_from_directory) * 2:
        keras.utils.set_random_seed(len(drawn) // 2)
        drawn.append(call(function, two)[0].file_paths)
    assert drawn[0] == drawn[1] != drawn[2] == drawn[3]


@pytest.fixture(scope="module")
def flat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty pictures, each of a gray level of its own; the class's name is its first level."""
    root = tmp_path_factory.mktemp("flat")
    for path in flat_pictures(root, 40):
        place = root / f"{int(path.stem) // 10 * 10:03}" / path.name
        place.parent.mkdir(exist_ok=True)
        path.rename(place)
    return root


def shuffled(flat: Path, **options: Any) -> list[Any]:
    return call(tgl.image_dataset_from_directory, flat, **{"image_size": 8, "batch_size": 7, "seed": 3, **options})


def seen(dataset: Any) -> list[int]:
    """The levels of an epoch's pictures in order, having checked their labels."""
    images, labels = pictures.join(dataset)
    found = levels(images)
    assert labels.tolist() == [int(level) // 10 for level in found]
    return [int(level) for level in found]


def test_shuffling_is_repeatable_and_anew_each_epoch(flat: Path) -> None:
    (dataset,) = shuffled(flat)
    epochs = [seen(dataset), seen(dataset)]
    assert [sorted(epoch) for epoch in epochs] == [list(range(40))] * 2
    assert epochs[0] != epochs[1] != list(range(40))
    (again,) = shuffled(flat)
    assert [seen(again), seen(again)] == epochs
    (other,) = shuffled(flat, seed=4)
    assert seen(other) not in epochs


def test_subsets_have_nothing_in_common(flat: Path) -> None:
    training, validation = shuffled(flat, subset="both", validation_split=0.25)
    epochs = [seen(training), seen(training)]
    held = [seen(validation), seen(validation)]
    assert epochs[0] != epochs[1]
    assert held[0] == held[1] == [int(Path(path).stem) for path in validation.file_paths]
    assert sorted(epochs[0]) == sorted(epochs[1]) == sorted(set(range(40)) - set(held[0]))
    assert len(held[0]) == 10
    (alone,) = shuffled(flat, subset="validation", validation_split=0.25)
    assert sorted(seen(alone)) == sorted(held[0])


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"labels": "file"}, "labels"),
        ({"labels": range(25)}, "labels"),
        ({"labels": np.arange(25)}, "labels"),
        ({"labels": [1, 2, 3]}, "labels"),
        ({"labels": [1] * 25, "class_names": ["1"]}, "class_names"),
        ({"labels": None, "class_names": ["cat"]}, "class_names"),
        ({"label_mode": None, "class_names": ["cat"]}, "class_names"),
        ({"class_names": ["cat", "cow"]}, "class_names"),
        ({"class_names": []}, "directory"),
        ({"label_mode": "float"}, "label_mode"),
        ({"labels": [1] * 25, "label_mode": "binary"}, "label_mode"),
        ({"class_names": ["cat"], "label_mode": "binary"}, "label_mode"),
        ({"color_mode": "bgr"}, "color_mode"),
        ({"image_size": (1, 2, 3)}, "image_size"),
        ({"image_size": (20, 30.5)}, "image_size"),
        ({"image_size": "20"}, "image_size"),
        ({"interpolation": "lanczos4"}, "interpolation"),
        ({"crop_to_aspect_ratio": True, "pad_to_aspect_ratio": True}, "pad_to_aspect_ratio"),
        ({"data_format": "last"}, "data_format"),
        ({"format": "torch"}, "format"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**32}, "seed"),
        ({"validation_split": 0.5}, "subset"),
        ({"subset": "training"}, "validation_split"),
        ({"validation_split": 0.5, "subset": "test", "seed": 1}, "subset"),
        ({"validation_split": 1.0, "subset": "both", "seed": 1}, "validation_split"),
        ({"validation_split": -0.5, "subset": "both", "seed": 1}, "validation_split"),
        ({"validation_split": 0.5, "subset": "both"}, "seed"),
        ({"validation_split": 0.01, "subset": "both", "seed": 1}, "directory"),
        ({"validation_split": 0.01, "subset": "training", "seed": 1}, "directory"),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:.*multiprocessing pool")  # which Keras leaves open where labels are too few
def test_what_is_an_error_for_keras_is_one_here(two: Path, keras: Any, options: dict[str, Any], field: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the words are Keras'
        call(keras.utils.image_dataset_from_directory, two, **options)
    gc.collect()
    with pytest.raises(tgl.ConfigError, match=f"^{field}="):
        call(tgl.image_dataset_from_directory, two, **options)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"batch_size": 0}, "batch_size"),
        ({"batch_size": 2.5}, "batch_size"),
        ({"image_size": (0, 8)}, "image_size"),
        ({"interpolation": None}, "interpolation"),
        ({"format": "grain"}, "format"),
        ({"labels": [0.5] * 25, "label_mode": "categorical"}, "labels"),
        ({"dct_method": "slow"}, "dct_method"),
        ({"num_workers": 0}, "num_workers"),
    ],
    ids=str,
)
def test_other_wrong_arguments_are_named(two: Path, options: dict[str, Any], field: str) -> None:
    with pytest.raises(tgl.ConfigError, match=f"^{field}="):
        call(tgl.image_dataset_from_directory, two, **options)


@pytest.mark.parametrize("labels", ["inferred", None])
@pytest.mark.parametrize("name", ["gone", "cat/a.jpg"])
def test_no_folder(two: Path, keras: Any, name: str, labels: str | None) -> None:
    raised = []
    for function in (tgl.image_dataset_from_directory, keras.utils.image_dataset_from_directory):
        with pytest.raises((OSError, ValueError)) as caught:
            call(function, two / name, labels=labels)
        raised.append(caught.type)
    assert issubclass(raised[0], raised[1])


@pytest.mark.parametrize(
    "options",
    [{}, {"labels": None}, {"labels": [1, 5, 7, 9, 9] * 5}, {"subset": "both", "validation_split": 0.2, "seed": 1}],
)
def test_the_count_is_printed(
    two: Path, keras: Any, options: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    call(tgl.image_dataset_from_directory, two, verbose=True, **options)
    ours = capsys.readouterr().out
    call(keras.utils.image_dataset_from_directory, two, verbose=True, **options)
    assert ours == capsys.readouterr().out
    assert ours.startswith("Found 2")
    call(tgl.image_dataset_from_directory, two, verbose=False, **options)
    assert capsys.readouterr().out == ""


def test_arguments_are_those_of_keras(keras: Any) -> None:
    ours = inspect.signature(tgl.image_dataset_from_directory).parameters
    theirs = inspect.signature(keras.utils.image_dataset_from_directory).parameters
    shared = list(ours.values())[: len(theirs)]
    assert [(one.name, one.default, one.kind) for one in shared] == [
        (one.name, one.default, one.kind) for one in theirs.values()
    ]
    rest = list(ours.values())[len(theirs) :]
    assert {one.kind for one in rest} == {inspect.Parameter.KEYWORD_ONLY}


def test_given_labels_stay_as_they_are(two: Path) -> None:
    labels = list(range(25))
    listed = tgl.image_dataset_from_directory(two, labels=labels, seed=1, verbose=False)
    assert labels == list(range(25))
    in_a_tuple = tgl.image_dataset_from_directory(two, labels=tuple(labels), seed=1, verbose=False)
    assert_equal(in_a_tuple, listed)


def test_keras_decides_the_data_format(two: Path, keras: Any) -> None:
    keras.config.set_image_data_format("channels_first")
    try:
        (dataset,) = call(tgl.image_dataset_from_directory, two, labels=None)
    finally:
        keras.config.set_image_data_format("channels_last")
    assert dataset.element_spec.shape.as_list() == [None, 3, 37, 28]


def test_file_names_that_are_not_text(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)
    path = folder + b"/\xff.jpg"
    Image.new("L", (8, 8), 9).save(tmp_path / "x.jpg", quality=100)
    shutil.move(os.fsencode(tmp_path / "x.jpg"), path)
    dataset = tgl.image_dataset_from_directory(tmp_path, image_size=(8, 8), verbose=False)
    assert [os.fsencode(name) for name in dataset.file_paths] == [path]
    assert [os.fsencode(name) for name in dataset.class_names] == [b"caf\xe9"]
    assert levels(next(iter(dataset))[0].numpy()) == [9]


def loaders() -> list[weakref.ref[tgl.ImageLoader]]:
    gc.collect()
    return [weakref.ref(one) for one in gc.get_objects() if isinstance(one, tgl.ImageLoader)]


def test_what_is_built_on_the_data_set_keeps_it_alive(flat: Path, tf: Any) -> None:
    before = {id(one()) for one in loaders()}
    (dataset,) = shuffled(flat, shuffle=False)
    dataset = dataset.map(lambda images, labels: (images + 1, labels), num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.unbatch().batch(9).prefetch(tf.data.AUTOTUNE)
    mine = [one for one in loaders() if id(one()) not in before]
    assert len(mine) == 1
    for _ in range(2):
        images, _ = pictures.join(dataset)
        assert levels(images) == list(range(1, 41))
    iterator = iter(dataset)
    next(iterator)
    del dataset
    gc.collect()
    assert len(list(iterator)) == 4
    del iterator
    gc.collect()
    assert mine[0]() is None


def test_keras_trains_and_validates(two: Path, keras: Any) -> None:
    training, validation = call(
        tgl.image_dataset_from_directory, two, label_mode="binary", subset="both", validation_split=0.25, seed=1
    )
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.layers.AveragePooling2D(8), keras.layers.Flatten(), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    history = model.fit(training, validation_data=validation, epochs=2, verbose=0, shuffle=False)
    assert {name: len(values) for name, values in history.history.items()} == {"loss": 2, "val_loss": 2}
    images, labels = pictures.join(validation)
    error = float(np.mean((model.predict_on_batch(images) - labels) ** 2))
    assert error == pytest.approx(history.history["val_loss"][-1], rel=1e-4)


def test_importing_the_package_imports_no_tensorflow() -> None:
    code = "import sys, tfgoloader; sys.exit(bool({'tensorflow', 'keras'} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", code], check=True)
