"""Builds the extension module tfgoloader._native from the Go package ./pybind.

gopy writes the Go and the pybindgen half of the binding, pybindgen writes the C half,
and Go compiles and links both together with the core. All of it lives below build/.
"""

import hashlib
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

sys.path.insert(0, str(Path(__file__).parent / "scripts"))
import toolchain

PACKAGE = "tfgoloader/pybind"
GOPY = "github.com/go-python/gopy"


class GoExtension(build_ext):
    """Builds an extension module with gopy and Go in place of the C compiler."""

    def build_extension(self, extension):
        missing = toolchain.missing_system_packages()
        if missing:
            raise CompileError(toolchain.missing_message(missing))
        go = toolchain.find_go()
        if go is None:
            raise CompileError(toolchain.MISSING_GO)
        self.environment = toolchain.go_environment(go)

        name = extension.name.rpartition(".")[2]
        binding = Path(self.build_temp, name).resolve()
        self.generate(name.removeprefix("_"), binding)

        versions = {"packageVersion": self.distribution.get_version(), "gopyVersion": toolchain.module_version(GOPY)}
        stamps = " ".join(f"-X {PACKAGE}.{variable}={version}" for variable, version in versions.items())
        output = Path(self.get_ext_fullpath(extension.name)).resolve()
        self.go("build", "-trimpath", "-buildmode=c-shared", f"-ldflags=-s -w {stamps}", "-o", output, binding)
        output.with_suffix(".h").unlink()  # cgo's header, of no use in a wheel

    def generate(self, name, binding):
        """Write the Go and C sources of the module `_{name}` to the folder `binding`, unless they are current."""
        inputs = [__file__, "go.mod", *sorted(Path("pybind").glob("*.go"))]
        digest = hashlib.sha256(b"".join(Path(path).read_bytes() for path in inputs))
        digest.update(sysconfig.get_path("include").encode())
        stamp = binding / "stamp"
        if stamp.exists() and stamp.read_text() == digest.hexdigest():
            return

        binding.mkdir(parents=True, exist_ok=True)
        options = [f"-vm={sys.executable}", f"-name={name}", f"-output={binding}", "-no-make"]
        self.go("tool", "gopy", "gen", *options, PACKAGE)

        source = binding / f"{name}.go"
        source.write_text(edit_go(source.read_text()))
        self.go("tool", "goimports", "-w", source)

        script = binding / "build.py"
        script.write_text(edit_script(script.read_text(), name))
        subprocess.run([sys.executable, script.name], cwd=binding, check=True)
        stamp.write_text(digest.hexdigest())

    def go(self, *arguments):
        """Run the go command."""
        self.announce(f"go {' '.join(map(str, arguments))}", level=2)
        subprocess.run(["go", *arguments], env=self.environment, check=True)


def edit_go(text):
    """Return gopy's Go file with our compiler flags, without its slice types, in a stable order."""
    include = sysconfig.get_path("include")
    flags = [
        # The generated C predates C23, where bool is a keyword.
        f'#cgo CFLAGS: -O2 -std=gnu17 "-I{include}"',
        # The symbols of Python come from the interpreter that loads the module.
        "#cgo LDFLAGS: -Wl,--unresolved-symbols=ignore-all",
    ]
    text = re.sub(r"(^#cgo .*\n)+", "\n".join(flags) + "\n", text, flags=re.MULTILINE)
    text = re.sub(r"// ---- Package: go ---.*?(?=// ---- Package: )", "", text, flags=re.DOTALL)
    head, *functions = re.split(r"(?=^//export pybind_)", text, flags=re.MULTILINE)
    return head + "".join(sorted(functions))


def edit_script(text, name):
    """Return gopy's pybindgen script to go with what edit_go returns."""
    # Go and C are compiled together, so cgo's own header serves.
    text = text.replace(f'"{name}_go.h"', '"_cgo_export.h"')
    # A function that returns a lone error returns it as a C string too, which gopy leaks.
    text = re.sub(r"add_checked_function(?=\(.*retval\('char\*'\))", "add_checked_string_function", text)
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith("mod.add_function('Slice_")]
    registrations = [number for number, line in enumerate(lines) if line.startswith("add_checked_")]
    first, last = registrations[0], registrations[-1] + 1
    return "".join(lines[:first] + sorted(lines[first:last], key=lambda line: line.partition("'")[2]) + lines[last:])


Path("build").mkdir(exist_ok=True)
setup(
    ext_modules=[Extension("tfgoloader._native", sources=[])],
    cmdclass={"build_ext": GoExtension},
    options={"egg_info": {"egg_base": "build"}},
)
