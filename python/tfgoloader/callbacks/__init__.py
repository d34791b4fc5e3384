"""Keras callbacks. Keras is imported where one of them is first named, not before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfgoloader.callbacks._backup import BackupAndRestore

__all__ = ["BackupAndRestore"]


def __getattr__(name: str) -> Any:
    if name == "BackupAndRestore":
        from tfgoloader.callbacks._backup import BackupAndRestore

        return BackupAndRestore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
