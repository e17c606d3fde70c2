"""Find a benchmark's files in common folder layouts. Find matching files in a folder in M-BEIR's layout.

Releases name them after data set, task and split (``query/test/mbeir_cirr_task7_test.jsonl``,
``cand_pool/local/mbeir_cirr_task7_cand_pool.jsonl``); converters are shorter
(``cand_pool/lasco_task7.jsonl``, ``qrels/test.tsv``). ``*.trace.jsonl`` belong to an audit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
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
    raise DatasetError(f"{root} does not contain {what}. Looked there for {', '.join(options)}. "
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
        raise DatasetError(f"{path} is of the split {quoted(named)}, according to its name, not {quoted(given)}. Leave "
                           f"the split out, or give the file of {quoted(given)}.")
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


_SPLITS = ("train", "val", "test")
_COMMON = re.compile(r"mbeir|cand|pool|qrels|query|queries|union|task\d+")


@dataclass(frozen=True)
class MbeirFiles:
    queries: Path
    pool: Path | None
    qrels: Path | None
    dataset: str  # "" if the names do not contain it
    split: str


def find_files(path: Path, split: str | None, pool: Path | None, qrels: Path | None) -> MbeirFiles:
    """``path``: the query file, or the folder that contains ``query``. The pool and qrels are found
    beside it unless given. Raises ``DatasetError`` listing the matches if several files match, and
    for a file whose name contradicts ``split``."""
    if not path.exists():
        raise DatasetError(f"{path} is missing. Give M-BEIR's folder, or the query file in it.")
    queries = _queries(path, split) if path.is_dir() else path
    if _is_trace(queries):
        raise DatasetError(f"{queries} is a trace of an audit. Give the query file it was made from.")
    dataset, named = _named(queries)
    if queries == path:
        split_of_file(queries, named, split)
    split = split or named or next((p.name for p in queries.parents if p.name in _SPLITS), "")
    root = _root(queries)
    if root and pool is None:
        pool = _pool(root, dataset, split, queries)
    if root and qrels is None:
        qrels = _qrels(root, dataset, split, queries)
    return MbeirFiles(queries, pool, qrels, dataset, split)


def _queries(folder: Path, split: str | None) -> Path:
    found = _within(folder / "query", ".jsonl") or _within(folder / "queries", ".jsonl")
    if not found:
        raise DatasetError(f"{folder} has no query/*.jsonl. Give M-BEIR's folder, or the query file itself.")
    fitting = [p for p in found if split is None or split in (_named(p)[1], p.parent.name)]
    if not fitting:
        raise DatasetError(f"{folder} has no queries of split {quoted(split)}. It has {_listed(found, folder)}.")
    return _only(fitting, folder, "query files", "Give one of them instead of the folder, or a split")


def _pool(root: Path, dataset: str, split: str, queries: Path) -> Path | None:
    found = _within(root / "cand_pool", ".jsonl")
    if len(found) < 2:
        return found[0] if found else None
    fitting = [p for p in found if _named(p)[0] == dataset]
    exact = [p for p in fitting if _named(p)[1] == split]
    fitting = exact or [p for p in fitting if not _named(p)[1]]
    if not fitting:
        raise DatasetError(f"None of {_listed(found, root)} is named like {queries.name}. Give the pool's file.")
    return _only(fitting, root, f"candidate pools for {queries.name}", "Give the pool's file")


def _qrels(root: Path, dataset: str, split: str, queries: Path) -> Path | None:
    found = _within(root / "qrels", ".tsv", ".txt")
    fitting = [
        p for p in found if _named(p)[0] in ("", dataset) and (_named(p)[1] or p.parent.name) in (split, "qrels")
    ]
    exact = [p for p in fitting if _named(p)[0] == dataset]
    fitting = exact or fitting
    return _only(fitting, root, f"qrels for {queries.name}", "Keep one of them in the folder") if fitting else None


def _named(path: Path) -> tuple[str, str]:
    """Data set and split, parsed from the file's name."""
    parts = path.name.split(".")[0].split("_")
    split = next((part for part in parts if part in _SPLITS), "")
    return "_".join(part for part in parts if part not in _SPLITS and not _COMMON.fullmatch(part)), split


def _root(queries: Path) -> Path | None:
    return next((p.parent for p in queries.absolute().parents if p.name in ("query", "queries")), None)


def _within(folder: Path, *suffixes: str) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.suffix in suffixes and not _is_trace(p) and p.is_file())


def _is_trace(path: Path) -> bool:
    return path.name.endswith(".trace.jsonl")


def _only(found: Sequence[Path], root: Path, what: str, remedy: str) -> Path:
    if len(found) > 1:
        raise DatasetError(f"{root} has several {what}: {_listed(found, root)}. {remedy}.")
    return found[0]


def _listed(found: Sequence[Path], root: Path) -> str:
    names = [str(p.relative_to(root)) if p.is_relative_to(root) else str(p) for p in found[:20]]
    return ", ".join(names) + (f" and {len(found) - 20} more" if len(found) > 20 else "")
