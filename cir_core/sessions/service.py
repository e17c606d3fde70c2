"""Search service: searcher and session store behind one interface.

Screens, the command line and the named calls all use it. A turn is in the
database before :meth:`SearchService.run_turn` returns.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO

from PIL import Image

from cir_core.errors import LanguageModelError, SearchError, UnknownSession
from cir_core.evaluation.metrics.consistency import RankSetback, RepeatedText, rank_setbacks, repeated_texts
from cir_core.evaluation.metrics.multi_turn import MultiTurnScores, multi_turn_scores
from cir_core.gallery.gallery import Gallery, GalleryInfo
from cir_core.images.decode_budget import PATIENCE
from cir_core.images.uploads import UploadFolder, checked_region, cut_out, is_upload
from cir_core.index.stored import StoredIndex
from cir_core.language.readers.reader import Pointed
from cir_core.language.readers.scene import Scene, revoked_after
from cir_core.language.tasks import Picture
from cir_core.methods.observer import TurnObserver
from cir_core.methods.references import check_further, join
from cir_core.methods.steps import ranked_with
from cir_core.search.projection import farthest_first
from cir_core.search.protocol import differences, with_method, with_models, with_stand_ins
from cir_core.search.rewording import reworded
from cir_core.search.searcher import Previous, Reference, Searcher, TurnResult, clean_text
from cir_core.search.usual import Usual
from cir_core.sessions.export import session_to_circled
from cir_core.sessions.importing import Exported, Imported, Importer
from cir_core.sessions.pool import SearcherPool
from cir_core.sessions.store import SessionStore, SessionSummary
from cir_core.sessions.target import Challenge, TargetTrace, attempt, deal_challenge, ranked_turns
from cir_core.support.texts import quoted
from cir_core.types.composition import Adjustment, Cut, Marks, Wording
from cir_core.types.records import Hit, MethodSettings, SearchSession, Thumb, Turn, new_id

MOST_PERSON = 64   # characters of who judges
_CANDIDATES = 8  # random images for each one shown


@dataclass(frozen=True)
class LoadedTurn:
    """A turn with its session and the searcher of the gallery, so that the caller need not load them again."""

    session: SearchSession
    turn: Turn
    searcher: Searcher


class SearchService:
    def __init__(self, pool: SearcherPool, store: SessionStore, uploads: UploadFolder) -> None:
        self._pool = pool
        self._store = store
        self._uploads = uploads

    # --- galleries -----------------------------------------------------------------

    def galleries(self) -> list[GalleryInfo]:
        return self._pool.infos()

    def index(self, gallery: str) -> tuple[str, StoredIndex | None]:
        """What a gallery is searched with, in words, and its approximate index if that is used."""
        return self._pool.index(gallery)

    def searcher(self, gallery: str) -> Searcher:
        return self._pool.searcher(gallery)

    def gallery(self, name: str) -> Gallery:
        """A gallery without its encoder: for images and counts."""
        return self._pool.gallery(name)

    def opening(self, gallery: str) -> bool:
        """Whether :meth:`searcher` would wait for an encoder that is being loaded. Raises ``GalleryError``."""
        return self._pool.opening(gallery)

    def find_images(self, gallery: str, text: str, k: int = 24) -> list[Hit]:
        """Text-to-image search, for choosing a reference."""
        searcher = self._pool.searcher(gallery)
        return searcher.index.search(searcher.encoder.encode_texts([clean_text(text)])[0], k)

    def random_images(self, gallery: str, count: int, seed: int | None = None) -> list[str]:
        """Random images that look unlike one another, as a product's variants do not."""
        images = self._pool.gallery(gallery)
        rows = random.Random(seed).sample(range(len(images)), min(_CANDIDATES * count, len(images)))
        return [images.ids[rows[place]] for place in farthest_first(images.features[rows], count)]

    def check_image(self, gallery: str, reference_id: str) -> None:
        """Raises ``UnknownImage`` unless it is a gallery image or an upload. Reads no picture."""
        if is_upload(reference_id):
            self._uploads.path(reference_id)
        else:
            self._pool.gallery(gallery).row_of(reference_id)

    def picture(self, gallery: str, reference_id: str, *, thumbnail: bool = False) -> Path | bytes:
        """The file of a gallery image or an upload, or its bytes. Raises what ``Gallery.original_of`` and
        ``thumbnail_of`` raise."""
        if is_upload(reference_id):
            return self._uploads.path(reference_id)
        images = self._pool.gallery(gallery)
        return images.thumbnail_of(reference_id) if thumbnail else images.original_of(reference_id)

    def reference_image(self, gallery: str, reference_id: str) -> Image.Image:
        """The pixels of a gallery image or an upload, without an encoder. Raises ``UnknownImage``,
        ``ImageUnreadable``."""
        if is_upload(reference_id):
            return self._uploads.load(reference_id)
        return self._pool.gallery(gallery).load_for_encoder(reference_id)

    def add_upload(
        self, source: Path | bytes | BinaryIO | Image.Image, name: str = "", *, patience: float = PATIENCE,
    ) -> str:
        """Store an uploaded reference image; returns its id. ``patience``: seconds to wait for memory to decode it in.
        Raises ``ImageUnreadable``, ``DecodingBusy``."""
        reference_id, image = self._uploads.add(source, patience=patience)
        width, height = image.size
        # For a known upload, the driver's error keeps this frame alive for a while, and its 4 MB of pixels with it.
        del image
        self._store.add_upload(reference_id, width, height, name)
        return reference_id

    def cut_out(self, gallery: str, image_id: str, region: object, *, patience: float = PATIENCE) -> str:
        """Store ``region`` of a gallery image or an upload as an upload; returns its id. Raises ``SearchError`` for a
        region that cannot be used (see :mod:`cir_core.images.uploads`), ``UnknownImage``, ``ImageUnreadable``,
        ``DecodingBusy``."""
        box, picture = checked_region(region), self.picture(gallery, image_id)
        part = cut_out(picture, box, max_megapixels=self._uploads.max_megapixels, patience=patience)
        # Another person's upload may have the same pixels: its name is not repeated here.
        return self.add_upload(part, f"cut from {'an uploaded picture' if is_upload(image_id) else image_id}")

    def usual(self, gallery: str) -> Usual:
        """What searches of ``gallery`` begin with if nobody names a method."""
        return self._pool.searcher(gallery).usual

    # --- sessions ------------------------------------------------------------------

    def start(
        self, gallery: str, *, method: MethodSettings | None = None, target_id: str | None = None,
        target_live: bool = False, title: str = "", owner: str = "",
    ) -> SearchSession:
        """Create and store a new, empty session. ``owner``: the account it belongs to, or ""."""
        searcher = self._pool.searcher(gallery)
        method = method or searcher.usual.settings
        if target_id is not None:
            searcher.gallery.row_of(target_id)
        return self._store.create_session(SearchSession(
            session_id=new_id(), gallery=gallery, method=method, protocol=searcher.card(method), target_id=target_id,
            target_live=target_live, title=title, created_at=datetime.now(UTC),
        ), owner)

    def session(self, session_id: str, *, whole: bool = False) -> SearchSession:
        return self._store.session(session_id, whole=whole)

    def sessions(
        self, limit: int = 50, gallery: str | None = None, among: Collection[str] | None = None,
    ) -> Sequence[SessionSummary]:
        return self._store.sessions(limit, gallery, among)

    def listed(
        self, owner: str, known: Collection[str], words: str = "", limit: int = 10,
    ) -> tuple[Sequence[SessionSummary], int]:
        """A person's list of sessions, as ``SessionStore.listed`` has it."""
        return self._store.listed(owner, known, words, limit)

    def export(self, session_id: str, turn_id: str | None = None, *, pictures: bool = True) -> list[dict[str, Any]]:
        """``cir_core.sessions.export.session_to_circled``, with the uploaded ``pictures`` or without them. Raises
        ``UnknownSession``."""
        picture = self._uploads.content if pictures else lambda upload_id: None
        return session_to_circled(self._store.session(session_id), turn_id, picture=picture)

    def import_sessions(self, exported: Sequence[Exported], owner: str = "") -> list[Imported]:
        """Store the sessions of a file, for the account ``owner`` or nobody's: see ``Importer.add_all``."""
        return Importer(self._store, self._pool, self._uploads).add_all(exported, owner)

    def rename(self, session_id: str, title: str, person: str = "") -> SearchSession:
        self._check_owner(session_id, person)
        return self._store.rename_session(session_id, title)

    def remove(self, session_id: str, person: str, removed: bool = True) -> bool:
        """Take a session off the list of the account ``person``, or put it back; nothing is deleted. False for a
        session that belongs to no account: which of them are listed is known to browsers alone."""
        if not self._store.owner_of(session_id):
            return False
        self._check_owner(session_id, person)
        self._store.remove_session(session_id, removed)
        return True

    def remove_branch(
        self, session_id: str, branch_id: str, person: str = "", removed: bool = True,
    ) -> SearchSession:
        """Delete a branch, or have it back: see ``SessionStore.remove_branch``."""
        self._check_owner(session_id, person)
        return self._store.remove_branch(session_id, branch_id, removed)

    def _check_owner(self, session_id: str, person: str) -> None:
        owner = self._store.owner_of(session_id)
        if owner and owner != person:
            raise SearchError(f"This session belongs to {owner}. Only they can rename or remove it and its branches. "
                              "You can continue searching in it.")

    def name_branch(self, session_id: str, branch_id: str, name: str, person: str = "") -> SearchSession:
        self._check_owner(session_id, person)
        return self._store.name_branch(session_id, branch_id, name)

    def judge(self, session_id: str, turn_id: str, image_id: str, person: str, up: bool | None) -> None:
        """Keep whether an image is what a turn asked for, in ``person``'s own judgement; None takes it back. Raises
        ``SearchError`` without a person, ``UnknownSession``, and ``UnknownImage`` for one that the turn cannot have
        shown."""
        if not person or len(person) > MOST_PERSON:
            raise SearchError("The page is out of date. Reload it.")
        if up is None:
            return self._store.drop_thumb(session_id, turn_id, image_id, person)
        session = self._store.session(session_id)
        turn = session.turn(turn_id)
        if turn is None:
            raise UnknownSession("That turn is not part of this session. Reload the page.")
        if turn.rank_of(image_id) is None:   # further down than what is stored, as on the map
            self._pool.gallery(session.gallery).row_of(image_id)
        self._store.put_thumb(session_id, Thumb(turn_id, image_id, person, up, datetime.now(UTC)))

    def run_turn(
        self, session: str | SearchSession, text: str, *, reference_id: str | None = None,
        further: Sequence[str] = (), cuts: Sequence[Cut] = (), parent_id: str | None = None, marks: Marks = Marks(),
        k: int = 60, columns: int = 0, rules: bool = False, watch: TurnObserver | None = None,
        without: Sequence[str] = (), as_typed: bool = False,
    ) -> LoadedTurn:
        """Search once more in a session, continuing from ``parent_id`` (None: a first turn). ``session``: its id, or
        the session as the caller has just loaded it.

        ``reference_id`` is a gallery image or an upload, ``further`` are up to 3 more that are the reference together
        with it; by default those of the parent are used again. ``cuts`` tell which uploads were cut out of what.
        ``marks`` refer to the parent's results, and so may the text ("like the second one"), which then chooses the
        reference; they are shown in rows of ``columns`` (0: unknown). With ``rules`` the built-in rules answer this
        turn in place of the language model. Images ``without`` which to search are left out of the results. Text
        ``as_typed`` means nothing of earlier turns. The turn is committed on return; the session returned with it is as
        it was before.
        """
        began = perf_counter()
        session = self._store.session(session) if isinstance(session, str) else session
        path = session.path_to(parent_id) if parent_id else ()
        if parent_id and not path:
            raise SearchError("That turn is not part of this session. Reload the page.")
        if reference_id is None and path:
            reference_id, further = path[-1].reference_id, further or path[-1].further
        if reference_id is None:
            raise SearchError("Choose a reference image first: upload one or pick one from the gallery.")
        check_further(reference_id, further)

        searcher = self._pool.searcher(session.gallery)
        searcher = searcher.by_rules if rules else searcher
        self._check_unchanged(session, searcher)
        method = _going_on(session.method, path)
        pointed = Pointed(clean_text(text, required=False), reference_id)
        if not as_typed:
            pointed = self.pointed(searcher, path, reference_id, text, columns, further, session.turns)
        reference_id = pointed.reference_id or reference_id
        further = further if pointed.further is None else pointed.further
        reference, encode_ms = self.references(searcher, (reference_id, *further))
        found = searcher.turn(
            reference, pointed.text, method, previous=Previous.of(path, pointed.held, pointed.released), marks=marks,
            k=k,
            # Searches after the end are not part of the attempt: they get no rank.
            target_id=None if session.target_revealed else session.target_id, watch=watch, without=without,
        )
        timings = ({"encode image": encode_ms} if encode_ms else {}) | dict(found.timings_ms)
        text = clean_text(text, required=False)
        # Settings may have changed since the session began: the turn notes it and has its own digest.
        method = found.method or method
        now = searcher.card(method)
        left_out = (f"without the {len(set(without))} images that were shown before",) if without else ()
        found = replace(found, notes=(*differences(session.protocol, now), *left_out, *pointed.with_notes(found.notes)))
        if pointed.text != text:
            found = replace(found, composition=replace(found.composition, read_as=pointed.text))
        before = (cut for turn in reversed(path) if turn.composition for cut in turn.composition.cuts)
        if known := _cuts_of(reference.image_ids, (*cuts, *before)):
            found = replace(found, composition=replace(found.composition, cuts=known))
        card = with_models(with_method(session.protocol, method), now)
        digest = with_stand_ins(card, found.composition.usage.stand_ins).digest
        turn = self._stored(session, parent_id, reference_id, text, found, digest, timings, began)
        return LoadedTurn(session, turn, searcher)

    def search_again(
        self, session_id: str, turn_id: str, *, seen: int | None = None, k: int = 60,
        watch: TurnObserver | None = None,
    ) -> LoadedTurn:
        """The request of a turn once more, on a branch of its own, without its first ``seen`` results (None: all) and
        those that it left out itself. Raises as :meth:`run_turn` does, and ``SearchError`` where the gallery has no
        others."""
        turn, searcher = (loaded := self.loaded(session_id, turn_id)).turn, loaded.searcher
        shown = tuple(dict.fromkeys((*turn.excluded_ids, *(hit.image_id for hit in turn.hits[:seen]))))
        if len(shown) >= len(searcher.gallery):
            raise SearchError("Every image of this gallery has been shown. Ask for something else, or go back.")
        return self.run_turn(
            loaded.session, turn.modification_text, reference_id=turn.reference_id, further=turn.further,
            parent_id=turn.parent_id, marks=turn.composition.marks if turn.composition else Marks(), k=k,
            watch=watch, without=shown)

    def pointed(
        self, searcher: Searcher, path: Sequence[Turn], reference_id: str, text: str, columns: int = 0,
        further: Sequence[str] = (), turns: Sequence[Turn] = (),
    ) -> Pointed:
        """``text`` with the results and turns of ``path``, and the references, that it points at looked up. ``turns``:
        all of the session."""
        def captions(image_ids: Sequence[str]) -> Sequence[str]:
            if len(image_ids) == 1 and is_upload(image_ids[0]):
                return (self._said_of_upload(searcher, image_ids[0]),)
            known = [image_id for image_id in image_ids if image_id in searcher.gallery]
            found = dict(zip(known, searcher.stored_captions(known), strict=False))
            return [found.get(image_id, "") for image_id in image_ids]

        scene = Scene(path, reference_id, captions, columns, tuple(further), revoked_after(path, turns))
        return searcher.reader.follow(clean_text(text, required=False), scene)

    def _said_of_upload(self, searcher: Searcher, reference_id: str) -> str:
        try:
            return searcher.said_of(self.reference(searcher, reference_id)[0]).caption
        except LanguageModelError:
            return ""

    def going_on(self, gallery: str, session_id: str | None, parent_id: str | None) -> tuple[Turn, ...]:
        """The turns up to ``parent_id``, from which a search of ``gallery`` may continue; () without one. Raises
        ``SearchError``, e.g. when the gallery has changed since."""
        if parent_id is None:
            return ()
        session = self._store.session(session_id or "")
        path = session.path_to(parent_id)
        if not path or session.gallery != gallery:
            raise SearchError("That turn is not part of this session. Reload the page.")
        self._check_unchanged(session, self._pool.searcher(gallery))
        return path

    def loaded(self, session_id: str, turn_id: str) -> LoadedTurn:
        """Raises ``UnknownSession``, also for a turn of another session."""
        session = self._store.session(session_id)
        turn = session.turn(turn_id)
        if turn is None:
            raise UnknownSession("That turn is not part of this session. Reload the page.")
        return LoadedTurn(session, turn, self._pool.searcher(session.gallery))

    def adjust(self, loaded: LoadedTurn, adjustment: Adjustment, k: int = 60) -> TurnResult:
        """A turn's result with other constraints, another λ or other rounds. Calls no language model and stores
        nothing."""
        session = loaded.session
        self._check_unchanged(session, loaded.searcher)
        return loaded.searcher.adjust(TurnResult.of(loaded.turn), session.method, adjustment, k=k,
                                      target_id=None if session.target_revealed else session.target_id)

    def reword(
        self, session_id: str, turn_id: str, before: Adjustment, *, caption: str = "", query: str = "",
        watch: TurnObserver | None = None,
    ) -> Adjustment:
        """``before`` with another caption of a turn's reference, or another query, and what a language model makes of
        it. Stores nothing. Raises as :func:`cir_core.search.rewording.reworded` does."""
        loaded = self.loaded(session_id, turn_id)
        session, turn, searcher = loaded.session, loaded.turn, loaded.searcher
        found = self.adjust(loaded, before, 1)
        reference, _ = self.references(searcher, (turn.reference_id, *turn.further))
        wording, parts, usage = reworded(
            searcher, found, reference, found.composition.read_as or turn.modification_text, session.method,
            number=turn.number, caption=caption, query=query, watch=watch)
        before = replace(before, usage=before.usage + usage)
        if wording == Wording(turn.caption, turn.merged_text):  # as it was stored
            return replace(before, wording=None).with_parts(dict.fromkeys(parts))
        return replace(before, wording=wording).with_parts(parts)

    def save_adjusted(self, session_id: str, turn_id: str, adjustment: Adjustment, k: int = 60) -> Turn:
        """Store :meth:`adjust` as a sibling of the original turn, on a branch of its own."""
        began = perf_counter()
        loaded = self.loaded(session_id, turn_id)
        session, turn, found = loaded.session, loaded.turn, self.adjust(loaded, adjustment, k)
        digest = turn.protocol_digest
        method = ranked_with(session.method, found.composition)
        made = found.composition.usage
        if adjustment.wording or method != ranked_with(session.method, TurnResult.of(turn).composition):
            card = with_method(session.protocol, method)
            if adjustment.wording:   # which the language model of today has read
                card = with_models(card, loaded.searcher.card(method))
            digest = with_stand_ins(card, made.stand_ins).digest
        # The other language model calls were paid for by the original turn.
        usage = replace(adjustment.usage, models=made.models, stand_ins=made.stand_ins)
        found = replace(found, composition=replace(found.composition, usage=usage))
        return self._stored(session, turn.parent_id, turn.reference_id, turn.modification_text, found, digest,
                            dict(found.timings_ms), began)

    def _stored(
        self, session: SearchSession, parent_id: str | None, reference_id: str, text: str, found: TurnResult,
        digest: str, timings: dict[str, float], began: float,
    ) -> Turn:
        return self._store.add_turn(Turn(
            turn_id=new_id(), session_id=session.session_id, branch_id="", parent_id=parent_id, number=0,
            reference_id=reference_id, modification_text=text, caption=found.caption, merged_text=found.merged_text,
            notes=found.notes, vector=found.vector, hits=found.hits, excluded_ids=found.excluded_ids,
            target_rank=found.target_rank, timings_ms=timings | {"total": (perf_counter() - began) * 1000},
            protocol_digest=digest, created_at=datetime.now(UTC), composition=found.composition,
        ))

    def _check_unchanged(self, session: SearchSession, searcher: Searcher) -> None:
        """A session continues only with its own encoder and gallery: vectors of two encoders are not comparable, nor
        are ranks in two galleries. Language model, captions and domain may change: the turn notes it (see
        :func:`cir_core.search.protocol.differences`)."""
        if session.protocol.encoder.revision != searcher.encoder.identity.revision:
            raise SearchError(f"This session was made with encoder {session.protocol.encoder.spec!r} (revision "
                              f"{session.protocol.encoder.revision}); gallery {quoted(session.gallery)} now uses "
                              f"revision {searcher.encoder.identity.revision}. Start a new session.")
        if session.protocol.gallery_digest != searcher.gallery.digest:
            raise SearchError(f"Gallery {quoted(session.gallery)} has changed since this session began: it had "
                              f"{session.protocol.gallery_size} images and has {len(searcher.gallery)} now, or other "
                              "ones. Earlier results remain; start a new session to continue from here.")

    def reference(self, searcher: Searcher, reference_id: str) -> tuple[Reference, float]:
        """A gallery image or an upload as reference, and its encoding time."""
        if not is_upload(reference_id):
            return searcher.gallery_reference(reference_id), 0.0
        image = self._uploads.load(reference_id)
        began = perf_counter()
        features = searcher.encoder.encode_images([image])[0]
        took = (perf_counter() - began) * 1000
        # The id is a hash of the pixels, so it also identifies the content for caches.
        return Reference(reference_id, features, Picture(None, reference_id, features, lambda: image)), took

    def references(self, searcher: Searcher, image_ids: Sequence[str]) -> tuple[Reference, float]:
        """One or several images as reference, and the time to encode uploads. Raises as
        :func:`cir_core.methods.references.join` does."""
        found = [self.reference(searcher, image_id) for image_id in image_ids]
        return join([reference for reference, _ in found]), sum(took for _, took in found)

    # --- find a target -------------------------------------------------------------

    def deal(self, gallery: str, seed: int | None = None) -> Challenge:
        """A random target and a starting reference."""
        return deal_challenge(self._pool.searcher(gallery), seed)

    def reveal_target(self, session_id: str) -> SearchSession:
        return self._store.reveal_target(session_id)

    def set_target_live(self, session_id: str, live: bool) -> SearchSession:
        return self._store.set_target_live(session_id, live)

    def trace(self, session: SearchSession, turn_id: str) -> TargetTrace:
        """Ranks of the target along the branch that ends in ``turn_id``, and the turns
        that violate ε-consistency or repeat an earlier text."""
        if session.target_id is None:
            raise SearchError("This session has no target. Start one with “Find a target”.")
        path = ranked_turns(session.path_to(turn_id)) or attempt(session)
        ranks = tuple(turn.target_rank for turn in path if turn.target_rank is not None)
        setbacks: tuple[RankSetback, ...] = rank_setbacks(ranks)
        repeats: tuple[RepeatedText, ...] = ()
        texts = [turn.modification_text for turn in path]
        if len(texts) > 1 and session.method.base != "image-only":
            encoder = self._pool.searcher(session.gallery).encoder
            repeats = repeated_texts(encoder.encode_texts(texts))
        return TargetTrace(session.target_id, ranks, setbacks, repeats)

    def scores(self, session_ids: Sequence[str]) -> MultiTurnScores | None:
        """Hits@10, Final Recall@10 and AUC over finished target sessions, each by the branch
        that was searched last before the end."""
        return multi_turn_scores([
            [turn.target_rank for turn in attempt(session) if turn.target_rank is not None]
            for session in self._store.finished_target_sessions(session_ids)
        ])


def _cuts_of(image_ids: Sequence[str], known: Sequence[Cut]) -> tuple[Cut, ...]:
    """Of each of ``image_ids`` that was cut out, the first in ``known`` that says so."""
    found = {cut.image_id: cut for cut in reversed(known)}
    return tuple(found[image_id] for image_id in image_ids if image_id in found)


def _going_on(method: MethodSettings, path: Sequence[Turn]) -> MethodSettings:
    """The session's method, as the turn it goes on from was ranked with: a person may have
    moved λ there and kept it."""
    if not path or path[-1].composition is None:
        return method
    return ranked_with(method, path[-1].composition)
