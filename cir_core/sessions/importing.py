"""Files of :mod:`cir_core.sessions.export` read back: whole sessions, checked, then stored."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cir_core.errors import GalleryError, SearchError, UnknownSession
from cir_core.images.uploads import UploadFolder, is_upload
from cir_core.search.searcher import TurnResult
from cir_core.sessions.export import FORMAT, digest_of, without_names
from cir_core.sessions.plain import from_plain, to_plain
from cir_core.sessions.pool import SearcherPool
from cir_core.sessions.store import SessionStore
from cir_core.support.texts import counted, quoted
from cir_core.types.composition import Adjustment, Composition
from cir_core.types.records import SearchSession, Turn
from cir_core.types.vectors import Vector

_ID = re.compile(r"[0-9A-Za-z_-]{1,64}\Z")
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_MOST_TURNS = 10_000
_LONGEST = 100_000   # characters of any text
_AGAIN = "Export the session again from the cirque that has it."


@dataclass(frozen=True)
class Exported:
    """A session of a file. ``pictures``: uploads that are references in it, by id, as PNG. ``digest``: of both."""

    session: SearchSession
    pictures: Mapping[str, bytes] = field(repr=False)
    digest: str


@dataclass(frozen=True)
class Imported:
    """``new``: it was not here before. ``notes``: sentences on what is otherwise than where it was exported."""

    session_id: str
    new: bool
    notes: tuple[str, ...] = ()


def read_export(content: bytes) -> tuple[Exported, ...]:
    """The sessions of an exported file. Raises ``SearchError``, with what to do, for what is no such file, is damaged,
    or was written by an earlier or a later version."""
    try:
        records = json.loads(content.decode("utf-8-sig"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise SearchError("The file is not complete JSON: it was cut off or changed in transit, or is another kind of "
                          f"file. {_AGAIN}") from error
    if not isinstance(records, list) or not records or not all(isinstance(one, dict) for one in records):
        raise SearchError("This is not an export of cirque's search screen, which is a list of records. Choose a file "
                          "that “Export” has written.")
    own = [one.get("cirque") for one in records]
    if not any(isinstance(one, dict) for one in own):
        raise SearchError("These are sessions without cirque's part, perhaps of a benchmark. Only what cirque's search "
                          "screen has exported can be imported; benchmarks are read by “cirque evaluate”.")
    found = [one["whole"] for one in own if isinstance(one, dict) and "whole" in one]
    if not found:
        raise SearchError("An earlier version of cirque wrote this file, without the vectors and marks that its turns "
                          f"need, so they cannot be made again from it. {_AGAIN}")
    return tuple(map(_exported, found))


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _exported(whole: Any) -> Exported:
    if not isinstance(whole, dict) or not isinstance(whole.get("format"), int):
        raise SearchError(f"The file is damaged: its part “whole” has no format. {_AGAIN}")
    if whole["format"] > FORMAT:
        raise SearchError("The file was written by a later version of cirque. Update cirque, then import it again.")
    content, pictures = whole.get("session"), whole.get("pictures", {})
    if whole.get("digest") != digest_of(content, pictures) or not isinstance(pictures, dict):
        raise SearchError("The file is damaged, or was changed after it was exported: its contents do not fit its "
                          f"digest. {_AGAIN}")
    session: SearchSession = from_plain(SearchSession, content, "session")
    check_tree(session)
    return Exported(session, {name: _picture(name, one) for name, one in pictures.items()}, whole["digest"])


def _picture(name: str, content: Any) -> bytes:
    try:
        if is_upload(name):
            return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError, TypeError):
        pass
    raise SearchError(f"The file is damaged: {quoted(name)} is not an uploaded picture. {_AGAIN}")


def check_tree(session: SearchSession) -> None:
    """Refuse a session whose branches, turns and vectors do not fit together. Raises ``SearchError``."""
    branches = {branch.branch_id: branch for branch in session.branches}
    seen: dict[str, Turn] = {}
    _need(_ID.match(session.session_id), "the session's id")
    _need(len(branches) == len(session.branches) == len({branch.number for branch in session.branches}),
          "branches: two have one id or number")
    for branch in session.branches:
        _need(_ID.match(branch.branch_id) and branch.session_id == session.session_id and 1 <= branch.number < 2**31,
              f"branch {branch.number}")
    _need(len(session.turns) <= _MOST_TURNS, f"more than {_MOST_TURNS:,} turns")
    for place, turn in enumerate(session.turns):
        where = f"turns[{place}]"
        parent = seen.get(turn.parent_id) if turn.parent_id is not None else None
        _need(_ID.match(turn.turn_id) and turn.turn_id not in seen, f"{where}: its id")
        _need(turn.session_id == session.session_id and turn.branch_id in branches, f"{where}: its session or branch")
        _need((turn.parent_id is None or parent is not None) and turn.number == (parent.number + 1 if parent else 1),
              f"{where}: its place in the tree")
        _need(turn.target_rank is None or 1 <= turn.target_rank < 2**31, f"{where}: the target's rank")
        _check_vectors(turn, session.protocol.encoder.dim, where)
        _need(max(map(len, (turn.modification_text, turn.caption, turn.merged_text, turn.reference_id))) <= _LONGEST,
              f"{where}: a text is too long")
        seen[turn.turn_id] = turn
    _need(len({(turn.branch_id, turn.number) for turn in session.turns}) == len(session.turns),
          "two turns are at one place of a branch")
    _need({turn.branch_id for turn in session.turns} == set(branches), "a branch without a turn")
    for place, thumb in enumerate(session.thumbs):
        _need(thumb.turn_id in seen and max(len(thumb.image_id), len(thumb.person)) <= _LONGEST, f"thumbs[{place}]")
    _need(len({(thumb.turn_id, thumb.image_id, thumb.person) for thumb in session.thumbs}) == len(session.thumbs),
          "two thumbs of a person on one image")


def _check_vectors(turn: Turn, dim: int, where: str) -> None:
    for vector in (turn.vector, *(_vectors(turn.composition) if turn.composition else ())):
        _need(vector.shape == (dim,), f"{where}: a vector of {counted(len(vector), 'number')}, not {dim}")


def _vectors(value: Any) -> Sequence[Vector]:
    """All vectors in a record, at any depth."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, tuple):
        return [vector for one in value for vector in _vectors(one)]
    if isinstance(value, Composition) or hasattr(value, "__dataclass_fields__"):
        return _vectors(tuple(vars(value).values()))
    return []


