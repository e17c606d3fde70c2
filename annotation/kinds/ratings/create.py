"""Create a session study from a sample of sessions: image snapshots and assignments, stored atomically."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from annotation.kinds.ratings.questions import PROTOCOL
from annotation.records import Item, PlannedAssignment, Study, StudyImage, StudyPlan
from annotation.sources.sampling import spread
from annotation.studies.assignment import plan_places
from annotation.studies.creation import Created, Progress, check_name, cleared
from annotation.studies.image_snapshots import Freezer, freezing
from annotation.studies.store import StudyStore
from cir_core.construct.judging.sample import SampledSession, content_digest
from cir_core.construct.judging.tasks import Galleries, gallery_for, shown_target
from cir_core.errors import StudyError
from cir_core.gallery.gallery import Gallery
from cir_core.support.texts import counted
from cir_core.types.ids import new_id

NO_IMAGE = "an image is missing or cannot be read"
NO_TARGET = "no target is named, so progress cannot be rated"


@dataclass(frozen=True)
class _Story:
    """A session with the images that are shown of it."""

    sampled: SampledSession
    gallery: Gallery
    target_id: str

    @property
    def key(self) -> str:
        session = self.sampled.session
        return f"{self.sampled.source}::{session.subset}::{session.session_id}"

    @property
    def origin(self) -> str:
        return f"{self.sampled.source}::{self.sampled.session.subset}"

    @property
    def image_ids(self) -> tuple[str, ...]:
        """The reference of each turn, then the target."""
        return (*(turn.reference_id for turn in self.sampled.session.turns), self.target_id)

    def picture(self, image_id: str) -> str:
        """Name of an image: two galleries may have the same ids."""
        return f"{self.gallery.name}\n{image_id}"


def create_session_study(
    store: StudyStore, home: Path, name: str, sampled: Sequence[SampledSession], galleries: Galleries,
    plan: StudyPlan, *, created_by: str, source: Mapping[str, Any], max_megapixels: float = 64.0,
    progress: Progress | None = None,
) -> Created:
    """Create a study of ``sampled``, with image snapshots in ``home``.

    Sessions without a target, or of which an image is missing, are left out and counted by source. Every item has its
    own names of its images, so that URLs do not tell which sessions share one.

    Raises ``StudyError`` for a taken name and an impossible plan, before any work is done, and if no session is left;
    ``StorageError`` for a full disk.

    Args:
        plan: its ``agreement_items`` are sampled equally from the subsets of all sources.
        source: origin of the sessions, in plain JSON.
        progress: processed images, and their total.

    ``Created.counts``: items, pictures, dropped, places (assignments).
    """
    name = check_name(store, name)
    if not sampled:
        raise StudyError("There is no session to rate. Name files with sessions.")
    study = Study(new_id(), name, "sessions", PROTOCOL, plan, True, {}, dict(source), created_by, datetime.now(UTC))
    stories = _stories(sampled, galleries)
    _lay_out(study, stories)   # a bad plan is refused before the work
    with cleared(store, home), freezing(home, study.study_id) as freezer:
        kept = _freeze(stories, freezer, max_megapixels, progress)
        dropped = {NO_TARGET: _by_source(sampled) - _by_source([one.sampled for one in stories]),
                   NO_IMAGE: _by_source([one.sampled for one in stories]) - _by_source([one.sampled for one in kept])}
        if not kept:
            raise StudyError(" ".join(("No session is left to rate.", *_notes(dropped), "Check --gallery.")))
        items, places = _lay_out(study, kept)
        shown, images = _shown(items, kept, freezer)
        freezer.keep_only(())
        freezer.finish()
        store.create(study, shown, images, places)
    pictures = {story.picture(image_id) for story in kept for image_id in story.image_ids}
    counts = {"items": len(items), "pictures": len(pictures), "dropped": len(sampled) - len(kept),
              "places": len(places)}
    return Created(study, counts, tuple(_notes(dropped)))


def _stories(sampled: Sequence[SampledSession], galleries: Galleries) -> list[_Story]:
    """Sessions with a target."""
    found = []
    for one in sampled:
        gallery = gallery_for(galleries, one.source, one.session.subset)
        if target := shown_target(one.session, gallery):
            found.append(_Story(one, gallery, target))
    return found


def _lay_out(study: Study, stories: Sequence[_Story]) -> tuple[list[Item], list[PlannedAssignment]]:
    """Items without their content, and their assignments."""
    plan = study.plan
    if not 0 <= plan.agreement_items <= len(stories):
        raise StudyError(f"{plan.agreement_items:,} of {counted(len(stories), 'session')} cannot be the agreement set. "
                         f"Choose between 0 and {len(stories):,}.")
    block = {story.key for story in spread(
        stories, plan.agreement_items, stratum=lambda story: story.origin, key=lambda story: story.key, seed=plan.seed,
        purpose="agreement block")}
    items = [Item(new_id(), study.study_id, number, story.key, f"{story.origin}::{len(story.sampled.session.turns)}",
                  story.key in block, {}, _hidden(story)) for number, story in enumerate(stories)]
    return items, plan_places(items, plan)


def _freeze(
    stories: Sequence[_Story], freezer: Freezer, max_megapixels: float, progress: Progress | None
) -> list[_Story]:
    """Sessions with all their images."""
    wanted = {story.picture(image_id): (story.gallery, image_id) for story in stories for image_id in story.image_ids}

    def find(picture: str) -> Path | None:
        gallery, image_id = wanted[picture]
        path = gallery.path_of(image_id) if image_id in gallery else None
        return path if path and path.is_file() else None

    # Whatever the order of the sources.
    refused = freezer.freeze(sorted(wanted), find, max_megapixels=max_megapixels, progress=progress).refused
    return [story for story in stories if refused.keys().isdisjoint(map(story.picture, story.image_ids))]


def _shown(
    items: Sequence[Item], stories: Sequence[_Story], freezer: Freezer
) -> tuple[list[Item], list[StudyImage]]:
    shown: list[Item] = []
    images: list[StudyImage] = []
    for item, story in zip(items, stories, strict=True):
        own = {image_id: replace(freezer.under_another_name(story.picture(image_id), item.item_id), image_id=image_id)
               for image_id in dict.fromkeys(story.image_ids)}
        images += own.values()
        turns = [{"image": own[turn.reference_id].token, "text": turn.text} for turn in story.sampled.session.turns]
        shown.append(replace(item, shown={"turns": turns, "target": own[story.target_id].token}))
    return shown, images


def _hidden(story: _Story) -> dict[str, Any]:
    session = story.sampled.session
    return {
        "source": story.sampled.source, "subset": session.subset, "session": session.session_id,
        "content": content_digest(session), "turns": len(session.turns), "target": list(session.target_ids),
        "target_id": story.target_id,
        "references": [turn.reference_id for turn in session.turns], "gallery": story.gallery.name,
    }


def _by_source(sampled: Sequence[SampledSession]) -> Counter[str]:
    return Counter(one.source for one in sampled)


def _notes(dropped: Mapping[str, Counter[str]]) -> list[str]:
    return [f"{counted(sources.total(), 'session is', 'sessions are')} left out, because {reason} "
            f"({', '.join(f'{name}: {count:,}' for name, count in sources.items())})."
            for reason, sources in dropped.items() if sources]
