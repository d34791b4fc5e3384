"""ops.Python gives what the same function gives by hand, in any number of threads, and what it raises arrives."""

import gc
import signal
import subprocess
import threading
import time
import weakref

import cv2
import functions
import numpy as np
import pictures
import pytest
from PIL import Image
from processes import command, run

import tfgoloader as tgl
from tfgoloader import ops

COUNT, SEED = 12, 11
HEIGHT, WIDTH = 30, 34


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Pictures of different sizes, in files that lose nothing."""
    return pictures.write_photographs(tmp_path_factory.mktemp("pictures"), COUNT)


def save(path, picture):
    Image.fromarray(picture).save(path)
    return path


def open_loader(paths, pipeline, **options):
    source = options.pop("source", None) or tgl.sources.Paths(paths, range(len(paths)))
    return tgl.ImageLoader(source, pipeline, **{"batch_size": 5, "seed": SEED, **options})


def load(paths, pipeline, epochs=1, **options):
    """Return the pictures of so many epochs."""
    with open_loader(paths, pipeline, **options) as loader:
        return np.concatenate([images for _ in range(epochs) for images, *_ in loader])


def generator(epoch, index, position):
    return np.random.default_rng([SEED, epoch, index, position])


class TestPixels:
    def test_between_other_operations(self, paths, tmp_path):
        before = load(paths, [ops.RandomCrop(HEIGHT, WIDTH)], dtype="uint8")
        changed = [functions.jitter(image, generator(0, index, 1)) for index, image in enumerate(before)]
        files = [save(tmp_path / f"{index:02}.png", image) for index, image in enumerate(changed)]
        rest = [ops.RandomFlip("horizontal"), ops.RandomBrightness(0.4), ops.Rescaling(1 / 127.5, offset=-1)]
        crop = ops.CenterCrop(HEIGHT, WIDTH)
        by_hand = load(files, [crop, crop, *rest])
        ours = load(paths, [ops.RandomCrop(HEIGHT, WIDTH), ops.Python(functions.jitter), *rest])
        np.testing.assert_array_equal(ours, by_hand)

    def test_whole_pictures_of_any_size(self, paths):
        def shrink(image):
            return cv2.resize(image, (24, 20), interpolation=cv2.INTER_AREA)

        ours = load(paths, [ops.Python(shrink, output_shape=(20, 24))], dtype="uint8")
        by_hand = [shrink(np.asarray(Image.open(path))) for path in paths]
        np.testing.assert_array_equal(ours, by_hand)

    def test_whole_pictures_that_keep_their_size(self, paths):
        def mirror(image):
            return image[:, ::-1]

        ours = load(paths, [ops.Python(mirror), ops.RandomCrop(HEIGHT, WIDTH)], dtype="uint8")
        for index, image in enumerate(ours):
            assert pictures.find_window(image, np.asarray(Image.open(paths[index]))[:, ::-1])

    @pytest.mark.parametrize("channels", [1, 4])
    def test_other_channels(self, paths, channels):
        ours = load(paths, [ops.CenterCrop(8, 9), ops.Python(invert)], dtype="uint8", channels=channels)
        plain = load(paths, [ops.CenterCrop(8, 9)], dtype="uint8", channels=channels)
        np.testing.assert_array_equal(ours, 255 - plain)

    def test_floats(self, paths):
        scaled = [ops.RandomCrop(HEIGHT, WIDTH), ops.Rescaling(1 / 127.5, offset=-1)]

        def squared(image):
            assert image.dtype == np.float32
            image *= image
            return image

        ours = load(paths, [*scaled, ops.Python(squared)])
        np.testing.assert_array_equal(ours, np.square(load(paths, scaled)))

    def test_several_functions(self, paths):
        def halves(image):
            return image // 2

        def cut(image):
            return image[:9, 2:13]

        crop, last = ops.RandomCrop(HEIGHT, WIDTH), ops.Python(cut, output_shape=(9, 11))
        ours = load(paths, [ops.Python(invert), crop, ops.Python(halves), last])
        assert ours.shape == (COUNT, 9, 11, 3)
        for index, image in enumerate(ours.astype(np.uint8)):
            assert pictures.find_window(image, (255 - np.asarray(Image.open(paths[index]))) // 2)

    def test_any_number_of_threads_and_another_epoch(self, paths):
        def epochs(**options):
            workers = options.pop("workers")
            pipeline = [ops.RandomCrop(HEIGHT, WIDTH), ops.Python(functions.jitter, workers=workers)]
            return load(paths, pipeline, epochs=2, dtype="uint8", shuffle=True, **options)

        first = epochs(workers=1, num_workers=1)
        np.testing.assert_array_equal(epochs(workers=5, num_workers=2), first)
        np.testing.assert_array_equal(epochs(workers=2, num_workers=4, batch_size=4, prefetch=0), first)
        assert not np.array_equal(np.sort(first[:COUNT], axis=0), np.sort(first[COUNT:], axis=0))

    def test_views(self, paths):
        pipeline = [ops.RandomCrop(HEIGHT, WIDTH), ops.Python(functions.jitter)]
        with open_loader(paths, pipeline, views=2, dtype="uint8") as loader:
            views, _ = next(iter(loader))
        alone = load(paths, pipeline, dtype="uint8")
        np.testing.assert_array_equal(views[0], alone[:5])
        assert not np.array_equal(views[0], views[1])


def invert(image):
    return 255 - image


@pytest.fixture(scope="module")
def source(paths, tmp_path_factory):
    folder = tmp_path_factory.mktemp("masks")
    sizes = [np.asarray(Image.open(path)).shape[:2] for path in paths]
    masks = [
        save(folder / f"{i:02}.png", np.arange(h * w).reshape(h, w).astype(np.uint8)) for i, (h, w) in enumerate(sizes)
    ]
    boxes = [[(2, 3, 20, 30), (5, 5, 6 + i, 9)] for i in range(COUNT)]
    labels = [[i, 100 + i] for i in range(COUNT)]
    return tgl.sources.Paths(paths, range(COUNT), masks=masks, boxes=boxes, box_labels=labels)


class TestTargets:
    def test_all_of_them(self, paths, source):
        """Against the same by hand on what comes out without the function."""

        def mirror(image, mask, boxes, box_labels, label):
            moved = boxes.copy()
            moved[:, [0, 2]] = image.shape[1] - boxes[:, [2, 0]]
            return {
                "image": image[:, ::-1],
                "mask": mask[:, ::-1],
                "boxes": moved[::-1],
                "box_labels": box_labels[::-1],
                "label": 2 * label,
            }

        crop = ops.RandomCrop(HEIGHT, WIDTH)
        with open_loader(paths, [crop], source=source, dtype="uint8") as loader:
            plain = list(loader)
        with open_loader(paths, [crop, ops.Python(mirror)], source=source, dtype="uint8") as loader:
            ours = list(loader)
        for (images, targets), (changed, moved) in zip(plain, ours, strict=True):
            np.testing.assert_array_equal(changed, images[:, :, ::-1])
            np.testing.assert_array_equal(moved["segmentation_masks"], targets["segmentation_masks"][:, :, ::-1])
            np.testing.assert_array_equal(moved["labels"], 2 * targets["labels"])
            before, after = targets["bounding_boxes"], moved["bounding_boxes"]
            np.testing.assert_array_equal(after["count"], before["count"])
            for row, count in enumerate(before["count"]):
                flipped = before["boxes"][row, :count][::-1].copy()
                flipped[:, [0, 2]] = WIDTH - flipped[:, [2, 0]]
                np.testing.assert_array_equal(after["boxes"][row, :count], flipped)
                np.testing.assert_array_equal(after["labels"][row, :count], before["labels"][row, :count][::-1])

    def test_what_is_not_returned_stays_and_goes_on(self, paths, source):
        def look(image, mask, boxes):
            assert mask.shape == image.shape[:2]
            assert boxes.shape[1] == 4
            return image

        pipeline = [ops.RandomCrop(HEIGHT, WIDTH), ops.Python(look), ops.RandomFlip("horizontal")]
        without = [ops.RandomCrop(HEIGHT, WIDTH), ops.CenterCrop(HEIGHT, WIDTH), ops.RandomFlip("horizontal")]
        with open_loader(paths, pipeline, source=source) as ours, open_loader(paths, without, source=source) as plain:
            for (changed, moved), (images, targets) in zip(ours, plain, strict=True):
                np.testing.assert_array_equal(changed, images)
                np.testing.assert_array_equal(moved["segmentation_masks"], targets["segmentation_masks"])
                np.testing.assert_array_equal(moved["bounding_boxes"]["count"], targets["bounding_boxes"]["count"])
                np.testing.assert_allclose(
                    moved["bounding_boxes"]["boxes"], targets["bounding_boxes"]["boxes"], atol=1e-4
                )

    def test_another_size_needs_all_of_them(self, paths, source):
        with pytest.raises(tgl.ConfigError, match="has to change the masks and boxes"):
            open_loader(paths, [ops.Python(invert, output_shape=(8, 8))], source=source)

        def forgets(image, mask, boxes):
            return {"image": image[:8, :8], "boxes": boxes}

        with (
            open_loader(paths, [ops.Python(forgets, output_shape=(8, 8))], source=source) as loader,
            pytest.raises(ValueError, match="has to return 'mask'"),
        ):
            next(iter(loader))

    def test_a_label_outside_the_classes(self, paths):
        def relabel(image, label):
            return {"label": label + 1}

        pipeline = [ops.CenterCrop(8, 8), ops.Python(relabel)]
        with open_loader(paths, pipeline, labels=ops.OneHot(COUNT), batch_size=4) as loader:
            iterator = iter(loader)
            _, labels = next(iterator)
            np.testing.assert_array_equal(labels, np.eye(COUNT)[1:5])
            next(iterator)
            with pytest.raises(tgl.FunctionError, match="the label 12 is outside the classes 0 to 11"):
                next(iterator)


class TestErrors:
    def test_an_exception_arrives_as_itself_and_the_next_batch_after_it(self, paths):
        with open_loader(paths, [ops.CenterCrop(8, 8), ops.Python(functions.refuse_five)], batch_size=4) as loader:
            iterator = iter(loader)
            next(iterator)
            with pytest.raises(functions.Refused) as caught:
                next(iterator)
            assert caught.value.label == 5
            assert said_of(caught.value) == (str(paths[5]), "5")
            assert next(iterator)[1].tolist() == [8, 9, 10, 11]

    @pytest.mark.parametrize("policy", ["skip", "replace"])
    def test_policies_treat_it_as_a_bad_file(self, paths, policy):
        pipeline = [ops.CenterCrop(8, 8), ops.Python(functions.refuse_five)]
        with open_loader(paths, pipeline, on_error=policy) as loader:
            with pytest.warns(UserWarning, match="1 bad file"):
                labels = [label for _, labels in loader for label in labels.tolist()]
            assert 5 not in labels
            assert len(labels) == COUNT - (policy == "skip")
            assert loader.stats()["bad_files"] == {str(paths[5]): "refuse_five: Refused: label 5 is refused"}

    def test_through_tensorflow(self, paths, tf):
        with open_loader(paths, [ops.CenterCrop(8, 8), ops.Python(functions.refuse_five)]) as loader:
            iterator = iter(loader.as_dataset())
            next(iterator)
            with pytest.raises(tf.errors.OpError, match="Refused"):
                next(iterator)

    @pytest.mark.parametrize(
        ("result", "error", "text"),
        [
            (lambda image: image / 2, TypeError, "returned float64 for the image, expected uint8"),
            (lambda image: image[1:], ValueError, r"returned shape \(7, 8, 3\) for the image, expected \(8, 8, 3\)"),
            (lambda image: None, TypeError, "returned object"),
            (lambda image: {"image": image, "mask": image}, ValueError, "returned 'mask', which it was not given"),
        ],
        ids=["dtype", "shape", "nothing", "unknown"],
    )
    def test_wrong_results(self, paths, result, error, text):
        with (
            open_loader(paths, [ops.CenterCrop(8, 8), ops.Python(result)]) as loader,
            pytest.raises(error, match=text),
        ):
            next(iter(loader))

    @pytest.mark.parametrize(
        ("make", "text"),
        [
            (lambda: ops.Python(3), r"Python\.fn=3"),
            (lambda: ops.Python(lambda: 0), "whose first argument is the picture"),
            (lambda: ops.Python(lambda image, angle: 0), "not angle"),
            (lambda: ops.Python(invert, executor="fiber"), "'thread' or 'process'"),
            (lambda: ops.Python(invert, workers=0), r"Python\.workers=0"),
            (lambda: ops.Python(invert, timeout=1.0), r"Python\.timeout=1\.0"),
            (lambda: ops.Python(invert, executor="process", timeout=0), r"Python\.timeout=0"),
            (lambda: ops.Python(invert, output_shape=(0, 4)), r"Python\.output_shape=0"),
            (lambda: ops.Python(invert, output_shape=7), r"Python\.output_shape=7"),
            (lambda: ops.RandomApply([ops.Python(invert)]), r"RandomApply\.ops"),
        ],
    )
    def test_wrong_arguments(self, make, text):
        with pytest.raises(tgl.ConfigError, match=text):
            make()

    @pytest.mark.parametrize(
        ("pipeline", "options", "text"),
        [
            ([ops.Python(invert)], {}, "the output size is not fixed"),
            ([ops.CenterCrop(8, 8), ops.Python(lambda image, mask: image)], {}, "needs no 'mask'"),
            ([ops.CenterCrop(8, 8), ops.Python(invert)], {"dtype": "uint16"}, "uint16"),
            (
                [ops.CenterCrop(8, 8), ops.Rescaling(2), ops.Python(invert)],
                {"data_format": "channels_first"},
                "channels_last",
            ),
            ([ops.CenterCrop(8, 8), ops.Rescaling(2), ops.Python(invert), ops.RandomFlip()], {}, "nothing comes after"),
            ([ops.CenterCrop(8, 8), ops.Rescaling(2), ops.Python(invert, output_shape=(4, 4))], {}, "changes the size"),
            ([ops.Python(invert, output_shape=(65535, 65535)), ops.CenterCrop(8, 8)], {}, "over max_pixels"),
        ],
    )
    def test_wrong_places(self, paths, pipeline, options, text):
        with pytest.raises(tgl.ConfigError, match=text):
            open_loader(paths, pipeline, **options)


def said_of(error):
    """Return the path and the index that a function's exception comes with."""
    if hasattr(error, "__notes__"):
        head, _, path = error.__notes__[-1].partition(": ")
        return path, head.split()[-1]
    first = first_cause(error)
    return first.path, str(first.index)