def _need(holds: object, what: str) -> None:
    if not holds:
        raise SearchError(f"The file is damaged: {what}. {_AGAIN}")


def holds_all_of(stored: SearchSession, session: SearchSession) -> bool:
    """Whether ``stored`` has every turn of ``session``, each as it is there; on another branch, and with a rank of the
    target that was hidden when it was exported, it is the same."""
    known = {turn.turn_id: turn for turn in stored.turns}

    def same(turn: Turn) -> bool:
        other = known.get(turn.turn_id)
        return other is not None and _content(other) == _content(turn)

    return (stored.method, stored.protocol.digest) == (session.method, session.protocol.digest) and all(
        map(same, session.turns))


def _content(turn: Turn) -> dict[str, Any]:
    return {name: value for name, value in to_plain(turn).items() if name not in ("branch_id", "target_rank")}


def as_copy(exported: Exported, title: str) -> SearchSession:
    """The session under other ids, which follow from the file: a copy beside one of the same id that differs."""
    session = exported.session

    def other(one: str) -> str:
        number = int.from_bytes(hashlib.sha256(f"{exported.digest} {one}".encode()).digest()[:10])
        return "".join(_ALPHABET[number >> 5 * place & 31] for place in range(16))

    session_id = other(session.session_id)
    return replace(
        session, session_id=session_id, title=title,
        branches=tuple(replace(branch, branch_id=other(branch.branch_id), session_id=session_id)
                       for branch in session.branches),
        turns=tuple(replace(turn, turn_id=other(turn.turn_id), session_id=session_id, branch_id=other(turn.branch_id),
                            parent_id=other(turn.parent_id) if turn.parent_id else None) for turn in session.turns),
        thumbs=tuple(replace(thumb, turn_id=other(thumb.turn_id)) for thumb in session.thumbs))


