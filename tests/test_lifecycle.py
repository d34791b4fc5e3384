"""A loader from its making to its end, in every order that a training script may bring."""

import copy
import ctypes
import gc
import os
import pickle
import threading
import time

import numpy as np
import pytest
from flat import SIZE, flat_pictures, levels
from pictures import photograph
from PIL import Image

import tfgoloader as tgl
from tfgoloader import ops

COUNT, BATCH = 24, 4


def write(path, pixels):
    Image.fromarray(pixels).save(path)
    return path


@pytest.fixture(scope="module")
def flat(tmp_path_factory):
    return flat_pictures(tmp_path_factory.mktemp("flat"), COUNT)


@pytest.fixture(scope="module")
def textured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("textured")
    return [write(folder / f"{i}.jpg", photograph(40 + i, 60 - i, seed=i)) for i in range(12)]


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A picture that takes milliseconds to decode."""
    return write(tmp_path_factory.mktemp("large") / "large.jpg", photograph(1500, 1500, seed=1))


def flat_loader(paths, labels=range(COUNT), **options):
    return tgl.ImageLoader(tgl.sources.Paths(paths, labels), [ops.CenterCrop(SIZE, SIZE)], batch_size=BATCH, **options)


def seen(batches):
    """Return the labels, in order, of batches whose pictures are those of the labels."""
    labels = []
    for images, batch_labels in batches:
        assert levels(images) == batch_labels.tolist()
        labels += batch_labels.tolist()
    return labels


def textured_loader(paths):
    return tgl.ImageLoader(
        tgl.sources.Paths(paths, range(len(paths))),
        [ops.RandomCrop(16, 16), ops.RandomFlip()],
        batch_size=5,
        shuffle=True,
        seed=3,
    )


def assert_same_epoch(batches, expected):
    batches, expected = list(batches), list(expected)
    assert len(batches) == len(expected)
    for (images, labels), (expected_images, expected_labels) in zip(batches, expected, strict=True):
        np.testing.assert_array_equal(images, expected_images)
        np.testing.assert_array_equal(labels, expected_labels)


class TestCopies:
    @pytest.mark.parametrize("copied", [pickle.dumps, copy.deepcopy])
    @pytest.mark.parametrize("part", [lambda loader: loader, iter, lambda loader: loader._source])
    def test_what_lives_in_the_process_is_not_copied(self, flat, part, copied):
        with flat_loader(flat) as loader:
            with pytest.raises(TypeError, match="cannot be pickled or copied"):
                copied(part(loader))
            assert seen(loader)

    @pytest.mark.parametrize("copied", [copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch))])
    def test_batches_are_copied(self, flat, copied):
        with flat_loader(flat) as loader:
            for batch in loader:
                assert_same_epoch([copied(batch)], [batch])


class TestEpochs:
    def test_early_break_leaves_the_next_epoch_as_it_is(self, textured):
        whole = textured_loader(textured)
        first, second = list(whole), list(whole)
        broken = textured_loader(textured)
        for batch in broken:
            assert_same_epoch([batch], first[:1])
            break
        assert_same_epoch(broken, second)

    def test_early_break_of_a_dataset(self, flat, tf):
        loader = flat_loader(flat, shuffle=True, seed=2)
        dataset = loader.as_dataset()
        for _ in dataset:
            break
        epoch = seen((images.numpy(), labels.numpy()) for images, labels in dataset)
        reference = flat_loader(flat, shuffle=True, seed=2)
        list(reference)
        assert epoch == seen(reference)

    def test_several_iterators_at_once_are_epochs_of_their_own(self, textured):
        whole = textured_loader(textured)
        expected = [list(whole) for _ in range(3)]
        loader = textured_loader(textured)
        iterators = [iter(loader) for _ in range(3)]
        rounds = [[next(iterator) for iterator in iterators] for _ in range(len(loader))]
        for epoch, batches in zip(expected, zip(*rounds, strict=True), strict=True):
            assert_same_epoch(batches, epoch)
        assert all(next(iterator, None) is None for iterator in iterators)

    def test_an_iterator_stays_at_its_end(self, flat):
        iterator = iter(flat_loader(flat))
        assert seen(iterator) == list(range(COUNT))
        assert list(iterator) == []

    def test_two_loaders_interleaved(self, flat):
        train = flat_loader(flat, shuffle=True, seed=1)
        validation = flat_loader(flat[:8], range(8))
        train_labels = []
        for batch in train:
            train_labels += seen([batch])
            assert seen(validation) == list(range(8))
        assert sorted(train_labels) == list(range(COUNT))

    @pytest.mark.parametrize("num_workers", [1, 3])
    def test_threads_share_an_iterator(self, flat, num_workers):
        iterator = iter(flat_loader(flat * 5, list(range(COUNT)) * 5, num_workers=num_workers))
        taken = [[] for _ in range(4)]
        threads = [threading.Thread(target=lambda part=part: part.extend(iterator)) for part in taken]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        labels = [label for part in taken for label in seen(part)]
        assert sorted(labels) == sorted(list(range(COUNT)) * 5)

    def test_every_thread_has_an_epoch(self, flat):
        loader = flat_loader(flat, shuffle=True, seed=1)
        taken = [[] for _ in range(4)]
        threads = [threading.Thread(target=lambda part=part: part.extend(loader)) for part in taken]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        orders = [seen(part) for part in taken]
        assert all(sorted(order) == list(range(COUNT)) for order in orders)
        assert len(set(map(tuple, orders))) == 4


class TestClose:
    def test_close_ends_every_use_but_arrays_stay(self, flat):
        loader = flat_loader(flat)
        iterator = iter(loader)
        images, labels = next(iterator)
        loader.close()
        loader.close()
        for use in (lambda: iter(loader), lambda: next(iterator), loader.stats, lambda: list(loader)):
            with pytest.raises(tgl.TfGoLoaderError, match="closed") as caught:
                use()
            assert type(caught.value) is tgl.TfGoLoaderError
        assert seen([(images, labels)]) == [0, 1, 2, 3]
        assert len(loader) == COUNT // BATCH  # what needs no worker is still known
        assert loader.num_samples == COUNT

    def test_with_closes_also_on_an_error(self, flat):
        loader = flat_loader(flat)
        with pytest.raises(ZeroDivisionError), loader:
            raise ZeroDivisionError
        with pytest.raises(tgl.TfGoLoaderError, match="closed"):
            iter(loader)

    def test_close_wakes_a_thread_that_waits(self, endless):
        loader = endless()
        iterator, errors = iter(loader), []

        def wait():
            try:
                next(iterator)
            except tgl.TfGoLoaderError as error:
                errors.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        while not loader.stats()["images"]:
            time.sleep(0.001)
        loader.close()
        thread.join(timeout=60)
        assert not thread.is_alive()
        assert [type(error) for error in errors] == [tgl.TfGoLoaderError]

    def test_closing_one_loader_leaves_the_other(self, flat):
        one, other = flat_loader(flat), flat_loader(flat)
        iterator = iter(other)
        first = next(iterator)
        one.close()
        assert seen([first, *iterator]) == list(range(COUNT))

    def test_closed_loader_in_a_dataset(self, flat, tf):
        loader = flat_loader(flat)
        dataset = loader.as_dataset()
        kept = list(dataset)
        loader.close()
        with pytest.raises(tf.errors.OpError, match="TfGoLoaderError: the loader is closed"):
            next(iter(dataset))
        assert seen((images.numpy(), labels.numpy()) for images, labels in kept) == list(range(COUNT))


@pytest.fixture
def endless(large):
    """A maker of loaders whose first batch takes minutes."""
    source = tgl.sources.Paths([large] * 50_000)

    def make():
        return tgl.ImageLoader(source, [ops.CenterCrop(8, 8)], batch_size=50_000, dtype="uint8", num_workers=1)

    return make


class Watch:
    """Tells whether a file was opened, by any thread."""

    IN_OPEN = 0x20

    def __init__(self, path):
        libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if libc.inotify_add_watch(self._descriptor, os.fsencode(path), self.IN_OPEN) < 0:
            raise OSError(ctypes.get_errno(), "inotify_add_watch")

    def opened(self):
        """Return whether it was opened since the last call."""
        try:
            return len(os.read(self._descriptor, 4096)) > 0
        except BlockingIOError:
            return False

    def close(self):
        os.close(self._descriptor)


def resident():
    """Return the bytes of memory that this process holds."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


