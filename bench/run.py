#!/usr/bin/env python3
"""Runs the reference pipeline side by side: this project, tf.data, py_function, DALI, torch, and libjpeg-turbo alone.

Read a JPEG, decode it to RGB (accurate DCT), cut a random 224 x 224 window, flip every second one, x / 127.5 - 1 as
float32, one-hot labels, batches of 128, shuffled. Every peer is a process of its own that is stopped except in its
turns; the peers take short turns, round by round, on the same files. See README.md.
"""

import argparse
import datetime
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import dataset
import machine
import report
from peer import BATCH, SIDE
from turns import MissingError, Peer, PeerError, Turn

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "bench"
LIMIT = "libjpeg-turbo in C"
PEERS = {  # name: (short name, script, variant)
    "tfgoloader as_dataset": ("dataset", "peer_tfgoloader.py", "dataset"),
    "tfgoloader NumPy": ("numpy", "peer_tfgoloader.py", "numpy"),
    "tf.data": ("tfdata", "peer_tfdata.py", "plain"),
    "tf.data, crop": ("crop", "peer_tfdata.py", "crop"),
    "tf.data, py_function": ("pyfunction", "peer_tfdata.py", "pyfunction"),
    "DALI": ("dali", "peer_dali.py", "-"),
    "torch DataLoader": ("torch", "peer_torch.py", "-"),
    LIMIT: ("limit", "limit.c", "-"),
}
SHORT = {short: name for name, (short, _, _) in PEERS.items()}


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help='a folder with train.txt, "path label" a line (default: makes one)')
    parser.add_argument("--images", type=int, default=2000, help="use, or make, so many pictures")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each peer")
    parser.add_argument("--epochs", type=int, default=1, help="epochs in a turn")
    parser.add_argument("--workers", type=int, default=machine.cores(), help="decoding threads (default: the cores)")
    parser.add_argument("--only", help=f"peers to run, of {','.join(SHORT)}")
    parser.add_argument(
        "--peer-python",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="run this peer with another Python, such as dali=/path/to/python",
    )
    parser.add_argument("--patience", type=float, default=180, help="seconds after which a turn is given up")
    parser.add_argument("--out", type=Path, default=BUILD, help="where data and results go")
    parser.add_argument("--keep", metavar="NAME", help="also store the results as bench/results/NAME.*")
    chosen = parser.parse_args()
    wanted = chosen.only.split(",") if chosen.only else list(SHORT)
    pythons = [pair.partition("=")[::2] for pair in chosen.peer_python]
    for name in [*wanted, *(name for name, _ in pythons)]:
        if name not in SHORT:
            parser.error(f"no peer {name!r}; there are {', '.join(SHORT)}")
    chosen.peers = [SHORT[name] for name in SHORT if name in wanted]
    chosen.pythons = {SHORT[name]: path for name, path in pythons}
    return chosen


