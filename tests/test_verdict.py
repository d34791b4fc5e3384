"""What a training's figures say: the verdict names the right bound, and epochs add up."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest

from tfgoloader.callbacks._verdict import Figures, total

# Two of two workers and processors at work for 10 s, mostly at decoding windows; the model waits for half of it.
INPUT_BOUND = Figures(
    seconds=10, waited=5, between=0.1, images=1000, read=1, decode=16, augment=2, decoded=0.2, bytes=10**8, cpu=19.5,
    workers=2, cpus=2,
)  # fmt: skip
THREADED = {"functions": {"blur": 17.0}, "threaded": frozenset({"blur"})}  # by ops.Python, in threads of this process


@pytest.mark.parametrize(
    ("changes", "bound", "says"),
    [
        ({"waited": 0.08}, "model", "model-bound: input waits 0.8 %"),
        ({"waited": 0.49, "between": 1.9}, "model", "model-bound: input waits 4.9 %"),
        ({"waited": 0.08, "between": 6.3}, "callbacks", "63.0 % of the time passes between the steps"),
        ({}, "decode", "input waits 50.0 %; 1.9 of 2 cores busy; 20.0 % of the pixels are decoded"),
        ({"waited": 0.5, "between": 6.3}, "decode", "input waits 5.0 %"),
        ({"decoded": 1.0}, "decode", "windowed decode off (no crop before the resize)"),
        ({"cpu": 8}, "decode", "0.8 of 2 cores busy, other processes take the rest"),
        ({"decode": 2, "augment": 16}, "augment", "cheaper operations"),
        ({"decode": 2, "read": 16, "cpu": 3}, "read", "a faster disk, smaller files, or more than num_workers=2"),
        ({"decode": 2, "read": 16}, "read", "0.1 MB an image; smaller files"),
        ({"decode": 2, "read": 16, "cpu": 3, "cpus": 4}, "read", "a faster disk"),
        ({"cpus": 4}, "workers", "num_workers=2 are all at work; 4 would help"),
        ({"cpus": 4, "cpu": 39}, "decode", "3.9 of 4 cores busy"),  # the model computes on the others
        (
            {"functions": {"blur": 17.0, "cut": 2.0}},
            "function blur",
            "input-bound at function blur: input waits 50.0 %",
        ),
        ({"functions": {"blur": 17.0, "cut": 2.0}}, "function blur", "44.7 % of the work is in it"),
        ({"functions": {"blur": 15.0}}, "decode", "input-bound at decode"),
        (
            {"functions": {"blur": 17.0}, "gil": 0.71},
            "function blur",
            "the GIL is held 71 % of the time; cheaper",
        ),
        (THREADED, "function blur", 'ops.Native, or executor="process" if threads wait for the GIL, would help'),
        (
            {**THREADED, "gil": 0.71},
            "function blur",
            'work is in it; the GIL is held 71 % of the time; executor="process" or ops.Native would help',
        ),
        ({**THREADED, "gil": 0.49}, "function blur", "held 49 % of the time; cheaper steps, or more cores, would help"),
        ({**THREADED, "gil": 0.1, "cpu": 15}, "function blur", "held 10 % of the time; more workers, or"),
        ({"workers": 40}, "hand-over", "1.9 of 40 workers at work; other Python threads may hold up"),
        (
            {"workers": 40, "gil": 0.5},
            "hand-over",
            "the GIL is held 50 % of the time; other Python threads may hold up",
        ),
        ({"workers": 40, "gil": 0.49}, "hand-over", "the GIL is held 49 % of the time; a larger prefetch="),
        ({"read": 0.1, "decode": 2, "augment": 1}, "hand-over", "0.3 of 2 workers at work"),
    ],
)
def test_the_verdict_follows_from_the_figures(changes: dict[str, Any], bound: str, says: str) -> None:
    verdict = replace(INPUT_BOUND, **changes).verdict
    assert verdict.bound == bound
    assert says in verdict.text
    kind = {"model": "model-bound: ", "callbacks": "callback-bound: "}.get(bound, f"input-bound at {bound}: ")
    assert verdict.text.startswith(kind)


def test_epochs_add_up() -> None:
    one = replace(INPUT_BOUND, functions={"blur": 1.5}, threaded={"blur"}, gil=0.2)
    other = replace(one, seconds=30, waited=1, images=3000, decoded=1.0, functions={"blur": 2.0, "cut": 4.0}, gil=0.6)
    both = asdict(total([one, other]))
    assert both.pop("threaded") == {"blur"}
    assert both.pop("gil") == pytest.approx(0.5)
    assert both.pop("functions") == {"blur": 3.5, "cut": 4.0}
    assert both.pop("decoded") == pytest.approx(0.8)  # of four pixels each of which one is decoded to a fifth
    single = asdict(INPUT_BOUND)
    kept = {name: single[name] for name in ("workers", "cpus")}
    doubled = {name: 2 * single[name] for name in ("between", "read", "decode", "augment", "bytes", "cpu")}
    assert both == {**kept, **doubled, "seconds": 40, "waited": 6, "images": 4000}
    unknown = replace(one, gil=None)
    assert total([unknown, unknown]).gil is None
    assert total([unknown, other, unknown]).gil == total([other, unknown]).gil == 0.6
