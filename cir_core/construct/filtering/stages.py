"""CIRCLED's filters: which constructed sessions are kept (section 5.1), in the order of the released code.

The paper has four of them; the code also drops empty first texts and repeated images, which drop nothing where the
picked images were never used before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from cir_core.datasets.readers.circled_raw import RawResult, RawTurn
from cir_core.evaluation.metrics.consistency import EPSILON, TAU, rank_setbacks

Stage = Literal["success", "multi-turn", "text", "rank margin", "redundancy", "repeated image"]
STAGES: tuple[Stage, ...] = ("success", "multi-turn", "text", "rank margin", "redundancy", "repeated image")
STAGES_FILE = "stages.json"      # counts by subset, beside the folders of sessions
MissingRank = Literal["last", "minus-one"]

Similarities = Callable[[RawResult], Sequence[tuple[int, float]]]
"""For each later turn of a session its most similar earlier turn, from 1, and their cosine."""


@dataclass(frozen=True)
class FilterSettings:
    """``missing``: a target that is not in the gallery ranks behind all of it; the code compares its -1 as a rank."""

    epsilon: int = EPSILON
    tau: float = TAU
    missing: MissingRank = "last"


@dataclass(frozen=True)
class Dropped:
    """The first stage that drops a session, the number that decided, and a sentence about it."""

    stage: Stage
    number: float | None
    why: str


def why_dropped(
    result: RawResult, settings: FilterSettings, similarities: Similarities, images: int | None = None
) -> Dropped | None:
    """None if the session is kept. ``images``: the size of its gallery, if known."""
    ranks = ranks_of(result, settings.missing, images)
    if not result.success:
        number = min(ranks, default=None)
        return Dropped("success", number, f"no target is found in {len(result.turns)} turns; best rank {number}")
    if result.success_turn < 1:
        return Dropped("multi-turn", 1, "turn 1 found a target")
    if not result.original_query.strip():
        return Dropped("text", 1, "turn 1 has no text")
    if setbacks := rank_setbacks(ranks, settings.epsilon):
        worst = max(setbacks, key=lambda one: one.after - one.before)
        return Dropped("rank margin", worst.after - worst.before,
                       f"turn {worst.turn} moves the target from rank {worst.before} to {worst.after}")
    close = [(turn, *found) for turn, found in enumerate(similarities(result), start=2) if found[1] >= settings.tau]
    if close:
        turn, earlier, cosine = max(close, key=lambda one: one[2])
        return Dropped("redundancy", cosine,
                       f"the text of turn {turn} has cosine {cosine:g} with that of turn {earlier}")
    if repeated := _repeated_turn(result):
        return Dropped("repeated image", repeated, f"the image of turn {repeated} was used before")
    return None


def ranks_of(result: RawResult, missing: MissingRank = "last", images: int | None = None) -> list[int]:
    """The best rank of a target after each turn."""
    behind = sys.maxsize if images is None else images + 1
    return [turn.best_gt_rank if turn.best_gt_rank > 0 or missing == "minus-one" else behind for turn in result.turns]


def later_turns(result: RawResult) -> list[RawTurn]:
    """The turns after the first, by the release's rule: those with an image and a text."""
    return [turn for turn in result.turns if turn.turn >= 1 and turn.selected_image and turn.relative_caption]


def texts_of(result: RawResult) -> list[str]:
    """T_1 to T_L."""
    return [result.original_query, *(turn.relative_caption or "" for turn in later_turns(result))]


def _repeated_turn(result: RawResult) -> int:
    """The first turn, from 1, whose image was used before; 0 if none. By the file's digest, or the id without one."""
    first = next((turn for turn in result.turns if turn.turn == 0), None)
    used = {(first.image_sha256 if first else None) or str(result.reference_image_id)}
    for turn in later_turns(result):
        image = turn.image_sha256 or str(turn.selected_image)
        if image in used:
            return turn.turn + 1
        used.add(image)
    return 0
