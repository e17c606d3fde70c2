"""Downloads of study results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.responses import Response

from annotation.kinds.marks.exports import target_files
from annotation.kinds.preference.review import preference_files
from annotation.kinds.ratings.exports import session_files
from annotation.kinds.validity.exports.study_files import study_files
from annotation.kinds.validity.labels import LabelRule
from annotation.records import Study
from annotation.studies.store import StudyStore
from annotation.tables.files import as_zip
from web.http.file_names import disposition, file_stem

_TYPES = {"json": "application/json", "jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8",
          "parquet": "application/vnd.apache.parquet"}


def download(store: StudyStore, study: Study, form: str, table: str, rule: LabelRule) -> Response:
    """A validity study in one of :data:`annotation.kinds.validity.exports.study_files.FORMS`. Annotators' files and
    validated queries come as a zip, with notes on what they lack.

    Args:
        table: which one of :data:`annotation.kinds.validity.exports.study_files.TABLES`; other forms have none.

    Raises ``StudyError`` for another form or table, and for a study that has nothing to write.
    """
    files, notes = study_files(store, study, form, rule, tables=(table,))
    return _packed(files, notes, study, form, together=form in ("circus", "mbeir"))


def download_preferences(store: StudyStore, study: Study, form: str) -> Response:
    """A preference study in one of :data:`annotation.kinds.preference.review.FORMS`. Several files are zipped, with
    notes on what they lack.

    Raises ``StudyError`` for another form, and for a study that cannot be written in it.
    """
    files, notes = preference_files(store, study, form)
    return _packed(files, notes, study, form, together=len(files) > 1 or bool(notes))


def download_sessions(store: StudyStore, study: Study, form: str, table: str) -> Response:
    """A session study in one of :data:`annotation.kinds.ratings.exports.FORMS`. Raises ``StudyError`` for another form
    or table."""
    files, notes = session_files(store, study, form, tables=(table,))
    return _packed(files, notes, study, form, together=False)


def download_targets(store: StudyStore, study: Study, form: str, table: str) -> Response:
    """A target study in one of :data:`annotation.kinds.marks.exports.FORMS`; corrected targets come as a zip, with
    notes on what they lack. Raises ``StudyError`` for another form or table, and if there are no targets."""
    files, notes = target_files(store, study, form, tables=(table,))
    return _packed(files, notes, study, form, together=form == "soft")


def _packed(files: Mapping[str, bytes], notes: Sequence[str], study: Study, form: str, *, together: bool) -> Response:
    if not together:
        (name, content), = files.items()
        return _file(content, study, name, _TYPES[name.rpartition(".")[2]])
    said = {"NOTES.txt": ("\n".join(notes) + "\n").encode()} if notes else {}
    return _file(as_zip({**files, **said}), study, f"{form}.zip", "application/zip")


def _file(content: bytes, study: Study, ending: str, media_type: str) -> Response:
    return Response(content, media_type=media_type, headers={
        "Content-Disposition": disposition(f"{file_stem(study.name)} {ending}"),
        "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
    })
