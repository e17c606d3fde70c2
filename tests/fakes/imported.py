"""What a file of tests imports, found by reading, so that nothing has to run."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FOLLOWED = ("tests.", "benchmarks.")


@cache
def imports_of(path: Path) -> frozenset[str]:
    """The names of the modules that a file imports: itself, through others of tests and benchmarks, or by a conftest.py
    that pytest loads for it; that of all tests aside."""
    found: set[str] = set()
    waiting = [path, *(folder / "conftest.py" for folder in path.parents if ROOT / "tests" in folder.parents)]
    while waiting:
        one = waiting.pop()
        for name in _named(one) - found if one.is_file() else ():
            found.add(name)
            if name.startswith(_FOLLOWED):
                waiting.append(ROOT.joinpath(*name.split(".")).with_suffix(".py"))
    return frozenset(found)


@cache
def _named(path: Path) -> frozenset[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)
