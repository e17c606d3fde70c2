"""Compose a whole report: numbers, sections for readers, and JSON for scripts. Used by both the screen and the
command line, so that their reports are equal. A report as files: Markdown, one HTML page that needs no network,
JSON, every table and figure by itself, and LaTeX. Load the inputs of a report from the store.

Nothing is computed here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from annotation.analysis.records import (
    AnyReport,
    Headline,
    MetricScores,
    Options,
    Precision,
    Scale,
    Section,
    Selection,
    StudyAnswers,
)
from annotation.analysis.rendering import SCHEMA_VERSION, selected, without_empty
from annotation.kinds.models.kept import read_models
from annotation.kinds.models.report import ModelReport, model_reports
from annotation.kinds.models.sections import model_json, model_sections
from annotation.kinds.preference.report.report import K
from annotation.kinds.table import KINDS, ReportRequest
from annotation.quality.rules import Rules
from annotation.records import Study
from annotation.studies.store import StudyStore
from cir_core.errors import StudyError
from cir_core.reports.cells import shown, shown_interval
from cir_core.reports.drawing import Style
from cir_core.reports.formats import markdown_grid, markdown_table, markdown_text
from cir_core.reports.page import html_page, remark
from cir_core.reports.paper import paper_files
from cir_core.support.files import shipped_folder
from cir_core.support.texts import shortened


@dataclass(frozen=True)
class WholeReport:
    """A composed report. ``json`` has stable keys; "plan" is a list, empty without a plan."""

    report: AnyReport
    sections: tuple[Section, ...]
    json: Mapping[str, Any]


def compose(
    answers: StudyAnswers, selection: Selection = Selection(), options: Options = Options(), *,
    rules: Rules | None = None, scores: Sequence[MetricScores] = (), ks: Sequence[int] = (K,),
    width: float | None = None,
) -> WholeReport:
    """The report of a study of any kind.

    Args:
        rules, scores, ks: as in :class:`~annotation.kinds.table.ReportRequest`.
        width: of the 95 % interval to plan for, upper minus lower; None: no plan. Without draws, and for a target
            study, there is no plan either.

    Raises ``StudyError`` for an invalid selection or option.
    """
    kind, asked = KINDS[answers.study.kind], ReportRequest(selection, options, rules, scores, ks)
    report = kind.report(answers, asked)
    plan = kind.plan(answers, asked, width) if kind.plan and width is not None and options.draws else ()
    models = (model_reports(replace(kind.asking.counted(answers, selection, rules), models=answers.models), kind.asking,
                            options) if kind.asking and answers.models else ())
    return whole_report(report, plan, models)


def whole_report(
    report: AnyReport, plan: Sequence[Precision] = (), models: Sequence[ModelReport] = (),
) -> WholeReport:
    """``report`` with its sections and JSON. Sections without any number are only named, among the settings. What
    ``models`` said comes before the method."""
    kind = KINDS[report.about.kind]
    *sections, method = kind.sections(report, plan)
    compared = {"model_answers": [model_json(one) for one in models]} if models else {}
    return WholeReport(report, without_empty([*sections, *model_sections(models, report.about.options), method]), {
        "schema_version": SCHEMA_VERSION, **kind.json(report), **compared, "plan": [asdict(one) for one in plan]})


def check_scale(kind: str, scale: str) -> None:
    """Raises ``StudyError`` if ``scale`` is not that of what a study of this kind collects."""
    right = KINDS[kind].scale
    if scale == right:
        return
    known = "" if scale in get_args(Scale) else f"There is no scale “{shortened(scale)}”. "
    raise StudyError(f"{known}{KINDS[kind].scale_reason}: Krippendorff's alpha of a {kind.removesuffix('s')} study is "
                     f"{right}. Ask for {right}, or leave the scale out.")


def report_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of ``WholeReport.json``, `assets/report/report.schema.json`."""
    schema: dict[str, Any] = json.loads((shipped_folder("report") / "report.schema.json").read_text("utf-8"))
    return schema


