#!/usr/bin/env python3
"""image_dataset_from_directory beside Keras' function of that name, on the same folder, with the same arguments.

Pictures of all sizes (dataset.py), resized to 224 x 224, one-hot labels, batches of 128, shuffled. By default both
decode with the fast DCT and give the same pixels; the variant with the accurate one is there to show its price. The
peers are processes that take turns, as in run.py. With --data the class folders hold just the pictures of the list.
"""

import sys

import machine
import report
import session
from session import Entry

OURS = ("tfgoloader", "tfgoloader, accurate DCT")
PEERS = {
    OURS[0]: Entry("fast", "peer_directory.py", "fast"),
    OURS[1]: Entry("accurate", "peer_directory.py", "accurate"),
    "Keras": Entry("keras", "peer_directory.py", "keras"),
}
GOALS = {OURS[0]: {"Keras": 1.5}}  # images per processor second
TOLERANCE = 20  # of mean and deviation; a value is within 0 and 255


def main() -> int:
    chosen = session.parse(session.parser(__doc__, rounds=5), PEERS.values())
    listed, about = session.prepare(chosen)
    measured, not_run, failed = session.measure(PEERS, chosen, listed, about["work"]["pictures"])
    result = {**about, **report.collect(measured, not_run, machine.cores(), OURS)}
    parts = ["# image_dataset_from_directory", *report.facts(result), *report.tables(result, GOALS)]
    session.store(result, [*parts, *report.versions(result)], chosen, "directory")
    return session.conclude([*failed, *session.check_samples(measured, TOLERANCE, whole=False)], chosen)


if __name__ == "__main__":
    sys.exit(main())
