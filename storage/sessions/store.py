"""SQL store of search sessions."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from cachetools import LRUCache
from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Delete,
    Engine,
    Select,
    bindparam,
    delete,
    exists,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from cir_core.errors import SearchError, StorageError, UnknownSession
from cir_core.sessions.store import SessionSummary, has_words
from cir_core.sessions.tree import without_branches
from cir_core.settings import Settings
from cir_core.support.texts import can_be_stored, quoted
from cir_core.types.records import Branch, SearchSession, Thumb, Turn, new_id
from storage.checks import check_thumb, check_turn, clean_name
from storage.engine.database import reading, writing
from storage.engine.shared_writes import SharedWrites
from storage.mapping import tables
from storage.mapping.records import record_from
from storage.mapping.rows import session_from, session_values, summary_from, turn_from, turn_values
from storage.opening import open_home_database

_AT_ONCE = 500  # ids in one IN (…); databases limit the parameters of a statement
_TURNS_KEPT = 256


def _among(column: Any) -> ColumnElement[bool]:
    among: ColumnElement[bool] = column.in_(bindparam("ids", expanding=True))
    return among


# Statements of every search and of every event of its screen, built once: that takes as long as to run them.
_S, _B, _T, _UP = tables.sessions.c, tables.branches.c, tables.turns.c, tables.thumbs.c
_CHILD, _DEEPER = tables.turns.alias("child").c, tables.turns.alias("deeper").c
_OF_SESSION: BindParameter[str] = bindparam("session_id")
_SESSIONS = select(tables.sessions).where(_among(_S.session_id))
_BRANCHES = select(tables.branches).where(_among(_B.session_id)).order_by(_B.session_id, _B.number)
_TURNS = select(tables.turns).where(_among(_T.session_id)).order_by(_T.session_id, _T.seq)
_TURN_IDS = select(_T.turn_id).where(_among(_T.session_id)).order_by(_T.session_id, _T.seq)
_SOME_TURNS = select(tables.turns).where(_among(_T.turn_id))
_THUMBS = (select(tables.thumbs, _T.session_id).join(tables.turns, _T.turn_id == _UP.turn_id)
           .where(_among(_T.session_id))
           .order_by(_T.session_id, _UP.created_at, _UP.turn_id, _UP.image_id, _UP.person))
_LOCKED = select(_S.target_id).where(_S.session_id == _OF_SESSION).with_for_update()
_PARENT = select(
    _B.branch_id, _B.session_id, _B.number, _B.name, _B.removed_at, _T.number.label("depth"),
    (exists().where(_CHILD.parent_id == _T.turn_id)
     | exists().where(_DEEPER.branch_id == _T.branch_id, _DEEPER.number > _T.number)).label("goes_on"),
).join(tables.turns, _T.branch_id == _B.branch_id).where(_T.turn_id == bindparam("parent_id"))
_LAST_BRANCH = select(func.coalesce(func.max(_B.number), 0)).where(_B.session_id == _OF_SESSION)
_LAST_TURN = select(func.coalesce(func.max(_T.seq), 0)).where(_T.session_id == _OF_SESSION)
_ADD_SESSION, _ADD_BRANCH, _ADD_TURN = insert(tables.sessions), insert(tables.branches), insert(tables.turns)
_CONTINUED = update(tables.sessions).where(_S.session_id == bindparam("of_session")).values(
    updated_at=bindparam("at"), removed_at=None)

def open_store(settings: Settings) -> SqlSessionStore:
    """Session store of the configured database, migrated. Raises StorageError."""
    return SqlSessionStore(open_home_database(settings)[0])


class SqlSessionStore:
    """``cir_core.sessions.store.SessionStore`` over an engine of ``open_database``. Thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._turns = _Turns()
        self._writes = SharedWrites(engine)

    def close(self) -> None:
        self.engine.dispose()

    def create_session(self, session: SearchSession, owner: str = "") -> SearchSession:
        if session.branches or session.turns:
            raise ValueError("a new session has no turns; add them with add_turn")
        created_at = session.created_at or datetime.now(UTC)
        created = replace(session, title=clean_name(session.title), created_at=created_at)
        values = session_values(created, created_at) | {"owner": owner or None}
        self._writes.run(lambda connection: connection.execute(_ADD_SESSION, values))
        return created

    def add_session(self, session: SearchSession, owner: str = "") -> SearchSession:
        created_at = session.created_at or datetime.now(UTC)
        added = replace(session, title=clean_name(session.title), created_at=created_at,
                        branches=tuple(replace(one, name=clean_name(one.name)) for one in session.branches))
        updated_at = max((turn.created_at for turn in added.turns), default=created_at)
        for turn in added.turns:
            check_turn(turn)
        for thumb in added.thumbs:
            check_thumb(thumb)
        with writing(self.engine) as connection:
            connection.execute(insert(tables.sessions).values(
                session_values(added, created_at) | {"owner": owner or None, "updated_at": updated_at}))
            for branch in added.branches:
                connection.execute(insert(tables.branches).values(vars(branch)))
            for seq, turn in enumerate(added.turns, start=1):
                connection.execute(insert(tables.turns).values(turn_values(turn) | {"seq": seq}))
            for thumb in added.thumbs:
                connection.execute(insert(tables.thumbs).values(vars(thumb)))
        return added

    def add_turn(self, turn: Turn) -> Turn:
        check_turn(turn)
        values, session_id = turn_values(turn), turn.session_id   # before others are kept waiting

        def write(connection: Connection) -> tuple[str, int]:
            _lock(connection, session_id)
            branch, is_new, number = _place(connection, session_id, turn.parent_id)
            if is_new:
                connection.execute(_ADD_BRANCH, vars(branch))
            last: int = connection.execute(_LAST_TURN, {"session_id": session_id}).scalar_one()
            connection.execute(_ADD_TURN, values | {"branch_id": branch.branch_id, "number": number, "seq": last + 1})
            connection.execute(_CONTINUED, {"of_session": session_id, "at": turn.created_at})
            return branch.branch_id, number

        branch_id, number = self._writes.run(write)
        return replace(turn, branch_id=branch_id, number=number)

    def session(self, session_id: str, *, whole: bool = False) -> SearchSession:
        with reading(self.engine) as connection:
            return _load(connection, session_id, whole=whole, turns=self._turns)

    def owner_of(self, session_id: str) -> str:
        s = tables.sessions.c
        with reading(self.engine) as connection:
            row = connection.execute(select(s.owner).where(s.session_id == session_id)).first()
        if row is None:
            raise _unknown_session(session_id)
        return row.owner or ""

    def sessions(
        self, limit: int = 50, gallery: str | None = None, among: Collection[str] | None = None,
    ) -> Sequence[SessionSummary]:
        with reading(self.engine) as connection:
            return _summaries(connection, select_summaries(limit, gallery, among))

    def listed(
        self, owner: str, known: Collection[str], words: str = "", limit: int = 10,
    ) -> tuple[Sequence[SessionSummary], int]:
        with reading(self.engine) as connection:
            ids = _ids_listed(connection, owner, known)
            if words.strip():
                ids = _with_words(connection, ids, words)
            return _summaries(connection, select_summaries(limit, None, ids[:limit])), len(ids)

    def finished_target_sessions(self, session_ids: Sequence[str]) -> Sequence[SearchSession]:
        """In the order of ``session_ids``; ids that are unknown or not finished are left out."""
        with reading(self.engine) as connection:
            found = load_sessions(connection, session_ids, tables.sessions.c.target_revealed,
                                  tables.sessions.c.target_id.is_not(None), whole=True)
        wanted = (found.get(session_id) for session_id in dict.fromkeys(session_ids))
        return tuple(session for session in wanted if session is not None and session.turns)

    def name_branch(self, session_id: str, branch_id: str, name: str) -> SearchSession:
        with writing(self.engine) as connection:
            _lock(connection, session_id)
            b = tables.branches.c
            named = connection.execute(
                update(tables.branches).where(b.branch_id == branch_id, b.session_id == session_id)
                .values(name=clean_name(name)))
            if named.rowcount == 0:
                raise unknown_branch(branch_id)
            return _load(connection, session_id)

    def remove_branch(self, session_id: str, branch_id: str, removed: bool = True) -> SearchSession:
        with writing(self.engine) as connection:
            _lock(connection, session_id)
            b = tables.branches.c
            of_session = connection.execute(
                select(b.branch_id, b.removed_at).where(b.session_id == session_id)).all()
            if branch_id not in [row.branch_id for row in of_session]:
                raise unknown_branch(branch_id)
            if removed and not any(row.removed_at is None and row.branch_id != branch_id for row in of_session):
                raise only_branch()
            connection.execute(update(tables.branches).where(b.branch_id == branch_id)
                               .values(removed_at=datetime.now(UTC) if removed else None))
            return _load(connection, session_id)

    def remove_session(self, session_id: str, removed: bool = True) -> None:
        with writing(self.engine) as connection:
            _lock(connection, session_id)
            _update(connection, session_id, removed_at=datetime.now(UTC) if removed else None)

    def rename_session(self, session_id: str, title: str) -> SearchSession:
        return self._change(session_id, title=clean_name(title))

    def reveal_target(self, session_id: str) -> SearchSession:
        return self._change(session_id, needs_target=True, target_revealed=True, updated_at=datetime.now(UTC))

    def set_target_live(self, session_id: str, live: bool) -> SearchSession:
        return self._change(session_id, needs_target=True, target_live=live)

    def put_thumb(self, session_id: str, thumb: Thumb) -> None:
        check_thumb(thumb)
        with writing(self.engine) as connection:
            _lock(connection, session_id)   # so that those for one image come one after another
            t = tables.turns.c
            if connection.execute(select(t.turn_id).where(
                    t.turn_id == thumb.turn_id, t.session_id == session_id)).first() is None:
                raise UnknownSession("That turn is not part of this session. Reload the page.")
            connection.execute(_thumb(thumb.turn_id, thumb.image_id, thumb.person))
            connection.execute(insert(tables.thumbs).values(vars(thumb)))

    def drop_thumb(self, session_id: str, turn_id: str, image_id: str, person: str) -> None:
        if not can_be_stored(f"{turn_id}{image_id}{person}"):   # so there is none
            return
        with writing(self.engine) as connection:
            _lock(connection, session_id)
            of_session = select(tables.turns.c.turn_id).where(tables.turns.c.session_id == session_id)
            connection.execute(_thumb(turn_id, image_id, person).where(tables.thumbs.c.turn_id.in_(of_session)))

    def add_upload(self, upload_id: str, width: int, height: int, original_name: str) -> None:
        # Without a savepoint: a full disk rolls it back, and its loss would hide the cause.
        try:
            with writing(self.engine) as connection:
                connection.execute(insert(tables.uploads).values(
                    upload_id=upload_id, width=width, height=height,
                    original_name=clean_name(original_name), created_at=datetime.now(UTC)))
        except StorageError as error:
            if not isinstance(error.__cause__, IntegrityError):
                raise  # otherwise it is known already: the id is a hash of the content

    def _change(self, session_id: str, *, needs_target: bool = False, **values: Any) -> SearchSession:
        with writing(self.engine) as connection:
            target_id = _lock(connection, session_id)
            if needs_target and target_id is None:
                raise SearchError("This session has no target image. Start a new one in find-a-target mode.")
            _update(connection, session_id, **values)
            return _load(connection, session_id)


