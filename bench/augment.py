#!/usr/bin/env python3
"""Runs three augmentation jobs side by side: this project, tf.data, Keras, DALI, torchvision, FFCV, a thread pool.

Every job begins with JPEG files and ends with batches of 128 pictures of 224 x 224 as float32, less ImageNet's mean and
by its deviation, with one-hot labels. As in run.py every peer is a process that is stopped except in its turns. Then
comes a profile of this project in the first job. See README.md.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import machine
import report
import session
from augment_work import RAND_AUGMENT, RANDOM_RESIZED_CROP, RESIZE_SHORTER
from peer import BATCH
from session import HERE, Entry

PROFILE = "profile"


@dataclass(frozen=True)
class Job:
    """What is done to the pictures, by whom, and how much better than each peer this project shall be."""

    title: str
    peers: dict[str, Entry]
    goals: dict[str, float]
    tolerance: float  # of means and deviations; a value is within -2.2 and 2.7
    most: int | None = None  # pictures, where a slow peer would take minutes for all


def ours(job: str) -> dict[str, Entry]:
    """This project, in both forms."""
    forms = {"tfgoloader as_dataset": "dataset", "tfgoloader NumPy": "numpy"}
    return {name: Entry(form, "augment_tfgoloader.py", f"{job}/{form}") for name, form in forms.items()}


THREADS = "threads, simplejpeg + OpenCV"
JOBS = {
    RANDOM_RESIZED_CROP: Job(
        "RandomResizedCrop(224), random flip, normalised; shuffled",
        {
            **ours(RANDOM_RESIZED_CROP),
            "tf.data, crop": Entry("tfdata", "augment_tfdata.py", RANDOM_RESIZED_CROP),
            "DALI": Entry("dali", "augment_dali.py", RANDOM_RESIZED_CROP),
            "torchvision": Entry("torch", "augment_torch.py", f"{RANDOM_RESIZED_CROP}/tensors"),
            "torchvision, Pillow": Entry("pillow", "augment_torch.py", f"{RANDOM_RESIZED_CROP}/pillow"),
            THREADS: Entry("threads", "augment_threads.py", RANDOM_RESIZED_CROP),
            "FFCV": Entry("ffcv", "augment_ffcv.py", RANDOM_RESIZED_CROP),
        },
        {"tf.data, crop": 2.1, "DALI": 1.7, "torchvision": 1.7, "torchvision, Pillow": 1.7, THREADS: 1.7},
        tolerance=0.06,
    ),
    RESIZE_SHORTER: Job(
        "The shorter side to 256, the middle 224 x 224, normalised; in the files' order",
        {
            **ours(RESIZE_SHORTER),
            "tf.data, crop": Entry("tfdata", "augment_tfdata.py", RESIZE_SHORTER),
            "DALI": Entry("dali", "augment_dali.py", RESIZE_SHORTER),
            "DALI, window": Entry("daliwindow", "augment_dali.py", f"{RESIZE_SHORTER}/window"),
            THREADS: Entry("threads", "augment_threads.py", RESIZE_SHORTER),
            "FFCV": Entry("ffcv", "augment_ffcv.py", RESIZE_SHORTER),
        },
        dict.fromkeys(["tf.data, crop", "DALI", "DALI, window", THREADS, "FFCV"], 1.8),
        tolerance=0.03,
    ),
    RAND_AUGMENT: Job(
        "Resizing(224, 224), RandAugment(num_ops=2, factor=0.5), normalised; shuffled",
        {**ours(RAND_AUGMENT), "Keras in tf.data's map": Entry("keras", "augment_tfdata.py", RAND_AUGMENT)},
        {"Keras in tf.data's map": 3.0},
        tolerance=1.0,  # Keras draws the operations for a batch, and eight batches are few
        most=1024,
    ),
}


def first(listed: Path, most: int | None) -> tuple[Path, int]:
    """A list of the first pictures of a list, and how many they are."""
    lines = listed.read_text().splitlines(keepends=True)[:most]
    part = listed.with_name(f"list-{len(lines)}.txt")
    part.write_text("".join(lines))
    return part, len(lines)


def profile(chosen: Any, listed: Path) -> dict[str, Any]:
    """Where this project's time goes; or why that is not known."""
    script = [sys.executable, str(HERE / "augment_profile.py"), str(listed), str(chosen.workers)]
    ran = subprocess.run([*script, str(chosen.out)], capture_output=True, text=True)
    if ran.returncode:
        return {"failed": (ran.stderr.strip().splitlines() or ["no message"])[-1]}
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def describe_profile(found: dict[str, Any]) -> list[str]:
    """The profile as text."""
    parts = ["## Where the time goes"]
    if "failed" in found:
        return [*parts, f"Not known: {found['failed']}"]
    stages = ", ".join(f"{stage} {seconds:.3f}" for stage, seconds in found["seconds_per_1000"].items())
    parts.append(
        f"tfgoloader NumPy in the first job, 1,000 pictures: {found['cpu_seconds_per_1000']:.3f} CPU s. Seconds of "
        f"loader.stats(), summed over the workers: {stages}. They are wall time: what waits for a core counts, too."
    )
    if "no_functions" in found:
        return [*parts, f"The functions' shares are not known: {found['no_functions']}."]
    head = ["library", "function", "share of the CPU time"]
    rows = [[row["library"], row["function"], f"{row['share']:.1f}%"] for row in found["functions"]]
    return [*parts, report.table(head, rows)]


def main() -> int:
    options = session.parser(__doc__, rounds=5)
    options.set_defaults(patience=600)  # Keras' layer is slow
    options.add_argument("--jobs", help=f"jobs to run, of {','.join([*JOBS, PROFILE])} (default: all)")
    chosen = session.parse(options, [entry for job in JOBS.values() for entry in job.peers.values()])
    wanted = chosen.jobs.split(",") if chosen.jobs else [*JOBS, PROFILE]
    if unknown := set(wanted) - {*JOBS, PROFILE}:
        options.error(f"no job {', '.join(unknown)}; there are {', '.join([*JOBS, PROFILE])}")
    listed, about = session.prepare(chosen)
    result: dict[str, Any] = {**about, "jobs": {}}
    parts = ["# Augmentation, side by side", *report.facts(result)]
    wrong = []
    for name, job in JOBS.items():
        if name not in wanted:
            continue
        part, pictures = first(listed, job.most)
        title = f"{job.title}; {pictures} pictures"
        print(f"\n{title}", flush=True)
        measured, not_run, failed = session.measure(job.peers, chosen, part, pictures // BATCH * BATCH)
        wrong += [*failed, *session.check_samples(measured, job.tolerance)]
        found = report.collect(measured, not_run, machine.cores())
        result["jobs"][name] = found
        goals = dict.fromkeys(report.OURS, job.goals)
        parts += [f"## {title}", *report.tables(found, goals, "###"), *report.versions(found, "###")]
    if PROFILE in wanted:
        result[PROFILE] = profile(chosen, listed)
        parts += describe_profile(result[PROFILE])
    session.store(result, parts, chosen, "augment")
    return session.conclude(wrong, chosen)


if __name__ == "__main__":
    sys.exit(main())
