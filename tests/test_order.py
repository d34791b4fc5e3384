"""Order and pixels are functions of seed, epoch and index alone: not of workers, batches, timing or process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pictures
import pytest
from PIL import Image

import tfgoloader as tgl
from tfgoloader import ops

PIPELINE = [ops.RandomCrop(32, 40), ops.RandomFlip(), ops.Rescaling(1 / 127.5, offset=-1)]
Epoch = tuple[np.ndarray, np.ndarray]


def loader_of(paths: list[Path], **options: Any) -> tgl.ImageLoader:
    """Each sample's label is its index."""
    source = tgl.sources.Paths(paths, range(len(paths)))
    return tgl.ImageLoader(source, PIPELINE, **{"batch_size": 7, "shuffle": True, "seed": 11, **options})


def epochs(paths: list[Path], count: int, **options: Any) -> list[Epoch]:
    with loader_of(paths, **options) as loader:
        return [pictures.join(loader) for _ in range(count)]


def by_index(epoch: Epoch) -> list[str]:
    """Digests of the samples' pixels in the order of the source."""
    images, labels = epoch
    return [pictures.checksum(images[place]) for place in np.argsort(labels)]


def assert_equal(some: list[Epoch], others: list[Epoch]) -> None:
    assert len(some) == len(others)
    for (images, labels), (other_images, other_labels) in zip(some, others, strict=True):
        assert labels.tolist() == other_labels.tolist()
        assert pictures.checksum(images) == pictures.checksum(other_images)


@pytest.fixture(scope="module")
def reference(photographs: list[Path]) -> list[Epoch]:
    """Three epochs by one worker that runs ahead of nobody."""
    return epochs(photographs, 3, num_workers=1, prefetch=0)


@pytest.mark.parametrize("num_workers", [1, 2, 7])
@pytest.mark.parametrize("prefetch", [0, 1, 2, 5])
def test_workers_and_prefetch_change_nothing(
    photographs: list[Path], reference: list[Epoch], num_workers: int, prefetch: int
) -> None:
    assert_equal(epochs(photographs, 3, num_workers=num_workers, prefetch=prefetch), reference)


@pytest.mark.parametrize("num_workers", [1, 2, 7])
@pytest.mark.parametrize("prefetch", [0, 1, 2, 5])
@pytest.mark.usefixtures("tf")
def test_a_dataset_has_the_same_bytes(
    photographs: list[Path], reference: list[Epoch], num_workers: int, prefetch: int
) -> None:
    with loader_of(photographs, num_workers=num_workers, prefetch=prefetch) as loader:
        dataset = loader.as_dataset()
        assert_equal([pictures.join(dataset) for _ in range(3)], reference)


@pytest.mark.parametrize("batch_size", [1, 2, 16, 53, 100])
def test_the_batch_size_changes_nothing(photographs: list[Path], reference: list[Epoch], batch_size: int) -> None:
    assert_equal(epochs(photographs, 3, batch_size=batch_size), reference)


def test_a_slow_loop_changes_nothing(photographs: list[Path], reference: list[Epoch]) -> None:
    """The workers run ahead as far as they may before each batch is taken."""
    with loader_of(photographs, num_workers=3, prefetch=3) as loader:
        result = []
        for _ in range(3):
            batches = []
            for batch in loader:
                batches.append(batch)
                wait_until_ready(loader, 3)
            result.append(pictures.join(batches))
    assert_equal(result, reference)


def wait_until_ready(loader: tgl.ImageLoader, batches: int) -> None:
    deadline = time.monotonic() + 30
    while loader.stats()["queue_depth"] < batches:
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_a_copy_of_the_data_set_elsewhere_changes_nothing(
    photographs: list[Path], reference: list[Epoch], tmp_path: Path
) -> None:
    copies = [tmp_path / f"another name {index}" for index in range(len(photographs))]
    for copy, path in zip(copies, photographs, strict=True):
        copy.write_bytes(path.read_bytes())
    assert_equal(epochs(copies, 3), reference)


def test_another_process_has_the_same_bytes(photographs: list[Path], reference: list[Epoch]) -> None:
    script = """
import sys
import test_order
for epoch in test_order.epochs(sys.argv[1:], 3):
    print(test_order.pictures.checksum(epoch[0]), test_order.pictures.checksum(epoch[1]))
"""
    environment = os.environ | {"PYTHONHASHSEED": "1", "PYTHONPATH": str(Path(__file__).parent), "GOMAXPROCS": "3"}
    process = subprocess.run(
        [sys.executable, "-c", script, *photographs], env=environment, capture_output=True, text=True, check=True
    )
    expected = [f"{pictures.checksum(images)} {pictures.checksum(labels)}" for images, labels in reference]
    assert process.stdout.splitlines() == expected


def test_every_sample_comes_once_an_epoch(reference: list[Epoch]) -> None:
    for _, labels in reference:
        assert sorted(labels.tolist()) == list(range(53))


def test_each_epoch_has_another_order_and_other_crops(reference: list[Epoch]) -> None:
    for earlier, later in [(0, 1), (1, 2), (0, 2)]:
        orders = reference[earlier][1], reference[later][1]
        assert (orders[0] == orders[1]).sum() < 8  # of 53 places; one is expected by chance
        assert sum(a == b for a, b in zip(*map(by_index, (reference[earlier], reference[later])), strict=True)) < 3


