"""docs/abi.md is true: an epoch runs through the functions it declares, and it declares all there are."""

import ast
import ctypes
import importlib.util
import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from flat import SIZE, flat_pictures

PAGE = (Path(__file__).parent.parent / "docs/abi.md").read_text()
HEADER = re.sub(r"/\*.*?\*/", "", re.search(r"```c\n(.*?)```", PAGE, re.DOTALL)[1])
# Found without running the package's Python code.
FOLDER = Path(importlib.util.find_spec("tfgoloader").submodule_search_locations[0])
(LIBRARY,) = FOLDER.glob("_native*.so")

NUMBERS = {name: getattr(ctypes, f"c_{name}") for name in ("uint8", "uint32", "int64", "uint64")}
ATTRIBUTE = re.compile(r"(\w+?)(?:_t)? (\w+)(?:\[(\d+)\])?;")


class Slab(ctypes.Structure):
    """The structure that the page declares."""

    _fields_ = [
        (name, NUMBERS[kind] * int(length) if length else NUMBERS[kind])
        for kind, name, length in ATTRIBUTE.findall(re.search(r"struct \{(.*?)\}", HEADER, re.DOTALL)[1])
    ]


def ctype(text):
    """Return the ctypes type of a C type, perhaps with a parameter's name."""
    words = text.replace("const ", "").split()
    if "*" in text:  # a returned text is kept as its address, for it is to be freed
        return ctypes.c_char_p if "char" in words and "const" in text else ctypes.c_void_p
    return None if words[0] == "void" else NUMBERS[words[0].removesuffix("_t")]


def declared():
    """Return the functions of the page: name, type of the result, types of the arguments."""
    prototypes = re.findall(r"^([\w ]+?\*?)\s*\b((?:pybind|tgl)_\w+)\((.*?)\);", HEADER, re.MULTILINE)
    return {
        name: (ctype(result + " "), [ctype(argument) for argument in arguments.split(",") if argument != "void"])
        for result, name, arguments in prototypes
    }


class Library:
    """The functions of the page; those that may fail raise RuntimeError, and texts are freed."""

    def __init__(self):
        self.freed = 0
        self._free = ctypes.CDLL(None).free
        self._free.argtypes = [ctypes.c_void_p]
        python, plain = ctypes.PyDLL(LIBRARY), ctypes.CDLL(LIBRARY)
        for name, (result, arguments) in declared().items():
            function = getattr(python if name.startswith("pybind_") else plain, name)
            function.restype, function.argtypes = result, arguments
            if name.startswith("pybind_") and result is ctypes.c_void_p:
                function.restype = self._take
            setattr(self, name.removeprefix("pybind_"), function)

    def _take(self, address):
        return address


@pytest.fixture(scope="module")
def flat(tmp_path_factory):
    return flat_pictures(tmp_path_factory.mktemp("flat"), 10)
