"""Endpoints of the analysis screen: studies, reports, tables, files and disputed items. Downloads of reports and
their tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

from fastapi import APIRouter
from orjson import Fragment
from starlette.responses import Response

from annotation.analysis.records import Options
from annotation.records import AuditEvent, same_person
from annotation.studies import input_limits
from annotation.tables import as_zip
from cir_core.errors import StudyError
from cir_core.reports.drawing import IMAGE_FORMS, ImageForm, image_files
from cir_core.reports.formats import FORMS, Form, table_file
from cir_core.support.texts import quoted
from web.analysis import report_json as present
from web.analysis.metric_scores import scores_routes
from web.analysis.query import ReportParams, read_query
from web.analysis.report_cache import CachedReport, ReportCache
from web.http.json_api import Deferred, disposition, file_stem, get_endpoint, json_routes
from web.http.request_fields import one_of, whole
from web.http.visitor import Visitor, check
from web.services import Services

if TYPE_CHECKING:
    from annotation.kinds.reports import ReportForm

_TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json", "md": "text/markdown; charset=utf-8",
          "tex": "application/x-tex; charset=utf-8", "html": "text/html; charset=utf-8", "zip": "application/zip",
          "svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}
FILES = ("md", "html", "json", "zip")


def table_answer(made: CachedReport, key: str, form: str) -> Response:
    """One table of the report, in one of :data:`cir_core.reports.formats.FORMS`. Raises ``StudyError``."""
    tables = {table.key: table for section in made.whole.sections for table in section.tables}
    if key not in tables:
        raise StudyError(f"This report has no table {quoted(key)}. It has: {', '.join(tables)}.")
    return _file(table_file(tables[key], cast(Form, form)), made, key, form)


def figure_answer(made: CachedReport, key: str, form: str) -> Response:
    """One figure of the report as an image, the same file as `cirque report` writes. Raises ``StudyError``."""
    figures = {figure.key: figure for section in made.whole.sections for figure in section.figures}
    if key not in figures:
        raise StudyError(f"This report has no figure {quoted(key)}. It has: {', '.join(figures) or 'none'}.")
    image = cast(ImageForm, form)
    return _file(image_files(figures[key], forms=(image,))[image], made, key, form)


def report_file(made: CachedReport, form: str) -> Response:
    """The whole report. ``form``: one of :data:`FILES`; the zip holds the others, all tables and the figures as
    plotly's JSON, since drawing them as images would take long for an answer."""
    from annotation.kinds.reports import report_file as one_file
    from annotation.kinds.reports import report_files

    if form == "zip":
        return _file(as_zip(dict(sorted(report_files(made.whole).items()))), made, "report", form)
    return _file(one_file(made.whole, cast("ReportForm", form)), made, "report", form)


def _file(content: bytes, made: CachedReport, what: str, form: str) -> Response:
    return Response(content, media_type=_TYPES[form], headers={
        "Content-Disposition": disposition(f"{file_stem(made.looked.study.name)} {what}.{form}"),
        "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
    })


_MOST_DISPUTED = 50


def analysis_routes(services: Services, analyses: ReportCache | None = None) -> APIRouter:
    """``/analysis/…``, for users who may see results.

    All but the list take the parameters of :func:`web.analysis.query.read_query`. ``/report`` with ``since`` (a
    report's stamp) returns only ``unchanged`` if nothing has changed.
    """
    store = services.study_store
    analyses = analyses or ReportCache(store, services.settings.home)
    usual = Options(seed=services.settings.seed)

    def studies(visitor: Visitor, query: Mapping[str, str]) -> object:
        check(visitor, "results")
        return {"studies": [
            present.study(one, store.counts(one.study_id), you_judge=any(
                same_person(seat.annotator, visitor.name) for seat in store.seats(one.study_id)))
            for one in store.studies()]}

    def report(visitor: Visitor, query: Mapping[str, str]) -> object:
        name, wanted = reading(visitor, query, "since")
        stamp = analyses.looked(name).stamp
        if query.get("since") == stamp:
            return {"stamp": stamp, "unchanged": True}
        return in_time(name, wanted, lambda: Fragment(analyses.made(name, wanted).json_for(visitor.name)))

    def table(visitor: Visitor, query: Mapping[str, str]) -> object:
        name, wanted = reading(visitor, query, "table", "form")
        form = one_of(query, "form", FORMS, "csv")
        key = query.get("table", "")
        return in_time(name, wanted, lambda: noted(
            visitor, {"table": key, "form": form}, analyses.made(name, wanted), lambda it: table_answer(it, key, form)))

    def figure(visitor: Visitor, query: Mapping[str, str]) -> object:
        name, wanted = reading(visitor, query, "figure", "form")
        form = one_of(query, "form", IMAGE_FORMS, "svg")
        key = query.get("figure", "")
        return Deferred(lambda: noted(      # drawing takes about a second
            visitor, {"figure": key, "form": form}, analyses.made(name, wanted),
            lambda it: figure_answer(it, key, form)), limited="figures")

    def file(visitor: Visitor, query: Mapping[str, str]) -> object:
        name, wanted = reading(visitor, query, "form")
        form = one_of(query, "form", FILES, "html")
        return in_time(name, wanted, lambda: noted(
            visitor, {"form": form}, analyses.made(name, wanted), lambda it: report_file(it, form)))

    def disputed(visitor: Visitor, query: Mapping[str, str]) -> object:
        name, wanted = reading(visitor, query, "a", "b", "key", "offset", "limit")
        offset, limit = whole(query, "offset", 0), whole(query, "limit", 20, least=1, most=_MOST_DISPUTED)
        a, b = (whole(query, seat, 0, least=1) if seat in query else None for seat in ("a", "b"))
        if (a is None) != (b is None) or (a is not None and a == b):
            raise StudyError("“a” and “b” are the seats of two people. Give both, or neither for all judges.")
        key = query.get("key", "signature")[:80]

        def page() -> object:
            looked, found = analyses.disputed(name, wanted, a, b, key)
            study_id, shown = looked.study.study_id, found[offset:offset + limit]
            return present.disputed(study_id, shown, len(found), analyses.images(study_id) if shown else {})

        return page() if analyses.is_near(name) else Deferred(page)

    def reading(visitor: Visitor, query: Mapping[str, str], *more: str) -> tuple[str, ReportParams]:
        """The requested study name and the report parameters."""
        check(visitor, "results")
        return input_limits.checked_study(query.get("study", "")), read_query(query, more, usual)

    def noted(
        visitor: Visitor, details: Mapping[str, str], made: CachedReport, answer: Callable[[CachedReport], Response],
    ) -> Response:
        study, content = made.looked.study, answer(made)   # what cannot be had is no download
        store.log_event(AuditEvent("report.downloaded", visitor.name, study.name, study.study_id, details))
        return content

    def in_time(name: str, wanted: ReportParams, work: Callable[[], object]) -> object:
        """Compute point estimates immediately, unless a large study must be read; queue interval computations."""
        return work() if analyses.at_once(name, wanted) else Deferred(work)

    gets = {"/studies": studies, "/report": report, "/table": table, "/figure": figure, "/file": file,
            "/disputed": disputed}
    routes = json_routes("/analysis", {path: get_endpoint(call, slow=True) for path, call in gets.items()}, {})
    routes.include_router(scores_routes(services, analyses))
    return routes
