"""A study's results as files to download."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote

from starlette.responses import Response

from annotation.circus_users import as_zip, write_circus_users
from annotation.exports.mbeir import validated_files
from annotation.exports.tables import item_table, judgement_table, to_csv, to_parquet
from annotation.labels import LabelRule, final_labels
from annotation.preference_review import preference_files
from annotation.records import Study
from annotation.rubric import load_rubric
from annotation.store import StudyStore
from cir_core.errors import StudyError

FORMS = ("circus", "mbeir", "csv", "parquet")
TABLES = ("judgements", "items")
_LONGEST_NAME = 80
_TYPES = {"json": "application/json", "jsonl": "application/x-ndjson"}


def download(store: StudyStore, study: Study, form: str, table: str, rule: LabelRule) -> Response:
    """The study in one of :data:`FORMS`; ``table`` is one of :data:`TABLES`, for CSV and Parquet.

    Raises ``StudyError`` for another form or table, and for a validated subset without a query.
    """
    items = store.items(study.study_id)
    if form == "circus":
        history = store.judgements(study.study_id, history=True)
        seats, assignments = store.seats(study.study_id), store.assignments(study.study_id)
        files = write_circus_users(study, items, seats, assignments, history)
        return _file(as_zip(files), study, "circus.zip", "application/zip")
    judgements, decisions = store.judgements(study.study_id), store.decisions(study.study_id)
    labels = final_labels(items, judgements, decisions, rule, rubric=load_rubric(study.protocol))
    if form == "mbeir":
        found = validated_files(study, items, judgements, decisions, labels)
        notes = {"NOTES.txt": ("\n".join(found.notes) + "\n").encode()} if found.notes else {}
        return _file(as_zip({**found.files, **notes}), study, "mbeir.zip", "application/zip")
    if form not in FORMS or table not in TABLES:
        raise StudyError(f"A study is exported as {', '.join(FORMS)}; the last two have the tables "
                         f"{' and '.join(TABLES)}.")
    rows = (judgement_table(study, items, store.images(study.study_id), judgements) if table == "judgements"
            else item_table(study, items, decisions, labels))
    if form == "csv":
        return _file(to_csv(rows), study, f"{table}.csv", "text/csv; charset=utf-8")
    return _file(to_parquet(rows), study, f"{table}.parquet", "application/vnd.apache.parquet")


def download_preferences(store: StudyStore, study: Study, form: str) -> Response:
    """A preference study in one of :data:`annotation.preference_review.FORMS`. Several files, and notes on what they
    lack, come as a zip.

    Raises ``StudyError`` for another form, and for a study that cannot be written in it.
    """
    files, notes = preference_files(store, study, form)
    if len(files) == 1 and not notes:
        (name, content), = files.items()
        return _file(content, study, name, _TYPES[name.rpartition(".")[2]])
    said = {"NOTES.txt": ("\n".join(notes) + "\n").encode()} if notes else {}
    return _file(as_zip({**files, **said}), study, f"{form}.zip", "application/zip")


def file_stem(name: str) -> str:
    """A study's name, which may be anything, as every file system takes it."""
    shown = "".join(c if unicodedata.category(c)[0] != "C" else " " for c in unicodedata.normalize("NFC", name))
    plain = " ".join(re.sub(r'[<>:"/\\|?*%]', " ", shown).split())
    return plain[:_LONGEST_NAME].strip(" .") or "study"


def disposition(name: str) -> str:
    """The Content-Disposition of a file to be kept (RFC 6266): plain letters for whoever reads no others."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = " ".join(re.sub(r"[^\w .()-]", "", plain).split()) or "study"
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


def _file(content: bytes, study: Study, ending: str, media_type: str) -> Response:
    return Response(content, media_type=media_type, headers={
        "Content-Disposition": disposition(f"{file_stem(study.name)} {ending}"),
        "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
    })
