"""Checks of arguments; each raises a ConfigError that names the field, the value and what is allowed."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from tfgoloader._errors import ConfigError

_MOST = 500  # characters of a value that a message shows: a list of a million paths would bury what was expected


def fail(field: str, value: Any, allowed: str) -> NoReturn:
    """Raise the error of a wrong value."""
    shown = repr(value)
    raise ConfigError(f"{field}={shown if len(shown) <= _MOST else shown[:_MOST] + ' ...'}: expected {allowed}")


def items(field: str, value: Any, allowed: str, kind: Any) -> tuple[Any, ...]:
    """Return the items of a list that are all of one kind."""
    if isinstance(value, (str, bytes)):
        fail(field, value, allowed)
    try:
        found = tuple(value)
    except TypeError:
        fail(field, value, allowed)
    for place, item in enumerate(found):
        if not isinstance(item, kind):
            fail(f"{field}[{place}]", item, f"an item of {allowed.removeprefix('None or ')}")
    return found


def integer(field: str, value: Any, least: int, most: int = 2**63 - 1) -> int:
    """Return an integer within bounds."""
    allowed = f"an integer >= {least}" if most == 2**63 - 1 else f"an integer from {least} to {most}"
    if isinstance(value, bool):
        fail(field, value, allowed)
    try:
        number = operator.index(value)
    except TypeError:
        fail(field, value, allowed)
    if not least <= number <= most:
        fail(field, value, allowed)
    return number


def number(field: str, value: Any, allowed: str = "a finite number") -> float:
    """Return a finite number."""
    if isinstance(value, (str, bytes, bool, np.bool_)):
        fail(field, value, allowed)
    try:
        result = float(value)
    except (TypeError, ValueError, OverflowError):
        fail(field, value, allowed)
    if not math.isfinite(result):
        fail(field, value, allowed)
    return result


def between(field: str, value: Any, least: float, most: float, allowed: str | None = None) -> float:
    """Return a number within bounds."""
    allowed = allowed or f"a number from {least} to {most}"
    result = number(field, value, allowed)
    if not least <= result <= most:
        fail(field, value, allowed)
    return result


def boolean(field: str, value: Any) -> bool:
    """Return True or False, and take nothing else for them."""
    if not isinstance(value, (bool, np.bool_)):
        fail(field, value, "True or False")
    return bool(value)


def choice(field: str, value: Any, allowed: Sequence[str]) -> str:
    """Return one of some words."""
    if not isinstance(value, str) or value not in allowed:
        fail(field, value, " or ".join(map(repr, allowed)))
    return value
