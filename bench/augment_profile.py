"""Where this project's time goes in the first job: the loader's own figures and, where perf works, shares of functions.

augment_profile.py LIST WORKERS OUT: prints JSON; perf's data stays in the folder OUT, for perf report.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import augment_tfgoloader
from augment_work import RANDOM_RESIZED_CROP
from peer import Work, read_list

EPOCHS = 4
LEAST = 0.5  # percent of the samples: functions with less are added up
STAGES = ("read", "decode", "augment")
UNNAMED = "(no names in the library)"


class Sampling:
    """perf, which notes a thousand times a processor second where this process is, while the block runs."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.failed = ""  # why there are no samples

    def __enter__(self) -> None:
        control, orders = os.pipe()
        answers, acknowledge = os.pipe()
        command = ["perf", "record", "-q", "-p", str(os.getpid()), "-o", str(self.data)]
        # The processors' clock, since virtual machines have no counters; -D -1: not before it is told to.
        command += ["-e", "cpu-clock", "-F", "997", "-D", "-1", "--control", f"fd:{control},{acknowledge}"]
        try:
            self.perf = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, pass_fds=(control, acknowledge)
            )
        except OSError as error:
            self.failed = f"perf: {error.strerror}"
        for descriptor in (control, acknowledge):
            os.close(descriptor)
        self._orders, self._answers = orders, answers
        self._tell(b"enable\n")

    def _tell(self, order: bytes) -> None:
        """Gives an order and waits until it is carried out, or perf has ended."""
        with suppress(BrokenPipeError):
            os.write(self._orders, order)
            os.read(self._answers, 100)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._tell(b"stop\n")
        os.close(self._orders)
        if not self.failed:
            words = self.perf.communicate()[1].strip().splitlines()
            if self.perf.returncode:
                self.failed = f"perf: {words[-1] if words else self.perf.returncode}"
        os.close(self._answers)


def rows(lines: Iterable[str]) -> list[dict[str, Any]]:
    """Library, function and share in percent, most first, of perf's "percent, library, [k] function" lines."""
    found: Counter[tuple[str, str]] = Counter()
    libraries: Counter[str] = Counter()
    for line in lines:
        fields = [field.strip() for field in line.split("\t")]
        if line.startswith("#") or len(fields) < 3:
            continue
        share, library, function = float(fields[0].rstrip("%")), fields[1].strip("[]"), fields[2][4:]
        libraries[library] += share
        found[library, UNNAMED if re.fullmatch("0x[0-9a-f]+", function) else function] += share
    shown = [
        {"library": library, "function": function, "share": round(share, 2)}
        for (library, function), share in found.most_common()
        if share >= LEAST
    ]
    totals = [
        {"library": library, "function": "in all", "share": round(share, 2)}
        for library, share in libraries.most_common()
        if share >= LEAST
    ]
    return [row for total in totals for row in [total, *(row for row in shown if row["library"] == total["library"])]]


def main() -> None:
    listed, workers, out = sys.argv[1:]
    paths, labels = read_list(Path(listed))
    sampling = Sampling(Path(out) / "perf.data")
    loader = augment_tfgoloader.make(Work("", paths, labels, int(workers), EPOCHS, 1), RANDOM_RESIZED_CROP)
    for _ in loader:  # warms up
        pass
    with sampling:
        before, began = loader.stats(), time.process_time()
        for _ in range(EPOCHS):
            for _ in loader:
                pass
        after, seconds = loader.stats(), time.process_time() - began
    loader.close()
    thousands = (after["images"] - before["images"]) / 1000
    stages = {stage: (after["seconds"][stage] - before["seconds"][stage]) / thousands for stage in STAGES}
    result: dict[str, Any] = {"seconds_per_1000": stages, "cpu_seconds_per_1000": seconds / thousands}
    if not sampling.failed:
        command = ["perf", "report", "-i", str(sampling.data), "--stdio", "-F", "overhead,dso,sym", "-t", "\t"]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        result["functions"] = rows(text.splitlines())
    else:
        result["no_functions"] = sampling.failed
    print(json.dumps(result))


if __name__ == "__main__":
    main()
