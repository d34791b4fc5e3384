#!/usr/bin/env python3
"""What a user's own function costs in a loader: OpenCV by threads, a loop of Python's by processes, C by address.

Each peer decodes JPEGs, cuts a random 224 x 224 window, calls the function, scales to float32 and makes batches of 128.
It is a process of its own that is stopped except in its turns; the peers take short turns, round by round. A ratio is
the median, over the rounds, of one peer's images per second by another's.
"""

import argparse
import json
import sys
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import dataset
import machine
from peer import BATCH
from session import BUILD, HERE
from turns import Peer, PeerError, Turn

# By the function: the feeders, the one to compare first. See peer_function.py.
GROUPS = {
    "opencv": ["thread", "numpy_function", "py_function", "torch"],
    "loop": ["process", "one", "torch", "py_dataset"],
    "invert": ["native", "built_in"],
}


def measure(function: str, chosen: argparse.Namespace, listed: Path) -> dict[str, list[Turn]]:
    """The turns of every peer of a group that can run."""
    turns: dict[str, list[Turn]] = {}
    with ExitStack() as cleanup:
        peers = {}
        for how in GROUPS[function]:
            python = chosen.peer_python if how == "torch" and chosen.peer_python else sys.executable
            command = [python, HERE / "peer_function.py", listed, chosen.workers, chosen.epochs, chosen.rounds]
            variant = f"{function}:{how}"
            peer = Peer(variant, [*map(str, command), variant], chosen.out / f"{function}-{how}.log", chosen.patience)
            cleanup.callback(peer.kill)
            try:
                peer.start()
            except PeerError as error:
                print(f"not run: {variant}: {error}", flush=True)
                continue
            peers[how] = peer
        for number in range(chosen.rounds):
            for how in list(peers) if number % 2 == 0 else list(reversed(peers)):
                turn = peers[how].turn()
                turns.setdefault(how, []).append(turn)
                print(f"round {number + 1}: {function}:{how:15} {turn.images_per_second:7.1f} images/s", flush=True)
        for peer in peers.values():
            peer.finish()
    return turns


def table(results: dict[str, dict[str, list[Turn]]]) -> str:
    """One line a peer: its rate, its processor seconds, and what the first of its group does beside it."""
    lines = [
        "| function | feeder | images/s | CPU s per 1,000 images | first / this, by rate |",
        "|:--|:--|--:|--:|--:|",
    ]
    for function, turns in results.items():
        first = next(iter(turns.values()), [])
        for how, own in turns.items():
            ratios = [a.images_per_second / b.images_per_second for a, b in zip(first, own, strict=True)]
            rate = median(turn.images_per_second for turn in own)
            cpu = median(1000 / turn.images_per_cpu_second for turn in own)
            ratio = f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
            lines.append(f"| {function} | {how} | {rate:.0f} | {cpu:.2f} | {ratio} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help='a folder with train.txt, "path label" a line (default: makes one)')
    parser.add_argument("--images", type=int, default=1024, help="use, or make, so many pictures")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=1, help="epochs in a turn")
    parser.add_argument("--workers", type=int, default=machine.cores())
    parser.add_argument("--only", default=",".join(GROUPS), help="functions to measure")
    parser.add_argument("--peer-python", metavar="PATH", help="the Python that has torch, for its peer")
    parser.add_argument("--patience", type=float, default=300, help="seconds after which a turn is given up")
    parser.add_argument("--out", type=Path, default=BUILD, help="where data and results go")
    parser.add_argument("--keep", metavar="NAME", help="also store the results as bench/results/NAME-python.*")
    chosen = parser.parse_args()
    chosen.out = chosen.out.resolve()
    chosen.out.mkdir(parents=True, exist_ok=True)
    listed, work = dataset.choose(chosen.data, chosen.out, chosen.images, chosen.workers)
    if work["pictures"] < BATCH:
        sys.exit(f"a batch is {BATCH} pictures, but there are {work['pictures']}")
    results = {function: measure(function, chosen, listed) for function in chosen.only.split(",")}
    text = (
        f"# Functions of one's own\n\n{table(results)}\n\n```\n{machine.describe()}\n"
        f"{chosen.workers} workers, {work['pictures']} pictures, {chosen.rounds} rounds\n```\n"
    )
    print(text)
    rates = {
        function: {how: [turn.images_per_second for turn in own] for how, own in turns.items()}
        for function, turns in results.items()
    }
    for base in [chosen.out / "python", *([HERE / "results" / f"{chosen.keep}-python"] if chosen.keep else [])]:
        base.parent.mkdir(parents=True, exist_ok=True)
        base.with_suffix(".md").write_text(text)
        base.with_suffix(".json").write_text(json.dumps(rates, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
