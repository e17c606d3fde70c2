"""Parse untrusted TOML within limits of size and depth.

``tomllib`` overflows the interpreter's stack on deeply nested values, takes time quadratic in the length of a dotted
key, and reports neither in a readable message.
"""

from __future__ import annotations

import tomllib
from typing import Any

_LONGEST = 2**18        # characters
_LONGEST_LINE = 10_000
_DEEPEST = 50


def load_toml(text: str) -> dict[str, Any]:
    """The tables in ``text``. Raises ``ValueError`` with a sentence fragment that names the problem."""
    if len(text) > _LONGEST:
        raise ValueError(f"it has more than {_LONGEST:,} characters")
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > _LONGEST_LINE:
            raise ValueError(f"line {number} has more than {_LONGEST_LINE:,} characters")
    try:
        content = tomllib.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    level: list[Any] = [content]
    for _ in range(_DEEPEST):
        level = [value for one in level for value in (one.values() if isinstance(one, dict) else one)
                 if isinstance(value, dict | list)]
        if not level:
            return content
    raise ValueError(_TOO_DEEP)


_TOO_DEEP = f"it is nested more than {_DEEPEST} levels deep"
