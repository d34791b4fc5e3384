#!/usr/bin/env python3
"""image_dataset_from_directory beside Keras' function of that name, on the same folder, with the same arguments.

Pictures of all sizes (dataset.py), resized to 224 x 224, one-hot labels, batches of 128, shuffled. By default both
decode with the fast DCT and give the same pixels; the variant with the accurate one is there to show its price. The
peers are processes that take turns, as in run.py.
"""

import argparse
import json
import sys
from contextlib import ExitStack
from pathlib import Path

import dataset
import machine
import report
from session import BUILD, HERE, alternate, check_samples
from turns import Peer

GOAL = 1.5  # images per processor second, to Keras'
KERAS = "Keras"
PEERS = {"tfgoloader": "fast", "tfgoloader, accurate DCT": "accurate", KERAS: "keras"}


def measure(folder: Path, pictures: int, chosen: argparse.Namespace) -> dict[str, report.Measured]:
    """All turns of all peers; it fails where one of them does."""
    failed: dict[str, str] = {}
    said = {}
    with ExitStack() as cleanup:
        for name, variant in PEERS.items():
            work = map(str, (folder, chosen.epochs, chosen.rounds, variant))
            command = [sys.executable, str(HERE / "peer_directory.py"), *work]
            peer = Peer(name, command, chosen.out / f"directory-{variant}.log", chosen.patience)
            cleanup.callback(peer.kill)
            said[peer] = peer.start()
            print(f"{name}: ready", flush=True)
        turns = alternate(list(said), chosen.rounds, pictures * chosen.epochs, failed)
    if failed:
        sys.exit("\n".join(f"{name}: {why}" for name, why in failed.items()))
    return {
        peer.name: report.Measured(taken, peer.peak_bytes, said[peer]["versions"], said[peer]["sample"])
        for peer, taken in turns.items()
    }


def table(measured: dict[str, report.Measured]) -> str:
    """A line for each peer, with the ratios to Keras that the rounds gave."""
    cores = machine.cores()
    lines = [
        f"{'':26}{'images/s':>9}{'CPU s / 1,000':>15}{'cores busy':>12}{'with others':>13}{'RSS, MB':>9}"
        "   images per CPU s / Keras'"
    ]
    for name, peer in measured.items():
        one = peer.summary(cores)
        ratio = report.ratios(peer, measured[KERAS], "images_per_cpu_second")
        lines.append(
            f"{name:26}{one['images_per_second']:9.0f}{one['cpu_seconds_per_1000_images']:15.3f}"
            f"{one['busy_share_of_cores']:12.0%}{one['busy_share_with_other_processes']:13.0%}{one['peak_rss_mb']:9}"
            f"   {ratio['median']:.2f} ({ratio['min']:.2f} - {ratio['max']:.2f})"
        )
    return "\n".join([*lines, f"goal: {GOAL}"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=2000, help="make so many pictures")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each peer")
    parser.add_argument("--epochs", type=int, default=1, help="epochs in a turn")
    parser.add_argument("--patience", type=float, default=180, help="seconds after which a turn is given up")
    parser.add_argument("--out", type=Path, default=BUILD, help="where data and results go")
    parser.add_argument("--keep", metavar="NAME", help="also store the results as bench/results/NAME-directory.*")
    chosen = parser.parse_args()
    chosen.out = chosen.out.resolve()
    chosen.out.mkdir(parents=True, exist_ok=True)
    listed, work = dataset.choose(None, chosen.out, chosen.images, machine.cores())
    folder = Path(listed.read_text().split()[0]).parent.parent
    measured = measure(folder, work["pictures"], chosen)
    text = table(measured)
    about = f"{machine.describe()}; {work}; {chosen.rounds} rounds of {chosen.epochs} epoch(s)"
    print(f"\n{about}\n\n{text}")
    result = {name: {"turns": [vars(turn) for turn in peer.turns], **peer.versions} for name, peer in measured.items()}
    for base in [chosen.out / "directory", *([HERE / "results" / f"{chosen.keep}-directory"] if chosen.keep else [])]:
        base.parent.mkdir(parents=True, exist_ok=True)
        base.with_suffix(".md").write_text(f"# image_dataset_from_directory\n\n{about}\n\n```\n{text}\n```\n")
        base.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n")
    differences = check_samples(measured, 20)
    if differences:
        print(*differences, sep="\n", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
