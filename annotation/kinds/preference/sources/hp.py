"""Questions (queries and sets) of a file in HP-FashionIQ's format, without its answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from annotation.kinds.preference.sources.queries import SurveyQuery, SurveySource, check_size, selection
from annotation.sources.pictures import Pictures
from annotation.sources.queries import refuse
from annotation.sources.sampling import spread
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.readers.fashioniq import image_paths as fashioniq_paths
from cir_core.datasets.readers.hp_fashioniq import image_paths, read_questions
from cir_core.errors import StudyError
from cir_core.gallery.gallery import Gallery

DATASET = "hp-fashioniq"
SETS = ("file's set 1", "file's set 2")
"""Placeholders of the two methods, which the file does not name, and which differ between questions."""


def from_hp(
    path: Path, *, size: int | None, seed: int, images: Path | None = None, gallery: Gallery | None = None,
) -> SurveySource:
    """Sample ``size`` of the file's questions (None: all), with equal numbers per category where possible.

    Args:
        images, gallery: sources of the images; the folder ``images`` is searched first. Paths in the file
            are of its authors' machine.

    Raises ``DatasetError`` with file and question of all faults, ``StudyError`` for too few questions.
    """
    faults = ValidationIssues(collect=True)
    questions = read_questions(path, faults)
    refuse(faults, path.name)
    if not questions:
        raise StudyError(f"{path.name} contains no questions. Give a file in HP-FashionIQ's format.")
    paths: dict[str, list[str]] = {}
    for question in questions:
        for image_id, below in image_paths(question):
            if below not in paths.setdefault(image_id, []):
                paths[image_id].append(below)
    if size is not None:
        check_size(size, len(questions))
    kept = questions if size is None else spread(
        questions, size, stratum=lambda question: question.category, key=lambda question: question.question_id,
        seed=seed, purpose="questions")
    queries = [
        SurveyQuery(
            question.question_id, DATASET, question.question_id, question.category, question.text,
            question.reference_id, (question.target_id,),
            {name: one.image_ids for name, one in zip(SETS, question.sets, strict=True)})
        for question in kept
    ]

    def places(image_id: str) -> Sequence[str]:
        return (*paths.get(image_id, ()), *fashioniq_paths(image_id))

    source = {"form": "hp-fashioniq", "file": path.name, "dataset": DATASET,
              "gallery": gallery.name if gallery else None, "methods": list(SETS), **selection(size, seed)}
    notes = ("The file does not name the systems, so that only sets can be compared, not methods.",)
    return SurveySource(queries, SETS, Pictures(places, folder=images, gallery=gallery), source, notes)
