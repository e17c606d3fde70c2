"""Semantic checks of annotator files, beyond types."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotation.kinds.validity.circus.form import FLAGS
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.support.texts import quoted

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