ReportForm = Literal["md", "html", "json"]
REPORT_FORMS: tuple[ReportForm, ...] = ("md", "html", "json")
_HEADLINES = ("Number", "Value", "95 % interval", "n", "Of", "Remark")


def markdown(report: AnyReport, sections: Sequence[Section]) -> str:
    """The report with all tables. Figures are named: Markdown cannot hold them."""
    parts = [f"# {markdown_text(report.about.study)}: {report.title.lower()}", markdown_text(_facts(report))]
    for section in sections:
        parts += [f"## {markdown_text(section.title)}", markdown_text(section.intro)]
        if section.headlines:
            parts.append(markdown_grid(_HEADLINES, [_headline_row(one) for one in section.headlines],
                                       [False, True, True, True, False, False]))
        parts += [f"*Figure {figure.key}, in report.html: {markdown_text(figure.title)}.* "
                  + markdown_text(f"{figure.alt} {figure.note}") for figure in section.figures]
        parts += [markdown_table(table).rstrip("\n") for table in section.tables]
    return "\n\n".join(parts) + "\n"


def html(report: AnyReport, sections: Sequence[Section]) -> str:
    """The report as one page; see :func:`cir_core.reports.page.html_page`."""
    return html_page(report.about.study, report.title, _facts(report), sections)


def report_file(whole: WholeReport, form: ReportForm) -> bytes:
    """The report in one form. JSON is what ``cirque report --json`` prints."""
    if form == "json":
        return (_json(whole.json, indent=1) + "\n").encode()
    return (markdown if form == "md" else html)(whole.report, whole.sections).encode()


def report_files(whole: WholeReport, style: Style | None = None) -> Mapping[str, bytes]:
    """Files by path: the report in every form, and :func:`cir_core.reports.paper.paper_files`, with images in
    ``style``, or without any."""
    found = {f"report.{form}": report_file(whole, form) for form in REPORT_FORMS}
    about = whole.report.about
    return found | paper_files(whole.sections, f"{about.study}: {whole.report.title.lower()}", _facts(whole.report),
                               style)


def _facts(report: AnyReport) -> str:
    about, chosen = report.about, selected(report)
    parts = [*([f"selected: {chosen}"] if chosen else ()), about.protocol,
             f"{about.answered:,} of {about.planned:,} planned answers",
             "takes answers" if about.accepting else "closed"]
    if about.latest:
        parts.append(f"latest answer {about.latest[:16].replace('T', ' ')}")
    if version := about.versions.get("cirque"):
        parts.append(f"cirque {version}")
    return " · ".join(parts)


def _headline_row(one: Headline) -> list[str]:
    estimate = one.estimate
    return [one.label, shown(estimate.value, one.kind), shown_interval(estimate.low, estimate.high, one.kind),
            shown(estimate.n, "count"), one.unit, remark(one)]


def _json(value: Mapping[str, Any], indent: int | None = None) -> str:
    separators = None if indent else (",", ":")
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)


def load_answers(store: StudyStore, study: Study, home: Path | None = None) -> StudyAnswers:
    """Load a study with its current judgements, and with the answers of language models in ``home``. Raises
    ``UnknownStudy`` and ``StorageError``, as the store does. Answers to checks are read only for a kind that has
    them."""
    kind = KINDS[study.kind]
    store = kind.counted(store, study)
    return StudyAnswers(
        study, tuple(store.items(study.study_id)), tuple(store.seats(study.study_id)),
        tuple(one for one in store.assignments(study.study_id) if one.dealt is None),
        tuple(store.judgements(study.study_id)),
        tuple(store.decisions(study.study_id)),
        tuple(store.events(study.study_id, kind="check")) if kind.has_survey else (), kind.groups,
        tuple(store.gold_answers(study.study_id)) if kind.has_survey else (),
        read_models(home, study) if home is not None else ())
