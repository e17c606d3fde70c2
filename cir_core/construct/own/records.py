"""A search session as a record of CIRCLED's raw form, or why it cannot be one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from cir_core.construct.sessions.builder import DIGITS
from cir_core.datasets.readers.circled import released_id
from cir_core.images.uploads import is_upload
from cir_core.sessions.target import attempt
from cir_core.types.records import SearchSession, Turn

Closest = Callable[[Sequence[str]], Sequence[tuple[int, float]]]
"""Of texts: for each after the first its most similar earlier one, from 1, and the cosine."""

LeftOut = Literal["no target", "not finished", "no turn", "several references", "uploaded or cut-out image",
                  "later turn without text"]
LEFT_OUT: dict[LeftOut, str] = {
    "no target": "a search without a target to find",
    "not finished": "the target was neither found nor given up",
    "no turn": "nothing was searched before the end",
    "several references": "a turn has several reference images, and the form has one",
    "uploaded or cut-out image": "a reference is not an image of the gallery",
    "later turn without text": "a turn after the first has no text, and the form has no such turns",
}


def subset_of(session: SearchSession) -> str:
    """As in exports of sessions: "atelier_all"."""
    return f"{session.gallery}_{session.protocol.split}"


def why_left_out(session: SearchSession, turns: Sequence[Turn]) -> LeftOut | None:
    """``turns``: those of :func:`attempt_until_hit`. None if it has a raw form."""
    if session.target_id is None:
        return "no target"
    if not session.target_revealed:
        return "not finished"
    if not turns:
        return "no turn"
    if any(turn.further for turn in turns):
        return "several references"
    if any(is_upload(turn.reference_id) for turn in turns):
        return "uploaded or cut-out image"
    if any(not turn.modification_text.strip() for turn in turns[1:]):
        return "later turn without text"
    return None


def attempt_until_hit(session: SearchSession, k: int) -> tuple[Turn, ...]:
    """The turns that count towards the target, up to the first with it among the best ``k``: constructed sessions end
    there too. The last line of turns, if there are several."""
    turns = attempt(session)
    first = next((number for number, turn in enumerate(turns) if _rank(turn) <= k), len(turns))
    return turns[:first + 1]


def own_result(
    session: SearchSession, turns: Sequence[Turn], k: int, closest: Closest, digest_of: Callable[[str], str | None]
) -> dict[str, Any]:
    """A member of ``results``. Requires that :func:`why_left_out` is None. ``digest_of`` an image id: SHA-256 of its
    file, if known."""
    assert session.target_id is not None
    subset, success = subset_of(session), _rank(turns[-1]) <= k
    target = released_id(subset, session.target_id)
    similar = [None, *closest([turn.modification_text for turn in turns])]
    return {
        "query_id": session.session_id, "reference_image_id": released_id(subset, turns[0].reference_id),
        "target_image_id": target, "ground_truth_ids": [target], "original_query": turns[0].modification_text,
        "success": success, "success_turn": len(turns) - 1 if success else -1,
        "turns": [_turn(number, turn, subset, target, k, near, digest_of(turn.reference_id))
                  for number, (turn, near) in enumerate(zip(turns, similar, strict=True))],
    }


def _turn(
    number: int, turn: Turn, subset: str, target: str, k: int, near: tuple[int, float] | None, digest: str | None
) -> dict[str, Any]:
    later = number > 0
    return {
        "turn": number, "query_text": turn.merged_text,
        "search_results": [[released_id(subset, hit.image_id), round(hit.score, DIGITS)] for hit in turn.hits[:k]],
        "selected_image": released_id(subset, turn.reference_id) if later else None,
        "selected_image_caption": (turn.caption or None) if later else None,
        "relative_caption": turn.modification_text if later else None,
        "gt_rankings": {target: _rank(turn)}, "best_gt_rank": _rank(turn),
        "text_similarity": near[1] if near else None, "similar_turn": near[0] - 1 if near else None,
        **({"image_sha256": digest} if digest else {}), **({"notes": list(turn.notes)} if turn.notes else {}),
    }


def _rank(turn: Turn) -> int:
    assert turn.target_rank is not None     # turns without one do not count towards the target
    return turn.target_rank