# --- storing ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Importer:
    store: SessionStore
    pool: SearcherPool
    uploads: UploadFolder

    def add_all(self, exported: Sequence[Exported], owner: str = "") -> list[Imported]:
        """Store sessions with their pictures, for the account ``owner`` or nobody's. One that is here already stays as
        it is, and comes back where it, or a branch of it, was deleted; beside one of the same id that differs it
        becomes a copy. Raises ``GalleryError`` where a gallery is missing, ``SearchError`` for a damaged picture,
        before anything is stored."""
        placed = [self._in_gallery(one.session) for one in exported]
        for one in exported:
            for reference_id, picture in one.pictures.items():
                if not self.uploads.is_of(reference_id, picture):
                    raise SearchError("The file is damaged: an uploaded picture in it does not match its digest. "
                                      f"{_AGAIN}")
        return [self._add(replace(one, session=session), notes, owner)
                for one, (session, notes) in zip(exported, placed, strict=True)]

    def _add(self, exported: Exported, notes: tuple[str, ...], owner: str) -> Imported:
        # Whoever gave thumbs elsewhere is nobody of those here, whatever the file says.
        session = replace(exported.session, thumbs=tuple(
            replace(one, person=f"imported: {one.person}") for one in without_names(exported.session).thumbs))
        with suppress(UnknownSession):
            stored = self.store.session(session.session_id, whole=True)
            if holds_all_of(stored, session):
                return self._restored(stored, session, owner)
            first = next((turn.modification_text for turn in session.turns if turn.modification_text), "Session")
            session = as_copy(replace(exported, session=session), f"{(session.title or first)[:60]} (imported)")
            notes = (*notes, "The session of this id here has other turns, so the file became a copy beside it.")
            return Imported(self.store.session(session.session_id).session_id, new=False,
                            notes=("This copy of the session is here already.",))
        for picture in exported.pictures.values():
            upload_id, image = self.uploads.add(picture)
            self.store.add_upload(upload_id, *image.size, "")
        references = {one for turn in session.turns for one in (turn.reference_id, *turn.further)}
        if gone := [one for one in references if is_upload(one) and not self.uploads.has(one)]:
            notes = (*notes, f"The file does not contain {counted(len(gone), 'uploaded picture')} of its references: "
                             "turns that start from one cannot be continued.")
        return Imported(self.store.add_session(self._ranked(session), owner).session_id, new=True, notes=notes)

    def _restored(self, stored: SearchSession, session: SearchSession, owner: str) -> Imported:
        """What the file has and was deleted here comes back, if the session is nobody's or ``owner``'s."""
        notes = ["This session is here already."]
        whose = self.store.owner_of(stored.session_id)
        if whose in ("", owner):
            if whose:
                self.store.remove_session(stored.session_id, removed=False)
            left = {turn.turn_id for turn in self.store.session(stored.session_id).turns}
            branch_of = {turn.turn_id: turn.branch_id for turn in stored.turns}
            deleted = sorted({branch_of[turn.turn_id] for turn in session.turns if turn.turn_id not in left})
            for branch_id in deleted:
                self.store.remove_branch(stored.session_id, branch_id, removed=False)
            if deleted:
                notes.append(f"{counted(len(deleted), 'deleted branch', 'deleted branches')} of it came back.")
        return Imported(stored.session_id, new=False, notes=tuple(notes))

    def _in_gallery(self, session: SearchSession) -> tuple[SearchSession, tuple[str, ...]]:
        """The session over the gallery of its name, or one with the same images under another name."""
        card, names = session.protocol, [info.name for info in self.pool.infos()]
        if session.gallery in names and self.pool.gallery(session.gallery).digest == card.gallery_digest:
            return session, ()
        other = next((name for name in names if self._digest_of(name) == card.gallery_digest), None)
        if other is not None:
            return replace(session, gallery=other), (
                f"The gallery {quoted(session.gallery)} of this session has the name {quoted(other)} here.",)
        if session.gallery not in names:
            raise GalleryError(
                f"The session is of the gallery {quoted(session.gallery)} ({card.gallery_size:,} images, digest "
                f"{card.gallery_digest}), which is missing here. Index its images first: cirque index FOLDER "
                f"--name {session.gallery}. Nothing was imported.")
        return session, (f"The gallery {quoted(session.gallery)} has other images here than where the session was "
                         "made: results are shown as they were, and cannot be continued.",)

    def _digest_of(self, name: str) -> str:
        try:
            return self.pool.gallery(name).digest
        except GalleryError:   # another one's fault does not count here
            return ""

    def _ranked(self, session: SearchSession) -> SearchSession:
        """With the target's ranks, which an export of an attempt that has not ended leaves out."""
        if session.target_id is None or session.target_live or session.target_revealed:
            return session
        searcher = self.pool.searcher(session.gallery)
        if searcher.gallery.digest != session.protocol.gallery_digest or session.target_id not in searcher.gallery:
            return session

        def ranked(turn: Turn) -> Turn:
            if turn.composition is None:
                return turn
            return replace(turn, target_rank=searcher.adjust(
                TurnResult.of(turn), session.method, Adjustment(), k=1, target_id=session.target_id).target_rank)

        return replace(session, turns=tuple(map(ranked, session.turns)))
