"""Read JSON data sets: arrays and lines one record at a time, tolerating a byte-order mark and
Windows line ends, and reporting every fault with its file and record.

``NaN`` and ``Infinity`` are not JSON and are reported as faults, although Python would accept them. So is
nesting of more than a hundred levels (:mod:`cir_core.datasets.files.json_depth`).
"""

from __future__ import annotations

import codecs
import io
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TypeVar

import ijson
from pydantic import BaseModel, ValidationError

from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.files.json_depth import BLOCK, DEEPEST, DepthLimited, TooDeep, is_too_deep
from cir_core.errors import DatasetError
from cir_core.support.files import open_regular
from cir_core.support.tables import in_words
from cir_core.support.texts import quoted, shortened

Record = dict[str, Any]
_Model = TypeVar("_Model", bound=BaseModel)
_AGAIN = "Download or export the file again"
_FLATTER = "Check that it is the right file"


def read_array(path: Path, faults: ValidationIssues, *, key: str = "",
               most: int | None = None) -> Iterator[tuple[int, Record]]:
    """Records of a JSON array of objects with their indices from 0, streamed. ``key``: the array is this member of the
    file's object. A truncated or broken file is a fault after the records before it, as is a record of more than
    ``most`` bytes, and a repeated key in any object of a record is one before it."""
    number = 0
    kind, opening, prefix = ("object", b"{", f"{key}.item") if key else ("array", b"[", "item")
    with _opened(path) as source:
        if (first := _first_byte(source)) != opening:
            problem = f"it does not contain a JSON {kind} ({_begins(first)})"
            faults.add(path, "", problem, "Check that it is the right file")
            return
        try:
            made, repeated = _noting_repeated_keys()
            limited = DepthLimited(source, level=2 if key else 1, most=most)
            for record in ijson.items(limited, prefix, use_float=True, map_type=made):
                for twice in _taken(repeated, record) if repeated else ():
                    faults.add(path, number, f"the key {quoted(twice)} occurs twice in one object",
                               "Keep one of the two")
                if isinstance(record, dict):
                    yield number, record
                else:
                    faults.add(path, number, f"it is not an object but {_shown(record)}", "Check the kind of file")
                number += 1
        except TooDeep as error:
            faults.add(path, number, f"it is {error}", _FLATTER)
        except (ijson.JSONError, ValueError) as error:
            # The C parser raises IncompleteJSONError for every fault; only the message reveals a truncation.
            cut = "premature EOF" in str(error) or "Incomplete" in str(error)
            problem = "the file ends in the middle of it" if cut else f"it is not valid JSON ({_one_line(error)})"
            faults.add(path, number, problem, _AGAIN)


def first_value(path: Path, key: str, *, most: int | None = None) -> Any:
    """The first member ``key`` of a JSON object, reading no further than that; None if it is absent, or does not end
    in the first ``most`` bytes. Raises ``DatasetError`` if the file is nested too deep before it."""
    with _opened(path) as source:
        head: BinaryIO = source if most is None else io.BytesIO(source.read(most))
        try:
            return next(iter(ijson.items(DepthLimited(head), key, use_float=True)), None)
        except TooDeep as error:
            raise DatasetError(f"{path} is {error}, before any {quoted(key)}. {_FLATTER}.") from error
        except (ijson.JSONError, ValueError):
            return None


def first_byte(path: Path) -> bytes:
    """The first byte that is not white space; it distinguishes JSON arrays, objects and text."""
    with _opened(path) as source:
        return _first_byte(source)


def read_lines(path: Path, faults: ValidationIssues) -> Iterator[tuple[int, Record]]:
    """Objects of a JSONL file with their line numbers from 1, streamed; blank lines are skipped."""
    for number, line in text_lines(path, faults):
        if not line.strip():
            continue
        if is_too_deep(line):
            problem = f"it is nested too deep: more than {DEEPEST} arrays and objects in each other"
            faults.add(path, f"line {number}", problem, _FLATTER)
            continue
        try:
            record = _DECODER.decode(line)
        except ValueError as error:
            faults.add(path, f"line {number}", f"it is not valid JSON ({_one_line(error)})", _AGAIN)
            continue
        if isinstance(record, dict):
            yield number, record
        else:
            faults.add(path, f"line {number}", f"it is not an object but {_shown(record)}", "Check the kind of file")


def text_lines(path: Path, faults: ValidationIssues) -> Iterator[tuple[int, str]]:
    """Lines with their numbers from 1, without line ends."""
    number = 0
    with io.TextIOWrapper(_opened(path), "utf-8", newline=None) as source:
        try:
            for number, line in enumerate(source, 1):
                yield number, line.rstrip("\n")
        except UnicodeDecodeError:
            faults.add(path, f"line {number + 1}", "it is not UTF-8", "Save the file as UTF-8")


