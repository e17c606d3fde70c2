"""TREC's run format: ``query Q0 image rank score tag``.

trec_eval ignores the rank column: it sorts by score, as float32, and breaks
ties by descending image id. Runs written here have scores that strictly
decrease as text, as float64 and as float32, so that every evaluator preserves their order.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from cir_core.datasets.files.issues import RAISE, ValidationIssues
from cir_core.datasets.files.json_files import text_lines
from cir_core.datasets.readers.qrels import one_word
from cir_core.errors import DatasetError
from cir_core.evaluation.runs.records import Run
from cir_core.support.files import write_atomically
from cir_core.support.texts import quoted

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_FORM = "A line of a run is: query Q0 image rank score tag"


@dataclass
class _Listed:
    """One query's lines in file order, as arrays, since runs have millions of lines."""

    ids: list[str] = field(default_factory=list)
    scores: array[float] = field(default_factory=lambda: array("d"))
    ranks: array[int] = field(default_factory=lambda: array("q"))

    def ordered(self) -> list[int]:
        return sorted(range(len(self.ids)), key=lambda i: (-self.scores[i], self.ranks[i]))


def read_trec_run(path: Path, faults: ValidationIssues = RAISE) -> Run:
    """Best first by score; ties by the rank column, then in file order.

    Notes report a rank column that contradicts the scores, equal scores (trec_eval
    orders those by image id), and several tags; the first tag is the system.
    Raises ``DatasetError`` unless ``faults`` collects; a faulty line is then left out.
    """
    listed: dict[str, _Listed] = {}
    known: dict[str, str] = {}  # one string per image, however many queries return it
    tags: dict[str, None] = {}
    for number, line in text_lines(path, faults):
        fields = line.split()
        if not fields:
            continue
        if problem := _problem(fields):
            faults.add(path, f"line {number}", problem, _FORM)
            continue
        query_id, _, image_id, rank, score, tag = fields
        tags.setdefault(tag)
        query = listed.setdefault(query_id, _Listed())
        query.ids.append(known.setdefault(image_id, image_id))
        query.scores.append(float(score))
        query.ranks.append(int(rank))
    if not listed and not faults.count:
        faults.add(path, "", "it contains no line of a run", _FORM)

    rankings: dict[str, tuple[str, ...]] = {}
    scores: dict[str, tuple[float, ...]] = {}
    contradicted, tied = [], []
    for query_id, query in listed.items():
        order = _each_once(path, query_id, query, faults)
        rankings[query_id] = tuple(query.ids[i] for i in order)
        scores[query_id] = values = tuple(query.scores[i] for i in order)
        ranks = [query.ranks[i] for i in order]
        if any(a > b for a, b in pairwise(ranks)):
            contradicted.append(query_id)
        if any(a == b for a, b in pairwise(values)):
            tied.append(query_id)
    return Run(next(iter(tags), path.stem), rankings, scores, notes=_notes(contradicted, tied, list(tags)))


def write_trec_run(path: Path, run: Run) -> None:
    """Write the scores unchanged if they strictly decrease, else lowered by as little as float32 can;
    a run without scores gets n … 1. A query with an empty list has no line. White space in
    the system's name becomes ``_``. Raises ``DatasetError`` for content the format cannot hold."""
    if run.subset_rankings:
        raise DatasetError(f"The run {quoted(run.system)} has subset rankings, which a TREC run cannot contain. "
                           "Write CIRR's submission files instead.")
    tag = "_".join(run.system.split()) or "cirque"

    def lines() -> Iterator[bytes]:
        for query_id, ids in run.rankings.items():
            texts = falling_scores(run.scores.get(query_id), len(ids), query_id)
            start = f"{one_word(query_id, 'query')} Q0 "
            yield "".join(
                f"{start}{one_word(image_id, 'image')} {rank} {score} {tag}\n"
                for rank, (image_id, score) in enumerate(zip(ids, texts, strict=True), 1)
            ).encode()

    write_atomically(path, lines())


def falling_scores(scores: Sequence[float] | None, n: int, query_id: str = "") -> list[str]:
    """``n`` scores, best first, as texts whose float32 values strictly decrease.

    A score that is not below its predecessor is replaced by the next lower float32. If float32 cannot represent the
    scores, they are replaced by n … 1. Raises ``DatasetError`` for NaN and infinity, and unless there are ``n``.
    """
    if scores is None:
        return [str(value) for value in range(n, 0, -1)]
    if len(scores) != n or not all(map(math.isfinite, scores)):
        raise DatasetError(f"Query {quoted(query_id)} has scores that are not {n} finite numbers. Score the run again.")
    with np.errstate(over="ignore"):
        rounded = np.asarray(scores, np.float32)
    if not np.isfinite(rounded).all():
        return falling_scores(None, n)
    texts, last = [], np.float32(np.inf)
    for score, value in zip(scores, rounded, strict=True):
        below = bool(value < last)
        with np.errstate(over="ignore"):  # overflow gives -inf, which is checked at the end
            last = value if below else np.nextafter(last, np.float32(-np.inf))
        texts.append(repr(float(score if below else last)))
    return texts if np.isfinite(last) else falling_scores(None, n)


def _problem(fields: Sequence[str]) -> str:
    if len(fields) != 6:
        return f"it has {len(fields)} fields, not 6"
    rank, score = fields[3], fields[4]
    if not _INTEGER.fullmatch(rank):
        return f"the rank {quoted(rank)} is not an integer"
    try:
        finite = "_" not in score and math.isfinite(float(score))
    except ValueError:
        finite = False
    return "" if finite else f"the score {quoted(score)} of query {quoted(fields[0])} is not a finite number"


def _each_once(path: Path, query_id: str, query: _Listed, faults: ValidationIssues) -> list[int]:
    """Positions in ``query``, best first; a repeated image is a fault and counts once."""
    order = query.ordered()
    if len(set(query.ids)) == len(query.ids):
        return order
    best: dict[str, int] = {}
    for i in order:
        if query.ids[i] in best:
            faults.add(path, f"query {quoted(query_id)}", f"image {quoted(query.ids[i])} occurs twice in its ranking",
                       "Keep its best line")
        best.setdefault(query.ids[i], i)
    return list(best.values())


def _notes(contradicted: Sequence[str], tied: Sequence[str], tags: Sequence[str]) -> tuple[str, ...]:
    notes = []
    if contradicted:
        notes.append(f"The rank column contradicts the scores in {len(contradicted)} queries, first "
                     f"{quoted(contradicted[0])}: the scores decide, as in trec_eval.")
    if tied:
        notes.append(f"{len(tied)} queries have equal scores, first {quoted(tied[0])}: the rank column decides. "
                     "trec_eval would order them by image id.")
    if len(tags) > 1:
        notes.append(f"The file has {len(tags)} tags ({', '.join(tags[:3])}{', …' if len(tags) > 3 else ''}) "
                     "and is read as one run.")
    return tuple(notes)