class TestGarbage:
    SAMPLES = 50_000

    @pytest.fixture
    def watch(self, flat):
        watch = Watch(flat[0])
        yield watch
        watch.close()

    def busy_loader(self, path):
        """Return a loader that prepares two epochs of one file, far ahead of its user."""
        source = tgl.sources.Paths([path] * self.SAMPLES)
        return tgl.ImageLoader(
            source, [ops.CenterCrop(SIZE, SIZE)], batch_size=500, prefetch=200, dtype="uint8", num_workers=1
        )

    @pytest.mark.parametrize("in_a_cycle", [False, True])
    def test_a_dropped_loader_reads_no_more(self, flat, watch, in_a_cycle):
        loader = self.busy_loader(flat[0])
        iterator = iter(loader)
        next(iterator)
        assert watch.opened()
        if in_a_cycle:
            loader.itself = loader
        assert loader.stats()["images"] < self.SAMPLES  # it is still at work
        del loader, iterator
        gc.collect()
        watch.opened()
        # The other loader's work takes time in which the dropped one, were it alive, would go on.
        assert sum(len(images) for images in self.busy_loader(flat[1])) == self.SAMPLES
        assert not watch.opened()

    def test_an_iterator_keeps_its_loader(self, flat):
        iterator = iter(flat_loader(flat))
        gc.collect()
        assert seen(iterator) == list(range(COUNT))

    def test_a_dropped_iterator_ends_its_epoch(self, flat):
        loader = self.busy_loader(flat[0])
        next(iter(loader))
        images = loader.stats()["images"]
        assert images < self.SAMPLES
        assert sum(len(images) for images in self.busy_loader(flat[1])) == self.SAMPLES
        assert loader.stats()["images"] <= images + 1  # the worker may have been at one

    def test_memory_comes_back(self, textured):
        source = tgl.sources.Paths([textured[0]] * 2_000)
        options = {"batch_size": 100, "prefetch": 9, "num_workers": 2}
        before = resident()
        loader = tgl.ImageLoader(source, [ops.CenterCrop(40, 60)], **options)
        batch_bytes = 100 * 40 * 60 * 3 * 4
        kept = next(iter(loader))
        iterator = iter(loader)
        while loader.stats()["queue_depth"] < options["prefetch"]:
            time.sleep(0.001)
        grown = resident()
        assert grown - before > 8 * batch_bytes
        del loader, iterator
        gc.collect()
        assert resident() - before < 4 * batch_bytes  # the batch that is kept, and what Go's heap holds
        assert kept.shape == (100, 40, 60, 3)
        np.testing.assert_array_equal(kept, np.broadcast_to(kept[:1], kept.shape))


