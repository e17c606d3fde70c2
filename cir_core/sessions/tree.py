"""The tree of a session's turns, without the branches that a person deleted."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from cir_core.types.records import SearchSession, Thumb


def without_branches(session: SearchSession, removed: Collection[str]) -> SearchSession:
    """``session`` without the branches ``removed`` (ids), and without the turns that only they go through. A turn of
    theirs that other branches go through counts as one of the first of these."""
    if not removed:
        return session
    kept = tuple(branch for branch in session.branches if branch.branch_id not in removed)
    branch_of: dict[str, str] = {}
    for branch in kept:
        tip = session.tip_of(branch.branch_id)
        for turn in session.path_to(tip.turn_id) if tip else ():
            branch_of.setdefault(turn.turn_id, branch.branch_id if turn.branch_id in removed else turn.branch_id)
    turns = tuple(replace(turn, branch_id=branch_of[turn.turn_id]) for turn in session.turns
                  if turn.turn_id in branch_of)
    return replace(session, branches=kept, turns=turns, thumbs=thumbs_on(session, branch_of))


def thumbs_on(session: SearchSession, turn_ids: Collection[str]) -> tuple[Thumb, ...]:
    return tuple(thumb for thumb in session.thumbs if thumb.turn_id in turn_ids)
