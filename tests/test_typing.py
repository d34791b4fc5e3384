"""What type checkers read of the package is what it has."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
from importlib import resources
from types import FunctionType, ModuleType

import pytest

import tfgoloader as tgl
from tfgoloader import _native

OF_GOPY = {"GoPyInit", "IncRef", "DecRef", "NumHandles"}
# What a handle that stands for nothing, and a text that says nothing, give.
EXAMPLES = {"int": -1, "str": ""}


def stub() -> dict[str, ast.FunctionDef]:
    text = (resources.files("tfgoloader") / "_native.pyi").read_text()
    return {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}


def test_the_package_says_that_it_is_typed() -> None:
    assert (resources.files("tfgoloader") / "py.typed").is_file()


def test_the_stub_has_the_functions_of_the_module() -> None:
    compiled = {name for name in dir(_native) if not name.startswith("__") and callable(getattr(_native, name))}
    assert set(stub()) == compiled - OF_GOPY
    assert compiled >= OF_GOPY


@pytest.mark.parametrize("name", stub())
def test_the_stub_has_the_arguments_of_the_module(name: str) -> None:
    """A wrong name, number or type of arguments is a TypeError before Go sees the call."""
    definition, function = stub()[name], getattr(_native, name)
    by_place = [EXAMPLES[ast.unparse(argument.annotation)] for argument in definition.args.posonlyargs]
    by_name = {argument.arg: EXAMPLES[ast.unparse(argument.annotation)] for argument in definition.args.args}
    returns = ast.unparse(definition.returns)
    with contextlib.suppress(RuntimeError):  # Go's own errors, for which the call has got through
        assert type(function(*by_place, **by_name)).__name__ == {"None": "NoneType"}.get(returns, returns)
    with pytest.raises(TypeError):
        function(*by_place, 1, **by_name)
    for index in range(len(by_place)):
        with pytest.raises(TypeError):
            function(*by_place[:index], 1.5j, *by_place[index + 1 :], **by_name)
    for name_of_argument in by_name:
        with pytest.raises(TypeError):
            function(*by_place, **{**by_name, name_of_argument: 1.5j})


def test_all_names_the_public_interface() -> None:
    public = {
        name
        for name, value in vars(tgl).items()
        if not name.startswith("_") and (not isinstance(value, ModuleType) or name in ("callbacks", "ops", "sources"))
    }
    assert set(tgl.__all__) == public
    assert len(tgl.__all__) == len(set(tgl.__all__))


@pytest.mark.parametrize("module", [tgl.ops, tgl.sources], ids=["ops", "sources"])
def test_all_of_a_module_is_its_own(module: ModuleType) -> None:
    own = {
        name
        for name, value in vars(module).items()
        if isinstance(value, (type, FunctionType))
        and value.__module__.startswith(module.__name__)
        and not name.startswith("_")
    }
    assert set(module.__all__) == own


def test_the_installed_package_is_tested() -> None:
    """The compiled module lies beside the Python files, and neither in the source tree."""
    package, module = importlib.util.find_spec("tfgoloader"), importlib.util.find_spec("tfgoloader._native")
    assert package is not None
    assert module is not None
    assert "site-packages" in str(package.origin)
    assert "site-packages" in str(module.origin)
    assert tgl.__version__ == tgl.build_info()["tfgoloader"]
