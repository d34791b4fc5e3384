"""How many processors this process may use."""

from __future__ import annotations

import math
import os
from pathlib import Path


def available(root: Path = Path("/")) -> int:
    """Return the processors of the affinity mask, fewer where a control group's quota allows less time.

    Both versions of Linux's control groups are read, every group from the process's own up to the top.
    """
    return max(1, min(len(os.sched_getaffinity(0)), *(math.ceil(quota) for quota in _quotas(root)), 2**31))


def _quotas(root: Path) -> list[float]:
    groups = _read(root / "proc/self/cgroup").splitlines()
    found = []
    for group in groups:
        _, controllers, path = group.split(":", 2)
        if controllers == "":
            base, files = root / "sys/fs/cgroup", ["cpu.max"]
        elif "cpu" in controllers.split(","):
            base, files = root / "sys/fs/cgroup/cpu", ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
        else:
            continue
        folder = base / path.lstrip("/")
        for level in (folder, *folder.parents):
            values = " ".join(_read(level / file) for file in files).split()
            if len(values) == 2 and values[0] not in ("max", "-1"):
                found.append(int(values[0]) / int(values[1]))
            if level == base:
                break
    return found


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # this version or level of the groups is not there
        return ""
