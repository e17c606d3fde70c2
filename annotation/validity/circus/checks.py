"""What an annotator file may not hold although its types are right."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotation.validity.circus.form import FLAGS
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.support.texts import quoted

_LOOKS_LIKE_FLAG = re.compile(r"[A-Z][A-Z0-9_]*")
_OF_QUERY = re.compile(r".+::([0-9]+)", re.DOTALL)
_NEAR = 0.8   # of difflib's ratio: a letter or two, or another end of the word


class OneStudy:
    """What the files of a study say of one assignment must agree."""

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
    """The number of the query in ``DATASET::NUMBER``, as it is written without zeros in front; None in an id of
    another form."""
    found = _OF_QUERY.fullmatch(assignment_id)
    return (found[1].lstrip("0") or "0") if found else None


def may_be_a_flag(name: str, value: Any) -> bool:
    """Whether a field would be lost in silence: written in capitals, nearly as one of CIRCUS's, or with a yes or no."""
    plain = re.sub(r"[\W_]+", "_", name.strip()).upper()
    return (isinstance(value, bool) or _LOOKS_LIKE_FLAG.fullmatch(name) is not None
            or plain in ("VALIDATED", "OTHER") or bool(difflib.get_close_matches(plain, FLAGS, 1, _NEAR)))


def check_values(value: Any, path: Path, where: str, faults: ValidationIssues) -> None:
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
