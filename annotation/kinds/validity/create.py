"""Create a validity study from queries: image snapshots, panels and assignments, stored atomically."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from annotation.kinds.creation import Subject, lay_out, without_images
from annotation.kinds.validity.circus import ImportedStudy, study_of
from annotation.kinds.validity.rubric import choose_rubric
from annotation.records import Study, StudyPlan
from annotation.sources.pictures import Panels, Refused, candidates, fill_panels, panel_notes, usual_size
from annotation.sources.queries import StudyQuery
from annotation.studies.creation import Created, Progress, check_name, cleared
from annotation.studies.guidelines import with_appendix
from annotation.studies.image_snapshots import FindPicture, Freezer, freezing
from annotation.studies.protocols import OwnFile
from annotation.studies.store import StudyStore
from cir_core.errors import StudyError
from cir_core.support.texts import counted
from cir_core.types.records import new_id

SETTINGS: Mapping[str, Any] = {"unsure_after": 120, "broad_at": 10}
"""Defaults: seconds until "unsure" is offered, and number of marked alternatives that make a query too broad."""


def create_validity_study(
    store: StudyStore, home: Path, name: str, queries: Sequence[StudyQuery], find_picture: FindPicture,
    plan: StudyPlan, *, created_by: str, source: Mapping[str, Any], settings: Mapping[str, Any] | None = None,
    max_megapixels: float = 64.0, skip_missing: bool = False, panel_size: int | None = None,
    progress: Progress | None = None, questions: OwnFile | None = None,
) -> Created:
    """Create a study of ``queries``, with image snapshots in ``home`` (:mod:`annotation.studies.image_snapshots`).

    Queries without the image of their reference or target cannot be judged: they are listed in an error, or with
    ``skip_missing`` left out and counted. A missing image of a panel is replaced by the next retrieved one. Raises
    ``StudyError`` for a taken name and an impossible plan, before any work is done; ``StorageError`` for a full
    disk.

    Args:
        plan: its ``agreement_items`` are sampled equally from all strata. All sampling is determined by its seed,
            except the order of panels, which must not be predictable.
        source: origin of the queries, in plain JSON.
        settings: override :data:`SETTINGS`.
        panel_size: images per panel; None: :func:`annotation.sources.pictures.usual_size`. Fewer if a query has
            fewer, with a note.
        progress: processed images, and their total.
        questions: the rubric; None: CIRCUS's. Its own numbers override :data:`SETTINGS`.
    """
    name = check_name(store, name)
    if not queries:
        raise StudyError("There is no query to judge. Choose other categories, or another source.")
    rubric, own = choose_rubric(questions, store.studies)
    numbers = {"unsure_after": rubric.unsure_after, "broad_at": rubric.broad_at} if own else SETTINGS
    study = Study(new_id(), name, "validity", rubric.protocol, plan, True, {**numbers, **(settings or {}), **own},
                  dict(source), created_by, datetime.now(UTC))
    lay_out(study, _subjects(queries), "item")   # a bad plan is refused before the work
    with cleared(store, home), freezing(home, study.study_id) as freezer:
        kept, panels = _freeze(queries, find_picture, freezer, max_megapixels, skip_missing, panel_size, progress)
        study = replace(study, settings={**study.settings, "panel_size": panels.size})
        items, places = lay_out(study, _subjects(kept), "item")
        items = [replace(item, shown=_shown(query, panels.images[query.key], freezer))
                 for item, query in zip(items, kept, strict=True)]
        freezer.keep_only({image_id for query in kept
                           for image_id in (query.reference_id, query.target_id, *panels.images[query.key])})
        freezer.finish()
        study = with_appendix(home, study, questions, max_megapixels=max_megapixels)
        store.create(study, items, list(freezer.images.values()), places)
    counts = {"items": len(items), "pictures": len(freezer.images), "dropped": len(queries) - len(kept),
              "missing": len(panels.missing), "panel": panels.size, "places": len(places)}
    return Created(study, counts, (*_notes(counts, panels), *panel_notes(panels, int(study.settings["broad_at"]))))


def _subjects(queries: Sequence[StudyQuery]) -> list[Subject]:
    return [Subject(query.key, query.stratum, query.stratum, _hidden(query)) for query in queries]


def _freeze(
    queries: Sequence[StudyQuery], find: FindPicture, freezer: Freezer, max_megapixels: float, skip_missing: bool,
    panel_size: int | None, progress: Progress | None,
) -> tuple[list[StudyQuery], Panels]:
    """Queries that can be judged, and their panels. References and targets first, so that missing ones are reported
    early."""
    def size_for(judged: Sequence[StudyQuery]) -> int:
        return usual_size(judged) if panel_size is None else panel_size

    size = size_for(queries)
    needed = list(dict.fromkeys(image_id for query in queries for image_id in (query.reference_id, query.target_id)))
    total = done = 0

    def freeze(image_ids: Sequence[str]) -> Refused:
        nonlocal total, done
        new = [image_id for image_id in image_ids if image_id not in freezer.images]
        total = max(total, done + len(new))

        def on_image(now: int, _: int) -> None:
            if progress:
                progress(done + now, total)

        refused = freezer.freeze(new, find, max_megapixels=max_megapixels, progress=on_image).refused
        done += len(new)
        return refused

    total = len({image_id for query in queries
                 for image_id in (query.reference_id, query.target_id, *candidates(query)[:size])})
    refused = freeze(needed)
    kept = [query for query in queries if query.reference_id not in refused and query.target_id not in refused]
    if refused and (not skip_missing or not kept):
        raise without_images(
            len(queries), len(kept), "queries cannot be judged without the image of their reference or target",
            [f"  {query.key}, {what}: {image_id} {refused[image_id]}" for query in queries
             for what, image_id in (("reference", query.reference_id), ("target", query.target_id))
             if image_id in refused])
    panels = fill_panels(kept, size_for(kept), freeze)
    if progress:
        progress(total, total)
    return kept, panels


def _shown(query: StudyQuery, found: Sequence[str], freezer: Freezer) -> dict[str, Any]:
    panel = [freezer.images[image_id].token for image_id in found]
    # The order of retrieval reveals ranks, and a seeded shuffle could be reversed.
    random.SystemRandom().shuffle(panel)
    return {"text": query.text, "reference": freezer.images[query.reference_id].token,
            "target": freezer.images[query.target_id].token, "panel": panel}


def _hidden(query: StudyQuery) -> dict[str, Any]:
    return {
        "dataset": query.dataset, "query_idx": query.query_idx, "query_id": query.query_id,
        "hidden_category": query.hidden_category, "reference_id": query.reference_id, "target_id": query.target_id,
        "target_ids": list(query.target_ids), "panel": list(query.panel), "trace": dict(query.trace),
        "caption_mode": query.caption_mode,
    }


def _notes(counts: Mapping[str, int], panels: Panels) -> list[str]:
    notes = []
    if counts["dropped"]:
        left_out = counted(counts["dropped"], "query was left out", "queries were left out")
        notes.append(f"{left_out}: the image of the reference or of the target is missing or cannot be read.")
    if counts["missing"]:
        one, many = (("; it was replaced by the next one.", "; they were replaced by the next ones.")
                     if panels.shortest is None else (".", "."))   # else some had no replacement
        notes.append(counted(counts["missing"], f"image of a panel is missing or cannot be read{one}",
                             f"images of panels are missing or cannot be read{many}"))
    return notes


def import_circus_study(store: StudyStore, name: str, imported: ImportedStudy, *, created_by: str) -> Created:
    """Import annotator files of CIRCUS as a closed study (:mod:`annotation.kinds.validity.circus`). Raises
    ``StudyError`` for a taken name."""
    name = check_name(store, name)
    parts = study_of(imported, name, settings=SETTINGS, created_by=created_by, at=datetime.now(UTC))
    store.create(parts.study, parts.items, parts.images, parts.places, seats=parts.seats, judgements=parts.judgements)
    counts = {"items": len(parts.items), "people": len(parts.seats), "assignments": len(parts.places),
              "judgements": len(parts.judgements)}
    return Created(parts.study, counts, imported.notes)
