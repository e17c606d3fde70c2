"""Create a target study from queries with candidates: image snapshots and assignments, stored atomically."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from annotation.kinds.creation import Named, PictureSource, Subject, create_of_subjects
from annotation.kinds.marks.answers import choose_marking
from annotation.records import Study, StudyPlan
from annotation.sources.targets import TargetQuery
from annotation.studies.creation import Created, Progress, check_name
from annotation.studies.protocols import OwnFile
from annotation.studies.store import StudyStore
from cir_core.construct.targets.provenance import Candidate
from cir_core.errors import StudyError
from cir_core.support.texts import counted
from cir_core.types.records import new_id


def create_target_study(
    store: StudyStore, home: Path, name: str, queries: Sequence[TargetQuery], gallery: PictureSource,
    plan: StudyPlan, *, threshold: float, created_by: str, source: Mapping[str, Any], max_megapixels: float = 64.0,
    progress: Progress | None = None, questions: OwnFile | None = None,
) -> Created:
    """Create a study of ``queries``, with image snapshots of ``gallery`` in ``home``.

    Candidates stand in an order of chance, fixed for each query and independent of the seed: where one was found, its
    confidence and which one is the data set's own target can be told from no place in it. Every query has its own
    names of its images. Queries of which an image is missing are left out and counted.

    Raises ``StudyError`` for a taken name, an impossible plan and a broken file of questions, before any work is done,
    and if no query is left; ``StorageError`` for a full disk.

    Args:
        plan: its ``agreement_items`` are sampled equally from the files of the source.
        threshold: from which confidence on stage 1 counts a candidate as a target.
        source: origin of the queries, in plain JSON.
        progress: processed images, and their total.
        questions: what is asked; None: cirque's marks.

    ``Created.counts``: items, pictures, dropped, places (assignments), candidates.
    """
    name = check_name(store, name)
    if not queries:
        raise StudyError("There is no query to mark. Name a folder with candidates.")
    marking, settings = choose_marking(questions, store.studies)
    study = Study(new_id(), name, "targets", marking.protocol, plan, True, settings,
                  {**source, "gallery": gallery.name, "threshold": threshold}, created_by, datetime.now(UTC))
    subjects = []
    for query in queries:
        order = _shuffled(query.shown)
        subjects.append(Subject(query.key, query.label, query.label, _hidden(query, order), {
            image: (gallery, image) for image in (query.found.reference, *(one.image for one in order))},
            partial(_shown, query, order)))

    def notes_of(kept: Sequence[Subject]) -> Sequence[str]:
        lost = Counter(one.group for one in subjects) - Counter(one.group for one in kept)
        return [f"{counted(lost.total(), 'query is', 'queries are')} left out, because an image is missing in the "
                f"gallery {gallery.name} or cannot be read "
                f"({', '.join(f'{name}: {count:,}' for name, count in lost.items())})."] if lost else []

    created = create_of_subjects(store, home, study, subjects, one="query", many="queries", to="mark",
                                 notes_of=notes_of, max_megapixels=max_megapixels, progress=progress,
                                 questions=questions)
    candidates = sum(len(item.hidden["candidates"]) for item in store.items(study.study_id))
    return replace(created, counts={**created.counts, "candidates": candidates})


def _shuffled(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """A seeded shuffle could be reversed."""
    order = list(candidates)
    random.SystemRandom().shuffle(order)
    return tuple(order)


def _shown(query: TargetQuery, order: Sequence[Candidate], item_id: str, named: Named) -> Mapping[str, Any]:
    return {"text": query.found.text, "reference": named(query.found.reference, f"{item_id}/reference"),
            "candidates": [named(one.image, item_id) for one in order]}


def _hidden(query: TargetQuery, order: Sequence[Candidate]) -> dict[str, Any]:
    found = query.found
    return {
        "dataset": query.label, "query_id": found.query_id, "reference": found.reference,
        "original_target": found.original_target, "captions": list(found.captions),
        "candidates": [{"image": each.image, "confidence": each.confidence,
                        "found": [{"group": place.group, "rank": place.rank, "confidence": place.confidence}
                                  for place in each.found]} for each in order],
    }
