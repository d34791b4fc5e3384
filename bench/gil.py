#!/usr/bin/env python3
"""How far a thread of pure Python gets while a loader works: does anything hold the GIL?

A thread counts as fast as it can and notes the longest time that it did not get on. Cases, each a process of its own:

  idle          the main thread sleeps
  crowded       the main thread sleeps, and other processes keep as many cores busy as the loader would: what the
                scheduler alone does to the thread
  works         the main thread takes batches of 128 from tfgoloader
  waits         the main thread waits for one batch of tfgoloader that takes long
  py_function   the main thread takes batches of 128 from tf.data, whose pictures are made by Pillow and NumPy

In all but idle there are as many workers as cores, or --workers of them: with one fewer, a core is left to the thread.
"""

import argparse
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dataset
import machine
import session
from peer import BATCH, SEED, SIDE, Work, read_list, tensors

CASES = ("idle", "crowded", "works", "waits", "py_function")
LONG_BATCH = 8  # times the usual one


class Probe(threading.Thread):
    """Counts while it may run; stop() tells how far it came."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._stopping = False
        self._loops = 0
        self._longest = 0.0
        self._began = time.perf_counter()

    def run(self) -> None:
        self._began = last = time.perf_counter()
        while not self._stopping:
            now = time.perf_counter()
            if now - last > self._longest:
                self._longest = now - last
            last = now
            self._loops += 1

    def stop(self) -> dict[str, float]:
        """Loops a second, and the longest time between two of them, in milliseconds."""
        seconds = time.perf_counter() - self._began
        self._stopping = True
        self.join()
        return {"loops_per_second": self._loops / seconds, "longest_gap_ms": 1000 * self._longest, "seconds": seconds}


def probed(action: Callable[[], int]) -> dict[str, float]:
    """Runs the action beside the probe; action returns the images it took."""
    probe = Probe()
    probe.start()
    images = action()
    result = probe.stop()
    return {**result, "images": images, "images_per_second": images / result["seconds"]}


def take_for(batches: Callable[[], Any], seconds: float) -> dict[str, float]:
    """Takes batches, epoch after epoch, beside the probe; the first epoch warms up without it."""
    for _ in batches():
        pass

    def action() -> int:
        images, end = 0, time.perf_counter() + seconds
        while time.perf_counter() < end:
            for batch in batches():
                images += len(batch[0])
                if time.perf_counter() >= end:
                    break
        return images

    return probed(action)


def sleep_for(seconds: float) -> int:
    time.sleep(seconds)
    return 0


def crowded(task: Work, seconds: float) -> dict[str, float]:
    """The sleeping case, in a crowd of processes that do nothing but compute."""
    crowd = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(task.workers)]
    try:
        return probed(lambda: sleep_for(seconds))
    finally:
        for process in crowd:
            process.kill()
            process.wait()


def ours(task: Work, seconds: float, *, wait: bool) -> dict[str, float]:
    """Our loader, taken from for some seconds, or waited for during one long batch."""
    import tfgoloader as tgl
    from tfgoloader import ops

    crop = ops.CenterCrop(SIDE, SIDE) if wait else ops.RandomCrop(SIDE, SIDE)
    batch = min(BATCH * (LONG_BATCH if wait else 1), len(task.paths))
    with tgl.ImageLoader(
        tgl.sources.Paths(task.paths, task.labels),
        [crop, ops.RandomFlip("horizontal"), ops.Rescaling(1 / 127.5, offset=-1)],
        labels=ops.OneHot(task.classes),
        batch_size=batch,
        shuffle=True,
        seed=SEED,
        num_workers=task.workers,
    ) as loader:
        if not wait:
            return take_for(lambda: loader, seconds)
        return probed(lambda: len(next(iter(loader))[0]))


def py_function(task: Work, seconds: float) -> dict[str, float]:
    """The same from tf.data with a py_function."""
    import peer_tfdata

    return take_for(tensors(peer_tfdata.make(task)), seconds)


def measure(case: str, task: Work, seconds: float) -> dict[str, float]:
    """One case, in this process."""
    if case == "idle":
        return probed(lambda: sleep_for(seconds))
    if case == "crowded":
        return crowded(task, seconds)
    if case == "py_function":
        return py_function(task, seconds)
    return ours(task, seconds, wait=case == "waits")


def table(results: dict[str, dict[str, float]]) -> str:
    """One line a case."""
    idle = results.get("idle", {}).get("loops_per_second", 0.0)
    lines = [f"{'case':12} {'progress':>9} {'longest gap':>12} {'images/s':>9} {'over':>7}"]
    for case, result in results.items():
        share = f"{result['loops_per_second'] / idle:.0%}" if idle else "-"
        rate = f"{result['images_per_second']:.0f}" if result["images"] else "-"
        lines.append(f"{case:12} {share:>9} {result['longest_gap_ms']:9.1f} ms {rate:>9} {result['seconds']:5.1f} s")
    return "\n".join(lines)


def main() -> int:
    parser = session.options(__doc__)
    parser.add_argument("--data", type=Path, help='a folder with train.txt, "path label" a line (default: makes one)')
    parser.add_argument("--images", type=int, default=2000, help="use, or make, so many pictures")
    parser.add_argument("--seconds", type=float, default=5, help="of each case but waits")
    parser.add_argument("--workers", type=int, default=machine.cores())
    parser.add_argument("--only", default=",".join(CASES), help="cases to run")
    parser.add_argument("--case", choices=CASES, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.case:
        paths, labels = read_list(chosen.out / "list.txt")
        task = Work("pyfunction", paths, labels, chosen.workers, epochs=1, turns=0)
        print(json.dumps(measure(chosen.case, task, chosen.seconds)))
        return 0
    dataset.choose(chosen.data, chosen.out, chosen.images, chosen.workers)
    results: dict[str, dict[str, float]] = {}
    for case in chosen.only.split(","):
        run = subprocess.run([sys.executable, __file__, *sys.argv[1:], "--case", case], capture_output=True, text=True)
        if run.returncode:
            print(f"not run: {case}: {(run.stderr.strip().splitlines() or ['no message'])[-1]}")
        else:
            results[case] = json.loads(run.stdout.splitlines()[-1])
    text = f"```\n{machine.describe()}\n{chosen.workers} workers\n\n{table(results)}\n```"
    session.store(results, ["# The GIL while a loader works", text], chosen, "gil")
    return 0


if __name__ == "__main__":
    sys.exit(main())
