"""The default number of workers: the affinity mask, and the quota of either version of control groups."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tfgoloader import _cpus

V2 = "sys/fs/cgroup"
V1 = "sys/fs/cgroup/cpu"


@pytest.fixture(autouse=True)
def sixteen(monkeypatch: pytest.MonkeyPatch) -> None:
    """More processors than the machine may have, so that every quota shows."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(16)))


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def v1(folder: str, quota: int, period: int = 100_000) -> dict[str, str]:
    return {f"{folder}/cpu.cfs_quota_us": f"{quota}\n", f"{folder}/cpu.cfs_period_us": f"{period}\n"}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 16),
        ({"proc/self/cgroup": "0::/\n"}, 16),
        ({"proc/self/cgroup": "0::/\n", f"{V2}/cpu.max": "max 100000\n"}, 16),
        ({"proc/self/cgroup": "0::/\n", f"{V2}/cpu.max": "400000 100000\n"}, 4),
        ({"proc/self/cgroup": "0::/\n", f"{V2}/cpu.max": "250000 100000\n"}, 3),
        ({"proc/self/cgroup": "0::/\n", f"{V2}/cpu.max": "100 50\n"}, 2),
        ({"proc/self/cgroup": "0::/\n", f"{V2}/cpu.max": "10000 100000\n"}, 1),
        ({"proc/self/cgroup": "0::/\n", f"{V2}/cpu.max": "9900000 100000\n"}, 16),
        ({"proc/self/cgroup": "0::/a/b\n", f"{V2}/a/b/cpu.max": "500000 100000\n"}, 5),
        ({"proc/self/cgroup": "0::/a/b\n", f"{V2}/a/cpu.max": "500000 100000\n"}, 5),
        (
            {
                "proc/self/cgroup": "0::/a/b\n",
                f"{V2}/a/b/cpu.max": "900000 100000\n",
                f"{V2}/a/cpu.max": "600000 100000\n",
                f"{V2}/cpu.max": "700000 100000\n",
                f"{V2}/a/b/c/cpu.max": "200000 100000\n",
                f"{V2}/other/cpu.max": "100000 100000\n",
            },
            6,
        ),
        ({"proc/self/cgroup": "0::/name:with:colons\n", f"{V2}/name:with:colons/cpu.max": "300000 100000\n"}, 3),
        ({"proc/self/cgroup": "0::/../..\n", "sys/cpu.max": "100000 100000\n", "cpu.max": "100000 100000\n"}, 16),
        # Inside a container the path is the host's, and the top is the container's own group.
        ({"proc/self/cgroup": "0::/system.slice/box.scope\n", f"{V2}/cpu.max": "200000 100000\n"}, 2),
    ],
)
def test_quota_of_version_2(tmp_path: Path, files: dict[str, str], expected: int) -> None:
    assert _cpus.available(tree(tmp_path, files)) == expected


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        ("4:cpu,cpuacct:/\n", v1(V1, -1), 16),
        ("4:cpu,cpuacct:/\n", v1(V1, 350_000), 4),
        ("4:cpuacct,cpu:/box\n", v1(f"{V1}/box", 200_000), 2),
        ("4:cpu:/box/in\n", {**v1(f"{V1}/box/in", -1), **v1(f"{V1}/box", 50_000, 10_000)}, 5),
        ("4:cpuset:/box\n", v1(f"{V1}/box", 200_000), 16),
        ("4:cpu:/docker/0123abcd\n", v1(V1, 300_000), 3),
        ("9:memory:/m\n4:cpu,cpuacct:/box\n1:name=systemd:/\n0::/\n", v1(f"{V1}/box", 700_000), 7),
        (
            "4:cpu:/box\n0::/\n",
            {**v1(f"{V1}/box", 700_000), f"{V2}/cpu.max": "300000 100000\n"},
            3,
        ),
    ],
)
def test_quota_of_version_1(tmp_path: Path, groups: str, files: dict[str, str], expected: int) -> None:
    assert _cpus.available(tree(tmp_path, {"proc/self/cgroup": groups, **files})) == expected


def test_affinity_is_a_limit_beside_the_quota(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tree(tmp_path, {"proc/self/cgroup": "0::/\n", f"{V2}/cpu.max": "400000 100000\n"})
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 11})
    assert _cpus.available(root) == 2


SCRIPT = """
import os
import sys
import tfgoloader as tgl
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
loader = tgl.ImageLoader(tgl.sources.Paths([sys.argv[1]] * 3), [tgl.ops.CenterCrop(8, 8)])
print(loader.num_workers, sum(len(images) for images in loader))
"""


def test_the_affinity_mask_of_a_process_sets_its_workers(photograph: Path) -> None:
    process = subprocess.run([sys.executable, "-c", SCRIPT, photograph], capture_output=True, text=True, check=True)
    assert process.stdout.split() == ["1", "3"]
