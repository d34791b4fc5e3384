"""The base of the operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfgoloader import _check


class Operation:
    """Base of all operations; its checks replace a field by what the core is given."""

    def _spec(self) -> dict[str, Any]:
        return {"op": type(self).__name__, **vars(self)}

    def _set(self, field: str, value: Any) -> None:
        object.__setattr__(self, field, value)

    def _check_side(self, field: str) -> None:
        self._set(field, _check.integer(f"{type(self).__name__}.{field}", getattr(self, field), 1, 65_535))

    def _check_range(self, field: str, least: float = 0, most: float = 1, default_end: str = "zero") -> None:
        """Make a pair of what may be one number, whose other end is zero, its opposite or itself."""
        name, value = f"{type(self).__name__}.{field}", getattr(self, field)
        allowed = f"a number from {least} to {most}, or two of them"
        pair = isinstance(value, Sequence) and not isinstance(value, (str, bytes))
        if pair and len(value) != 2:
            _check.fail(name, value, allowed)
        ends = [_check.number(name, end, allowed) for end in (value if pair else [value])]
        mirrored = pair and default_end == "opposite" and ends[0] == -ends[1]  # as one number becomes
        if not all(least <= end <= most for end in ends[mirrored:]):
            _check.fail(name, value, allowed)
        if not pair:
            ends.insert(0, {"zero": 0.0, "opposite": -ends[0], "itself": ends[0]}[default_end])
        self._set(field, tuple(ends if default_end == "itself" else sorted(ends)))

    def _check_number(self, field: str, least: float, most: float) -> None:
        self._set(field, _check.between(f"{type(self).__name__}.{field}", getattr(self, field), least, most))

    def _check_value_range(self) -> None:
        value = vars(self)["value_range"]
        if isinstance(value, (str, bytes)) or not isinstance(value, Sequence) or tuple(value) != (0, 255):
            allowed = "(0, 255), since pictures have 8 bits here and Rescaling comes after"
            _check.fail(f"{type(self).__name__}.value_range", value, allowed)

    def _check_fill(self) -> None:
        """Check fill_mode, and make a list of fill_value."""
        name, value = type(self).__name__, vars(self)["fill_value"]
        _check.choice(f"{name}.fill_mode", vars(self)["fill_mode"], ("constant", "nearest", "reflect", "wrap"))
        allowed = "a number from 0 to 255, or one for each of 3 channels"
        several = isinstance(value, Sequence) and not isinstance(value, (str, bytes))
        if several and len(value) not in (1, 3):
            _check.fail(f"{name}.fill_value", value, allowed)
        levels = [_check.number(f"{name}.fill_value", level, allowed) for level in (value if several else [value])]
        if not all(0 <= level <= 255 for level in levels):
            _check.fail(f"{name}.fill_value", value, allowed)
        self._set("fill_value", tuple(levels))


class Op(Operation):
    """Base of the operations on pictures."""

    _whole = False  # whether it is given whole batches


class BatchOp(Operation):
    """Base of the operations on whole batches, which come after those on pictures."""

    _whole = True
