"""Queries from search sessions: each turn has a reference, a text and an inferred target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Literal

from annotation.sources.pictures import Pictures
from annotation.sources.queries import UNKNOWN, FindPicture, Picture, QuerySource, StudyQuery
from cir_core.audit.panel import DEPTH
from cir_core.errors import StudyError, UnknownImage
from cir_core.gallery.gallery import Gallery
from cir_core.images.uploads import UploadFolder, is_upload
from cir_core.support.texts import counted
from cir_core.types.records import SearchSession, Turn

Wanted = Literal["target", "next reference", "marked"]


def read_sessions(sessions: Iterable[SearchSession], gallery: Gallery, uploads: UploadFolder) -> QuerySource:
    """One query per turn over ``gallery`` with a known target, numbered in the order of the sessions and turns. The
    panel has the first results of the turn, as many as in an audit; later ones replace reference and target.

    The target is the session's target once it is revealed; else the image that was chosen as the reference of a
    later turn from here, or marked as more like it. Turns without any of these or without a text, with several
    references, repeated turns, and sessions without any query are left out and counted in the notes. Raises
    ``StudyError`` if no query is left.
    """
    queries: list[StudyQuery] = []
    left_out: Counter[tuple[str, str]] = Counter()   # by singular and plural
    seen: set[tuple[str, str, str]] = set()
    for session in sessions:
        if session.gallery != gallery.name:
            left_out["session is over another gallery", "sessions are over another gallery"] += 1
            continue
        before = len(queries)
        for turn in session.turns:
            wanted, how = _wanted(session, turn)
            if not turn.modification_text.strip():
                left_out["turn has no text", "turns have no text"] += 1
            elif turn.further:
                left_out["turn has several references", "turns have several references"] += 1
            elif not wanted:
                left_out["turn has no known target", "turns have no known target"] += 1
            elif (triple := (turn.reference_id, turn.modification_text, wanted[0])) in seen:
                left_out["turn repeats an earlier one", "turns repeat earlier ones"] += 1
            else:
                seen.add(triple)
                queries.append(_query(session, turn, len(queries), wanted, how))
        if len(queries) == before:
            left_out["session gives no query", "sessions give no query"] += 1
    notes = tuple(f"{counted(count, *what)}: left out." for what, count in left_out.items())
    if not queries:
        raise StudyError(" ".join(("No stored session gives a query to judge.", *notes, "A turn counts when its "
                                   "session has a revealed target, or when the search continued from one of its "
                                   "results.")))
    source = {"form": "sessions", "dataset": gallery.name, "gallery": gallery.name,
              "sessions": len({query.trace["session_id"] for query in queries})}
    pictures = Pictures(lambda image_id: (image_id,), gallery=gallery)
    return QuerySource(queries, partial(_find, uploads, pictures), source, notes)


def _wanted(session: SearchSession, turn: Turn) -> tuple[tuple[str, ...], Wanted]:
    if session.target_id is not None and session.target_revealed:
        return ((session.target_id,) if session.target_id != turn.reference_id else ()), "target"
    later = [other for other in session.turns if other.parent_id == turn.turn_id]
    gone_on = tuple(_results(turn, (other.reference_id for other in later)))
    if gone_on:
        return gone_on, "next reference"
    marked = (image_id for other in later if other.composition for image_id in other.composition.marks.more_like)
    return tuple(_results(turn, marked)), "marked"


def _results(turn: Turn, image_ids: Iterable[str]) -> Iterator[str]:
    """Distinct images of this turn's results, without uploads, which are new queries."""
    return (image_id for image_id in dict.fromkeys(image_ids)
            if image_id != turn.reference_id and turn.rank_of(image_id) is not None)


def _query(session: SearchSession, turn: Turn, number: int, wanted: tuple[str, ...], how: Wanted) -> StudyQuery:
    trace = {
        "dataset": session.gallery, "hidden_category": UNKNOWN, "query_idx": number, "query_id": turn.turn_id,
        "query_text": turn.modification_text, "full_text": turn.modification_text,
        "query_image_path": turn.reference_id, "target_image_path": wanted[0], "target_ids": list(wanted),
        "session_id": session.session_id, "turn": turn.number, "target_from": how,
        "protocol_digest": turn.protocol_digest,
    }
    return StudyQuery(
        f"{session.gallery}::{turn.turn_id}", session.gallery, number, turn.turn_id, UNKNOWN, turn.modification_text,
        turn.reference_id, wanted[0], wanted, tuple(hit.image_id for hit in turn.hits[:DEPTH]), trace,
        "single", tuple(hit.image_id for hit in turn.hits))


def _find(uploads: UploadFolder, pictures: FindPicture, image_id: str) -> Picture | None:
    if not is_upload(image_id):
        return pictures(image_id)
    try:
        return uploads.path(image_id)
    except UnknownImage:
        return None