def _thumb(turn_id: str, image_id: str, person: str) -> Delete:
    t = tables.thumbs.c
    return delete(tables.thumbs).where(t.turn_id == turn_id, t.image_id == image_id, t.person == person)


def _lock(connection: Connection, session_id: str) -> str | None:
    """Lock the session for writing, and return its target. SQLite has locked the whole file already."""
    row = connection.execute(_LOCKED, {"session_id": session_id}).first()
    if row is None:
        raise _unknown_session(session_id)
    target_id: str | None = row.target_id
    return target_id


def _place(connection: Connection, session_id: str, parent_id: str | None) -> tuple[Branch, bool, int]:
    """Position of the next turn: its branch, whether the branch is new, its depth."""
    number = 1
    if parent_id is not None:
        parent = connection.execute(_PARENT, {"parent_id": parent_id}).first()
        if parent is None:
            raise UnknownSession(f"No turn {quoted(parent_id)} here. Reload the session and continue from one of its "
                                 "turns.")
        if parent.session_id != session_id:
            raise SearchError("That turn belongs to another session. Open its session to continue from it.")
        number = parent.depth + 1
        if not parent.goes_on and parent.removed_at is None:
            return record_from(Branch, parent), False, number
    highest = connection.execute(_LAST_BRANCH, {"session_id": session_id}).scalar_one()
    return Branch(new_id(), session_id, highest + 1, ""), True, number


