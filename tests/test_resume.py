"""state_dict and load_state_dict: a run goes on at the very next batch, or is refused with what changed."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfgoloader as tgl
from tfgoloader import ops, sources

COUNT, BATCH = 23, 5
PIPELINE = [ops.RandomCrop(32, 40), ops.RandomFlip("horizontal")]


@pytest.fixture(scope="module")
def paths(photographs: list[Path]) -> list[Path]:
    return photographs[:COUNT]


@pytest.fixture(scope="module")
def spoiled(paths: list[Path], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The same pictures, of which some are none."""
    folder = tmp_path_factory.mktemp("spoiled")
    spoiled = []
    for index, path in enumerate(paths):
        spoiled.append(folder / path.name)
        spoiled[-1].write_bytes(b"<html>" if index in (0, 3, 8, 9, 15, 22) else path.read_bytes())
    return spoiled


def loader_of(paths: list[Path], targets: Any = range(COUNT), **options: Any) -> tgl.ImageLoader:
    source = tgl.sources.Paths(paths, targets)
    arguments = {"batch_size": BATCH, "shuffle": True, "seed": 17, "dtype": "uint8", **options}
    return tgl.ImageLoader(source, PIPELINE, **arguments)


@pytest.fixture(autouse=True)
def _bad_files_are_no_news() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*bad files so far")
        yield


def through_json(state: dict[str, Any]) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(json.dumps(state))
    assert loaded == state
    return loaded


def assert_same(batches: list[Any], expected: list[Any]) -> None:
    assert len(batches) == len(expected)
    for got, want in zip(batches, expected, strict=True):
        for one, other in zip(got, want, strict=True):
            np.testing.assert_array_equal(np.asarray(one), other)


@pytest.mark.parametrize(
    ("policy", "drop"), [("raise", False), ("replace", True), ("skip", False), ("skip", True)], ids=str
)
def test_a_run_goes_on_after_any_batch(paths: list[Path], spoiled: list[Path], policy: str, drop: bool) -> None:
    files = paths if policy == "raise" else spoiled
    options = {"on_error": policy, "drop_remainder": drop}
    with loader_of(files, **options) as whole, loader_of(files, num_workers=3, prefetch=0, **options) as resumed:
        states, epochs = [], []
        for _ in range(2):
            states.append([through_json(whole.state_dict())])
            epochs.append([])
            for batch in whole:
                epochs[-1].append(batch)
                states[-1].append(through_json(whole.state_dict()))
        following = list(whole)
        for number, (epoch, at) in enumerate(zip(epochs, states, strict=True)):
            for batch, state in enumerate(at):
                assert (state["seed"], state["epoch"], state["batch"]) == (17, number, batch)
                resumed.load_state_dict(state)
                assert resumed.state_dict() == state
                assert_same(list(resumed), epoch[batch:])
                assert_same(list(islice(resumed, 2)), (epochs[1] if number == 0 else following)[:2])


def test_the_state_is_of_the_iteration_begun_last(paths: list[Path]) -> None:
    with loader_of(paths) as loader:
        first = iter(loader)
        next(first)
        second = iter(loader)
        next(first)
        assert (loader.state_dict()["epoch"], loader.state_dict()["batch"]) == (1, 0)
        next(second)
        assert (loader.state_dict()["epoch"], loader.state_dict()["batch"]) == (1, 1)
        list(second)
        assert (loader.state_dict()["epoch"], loader.state_dict()["batch"]) == (2, 0)


def test_an_iteration_that_is_left_is_ended(paths: list[Path]) -> None:
    """The state keeps no hold of it."""
    with loader_of(paths, batch_size=1) as loader:  # so that the next epoch is not prepared yet
        for _ in loader:
            break
        deadline = time.monotonic() + 30
        while loader.stats()["queue_depth"]:
            assert time.monotonic() < deadline
            time.sleep(0.001)


def test_a_batch_that_failed_was_not_handed_over(spoiled: list[Path]) -> None:
    with loader_of(spoiled, shuffle=False) as loader, pytest.raises(tgl.DecodeError):
        next(iter(loader))
    assert (loader.state_dict()["epoch"], loader.state_dict()["batch"]) == (0, 0)


def test_nothing_is_read_for_the_batches_before(paths: list[Path]) -> None:
    with loader_of(paths, num_workers=1, prefetch=0) as loader:
        loader.load_state_dict({**loader.state_dict(), "epoch": 2**40, "batch": 4})
        (batch,) = list(loader)
        assert len(batch[1]) == COUNT % BATCH
        # The next epoch's first batches are prepared: one under way, and one that is ready.
        assert loader.stats()["images"] <= COUNT % BATCH + 2 * BATCH