def read_object(path: Path, faults: ValidationIssues, *, constants: bool = False) -> Record:
    """A whole JSON object; {} after a fault. A repeated key in any object is a fault."""
    content = read_document(path, faults, constants=constants)
    if content is None:
        return {}
    if not isinstance(content, dict):
        faults.add(path, "", f"it does not contain a JSON object but {_shown(content)}", "Check the kind of file")
        return {}
    return content


def read_document(path: Path, faults: ValidationIssues, *, constants: bool = False) -> Any:
    """Any JSON document, read whole; None after a fault. ``constants``: accept NaN and Infinity, for a reader that
    reports the record they occur in."""

    def unique(pairs: list[tuple[str, Any]]) -> Record:
        record = dict(pairs)
        if len(record) < len(pairs):
            twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
            faults.add(path, f"key {quoted(twice)}", "it occurs twice in one object", "Keep one of the two")
        return record

    with _opened(path) as source:
        try:
            return json.loads(DepthLimited(source).read().decode("utf-8"), object_pairs_hook=unique,
                              parse_constant=float if constants else _refuse)
        except UnicodeDecodeError as error:
            faults.add(path, f"byte {error.start}", "it is not UTF-8", "Save the file as UTF-8")
        except TooDeep as error:
            faults.add(path, "", f"it is {error}", _FLATTER)
        except ValueError as error:
            faults.add(path, "", f"it is not valid JSON ({_one_line(error)})", _AGAIN)
    return None


def validated(model: type[_Model], record: object, path: Path, where: str | int,
              faults: ValidationIssues) -> _Model | None:
    """Validate ``record``, which need not be an object, as ``model``; None after a fault, which names the field."""
    try:
        return model.model_validate(record)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        missing = first["type"] == "missing"
        problem = f"{quoted(field)} is missing" if missing else f"{quoted(field)} cannot be used ({first['msg']})"
        faults.add(path, where, problem, f"It contains {_held(record)}; check the kind of file")
        return None


def read_records(path: Path, model: type[_Model], faults: ValidationIssues, *,
                 key: str = "") -> Iterator[tuple[int, _Model]]:
    """:func:`read_array` with each record as ``model``; invalid ones are faults and left out."""
    for number, record in read_array(path, faults, key=key):
        if (found := validated(model, record, path, number, faults)) is not None:
            yield number, found


def _noting_repeated_keys() -> tuple[type[Record], list[tuple[Record, str]]]:
    """A class of JSON objects, and the list to which they add themselves with their first repeated key."""
    repeated: list[tuple[Record, str]] = []

    class Noting(Record):
        __slots__ = ()

        def __setitem__(self, key: str, value: Any) -> None:
            if key in self and not (repeated and repeated[-1][0] is self):
                repeated.append((self, key))
            super().__setitem__(key, value)

    return Noting, repeated


def _taken(repeated: list[tuple[Record, str]], record: Any) -> list[str]:
    """Repeated keys in objects of ``record``, which are taken out of ``repeated``; it has those of later records too,
    which the parser has read already."""
    inside, left = set[int](), [record]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            inside.add(id(value))
            left += value.values()
        elif isinstance(value, list):
            left += value
    places = [place for place, (where, _) in enumerate(repeated) if id(where) in inside]
    keys = [repeated[place][1] for place in places]
    del repeated[:places[-1] + 1 if places else 0]
    return keys


def _held(record: object) -> str:
    """The keys of an object; a short form of anything else."""
    return shortened(", ".join(record), 200) or "nothing" if isinstance(record, dict) else _shown(record)


def _opened(path: Path) -> BinaryIO:
    """Open for reading, skipping a byte-order mark. Raises ``DatasetError``."""
    try:
        source = open_regular(path)
    except FileNotFoundError:
        raise DatasetError(f"{path} is missing. Check the path, or download the data set's annotations.") from None
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror or error}. Check the path.") from error
    if source.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
        source.seek(0)
    return source


def _first_byte(source: BinaryIO) -> bytes:
    start = source.tell()
    first = source.read(BLOCK).lstrip()[:1]
    source.seek(start)
    return first


def _begins(first: bytes) -> str:
    return f"it begins with {quoted(first.decode('latin-1'))}" if first else "it is empty"


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number")


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else text[:39] + "…"


def _one_line(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{in_words(error.msg)}, column {error.colno}"
    return " ".join(str(error).split())[:120]


_DECODER = json.JSONDecoder(parse_constant=_refuse)  # json.loads would create one per line
