"""Fixed multi-turn sessions for comparing methods, as in CIRCLED.

A session is fixed in advance: its references I_1 … I_L, its texts
T_1 … T_L, its target. A method turns the history up to turn l into a rank of the target.

The method that made the sessions has an advantage in them, so there are two sets.

* *Built*, by CIRCLED's construction: a simulated user searches with CIReVL and eq. 9, picks
  the one of the ten images shown that is closest to the target, and names one remaining
  difference. A session ends at the first hit in the top ten. CIReVL therefore never hits before
  the last turn, and immediate hits are excluded.
* *Neutral*: no search. At every turn the user is shown ten random garments of the category
  and picks the one that shares most attributes with the target; all turns
  are used. No method's results decide what is picked or when it ends.

The simulated user knows the ground truth; methods see references and texts only.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cir_core.evaluation.evaluate_replay import FixedSession, FixedTurn
from cir_core.evaluation.evaluate_single import SEEN, Category, Progress, rank_of_target
from cir_core.sample.atelier.captions import relative_captions
from cir_core.search.searcher import Previous, Searcher
from cir_core.types.records import Hit, MethodSettings

CONSTRUCTION = MethodSettings(exclude="none")
Truth = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class BuiltSession:
    """A session and the target's rank after each turn, for the method that searched."""

    session: FixedSession
    ranks: tuple[int, ...]


def build_sessions(
    searchers: Mapping[str, Searcher], categories: Sequence[Category], truth: Truth, *,
    seed: int, max_turns: int, progress: Progress | None = None,
) -> list[BuiltSession]:
    """One session towards each query's target, with ``CONSTRUCTION``; some have one turn only."""
    rng = random.Random(seed)
    return [
        _search(searchers[category.name], category.name, target_id, truth, rng, max_turns)
        for category, target_id in _targets(categories, "building sessions", progress)
    ]


def neutral_sessions(
    categories: Sequence[Category], truth: Truth, *, seed: int, turns: int, progress: Progress | None = None
) -> list[FixedSession]:
    """One session of exactly ``turns`` turns towards each query's target."""
    rng = random.Random(f"neutral/{seed}")
    return [
        FixedSession(category.name, target_id, _walk(category, target_id, truth, rng, turns))
        for category, target_id in _targets(categories, "neutral sessions", progress)
    ]


def _targets(
    categories: Sequence[Category], label: str, progress: Progress | None
) -> Iterator[tuple[Category, str]]:
    total, done = sum(len(category.queries) for category in categories), 0
    for category in categories:
        for query in category.queries:
            yield category, query.target_ids[0]
            done += 1
            if progress:
                progress(label, done, total)


def _search(
    searcher: Searcher, category: str, target_id: str, truth: Truth, rng: random.Random, max_turns: int
) -> BuiltSession:
    """Search from any garment of the category: most attributes differ, more than one sentence can
    express, so one turn is rarely enough. (The benchmark's own queries are within four
    attributes of their target and too easy for a session.) Ends at the first hit in
    the top ten, after ``max_turns``, or when nothing is left to pick or to say."""
    reference = rng.choice([image_id for image_id in searcher.index.ids if image_id != target_id])
    text = relative_captions(truth[reference], truth[target_id], rng)[0]
    turns = [FixedTurn(reference, text)]
    previous: Previous | None = None
    ranks: list[int] = []
    while True:
        found = searcher.turn(
            searcher.gallery_reference(turns[-1].reference_id), turns[-1].text, CONSTRUCTION,
            previous=previous, k=SEEN, target_id=target_id,
        )
        ranks.append(rank_of_target(found, target_id))
        if ranks[-1] <= SEEN or len(ranks) == max_turns:
            break
        used = tuple(turn.reference_id for turn in turns)
        picked = _closest(searcher, found.hits, target_id, used)
        captions = relative_captions(truth[picked], truth[target_id], rng) if picked is not None else ()
        if picked is None or not captions:
            break
        previous = Previous(found.vector, found.hits, used, composition=found.composition)
        turns.append(FixedTurn(picked, captions[0]))
    return BuiltSession(FixedSession(category, target_id, tuple(turns)), tuple(ranks))


def _closest(searcher: Searcher, hits: Sequence[Hit], target_id: str, used: Sequence[str]) -> str | None:
    """The simulated user's pick: the shown image most similar to the target."""
    shown = [hit.image_id for hit in hits if hit.image_id not in used]
    if not shown:
        return None
    likeness = searcher.features_of(shown) @ searcher.features_of([target_id])[0]
    return shown[int(np.argmax(likeness))]


def _walk(
    category: Category, target_id: str, truth: Truth, rng: random.Random, turns: int
) -> tuple[FixedTurn, ...]:
    left = [image_id for image_id in category.ids if image_id != target_id]
    reference = rng.choice(left)
    walked: list[FixedTurn] = []
    while True:
        text = relative_captions(truth[reference], truth[target_id], rng)[0]
        walked.append(FixedTurn(reference, text))
        left.remove(reference)
        if len(walked) == turns or not left:
            return tuple(walked)
        shown = rng.sample(left, min(SEEN, len(left)))
        reference = max(shown, key=lambda image_id: _shared(truth[image_id], truth[target_id]))


def _shared(one: Mapping[str, str], other: Mapping[str, str]) -> int:
    return sum(one[key] == value for key, value in other.items())
