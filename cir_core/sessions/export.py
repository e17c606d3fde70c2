"""Export sessions in CIRCLED's public format, with cirque's protocol card and all that a session consists of.

The first record of a session has it whole, under ``cirque``, ``whole``: every field of its turns, and the uploaded
pictures that are references in it. :mod:`cir_core.sessions.importing` reads it back."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

from cir_core.datasets.readers.circled import CircledSession, CircledTurn, public_record
from cir_core.images.uploads import is_upload
from cir_core.search.protocol import card_to_dict
from cir_core.sessions.plain import to_plain
from cir_core.sessions.tree import thumbs_on
from cir_core.types.records import SearchSession, Turn

FORMAT = 1   # of the part "whole"
_WORDS = 40  # characters of a file name
MOST_PICTURES = 20 * 2**20   # bytes of the pictures in a file, so that it can be imported


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
                 **_edited(turn), **_references(turn), **_marks(turn), **_thumbs(session, turn),
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


def _marks(turn: Turn) -> dict[str, Any]:
    """Results of the turn before that the user marked."""
    marks = turn.composition.marks if turn.composition else None
    return {"marks": {"more": list(marks.more_like), "less": list(marks.less_like)}} if marks else {}


def session_to_circled(
    session: SearchSession, turn_id: str | None = None, *, first: int = 0,
    picture: Callable[[str], bytes | None] = lambda upload_id: None,
) -> list[dict[str, Any]]:
    """The branch that ends in ``turn_id``, or every branch of the session. ``first`` is the index of the first record
    in its file, from which CIRCLED's ids are made. ``picture``: the file of an uploaded picture, None where it is gone.
    """
    session = without_names(session)
    if turn_id is not None:
        turn = session.turn(turn_id)
        tips = [turn] if turn else []
    else:
        tips = [tip for b in session.branches if (tip := session.tip_of(b.branch_id))]
    records = [branch_to_circled(session, tip, index) for index, tip in enumerate(tips, start=first)]
    if records:
        shown = session if turn_id is None else _line(session, session.path_to(turn_id))
        records[0]["cirque"]["whole"] = _whole(shown, picture)
    return records


def _line(session: SearchSession, path: Sequence[Turn]) -> SearchSession:
    on_it = {turn.branch_id for turn in path}
    return replace(session, turns=tuple(path), thumbs=thumbs_on(session, {turn.turn_id for turn in path}),
                   branches=tuple(branch for branch in session.branches if branch.branch_id in on_it))


def _whole(session: SearchSession, picture: Callable[[str], bytes | None]) -> dict[str, Any]:
    if not (session.target_revealed or session.target_live):   # the ranks are still hidden
        session = replace(session, turns=tuple(replace(turn, target_rank=None) for turn in session.turns))
    ids = dict.fromkeys(one for turn in session.turns for one in (turn.reference_id, *turn.further) if is_upload(one))
    pictures, left = dict[str, str](), MOST_PICTURES
    for one in ids:
        if (stored := picture(one)) is not None and len(stored) <= left:   # an import says which are missing
            pictures[one], left = base64.b64encode(stored).decode("ascii"), left - len(stored)
    content = to_plain(session)
    return {"format": FORMAT, "session": content, "pictures": pictures, "digest": digest_of(content, pictures)}


def digest_of(session: Any, pictures: Any) -> str:
    """16 hex digits, by which a damaged file is known."""
    plain = json.dumps([session, pictures], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(plain.encode()).hexdigest()[:16]


def export_name(session: SearchSession) -> str:
    """Of the file, without its ending: the session's name or its first words, the day of its last turn, its id."""
    words = session.title or next((turn.modification_text for turn in session.turns if turn.modification_text), "")
    said = " ".join(words.split())
    if len(said) > _WORDS:
        said = said[:_WORDS + 1].rpartition(" ")[0] or said[:_WORDS]
    moment = session.latest.created_at if session.latest else session.created_at
    parts = ("cirque", said, f"{moment:%Y-%m-%d}" if moment else "", session.session_id)
    return " ".join(filter(None, parts))
