"""A study from Python: its answers and the tables of its report as data frames, its figures as image files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

from annotation.kinds.reports import WholeReport
from annotation.kinds.table import KINDS, Export
from annotation.records import Study
from annotation.studies.store import StudyStore
from cir_core.errors import StudyError
from cir_core.reports.drawing import ImageForm, Style, image_files
from cir_core.support.files import write_atomically
from cir_core.support.texts import quoted

if TYPE_CHECKING:
    import pandas as pd

_ANSWERS = "judgements"


def answers_frame(store: StudyStore, study: Study, table: str = _ANSWERS) -> pd.DataFrame:
    """A table of ``cirque study export parquet``, with its columns and types: by default the answers, a row each (of a
    target study a row for each mark). Raises ``StudyError`` for a table that studies of this kind do not have."""
    import pandas as pd

    kind = KINDS[study.kind]
    files, _ = kind.export(store, study, Export("parquet"))
    if (name := f"{table}.parquet") not in files:
        there = ", ".join(one.removesuffix(".parquet") for one in files)
        raise StudyError(f"{study.name} is {study.called}, which has no table {quoted(table)}. It has: {there}.")
    return pd.read_parquet(io.BytesIO(files[name]))


def table_frame(whole: WholeReport, key: str) -> pd.DataFrame:
    """A table of a report, unrounded; ``key``: its file's name without ending. Raises ``StudyError``."""
    import pandas as pd

    found = {table.key: table for section in whole.sections for table in section.tables}
    if key not in found:
        raise StudyError(f"This report has no table {quoted(key)}. It has: {', '.join(found)}.")
    return pd.DataFrame(list(found[key].rows), columns=[column.key for column in found[key].columns])


def save_figure(whole: WholeReport, key: str, path: Path | str, style: Style = Style()) -> None:
    """Write a figure of a report as SVG, PDF or PNG, by the ending of ``path``. Raises ``StudyError``, and ``OSError``
    if the file cannot be written."""
    found = {figure.key: figure for section in whole.sections for figure in section.figures}
    if key not in found:
        raise StudyError(f"This report has no figure {quoted(key)}. It has: {', '.join(found) or 'none'}.")
    form = Path(path).suffix.removeprefix(".").lower()
    if form not in get_args(ImageForm):
        raise StudyError(f"{path} does not name a format. End it with .svg, .pdf or .png.")
    write_atomically(Path(path), image_files(found[key], style, (cast(ImageForm, form),))[form])
