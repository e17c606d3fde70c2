"""Downloads of reports and their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from starlette.responses import Response

from annotation.tables.files import as_zip
from cir_core.errors import StudyError
from cir_core.reports.formats import Form, table_file
from cir_core.support.texts import quoted
from web.analysis.report_cache import CachedReport
from web.http.file_names import disposition, file_stem

if TYPE_CHECKING:
    from annotation.kinds.documents import ReportForm

_TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json", "md": "text/markdown; charset=utf-8",
          "tex": "application/x-tex; charset=utf-8", "html": "text/html; charset=utf-8", "zip": "application/zip"}
FILES = ("md", "html", "json", "zip")


def table_answer(made: CachedReport, key: str, form: str) -> Response:
    """One table of the report, in one of :data:`cir_core.reports.formats.FORMS`. Raises ``StudyError``."""
    tables = {table.key: table for section in made.whole.sections for table in section.tables}
    if key not in tables:
        raise StudyError(f"This report has no table {quoted(key)}. It has: {', '.join(tables)}.")
    return _file(table_file(tables[key], cast(Form, form)), made, key, form)


def report_file(made: CachedReport, form: str) -> Response:
    """The whole report. ``form``: one of :data:`FILES`; the zip holds the others, all tables and the figures."""
    from annotation.kinds.documents import report_file as one_file
    from annotation.kinds.documents import report_files

    if form == "zip":
        return _file(as_zip(dict(sorted(report_files(made.whole).items()))), made, "report", form)
    return _file(one_file(made.whole, cast("ReportForm", form)), made, "report", form)


def _file(content: bytes, made: CachedReport, what: str, form: str) -> Response:
    return Response(content, media_type=_TYPES[form], headers={
        "Content-Disposition": disposition(f"{file_stem(made.looked.study.name)} {what}.{form}"),
        "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
    })
