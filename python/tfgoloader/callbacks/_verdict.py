"""What a training's figures say: whether its input holds it up, where, and what would help. No clock runs here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

STAGES = ("read", "decode", "augment")  # of the loader's workers

WAIT = 0.05  # share of the time: below, input does not hold the model up
BETWEEN = 0.2  # share of the time: above, what runs between the steps is worth a word
CONTENDED = 0.8  # processors for each busy worker: below, others are at work on them
IDLE = 0.5  # processors: from here on there is one to spare
BUSY = 0.5  # share of the workers' time: below, it is not they who are slow
HELD = 0.5  # share of the time that the GIL is held: from here on, threads that need it wait for each other
WINDOW = 0.75  # share of the pixels: above, there is nothing that decoding a window alone saves

# What of the figures of several epochs is added up.
_SUMS = ("seconds", "waited", "between", "images", "read", "decode", "augment", "bytes", "cpu")


@dataclass(frozen=True)
class Figures:
    """Measured while a model trains, without validation.

    Attributes:
        seconds: from an epoch's begin to the end of its last step.
        waited: seconds of these that the model stood still until its next batch was there.
        between: seconds of these between the steps, without waiting: other callbacks, and Keras itself.
        images: trained with.
        read, decode, augment: seconds of the loader's stages, summed over its workers.
        decoded: share of the files' pixels that had to be decoded.
        bytes: of the files that were read.
        cpu: CPU seconds of the whole process.
        workers: threads of the loader.
        cpus: processors that the process may use.
        functions: seconds in each function of the user's (ops.Python, ops.Native), by its name, summed over its calls.
        threaded: names of those that threads of this process call, with the GIL (ops.Python with executor="thread").
        gil: share of the time, from 0 to 1, that any thread of the process held the GIL, whether of the loader, of
            Keras or of anything else; None where the time was too short to tell.
    """

    seconds: float
    waited: float
    between: float
    images: int
    read: float
    decode: float
    augment: float
    decoded: float
    bytes: int
    cpu: float
    workers: int
    cpus: int
    functions: Mapping[str, float] = field(default_factory=dict)
    threaded: frozenset[str] = frozenset()
    gil: float | None = None

    @property
    def wait_share(self) -> float:
        """The share of the time that the model waited for input, from 0 to 1."""
        return self.waited / self.seconds

    @property
    def between_share(self) -> float:
        """The share of the time between the steps, from 0 to 1."""
        return self.between / self.seconds

    @property
    def images_per_second(self) -> float:
        """Images trained with in a second."""
        return self.images / self.seconds

    @property
    def bytes_per_image(self) -> float:
        """The mean size of a file."""
        return self.bytes / max(1, self.images)

    @property
    def workers_seconds(self) -> float:
        """Seconds of all stages of the workers."""
        return self.read + self.decode + self.augment

    @property
    def busy_workers(self) -> float:
        """How many of the workers were at work on average; one that waits for a disk or a processor is."""
        return self.workers_seconds / self.seconds

    @property
    def busy_cpus(self) -> float:
        """How many processors the process kept busy on average, the model's work included."""
        return self.cpu / self.seconds

    @property
    def verdict(self) -> Verdict:
        """What holds the training up, and what would help."""
        return judge(self)


def total(epochs: Iterable[Figures]) -> Figures:
    """Return the figures of several epochs of one training together."""
    first, *others = epochs
    for epoch in others:
        images = first.images + epoch.images
        sums = {name: getattr(first, name) + getattr(epoch, name) for name in _SUMS}
        first = replace(
            first,
            **sums,
            decoded=(first.decoded * first.images + epoch.decoded * epoch.images) / max(1, images),
            functions={
                name: first.functions.get(name, 0.0) + epoch.functions.get(name, 0.0)
                for name in {**first.functions, **epoch.functions}
            },
            gil=_mean([(first.gil, first.seconds), (epoch.gil, epoch.seconds)]),
        )
    return first


