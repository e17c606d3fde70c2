"""Target studies of a gallery of colours: queries for more of a colour, and a model that knows the colours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotation.kinds.marks.create import create_target_study
from annotation.records import Study, StudyPlan
from annotation.sources.targets import read_target_queries, sample_targets
from annotation.studies.protocols import OwnFile
from annotation.studies.store import StudyStore
from cir_core.construct.targets.files import write_stage_one
from cir_core.construct.targets.provenance import Candidate, FoundIn, QueryCandidates
from cir_core.construct.targets.settings import Group
from cir_core.gallery.gallery import Gallery

COLOURS = "rgb"


def level(image_id: str, colour: str) -> int:
    """Of "r3g0b1": 3 of "r"."""
    return int(image_id[image_id.index(colour) + 1])


def confidence_of(image_id: str, colour: str) -> float:
    """0.1, 0.4, 0.7 or 1.0, less 0.02 for what else shines in the image."""
    other = sum(level(image_id, each) for each in COLOURS if each != colour)
    return round(0.1 + 0.3 * level(image_id, colour) - 0.01 * other, 2)


def answers_query(image_id: str, colour: str) -> bool:
    """What everybody would say: 2 or 3 of the colour, so that 0.85 misses some."""
    return level(image_id, colour) >= 2


def candidates_of(gallery: Gallery, number: int, candidates: int = 6) -> QueryCandidates:
    """Query ``number``: ``candidates`` that have a confidence in one or two groups, one that was kept without one, and
    an own target that every third query did not find."""
    ids, colour = list(gallery.ids), COLOURS[number % 3]
    chosen = [ids[(11 * number + 7 * each) % len(ids)] for each in range(candidates + 1)]
    target = ids[(11 * number + 5) % len(ids)] if number % 3 == 0 else chosen[1]
    found = [Candidate(image, tuple(
        FoundIn(group, place + 1, 0.5, confidence_of(image, colour) - 0.01 * late)
        for late, group in enumerate(_groups(place)))) for place, image in enumerate(chosen[:-1])]
    found.append(Candidate(chosen[-1], (FoundIn("tg_img", 15, 0.1),)))
    name = {"r": "red", "g": "green", "b": "blue"}[colour]
    return QueryCandidates(
        f"q{number}", ids[(13 * number + 3) % len(ids)], target, (f"has more {name} number {number}", ""),
        f"has more {name} number {number}", ("", ""), {}, tuple(found))


def _groups(place: int) -> tuple[Group, ...]:
    return ("caption_query",) if place % 2 else ("caption_query", "joined_query")


def stage_one(folder: Path, gallery: Gallery, count: int = 6, labels: Sequence[str] = ("dress", "shirt"),
              threshold: float = 0.85, candidates: int = 6) -> Path:
    """A folder as ``cirque construct multi-target`` writes it: ``count`` queries of each label."""
    for place, label in enumerate(labels):
        records = [candidates_of(gallery, count * place + number, candidates) for number in range(count)]
        write_stage_one(folder, label, records, threshold, 20)
    return folder


def make_target_study(
    store: StudyStore, home: Path, gallery: Gallery, *, name: str = "Which fit", count: int = 6,
    sample: int | None = None, seats: int = 2, overlap: int = 1, agreement_items: int = 0, seed: int = 3,
    candidates: int = 6, questions: OwnFile | None = None,
) -> Study:
    folder = stage_one(home / "stage-one" / name, gallery, count, candidates=candidates)
    found = read_target_queries(folder)
    return create_target_study(
        store, home, name, sample_targets(found, sample, seed), gallery,
        StudyPlan(seats, overlap, agreement_items, seed), threshold=found.threshold, created_by="local",
        source={**found.source, "sample": sample, "seed": seed}, questions=questions).study


def all_marked(candidates: Sequence[str], mark: str = "yes", note: str = "") -> dict[str, Any]:
    """A complete answer, of tokens."""
    return {"marks": dict.fromkeys(candidates, mark), "note": note}


OWN_MARKS = """\
protocol = "my-lab/1"
title = "Your shelf"
intro = "Somebody asks for a picture."
question = "Would you put it on the shelf?"

[[marks]]
mark = "no"
name = "leave it"
key = "l"

[[marks]]
mark = "yes"
name = "take it"
key = "k"
help = "Also if you would rather have another."
"""
"""Two marks with words and keys of their own; nobody can be unsure."""
