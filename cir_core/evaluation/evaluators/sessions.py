"""CIRCLED's measures over sessions: Hits@10 by turn, Final Recall@10, AUC.

A run's query ids are "<session id>/<turn>", turns from 1. How a retriever combined the
history into one query (CIRCLED compares the latest turn, the average and a weighted average) is not
known here: several ways are several runs, and all are reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cir_core.errors import DatasetError
from cir_core.evaluation.evaluators.records import Columns, Measure, Scores, check_list, coverage, first, means, score
from cir_core.evaluation.metrics.multi_turn import CUTOFF, session_values
from cir_core.evaluation.runs.records import Run
from cir_core.support.texts import quoted

if TYPE_CHECKING:
    from cir_core.datasets.readers.circled import CircledSession


FurtherByTurn = Callable[
    [Sequence["CircledSession"], Mapping[str, Sequence[str]]], tuple[Columns, tuple[str, ...]]]
"""Columns of further measures of the turns' lists, a value for each session, and notes."""


def turn_id(session_id: str, turn: int) -> str:
    """The query id of a session's turn in a run."""
    return f"{session_id}/{turn}"


def evaluate_sessions(
    sessions: Sequence[CircledSession], run: Run, *, partial: bool = False, further: FurtherByTurn | None = None,
    seed: int | None = 0,
) -> Scores:
    """Scores over all sessions together, and per subset if there are several. ``further``: more measures, such as
    CIRQRS (:mod:`cir_core.evaluation.evaluators.relevance`).

    The rank of a turn is the best of the targets; a target beyond the end of the list is a miss. The AUC depends on the
    longest session of the evaluated set ("longest_session"). Raises ``DatasetError`` for missing turns (unless
    ``partial``: they are misses), unknown turns, and lists that contain an image twice.
    """
    if not sessions:
        raise DatasetError("There are no sessions to evaluate. Check the file.")
    if twice := [name for name, count in Counter(one.session_id for one in sessions).items() if count > 1]:
        raise DatasetError(f"Session {quoted(twice[0])} occurs twice in the file. Keep one of the two.")
    if hidden := [one.session_id for one in sessions if not one.target_ids]:
        raise DatasetError(f"{len(hidden)} of {len(sessions)} sessions name no target ({first(hidden)}). Evaluate a "
                           "file with ground_truth_ids.")
    expected = [turn_id(one.session_id, turn) for one in sessions for turn in range(1, len(one.turns) + 1)]
    _, notes = coverage(expected, run.rankings, run.system, partial=partial)
    ranks = [_ranks(session, run) for session in sessions]
    short = sum(len(run.rankings.get(query_id, ())) < CUTOFF for query_id in expected)
    if short:
        notes.append(f"{short} of {len(expected)} lists contain fewer than {CUTOFF} images.")
    more, remarks = further(sessions, run.rankings) if further else ({}, ())
    notes += remarks
    longest = max(map(len, ranks))
    if longest == 1:
        notes.append(f"Every session has one turn: AUC is Hits@{CUTOFF} of that turn.")
    whole = score(
        run.system, [one.session_id for one in sessions], {**_columns(ranks), **more}, seed=seed,
        facts={"longest_session": longest, "turns": len(expected)}, notes=(*notes, *run.notes),
    )
    subsets: dict[str, list[int]] = {}
    for row, session in enumerate(sessions):
        subsets.setdefault(session.subset, []).append(row)
    if len(subsets) < 2:
        return whole
    return replace(whole, by_group={
        name: means({**_columns([ranks[row] for row in rows]),
                     **{measure: column[rows] for measure, column in more.items()}}, [np.arange(len(rows))], seed)
        for name, rows in subsets.items()
    })


def _columns(ranks: Sequence[Sequence[int]]) -> Columns:
    longest = max(map(len, ranks))
    measures = [*(Measure(f"hits_at_{CUTOFF}", str(turn)) for turn in range(1, longest + 1)),
                Measure(f"final_recall_at_{CUTOFF}"), Measure("auc")]
    return dict(zip(measures, session_values(ranks, longest).T, strict=True))


def _ranks(session: CircledSession, run: Run) -> list[int]:
    """The best rank over the targets after each turn; beyond the cutoff if no list contains one."""
    targets = frozenset(session.target_ids)
    ranks = []
    for turn in range(1, len(session.turns) + 1):
        query_id = turn_id(session.session_id, turn)
        ranking = run.rankings.get(query_id, ())
        check_list(run.system, query_id, ranking, None)
        beyond = max(len(ranking), CUTOFF) + 1
        ranks.append(next((rank for rank, one in enumerate(ranking, 1) if one in targets), beyond))
    return ranks
