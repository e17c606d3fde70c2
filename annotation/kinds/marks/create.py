"""Create a target study from queries with candidates: image snapshots and assignments, stored atomically."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from annotation.kinds.marks.marks import PROTOCOL
from annotation.records import Item, PlannedAssignment, Study, StudyImage, StudyPlan
from annotation.sources.sampling import spread
from annotation.sources.targets import TargetQuery
from annotation.studies.assignment import plan_places
from annotation.studies.creation import Created, Progress, check_name, cleared
from annotation.studies.image_snapshots import Freezer, freezing
from annotation.studies.store import StudyStore
from cir_core.construct.targets.provenance import Candidate
from cir_core.errors import StudyError
from cir_core.gallery.gallery import Gallery
from cir_core.support.texts import counted
from cir_core.types.ids import new_id


@dataclass(frozen=True)
class _Asked:
    """A query with its candidates in the order in which they are shown."""

    query: TargetQuery
    candidates: tuple[Candidate, ...]

    @property
    def image_ids(self) -> list[str]:
        """The reference, then the candidates."""
        return [self.query.found.reference, *(one.image for one in self.candidates)]


def create_target_study(
    store: StudyStore, home: Path, name: str, queries: Sequence[TargetQuery], gallery: Gallery, plan: StudyPlan, *,
    threshold: float, created_by: str, source: Mapping[str, Any], max_megapixels: float = 64.0,
    progress: Progress | None = None,
) -> Created:
    """Create a study of ``queries``, with image snapshots of ``gallery`` in ``home``.

    Candidates stand in an order of chance, fixed for each query and independent of the seed: where one was found, its
    confidence and which one is the data set's own target can be told from no place in it. Every query has its own
    names of its images. Queries of which an image is missing are left out and counted.

    Raises ``StudyError`` for a taken name and an impossible plan, before any work is done, and if no query is left;
    ``StorageError`` for a full disk.

    Args:
        plan: its ``agreement_items`` are sampled equally from the files of the source.
        threshold: from which confidence on stage 1 counts a candidate as a target.
        source: origin of the queries, in plain JSON.
        progress: processed images, and their total.

    ``Created.counts``: items, pictures, dropped, places (assignments), candidates.
    """
    name = check_name(store, name)
    if not queries:
        raise StudyError("There is no query to mark. Name a folder with candidates.")
    study = Study(new_id(), name, "targets", PROTOCOL, plan, True, {},
                  {**source, "gallery": gallery.name, "threshold": threshold}, created_by, datetime.now(UTC))
    asked = [_Asked(query, _shuffled(query.shown)) for query in queries]
    _lay_out(study, asked)   # a bad plan is refused before the work
    with cleared(store, home), freezing(home, study.study_id) as freezer:
        kept = _freeze(asked, gallery, freezer, max_megapixels, progress)
        notes = _notes(asked, kept, gallery)
        if not kept:
            raise StudyError(" ".join(("No query is left to mark.", *notes, "Check --gallery.")))
        items, places = _lay_out(study, kept)
        shown, images = _shown(items, kept, freezer)
        freezer.keep_only(())
        freezer.finish()
        store.create(study, shown, images, places)
    counts = {"items": len(items), "pictures": len({image for one in kept for image in one.image_ids}),
              "dropped": len(queries) - len(kept), "places": len(places),
              "candidates": sum(len(one.candidates) for one in kept)}
    return Created(study, counts, tuple(notes))


def _shuffled(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """A seeded shuffle could be reversed."""
    order = list(candidates)
    random.SystemRandom().shuffle(order)
    return tuple(order)


def _lay_out(study: Study, asked: Sequence[_Asked]) -> tuple[list[Item], list[PlannedAssignment]]:
    """Items without their content, and their assignments."""
    plan = study.plan
    if not 0 <= plan.agreement_items <= len(asked):
        raise StudyError(f"{plan.agreement_items:,} of {counted(len(asked), 'query', 'queries')} cannot be the "
                         f"agreement set. Choose between 0 and {len(asked):,}.")
    block = {one.query.key for one in spread(
        asked, plan.agreement_items, stratum=lambda one: one.query.label, key=lambda one: one.query.key,
        seed=plan.seed, purpose="agreement block")}
    items = [Item(new_id(), study.study_id, number, one.query.key, one.query.label, one.query.key in block, {},
                  _hidden(one)) for number, one in enumerate(asked)]
    return items, plan_places(items, plan)


def _freeze(
    asked: Sequence[_Asked], gallery: Gallery, freezer: Freezer, max_megapixels: float, progress: Progress | None,
) -> list[_Asked]:
    """Queries with all their images."""
    def find(image_id: str) -> Path | None:
        path = gallery.path_of(image_id) if image_id in gallery else None
        return path if path and path.is_file() else None

    wanted = sorted({image_id for one in asked for image_id in one.image_ids})
    refused = freezer.freeze(wanted, find, max_megapixels=max_megapixels, progress=progress).refused
    return [one for one in asked if refused.keys().isdisjoint(one.image_ids)]


def _shown(items: Sequence[Item], asked: Sequence[_Asked], freezer: Freezer) -> tuple[list[Item], list[StudyImage]]:
    shown: list[Item] = []
    images: list[StudyImage] = []
    for item, one in zip(items, asked, strict=True):
        reference = freezer.under_another_name(one.query.found.reference, f"{item.item_id}/reference")
        candidates = [freezer.under_another_name(each.image, item.item_id) for each in one.candidates]
        images += [reference, *candidates]
        shown.append(replace(item, shown={"text": one.query.found.text, "reference": reference.token,
                                          "candidates": [each.token for each in candidates]}))
    return shown, images


def _hidden(one: _Asked) -> dict[str, Any]:
    """``candidates`` in the order in which they are shown."""
    found = one.query.found
    return {
        "dataset": one.query.label, "query_id": found.query_id, "reference": found.reference,
        "original_target": found.original_target, "captions": list(found.captions),
        "candidates": [{"image": each.image, "confidence": each.confidence,
                        "found": [{"group": place.group, "rank": place.rank, "confidence": place.confidence}
                                  for place in each.found]} for each in one.candidates],
    }


def _notes(asked: Sequence[_Asked], kept: Sequence[_Asked], gallery: Gallery) -> list[str]:
    there = {one.query.key for one in kept}
    lost = Counter(one.query.label for one in asked if one.query.key not in there)
    if not lost:
        return []
    return [f"{counted(lost.total(), 'query is', 'queries are')} left out, because an image is missing in the gallery "
            f"{gallery.name} or cannot be read ({', '.join(f'{name}: {count:,}' for name, count in lost.items())})."]
