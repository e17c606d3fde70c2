"""CIRR: queries over one split's images, each with an image set of six for subset recall.

``captions/cap.rc2.<split>.json`` is an array of ``{pairid, reference, target_hard, caption, img_set}``; test1 hides its
targets. ``image_splits/split.rc2.<split>.json`` maps the names of all images of the split to their files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import BaseModel, StringConstraints

from cir_core.datasets.files.captions import query_texts
from cir_core.datasets.files.issues import RAISE, ValidationIssues
from cir_core.datasets.files.json_files import read_object, read_records
from cir_core.datasets.files.layouts import find_file, hides_targets, refuse_targets, split_of_file
from cir_core.datasets.records import Benchmark, BenchmarkQuery, CaptionMode
from cir_core.support.texts import quoted

POOL = "cirr"
SUBSET = 5  # members of an image set beside the reference
_INSIDE = ("", "cirr/", "CIRR/", "cirr_dataset/")
_CAPTIONS = re.compile(r"cap\.rc2\.(?P<split>\w+)\.json")
_AGAIN = "Download the annotations again"

_Name = Annotated[str, StringConstraints(min_length=1)]


class _ImageSet(BaseModel):
    members: list[_Name]


class _Record(BaseModel):
    pairid: int
    reference: _Name
    target_hard: _Name | None = None
    caption: str
    img_set: _ImageSet


def read_benchmark(
    path: Path, *, split: str | None = None, caption_mode: CaptionMode | None = None,
    faults: ValidationIssues = RAISE,
) -> Benchmark:
    """The queries of ``split`` ("val", or the one a caption file is named after).

    ``path`` is the data set's folder or a caption file; without the split file beside it the pool is None. A query's id
    is its pairid; the reference is excluded from its ranking, and ``subset_ids`` are the five other members of its
    image set. Targets are ``target_hard``, () on test1. ``caption_mode`` is "single" unless given.

    Raises ``DatasetError`` if files are missing or a single file is of another split, and at the
    first fault unless ``faults`` collects.
    """
    captions, listing, split = _files(path, split)
    files = _read_split(listing, faults) if listing else None
    queries = _read_queries(captions, split, caption_mode or "single", files, faults)
    if path == captions and not _CAPTIONS.fullmatch(path.name):  # the split is known from the argument only
        refuse_targets(path, split, queries)
    if files is None:
        note = f"There is no split.rc2.{split}.json beside the captions: all images of the gallery are ranked."
        return Benchmark("cirr", split, queries, {POOL: None}, _usual_paths, (note,))
    return Benchmark("cirr", split, queries, {POOL: tuple(files)}, partial(_listed_paths, files))


def _files(path: Path, split: str | None) -> tuple[Path, Path | None, str]:
    """Caption file, split file if any, and the split."""
    if path.is_file():
        named = _CAPTIONS.fullmatch(path.name)
        split = split_of_file(path, named["split"] if named else None, split)
        beside = (path.parent.parent / "image_splits", path.parent)
        listings = (folder / f"split.rc2.{split}.json" for folder in beside)
        return path, next(filter(Path.is_file, listings), None), split
    split = split or "val"
    captions = find_file(path, [f"{inside}captions/cap.rc2.{split}.json" for inside in _INSIDE],
                         f"CIRR's captions of the split {quoted(split)}")
    root = captions.parent.parent
    listing = find_file(root, [f"image_splits/split.rc2.{split}.json"],
                        f"CIRR's image list of the split {quoted(split)}")
    return captions, listing, split


def _read_split(path: Path, faults: ValidationIssues) -> dict[str, str]:
    """Image names with their files, relative to the image root."""
    files: dict[str, str] = {}
    for name, file in read_object(path, faults).items():
        relative = PurePosixPath(file) if isinstance(file, str) else None
        if not name or relative is None or not relative.parts or relative.is_absolute() or ".." in relative.parts:
            faults.add(path, f"key {quoted(name)}", f"{quoted(file)} is not a path below the images' folder",
                       f'It should look like "./dev/{name or "name"}.png"; check the kind of file')
        else:
            files[name] = str(relative)
    return files


def _read_queries(
    path: Path, split: str, mode: CaptionMode, known: Mapping[str, str] | None, faults: ValidationIssues
) -> list[BenchmarkQuery]:
    queries: dict[str, BenchmarkQuery] = {}
    for number, record in read_records(path, _Record, faults):
        query_id = str(record.pairid)
        texts = query_texts([record.caption], mode)
        if query_id in queries:
            faults.add(path, number, f"pairid {query_id} occurs twice", "Keep one of the two")
        elif (problem := _problem(record, split, known)) is not None:
            faults.add(path, number, f"pairid {query_id}: {problem}", _AGAIN)
        elif not texts:
            faults.add(path, number, f"pairid {query_id}: the caption is empty", "Take the record out or write one")
        else:
            queries[query_id] = BenchmarkQuery(
                query_id, record.reference, texts[0], (record.target_hard,) if record.target_hard else (),
                mode, POOL, excluded_ids=(record.reference,),
                subset_ids=tuple(name for name in record.img_set.members if name != record.reference),
            )
    return list(queries.values())


def _problem(record: _Record, split: str, known: Mapping[str, str] | None) -> str | None:
    """Why a record is not a valid query, or None."""
    members = record.img_set.members
    target = record.target_hard
    if target is None and not hides_targets(split):
        return "'target_hard' is missing, which only test splits hide"
    if record.reference not in members:
        return f"the reference {quoted(record.reference)} is not among the members of its image set"
    if target is not None and (target not in members or target == record.reference):
        return f"the target {quoted(target)} is not among the other members of its image set"
    if len(set(members)) != len(members) or len(members) != SUBSET + 1:
        return f"its image set has {len(set(members))} different members, not {SUBSET + 1}"
    outside = [name for name in members if known is not None and name not in known]
    return f"{quoted(outside[0])} is not in split.rc2.{split}.json" if outside else None


def _listed_paths(files: Mapping[str, str], name: str) -> tuple[str, ...]:
    if name not in files:
        return _usual_paths(name)
    path = PurePosixPath(files[name])
    return tuple(dict.fromkeys((str(path), f"img_raw/{path}", str(PurePosixPath(*path.parts[1:])), path.name)))


def _usual_paths(name: str) -> tuple[str, ...]:
    """Names begin with NLVR2's name of their split; train images are in numbered folders known
    to the split file only."""
    path = f"{name.partition('-')[0]}/{name}.png"
    return (path, f"img_raw/{path}", f"{name}.png")