def _update(connection: Connection, session_id: str, **values: Any) -> None:
    s = tables.sessions
    connection.execute(update(s).where(s.c.session_id == session_id).values(**values))


class _Turns:
    """Turns that were read last: they never change, and an event of the screen reads its session several times.
    Thread-safe."""

    def __init__(self) -> None:
        self._read: LRUCache[str, Turn] = LRUCache(_TURNS_KEPT)
        self._lock = threading.Lock()

    def of(self, connection: Connection, session_ids: Sequence[str]) -> list[Turn]:
        ids = list(connection.execute(_TURN_IDS, {"ids": session_ids}).scalars())
        with self._lock:
            found = {turn_id: self._read[turn_id] for turn_id in ids if turn_id in self._read}
        new = [turn_id for turn_id in ids if turn_id not in found]
        for start in range(0, len(new), _AT_ONCE):
            some = connection.execute(_SOME_TURNS, {"ids": new[start:start + _AT_ONCE]})
            found |= {row.turn_id: turn_from(row) for row in some}
        with self._lock:
            self._read.update((turn_id, found[turn_id]) for turn_id in new[-_TURNS_KEPT:] if turn_id in found)
        return [found[turn_id] for turn_id in ids if turn_id in found]


def _load(
    connection: Connection, session_id: str, *, whole: bool = False, turns: _Turns | None = None,
) -> SearchSession:
    found = load_sessions(connection, [session_id], whole=whole, known=turns)
    if session_id not in found:
        raise _unknown_session(session_id)
    return found[session_id]


