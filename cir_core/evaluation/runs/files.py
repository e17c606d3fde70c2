"""Read run files of any supported format, detected from their content."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cir_core.datasets.files.issues import RAISE, ValidationIssues
from cir_core.datasets.files.json_files import first_byte, read_array, read_object
from cir_core.datasets.readers.fashioniq import CATEGORIES
from cir_core.errors import DatasetError
from cir_core.evaluation.runs.records import Run
from cir_core.evaluation.runs.trec import read_trec_run
from cir_core.support.texts import quoted

_Ranking = tuple[tuple[str, ...], tuple[float, ...]]  # ids, and scores where there are any
_FORMS = "Give TREC lines, or JSON: query id to a list of image ids, or to an object of image id and score"


def read_run(path: Path | Sequence[Path], *, faults: ValidationIssues = RAISE) -> Run:
    """Read a run from one file, several, or a folder of them (in the order of their names).

    * TREC text;
    * a JSON object, query id to image ids, best first (the formats of CIRCO's and CIRR's
      servers; a file of metric "recall_subset" gives ``subset_rankings``);
    * a JSON object, query id to {image id: score};
    * FashionIQ's caption records with a ``ranking`` each. A query id is "category:position", so
      the file's name must hold the category, as in ``dress.val.pred.json``.

    The system is the tag of TREC lines, else the name of the file, or of the folder for
    several files. Raises ``DatasetError`` unless ``faults`` collects.
    """
    if not isinstance(path, Path):
        return _merged(path[0].stem if path else "", path, faults)
    if path.is_dir():
        return _merged(path.name, sorted(p for p in path.iterdir() if p.is_file() and p.name[0] != "."), faults)
    first = first_byte(path)
    if first == b"[":
        return _challenge(path, faults)
    return _object(path, faults) if first == b"{" else read_trec_run(path, faults)


def _merged(name: str, paths: Sequence[Path], faults: ValidationIssues) -> Run:
    if not paths:
        raise DatasetError(f"There is no run file in {name!r}. Name the files of the run, or the folder they are in.")
    rankings: dict[str, tuple[str, ...]] = {}
    scores: dict[str, tuple[float, ...]] = {}
    subset: dict[str, tuple[str, ...]] = {}
    notes: list[str] = []
    systems = set()
    for path in paths:
        run = read_run(path, faults=faults)
        systems.add(run.system)
        notes += [f"{path.name}: {note}" for note in run.notes]
        for query_id in run.rankings.keys() & rankings.keys() | run.subset_rankings.keys() & subset.keys():
            faults.add(path, f"query {quoted(query_id)}", "another file of the run has it too", "Keep one of them")
        for query_id, ids in run.rankings.items():
            if query_id not in rankings:
                rankings[query_id] = ids
                if query_id in run.scores:
                    scores[query_id] = run.scores[query_id]
        subset = {**run.subset_rankings, **subset}
    return Run(systems.pop() if len(systems) == 1 else name, rankings, scores, subset, tuple(notes))


def _object(path: Path, faults: ValidationIssues) -> Run:
    record = read_object(path, faults, constants=True)
    metric = record.pop("metric", None) if isinstance(record.get("metric"), str) else None
    if isinstance(record.get("version"), str):
        del record["version"]
    rankings: dict[str, tuple[str, ...]] = {}
    scores: dict[str, tuple[float, ...]] = {}
    for query_id, value in record.items():
        problem, ids, values = _ranking(value)
        if problem:
            faults.add(path, f"query {quoted(query_id)}", problem, _FORMS)
            continue
        rankings[query_id] = ids
        if values:
            scores[query_id] = values
    if not record and not faults.count:
        faults.add(path, "", "it contains no query", _FORMS)
    if metric == "recall_subset":
        return Run(path.stem, {}, {}, rankings)
    return Run(path.stem, rankings, scores)


def _challenge(path: Path, faults: ValidationIssues) -> Run:
    named = [part for part in re.split(r"[^a-z]+", path.name.lower()) if part in CATEGORIES]
    if len(named) != 1:
        faults.add(path, "", "it is a JSON array, and its name does not say FashionIQ's category",
                   f"Name it after one of {', '.join(CATEGORIES)}, as in dress.val.pred.json; {_FORMS}")
        return Run(path.stem, {})
    rankings = {}
    for number, record in read_array(path, faults):
        value = record.get("ranking")
        problem, ids, _ = _ranking(value) if isinstance(value, list) else ("it has no list 'ranking'", (), ())
        if problem:
            faults.add(path, number, problem, "FashionIQ's caption records carry the image ids under 'ranking'")
        else:
            rankings[f"{named[0]}:{number}"] = ids
    return Run(path.stem, rankings)


def _ranking(value: Any) -> tuple[str, tuple[str, ...], tuple[float, ...]]:
    """Its problem or "", ids, and scores if any."""
    if isinstance(value, list):
        if any(isinstance(image_id, bool) or not isinstance(image_id, str | int) for image_id in value):
            return "its ranking contains something that is not an image id", (), ()
        ids = tuple(map(str, value))
        if len(set(ids)) < len(ids):
            twice = next(image_id for i, image_id in enumerate(ids) if image_id in ids[:i])
            return f"image {quoted(twice)} occurs twice in its ranking", (), ()
        return "", ids, ()
    if not isinstance(value, dict):
        return "it has neither a list of image ids nor an object of scores", (), ()
    for image_id, score in value.items():
        if not _finite(score):
            return f"the score of image {quoted(image_id)} is {quoted(score)}, which is not a finite number", (), ()
    pairs = sorted(value.items(), key=lambda pair: -pair[1])  # stable: ties in file order
    return "", tuple(image_id for image_id, _ in pairs), tuple(float(score) for _, score in pairs)


def _finite(score: Any) -> bool:
    try:
        return isinstance(score, int | float) and not isinstance(score, bool) and math.isfinite(score)
    except OverflowError:  # an integer beyond float64
        return False
