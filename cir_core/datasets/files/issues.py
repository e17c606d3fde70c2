"""Validation issues of data-set files, each with file, record and remedy.

One reader serves both uses. With ``RAISE``, the default, the first fault is raised, for loading; with
``ValidationIssues(collect=True)`` the reader continues without the faulty record, for ``cirque datasets check``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cir_core.errors import DatasetError
from cir_core.support.texts import shortened

_LONGEST = 2_000  # characters of a fault's message; quotations in it are shortened earlier
KEPT = 1_000  # faults listed; a broken export has the same one on every line


@dataclass(frozen=True)
class Fault:
    """``record``: "record 3" of an array (from 0), "line 12" of lines (from 1), "key 'a'", or ""
    for the file as a whole. ``problem`` and ``remedy`` are sentences without their full stop."""

    file: str
    record: str
    problem: str
    remedy: str

    def __str__(self) -> str:
        where = f"{self.file}, {self.record}" if self.record else self.file
        return f"{where}: {self.problem}. {self.remedy}."


class ValidationIssues:
    """``most``: where a reader gives up, with an error."""

    def __init__(self, *, collect: bool = False, most: int | None = None) -> None:
        self.found: list[Fault] = []
        self.count = 0
        self._collect, self._most = collect, most

    def add(self, file: Path, record: str | int, problem: str, remedy: str) -> None:
        """Add a fault; a number is a record of an array. Raises ``DatasetError`` unless collecting."""
        if self._most is not None and self.count >= self._most:
            raise DatasetError(f"{file} has more than {self._most:,} faults. Check that it is the right file.")
        if len(self.found) >= KEPT:
            self.count += 1
            return
        named = f"record {record}" if isinstance(record, int) else record
        fault = Fault(str(file), shortened(named, _LONGEST), shortened(problem, _LONGEST).rstrip("."),
                      shortened(remedy, _LONGEST).rstrip("."))
        if not self._collect:
            raise DatasetError(str(fault))
        self.count += 1
        self.found.append(fault)


RAISE = ValidationIssues()
"""Raises the first fault and stores nothing: the default of every reader."""