def test_another_seed_has_another_order_and_other_crops(photographs: list[Path], reference: list[Epoch]) -> None:
    (other,) = epochs(photographs, 1, seed=12)
    assert (other[1] == reference[0][1]).sum() < 8
    assert sum(a == b for a, b in zip(by_index(other), by_index(reference[0]), strict=True)) < 3


def test_crops_do_not_depend_on_the_order(photographs: list[Path], reference: list[Epoch]) -> None:
    straight = epochs(photographs, 3, shuffle=False)
    for epoch, shuffled in zip(straight, reference, strict=True):
        assert epoch[1].tolist() == list(range(53))
        assert by_index(epoch) == by_index(shuffled)


def test_samples_of_one_file_are_cropped_apart(photograph: Path) -> None:
    images, _ = epochs([photograph] * 60, 1)[0]
    assert len({pictures.checksum(image) for image in images}) > 55


def test_every_order_is_possible(tmp_path: Path) -> None:
    """All six orders of three samples, about as often as each other."""
    path = tmp_path / "dot.jpg"
    Image.new("RGB", (1, 1)).save(path)
    source = tgl.sources.Paths([path] * 3, range(3))
    counts: dict[tuple[int, ...], int] = {}
    with tgl.ImageLoader(source, [ops.CenterCrop(1, 1)], batch_size=3, shuffle=True, seed=0) as loader:
        for _ in range(600):
            ((_, labels),) = loader
            order = tuple(labels.tolist())
            counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 6
    assert all(50 < count < 150 for count in counts.values())  # 100, and five deviations of 9.1


@pytest.mark.parametrize("batch_size", [7, 10, 53])
def test_drop_remainder_leaves_out_the_last_part(
    photographs: list[Path], reference: list[Epoch], batch_size: int
) -> None:
    count = 53 // batch_size
    kept = count * batch_size
    with loader_of(photographs, batch_size=batch_size, drop_remainder=True) as loader:
        assert len(loader) == count
        for images, labels in reference:
            batches = list(loader)
            assert [len(part) for batch in batches for part in batch] == [batch_size] * 2 * count
            assert_equal([pictures.join(batches)], [(images[:kept], labels[:kept])])


def test_too_few_samples_for_a_batch_are_none(photographs: list[Path]) -> None:
    with pytest.warns(UserWarning, match="53 samples do not fill one of 54"):
        loader = loader_of(photographs, batch_size=54, drop_remainder=True)
    with loader:
        assert (len(loader), list(loader), list(loader)) == (0, [], [])


@pytest.mark.parametrize(("batch_size", "sizes"), [(7, [7] * 7 + [4]), (53, [53]), (60, [53]), (1, [1] * 53)])
def test_the_last_batch_holds_the_rest(photographs: list[Path], batch_size: int, sizes: list[int]) -> None:
    with loader_of(photographs, batch_size=batch_size) as loader:
        assert len(loader) == len(sizes)
        assert loader.num_samples == 53
        for _ in range(2):
            batches = list(loader)
            assert [images.shape for images, _ in batches] == [(size, 32, 40, 3) for size in sizes]
            assert [labels.shape for _, labels in batches] == [(size,) for size in sizes]


def test_a_seed_is_drawn_where_none_is_given(photographs: list[Path]) -> None:
    loaders = [loader_of(photographs, seed=None) for _ in range(2)]
    drawn = [pictures.join(loader) for loader in loaders]
    assert drawn[0][1].tolist() != drawn[1][1].tolist()
    assert by_index(drawn[0]) != by_index(drawn[1])
    for loader, epoch in zip(loaders, drawn, strict=True):
        assert_equal(epochs(photographs, 1, seed=loader.seed), [epoch])


@pytest.mark.parametrize("seed", [0, 1, 2**63, 2**64 - 1])
def test_every_seed_is_its_own(photographs: list[Path], seed: int) -> None:
    (epoch,) = epochs(photographs, 1, seed=seed)
    assert_equal(epochs(photographs, 1, seed=seed), [epoch])
    (neighbour,) = epochs(photographs, 1, seed=seed ^ 2**63)
    assert epoch[1].tolist() != neighbour[1].tolist()
    assert by_index(epoch) != by_index(neighbour)


def test_the_next_epoch_is_prepared_while_nobody_asks(photographs: list[Path]) -> None:
    with loader_of(photographs, prefetch=3, num_workers=1) as loader:
        assert len(list(loader)) == 8
        wait_until_ready(loader, 3)
        stats = loader.stats()
        assert stats["batches"] == 8
        assert 53 + 3 * 7 <= stats["images"] <= 53 + 5 * 7  # and no more is under way than one batch


def test_an_epoch_left_early_counts(photographs: list[Path], reference: list[Epoch]) -> None:
    with loader_of(photographs) as loader:
        next(iter(loader))
        assert_equal([pictures.join(loader)], reference[1:2])


def test_two_epochs_at_once_keep_apart(photographs: list[Path], reference: list[Epoch]) -> None:
    with loader_of(photographs) as loader:
        pairs = list(zip(loader, loader, strict=True))
    assert_equal([pictures.join(first for first, _ in pairs)], reference[:1])
    assert_equal([pictures.join(second for _, second in pairs)], reference[1:2])
