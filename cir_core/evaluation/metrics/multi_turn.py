"""CIRCLED's session metrics: Hits@10 by turn, Final Recall@10, AUC (paper section 6.1, eq. 11 to 13)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cir_core.evaluation.metrics.bootstrap import Values

CUTOFF = 10


@dataclass(frozen=True)
class MultiTurnScores:
    """Means over sessions. ``hits_at_10[l-1]`` is the share with a hit by turn l."""

    hits_at_10: tuple[float, ...]
    final_recall_at_10: float
    auc: float
    sessions: int
    max_turns: int   # L_max of *these* sessions; the AUC depends on it
    note: str = ""


def multi_turn_scores(ranks: Sequence[Sequence[int]], cutoff: int = CUTOFF) -> MultiTurnScores | None:
    """Scores over sessions, each the target's rank (from 1) after every one of its turns.

    Hits are cumulative and persist after a session ends. AUC is the trapezoid over turns 1..L_max, divided by L_max −
    1. With L_max = 1 there is no area: the AUC is Hits@10(1), with a ``note``. Returns None if there are no sessions.
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


def session_values(ranks: Sequence[Sequence[int]], longest: int) -> Values:
    """``[sessions, longest + 2]``: each session's contribution to the means of Hits@10(1) …
    Hits@10(L), Final Recall@10 and AUC, as defined in :func:`multi_turn_scores`.

    L is that of the set, so the AUC of a bootstrap sample of sessions is a mean over them too.
    """
    hits = np.array([[min(of[: turn + 1]) <= CUTOFF for turn in range(longest)] for of in ranks], dtype=np.float64)
    final = np.array([of[-1] <= CUTOFF for of in ranks], dtype=np.float64)
    area = (hits[:, :-1] + hits[:, 1:]).sum(axis=1) / 2 / (longest - 1) if longest > 1 else hits[:, 0]
    return np.column_stack([hits, final, area])
