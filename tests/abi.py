"""What docs/abi.md declares, as ctypes has it."""

import ctypes
import importlib.util
import json
import re
from pathlib import Path

import numpy as np
from flat import SIZE

PAGE = (Path(__file__).parent.parent / "docs/abi.md").read_text()
HEADER = re.sub(r"/\*.*?\*/", "", re.search(r"```c\n(.*?)```", PAGE, re.DOTALL)[1])
# Found without running the package's Python code.
FOLDER = Path(importlib.util.find_spec("tfgoloader").submodule_search_locations[0])
(LIBRARY,) = FOLDER.glob("_native*.so")

NUMBERS = {name: getattr(ctypes, f"c_{name}") for name in ("uint8", "uint32", "int64", "uint64")}
ATTRIBUTE = re.compile(r"(\w+?)(?:_t)? (\w+)(?:\[(\d+)\])?;")


def fields(structure):
    """Return the fields of a structure that the page declares."""
    (text,) = re.findall(rf"struct \{{([^{{}}]*)\}} {structure};", HEADER)
    return [
        (name, NUMBERS[kind] * int(length) if length else NUMBERS[kind])
        for kind, name, length in ATTRIBUTE.findall(text)
    ]


class Slab(ctypes.Structure):
    """A batch's header."""

    _fields_ = fields("tgl_slab")


class Call(ctypes.Structure):
    """What an area begins with."""

    _fields_ = fields("tgl_call")


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
    """The functions of the page, by name; those of Python's world raise RuntimeError where they fail."""

    def __init__(self):
        python, plain = ctypes.PyDLL(LIBRARY), ctypes.CDLL(LIBRARY)
        for name, (result, arguments) in declared().items():
            function = getattr(python if name.startswith("pybind_") else plain, name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def text(self, function, *arguments):
        """Return the text that a function gives, and free it."""
        free = ctypes.CDLL(None).free
        free.argtypes, free.restype = [ctypes.c_void_p], None
        address = getattr(self, function)(*arguments)
        value = ctypes.string_at(address).decode()
        free(address)
        return value

    def open_source(self, **spec):
        return self.pybind_OpenSource(json.dumps(spec).encode())

    def open_loader(self, source, **changes):
        return self.pybind_OpenLoader(source, json.dumps({**LOADER, **changes}).encode())

    def next_batch(self, epoch):
        """Return the address of the next batch, or 1 at the end."""
        while not (address := self.pybind_Next(epoch)):
            pass
        return address


LOADER = {
    "ops": [{"op": "CenterCrop", "height": SIZE, "width": SIZE}, {"op": "Rescaling", "scale": 2.0, "offset": 1.0}],
    "batch_ops": [],
    "one_hot": None,
    "boxes": None,
    "views": 1,
    "batch_size": 4,
    "shuffle": False,
    "seed": 2**64 - 1,
    "drop_remainder": False,
    "dtype": "float32",
    "data_format": "channels_last",
    "channels": 3,
    "background": None,
    "exif": True,
    "dct_method": "accurate",
    "num_workers": 2,
    "prefetch": 2,
    "on_error": "raise",
    "max_bad": 0,
    "exclude": [],
    "truncated": "raise",
    "max_pixels": 10_000,
    "pad_last": False,
    "return_meta": False,
}


def arrays(library, loader):
    """Return what a loader says of the arrays of its slabs, by name."""
    return {about["name"]: about for about in json.loads(library.text("pybind_DescribeLoader", loader))["arrays"]}


def array(address, offset, shape, dtype):
    """Return an array over a slab's memory."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer((ctypes.c_uint8 * size).from_address(address + offset), dtype).reshape(shape)
