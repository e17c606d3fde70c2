"""The kinds of study, a row each: what differs between them, for code that serves all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.analysis.records import (
    AnyReport,
    Groups,
    MetricScores,
    Options,
    Precision,
    Scale,
    Section,
    Selection,
    StudyAnswers,
)
from annotation.kinds.marks import exports as marks_exports
from annotation.kinds.marks.answers import Targets
from annotation.kinds.marks.report.as_json import target_json
from annotation.kinds.marks.report.report import target_report
from annotation.kinds.marks.report.sections import target_sections
from annotation.kinds.preference.answers import Preference
from annotation.kinds.preference.exclusion import Rules
from annotation.kinds.preference.report.as_json import preference_json
from annotation.kinds.preference.report.precision import rate_precision
from annotation.kinds.preference.report.report import K, preference_report
from annotation.kinds.preference.report.score_files import read_scores
from annotation.kinds.preference.report.sections import preference_sections
from annotation.kinds.preference.review import preference_files
from annotation.kinds.ratings import exports as ratings_exports
from annotation.kinds.ratings.answers import Sessions
from annotation.kinds.ratings.report.as_json import session_json
from annotation.kinds.ratings.report.judged_files import read_judged
from annotation.kinds.ratings.report.report import session_precision, session_report
from annotation.kinds.ratings.report.sections import session_sections
from annotation.kinds.validity.answers import Validity
from annotation.kinds.validity.exports import study_files as validity_exports
from annotation.kinds.validity.labels import LabelRule
from annotation.kinds.validity.report.as_json import validity_json
from annotation.kinds.validity.report.precision import kappa_precision
from annotation.kinds.validity.report.report import validity_report
from annotation.kinds.validity.report.sections import validity_sections
from annotation.records import Item, Study
from annotation.studies.kinds import StudyKind
from annotation.studies.store import StudyStore

Files = tuple[Mapping[str, bytes], tuple[str, ...]]
"""Contents by file name, and notes on omissions."""
ReadScores = Callable[[bytes | str, Sequence[Item], str], Sequence[MetricScores]]
"""Scores of the items in a file of that name."""


@dataclass(frozen=True)
class Export:
    """How a study is written. A kind ignores what it does not have: ``rule`` is of validity studies, ``everything``
    (also what its rules exclude) of preference studies."""

    form: str
    tables: Collection[str] | None = None      # None: all
    rule: LabelRule = "majority"
    everything: bool = False


@dataclass(frozen=True)
class ReportRequest:
    """What a report is asked for. ``rules`` and ``ks`` are of preference studies; ``scores``: of metrics in a
    preference study, of language models in a session study."""

    selection: Selection = Selection()
    options: Options = Options()
    rules: Rules | None = None
    scores: Sequence[MetricScores] = ()
    ks: Sequence[int] = (K,)


@dataclass(frozen=True)
class Kind:
    """``files`` raises ``StudyError`` for an unknown form or table, and where there is nothing to write; ``report`` and
    ``plan`` for an invalid selection or option. ``plan``: sizes for an interval of that width."""

    answers: StudyKind
    files: Callable[[StudyStore, Study, Export], Files]
    report: Callable[[StudyAnswers, ReportRequest], AnyReport]
    sections: Callable[[Any, Sequence[Precision]], Iterable[Section]]
    json: Callable[[Any], Mapping[str, Any]]
    scale: Scale                               # of Krippendorff's alpha
    scale_reason: str                          # a sentence without full stop
    groups: Groups = Groups()
    plan: Callable[[StudyAnswers, ReportRequest, float], tuple[Precision, ...]] | None = None
    zipped: frozenset[str] = frozenset()       # forms of several files, zipped even if there is one
    has_decisions: bool = False                # of adjudication
    has_checks: bool = False                   # of attention
    has_sets: bool = False                     # result sets, which metrics and methods can score
    read_scores: ReadScores | None = None
    one: str = "item"                          # what people judge, in words
    many: str = "items"
    has_unsure: bool = False                   # whether people may leave an item to adjudication


KINDS: dict[str, Kind] = {
    "validity": Kind(
        Validity(),
        lambda store, study, asked: validity_exports.study_files(
            store, study, asked.form, asked.rule, tables=_tables(asked, validity_exports.TABLES)),
        lambda answers, asked: validity_report(answers, asked.selection, asked.options),
        validity_sections, validity_json, "nominal", "Verdicts and flags have no order",
        Groups(category_field="hidden_category"),
        lambda answers, asked, width: kappa_precision(answers, width, asked.options, asked.selection),
        zipped=frozenset({"circus", "mbeir"}), has_decisions=True, has_unsure=True),
    "preference": Kind(
        Preference(),
        lambda store, study, asked: preference_files(store, study, asked.form, everything=asked.everything),
        lambda answers, asked: preference_report(
            answers, asked.selection, asked.options, rules=asked.rules, scores=asked.scores, ks=asked.ks),
        preference_sections, preference_json, "ordinal", "Ratings from 1 to 5 have an order",
        Groups(has_block=False),
        lambda answers, asked, width: rate_precision(
            answers, width, asked.options, asked.selection, rules=asked.rules, scores=asked.scores,
            metric=f"recall@{(*asked.ks, K)[0]}"),
        has_checks=True, has_sets=True,
        read_scores=lambda content, items, where: read_scores(content, items, where=where or "scores.csv"),
        one="question", many="questions"),
    "sessions": Kind(
        Sessions(),
        lambda store, study, asked: ratings_exports.session_files(
            store, study, asked.form, tables=_tables(asked, ratings_exports.TABLES)),
        lambda answers, asked: session_report(answers, asked.selection, asked.options, scores=asked.scores),
        session_sections, session_json, "ordinal", "Ratings from 1 to 5 have an order",
        Groups("subset", "subset", "source", "source"),
        lambda answers, asked, width: session_precision(answers, width, asked.options, asked.selection),
        read_scores=lambda content, items, where: (read_judged(content, items, where=where or "judged.json"),),
        one="session", many="sessions"),
    "targets": Kind(
        Targets(),
        lambda store, study, asked: marks_exports.target_files(
            store, study, asked.form, tables=_tables(asked, marks_exports.TABLES)),
        lambda answers, asked: target_report(answers, asked.selection, asked.options),
        lambda report, plan: target_sections(report), target_json, "nominal", "Yes and no have no order",
        zipped=frozenset({"soft"}), one="query", many="queries"),
}
"""By ``Study.kind``."""


def _tables(asked: Export, all_of_them: Collection[str]) -> Collection[str]:
    return all_of_them if asked.tables is None else asked.tables
