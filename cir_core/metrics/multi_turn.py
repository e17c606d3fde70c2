"""CIRCLED's session metrics: Hits@10 by turn, Final Recall@10, AUC (paper section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

CUTOFF = 10


@dataclass(frozen=True)
class MultiTurnScores:
    """Means over sessions. ``hits_at_10[l-1]`` is the share that hit by turn l."""

    hits_at_10: tuple[float, ...]
    final_recall_at_10: float
    auc: float
    sessions: int
    max_turns: int   # L_max of *these* sessions; the AUC depends on it
    note: str = ""


def multi_turn_scores(ranks: Sequence[Sequence[int]], cutoff: int = CUTOFF) -> MultiTurnScores | None:
    """Scores over sessions, each the target's rank (from 1) after every one of its turns.

    Hits are cumulative and stay as they are after a session ends. AUC is the trapezoid
    over turns 1..L_max, divided by L_max − 1. With L_max = 1 there is no area: the AUC is
    Hits@10(1), and ``note`` says so. Without any session the answer is None.
    """
    sessions = [list(session) for session in ranks if len(session)]
    if not sessions:
        return None
    longest = max(map(len, sessions))
    hits = tuple(
        sum(min(session[: turn + 1]) <= cutoff for session in sessions) / len(sessions)
        for turn in range(longest)
    )
    final = sum(session[-1] <= cutoff for session in sessions) / len(sessions)
    if longest == 1:
        return MultiTurnScores(hits, final, hits[0], len(sessions), 1,
                               "Every session has one turn: AUC is Hits@10 of that turn.")
    area = sum((a + b) / 2 for a, b in zip(hits, hits[1:], strict=False)) / (longest - 1)
    return MultiTurnScores(hits, final, area, len(sessions), longest)
