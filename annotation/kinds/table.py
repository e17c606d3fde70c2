"""The kinds of study, a row each: what differs between them, for code that serves all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from annotation.adjudication.needs import Case, cases
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
from annotation.kinds.asking import Asking
from annotation.kinds.intake import Intake
from annotation.kinds.marks import exports as marks_exports
from annotation.kinds.marks.answers import Targets, choose_marking
from annotation.kinds.marks.asking import ASKING as MARKS_ASKING
from annotation.kinds.marks.intake import INTAKE as MARKS_INTAKE
from annotation.kinds.marks.report.report import target_json, target_report
from annotation.kinds.marks.report.sections import target_sections
from annotation.kinds.marks.results import target_results, target_source
from annotation.kinds.preference.answers import Preference
from annotation.kinds.preference.asking import ASKING as PREFERENCE_ASKING
from annotation.kinds.preference.intake import INTAKE as PREFERENCE_INTAKE
from annotation.kinds.preference.report.precision import rate_precision
from annotation.kinds.preference.report.report import K, preference_json, preference_report
from annotation.kinds.preference.report.score_files import read_scores
from annotation.kinds.preference.report.sections import preference_sections
from annotation.kinds.preference.review import FORMS as PREFERENCE_FORMS
from annotation.kinds.preference.review import preference_files
from annotation.kinds.preference.survey.texts import choose_survey
from annotation.kinds.ratings import exports as ratings_exports
from annotation.kinds.ratings.answers import Sessions, choose_questions
from annotation.kinds.ratings.asking import ASKING as RATINGS_ASKING
from annotation.kinds.ratings.intake import INTAKE as RATINGS_INTAKE
from annotation.kinds.ratings.report.judged_files import study_scores
from annotation.kinds.ratings.report.report import session_json, session_precision, session_report
from annotation.kinds.ratings.report.sections import session_sections
from annotation.kinds.ratings.results import session_results, session_source
from annotation.kinds.validity.answers import Validity
from annotation.kinds.validity.asking import ASKING as VALIDITY_ASKING
from annotation.kinds.validity.exports import study_files as validity_exports
from annotation.kinds.validity.exports.results import validity_results
from annotation.kinds.validity.intake import INTAKE as VALIDITY_INTAKE
from annotation.kinds.validity.labels import LabelRule
from annotation.kinds.validity.report.precision import kappa_precision
from annotation.kinds.validity.report.report import validity_json, validity_report
from annotation.kinds.validity.report.sections import validity_sections
from annotation.kinds.validity.rubric import choose_rubric
from annotation.quality.people import counted
from annotation.quality.rules import Rules
from annotation.records import Item, Study
from annotation.studies.kinds import StudyKind
from annotation.studies.overview import Results
from annotation.studies.protocols import OWN, Choose, OwnFile, own_text
from annotation.studies.store import StudyStore
from cir_core.errors import StudyError

Files = tuple[Mapping[str, bytes], tuple[str, ...]]
"""Contents by file name, and notes on omissions."""
ReadScores = Callable[[Study, bytes | str, Sequence[Item], str], Sequence[MetricScores]]
"""Scores of a study's items in a file of that name."""


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
class Download:
    """A file that a study is offered as. ``table``: of the forms that write one at a time."""

    form: str
    what: str
    type: str                                  # as people call it: "CSV"
    table: str = ""


