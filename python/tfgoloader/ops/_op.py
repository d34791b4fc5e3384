"""The base of the operations."""

from __future__ import annotations

from typing import Any


class Op:
    """Base of the operations on pictures."""

    def _spec(self) -> dict[str, Any]:
        return {"op": type(self).__name__, **vars(self)}
