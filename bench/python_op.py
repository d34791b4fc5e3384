#!/usr/bin/env python3
"""What a user's own function costs in a loader: OpenCV by threads, a loop of Python's by processes, C by address.

Each peer decodes JPEGs, cuts a random 224 x 224 window, calls the function, scales to float32 and makes batches of 128.
It is a process of its own that is stopped except in its turns; the peers take short turns, round by round. They are
named by what calls the function: `--only numba,native,built_in` measures one group alone.
"""

import sys

import machine
import report
import session
from peer import BATCH
from session import Entry

# By the function: the feeders, the one to compare first. See peer_function.py.
GROUPS = {
    function: {how: Entry(how, "peer_function.py", f"{function}:{how}") for how in feeders}
    for function, feeders in {
        "opencv": ["thread", "numpy_function", "numpy_function_whole", "py_function", "torch"],
        "loop": ["process", "one", "torch", "py_dataset"],
        "long_loop": ["process", "one", "torch", "py_dataset"],
        "invert": ["numba", "native", "built_in"],
    }.items()
}
TOLERANCE = 0.15  # of mean and deviation; a value is within -1 and 1


def main() -> int:
    options = session.parser(__doc__, rounds=5)
    options.set_defaults(images=1024, patience=300)
    chosen = session.parse(options, [entry for peers in GROUPS.values() for entry in peers.values()])
    listed, result = session.prepare(chosen)
    images = result["work"]["pictures"] // BATCH * BATCH
    parts, wrong = ["# Functions of one's own", *report.facts(result)], []
    for function, peers in GROUPS.items():
        if set(chosen.only).isdisjoint(peers):
            continue
        print(f"\n{function}", flush=True)
        measured, not_run, failed = session.measure(peers, chosen, listed, images)
        wrong += [*failed, *session.check_samples(measured, TOLERANCE)]
        result[function] = report.collect(measured, not_run, machine.cores(), list(peers)[:1])
        found = report.tables(result[function], {}, "###")
        parts += [f"## {function}", *found, *report.versions(result[function], "###")]
    session.store(result, parts, chosen, "python")
    return session.conclude(wrong, chosen)


if __name__ == "__main__":
    sys.exit(main())