def compile_limit(out: Path) -> Path:
    """Builds limit.c for this processor."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    if not shutil.which(compiler[0]):
        raise MissingError(f"no C compiler {compiler[0]!r}")
    library = ["-ljpeg"]
    if shutil.which("pkg-config"):
        found = subprocess.run(["pkg-config", "--cflags", "--libs", "libjpeg"], capture_output=True, text=True)
        library = found.stdout.split() if found.returncode == 0 else library
    program = out / "limit"
    flags = ["-std=gnu11", "-O3", "-march=native", "-pthread", "-o", str(program), str(HERE / "limit.c")]
    built = subprocess.run([*compiler, *flags, *library], capture_output=True, text=True)
    if built.returncode:
        errors = [line for line in built.stderr.splitlines() if "error" in line] or ["no message"]
        raise MissingError(f"limit.c does not compile: {errors[0].rpartition('error:')[2].strip()}")
    return program


def command(name: str, chosen: argparse.Namespace, listed: Path) -> list[str]:
    """The command line of a peer."""
    _, script, variant = PEERS[name]
    if name == LIMIT:
        start = [str(compile_limit(chosen.out))]
    else:
        start = [chosen.pythons.get(name, sys.executable), str(HERE / script)]
    return [*start, *map(str, (listed, chosen.workers, chosen.epochs, chosen.rounds)), variant]


def start(
    chosen: argparse.Namespace, listed: Path, not_run: dict[str, str], cleanup: ExitStack
) -> dict[Peer, dict[str, Any]]:
    """Starts the peers one after the other; those that are ready and what they say of themselves."""
    ready = {}
    for name in chosen.peers:
        try:
            peer = Peer(name, command(name, chosen, listed), chosen.out / f"{PEERS[name][0]}.log", chosen.patience)
        except MissingError as error:
            not_run[name] = str(error)
            continue
        cleanup.callback(peer.kill)
        try:
            ready[peer] = peer.start()
            print(f"{name}: ready", flush=True)
        except (PeerError, OSError) as error:
            not_run[name] = str(error)
    for name, why in not_run.items():
        print(f"not run: {name}: {why}", flush=True)
    return ready


def alternate(peers: list[Peer], rounds: int, expected: int, not_run: dict[str, str]) -> dict[Peer, list[Turn]]:
    """All turns; every second round goes backwards. A peer that fails is left out from then on."""
    turns: dict[Peer, list[Turn]] = {peer: [] for peer in peers}
    for number in range(rounds):
        for peer in list(turns) if number % 2 == 0 else list(reversed(turns)):
            try:
                turn = peer.turn()
                if turn.images != expected:
                    raise PeerError(f"{turn.images} images in a turn instead of {expected}")
                if number == rounds - 1:
                    peer.finish()
            except PeerError as error:
                not_run[peer.name] = f"failed in round {number + 1}: {error}"
                print(f"{peer.name}: {not_run[peer.name]}", flush=True)
                del turns[peer]
                continue
            turns[peer].append(turn)
            print(
                f"round {number + 1}: {peer.name:22} {turn.images_per_second:7.1f} images/s "
                f"{1000 / turn.images_per_cpu_second:6.3f} CPU s per 1,000",
                flush=True,
            )
    return turns


def check_samples(said: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What is wrong with the batches that the peers showed: another type, or other pixels."""
    means = sorted(sample["mean"] for sample in said.values())
    middle = means[len(means) // 2]
    wrong = []
    for name, sample in said.items():
        if sample["dtype"] != "float32" or sorted(sample["shape"]) != [3, BATCH, SIDE, SIDE]:
            wrong.append(f"{name}: batches are {sample['dtype']} {sample['shape']}")
        elif abs(sample["mean"] - middle) > 0.15:
            wrong.append(f"{name}: the mean pixel is {sample['mean']:.3f}, others' {middle:.3f}")
    return wrong


def store(result: Mapping[str, Any], text: str, base: Path) -> None:
    """The table, the numbers and the plot."""
    base.parent.mkdir(parents=True, exist_ok=True)
    base.with_suffix(".md").write_text(text)
    base.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n")
    report.plot(result, base.with_suffix(".png"))


def main() -> int:
    chosen = options()
    chosen.out = chosen.out.resolve()
    chosen.out.mkdir(parents=True, exist_ok=True)
    listed, work = dataset.choose(chosen.data, chosen.out, chosen.images, chosen.workers)
    if work["pictures"] < BATCH:
        sys.exit(f"a batch is {BATCH} pictures, but there are {work['pictures']}")
    not_run: dict[str, str] = {}
    with ExitStack() as cleanup:
        ready = start(chosen, listed, not_run, cleanup)
        missing = len(not_run)
        expected = work["pictures"] // BATCH * BATCH * chosen.epochs
        turns = alternate(list(ready), chosen.rounds, expected, not_run)
    if not turns:
        print("no peer ran", file=sys.stderr)
        return 1
    measured = {
        peer.name: report.Measured(turns[peer], peer.peak_bytes, ready[peer]["versions"], ready[peer]["sample"])
        for peer in turns
    }
    work |= {"batch": BATCH, "workers": chosen.workers, "rounds": chosen.rounds, "epochs": chosen.epochs}
    about = {"machine": machine.describe(), "work": work, "date": datetime.date.today().isoformat()}
    result = report.collect(measured, not_run, about)
    text = report.markdown(result)
    print(f"\n{text}")
    store(result, text, chosen.out / "result")
    if chosen.keep:
        store(result, text, HERE / "results" / chosen.keep)
    wrong = check_samples({name: peer.sample for name, peer in measured.items()})
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
    print(f"stored in {chosen.out}")
    return 1 if wrong or len(not_run) > missing else 0


if __name__ == "__main__":
    sys.exit(main())
