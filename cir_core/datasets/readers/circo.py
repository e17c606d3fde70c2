"""CIRCO: queries with several targets over COCO 2017's unlabeled images.

``annotations/<split>.json`` is an array of ``{id, reference_img_id, relative_caption, target_img_id, gt_img_ids,
semantic_aspects, …}`` whose id is its position and whose target is the first of its ground truths; the test split hides
the last three. The pool is the list in COCO's ``image_info_unlabeled2017.json``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from pathlib import Path

import ijson
from pydantic import BaseModel, StrictInt, StrictStr

from cir_core.datasets.files.captions import query_texts
from cir_core.datasets.files.issues import RAISE, ValidationIssues
from cir_core.datasets.files.json_depth import DepthLimited, TooDeep
from cir_core.datasets.files.json_files import read_records
from cir_core.datasets.files.layouts import find_file, hides_targets, refuse_targets, split_of_file
from cir_core.datasets.records import Benchmark, BenchmarkQuery, CaptionMode
from cir_core.errors import DatasetError
from cir_core.support.texts import quoted

POOL = "circo"
ASPECTS = (
    "cardinality", "addition", "negation", "direct_addressing", "compare_change", "comparative_statement",
    "statement_with_conjunction", "spatial_relations_background", "viewpoint",
)
_INSIDE = ("", "CIRCO/", "circo/")
_IMAGES = "image_info_unlabeled2017.json"
_AGAIN = "Download the annotations again"

_Id = StrictInt | StrictStr


class _Record(BaseModel):
    id: StrictInt
    reference_img_id: _Id
    relative_caption: str
    target_img_id: _Id | None = None
    gt_img_ids: list[_Id] | None = None
    semantic_aspects: list[str] = []


def read_benchmark(
    path: Path, *, split: str | None = None, caption_mode: CaptionMode | None = None,
    faults: ValidationIssues = RAISE,
) -> Benchmark:
    """The queries of ``split`` ("val", or the one an annotation file is named after).

    ``path`` is the data set's folder or an annotation file. Image ids are COCO's numbers without
    leading zeros, the first target is the one the text was written for, and empty strings that pad
    a target list are dropped. The pool is None if COCO's image list is missing. An unknown
    aspect is kept, with a note. ``caption_mode`` is "single" unless given.

    Raises ``DatasetError`` if files are missing or a single file is of another split, and at the
    first fault unless ``faults`` collects.
    """
    annotations, split = _annotations(path, split)
    listing = _image_list(annotations)
    pool = _read_pool(listing, faults) if listing else None
    queries = _read_queries(annotations, split, caption_mode or "single", set(pool) if pool else None, faults)
    if path == annotations and path.stem != split:  # the split is known from the argument only
        refuse_targets(path, split, queries)
    notes = []
    if pool is None:
        notes.append(f"COCO's {_IMAGES} is missing: all images of the gallery are ranked.")
    if other := Counter(aspect for query in queries for aspect in query.aspects if aspect not in ASPECTS):
        counts = ", ".join(f"{quoted(aspect)} ({count})" for aspect, count in other.items())
        notes.append(f"Aspects unknown to CIRCO, with their numbers of queries: {counts}.")
    return Benchmark("circo", split, queries, {POOL: pool}, image_paths, tuple(notes))


def image_paths(image_id: str) -> tuple[str, ...]:
    """COCO's file name, in the folders that CIRCO and COCO unpack to."""
    name = f"{image_id.zfill(12)}.jpg"
    return (f"COCO2017_unlabeled/unlabeled2017/{name}", f"unlabeled2017/{name}", name)


def canonical_id(value: object) -> str | None:
    """Normalise an image id (a number or a string of digits, padded or not) to "271520"; None if invalid."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value) if value >= 0 else None
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return str(int(value))
    return None


def _annotations(path: Path, split: str | None) -> tuple[Path, str]:
    if path.is_file():
        return path, split_of_file(path, path.stem if path.stem in ("val", "test") else None, split)
    split = split or "val"
    options = [f"{inside}{folder}{split}.json" for inside in _INSIDE for folder in ("annotations/", "")]
    return find_file(path, options, f"CIRCO's annotations of the split {quoted(split)}"), split


def _image_list(annotations: Path) -> Path | None:
    roots = (annotations.parent.parent, annotations.parent)
    options = (root / inside / _IMAGES for root in roots
               for inside in ("COCO2017_unlabeled/annotations", "annotations", ""))
    return next(filter(Path.is_file, options), None)


def _read_pool(path: Path, faults: ValidationIssues) -> tuple[str, ...]:
    """Ids in the order of the list, which has 123,403 records and is streamed."""
    pool: dict[str, None] = {}
    number = 0
    try:
        with path.open("rb") as source:
            for number, value in enumerate(ijson.items(DepthLimited(source), "images.item.id")):
                image_id = canonical_id(value)
                if image_id is None:
                    faults.add(path, number, f"{quoted(value)} is not an image id", "Download COCO's image list again")
                elif image_id in pool:
                    faults.add(path, number, f"the image id {image_id} occurs twice", "Keep one of the two")
                else:
                    pool[image_id] = None
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: {error.strerror or error}. Check the path.") from error
    except TooDeep as error:
        faults.add(path, f"after image {number}", f"it is {error}", "Download COCO's image list again")
    except (ijson.JSONError, ValueError) as error:
        faults.add(path, f"after image {number}", f"it is cut off or not valid JSON ({' '.join(str(error).split())})",
                   "Download COCO's image list again")
    else:
        if not pool:
            faults.add(path, "", "it lists no images", "Download COCO's image list again")
    return tuple(pool)


def _read_queries(
    path: Path, split: str, mode: CaptionMode, known: Container[str] | None, faults: ValidationIssues
) -> list[BenchmarkQuery]:
    queries = []
    for number, record in read_records(path, _Record, faults):
        query = _query(record, mode)
        if record.id != number:
            faults.add(path, number, f"its id is {record.id}, which is not its position", "Keep the released order")
        elif isinstance(query, str):
            faults.add(path, number, query, _AGAIN)
        elif not query.target_ids and not hides_targets(split):
            faults.add(path, number, "'target_img_id' and 'gt_img_ids' are missing", "Only the test split hides them")
        elif known is not None and (outside := [one for one in (query.reference_id, *query.target_ids)
                                                if one not in known]):
            faults.add(path, number, f"the image {outside[0]} is not in {_IMAGES}", _AGAIN)
        else:
            queries.append(query)
    return queries


def _query(record: _Record, mode: CaptionMode) -> BenchmarkQuery | str:
    """The record as a query, or its problem."""
    texts = query_texts([record.relative_caption], mode)
    if not texts:
        return "the relative caption is empty"
    written = [record.reference_img_id, *(one for one in record.gt_img_ids or () if one != "")]
    ids = [canonical_id(one) for one in written]
    if None in ids:
        return f"{quoted(written[ids.index(None)])} is not an image id"
    reference, *targets = [one for one in ids if one is not None]
    if len(set(targets)) < len(targets):
        return "an image occurs twice in 'gt_img_ids'"
    target = None if record.target_img_id in (None, "") else record.target_img_id
    if canonical_id(target) != (targets[0] if targets else None):
        return f"'target_img_id' is {target}, which is not the first of 'gt_img_ids'"
    return BenchmarkQuery(str(record.id), reference, texts[0], tuple(targets), mode, POOL,
                          aspects=tuple(record.semantic_aspects))
