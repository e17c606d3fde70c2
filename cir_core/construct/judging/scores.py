"""Means of scores with intervals, as in CIRCLED's Table 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cir_core.evaluation.metrics.bootstrap import estimates
from cir_core.reports.records import ReportColumn, ReportTable

DIMENSIONS = ("naturalness", "coherence", "progress", "redundancy", "overall")
_SHORT = ("natural", "coherent", "progress", "low redund.", "overall")
_NOTE = ("1 (very bad) to 5 (excellent); low redundancy is better when higher. In brackets: 95 % bootstrap intervals "
         "over sessions.")


@dataclass(frozen=True)
class JudgedSession:
    """``content``: digest of the session, which numbers of other files do not change; "" if it is unknown."""

    source: str
    subset: str
    session_id: str
    turns: int
    scores: Mapping[str, int]   # by dimension
    reason: str
    notes: tuple[str, ...] = ()
    content: str = ""

    def as_json(self) -> dict[str, Any]:
        return {"source": self.source, "subset": self.subset, "session_id": self.session_id, "turns": self.turns,
                **self.scores, "reason": self.reason, **({"notes": list(self.notes)} if self.notes else {}),
                **({"content": self.content} if self.content else {})}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> JudgedSession:
        return cls(given["source"], given["subset"], given["session_id"], given["turns"],
                   {name: given[name] for name in DIMENSIONS}, given["reason"], tuple(given.get("notes", ())),
                   given.get("content", ""))


@dataclass(frozen=True)
class Score:
    """``sd``: standard deviation between sessions; it and the interval are None with fewer than two sessions."""

    mean: float
    sd: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class ScoreRow:
    """Of all sessions of a source (``subset`` and ``turns`` None), of those of one subset, or with so many turns."""

    source: str
    subset: str | None
    turns: int | None
    sessions: int
    mean_turns: float
    scores: Mapping[str, Score]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def score_rows(judged: Sequence[JudgedSession], seed: int) -> list[ScoreRow]:
    """A row for each source, each of its subsets, and each number of turns in it. Every session counts the same."""
    rows = []
    for source in dict.fromkeys(one.source for one in judged):
        of_source = [one for one in judged if one.source == source]
        rows.append(_row(source, None, None, of_source, seed))
        for subset in sorted({one.subset for one in of_source}):
            rows.append(_row(source, subset, None, [one for one in of_source if one.subset == subset], seed))
        for turns in sorted({one.turns for one in of_source}):
            rows.append(_row(source, None, turns, [one for one in of_source if one.turns == turns], seed))
    return rows


def score_table(rows: Sequence[ScoreRow]) -> ReportTable:
    """By source and subset."""
    return _table("scores", "Scores by source and subset", ReportColumn("subset", "subset", "text"),
                  [(one, one.subset or "all") for one in rows if one.turns is None])


def turn_table(rows: Sequence[ScoreRow]) -> ReportTable:
    """By source and number of turns: longer sessions are rated differently, so sources of other lengths need it."""
    return _table("scores-by-turns", "Scores by number of turns", ReportColumn("turns", "turns", "count"),
                  [(one, one.turns) for one in rows if one.turns is not None])


def _row(
    source: str, subset: str | None, turns: int | None, judged: Sequence[JudgedSession], seed: int
) -> ScoreRow:
    values = np.array([[one.scores[name] for name in DIMENSIONS] for one in judged], dtype=np.float64)
    deviations = values.std(axis=0, ddof=1) if len(values) > 1 else [None] * len(DIMENSIONS)
    scores = {name: Score(found.value, None if sd is None else float(sd), found.low, found.high)
              for name, found, sd in zip(DIMENSIONS, estimates([values], seed=seed), deviations, strict=True)}
    return ScoreRow(source, subset, turns, len(judged), float(np.mean([one.turns for one in judged])), scores)


def _table(key: str, title: str, by: ReportColumn, rows: Sequence[tuple[ScoreRow, Any]]) -> ReportTable:
    columns = (ReportColumn("source", "source", "text"), by, ReportColumn("sessions", "sessions", "count"),
               ReportColumn("mean_turns", "mean turns", "score"),
               *(column for name, short in zip(DIMENSIONS, _SHORT, strict=True) for column in (
                   ReportColumn(name, short, "score"), ReportColumn(f"{name}_low", "low", "score"),
                   ReportColumn(f"{name}_high", "high", "score"))))
    cells = tuple((row.source, place, row.sessions, row.mean_turns,
                   *(cell for name in DIMENSIONS
                     for cell in (row.scores[name].mean, row.scores[name].low, row.scores[name].high)))
                  for row, place in rows)
    return ReportTable(key, title, columns, cells, _NOTE, "No session was judged.")
