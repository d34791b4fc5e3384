"""Where a run is, what it is a run of, and both as a plain dict that JSON takes."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from tfgoloader import _check
from tfgoloader._errors import ConfigError

if TYPE_CHECKING:
    from tfgoloader.sources import Source

_NO_MATTER = {
    "seed",
    "num_workers",
    "prefetch",
    "max_bad",
    "return_meta",
}  # for the batches; the seed is in the state itself

_OF_THIS_RUN = {"workers", "shared", "function", "user_data"}  # of ops.Python and ops.Native


class Position(NamedTuple):
    """Where an epoch begins, as docs/abi.md has it."""

    epoch: int = 0
    batch: int = 0
    tail: int = -1  # what bad samples that were left out have used of the epoch's order; -1 for nothing


class Progress:
    """Where the next iteration over a loader starts, and how far the last one is. Threads may share it."""

    def __init__(self) -> None:
        self.upcoming = Position()  # where the next iteration starts
        self.position = Position()  # after what the iteration that was begun last has handed over
        self._latest = 0  # that iteration
        self._tails: dict[tuple[int, int], int] = {}  # by epoch and batch, of the last two epochs
        self._lock = threading.Lock()

    def begin(self, open_epoch: Callable[[Position], int]) -> tuple[int, int, int]:
        """Start an iteration: return its number, its epoch, and the handle that the function gives for its start."""
        with self._lock:
            start = self.upcoming
            handle = open_epoch(start)
            self.upcoming, self.position = Position(start.epoch + 1), start
            self._latest += 1
            self._tails = {place: tail for place, tail in self._tails.items() if place[0] >= start.epoch - 1}
            return self._latest, start.epoch, handle

    def hand_over(self, iteration: int, after: Position) -> None:
        """Note that an iteration has handed over a batch, or met its end."""
        with self._lock:
            if after.tail >= 0:
                self._tails[after[:2]] = after.tail
            if self._latest == iteration:
                self.position = after

    def jump(self, start: Position) -> None:
        """Let the next iteration start there."""
        with self._lock:
            self.upcoming = self.position = start
            self._latest += 1  # none
            self._tails = {start[:2]: start.tail}

    def find(self, epoch: int, batch: int) -> Position:
        """Return the whole position of a batch of the last two epochs that was handed over."""
        with self._lock:
            return Position(epoch, batch, self._tails.get((epoch, batch), -1))


def fingerprint(source: Source, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the batches depend on, name by name; long lists as digests."""
    fields = {name: value for name, value in spec.items() if name not in _NO_MATTER}
    fields["ops"] = [{key: value for key, value in op.items() if key not in _OF_THIS_RUN} for op in fields["ops"]]
    fields["exclude"] = _digest(fields["exclude"])
    fields.update(source._digests())
    plain: dict[str, Any] = json.loads(json.dumps(fields))  # as it is after a turn as JSON: tuples are lists
    return plain


def _digest(values: Any) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


def compare(here: Mapping[str, Any], saved: Any) -> None:
    """Raise a ConfigError that names what differs between two fingerprints."""
    if not isinstance(saved, Mapping):
        _check.fail("state['fingerprint']", saved, "what state_dict() gave")
    differences = list(_differences(here, saved))
    if differences:
        raise ConfigError(f"the state is not one of this loader: {'; '.join(differences)}")


def _differences(here: Mapping[str, Any], saved: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted({*here, *saved}):
        mine, theirs = here.get(name), saved.get(name)
        if mine == theirs:
            continue
        if name == "exclude" or name.startswith("source "):
            yield f"{name} changed"
        else:
            yield f"{'labels' if name == 'one_hot' else name}={mine!r} here, {theirs!r} in the state"


def from_state(state: Mapping[str, Any], batches: int, samples: int, skips: bool) -> Position:
    """Return the position of a state whose numbers are possible."""
    tail = -1
    if skips and state.get("tail") is not None:
        tail = _check.integer("state['tail']", state["tail"], 0, samples)
    return Position(
        _check.integer("state['epoch']", state.get("epoch"), 0),
        _check.integer("state['batch']", state.get("batch"), 0, batches),
        tail,
    )
