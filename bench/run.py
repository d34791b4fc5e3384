#!/usr/bin/env python3
"""Runs the reference pipeline side by side: this project, tf.data, py_function, DALI, torch, and libjpeg-turbo alone.

Read a JPEG, decode it to RGB (accurate DCT), cut a random 224 x 224 window, flip every second one, x / 127.5 - 1 as
float32, one-hot labels, batches of 128, shuffled. Every peer is a process of its own that is stopped except in its
turns; the peers take short turns, round by round, on the same files. See README.md.
"""

import sys

import machine
import report
import session
from peer import BATCH
from session import Entry

PEERS = {
    "tfgoloader as_dataset": Entry("dataset", "peer_tfgoloader.py", "dataset"),
    "tfgoloader NumPy": Entry("numpy", "peer_tfgoloader.py", "numpy"),
    "tf.data": Entry("tfdata", "peer_tfdata.py", "plain"),
    "tf.data, crop": Entry("crop", "peer_tfdata.py", "crop"),
    "tf.data, py_function": Entry("pyfunction", "peer_tfdata.py", "pyfunction"),
    "DALI": Entry("dali", "peer_dali.py", "-"),
    "torch DataLoader": Entry("torch", "peer_torch.py", "-"),
    "libjpeg-turbo in C": Entry("limit", "limit.c", "-"),
}
GOALS = {  # images per processor second of as_dataset, to the peer's
    "tf.data": 1.5,
    "tf.data, crop": 1.25,
    "DALI": 1.15,
    "libjpeg-turbo in C": 0.9,
}
TOLERANCE = 0.15  # of mean and deviation; a value is within -1 and 1


def main() -> int:
    chosen = session.parse(session.parser(__doc__, rounds=5), PEERS.values())
    listed, about = session.prepare(chosen)
    measured, not_run, failed = session.measure(PEERS, chosen, listed, about["work"]["pictures"] // BATCH * BATCH)
    if not measured:
        print("no peer ran", file=sys.stderr)
        return 1
    result = {**about, **report.collect(measured, not_run, machine.cores())}
    tables = report.tables(result, {report.OURS[0]: GOALS})
    parts = ["# Reference pipeline, side by side", *report.facts(result), *tables, *report.versions(result)]
    for base in session.store(result, parts, chosen, "result"):
        report.plot(result, base.with_suffix(".png"))
    return session.conclude([*failed, *session.check_samples(measured, TOLERANCE)], chosen)


if __name__ == "__main__":
    sys.exit(main())