def _unknown_session(session_id: str) -> UnknownSession:
    return UnknownSession(f"No search session {quoted(session_id)} here. Open one from the list, or start a new "
                          "one.")


def unknown_branch(branch_id: str) -> UnknownSession:
    return UnknownSession(f"No branch {quoted(branch_id)} in this session. Reload the page to see its branches.")


def only_branch() -> SearchError:
    return SearchError("This is the only branch of the session, so it cannot be deleted. Remove the session from “My "
                       "sessions” instead.")


def load_sessions(
    connection: Connection, session_ids: Sequence[str], *only: ColumnElement[bool], whole: bool = False,
    known: _Turns | None = None,
) -> dict[str, SearchSession]:
    """Sessions by id, with their turns; those that are unknown or do not match ``only`` are left out. ``whole``: with
    the branches that were deleted."""
    found: dict[str, SearchSession] = {}
    for start in range(0, len(session_ids), _AT_ONCE):
        wanted = session_ids[start:start + _AT_ONCE]
        rows = connection.execute(_SESSIONS.where(*only) if only else _SESSIONS, {"ids": wanted}).all()
        ids = [row.session_id for row in rows]
        if not ids:
            continue
        branches: dict[str, list[Branch]] = defaultdict(list)
        removed: set[str] = set()
        for row in connection.execute(_BRANCHES, {"ids": ids}):
            branches[row.session_id].append(record_from(Branch, row))
            if row.removed_at is not None and not whole:
                removed.add(row.branch_id)
        turns: dict[str, list[Turn]] = defaultdict(list)
        read = known.of(connection, ids) if known is not None else map(
            turn_from, connection.execute(_TURNS, {"ids": ids}))
        for turn in read:
            turns[turn.session_id].append(turn)
        thumbs: dict[str, list[Thumb]] = defaultdict(list)
        for row in connection.execute(_THUMBS, {"ids": ids}):
            thumbs[row.session_id].append(record_from(Thumb, row))
        found |= {row.session_id: without_branches(session_from(
            row, branches[row.session_id], turns[row.session_id], thumbs[row.session_id]), removed) for row in rows}
    return found


