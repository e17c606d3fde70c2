"""FashionIQ: caption and split files of three categories, each ranked separately.

``captions/cap.<category>.<split>.json`` is an array of ``{candidate, target, captions}`` whose
``candidate`` is the reference image; test files lack ``target``. The pool of a category is
``image_splits/split.<category>.<split>.json``, an array of image names.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, StringConstraints

from cir_core.datasets.files.captions import query_texts
from cir_core.datasets.files.issues import RAISE, ValidationIssues
from cir_core.datasets.files.json_files import read_document, read_records
from cir_core.datasets.files.layouts import check_folder, hides_targets
from cir_core.datasets.records import Benchmark, BenchmarkQuery, CaptionMode
from cir_core.errors import DatasetError
from cir_core.support.texts import quoted

CATEGORIES = ("dress", "shirt", "toptee")
_INSIDE = ("", "fashioniq", "fashion-iq", "FashionIQ", "fashionIQ_dataset", "fashioniq_dataset")
_WRONG_SPLIT = "Check that captions and split file are of the same split and release"


class _Record(BaseModel):
    candidate: Annotated[str, StringConstraints(min_length=1)]
    target: Annotated[str, StringConstraints(min_length=1)] | None = None
    captions: list[str]


def read_benchmark(
    path: Path, *, split: str | None = None, caption_mode: CaptionMode | None = None,
    faults: ValidationIssues = RAISE,
    union: bool = False,
) -> Benchmark:
    """The queries for ``split`` ("val") of all categories in ``path``.

    ``caption_mode`` is "joined" unless given. A query's id is "dress:17", category and position
    in the file, with "separate" "dress:17:0"; its pool is the category's whole split file.
    ``union`` uses the literature's second protocol instead: the pool is the references and targets of
    the category's queries, in order of appearance, which gives higher figures.

    Raises ``DatasetError`` if files are missing, and at the first fault unless ``faults`` collects.
    """
    split = split or "val"
    queries, pools, notes = read_categories(
        path, split, caption_mode or "joined", faults, union=union,
        may_hide_targets=hides_targets(split),
    )
    return Benchmark("fashioniq", split, queries, pools, image_paths, notes)


def read_categories(
    path: Path, split: str, caption_mode: CaptionMode, faults: ValidationIssues, *, union: bool, may_hide_targets: bool,
) -> tuple[list[BenchmarkQuery], dict[str, Sequence[str]], tuple[str, ...]]:
    """Queries, pools by category, and notes, of a data set in FashionIQ's format."""
    folder = _folder(path, split)
    there = [category for category in CATEGORIES if _captions(folder, category, split).is_file()]
    notes = [f"There are no captions of {category} here." for category in CATEGORIES if category not in there]
    queries: list[BenchmarkQuery] = []
    pools: dict[str, Sequence[str]] = {}
    empty: list[str] = []
    for category in there:
        known = None if union else read_split(folder, category, split, faults)
        of_category = list(_queries(
            folder, category, split, caption_mode, faults, may_hide_targets=may_hide_targets,
            known=set(known) if known else None, empty=empty,
        ))
        pools[category] = list(dict.fromkeys(
            image_id for query in of_category for image_id in (query.reference_id, *query.target_ids)
        )) if known is None else known
        queries += of_category
    if empty:
        notes.append(f"{len(empty)} empty captions were left out; the query's other caption is used alone.")
    if union:
        notes.append("Each category is ranked against the references and targets of its queries only.")
    return queries, pools, tuple(notes)


def read_queries(
    folder: Path, category: str, split: str, *, caption_mode: CaptionMode = "joined",
    faults: ValidationIssues = RAISE,
) -> list[BenchmarkQuery]:
    """Queries of one category with their targets, in file order; the split file is not read. Raises ``DatasetError`` as
    :func:`read_benchmark` does."""
    return list(_queries(folder, category, split, caption_mode, faults))


def read_split(folder: Path, category: str, split: str, faults: ValidationIssues = RAISE) -> list[str]:
    """The category's whole pool: image ids of ``split.<category>.<split>.json``, each once."""
    path = folder / "image_splits" / f"split.{category}.{split}.json"
    content = read_document(path, faults)
    if content is None:
        return []
    if not isinstance(content, list):
        faults.add(path, "", "it does not contain a JSON array of image names", "Check that it is the right file")
        return []
    first: dict[str, int] = {}
    for number, name in enumerate(content):
        if not isinstance(name, str) or not name:
            faults.add(path, number, f"{quoted(name)} is not an image name", "Check the kind of file")
        elif name in first:
            faults.add(path, number, f"{quoted(name)} occurs twice, first at record {first[name]}", "Keep one of them")
        else:
            first[name] = number
    return list(first)


def image_paths(image_id: str) -> tuple[str, ...]:
    """The starter kit saves .jpg, later repositories .png; some have a folder per category."""
    folders = ("images/", "", *(f"{above}{category}/" for above in ("", "image_data/") for category in CATEGORIES))
    return tuple(f"{folder}{image_id}{ending}" for folder in folders for ending in (".png", ".jpg"))


def _queries(
    folder: Path, category: str, split: str, mode: CaptionMode, faults: ValidationIssues, *,
    may_hide_targets: bool = False, known: Container[str] | None = None, empty: list[str] | None = None,
) -> Iterator[BenchmarkQuery]:
    """``known``: the pool that references and targets must be in. ``empty`` collects a query id
    for each dropped caption."""
    path = _captions(folder, category, split)
    for number, record in read_records(path, _Record, faults):
        if record.target is None and not may_hide_targets:
            faults.add(path, number, "'target' is missing", "Only the test split hides its targets; check the file")
            continue
        targets = () if record.target is None else (record.target,)
        outside = [name for name in (record.candidate, *targets) if known is not None and name not in known]
        if outside:
            faults.add(path, number, f"{quoted(outside[0])} is not in split.{category}.{split}.json", _WRONG_SPLIT)
            continue
        texts = query_texts(record.captions, mode)
        if not texts:
            faults.add(path, number, "all its captions are empty", "Take the record out or write a caption")
            continue
        query_id = f"{category}:{number}"
        if empty is not None:
            empty += [query_id] * sum(not caption.strip() for caption in record.captions)
        whole = () if mode == "separate" else tuple(record.captions)
        for part, text in enumerate(texts):
            yield BenchmarkQuery(f"{query_id}:{part}" if mode == "separate" else query_id, record.candidate, text,
                                 targets, mode, category, captions=whole)


def _captions(folder: Path, category: str, split: str) -> Path:
    return folder / "captions" / f"cap.{category}.{split}.json"


def _folder(path: Path, split: str) -> Path:
    check_folder(path)
    for inside in _INSIDE:
        if any(_captions(path / inside, category, split).is_file() for category in CATEGORIES):
            return path / inside
    found = {file.name.split(".")[-2] for inside in _INSIDE for file in (path / inside).glob("captions/cap.*.*.json")}
    there = f"Splits that are there: {', '.join(sorted(found))}" if found else "Give the folder that contains captions/"
    names = ", ".join(f"captions/cap.{category}.{split}.json" for category in CATEGORIES)
    raise DatasetError(f"{path} has no captions of the split {quoted(split)}. Looked there, and in folders called "
                       f"{', '.join(filter(None, _INSIDE))}, for {names}. {there}.")
