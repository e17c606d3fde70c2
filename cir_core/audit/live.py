"""Live shortcut audit of a search turn: does the query need both image and text?

Text and image are also ranked separately ("drop" of :mod:`cir_core.audit.records`): the
text through the text encoder, the image by its vector. No language model is called, so the
result is immediate and free. CIRCUS's labels, for one retriever.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from cachetools import LRUCache

from cir_core.audit.records import CUTOFF
from cir_core.errors import SearchError
from cir_core.methods.references import Reference
from cir_core.search.searcher import Searcher
from cir_core.sessions.service import SearchService
from cir_core.types.records import SearchSession, Turn, Vector

NEARLY = 0.8   # share of the first results above which one input alone is enough
_KEPT = 128

Finding = Literal[
    "either", "text", "image",          # one input alone finds the target, or nearly all results
    "both",                             # neither alone does
    "neither",                          # with a target: not in any top ten
]


@dataclass(frozen=True)
class Alone:
    """Results of one input alone. ``ranks`` are those of the turn's own results."""

    best: tuple[str, ...]
    shared: int                       # how many of ``best`` are also in the turn's top ten
    ranks: Mapping[str, int]
    target_rank: int | None = None


@dataclass(frozen=True)
class LiveAudit:
    """``depth`` is the number of first results compared. ``text`` is None for a turn without text.
    With a target, ``target_rank`` is its rank with both inputs and ``finding`` refers to it."""

    finding: Finding
    best: tuple[str, ...]
    depth: int
    text: Alone | None
    image: Alone
    target_rank: int | None = None
    later_turn: bool = False


def live_audit(searcher: Searcher, reference: Reference, turn: Turn, target_id: str | None = None) -> LiveAudit:
    """Audit one stored turn. ``target_id`` must be in the gallery and may be revealed to the user;
    it is ignored for a turn made after the target was revealed."""
    if turn.target_rank is None:
        target_id = None
    vectors = [reference.features]
    if turn.modification_text:
        vectors.append(searcher.text_vector(turn.modification_text))
    best = tuple(hit.image_id for hit in turn.hits[:CUTOFF])
    alone = [_alone(searcher, vector, turn, best, target_id) for vector in vectors]
    image, text = alone[0], alone[1] if len(alone) > 1 else None
    rank = turn.target_rank if target_id else None
    finding = _by_overlap(len(best), text, image) if rank is None else _by_target(rank, text, image)
    return LiveAudit(finding, best, len(best), text, image, rank, turn.number > 1)


def _alone(searcher: Searcher, vector: Vector, turn: Turn, best: tuple[str, ...], target_id: str | None) -> Alone:
    wanted = [hit.image_id for hit in turn.hits]
    if target_id is not None and target_id not in wanted:
        wanted.append(target_id)
    rows = [searcher.gallery.row_of(image_id) for image_id in wanted]
    # As in the turn: its references are excluded, but a target is ranked even if it is one of them.
    hidden = [searcher.gallery.row_of(i) for i in turn.excluded_ids if i in searcher.gallery and i != target_id]
    [found] = searcher.index.rank_many(vector[None], [rows], k=CUTOFF, exclude_rows=[hidden])
    ranks = dict(zip(wanted, found.ranks, strict=True))
    first = tuple(searcher.gallery.ids[int(row)] for row in found.top)
    return Alone(
        first, len(set(first) & set(best)), {hit.image_id: ranks[hit.image_id] for hit in turn.hits},
        ranks[target_id] if target_id else None,
    )


def _by_target(rank: int, text: Alone | None, image: Alone) -> Finding:
    by_text, by_image = (one is not None and (one.target_rank or CUTOFF + 1) <= CUTOFF for one in (text, image))
    if by_text or by_image:
        return "either" if by_text and by_image else "text" if by_text else "image"
    return "both" if rank <= CUTOFF else "neither"


def _by_overlap(depth: int, text: Alone | None, image: Alone) -> Finding:
    by_text, by_image = (one is not None and one.shared >= max(1, NEARLY * depth) for one in (text, image))
    if by_text or by_image:
        return "either" if by_text and by_image else "text" if by_text else "image"
    return "both"


class LiveAudits:
    """Cache of live audits of stored turns. Thread-safe."""

    def __init__(self, service: SearchService) -> None:
        self._service = service
        self._known: LRUCache[tuple[str, str | None], LiveAudit] = LRUCache(_KEPT)
        self._lock = threading.Lock()

    def of(self, session_id: str, turn_id: str) -> tuple[SearchSession, LiveAudit]:
        """Raises ``UnknownSession``, and ``SearchError`` if the gallery has changed since or the turn has several
        references."""
        session = self._service.session(session_id)
        path = self._service.going_on(session.gallery, session_id, turn_id)
        turn = path[-1]
        if turn.further:
            raise SearchError("The audit compares a text with one reference picture; this turn has several.")
        target_id = session.target_id if session.target_live or session.target_revealed else None
        key = turn_id, target_id
        with self._lock:
            if key in self._known:
                return session, self._known[key]
        searcher = self._service.searcher(session.gallery)
        reference, _ = self._service.reference(searcher, turn.reference_id)
        audit = live_audit(searcher, reference, turn, target_id)
        with self._lock:
            self._known[key] = audit
        return session, audit
