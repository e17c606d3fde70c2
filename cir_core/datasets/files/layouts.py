"""Find a benchmark's files in common folder layouts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cir_core.datasets.records import BenchmarkQuery
from cir_core.errors import DatasetError
from cir_core.support.texts import quoted


def find_file(root: Path, options: Sequence[str], what: str) -> Path:
    """The first of ``options``, paths below ``root``, that is a file. Otherwise raises ``DatasetError`` that names
    ``what`` is missing and where."""
    check_folder(root)
    for option in options:
        if (path := root / option).is_file():
            return path
    raise DatasetError(f"{root} does not hold {what}. Looked there for {', '.join(options)}. "
                       "Check the path and the split, or download the annotations.")


def check_folder(root: Path) -> None:
    """Raises ``DatasetError`` unless ``root`` is a folder."""
    if not root.exists():
        raise DatasetError(f"{root} is missing. Check the path.")
    if not root.is_dir():
        raise DatasetError(f"{root} is a file. Give the data set's folder.")


def split_of_file(path: Path, named: str | None, given: str | None) -> str:
    """The split of a single file: from its name, or as given, or "val". Raises ``DatasetError`` if the two differ:
    results would be reported under the wrong split."""
    if named and given and named != given:
        raise DatasetError(f"{path} is of the split {quoted(named)}, as its name says, not {quoted(given)}. Leave the "
                           f"split out, or give the file of {quoted(given)}.")
    return named or given or "val"


def refuse_targets(path: Path, split: str, queries: Sequence[BenchmarkQuery]) -> None:
    """Raises ``DatasetError`` for a file declared to be of a split that hides its targets
    although it names some: it belongs to another split."""
    known = sum(bool(query.target_ids) for query in queries)
    if known and hides_targets(split):
        raise DatasetError(f"{path}: {known} of its {len(queries)} queries name their targets, which the split "
                           f"{quoted(split)} hides. Leave the split out, or give the file of {quoted(split)}.")


def hides_targets(split: str) -> bool:
    """Whether a split's records may lack their targets: CIRR's test1, CIRCO's and FashionIQ's test."""
    return split.startswith("test")
