"""Export a study as annotator files in CIRCUS's format."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.kinds.validity.circus.form import FLAGS, KEPT, SOURCE, annotation_of, changed
from annotation.kinds.validity.rubric import rubric_of
from annotation.records import Assignment, Item, Judgement, Seat, Study, name_key
from annotation.studies.store import StudyStore
from cir_core.errors import StudyError
from cir_core.support.texts import quoted


def write_circus_users(
    study: Study, items: Iterable[Item], seats: Iterable[Seat], assignments: Iterable[Assignment],
    judgements: Iterable[Judgement],
) -> dict[str, bytes]:
    """A JSON file for each person with a seat, by file name.

    An imported study is reproduced, with the fields that cirque does not interpret; only answers changed since
    differ. In other studies, ``assignment_ids_sha256`` is the SHA-256 of the assignment ids in file order, one
    per line, without a final newline. ``generated_at`` is the time of the person's latest judgement.
    Assignments that were reassigned before they were answered are left out.

    Args:
        judgements: current ones, or with history, which an imported study needs that was opened again: it has the
            uninterpreted fields of revised answers.
    """
    by_id = {item.item_id: item for item in items}
    answers: dict[tuple[str, str], list[Judgement]] = {}
    for judgement in sorted(judgements, key=lambda one: one.revision):
        answers.setdefault((name_key(judgement.annotator), judgement.item_id), []).append(judgement)
    of_seat: dict[int, list[Assignment]] = {}
    for assignment in assignments:
        of_seat.setdefault(assignment.seat, []).append(assignment)
    heads = {name_key(file["username"]): file for file in study.source.get("files", ())} \
        if study.source.get("form") == SOURCE else {}
    files: dict[str, bytes] = {}
    for seat in sorted(seats, key=lambda seat: seat.number):
        if seat.annotator is None:
            continue
        person = name_key(seat.annotator)
        rows = [
            _Row(study, seat.annotator, by_id[one.item_id], one, given)
            for one in sorted(of_seat.get(seat.number, ()), key=lambda one: one.position)
            if (given := answers.get((person, one.item_id), [])) or one.state != "handed_on"
        ]
        name, document = _document(study, seat.annotator, rows, heads.get(person))
        text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        files[_free(name, files)] = text.encode()
    return files


def circus_files(store: StudyStore, study: Study) -> dict[str, bytes]:
    """:func:`write_circus_users` for a stored study. Raises ``StudyError`` for a study without participants, and for
    a rubric with flags that the format lacks, which would be lost silently."""
    beyond = [flag.code for flag in rubric_of(study).flags if flag.code not in FLAGS]
    if beyond:
        raise StudyError(f"{quoted(study.name)} was judged by {study.protocol}, which has the flags "
                         f"{', '.join(beyond)}. CIRCUS's annotator files cannot contain them: export csv or "
                         "parquet instead.")
    seats = store.seats(study.study_id)
    if not any(seat.annotator for seat in seats):
        raise StudyError(f"Nobody has joined {quoted(study.name)} yet, so there is no annotator file to write.")
    return write_circus_users(
        study, store.items(study.study_id), seats,
        [one for one in store.assignments(study.study_id) if one.dealt is None],
        store.judgements(study.study_id, history=True))


class _Row:
    """One assignment with the answers to it, oldest first."""

    def __init__(
        self, study: Study, username: str, item: Item, assignment: Assignment, given: Sequence[Judgement]
    ) -> None:
        self._study, self._username, self.item, self._assignment = study, username, item, assignment
        self._latest = given[-1] if given else None
        kept = [one.extra[KEPT] for one in given if KEPT in one.extra]
        kept += [of[name_key(username)] for of in (item.hidden.get(KEPT, {}),) if name_key(username) in of]
        self._kept: Mapping[str, Any] | None = kept[-1] if kept else None
        self.updated = given[-1].created_at if given else None
        self.answered_here = self._latest is not None and KEPT not in self._latest.extra

    @property
    def place(self) -> tuple[int, int]:
        """Sort key in the file: original order, then new rows."""
        return (0, self._kept["index"]) if self._kept else (1, self._assignment.position)

    @property
    def has_verdict(self) -> bool:
        return self._latest is not None and self._latest.answer.get("validated") is not None

    def record(self) -> dict[str, Any]:
        answer = self._latest.answer if self._latest else None
        updated = self._latest.created_at.isoformat() if self._latest else None
        if self._kept is None:
            return {**self._native(), "annotation": annotation_of(answer), "annotation_updated_at": updated}
        raw = dict(self._kept["assignment"])
        if answer is not None:
            before = raw.get("annotation")
            raw["annotation"] = changed(annotation_of(None) if before is None else before, answer)
        if self.answered_here:
            raw["annotation_updated_at"] = updated
        return raw

    def _native(self) -> dict[str, Any]:
        hidden, source = self.item.hidden, self._study.source
        trace, file = hidden.get("trace", {}), source.get("file") or ""
        return {
            "assignment_id": self.item.key, "dataset": hidden["dataset"], "query_idx": hidden["query_idx"],
            "source_file_key": trace.get("source_file_key", f"{hidden['dataset']}/{source.get('form', 'cirque')}"),
            "source_filename": trace.get("source_filename", file), "source_path": trace.get("source_path", file),
            "hidden_category": hidden["hidden_category"],
            "selection_mode": trace.get("selection_mode", source.get("selection", "all")),
            "assigned_user": self._username, "presentation_order": self._assignment.position + 1,
        }


def _document(
    study: Study, username: str, rows: Sequence[_Row], imported: Mapping[str, Any] | None
) -> tuple[str, dict[str, Any]]:
    rows = sorted(rows, key=lambda row: row.place)
    records = [row.record() for row in rows]
    if imported is not None and not any(row.answered_here for row in rows):
        return str(imported["name"]), {**imported["head"], "assignments": records}
    ids = [str(record["assignment_id"]) for record in records]
    generated = max((row.updated for row in rows if row.updated), default=study.created_at)
    head = {
        "study_name": study.name, "seed": study.plan.seed, "generated_at": generated.isoformat(),
        "username": username, "assignment_count": len(rows),
        "assignment_ids_sha256": hashlib.sha256("\n".join(ids).encode()).hexdigest(),
        "summary": {
            "total_assignments": len(rows), "completed_assignments": sum(row.has_verdict for row in rows),
            "dataset_counts": dict(Counter(str(record["dataset"]) for record in records)),
        },
    }
    if imported is None:
        return f"{_safe(username)}.json", {**head, "assignments": records}
    # People, study and seed are those of the imported file.
    fresh = {name: head[name] for name in ("generated_at", "summary")}
    if imported["head"].get("assignment_count") != len(rows):
        fresh |= {name: head[name] for name in ("assignment_count", "assignment_ids_sha256")}
    return str(imported["name"]), {**imported["head"], **fresh, "assignments": records}


def _safe(name: str) -> str:
    return re.sub(r"[^\w.@ -]", "_", name).strip(". ")[:100] or "annotator"


def _free(name: str, taken: Mapping[str, bytes]) -> str:
    """``name``, numbered if taken; compared without case, as some file systems do."""
    there = {other.casefold() for other in taken}
    stem, number = name.removesuffix(".json"), 2
    while name.casefold() in there:
        name, number = f"{stem}-{number}.json", number + 1
    return name
