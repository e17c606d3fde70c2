"""Session studies of a gallery of colours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotation.kinds.ratings.create import create_session_study
from annotation.records import Study, StudyPlan
from annotation.studies.protocols import OwnFile
from annotation.studies.store import StudyStore
from cir_core.construct.describe.sets import SubsetSessions
from cir_core.construct.judging.sample import Source, draw_sample
from cir_core.datasets.readers.circled import CircledSession, CircledTurn
from cir_core.gallery.gallery import Gallery

QUESTIONS = ("naturalness", "coherence", "progress", "redundancy", "overall")


def subset_of(name: str, gallery: Gallery, count: int, turns: Sequence[int] = (2, 3, 6)) -> SubsetSessions:
    """Sessions whose images and texts differ; their numbers of turns go round."""
    ids = gallery.ids
    return SubsetSessions(name, tuple(
        CircledSession(f"{name}_{number:04d}", name, (ids[(5 * number + 3) % len(ids)], "not-there"), tuple(
            CircledTurn(ids[(7 * number + 11 * turn) % len(ids)], f"make it lighter, {len(name)} {number} {turn}")
            for turn in range(turns[number % len(turns)])))
        for number in range(count)))


def two_sources(gallery: Gallery, count: int = 6, turns: Sequence[int] = (2, 3, 6)) -> list[Source]:
    return [Source("ours", (subset_of("cirr_val", gallery, count, turns),
                            subset_of("fashioniq_dress_val", gallery, count, turns))),
            Source("plain", (subset_of("circo_val", gallery, count, turns),))]


def make_session_study(
    store: StudyStore, home: Path, gallery: Gallery, *, name: str = "Dialogues", sample: int = 6, seats: int = 2,
    overlap: int = 1, agreement_items: int = 0, seed: int = 3, sources: Sequence[Source] | None = None,
    questions: OwnFile | None = None,
) -> Study:
    drawn = draw_sample(two_sources(gallery, sample) if sources is None else sources, sample, seed)
    return create_session_study(
        store, home, name, drawn, {"": gallery}, StudyPlan(seats, overlap, agreement_items, seed), created_by="local",
        source={"form": "judged-sessions", "sources": {}, "galleries": {}, "sample": sample, "seed": seed},
        questions=questions).study


def session_rated(*ratings: int, reason: str = "") -> dict[str, Any]:
    """A complete answer; without ``ratings`` a 4 to every question."""
    return {"ratings": dict(zip(QUESTIONS, ratings or (4,) * 5, strict=True)), "reason": reason}


OWN_QUESTIONS = """\
protocol = "my-lab/1"
title = "How did the search go?"
intro = "Each session is a search."
points = 7

[[questions]]
key = "helpful"
title = "Helpful"
text = "Did each image help?"
low = "never"
high = "always"

[[questions]]
key = "repair"
title = "Repair"
text = "Did the search recover?"
low = "not at all"
high = "completely"
show_if = { helpful = [1, 2, 3] }

[[questions]]
key = "again"
title = "Again"
text = "Would you search so again?"
low = "no"
high = "yes"

[[impossible]]
when = { helpful = [1], again = [6, 7] }
says = "Nothing helped, and you would search so again? Change one of the two."
"""
"""Another scale, a question that is not always asked, and ratings that exclude each other."""
