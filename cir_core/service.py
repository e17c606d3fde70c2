"""Search sessions: the searcher and the store behind one door.

Screens, the command line and the named calls all come through here. A turn is in the
database before :meth:`SearchService.run_turn` returns.
"""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import BinaryIO

from PIL import Image

from cir_core.errors import SearchError
from cir_core.gallery import GalleryInfo
from cir_core.ids import new_id
from cir_core.metrics.consistency import RankSetback, RepeatedText, rank_setbacks, repeated_texts
from cir_core.metrics.multi_turn import MultiTurnScores, multi_turn_scores
from cir_core.pool import SearcherPool
from cir_core.protocol import make_card
from cir_core.search import Previous, Reference, Searcher, clean_text
from cir_core.sessions import SessionStore, SessionSummary
from cir_core.target import Challenge, TargetTrace, deal_challenge
from cir_core.types import Branch, Hit, MethodSettings, SearchSession, Turn
from cir_core.uploads import UploadFolder, is_upload

_CAPTIONS_KEPT = 4096


class SearchService:
    def __init__(self, pool: SearcherPool, store: SessionStore, uploads: UploadFolder) -> None:
        self._pool = pool
        self._store = store
        self._uploads = uploads
        self._captions: OrderedDict[tuple[str, ...], str] = OrderedDict()

    # --- galleries -----------------------------------------------------------------

    def galleries(self) -> list[GalleryInfo]:
        return self._pool.infos()

    def searcher(self, gallery: str) -> Searcher:
        return self._pool.searcher(gallery)

    def find_images(self, gallery: str, text: str, k: int = 24) -> list[Hit]:
        """Gallery images by plain text, for choosing a reference."""
        searcher = self._pool.searcher(gallery)
        return searcher.index.search(searcher.encoder.encode_texts([clean_text(text)])[0], k)

    def random_images(self, gallery: str, count: int, seed: int | None = None) -> list[str]:
        ids = self._pool.searcher(gallery).gallery.ids
        return random.Random(seed).sample(list(ids), min(count, len(ids)))

    def image_path(self, gallery: str, reference_id: str, *, thumbnail: bool = False) -> Path:
        """The file of a gallery image or an upload. Raises ``UnknownImage``."""
        if is_upload(reference_id):
            return self._uploads.path(reference_id)
        images = self._pool.searcher(gallery).gallery
        return images.thumbnail_of(reference_id) if thumbnail else images.path_of(reference_id)

    def add_upload(self, source: Path | bytes | BinaryIO | Image.Image, name: str = "") -> str:
        """Keep an image as a reference; returns its id. Raises ``ImageUnreadable``."""
        reference_id, image = self._uploads.add(source)
        self._store.add_upload(reference_id, image.width, image.height, name)
        return reference_id

    # --- sessions ------------------------------------------------------------------

    def start(
        self, gallery: str, *, method: MethodSettings | None = None, target_id: str | None = None,
        target_live: bool = False, title: str = "",
    ) -> SearchSession:
        """A new, empty session, already stored."""
        searcher = self._pool.searcher(gallery)
        method = method or MethodSettings()
        if target_id is not None:
            searcher.gallery.row_of(target_id)
        card = make_card(
            gallery=gallery, gallery_size=len(searcher.gallery), gallery_digest=searcher.gallery.digest,
            split=searcher.gallery.split, encoder=searcher.encoder.identity,
            language_model=searcher.language.name, method=method,
        )
        return self._store.create_session(SearchSession(
            session_id=new_id(), gallery=gallery, method=method, protocol=card, target_id=target_id,
            target_live=target_live, title=title, created_at=datetime.now(UTC),
        ))

    def session(self, session_id: str) -> SearchSession:
        return self._store.session(session_id)

    def sessions(self, limit: int = 50, gallery: str | None = None) -> Sequence[SessionSummary]:
        return self._store.sessions(limit, gallery)

    def rename(self, session_id: str, title: str) -> SearchSession:
        return self._store.rename_session(session_id, title)

    def name_branch(self, session_id: str, branch_id: str, name: str) -> SearchSession:
        return self._store.name_branch(session_id, branch_id, name)

    def run_turn(
        self, session_id: str, text: str, *, reference_id: str | None = None,
        parent_id: str | None = None, k: int = 60,
    ) -> Turn:
        """Search once more in a session, going on from ``parent_id`` (None: a first turn).

        ``reference_id`` is a gallery image or an upload; left out, the parent's reference
        is used again. The turn is committed when this returns.
        """
        began = perf_counter()
        session = self._store.session(session_id)
        path = session.path_to(parent_id) if parent_id else ()
        if parent_id and not path:
            raise SearchError("That turn is not part of this session. Reload the page.")
        reference_id = reference_id or (path[-1].reference_id if path else None)
        if reference_id is None:
            raise SearchError("Choose a reference image first: upload one or pick one from the gallery.")

        searcher = self._pool.searcher(session.gallery)
        self._check_unchanged(session, searcher)
        reference, encode_ms = self._reference(searcher, reference_id)
        found = searcher.turn(
            reference, text, session.method, previous=Previous.of(path), k=k,
            # What is searched after the end is not part of the attempt: it gets no rank.
            target_id=None if session.target_revealed else session.target_id,
        )
        self._remember_caption(searcher, reference_id, found.caption)
        timings = ({"encode image": encode_ms} if encode_ms else {}) | found.timings_ms

        def make(branch: Branch, number: int) -> Turn:
            timings["total"] = (perf_counter() - began) * 1000
            return Turn(
                turn_id=new_id(), session_id=session_id, branch_id=branch.branch_id,
                parent_id=parent_id, number=number, reference_id=reference_id,
                modification_text=clean_text(text, required=False), caption=found.caption,
                merged_text=found.merged_text, notes=found.notes, vector=found.vector,
                hits=found.hits, excluded_ids=found.excluded_ids, target_rank=found.target_rank,
                timings_ms=timings, protocol_digest=session.protocol.digest, created_at=datetime.now(UTC),
            )

        return self._store.add_turn(session_id, parent_id, make)

    def _check_unchanged(self, session: SearchSession, searcher: Searcher) -> None:
        """A session goes on only where it began: vectors of two encoders do not mix, and its
        protocol card must stay true of every turn."""
        if session.protocol.encoder.revision != searcher.encoder.identity.revision:
            raise SearchError(
                f"This session was made with encoder {session.protocol.encoder.spec!r} "
                f"(revision {session.protocol.encoder.revision}); gallery {session.gallery!r} now uses "
                f"revision {searcher.encoder.identity.revision}. Start a new session."
            )
        if session.protocol.gallery_digest != searcher.gallery.digest:
            raise SearchError(
                f"Gallery {session.gallery!r} has changed since this session began: it had "
                f"{session.protocol.gallery_size} images and has {len(searcher.gallery)} now, or other ones. "
                "What was found stays; start a new session to go on from here."
            )

    def _reference(self, searcher: Searcher, reference_id: str) -> tuple[Reference, float]:
        cached = self._captions.get(self._caption_key(searcher, reference_id))
        if not is_upload(reference_id):
            return searcher.gallery_reference(reference_id, cached), 0.0
        image = self._uploads.load(reference_id)
        began = perf_counter()
        features = searcher.encoder.encode_images([image])[0]
        took = (perf_counter() - began) * 1000
        return Reference(reference_id, features, image, cached_caption=cached), took

    def _caption_key(self, searcher: Searcher, reference_id: str) -> tuple[str, ...]:
        # The built-in model captions through the encoder: two encoders see two things.
        encoder = searcher.encoder.identity.revision
        return searcher.gallery.digest, encoder, searcher.language.name, reference_id

    def _remember_caption(self, searcher: Searcher, reference_id: str, caption: str) -> None:
        if caption:  # an empty one carries notes, which should be shown every time
            self._captions[self._caption_key(searcher, reference_id)] = caption
            while len(self._captions) > _CAPTIONS_KEPT:
                self._captions.popitem(last=False)

    # --- find a target -------------------------------------------------------------

    def deal(self, gallery: str, seed: int | None = None) -> Challenge:
        """A target to look for and a reference to begin with."""
        return deal_challenge(self._pool.searcher(gallery), seed)

    def reveal_target(self, session_id: str) -> SearchSession:
        return self._store.reveal_target(session_id)

    def set_target_live(self, session_id: str, live: bool) -> SearchSession:
        return self._store.set_target_live(session_id, live)

    def trace(self, session: SearchSession, turn_id: str) -> TargetTrace:
        """Ranks of the target along the branch that ends in ``turn_id``, with the turns
        that break ε-consistency or repeat an earlier text."""
        if session.target_id is None:
            raise SearchError("This session has no target. Start one with “Find a target”.")
        path = _ranked(session.path_to(turn_id)) or _attempt(session)
        ranks = tuple(turn.target_rank for turn in path if turn.target_rank is not None)
        setbacks: tuple[RankSetback, ...] = rank_setbacks(ranks)
        repeats: tuple[RepeatedText, ...] = ()
        texts = [turn.modification_text for turn in path]
        if len(texts) > 1 and session.method.base != "image-only":
            encoder = self._pool.searcher(session.gallery).encoder
            repeats = repeated_texts(encoder.encode_texts(texts))
        return TargetTrace(session.target_id, ranks, setbacks, repeats)

    def scores(self, session_ids: Sequence[str]) -> MultiTurnScores | None:
        """Hits@10, Final Recall@10 and AUC over finished target sessions, of each the branch
        that was searched last before the end."""
        return multi_turn_scores([
            [turn.target_rank for turn in _attempt(session) if turn.target_rank is not None]
            for session in self._store.finished_target_sessions(session_ids)
        ])


def _ranked(path: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns of ``path`` that count towards the target: those made before its end."""
    return tuple(turn for turn in path if turn.target_rank is not None)


def _attempt(session: SearchSession) -> tuple[Turn, ...]:
    """The way to the last turn that counts."""
    counted = _ranked(session.turns)
    return _ranked(session.path_to(counted[-1].turn_id)) if counted else ()