@dataclass(frozen=True)
class Kind:
    """``files`` raises ``StudyError`` where there is nothing to write; ``report`` and ``plan`` for an invalid selection
    or option. ``plan``: sizes for an interval of that width."""

    answers: StudyKind
    forms: tuple[str, ...]                     # of exports
    files: Callable[[StudyStore, Study, Export], Files]
    report: Callable[[StudyAnswers, ReportRequest], AnyReport]
    sections: Callable[[Any, Sequence[Precision]], Iterable[Section]]
    json: Callable[[Any], Mapping[str, Any]]
    scale: Scale                               # of Krippendorff's alpha
    scale_reason: str                          # a sentence without full stop
    report_options: frozenset[str]             # of ``cirque report``, besides those of all kinds
    groups: Groups = Groups()
    plan: Callable[[StudyAnswers, ReportRequest, float], tuple[Precision, ...]] | None = None
    tables: tuple[str, ...] = ()               # of the forms csv and parquet; empty: always all of them
    zipped: frozenset[str] = frozenset()       # forms of several files, zipped even if there is one
    results: Callable[[StudyStore, Study, LabelRule], Results] | None = None   # None: only a report
    leaves_unsure: bool = False                # whether people may leave an item to an adjudicator
    source: Callable[[Study], list[list[str]]] | None = None         # origin in words; None: as of most kinds
    has_sets: bool = False                     # result sets, which metrics and methods can score
    read_scores: ReadScores | None = None
    scored: str = ""                           # what ``read_scores`` has scores of: "metric"
    score_type: str = "CSV"                    # of the file with them
    title: str = ""
    one: str = "item"                          # what people judge, in words
    many: str = "items"
    asks: str = ""                             # what the protocol holds: "Rubric"
    undefined: str = "κ"                       # statistic that is undefined without variation, if that is a choice
    downloads: tuple[Download, ...] = ()
    asked_in: tuple[str, str] = ("", "")   # folder of assets and name of the files of what it asks
    choose: Choose = field(kw_only=True)   # what a new study asks: its own file, or the newest of cirque's
    intake: Intake | None = None     # how it is made of a table; None: of no table
    asking: Asking | None = None     # how a language model is asked; None: it cannot be yet

    def export(self, store: StudyStore, study: Study, asked: Export) -> Files:
        """``files``. Raises ``StudyError`` for an unknown form or table, too."""
        tables = self.tables if asked.tables is None else asked.tables
        if asked.form not in self.forms or (self.tables and not set(tables) <= set(self.tables)):
            of = f"; csv and parquet have the tables {' and '.join(self.tables)}" if self.tables else ""
            raise StudyError(f"{study.name} is {study.called}. It is exported as {', '.join(self.forms)}{of}.")
        files, notes = self.files(self.counted(store, study), study, replace(asked, tables=tables))
        if asked.tables is None and asked.form in ("csv", "parquet") and (own := own_text(study)) is not None:
            files = {**files, f"{OWN}.toml": own.encode()}    # what the columns of the tables answer
        return files, notes

    def cases(self, store: StudyStore, study: Study) -> list[Case]:
        """The items that need an adjudicator's decision, and those that have one."""
        return cases(store.items(study.study_id), store.judgements(study.study_id), store.decisions(study.study_id),
                     study, self.answers)

    def counted(self, store: StudyStore, study: Study) -> StudyStore:
        """``store`` without the answers that the study's rules exclude; a survey applies its rules itself."""
        return store if self.has_survey else counted(store, study, self.answers)

    @property
    def words(self) -> Mapping[str, Any]:
        """What screens have to know of a kind: how it calls things, and what it has. Plain JSON."""
        return {
            "title": self.title, "one": self.one, "many": self.many, "asks": self.asks, "undefined": self.undefined,
            "groups": [self.groups.dataset.capitalize(), self.groups.category.capitalize()],
            "options": sorted(self.report_options), "unsure": self.leaves_unsure, "survey": self.has_survey,
            "plans": self.plan is not None, "scored": self.scored, "score_type": self.score_type,
        }

    @property
    def has_survey(self) -> bool:
        """Whether people go through a survey, with forms, checks of attention and an end."""
        return self.answers.flow is not None


def _tabular(*tables: tuple[str, str]) -> tuple[Download, ...]:
    return tuple(Download(form, what, type_, table) for form, type_ in (("csv", "CSV"), ("parquet", "Parquet"))
                 for table, what in tables)


