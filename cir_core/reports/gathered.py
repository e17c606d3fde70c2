"""What reports give while one run collects it: the sections that commands print, and the figures that they draw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from cir_core.reports.records import ReportTable, Section

_TIMES = frozenset({"times"})   # keys of tables that differ from run to run


@dataclass
class Gathered:
    """``remarks``: what stands beside the tables, sentence by sentence; ``drawn``: figures beside their sections."""

    remarks: list[str] = field(default_factory=list)
    given: list[Section] = field(default_factory=list)
    drawn: list[Section] = field(default_factory=list)

    @property
    def sections(self) -> tuple[Section, ...]:
        """What was given, then the figures that no given section has."""
        there = {(one.key, one.title) for section in self.given for one in section.figures}
        further = []
        for section in self.drawn:
            left = tuple(one for one in section.figures if (one.key, one.title) not in there)
            there |= {(one.key, one.title) for one in left}
            further += [replace(section, figures=left)] if left else []
        return (*self.given, *further)


_gathering: ContextVar[Gathered | None] = ContextVar("gathering", default=None)


@contextmanager
def gathering() -> Iterator[Gathered]:
    """All that is given and drawn within the block, but tables of times."""
    found = Gathered()
    token = _gathering.set(found)
    try:
        yield found
    finally:
        _gathering.reset(token)


def given(parts: Iterable[str | ReportTable | Section]) -> None:
    """A report was given, in this order."""
    found = _gathering.get()
    if found is None:
        return
    for part in parts:
        if isinstance(part, str):
            found.remarks += [part.strip()] if part.strip() else []
        elif isinstance(part, Section):
            found.given.append(part)
        elif part.key not in _TIMES:
            found.given.append(Section(part.key, "", "", tables=(part,)))


def drawn(sections: Iterable[Section]) -> None:
    """Figures were written, of these sections."""
    found = _gathering.get()
    if found is not None:
        found.drawn += [replace(section, intro="", headlines=(), tables=()) for section in sections if section.figures]
