"""The base of the operations."""

from __future__ import annotations

from typing import Any


class Operation:
    """Base of all operations."""

    def _spec(self) -> dict[str, Any]:
        return {"op": type(self).__name__, **vars(self)}


class Op(Operation):
    """Base of the operations on pictures."""


class BatchOp(Operation):
    """Base of the operations on whole batches, which come after those on pictures."""