KINDS: dict[str, Kind] = {
    "validity": Kind(
        Validity(), validity_exports.FORMS,
        lambda store, study, asked: validity_exports.study_files(
            store, study, asked.form, asked.rule, tables=asked.tables or ()),
        lambda answers, asked: validity_report(answers, asked.selection, asked.options),
        validity_sections, validity_json, "nominal", "Verdicts and flags have no order",
        frozenset({"dataset", "category", "block", "scale", "width"}),
        Groups(category_field="hidden_category"),
        lambda answers, asked, width: kappa_precision(answers, width, asked.options, asked.selection),
        tables=validity_exports.TABLES,
        zipped=frozenset({"circus", "mbeir"}), results=validity_results, leaves_unsure=True, title="Validity",
        asks="Rubric", asked_in=("rubrics", "circus"), choose=choose_rubric, intake=VALIDITY_INTAKE,
        asking=VALIDITY_ASKING,
        downloads=(
            Download("circus", "CIRCUS, one JSON per annotator", "zip"),
            Download("mbeir", "M-BEIR, the validated queries with trace", "zip"),
            *_tabular(("items", "Items with their final labels"), ("judgements", "Judgements")),
            Download("results", "Counts, and the label of every item", "JSON"))),
    "preference": Kind(
        Preference(), PREFERENCE_FORMS,
        lambda store, study, asked: preference_files(store, study, asked.form, everything=asked.everything),
        lambda answers, asked: preference_report(
            answers, asked.selection, asked.options, rules=asked.rules, scores=asked.scores, ks=asked.ks),
        preference_sections, preference_json, "ordinal", "Ratings from 1 to 5 have an order",
        frozenset({"dataset", "category", "rule", "k", "scores", "resample", "scale", "width"}),
        Groups(has_block=False),
        lambda answers, asked, width: rate_precision(
            answers, width, asked.options, asked.selection, rules=asked.rules, scores=asked.scores,
            metric=f"recall@{(*asked.ks, K)[0]}"),
        has_sets=True,
        read_scores=lambda study, content, items, where: read_scores(content, items, where=where or "scores.csv"),
        scored="metric", title="Preference", one="question", many="questions", asks="Survey", undefined="",
        asked_in=("surveys", "hs-fashioniq"), choose=choose_survey, intake=PREFERENCE_INTAKE, asking=PREFERENCE_ASKING,
        downloads=(
            Download("hp-fashioniq", "HP-FashionIQ’s format", "JSON"), *_tabular(("", "Judgements, and rated sets")),
            Download("preferences", "Pairs for training reward models", "JSONL"))),
    "sessions": Kind(
        Sessions(), ratings_exports.FORMS,
        lambda store, study, asked: ratings_exports.session_files(store, study, asked.form, tables=asked.tables or ()),
        lambda answers, asked: session_report(answers, asked.selection, asked.options, scores=asked.scores),
        session_sections, session_json, "ordinal", "Ratings from 1 to 5 have an order",
        frozenset({"subset", "source", "block", "scores", "scale", "width"}),
        Groups("subset", "subset", "source", "source"),
        lambda answers, asked, width: session_precision(answers, width, asked.options, asked.selection),
        read_scores=study_scores,
        tables=ratings_exports.TABLES,
        results=lambda store, study, rule: session_results(store, study), source=session_source,
        scored="language model", score_type="JSON", title="Sessions", one="session", many="sessions", asks="Questions",
        undefined="α", asked_in=("questions", "circled"),
        choose=choose_questions, intake=RATINGS_INTAKE, asking=RATINGS_ASKING,
        downloads=(*_tabular(("judgements", "Ratings"), ("items", "Sessions with their mean ratings")),
                   Download("results", "Means by source, and of every session", "JSON"))),
    "targets": Kind(
        Targets(), marks_exports.FORMS,
        lambda store, study, asked: marks_exports.target_files(store, study, asked.form, tables=asked.tables or ()),
        lambda answers, asked: target_report(answers, asked.selection, asked.options),
        lambda report, plan: target_sections(report), target_json, "nominal", "Yes and no have no order",
        frozenset({"dataset", "block", "scale"}),
        tables=marks_exports.TABLES,
        zipped=frozenset({"soft"}), results=lambda store, study, rule: target_results(store, study),
        source=target_source, title="Targets", one="query", many="queries", asks="Marks",
        asked_in=("marks", "soft-targets"), choose=choose_marking, intake=MARKS_INTAKE, asking=MARKS_ASKING,
        downloads=(
            Download("soft", "Corrected targets, SoFT’s format", "zip"),
            *_tabular(("judgements", "Marks"), ("images", "Images with what people say")),
            Download("results", "Counts, and the marks of every image", "JSON"))),
}
"""By ``Study.kind``."""


def own_questions(kind: str, path: Path | None) -> OwnFile | None:
    """The file of questions at ``path`` for a new study. Raises ``StudyError`` for one that cannot be read or is
    broken."""
    if path is None:
        return None
    folder = path.absolute().parent
    try:
        found = OwnFile(path.name, path.read_text("utf-8-sig"), lambda name: (
            folder / name if (folder / name).is_file() else None))
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{path} cannot be read as UTF-8: {error}. Check the path.") from error
    KINDS[kind].choose(found, tuple)
    return found


def results_of(store: StudyStore, study: Study, rule: LabelRule = "majority") -> Results:
    """Raises ``StudyError`` for a study of a kind without results. ``rule``: as in :class:`Export`."""
    if (results := KINDS[study.kind].results) is None:
        raise StudyError(f"{study.name} is {study.called}, which has no labels, ratings or marks of items. See "
                         "its methods instead: cirque study quality")
    return results(KINDS[study.kind].counted(store, study), study, rule)
