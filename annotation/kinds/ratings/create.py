"""Create a session study from a sample of sessions: image snapshots and assignments, stored atomically."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from annotation.kinds.creation import Named, PictureSource, Subject, create_of_subjects
from annotation.kinds.ratings.answers import choose_questions
from annotation.records import Study, StudyPlan
from annotation.studies.creation import Created, Progress, check_name
from annotation.studies.protocols import OwnFile
from annotation.studies.store import StudyStore
from cir_core.construct.judging.sample import SampledSession, content_digest
from cir_core.construct.judging.tasks import gallery_for, shown_target
from cir_core.errors import StudyError
from cir_core.support.texts import counted
from cir_core.types.records import new_id

NO_IMAGE = "an image is missing or cannot be read"
NO_TARGET = "no target is named, so progress cannot be rated"


def create_session_study(
    store: StudyStore, home: Path, name: str, sampled: Sequence[SampledSession],
    galleries: Mapping[str, PictureSource],
    plan: StudyPlan, *, created_by: str, source: Mapping[str, Any], max_megapixels: float = 64.0,
    progress: Progress | None = None, questions: OwnFile | None = None,
) -> Created:
    """Create a study of ``sampled``, with image snapshots in ``home``.

    Sessions without a target, or of which an image is missing, are left out and counted by source. Every item has its
    own names of its images, so that URLs do not tell which sessions share one.

    Raises ``StudyError`` for a taken name, an impossible plan and a broken file of questions, before any work is done,
    and if no session is left; ``StorageError`` for a full disk.

    Args:
        plan: its ``agreement_items`` are sampled equally from the subsets of all sources.
        source: origin of the sessions, in plain JSON.
        progress: processed images, and their total.
        questions: what is asked; None: CIRCLED's five questions.

    ``Created.counts``: items, pictures, dropped, places (assignments).
    """
    name = check_name(store, name)
    if not sampled:
        raise StudyError("There is no session to rate. Name files with sessions.")
    asked, settings = choose_questions(questions, store.studies)
    study = Study(new_id(), name, "sessions", asked.protocol, plan, True, settings, dict(source), created_by,
                  datetime.now(UTC))
    found = [(one, gallery_for(galleries, one.source, one.session.subset)) for one in sampled]
    subjects = [_subject(one, gallery, target) for one, gallery in found
                if (target := shown_target(one.session, gallery))]

    def notes_of(kept: Sequence[Subject]) -> Sequence[str]:
        with_target, rated = (Counter(one.hidden["source"] for one in of) for of in (subjects, kept))
        dropped = {NO_TARGET: Counter(one.source for one in sampled) - with_target, NO_IMAGE: with_target - rated}
        return [f"{counted(sources.total(), 'session is', 'sessions are')} left out, because {reason} "
                f"({', '.join(f'{name}: {count:,}' for name, count in sources.items())})."
                for reason, sources in dropped.items() if sources]

    created = create_of_subjects(store, home, study, subjects, one="session", to="rate", notes_of=notes_of,
                                 max_megapixels=max_megapixels, progress=progress, questions=questions)
    return replace(created, counts={**created.counts, "dropped": len(sampled) - created.counts["items"]})


def _subject(sampled: SampledSession, gallery: PictureSource, target_id: str) -> Subject:
    session, origin = sampled.session, f"{sampled.source}::{sampled.session.subset}"
    references = [turn.reference_id for turn in session.turns]
    # Two galleries may have the same ids.
    names = {image_id: f"{gallery.name}\n{image_id}" for image_id in (*references, target_id)}

    def shown(item_id: str, named: Named) -> Mapping[str, Any]:
        own = {image_id: named(name, item_id) for image_id, name in names.items()}
        return {"turns": [{"image": own[turn.reference_id], "text": turn.text} for turn in session.turns],
                "target": own[target_id]}

    return Subject(f"{origin}::{session.session_id}", origin, f"{origin}::{len(session.turns)}", {
        "source": sampled.source, "subset": session.subset, "session": session.session_id,
        "content": content_digest(session), "turns": len(session.turns), "target": list(session.target_ids),
        "target_id": target_id, "references": references, "gallery": gallery.name,
    }, {name: (gallery, image_id) for image_id, name in names.items()}, shown)
