"""A benchmark's side by side: its command line, its peers' start, their turns, and whether they deliver the same."""

import argparse
import datetime
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import dataset
import machine
import report
from peer import BATCH, SIDE
from turns import MissingError, Peer, PeerError, Turn

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "bench"


@dataclass(frozen=True)
class Entry:
    """A peer: its name on the command line, its script or C file here, and which variant of it."""

    short: str
    script: str
    variant: str


def _folder(path: str) -> Path:
    made = Path(path).resolve()
    made.mkdir(parents=True, exist_ok=True)
    return made


def options(description: str | None) -> argparse.ArgumentParser:
    """The options that every benchmark has."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--out", type=_folder, default=str(BUILD), help="where data and results go")
    made.add_argument("--keep", metavar="NAME", help="also store the results as bench/results/NAME.*")
    return made


def parser(description: str | None, rounds: int) -> argparse.ArgumentParser:
    """The options that every side by side has."""
    made = options(description)
    made.add_argument("--data", type=Path, help='a folder with train.txt, "path label" a line (default: makes one)')
    made.add_argument("--images", type=int, default=2000, help="use, or make, so many pictures")
    made.add_argument("--rounds", type=int, default=rounds, help="turns of each peer")
    made.add_argument("--epochs", type=int, default=1, help="epochs in a turn")
    made.add_argument("--workers", type=int, default=machine.cores(), help="decoding threads (default: the cores)")
    made.add_argument("--only", help="peers to run, by their short names with commas between")
    made.add_argument(
        "--peer-python",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="run this peer with another Python, such as dali=/path/to/python",
    )
    made.add_argument("--patience", type=float, default=180, help="seconds after which a turn is given up")
    return made


def parse(options: argparse.ArgumentParser, entries: Iterable[Entry]) -> argparse.Namespace:
    """The command line, its names of peers checked."""
    chosen = options.parse_args()
    known = list(dict.fromkeys(entry.short for entry in entries))
    chosen.only = chosen.only.split(",") if chosen.only else known
    chosen.pythons = dict(pair.partition("=")[::2] for pair in chosen.peer_python)
    for name in [*chosen.only, *chosen.pythons]:
        if name not in known:
            options.error(f"no peer {name!r}; there are {', '.join(known)}")
    return chosen


def prepare(chosen: argparse.Namespace) -> tuple[Path, dict[str, Any]]:
    """The list of the pictures, which are made where they are missing; what a report begins with."""
    listed, work = dataset.choose(chosen.data, chosen.out, chosen.images, chosen.workers)
    if work["pictures"] < BATCH:
        sys.exit(f"a batch is {BATCH} pictures, but there are {work['pictures']}")
    work |= {"batch": BATCH, "workers": chosen.workers, "rounds": chosen.rounds, "epochs": chosen.epochs}
    return listed, {"machine": machine.describe(), "work": work, "date": datetime.date.today().isoformat()}


def compile_c(source: str, out: Path) -> Path:
    """Builds a C file for this processor, with libjpeg."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    if not shutil.which(compiler[0]):
        raise MissingError(f"no C compiler {compiler[0]!r}")
    library = ["-ljpeg"]
    if shutil.which("pkg-config"):
        found = subprocess.run(["pkg-config", "--cflags", "--libs", "libjpeg"], capture_output=True, text=True)
        library = found.stdout.split() if found.returncode == 0 else library
    program = out / Path(source).stem
    flags = ["-std=gnu11", "-O3", "-march=native", "-pthread", "-o", str(program), str(HERE / source)]
    built = subprocess.run([*compiler, *flags, *library], capture_output=True, text=True)
    if built.returncode:
        errors = [line for line in built.stderr.splitlines() if "error" in line] or ["no message"]
        raise MissingError(f"{source} does not compile: {errors[0].rpartition('error:')[2].strip()}")
    return program


def command(entry: Entry, chosen: argparse.Namespace, listed: Path) -> list[str]:
    """The command line of a peer."""
    if entry.script.endswith(".c"):
        start = [str(compile_c(entry.script, chosen.out))]
    else:
        start = [chosen.pythons.get(entry.short, sys.executable), str(HERE / entry.script)]
    return [*start, *map(str, (listed, chosen.workers, chosen.epochs, chosen.rounds)), entry.variant]


def start(
    entries: Mapping[str, Entry],
    chosen: argparse.Namespace,
    listed: Path,
    not_run: dict[str, str],
    cleanup: ExitStack,
) -> dict[Peer, dict[str, Any]]:
    """Starts the peers one after the other; those that are ready and what they say of themselves."""
    ready = {}
    for name, entry in entries.items():
        try:
            peer = Peer(name, command(entry, chosen, listed), chosen.out / f"{entry.short}.log", chosen.patience)
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
                if not turn.cpu_seconds:
                    raise PeerError("no processor time in a turn: too few pictures")
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


def measure(
    entries: Mapping[str, Entry], chosen: argparse.Namespace, listed: Path, images: int
) -> tuple[dict[str, report.Measured], dict[str, str], list[str]]:
    """Runs those peers that were chosen: what was measured, what was not run and why, and what failed in its turns.

    images: of an epoch.
    """
    not_run: dict[str, str] = {}
    with ExitStack() as cleanup:
        wanted = {name: entry for name, entry in entries.items() if entry.short in chosen.only}
        ready = start(wanted, chosen, listed, not_run, cleanup)
        missing = set(not_run)
        turns = alternate(list(ready), chosen.rounds, images * chosen.epochs, not_run)
    measured = {
        peer.name: report.Measured(turns[peer], peer.peak_bytes, ready[peer]["versions"], ready[peer]["sample"])
        for peer in turns
    }
    return measured, not_run, [f"{name}: {why}" for name, why in not_run.items() if name not in missing]


def check_samples(measured: Mapping[str, report.Measured], tolerance: float, whole: bool = True) -> list[str]:
    """What is wrong with the batches that the peers showed: another type, or other pixels than most.

    The last one is shown, which is not full where a peer leaves no samples out.
    """
    samples = {name: peer.sample for name, peer in measured.items()}
    wrong = []
    for name, sample in samples.items():
        count, *rest = sample["shape"]
        if sample["dtype"] != "float32" or sorted(rest) != [3, SIDE, SIDE] or (whole and count != BATCH):
            wrong.append(f"{name}: batches are {sample['dtype']} {sample['shape']}")
        for key in sample.keys() - {"dtype", "shape"}:
            usual = median(other[key] for other in samples.values() if key in other)
            if not abs(sample[key] - usual) <= tolerance:
                wrong.append(f"{name}: the {key} of the pixels is {sample[key]:.3f}, others' {usual:.3f}")
    return wrong


def store(result: Any, parts: Iterable[str], chosen: argparse.Namespace, name: str) -> list[Path]:
    """Prints the report, and writes it and the numbers below chosen.out and where chosen.keep says; without suffix."""
    text = "\n\n".join(parts) + "\n"
    print(f"\n{text}")
    bases = [chosen.out / name, *([HERE / "results" / chosen.keep] if chosen.keep else [])]
    for base in bases:
        base.parent.mkdir(parents=True, exist_ok=True)
        base.with_suffix(".md").write_text(text)
        base.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n")
    return bases


def conclude(wrong: Iterable[str], chosen: argparse.Namespace) -> int:
    """Says what went wrong, and where the results are; the process's exit status."""
    wrong = list(wrong)
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
    print(f"stored in {chosen.out}")
    return 1 if wrong else 0
