"""ops.Python(batched=True) gives what the same function gives by hand of whole batches."""

import gc

import functions
import numpy as np
import pictures
import pytest
from PIL import Image
from test_python_op import first_cause, save

import tfgoloader as tgl
from tfgoloader import ops

COUNT, SEED, BATCH = 13, 5, 4
HEIGHT, WIDTH = 20, 26
CROP = ops.RandomCrop(HEIGHT, WIDTH)
EXECUTORS = ("thread", "process")


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Pictures of different sizes."""
    return pictures.write_photographs(tmp_path_factory.mktemp("pictures"), COUNT, 30, 50)


def open_loader(paths, pipeline, **options):
    source = options.pop("source", None) or tgl.sources.Paths(paths, range(len(paths)))
    return tgl.ImageLoader(source, pipeline, **{"batch_size": BATCH, "seed": SEED, "shuffle": True, **options})


def epochs(paths, pipeline, count=2, **options):
    """Return the batches of so many epochs."""
    with open_loader(paths, pipeline, **options) as loader:
        return [list(loader) for _ in range(count)]


def same(ours, expected):
    """Compare elements of loaders."""
    if isinstance(ours, (tuple, list)):
        for one, other in zip(ours, expected, strict=True):
            same(one, other)
    elif isinstance(ours, dict):
        assert ours.keys() == expected.keys()
        for name in ours:
            same(ours[name], expected[name])
    else:
        np.testing.assert_array_equal(ours, expected, strict=True)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_images_labels_and_random_numbers(paths, executor):
    """Against the same function called with the batches of a loader without it, for any number of workers."""
    pipeline = [CROP, ops.Rescaling(1 / 127.5, offset=-1)]
    plain = epochs(paths, pipeline)
    expected = []
    for number, epoch in enumerate(plain):
        rngs = [np.random.default_rng([SEED, number, batch, len(pipeline)]) for batch in range(len(epoch))]
        expected.append(
            [
                tuple(functions.swap(images, labels, rng).values())
                for (images, labels), rng in zip(epoch, rngs, strict=True)
            ]
        )
    assert not np.array_equal(plain[0][0][0], expected[0][0][0])
    for workers in (1, 3):
        function = ops.Python(functions.swap, executor, workers=workers, batched=True)
        same(epochs(paths, [*pipeline, function], num_workers=workers), expected)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float16", "bfloat16"])
@pytest.mark.parametrize("executor", EXECUTORS)
def test_other_dtypes_and_layouts(paths, executor, dtype):
    options = {"dtype": dtype, "data_format": "channels_first", "channels": 1}
    plain = epochs(paths, [CROP], count=1, **options)
    expected = [[(images[..., ::-1], labels) for images, labels in epoch] for epoch in plain]
    ours = epochs(paths, [CROP, ops.Python(functions.mirror, executor, batched=True)], count=1, **options)
    same(ours, expected)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_masks_and_boxes(paths, tmp_path, executor):
    masks = []
    for index, path in enumerate(paths):
        height, width = np.asarray(Image.open(path)).shape[:2]
        masks.append(save(tmp_path / f"{index}.png", np.arange(height * width).reshape(height, width).astype(np.uint8)))
    boxes = [[(2, 3, 20, 30)] * (index % 3) for index in range(COUNT)]
    labels = [[index] * (index % 3) for index in range(COUNT)]
    source = tgl.sources.Paths(paths, range(COUNT), masks=masks, boxes=boxes, box_labels=labels)
    plain = epochs(paths, [CROP], source=source)
    ours = epochs(paths, [CROP, ops.Python(functions.mirror_all, executor, batched=True)], source=source)
    for epoch, others in zip(ours, plain, strict=True):
        for (images, targets), (before, old) in zip(epoch, others, strict=True):
            np.testing.assert_array_equal(images, before[:, :, ::-1])
            np.testing.assert_array_equal(targets["segmentation_masks"], old["segmentation_masks"][:, :, ::-1])
            np.testing.assert_array_equal(targets["labels"], old["labels"] + 1)
            found, was = targets["bounding_boxes"], old["bounding_boxes"]
            np.testing.assert_array_equal(found["boxes"][..., 0], WIDTH - was["boxes"][..., 2])
            np.testing.assert_array_equal(found["labels"], was["labels"] * 2)
            np.testing.assert_array_equal(found["count"], was["count"])


def test_before_between_and_after_mixing(paths):
    """Each gets what those before it made."""

    def halve(image, label):
        assert label.shape == (len(image), COUNT)
        image *= 0.5
        return image

    mixing = [ops.MixUp(0.4), ops.CutMix()]
    rows = {"labels": ops.OneHot(COUNT), "drop_remainder": True}
    plain = epochs(paths, [CROP, *mixing], **rows)
    for place in range(3):
        pipeline = [CROP, *mixing]
        pipeline.insert(1 + place, ops.Python(halve, batched=True))
        ours = epochs(paths, pipeline, **rows)
        if place == 2:  # random numbers of what comes after a place are those of another place
            same(ours, [[(images / 2, labels) for images, labels in epoch] for epoch in plain])
        for epoch in ours:
            assert all(images.max() <= 128 and np.allclose(labels.sum(axis=1), 1) for images, labels in epoch)


def test_after_other_functions_and_padded(paths):
    """The last batch is given without its padding."""
    sizes = []

    def count(image):
        sizes.append(len(image))
        return 255 - image

    pipeline = [CROP, ops.Python(functions.jitter), ops.Python(count, workers=1, batched=True)]
    ours = epochs(paths, pipeline, dtype="uint8", pad_last=True, count=1)[0]
    plain = epochs(paths, pipeline[:2], dtype="uint8", pad_last=True, count=1)[0]
    assert set(sizes) == {1, 4}
    for (images, labels, weights), (before, same_labels, same_weights) in zip(ours, plain, strict=True):
        there = same_weights > 0
        np.testing.assert_array_equal(images[there], 255 - before[there])
        assert not images[~there].any()
        same((labels, weights), (same_labels, same_weights))


def test_what_a_thread_is_given_is_the_batch_itself(paths):
    """No copy is made, and an array that is kept stays as the batch is."""
    kept = []

    def keep(image):
        kept.append(image)
        return image

    with open_loader(paths, [CROP, ops.Python(keep, batched=True, workers=1)], num_workers=1) as loader:
        batches = list(loader)
    addresses = {image.ctypes.data: image.copy() for image in kept}
    for images, _ in batches:
        np.testing.assert_array_equal(addresses[images.ctypes.data], images)
    del batches, loader, images
    gc.collect()
    for image in kept:
        np.testing.assert_array_equal(image, addresses[image.ctypes.data])


class TestErrors:
    @pytest.mark.parametrize("policy", ["raise", "skip", "replace"])
    @pytest.mark.parametrize("executor", EXECUTORS)
    def test_an_exception_takes_the_place_of_its_batch(self, paths, executor, policy):
        pipeline = [CROP, ops.Python(functions.refuse_batch_of_five, executor, batched=True)]
        with open_loader(paths, pipeline, shuffle=False, on_error=policy) as loader:
            iterator = iter(loader)
            assert next(iterator)[1].tolist() == [0, 1, 2, 3]
            with pytest.raises(functions.Refused) as caught:
                next(iterator)
            if hasattr(caught.value, "__notes__"):
                assert caught.value.__notes__[-1] == "in a function of ops.Python, with batch 1 of epoch 0"
            else:
                assert "batch 1 of epoch 0" in str(first_cause(caught.value))
            assert [labels.tolist() for _, labels in iterator] == [[8, 9, 10, 11], [12]]
            assert not loader.stats()["bad_files"]

    def test_a_process_that_dies(self, paths):
        pipeline = [CROP, ops.Python(functions.kill_at_batch_of_five, "process", workers=1, batched=True)]
        with open_loader(paths, pipeline, shuffle=False) as loader:
            iterator = iter(loader)
            next(iterator)
            with pytest.raises(tgl.FunctionError, match=r"batch 1 of epoch 0.*lost its process.*SIGKILL") as caught:
                next(iterator)
            assert (caught.value.path, caught.value.index) == ("batch 1 of epoch 0", None)
            assert len(list(iterator)) == 2

    @pytest.mark.parametrize(
        ("result", "error", "text"),
        [
            (lambda image: image.astype(float), TypeError, "returned float64 for the image, expected float32"),
            (lambda image: image[:2], ValueError, rf"returned shape \(2, {HEIGHT}, {WIDTH}, 3\) for the image"),
            (lambda image: {"image": image, "label": 0}, ValueError, "returned 'label', which it was not given"),
        ],
        ids=["dtype", "shape", "unknown"],
    )
    def test_wrong_results(self, paths, result, error, text):
        with (
            open_loader(paths, [CROP, ops.Python(result, batched=True)]) as loader,
            pytest.raises(error, match=text),
        ):
            next(iter(loader))

    def test_wrong_arguments(self, paths):
        function = ops.Python(functions.mirror, batched=True)
        with pytest.raises(tgl.ConfigError, match=r"Python\.output_shape=.*None with batched=True"):
            ops.Python(functions.mirror, batched=True, output_shape=(8, 8))
        with pytest.raises(tgl.ConfigError, match=r"Python\.batched=3"):
            ops.Python(functions.mirror, batched=3)
        with pytest.raises(tgl.ConfigError, match="which is for whole batches, after the operations on pictures"):
            open_loader(paths, [CROP, function, ops.RandomFlip()])
        with pytest.raises(tgl.ConfigError, match="views=2"):
            open_loader(paths, [CROP, function], views=2)
        with pytest.raises(tgl.ConfigError, match="needs no 'mask'"):
            open_loader(paths, [CROP, ops.Python(lambda image, mask: image, batched=True)])


def test_the_monitor_names_it(paths, keras):
    model = keras.Sequential([keras.layers.Input((HEIGHT, WIDTH, 3)), keras.layers.Flatten(), keras.layers.Dense(1)])
    model.compile(loss="mse")
    monitor = tgl.callbacks.InputMonitor()
    with open_loader(paths, [CROP, ops.Python(functions.mirror, batched=True)]) as loader:
        model.fit(loader.as_keras(), epochs=2, verbose=0, callbacks=[monitor])
    assert monitor.total.functions["mirror"] > 0
    assert monitor.total.threaded == {"mirror"}


def test_stats_and_what_goes_without(paths):
    with open_loader(paths, [CROP, ops.Python(functions.mirror, batched=True)]) as loader:
        list(loader)
        about = loader.stats()["functions"]["mirror"]
        assert (about["position"], about["calls"] >= 4) == (1, True)
        assert loader.preview(4).dtype == np.uint8
        with open_loader(paths, [CROP]) as plain:
            np.testing.assert_array_equal(loader.replay(0, 2).after, plain.replay(0, 2).after)
        with pytest.raises(tgl.ConfigError, match="cannot be written down"):
            _ = loader.spec
