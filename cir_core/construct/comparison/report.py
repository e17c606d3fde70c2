"""The comparison of sources of sessions as JSON and as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from cir_core.construct.comparison.measures import Group, SourceMeasures
from cir_core.construct.describe.words import expected_types, wording
from cir_core.construct.filtering.stages import STAGES, FilterSettings
from cir_core.construct.judging.scores import JudgedSession, ScoreRow, score_rows, score_table
from cir_core.errors import DatasetError
from cir_core.reports.cells import shown
from cir_core.reports.records import ReportColumn, ReportTable

_MEASURES: tuple[tuple[str, str, str], ...] = (
    ("sessions", "sessions", "count"), ("mean_turns", "turns, mean", "number"),
    ("found", "target found", "share"), ("median_final_rank", "final rank, median", "count"),
    ("words_first", "words of the first text, mean", "number"), ("words_later", "words of later texts, mean", "number"),
    ("types", "different words", "count"), ("type_token_ratio", "type-token ratio", "number"),
    ("type_token_ratio_equal", "type-token ratio at equal words", "number"),
    ("similarity", "similarity of successive texts, mean", "number"),
)


@dataclass(frozen=True)
class Comparison:
    """``judged``: rows of whole sources."""

    sources: tuple[SourceMeasures, ...]
    settings: FilterSettings
    encoder: str
    judged: tuple[ScoreRow, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[int, int]:
        """Numbers of words at which type-token ratios compare, of all and of kept sessions: those of the source with
        the fewest; sources without any do not count."""
        fewest = [min(filter(None, (group.words for group in groups)), default=0)
                  for groups in ([one.all for one in self.sources], [one.kept for one in self.sources])]
        return fewest[0], fewest[1]

    def measures(self) -> list[tuple[SourceMeasures, Mapping[str, Any], Mapping[str, Any]]]:
        """Each source with the numbers of all and of its kept sessions."""
        every, kept = self.words
        return [(one, _numbers(one.all, every), _numbers(one.kept, kept)) for one in self.sources]

    def as_json(self) -> dict[str, Any]:
        """Numbers that are not there, e.g. a mean over no session, are null."""
        scores = {row.source: row.as_json() for row in self.judged}
        return {
            "encoder": self.encoder, "epsilon": self.settings.epsilon, "tau": self.settings.tau,
            "equal_words": dict(zip(("all", "kept"), self.words, strict=True)), "notes": list(self.notes),
            "sources": [{"source": one.name, "sessions": one.all.sessions, "kept_after": dict(one.kept_after),
                         "all": dict(whole), "kept": dict(kept), "judged": scores.get(one.name)}
                        for one, whole, kept in self.measures()],
        }


def judged_rows(judged: Any, names: Sequence[str]) -> list[ScoreRow]:
    """Of the content of ``judged.json``, the rows of the sources that ``names`` has. Raises ``DatasetError``."""
    try:
        sessions = [JudgedSession.from_json(one) for one in judged["sessions"]]
        seed = int(judged["card"]["seed"])
    except (KeyError, TypeError, ValueError) as error:
        raise DatasetError("The file of scores is not one that cirque construct judge wrote (judged.json).") from error
    return [row for row in score_rows([one for one in sessions if one.source in names], seed)
            if row.subset is None and row.turns is None]


def filter_table(found: Comparison) -> ReportTable:
    """Sessions left after each filter."""
    columns = (ReportColumn("source", "source", "text"), ReportColumn("sessions", "sessions", "count"),
               *(ReportColumn(stage, f"after {stage}", "count") for stage in STAGES))
    rows = tuple((one.name, one.all.sessions, *(one.kept_after[stage] for stage in STAGES)) for one in found.sources)
    return ReportTable("filters", "Sessions left after each filter", columns, rows)


def measure_table(found: Comparison) -> ReportTable:
    """A row for each measure; for each source a column of all sessions and one of those that the filters keep."""
    columns = (ReportColumn("measure", "", "text"), *(
        ReportColumn(f"{one.name} {which}", f"{one.name}, {which}", "text")
        for one in found.sources for which in ("all", "kept")))
    groups = [numbers for _, *both in found.measures() for numbers in both]
    rows = tuple((title, *(shown(numbers[key], kind) for numbers in groups))
                 for key, title, kind in _MEASURES)
    return ReportTable("measures", "Sessions compared", columns, rows,
                       f"Texts are compared by {found.encoder}. The type-token ratio falls with the number of words; "
                       f"equal words: {found.words[0]:,} of all sessions, {found.words[1]:,} of kept ones.")


def judged_table(found: Comparison) -> ReportTable:
    return score_table(found.judged)


def _numbers(group: Group, words: int) -> dict[str, Any]:
    first, later, every = (wording("", texts) for texts in (group.first_texts, group.later_texts, group.texts))
    types = expected_types(group.texts, words)
    return {
        "sessions": group.sessions, "turns": group.turns,
        "mean_turns": group.turns / group.sessions if group.sessions else None,
        "found": group.found / group.sessions if group.sessions else None,
        "median_final_rank": median(group.final_ranks) if group.final_ranks else None,
        "words_first": first.mean_words, "words_later": later.mean_words, "words": every.words, "types": every.types,
        "type_token_ratio": every.type_token_ratio,
        "type_token_ratio_equal": None if types is None else types / words,
        "similarity": sum(group.similarities) / len(group.similarities) if group.similarities else None,
    }
