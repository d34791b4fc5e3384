"""Batches reach NumPy and TensorFlow without a copy, stay valid while anyone holds them, and are used again after."""

from __future__ import annotations

import gc
import os
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pictures
import pytest

import tfgoloader as tgl
from tfgoloader import ops
from tfgoloader._core import Header

HEADER = 64  # bytes before the images, see docs/abi.md
PIPELINE = [ops.RandomCrop(40, 48), ops.Rescaling(1 / 127.5, offset=-1)]


def loader_of(paths: list[Path], pipeline: list[ops.Op] = PIPELINE, **options: Any) -> tgl.ImageLoader:
    source = tgl.sources.Paths(paths, range(len(paths)))
    return tgl.ImageLoader(source, pipeline, **{"batch_size": 10, "shuffle": True, "seed": 5, **options})


def address_of(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def checksums(batch: Any) -> list[str]:
    return [pictures.checksum(np.asarray(part)) for part in batch]


@pytest.fixture
def slabs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The address of each slab, in the order in which the core hands them out."""
    addresses: list[int] = []
    make_arrays = tgl.ImageLoader._batch

    def record(loader: tgl.ImageLoader, address: int) -> Any:
        addresses.append(address)
        return make_arrays(loader, address)

    monkeypatch.setattr(tgl.ImageLoader, "_batch", record)
    return addresses


@pytest.fixture(params=["loader", "dataset"])
def batches_of(request: pytest.FixtureRequest) -> Callable[[tgl.ImageLoader], Any]:
    """What gives an epoch of batches each time it is iterated: the loader, or its data set."""
    if request.param == "loader":
        return lambda loader: loader
    request.getfixturevalue("tf")
    return lambda loader: loader.as_dataset()


def test_arrays_are_the_slab_itself(photographs: list[Path], slabs: list[int]) -> None:
    with loader_of(photographs) as loader:
        batches = list(loader)
    assert len(set(slabs)) == len(batches)  # all are held
    for (images, labels), slab in zip(batches, slabs, strict=True):
        assert address_of(images) == slab + HEADER
        assert address_of(labels) == slab + loader._element[1].offset
        assert address_of(labels) >= address_of(images) + images.nbytes


@pytest.mark.parametrize("options", [{}, {"labels": ops.OneHot(53)}, {"data_format": "channels_first"}], ids=str)
@pytest.mark.usefixtures("tf")
def test_tensors_are_the_slab_itself(photographs: list[Path], slabs: list[int], options: dict[str, Any]) -> None:
    with loader_of(photographs, **options) as loader:
        batches = list(loader.as_dataset())
    assert len(slabs) == len(batches) == 6
    for (images, labels), slab in zip(batches, slabs, strict=True):
        assert address_of(images._numpy()) == slab + HEADER
        assert address_of(labels._numpy()) == slab + loader._element[1].offset


@pytest.mark.usefixtures("tf")
def test_uint8_tensors_of_odd_sizes_are_the_slab_itself(photographs: list[Path], slabs: list[int]) -> None:
    with loader_of(photographs, [ops.RandomCrop(31, 33)], dtype="uint8", batch_size=7) as loader:
        batches = list(loader.as_dataset())
    assert [address_of(images._numpy()) for images, _ in batches] == [slab + HEADER for slab in slabs]


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize(("height", "width", "batch_size"), [(1, 1, 1), (3, 5, 7), (31, 33, 9), (16, 16, 4)])
def test_images_and_labels_are_aligned(
    photographs: list[Path], dtype: str, height: int, width: int, batch_size: int
) -> None:
    for labels in (None, ops.OneHot(53)):
        with loader_of(
            photographs, [ops.RandomCrop(height, width)], dtype=dtype, batch_size=batch_size, labels=labels
        ) as loader:
            parts = [part for batch in loader for part in batch]
        assert {address_of(part) % 64 for part in parts} == {0}
        assert all(part.flags.c_contiguous and part.flags.aligned for part in parts)


def test_every_batch_of_three_epochs_stays(
    photographs: list[Path], batches_of: Callable[[tgl.ImageLoader], Any], slabs: list[int]
) -> None:
    with loader_of(photographs, num_workers=3) as loader:
        source = batches_of(loader)
        held, at_arrival = [], []
        for _ in range(3):
            for batch in source:
                at_arrival.append(checksums(batch))
                held.append(batch)
        assert [checksums(batch) for batch in held] == at_arrival
        assert len(set(slabs)) == len(held) == 18
    assert len({images for images, _ in at_arrival}) == 18


@pytest.mark.usefixtures("tf")
def test_a_list_of_a_dataset_holds_what_numpy_sees(photographs: list[Path]) -> None:
    with loader_of(photographs) as loader:
        expected = [checksums(batch) for _ in range(3) for batch in loader]
    with loader_of(photographs) as loader:
        dataset = loader.as_dataset()
        held = [batch for _ in range(3) for batch in list(dataset)]
        assert [checksums(batch) for batch in held] == expected


@pytest.mark.parametrize("end", ["close", "del"])
def test_batches_outlive_their_loader(
    photographs: list[Path], batches_of: Callable[[tgl.ImageLoader], Any], end: str
) -> None:
    loader = loader_of(photographs)
    source = batches_of(loader)
    held = list(source)
    at_arrival = [checksums(batch) for batch in held]
    if end == "close":
        loader.close()
    del loader, source
    gc.collect()
    # What the loader gave back would be written over by others.
    for seed in range(3):
        with loader_of(photographs, seed=100 + seed) as other:
            list(other)
    assert [checksums(batch) for batch in held] == at_arrival


def test_a_loader_that_nobody_holds_is_collected(
    photographs: list[Path], batches_of: Callable[[tgl.ImageLoader], Any]
) -> None:
    """Neither the batches of a loader nor TensorFlow keep it, which would keep its workers and spare slabs."""
    loader = loader_of(photographs)
    alive = weakref.ref(loader)
    source = batches_of(loader)
    del loader
    gc.collect()
    held = list(source)
    assert alive() is not None
    del source
    gc.collect()
    assert alive() is None
    assert len(held) == 6


def test_any_part_of_a_batch_keeps_it(photographs: list[Path], slabs: list[int]) -> None:
    with loader_of(photographs, prefetch=0) as loader:
        epoch = iter(loader)
        images, labels = next(epoch)
        parts = [images[3:4, ::2], labels[1:], memoryview(images[5])]
        expected = [pictures.checksum(np.array(part)) for part in parts]
        first = slabs[0]
        del images, labels
        for _ in range(3):
            for _ in loader:
                pass
        assert slabs.count(first) == 1
        assert [pictures.checksum(np.array(part)) for part in parts] == expected
        parts.clear()
        for _ in range(3):
            for _ in loader:
                pass
        assert slabs.count(first) > 1


@pytest.mark.parametrize("prefetch", [0, 2])
def test_released_slabs_are_used_again(
    photographs: list[Path],
    batches_of: Callable[[tgl.ImageLoader], Any],
    slabs: list[int],
    prefetch: int,
) -> None:
    with loader_of(photographs, prefetch=prefetch, batch_size=4) as loader:
        source = batches_of(loader)
        for _ in range(5):
            for batch in source:
                del batch
        assert len(slabs) == 5 * 14
        # Those ready or under way in two epochs, and a few in the hands of the loop and of TensorFlow's own queues.
        assert len(set(slabs)) <= 2 * (prefetch + 1) + 6


def test_slabs_are_zeroed_or_written_whole(photographs: list[Path]) -> None:
    """A short last batch in a slab that was used before shows nothing of what it held."""
    with loader_of(photographs, batch_size=50, prefetch=0) as loader:
        for _ in range(4):
            *_, (images, labels) = loader
            assert (len(images), len(labels)) == (3, 3)
            assert images.base is not None
            assert len(set(labels.tolist())) == 3


def test_arrays_may_be_written_to(photographs: list[Path]) -> None:
    with loader_of(photographs, prefetch=0) as loader:
        expected = [checksums(batch) for _ in range(3) for batch in loader]
    with loader_of(photographs, prefetch=0) as loader:
        seen = []
        for _ in range(3):
            for images, labels in loader:
                seen.append(checksums((images, labels)))
                assert images.flags.writeable
                assert labels.flags.writeable
                images[:] = np.nan
                labels[:] = -1
        assert seen == expected


def test_writing_to_a_batch_changes_no_other(photographs: list[Path]) -> None:
    with loader_of(photographs, prefetch=3) as loader:
        batches = list(loader)
        expected = [checksums(batch) for batch in batches]
        for index in range(0, len(batches), 2):
            batches[index][0][:] = 7
            batches[index][1][:] = 7
        for index in range(1, len(batches), 2):
            assert checksums(batches[index]) == expected[index]


def test_the_finalizer_of_each_array_releases_once(photographs: list[Path]) -> None:
    """References to one slab, counted in its header: the user's, and the pool's."""
    with loader_of(photographs, prefetch=0, num_workers=1) as loader:
        images, labels = next(iter(loader))
        header = Header.from_address(address_of(images) - HEADER)
        view, copy = images[2:], images.copy()
        assert header.references == 2
        del images, labels
        gc.collect()
        assert header.references == 2  # the view
        del view
        gc.collect()
        assert header.references == 1
        assert copy.any()


def resident() -> int:
    """Return the bytes of this process that lie in memory."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory_is_steady_over_fifty_epochs(
    photographs: list[Path], batches_of: Callable[[tgl.ImageLoader], Any]
) -> None:
    slab = 16 * 56 * 60 * 3 * 4
    # A few slabs in another phase of the loop, on huge pages, and the heaps of Go and TensorFlow; one slab kept in
    # each epoch is more.
    bound = 6 * 2**21
    assert bound < 40 * slab
    sizes = {}
    with loader_of(photographs, [ops.RandomCrop(56, 60), ops.Rescaling(1 / 127.5)], batch_size=16) as loader:
        source = batches_of(loader)
        for epoch in range(1, 51):
            for batch in source:
                del batch
            if epoch in (10, 50):
                sizes[epoch] = resident()
        assert loader.stats()["batches"] == 50 * 4
    assert sizes[50] - sizes[10] < bound
