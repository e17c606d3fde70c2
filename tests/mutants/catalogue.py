"""The list of mutants, and whether each of them can be made."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_LIST = Path(__file__).with_name("mutants.toml")


@dataclass(frozen=True)
class Mutant:
    """One change of one file, and the test files of which one must notice it, the narrowest first."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def problems(self, root: Path = ROOT) -> list[str]:
        """Why it cannot be made in ``root``; empty if it can."""
        path = root / self.file
        times = path.read_text("utf-8").count(self.old) if path.is_file() else 0
        found = [] if times == 1 else [f"{self.name}: its old text occurs {times} times in {self.file}"]
        if self.old == self.new or not self.tests:
            found.append(f"{self.name}: it changes nothing, or no test is named")
        return found + [f"{self.name}: there is no {test}" for test in self.tests if not (root / test).is_file()]


def read_mutants(names: Sequence[str] = ()) -> list[Mutant]:
    """All, or those of ``names``, in the order of the list. Raises ``SystemExit`` for a name that is not in it."""
    listed = tomllib.loads(_LIST.read_text("utf-8"))
    if unknown := sorted(set(names) - listed.keys()):
        raise SystemExit(f"There is no mutant called {', '.join(unknown)}. They are listed in {_LIST}.")
    return [Mutant(name, one["file"], one["old"], one["new"], tuple(one["tests"]))
            for name, one in listed.items() if not names or name in names]
