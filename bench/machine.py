"""What the benchmarks ask the machine: its cores, its name, who used how much of its processors."""

import os
import platform
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def cores() -> int:
    """The processors this process may use: its affinity, less where a cgroup's quota gives fewer."""
    allowed = len(os.sched_getaffinity(0))
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
    except OSError:
        return allowed
    return allowed if quota == "max" else max(1, min(allowed, round(int(quota) / int(period))))


def describe() -> dict[str, object]:
    """Processor, cores, memory, kernel and Python; no names of hosts or folders."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": models[0] if models else platform.machine(),
        "cores": cores(),
        "memory_gib": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}, {' '.join(platform.libc_ver())}",
        "python": platform.python_version(),
    }


def busy_seconds() -> float:
    """Processor seconds that the whole machine has spent on something, or lost to its host, since it started."""
    with open("/proc/stat") as stat:
        user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, stat.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / _TICKS


@dataclass(frozen=True)
class Usage:
    """What a process group has used: processor seconds, and the sum of its processes' peaks of resident bytes."""

    cpu_seconds: float
    peak_bytes: int


def usage(group: int) -> Usage:
    """The usage of all live processes of a process group, and of their children that have ended."""
    ticks = peak = 0
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[2]) != group:
                continue
            status = (folder / "status").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended while we looked
        ticks += sum(map(int, fields[11:15]))
        peak += sum(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
    return Usage(ticks / _TICKS, peak)