def _ids_listed(connection: Connection, owner: str, known: Collection[str]) -> list[str]:
    """Of a person's list, newest first."""
    s, t = tables.sessions.c, tables.turns.c
    mine = s.owner.is_(None) & s.session_id.in_(known)
    if owner:
        mine = mine | ((s.owner == owner) & s.removed_at.is_(None))
    query = select(s.session_id).where(
        mine, s.target_id.is_not(None) | exists().where(t.session_id == s.session_id),
    ).order_by(s.updated_at.desc(), s.session_id)
    return list(connection.execute(query).scalars())


def _with_words(connection: Connection, session_ids: Sequence[str], words: str) -> list[str]:
    """Those in which each of ``words`` occurs. Not by the database, which does not know capitals beyond ASCII."""
    s, t = tables.sessions.c, tables.turns.c
    texts: dict[str, list[str]] = defaultdict(list)
    for start in range(0, len(session_ids), _AT_ONCE):
        some = session_ids[start:start + _AT_ONCE]
        for row in connection.execute(select(s.session_id, s.title, s.gallery).where(s.session_id.in_(some))):
            texts[row.session_id] += [row.title, row.gallery]
        for turn in connection.execute(select(t.session_id, t.modification_text).where(t.session_id.in_(some))):
            texts[turn.session_id].append(turn.modification_text)
    return [one for one in session_ids if has_words(texts[one], words)]


def _summaries(connection: Connection, query: Select[Any]) -> tuple[SessionSummary, ...]:
    rows = connection.execute(query).all()
    changed = load_sessions(connection, [row.session_id for row in rows if row.removed_count])
    return tuple(_as_shown(summary_from(row), changed.get(row.session_id)) for row in rows)


def _as_shown(summary: SessionSummary, session: SearchSession | None) -> SessionSummary:
    """``summary``, of what is left of the session, where branches were deleted."""
    if session is None or session.latest is None:
        return summary
    return replace(summary, turns=len(session.turns), branches=len(session.branches),
                   first_reference_id=session.turns[0].reference_id, last_text=session.latest.modification_text)


def select_summaries(limit: int, gallery: str | None, among: Collection[str] | None = None) -> Select[Any]:
    """Session summaries, by latest turn first; ``among``: of those with these ids."""
    s, b, t = tables.sessions.c, tables.branches.c, tables.turns.c
    of_session = t.session_id == s.session_id
    query = select(
        s.session_id, s.gallery, s.title, s.target_id, s.target_revealed, s.created_at, s.updated_at,
        select(func.count()).where(of_session).scalar_subquery().label("turn_count"),
        select(func.count()).where(b.session_id == s.session_id).scalar_subquery().label("branch_count"),
        select(func.count(b.removed_at)).where(b.session_id == s.session_id).scalar_subquery().label("removed_count"),
        select(t.reference_id).where(of_session, t.seq == 1).scalar_subquery().label("first_reference_id"),
        select(t.modification_text).where(of_session).order_by(t.seq.desc()).limit(1)
        .scalar_subquery().label("last_text"),
    ).order_by(s.updated_at.desc(), s.session_id).limit(limit)
    if among is not None:
        query = query.where(s.session_id.in_(among))
    return query if gallery is None else query.where(s.gallery == gallery)


def remove_before(engine: Engine, before: datetime) -> Sequence[str]:
    """Delete sessions, comparisons, votes, uploads' rows and cached answers that are older than ``before``, in one
    transaction. Returns the ids of the sessions and comparisons."""
    removed: list[str] = []
    with writing(engine) as connection:
        old = select(tables.comparisons.c.comparison_id).where(tables.comparisons.c.created_at < before)
        connection.execute(delete(tables.method_votes).where(tables.method_votes.c.comparison_id.in_(old)))
        for table, key in ((tables.comparisons, "comparison_id"), (tables.sessions, "session_id")):
            gone = delete(table).where(table.c.created_at < before).returning(table.c[key])
            removed += connection.execute(gone).scalars()
        for table in (tables.uploads, tables.answers):
            connection.execute(delete(table).where(table.c.created_at < before))
    return removed
