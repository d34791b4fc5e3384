"""Callbacks for Keras' `model.fit`. Keras is imported with the first one that is used."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfgoloader.callbacks._backup import BackupAndRestore
    from tfgoloader.callbacks._monitor import InputMonitor

__all__ = ["BackupAndRestore", "InputMonitor"]

_MODULES = {"BackupAndRestore": "_backup", "InputMonitor": "_monitor"}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