@pytest.fixture(scope="module")
def level_model(keras):
    """A model that gives the level of a flat picture, and learns nothing: its loss is |level - label|."""
    keras.utils.set_random_seed(1)
    mean = keras.layers.Dense(1, use_bias=False, kernel_initializer=keras.initializers.Constant(1 / 3))
    layers = [keras.layers.Input((SIZE, SIZE, 3)), keras.layers.GlobalAveragePooling2D(), mean]
    model = keras.Sequential(layers)
    model.compile(optimizer=keras.optimizers.SGD(0.0), loss="mae")
    return model


class TestTrainingLoop:
    def test_exception_in_a_numpy_loop(self, flat):
        loader = flat_loader(flat, shuffle=True, seed=5)
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):  # noqa: PT012
                for _images, _labels in loader:
                    raise ZeroDivisionError
            assert sorted(seen(loader)) == list(range(COUNT))

    def test_fit_goes_on_after_an_exception_in_a_callback(self, flat, level_model, keras):
        class Raise(keras.callbacks.Callback):
            def on_train_batch_end(self, batch, logs=None):
                if batch == 1:
                    raise ZeroDivisionError

        loader = flat_loader(flat, shuffle=True, seed=5)
        dataset = loader.as_dataset()
        with pytest.raises(ZeroDivisionError):
            level_model.fit(dataset, epochs=2, verbose=0, shuffle=False, callbacks=[Raise()])
        # The labels are the levels, so pictures and labels belong together still.
        history = level_model.fit(dataset, epochs=2, verbose=0, shuffle=False).history
        np.testing.assert_allclose(history["loss"], 0, atol=1e-4)
        assert sorted(seen(loader)) == list(range(COUNT))

    def test_validation_between_epochs(self, flat, level_model):
        train = flat_loader(flat, shuffle=True, seed=5)
        validation = flat_loader(flat, np.arange(COUNT) + 10)
        data = {"x": train.as_dataset(), "validation_data": validation.as_dataset()}
        history = level_model.fit(**data, epochs=3, verbose=0, shuffle=False).history
        np.testing.assert_allclose(history["loss"], np.zeros(3), atol=1e-4)
        np.testing.assert_allclose(history["val_loss"], np.full(3, 10), atol=1e-4)
        assert validation.stats()["batches"] == 3 * len(validation)