def _mean(weighted: list[tuple[float | None, float]]) -> float | None:
    """Return the weighted mean of those values that are known."""
    known = [(value, weight) for value, weight in weighted if value is not None]
    return sum(value * weight for value, weight in known) / sum(weight for _, weight in known) if known else None


class Verdict(NamedTuple):
    """What holds a training up.

    Attributes:
        bound: "model", "callbacks", "read", "decode", "augment", "function" and its name, "workers" or "hand-over".
        text: that in words, with the figures it rests on and what would help.
    """

    bound: str
    text: str


def judge(figures: Figures) -> Verdict:
    """Say what holds the training up."""
    waits = f"input waits {_percent(figures.wait_share)}"
    if figures.wait_share >= WAIT:
        bound, reason = _input(figures)
        cores = f"{figures.busy_cpus:.1f} of {figures.cpus} cores busy"
        # Decoding and augmenting do nothing but compute.
        if bound in ("decode", "augment") and figures.busy_cpus < CONTENDED * figures.busy_workers:
            cores += ", other processes take the rest"
        return Verdict(bound, f"input-bound at {bound}: {waits}; {cores}; {reason}")
    if figures.between_share >= BETWEEN:
        share = _percent(figures.between_share)
        return Verdict("callbacks", f"callback-bound: {share} of the time passes between the steps; {waits}")
    return Verdict("model", f"model-bound: {waits}")


def _input(figures: Figures) -> tuple[str, str]:
    slowest = max(STAGES, key=lambda stage: getattr(figures, stage))
    idle = figures.cpus - figures.busy_cpus >= IDLE
    if figures.functions:
        function = max(figures.functions, key=lambda name: figures.functions[name])
        taken, all_work = figures.functions[function], sum(figures.functions.values()) + figures.workers_seconds
        if taken > getattr(figures, slowest):
            return f"function {function}", (
                f"{_percent(taken / all_work)} of the work is in it; {_gil(figures)}"
                f"{_relief(figures, function)} would help"
            )
    if figures.busy_workers < BUSY * figures.workers:
        held_up = "" if _gil_is_free(figures) else "other Python threads may hold up the hand-over of batches, and "
        return "hand-over", (
            f"{figures.busy_workers:.1f} of {figures.workers} workers at work; {_gil(figures)}"
            f"{held_up}a larger prefetch= evens out pauses"
        )
    if slowest == "read" and idle:
        return "read", f"a faster disk, smaller files, or more than num_workers={figures.workers}, would help"
    if slowest == "read":
        return "read", f"{figures.bytes_per_image / 1e6:.1f} MB an image; smaller files would help"
    if figures.workers < figures.cpus and idle:
        return "workers", f"num_workers={figures.workers} are all at work; {figures.cpus} would help"
    if slowest == "augment":
        return "augment", "cheaper operations, or smaller pictures before them, would help"
    if figures.decoded >= WINDOW:
        return "decode", "windowed decode off (no crop before the resize); a crop first, or smaller files, would help"
    return "decode", f"{_percent(figures.decoded)} of the pixels are decoded; smaller files would help"


def _relief(figures: Figures, function: str) -> str:
    """Say what would help a function that the input is bound at."""
    if function not in figures.threaded:
        return "cheaper steps, or more workers on more cores,"
    if figures.gil is None:
        return 'cheaper steps, ops.Native, or executor="process" if threads wait for the GIL,'
    if not _gil_is_free(figures):
        return 'executor="process" or ops.Native'
    idle = figures.cpus - figures.busy_cpus >= IDLE
    return "more workers, or cheaper steps," if idle else "cheaper steps, or more cores,"


def _gil_is_free(figures: Figures) -> bool:
    """Tell whether it is known to be there for most who ask for it."""
    return figures.gil is not None and figures.gil < HELD


def _gil(figures: Figures) -> str:
    return "" if figures.gil is None else f"the GIL is held {100 * figures.gil:.0f} % of the time; "


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
