"""Downloads of study results."""

from __future__ import annotations

from starlette.responses import Response

from annotation.kinds.table import KINDS, Export
from annotation.records import Study
from annotation.studies.store import StudyStore
from annotation.tables.files import as_zip
from web.http.file_names import disposition, file_stem

_TYPES = {"json": "application/json", "jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8",
          "parquet": "application/vnd.apache.parquet"}


def download(store: StudyStore, study: Study, export: Export) -> Response:
    """A study in a form of its kind. Several files come as a zip, with notes on what they lack.

    Raises ``StudyError`` for an unknown form or table, and for a study that has nothing to write.
    """
    kind = KINDS[study.kind]
    files, notes = kind.export(store, study, export)
    if len(files) == 1 and not notes and export.form not in kind.zipped:
        (name, content), = files.items()
        return _file(content, study, name, _TYPES[name.rpartition(".")[2]])
    said = {"NOTES.txt": ("\n".join(notes) + "\n").encode()} if notes else {}
    return _file(as_zip({**files, **said}), study, f"{export.form}.zip", "application/zip")


def _file(content: bytes, study: Study, ending: str, media_type: str) -> Response:
    return Response(content, media_type=media_type, headers={
        "Content-Disposition": disposition(f"{file_stem(study.name)} {ending}"),
        "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
    })
