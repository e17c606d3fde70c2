"""GeneCIS (Vaze et al., CVPR 2023): four tasks, each query with a small gallery of its own.

``<task>.json`` is an array of ``{reference, target, condition, gallery}``; the gallery does not hold the target. Images
of the object tasks are ``{val_image_id}`` of COCO's val2017. Those of the attribute tasks are boxes of Visual Genome's
images, ``{image_id, instance_bbox: [x, y, width, height]}``, which are cut out with a margin and padded to a square.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from cir_core.datasets.files.image_files import Box
from cir_core.datasets.files.issues import RAISE, ValidationIssues
from cir_core.datasets.files.json_files import read_records
from cir_core.datasets.files.layouts import check_folder
from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.errors import DatasetError

TASKS = ("focus_attribute", "change_attribute", "focus_object", "change_object")
_INSIDE = ("", "genecis/", "GeneCIS/")
_AGAIN = "Download the data set's JSON files again"
_BOX_ID = re.compile(r"(\d+)_")

_Side = Annotated[float, Field(gt=0)]


class _Image(BaseModel):
    val_image_id: int | None = None
    image_id: int | None = None
    instance_bbox: tuple[float, float, _Side, _Side] | None = None


class _Record(BaseModel):
    reference: _Image
    target: _Image
    condition: str
    gallery: list[_Image]


def read_benchmark(path: Path, *, faults: ValidationIssues = RAISE) -> Benchmark:
    """Read the tasks in ``path``: a task's file, or a folder with files of any of the four.

    Every query has a pool of its own, "<task>/<number>": its gallery and its target, in the order of their ids, so that
    ties do not favour the target. Object images have COCO's names as ids, boxes "<image>_<x>_<y>_<width>_<height>".
    Raises ``DatasetError`` unless ``faults`` collects.
    """
    queries: list[BenchmarkQuery] = []
    pools: dict[str, tuple[str, ...]] = {}
    boxes: dict[str, Box] = {}
    files = _files(path)
    for task, file in files.items():
        before = len(queries)
        for number, record in read_records(file, _Record, faults):
            ids = [_id(image, boxes) for image in (record.reference, record.target, *record.gallery)]
            text, known = " ".join(record.condition.split()), [image_id for image_id in ids if image_id]
            if len(known) < len(ids):
                problem = "an image has neither 'val_image_id' nor 'image_id' with 'instance_bbox'"
                faults.add(file, number, problem, _AGAIN)
            elif not record.gallery:
                faults.add(file, number, "its gallery is empty", _AGAIN)
            elif not text:
                faults.add(file, number, "its condition is empty", _AGAIN)
            else:
                name = f"{task}/{number}"
                pools[name] = tuple(sorted({*known[1:]}))
                queries.append(BenchmarkQuery(name, known[0], text, (known[1],), pool=name))
        if len(queries) == before and not faults.count:
            faults.add(file, "", "it contains no query", "Check that it is a task of GeneCIS")
    split = next(iter(files)) if len(files) == 1 else ""
    return Benchmark("genecis", split, tuple(queries), pools, _paths, tuple(_notes(files)), boxes=boxes)


def _files(path: Path) -> dict[str, Path]:
    """The files by task."""
    if path.is_file():
        if path.stem not in TASKS:
            raise DatasetError(f"{path} is not called like a task of GeneCIS ({', '.join(TASKS)}). Give one of its "
                               "files, or their folder.")
        return {path.stem: path}
    check_folder(path)
    for inside in _INSIDE:
        found = {task: file for task in TASKS if (file := path / f"{inside}{task}.json").is_file()}
        if found:
            return found
    raise DatasetError(f"{path} contains none of {', '.join(f'{task}.json' for task in TASKS)}. Check the path; the "
                       "files are in the folder genecis/ of the data set's repository.")


def _id(image: _Image, boxes: dict[str, Box]) -> str:
    if image.val_image_id is not None:
        return f"{image.val_image_id:012d}"
    if image.image_id is None or image.instance_bbox is None:
        return ""
    image_id = "_".join((str(image.image_id), *(f"{value:g}" for value in image.instance_bbox)))
    boxes[image_id] = image.instance_bbox
    return image_id


def _paths(image_id: str) -> tuple[str, ...]:
    if boxed := _BOX_ID.match(image_id):
        return tuple(f"{folder}{boxed[1]}.jpg" for folder in ("VG_100K/", "VG_100K_2/", "VG_All/", "VG_100K_all/", ""))
    return tuple(f"{folder}{image_id}.jpg" for folder in ("val2017/", "coco/val2017/", ""))


def _notes(files: Mapping[str, Path]) -> list[str]:
    lacking = [task for task in TASKS if task not in files]
    return [f"Without {', '.join(lacking)}: the published average is over all four tasks."] if lacking else []
