"""Tables of words, as TOML files in this folder; each is read once, when it is first needed."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def table(name: str) -> dict[str, Any]:
    """The table of that name. Texts over several lines become one line."""
    found: dict[str, Any] = _joined(tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text("utf-8")))
    return found


def listed(text: str) -> tuple[str, ...]:
    """The phrases in a text of a table, which stand between commas."""
    return tuple(text.split(", "))


def _joined(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _joined(one) for key, one in value.items()}
    return " ".join(value.split()) if isinstance(value, str) else value