def test_a_seed_that_was_drawn_is_the_states(paths: list[Path]) -> None:
    with loader_of(paths, seed=None) as first, loader_of(paths, seed=None) as second:
        expected = list(first)
        state = first.state_dict()
        assert second.seed != first.seed
        second.load_state_dict({**state, "epoch": 0})
        assert second.seed == first.seed
        assert_same(list(second), expected)
    with loader_of(paths, seed=5) as other, pytest.raises(tgl.ConfigError, match=f"seed=5: expected {first.seed}"):
        other.load_state_dict(state)
    with pytest.raises(tgl.TfGoLoaderError, match="closed"):
        second.load_state_dict({**state, "seed": second.seed ^ 1})
    with pytest.raises(tgl.TfGoLoaderError, match="closed"):
        iter(second)


def test_a_state_is_whole_for_other_threads(paths: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    digest = sources._digest
    states: list[Any] = []
    asking: list[None] = []

    def meanwhile(values: Any) -> str:
        if not asking:  # as another thread would
            asking.append(None)
            states.append(loader.state_dict())
            asking.clear()
        return digest(values)

    monkeypatch.setattr(sources, "_digest", meanwhile)
    with loader_of(paths) as loader:
        state = loader.state_dict()
    assert {"source paths", "source labels"} <= state["fingerprint"].keys()
    assert states == [state] * 2


def test_what_changed_is_named(paths: list[Path], tmp_path: Path) -> None:
    with loader_of(paths) as loader:
        state = through_json(loader.state_dict())
    changes: dict[str, tuple[dict[str, Any], tuple[Any, Any]]] = {
        "source paths": ({}, (paths[1:] + paths[:1], range(COUNT))),
        "source labels": ({}, (paths, [0] * COUNT)),
        r"labels=\{'classes': 23": ({"labels": ops.OneHot(COUNT)}, (paths, range(COUNT))),
        "batch_size=4 here, 5 in the state": ({"batch_size": 4}, (paths, range(COUNT))),
        "shuffle=False": ({"shuffle": False}, (paths, range(COUNT))),
        "on_error='skip'": ({"on_error": "skip"}, (paths, range(COUNT))),
        "exclude": ({"exclude": [str(paths[3])]}, (paths, range(COUNT))),
        "dtype='float32' here, 'uint8' in": ({"dtype": "float32"}, (paths, range(COUNT))),
    }
    for named, (options, source) in changes.items():
        with loader_of(*source, **options) as loader, pytest.raises(tgl.ConfigError, match=named):
            loader.load_state_dict(state)
    with tgl.ImageLoader(
        tgl.sources.Paths(paths, range(COUNT)), [ops.CenterCrop(32, 40)], batch_size=5, shuffle=True, seed=17
    ) as loader:
        with pytest.raises(tgl.ConfigError, match=r"ops=\[\{.*CenterCrop.*here, .*RandomCrop") as caught:
            loader.load_state_dict(state)
        assert "dtype" in str(caught.value)
        assert "shuffle" not in str(caught.value)
    with loader_of(paths, num_workers=3, prefetch=7) as loader:
        loader.load_state_dict(state)  # which do not count


@pytest.mark.parametrize(
    "wrong", [{"epoch": -1}, {"batch": 6}, {"batch": "1"}, {"epoch": None}, {"seed": None}, {"fingerprint": 3}], ids=str
)
def test_what_is_no_state_is_refused(paths: list[Path], wrong: dict[str, Any]) -> None:
    with loader_of(paths) as loader:
        with pytest.raises(tgl.ConfigError, match=next(iter(wrong))):
            loader.load_state_dict({**loader.state_dict(), **wrong})
        with pytest.raises(tgl.ConfigError, match="state"):
            loader.load_state_dict([])  # type: ignore[arg-type]


@pytest.mark.parametrize("policy", ["replace", "skip"])
def test_a_data_set_goes_on_too(spoiled: list[Path], tf: Any, policy: str) -> None:
    """The rest of the epoch, then whole ones; its length stays what it was."""
    with loader_of(spoiled, on_error=policy) as loader:
        states, epochs = [], []
        for _ in range(3):
            epochs.append([])
            for batch in loader:
                epochs[-1].append(batch)
                states.append(loader.state_dict())
    with loader_of(spoiled, on_error=policy) as loader:
        dataset = loader.as_dataset()
        if policy == "replace":
            assert len(dataset) == 5
        for after in (1, len(epochs[0])):
            loader.load_state_dict(states[after - 1])
            assert_same(list(dataset), epochs[0][after:])
            assert_same(list(dataset), epochs[1])
            assert_same(list(dataset.take(2)), epochs[2][:2])
        loader.load_state_dict(states[1])
        both = list(dataset.repeat(2))
        assert_same(both, epochs[0][2:] + epochs[1])
