"""Reader of CIRCUS's annotator files, which reports all faults. Semantic checks of annotator files, beyond types."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

from annotation.kinds.validity.circus.form import FLAGS, time_of
from annotation.records import name_key
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.files.json_files import Record, read_object
from cir_core.support.texts import counted, quoted

_LOOKS_LIKE_FLAG = re.compile(r"[A-Z][A-Z0-9_]*")
_OF_QUERY = re.compile(r".+::([0-9]+)", re.DOTALL)
_NEAR = 0.8   # difflib ratio: a few letters, or the end of the word, differ


class OneStudy:
    """Consistency of assignments across the files of a study."""

    def __init__(self, faults: ValidationIssues) -> None:
        self._faults = faults
        self._queries: dict[str, tuple[Path, str]] = {}
        self._categories: dict[str, tuple[Path, str]] = {}

    def check(
        self, assignment_id: str, dataset: str, query_idx: int, hidden_category: str | None, path: Path, where: str
    ) -> None:
        self._check(self._queries, assignment_id, path, where, f"query {query_idx} of {dataset}")
        if hidden_category is not None:
            self._check(self._categories, assignment_id, path, where,
                        f"of the hidden category {quoted(hidden_category)}")

    def _check(self, known: dict[str, tuple[Path, str]], key: str, path: Path, where: str, here: str) -> None:
        other, there = known.setdefault(key, (path, here))
        if there != here:
            self._faults.add(path, where, f"it is {here}, and in {other} {there}", "Import files of one study")


def query_named(assignment_id: str) -> str | None:
    """The query number in ``DATASET::NUMBER``, without leading zeros; None for an id of another form."""
    found = _OF_QUERY.fullmatch(assignment_id)
    return (found[1].lstrip("0") or "0") if found else None


def may_be_a_flag(name: str, value: Any) -> bool:
    """Whether an unknown field may be a flag: in capitals, similar to a flag of CIRCUS, or a boolean."""
    plain = re.sub(r"[\W_]+", "_", name.strip()).upper()
    return (isinstance(value, bool) or _LOOKS_LIKE_FLAG.fullmatch(name) is not None
            or plain in ("VALIDATED", "OTHER") or bool(difflib.get_close_matches(plain, FLAGS, 1, _NEAR)))


def check_values(value: Any, path: Path, where: str, faults: ValidationIssues) -> None:
    """Check that unknown fields, which are kept unchanged, can be stored."""
    if not all(_can_be_kept(one) for one in _leaves(value)):
        faults.add(path, where, "it contains a NUL, a lone surrogate or a non-finite number", "Correct the file")


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield name
            yield from _leaves(part)
    elif isinstance(value, list):
        for part in value:
            yield from _leaves(part)
    else:
        yield value


def _can_be_kept(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, str) or not re.search("[\0\ud800-\udfff]", value)


_CHECK = "Check that it is an annotator file of CIRCUS"


@dataclass(frozen=True)
class UserAssignment:
    """One assignment. ``raw`` is the unchanged record, with its annotation."""

    assignment_id: str
    dataset: str
    query_idx: int
    hidden_category: str | None
    order: int | None               # presentation_order
    raw: Mapping[str, Any] = field(repr=False)

    @property
    def annotation(self) -> Mapping[str, Any] | None:
        """None without an answer: null or absent in the file."""
        return self.raw.get("annotation")


@dataclass(frozen=True)
class UserFile:
    """One file. ``head``: all its fields except the assignments."""

    name: str
    username: str
    head: Mapping[str, Any] = field(repr=False)
    assignments: tuple[UserAssignment, ...] = field(repr=False)


@dataclass(frozen=True)
class ImportedStudy:
    files: tuple[UserFile, ...]
    notes: tuple[str, ...] = ()


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class _File(_Part):
    username: str = Field(min_length=1)
    assignments: list[Any]


class _Assignment(_Part):
    assignment_id: str = Field(min_length=1)
    dataset: str = Field(min_length=1)
    query_idx: NonNegativeInt
    hidden_category: str | None = None
    assigned_user: str | None = None
    presentation_order: int | None = None
    annotation: dict[str, Any] | None = None
    annotation_updated_at: str | None = None


class _Annotation(_Part):
    validated: bool | None = None
    other: str | None = None
    INVALID_TEXT_QUERY: bool | None = None
    INVALID_IMAGE_QUERY: bool | None = None
    INVALID_TARGET_IMAGE: bool | None = None
    QUERY_TOO_BROAD: bool | None = None


_Model = TypeVar("_Model", bound=BaseModel)


def read_circus_users(paths: Sequence[Path], faults: ValidationIssues | None = None) -> ImportedStudy:
    """Read the files of one study, one per person.

    Faults are: malformed JSON, wrong types, missing ids, an unknown field of an annotation that may be a flag, a
    malformed time, an id of another query (``cirr::5`` is query 5), a duplicate assignment or query in a file, an
    assignment of another person than the file's, one that has another query or category in another file, two files of
    one person, text that cannot be stored. Raises ``DatasetError`` with the first, unless ``faults`` collects them;
    then the result lacks the faulty records, and must not be used if ``faults.count``.
    """
    faults = faults or ValidationIssues()
    files: list[UserFile] = []
    people: dict[str, Path] = {}
    study = OneStudy(faults)
    for path in paths:
        if not path.is_file():
            faults.add(path, "", "it is missing" if not path.exists() else "it is not a file", "Check the path")
            continue
        before = faults.count
        document = read_object(path, faults)
        head = _checked(_File, document, path, "", faults) if faults.count == before else None
        if head is None:
            continue
        first = people.setdefault(name_key(head.username), path)
        if first is not path or not head.username.strip():
            problem = f"it is of {quoted(head.username)}, as is {first}" if first is not path else "'username' is empty"
            faults.add(path, "", problem, "Give one file for each person")
        check_values({name: value for name, value in document.items() if name != "assignments"}, path, "", faults)
        found = tuple(_assignments(head, path, study, faults))
        rest = {name: value for name, value in document.items() if name != "assignments"}
        files.append(UserFile(path.name, head.username, rest, found))
    if not faults.count and not any(file.assignments for file in files):
        faults.add(paths[0] if paths else Path(), "", "there is no assignment in any file", _CHECK)
    return ImportedStudy(tuple(files), tuple(_notes(files)))


def _assignments(head: _File, path: Path, study: OneStudy, faults: ValidationIssues) -> Iterator[UserAssignment]:
    seen: dict[str, int] = {}
    asked: dict[tuple[str, int], tuple[str, int]] = {}
    for number, record in enumerate(head.assignments):
        where = f"assignment {number}"
        if not isinstance(record, dict):
            faults.add(path, where, "it is not an object", _CHECK)
            continue
        before = faults.count
        assignment_id = record.get("assignment_id")
        if isinstance(assignment_id, str) and assignment_id:
            where = f"assignment {number} ({assignment_id})"
            if (first := seen.setdefault(assignment_id, number)) != number:
                faults.add(path, where, f"it is a duplicate of assignment {first}", "Keep one of the two")
        one = _checked(_Assignment, record, path, where, faults)
        if isinstance(annotation := record.get("annotation"), dict):
            _check_annotation(annotation, path, where, faults)
        check_values(record, path, where, faults)
        if one is not None:
            study.check(one.assignment_id, one.dataset, one.query_idx, one.hidden_category, path, where)
            same, first = asked.setdefault((one.dataset, one.query_idx), (one.assignment_id, number))
            if same != one.assignment_id:
                problem = f"its query {one.query_idx} of {one.dataset} is also that of assignment {first} ({same})"
                faults.add(path, where, problem, "Keep one of the two")
            _check_id_and_time(one, path, where, faults)
            if one.assigned_user is not None and name_key(one.assigned_user) != name_key(head.username):
                problem = f"it is assigned to {quoted(one.assigned_user)}, but the file is of {quoted(head.username)}"
                faults.add(path, where, problem, "Give each person the file of their own assignments")
        if one is not None and faults.count == before:
            yield UserAssignment(one.assignment_id, one.dataset, one.query_idx, one.hidden_category,
                                 one.presentation_order, record)


def _check_id_and_time(one: _Assignment, path: Path, where: str, faults: ValidationIssues) -> None:
    if (named := query_named(one.assignment_id)) not in (None, str(one.query_idx)):
        faults.add(path, where, f"it is query {one.query_idx}, but its id says {named}", "Correct one of the two")
    at = one.annotation_updated_at
    if at and time_of(at) is None:
        faults.add(path, where, f"'annotation_updated_at' is {quoted(at)}, which is not a time",
                   "Write it as 2026-01-02T10:00:00+00:00, or null if unknown")


def _check_annotation(annotation: Record, path: Path, where: str, faults: ValidationIssues) -> None:
    _checked(_Annotation, annotation, path, where, faults, prefix="annotation.")
    for name, value in annotation.items():
        if name not in _Annotation.model_fields and may_be_a_flag(name, value):
            faults.add(path, where, f"{quoted(name)} is not a flag of CIRCUS",
                       f"Its flags are {', '.join(FLAGS)}, besides 'validated' and 'other'")


def _checked(
    model: type[_Model], record: Record, path: Path, where: str, faults: ValidationIssues, *, prefix: str = ""
) -> _Model | None:
    """``record`` as ``model``; None after faults, one per field."""
    try:
        return model.model_validate(record)
    except ValidationError as error:
        for one in error.errors(include_url=False):
            name = prefix + ".".join(str(part) for part in one["loc"])
            missing = one["type"] == "missing"
            problem = f"{quoted(name)} is missing" if missing else f"{quoted(name)} cannot be used ({one['msg']})"
            faults.add(path, where, problem, _CHECK)
        return None


def _notes(files: Iterable[UserFile]) -> Iterator[str]:
    annotations = [one.annotation for file in files for one in file.assignments]
    given = [annotation for annotation in annotations if annotation is not None]
    counts = {
        ("assignment has no annotation.", "assignments have no annotation."): len(annotations) - len(given),
        ("annotation has no verdict.", "annotations have no verdict."):
            sum(one.get("validated") is None for one in given),
        ("annotation is invalid without a flag.", "annotations are invalid without a flag."):
            sum(one.get("validated") is False and not any(one.get(flag) for flag in FLAGS) for one in given),
        ("annotation is valid but has flags; the verdict counts.",
         "annotations are valid but have flags; the verdict counts."):
            sum(one.get("validated") is True and any(one.get(flag) for flag in FLAGS) for one in given),
    }
    return (counted(count, *what) for what, count in counts.items() if count)