def first_cause(error):
    """Return where a chain of causes begins, which is what is noted before Python 3.11."""
    return first_cause(error.__cause__) if error.__cause__ else error


def test_stats_name_the_functions(paths):
    def sleep(image):
        time.sleep(0.01)
        return image

    pipeline = [ops.Python(invert), ops.CenterCrop(8, 8), ops.Python(sleep), ops.Python(invert)]
    with open_loader(paths, pipeline) as loader:
        for _ in loader:
            pass
        functions = loader.stats()["functions"]
    assert list(functions) == ["invert (ops[0])", "sleep", "invert (ops[3])"]
    sleeping = functions["sleep"]
    assert sleeping["position"] == 2
    assert sleeping["calls"] >= COUNT
    assert sleeping["seconds"] >= 0.01 * COUNT
    assert sleeping["cpu_seconds"] < sleeping["seconds"] / 2
    assert load(paths, [ops.CenterCrop(8, 8)]).any()


def threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("tfgoloader")]


def until(condition):
    """Wait until something is so; it is an error if that takes long."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def close_within_a_call(loader, entered, leave):
    """Close a loader whose function says that it was entered, and waits until it may leave."""
    iterator = iter(loader)
    assert entered.wait(60)
    closing = threading.Thread(target=loader.close)
    closing.start()
    with pytest.raises(tgl.TfGoLoaderError, match="closed"):
        next(iterator)
    assert closing.is_alive()
    leave.set()
    closing.join()


class TestEnd:
    PIPELINE = (ops.CenterCrop(8, 8), ops.Python(invert, workers=3))

    @pytest.fixture(autouse=True)
    def no_threads_of_before(self):
        until(lambda: not threads())

    def test_close_and_early_break(self, paths):
        loader = open_loader(paths, self.PIPELINE)
        for images, _ in loader:
            kept = images.copy()
            break
        assert threads()
        np.testing.assert_array_equal(images, kept)
        loader.close()
        assert not threads()
        with pytest.raises(tgl.TfGoLoaderError, match="closed"):
            iter(loader)

    def test_a_dropped_loader_is_collected(self, paths):
        loader = open_loader(paths, self.PIPELINE)
        next(iter(loader))
        gone = weakref.ref(loader)
        del loader
        gc.collect()
        assert gone() is None
        until(lambda: not threads())

    def test_a_dropped_loader_whose_function_failed_is_collected(self, paths):
        loader = open_loader(paths, [ops.CenterCrop(8, 8), ops.Python(functions.refuse_five)])
        gone = weakref.ref(loader)
        iterator = iter(loader)
        next(iterator)
        with pytest.raises(functions.Refused):
            next(iterator)
        del loader, iterator
        gc.collect()
        assert gone() is None

    def test_close_while_a_function_is_busy(self, paths):
        entered, leave = threading.Event(), threading.Event()

        def wait(image):
            entered.set()
            leave.wait(60)
            image[:] = 1  # the loader is closed; the memory is there
            return image

        close_within_a_call(open_loader(paths, [ops.CenterCrop(8, 8), ops.Python(wait)]), entered, leave)
        assert not threads()

    def test_arrays_that_a_function_keeps_stay_memory(self, paths):
        kept = []

        def keep(image):
            kept.append(image)
            return image

        load(paths, [ops.CenterCrop(8, 8), ops.Python(keep)])
        gc.collect()
        assert all(image.shape == (8, 8, 3) and image.sum() >= 0 for image in kept)

    def test_while_tensorflow_reads_ahead(self, paths, tf):
        loader = open_loader(paths, self.PIPELINE)
        for images, _ in loader.as_dataset().take(1):
            assert images.shape == (5, 8, 8, 3)
        loader.close()
        until(lambda: not threads())


BUSY = """
import sys, time
import tfgoloader as tgl
from tfgoloader import ops

