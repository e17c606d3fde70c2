"""Constructed sessions as records of CIRCLED's raw form."""

from __future__ import annotations

from typing import Any

from cir_core.construct.sessions.builder import DIGITS, ConstructedSession, ConstructedTurn
from cir_core.datasets.readers.circled import released_id

_MISSING = -1


def raw_result(session: ConstructedSession, subset: str) -> dict[str, Any]:
    """The session as a member of ``results``. ``text_similarity``, ``similar_turn`` (from 0, as ``turn``),
    ``image_sha256`` and ``notes`` of a turn are not in the release."""
    query = session.query
    targets = query.target_ids
    return {
        "query_id": query.query_id,
        "reference_image_id": released_id(subset, query.reference_id),
        "target_image_id": released_id(subset, targets[0]),
        "ground_truth_ids": [released_id(subset, target) for target in targets],
        "original_query": session.turns[0].text,
        "success": session.success,
        "success_turn": len(session.turns) - 1 if session.success else -1,
        "turns": [_turn(number, turn, session, subset) for number, turn in enumerate(session.turns)],
    }


def _turn(number: int, turn: ConstructedTurn, session: ConstructedSession, subset: str) -> dict[str, Any]:
    later = number > 0
    return {
        "turn": number,
        "query_text": turn.merged,
        "search_results": [[released_id(subset, hit.image_id), round(hit.score, DIGITS)] for hit in turn.hits],
        "selected_image": released_id(subset, turn.reference_id) if later else None,
        "selected_image_caption": turn.caption if later else None,
        "relative_caption": turn.text if later else None,
        "gt_rankings": {released_id(subset, target): turn.ranks.get(target, _MISSING)
                        for target in session.query.target_ids},
        "best_gt_rank": min(turn.ranks.values()),
        "text_similarity": turn.closest.similarity if turn.closest else None,
        "similar_turn": turn.closest.turn - 1 if turn.closest else None,
        "image_sha256": turn.digest,
        **({"notes": list(turn.notes)} if turn.notes else {}),
    }


def raw_name(subset: str) -> str:
    """``dataset_name`` of a raw file, as the release has it."""
    return "circo" if subset == "circo_val" else subset
