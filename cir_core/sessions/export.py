"""Export sessions in CIRCLED's public format, with cirque's protocol card."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from cir_core.datasets.readers.circled import CircledSession, CircledTurn, public_record
from cir_core.search.protocol import card_to_dict
from cir_core.types.records import SearchSession, Turn


def branch_to_circled(session: SearchSession, tip: Turn, index: int = 0) -> dict[str, Any]:
    """Export one branch as one record of a CIRCLED ``{subset}.json`` array.

    The fields of the published schema come first, with their published meaning: of several references the first.
    cirque's own are under the key ``cirque``, which readers of that schema skip. Images of a gallery
    whose name begins with "circo" get CIRCO's twelve-digit ids in the former and keep their own in the latter.
    """
    path = session.path_to(tip.turn_id)
    shown = session.target_revealed or session.target_live  # else the ranks are still hidden
    branch = next(b for b in session.branches if b.branch_id == tip.branch_id)
    subset = f"{session.gallery}_{session.protocol.split}"
    public = CircledSession(
        f"{subset}_{index:04d}", subset, (session.target_id,) if session.target_id else (),
        tuple(CircledTurn(turn.reference_id, turn.modification_text) for turn in path),
    )
    return {
        **public_record(public),
        "cirque": {
            "session_id": session.session_id,
            "branch": {"number": branch.number, "name": branch.name},
            "protocol": card_to_dict(session.protocol),
            "turns": [
                {"turn_id": turn.turn_id, "caption": turn.caption, "merged_text": turn.merged_text,
                 **_edited(turn), **_references(turn), **_thumbs(session, turn),
                 "notes": list(turn.notes), "target_rank": turn.target_rank if shown else None,
                 "excluded_ids": list(turn.excluded_ids), "created_at": turn.created_at.isoformat(),
                 "hits": [{"image_id": h.image_id, "score": h.score, "rank": h.rank} for h in turn.hits]}
                for turn in path
            ],
        },
    }


def _edited(turn: Turn) -> dict[str, Any]:
    """Caption and query as they were before the user edited one of them."""
    made = turn.composition
    return {"edited": asdict(made.edited)} if made and made.edited else {}


def _references(turn: Turn) -> dict[str, Any]:
    """References beside the first, and what cut-out ones were cut from."""
    cuts = turn.composition.cuts if turn.composition else ()
    return ({"further_references": list(turn.further)} if turn.further else {}) | (
        {"cut_out": [{"image_id": cut.image_id, "from": cut.source_id, "region": list(cut.region)} for cut in cuts]}
        if cuts else {})


def _thumbs(session: SearchSession, turn: Turn) -> dict[str, Any]:
    """People's own judgements of the turn's results."""
    found = [{"image_id": one.image_id, "up": one.up, "person": one.person, "created_at": one.created_at.isoformat()}
             for one in session.thumbs_of(turn.turn_id)]
    return {"thumbs": found} if found else {}


def without_names(session: SearchSession) -> SearchSession:
    """With "person 1", "person 2", … for who gave thumbs, in the order of their first one: who they are stays here."""
    numbers = {person: number for number, person in enumerate(dict.fromkeys(one.person for one in session.thumbs), 1)}
    return replace(session, thumbs=tuple(
        replace(one, person=f"person {numbers[one.person]}") for one in session.thumbs))


def session_to_circled(session: SearchSession, turn_id: str | None = None, *, first: int = 0) -> list[dict[str, Any]]:
    """The branch that ends in ``turn_id``, or every branch of the session. ``first`` is the index of the first record
    in its file, from which CIRCLED's ids are made."""
    session = without_names(session)
    if turn_id is not None:
        turn = session.turn(turn_id)
        tips = [turn] if turn else []
    else:
        tips = [tip for b in session.branches if (tip := session.tip_of(b.branch_id))]
    return [branch_to_circled(session, tip, index) for index, tip in enumerate(tips, start=first)]