def augment(image):
    print("busy\\n", end="", flush=True)  # in one piece, since threads print side by side
    time.sleep({seconds})
    return image

source = tgl.sources.Paths(sys.argv[1:])
loader = tgl.ImageLoader(source, [ops.CenterCrop(8, 8), ops.Python(augment)], num_workers=2)
iterator = iter(loader)
"""


def test_ctrl_c_while_a_function_is_busy(paths):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    start = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    script = start + BUSY.format(seconds=1) + "next(iterator)\n"
    with subprocess.Popen(command(script, *paths), **pipes) as process:
        assert process.stdout.readline() == "busy\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert errors.endswith("KeyboardInterrupt\n")
    assert process.returncode == -signal.SIGINT


@pytest.mark.parametrize("last", ["", "next(iterator)\n"], ids=["waiting", "iterating"])
def test_the_end_of_the_interpreter(paths, last):
    result = run(BUSY.format(seconds=0.001) + last, *paths)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_stop_iteration_is_not_the_end_of_the_epoch(paths):
    def exhausted(image):
        return next(iter(()))

    with open_loader(paths, [ops.CenterCrop(HEIGHT, WIDTH), ops.Python(exhausted)]) as loader:
        with pytest.raises(RuntimeError, match="StopIteration") as caught:
            list(loader)
        assert isinstance(caught.value.__cause__, StopIteration)


def test_what_has_no_workers_refuses_functions(paths):
    pipeline = [ops.CenterCrop(HEIGHT, WIDTH), ops.Python(functions.jitter)]
    with open_loader(paths, pipeline) as loader:
        with pytest.raises(tgl.ConfigError, match="cannot be written down"):
            _ = loader.spec
        with pytest.raises(tgl.ConfigError, match=r"replay is not for lists with .*jitter"):
            loader.replay(0, 0)
        assert next(iter(loader))[0].shape == (5, HEIGHT, WIDTH, 3)
