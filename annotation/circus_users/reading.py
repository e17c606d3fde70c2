"""Annotator files as CIRCUS released them, with everything that is wrong with them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

from annotation.circus_users.form import FLAGS, person_key
from cir_core.datasets.faults import Faults
from cir_core.datasets.json_files import Record, read_object

_LOOKS_LIKE_FLAG = re.compile(r"[A-Z][A-Z0-9_]*")
_CHECK = "Check that it is an annotator file of CIRCUS"


@dataclass(frozen=True)
class UserAssignment:
    """``raw`` is the record as it stood in the file, its annotation included."""

    assignment_id: str
    dataset: str
    query_idx: int
    hidden_category: str | None
    order: int | None               # presentation_order
    raw: Mapping[str, Any] = field(repr=False)

    @property
    def annotation(self) -> Mapping[str, Any] | None:
        """None where nobody has answered: null or absent in the file."""
        return self.raw.get("annotation")


@dataclass(frozen=True)
class UserFile:
    """``head``: everything in the file but its assignments."""

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


def read_circus_users(paths: Sequence[Path], faults: Faults | None = None) -> ImportedStudy:
    """Files of one study, each of another person.

    Faults are: no JSON, wrong types, missing ids, a flag that CIRCUS does not have, an assignment that
    stands twice in a file or is another query in another file, two files of one person, text that no
    database can keep. Raises ``DatasetError`` with the first unless ``faults`` collects; then what is
    returned lacks the faulty records, and is not to be used while ``faults.count``.
    """
    faults = faults or Faults()
    files: list[UserFile] = []
    people: dict[str, Path] = {}
    queries: dict[str, tuple[Path, tuple[str, int]]] = {}
    for path in paths:
        if not path.is_file():
            faults.add(path, "", "it is missing" if not path.exists() else "it is no file", "Check the path")
            continue
        before = faults.count
        document = read_object(path, faults)
        head = _checked(_File, document, path, "", faults) if faults.count == before else None
        if head is None:
            continue
        first = people.setdefault(person_key(head.username), path)
        if first is not path or not head.username.strip():
            problem = f"it is of {head.username!r}, as is {first}" if first is not path else "'username' is empty"
            faults.add(path, "", problem, "Give one file for each person")
        _check_values({name: value for name, value in document.items() if name != "assignments"}, path, "", faults)
        found = tuple(_assignments(head.assignments, path, queries, faults))
        rest = {name: value for name, value in document.items() if name != "assignments"}
        files.append(UserFile(path.name, head.username, rest, found))
    if not faults.count and not any(file.assignments for file in files):
        faults.add(paths[0] if paths else Path(), "", "there is no assignment in any file", _CHECK)
    return ImportedStudy(tuple(files), tuple(_notes(files)))


def _assignments(
    records: Iterable[Any], path: Path, queries: dict[str, tuple[Path, tuple[str, int]]], faults: Faults
) -> Iterator[UserAssignment]:
    seen: dict[str, int] = {}
    for number, record in enumerate(records):
        where = f"assignment {number}"
        if not isinstance(record, dict):
            faults.add(path, where, "it is not an object", _CHECK)
            continue
        before = faults.count
        assignment_id = record.get("assignment_id")
        if isinstance(assignment_id, str) and assignment_id:
            where = f"assignment {number} ({assignment_id})"
            if (first := seen.setdefault(assignment_id, number)) != number:
                faults.add(path, where, f"the assignment stands in assignment {first} too", "Keep one of the two")
        one = _checked(_Assignment, record, path, where, faults)
        if isinstance(annotation := record.get("annotation"), dict):
            _check_annotation(annotation, path, where, faults)
        _check_values(record, path, where, faults)
        if one is not None:
            query = (one.dataset, one.query_idx)
            other, there = queries.setdefault(one.assignment_id, (path, query))
            if there != query:
                problem = f"it is query {query[1]} of {query[0]}, and in {other} query {there[1]} of {there[0]}"
                faults.add(path, where, problem, "Import files of one study")
        if one is not None and faults.count == before:
            yield UserAssignment(one.assignment_id, one.dataset, one.query_idx, one.hidden_category,
                                 one.presentation_order, record)


def _check_annotation(annotation: Record, path: Path, where: str, faults: Faults) -> None:
    _checked(_Annotation, annotation, path, where, faults, prefix="annotation.")
    for name in annotation:
        if _LOOKS_LIKE_FLAG.fullmatch(name) and name not in FLAGS:
            faults.add(path, where, f"{name!r} is no flag of CIRCUS", f"Its flags are {', '.join(FLAGS)}")


def _checked(
    model: type[_Model], record: Record, path: Path, where: str, faults: Faults, *, prefix: str = ""
) -> _Model | None:
    """``record`` as ``model``; None after faults, one for each field."""
    try:
        return model.model_validate(record)
    except ValidationError as error:
        for one in error.errors(include_url=False):
            name = prefix + ".".join(str(part) for part in one["loc"])
            missing = one["type"] == "missing"
            problem = f"{name!r} is missing" if missing else f"{name!r} cannot be used ({one['msg']})"
            faults.add(path, where, problem, _CHECK)
        return None


def _check_values(value: Any, path: Path, where: str, faults: Faults) -> None:
    """What the file holds beyond what is read is kept too, so it must be something that can be."""
    if not all(_can_be_kept(one) for one in _leaves(value)):
        faults.add(path, where, "it holds a NUL, half a character or a number beyond all bounds", "Correct the file")


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


def _notes(files: Iterable[UserFile]) -> Iterator[str]:
    annotations = [one.annotation for file in files for one in file.assignments]
    given = [annotation for annotation in annotations if annotation is not None]
    counts = {
        "assignments have no annotation.": len(annotations) - len(given),
        "annotations have no verdict.": sum(one.get("validated") is None for one in given),
        "annotations are not valid and say by no flag why.":
            sum(one.get("validated") is False and not any(one.get(flag) for flag in FLAGS) for one in given),
        "annotations are valid and have flags all the same; the verdict counts.":
            sum(one.get("validated") is True and any(one.get(flag) for flag in FLAGS) for one in given),
    }
    return (f"{count:,} {what}" for what, count in counts.items() if count)
