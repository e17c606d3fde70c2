"""What any store of sessions does: run on the SQL store and on the one in a dict.

See tests/fakes/databases.py for how to run it on another database as well.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from cir_core.errors import SearchError, StorageError, UnknownSession
from cir_core.types.composition import Constraints, Usage
from cir_core.types.records import Hit, MethodSettings, Reflection, SoftFilter, Thumb
from storage.checks import NAME_LIMIT, clean_name
from storage.engine.database import reading
from storage.mapping import tables
from storage.sessions.store import SqlSessionStore, open_store, remove_before
from tests.fakes.databases import engine_of, settings_of
from tests.fakes.store import InMemorySessionStore
from tests.fakes.turns import a_composition, a_session, a_turn, same_composition


@pytest.fixture(params=["dict", "sql"])
def store(request, tmp_path):
    made = (InMemorySessionStore() if request.param == "dict"
            else SqlSessionStore(engine_of(tmp_path)))
    yield made
    made.close()


@pytest.fixture
def session(store):
    return store.create_session(a_session())


def add(store, session, parent=None, **changes):
    """Add a turn after the turn ``parent``."""
    return store.add_turn(a_turn(session.session_id, parent.turn_id if parent else None, **changes))


def test_a_session_comes_back_as_it_was_stored(store):
    stored = store.create_session(
        a_session(target_id="image-00003", target_live=True, title="Chairs 🪑 für Ödön"))
    assert stored.created_at is not None
    assert store.session(stored.session_id) == stored


def test_a_turn_comes_back_exactly_and_its_vector_bit_for_bit(store, session):
    vector = np.array([1e-45, -0.0, 0.1, np.nextafter(np.float32(1), np.float32(2)), -3e38], np.float32)
    hits = (Hit("b", 0.1 + 0.2, 1, (("text", 1 / 3), ("picked", -1e-300))),
            Hit("ü/☃.jpg", -0.0, 2), Hit("c", np.float32(0.7), 3, (("text", 0.7),)))
    turn = add(store, session, vector=vector, hits=hits, target_rank=np.int64(12), excluded_ids=("a", "ü"),
               modification_text="rouge 👩🏽‍🎨\n«très» 赤い\t\"'; DROP TABLE turns; --",
               notes=("é", "", "🎈"),
               created_at=datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=timezone(timedelta(hours=-9))))
    loaded = store.session(session.session_id).turns[0]
    assert loaded == turn
    assert loaded.vector.tobytes() == vector.tobytes() and loaded.vector.dtype == np.float32
    assert loaded.hits[1].parts == () and loaded.hits[2].parts == (("text", np.float32(0.7)),)
    assert loaded.created_at.utcoffset() is not None


def test_a_turn_is_read_once_and_what_changes_around_it_is_read_again(tmp_path):
    here, there = SqlSessionStore(engine_of(tmp_path)), SqlSessionStore(engine_of(tmp_path))
    session = here.create_session(a_session())
    first = add(here, session)
    once = here.session(session.session_id)
    second = add(there, session, first)    # by another process
    there.put_thumb(session.session_id, Thumb(first.turn_id, "a", "Ann", True, first.created_at))
    there.name_branch(session.session_id, first.branch_id, "dark ones")
    again = here.session(session.session_id)
    assert again.turns[0] is once.turns[0] and again.turns == (first, second)
    assert [one.person for one in again.thumbs] == ["Ann"] and again.branches[0].name == "dark ones"
    assert again == there.session(session.session_id, whole=True)
    for store in (here, there):
        store.close()


def test_a_composition_comes_back_with_its_turn(store, session):
    composition = a_composition(usage=Usage(models=("small/1",)))  # no price is set
    first = add(store, session, composition=composition)
    add(store, session, first, composition=a_composition(seed=1, rounds=(), constraints=None, soft_filter=None))
    add(store, session)
    turns = store.session(session.session_id).turns
    assert turns[0] == first
    assert same_composition(turns[0].composition, composition) and turns[0].composition.usage.cost is None
    assert same_composition(turns[1].composition,
                            a_composition(seed=1, rounds=(), constraints=None, soft_filter=None))
    assert turns[2].composition is None


def test_the_method_of_a_session_comes_back_with_its_stages(store):
    method = MethodSettings(
        base="slerp", text_weight=0.3, history="weighted", decay=0.9,
        reflection=Reflection(3, 4, 0, "linear", 0.1 + 0.2, True), soft_filter=SoftFilter(0.5, "reward"))
    card = replace(a_session().protocol, method=method, captions="ab" * 8)
    session = store.create_session(a_session(method=method, protocol=card))
    loaded = store.session(session.session_id)
    assert loaded.method == loaded.protocol.method == method
    assert type(loaded.method.reflection) is Reflection and type(loaded.method.soft_filter) is SoftFilter
    assert loaded.protocol == card


def test_a_turn_without_hits(store, session):
    turn = add(store, session, n_hits=0)
    assert store.session(session.session_id).turns == (turn,)


def test_a_turn_on_a_tip_continues_its_branch(store, session):
    first = add(store, session)
    second = add(store, session, first)
    third = add(store, session, second)
    loaded = store.session(session.session_id)
    assert [branch.number for branch in loaded.branches] == [1]
    assert [turn.number for turn in loaded.turns] == [1, 2, 3]
    assert loaded.path_to(third.turn_id) == (first, second, third)
    assert loaded.tip_of(loaded.branches[0].branch_id) == third


def test_a_turn_elsewhere_opens_a_branch(store, session):
    first = add(store, session)
    second = add(store, session, first)
    aside = add(store, session, first)          # first is no tip any more
    again = add(store, session, first)          # and a third child
    on_aside = add(store, session, aside)       # continues branch 2
    new_root = add(store, session)              # a start from another image
    loaded = store.session(session.session_id)
    number_of = {branch.branch_id: branch.number for branch in loaded.branches}
    assert loaded.turns == (first, second, aside, again, on_aside, new_root)
    assert [(number_of[turn.branch_id], turn.number) for turn in loaded.turns] == [
        (1, 1), (1, 2), (2, 2), (3, 2), (2, 3), (4, 1)]
    assert loaded.latest == new_root
    assert loaded.path_to(on_aside.turn_id) == (first, aside, on_aside)


def test_a_turn_that_fails_leaves_nothing_behind(store, session):
    first = add(store, session)
    before = store.session(session.session_id)

    with pytest.raises(StorageError):  # the id is taken, found out after the branch was written
        add(store, session, turn_id=first.turn_id)
    assert store.session(session.session_id) == before


def test_the_store_decides_a_turns_place(store, session):
    turn = add(store, session, number=7, branch_id="elsewhere")
    [branch] = store.session(session.session_id).branches
    assert (turn.branch_id, turn.number) == (branch.branch_id, 1) and store.session(session.session_id).turns == (turn,)


def test_a_turn_with_other_types_is_a_defect(store, session):
    for changes in ({"vector": np.zeros(3)}, {"created_at": datetime(2026, 1, 1)},
                    {"composition": a_composition(base=np.zeros(64))}):
        with pytest.raises(ValueError):
            add(store, session, **changes)
    assert store.session(session.session_id).turns == ()


@pytest.mark.parametrize("text", ["nul \0 byte", "half an emoji \ud83d"])
def test_text_that_cannot_be_stored_is_refused(store, session, text):
    with pytest.raises(SearchError, match="cannot be stored"):
        add(store, session, modification_text=text)
    with pytest.raises(SearchError, match="cannot be stored"):
        add(store, session, composition=a_composition(constraints=Constraints(add=(text,))))
    assert store.session(session.session_id).turns == ()


def test_unknown_ids_say_what_to_do(store, session):
    turn = add(store, session)
    other = store.create_session(a_session())
    for call in (
        lambda: store.session("nowhere"),
        lambda: store.add_turn(a_turn("nowhere", None)),
        lambda: store.add_turn(a_turn(session.session_id, "nowhere")),
        lambda: store.name_branch("nowhere", turn.branch_id, "x"),
        lambda: store.name_branch(session.session_id, "nowhere", "x"),
        lambda: store.name_branch(other.session_id, turn.branch_id, "x"),
        lambda: store.rename_session("nowhere", "x"),
        lambda: store.reveal_target("nowhere"),
        lambda: store.set_target_live("nowhere", True),
    ):
        with pytest.raises(UnknownSession, match=r"."):
            call()
    with pytest.raises(SearchError, match="another session") as refused:
        store.add_turn(a_turn(other.session_id, turn.turn_id))
    assert not isinstance(refused.value, UnknownSession)


def test_a_session_is_stored_once(store, session):
    with pytest.raises(StorageError):
        store.create_session(replace(session, title="again"))
    assert store.session(session.session_id).title == ""


def test_names_are_cleaned(store, session):
    turn = add(store, session)
    renamed = store.rename_session(session.session_id, "  red\x00 \n\u202echairs\x1b[0m ")
    assert renamed.title == "red chairs[0m"
    named = store.name_branch(session.session_id, turn.branch_id, "x" * 200)
    assert named.branches[0].name == "x" * NAME_LIMIT
    assert store.session(session.session_id) == named
    assert store.create_session(a_session(title=" a\tb ")).title == "a b"


@given(st.text())
def test_clean_names_stay_as_they_are(text):
    cleaned = clean_name(text)
    assert len(cleaned) <= NAME_LIMIT and clean_name(cleaned) == cleaned
    cleaned.encode()  # no half characters


def test_the_target(store):
    session = store.create_session(a_session(target_id="image-00003"))
    assert store.set_target_live(session.session_id, True).target_live
    assert store.reveal_target(session.session_id).target_revealed
    assert store.reveal_target(session.session_id) == store.session(session.session_id)
    without = store.create_session(a_session())
    for change in (store.reveal_target, lambda i: store.set_target_live(i, True)):
        with pytest.raises(SearchError, match="no target"):
            change(without.session_id)


def test_finished_sessions_have_a_revealed_target_and_a_turn(store):
    finished, hidden, empty, plain = (
        store.create_session(a_session(target_id=target)) for target in ("t", "t", "t", None))
    for session in (finished, hidden, plain):
        add(store, session)
    for session in (finished, empty):
        store.reveal_target(session.session_id)
    second = store.create_session(a_session(target_id="u"))
    add(store, second)
    store.reveal_target(second.session_id)
    asked = [second.session_id, hidden.session_id, empty.session_id, "nowhere", plain.session_id,
             finished.session_id, second.session_id]
    found = store.finished_target_sessions(asked)
    assert found == (store.session(second.session_id), store.session(finished.session_id))
    assert store.finished_target_sessions([]) == ()
    assert store.finished_target_sessions([f"unknown-{i}" for i in range(1200)] + asked) == found


def test_the_list_is_newest_first(store):
    noon = datetime(2026, 5, 1, 12, tzinfo=UTC)
    old = store.create_session(a_session(title="old", created_at=noon))
    new = store.create_session(a_session(title="new", created_at=noon + timedelta(hours=1), target_id="t"))
    store.create_session(a_session(gallery="other", created_at=noon - timedelta(hours=1)))
    assert [s.title for s in store.sessions(gallery="atelier")] == ["new", "old"]
    first = add(store, old, reference_id="r1", modification_text="one", created_at=noon + timedelta(hours=2))
    add(store, old, modification_text="two", created_at=noon + timedelta(hours=3))
    store.rename_session(new.session_id, "renamed")
    summary, second = store.sessions(gallery="atelier")
    assert (summary.session_id, summary.turns, summary.branches) == (old.session_id, 2, 2)
    assert (summary.first_reference_id, summary.last_text) == (first.reference_id, "two")
    assert (summary.created_at, summary.updated_at) == (noon, noon + timedelta(hours=3))
    assert (second.title, second.turns, second.first_reference_id) == ("renamed", 0, None)
    assert second.last_text == ""
    assert second.has_target and not second.target_revealed and not summary.has_target
    assert len(store.sessions()) == 3 and len(store.sessions(limit=1)) == 1
    assert store.sessions(gallery="none") == ()


NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


def thumb(turn, image="image-00000", person="Ann", up=True, minute=0):
    return Thumb(turn.turn_id, image, person, up, NOON + timedelta(minutes=minute))


def test_a_person_has_one_thumb_for_an_image_of_a_turn(store, session):
    first = add(store, session)
    second = add(store, session, first)
    kept = [thumb(first, person="Bo", up=False, minute=1), thumb(first, "ü/☃ 50%.jpg", minute=2),
            thumb(second, minute=3), thumb(first, up=False, minute=4)]
    for one in (thumb(first), *kept):   # the last one in place of the first
        store.put_thumb(session.session_id, one)
    assert store.session(session.session_id).thumbs == tuple(kept)
    assert store.session(session.session_id).thumbs_of(second.turn_id) == (kept[2],)
    store.drop_thumb(session.session_id, first.turn_id, "image-00000", "Ann")
    store.drop_thumb(session.session_id, first.turn_id, "image-00000", "Ann")    # there is none any more
    store.drop_thumb(session.session_id, first.turn_id, "image-00000", "Zoe\0")
    assert store.session(session.session_id).thumbs == tuple(kept[:3])
    assert store.session(session.session_id).turns == (first, second), "a turn never changes"


def test_thumbs_do_not_count_as_a_change_of_the_session(store, session):
    turn = add(store, session)
    before = store.sessions()
    store.put_thumb(session.session_id, thumb(turn))
    assert store.sessions() == before


def test_a_thumb_is_for_a_turn_of_its_session(store, session):
    turn = add(store, session)
    other = store.create_session(a_session())
    for session_id, one in ((other.session_id, thumb(turn)), ("nowhere", thumb(turn)),
                            (session.session_id, replace(thumb(turn), turn_id="nowhere"))):
        with pytest.raises(UnknownSession):
            store.put_thumb(session_id, one)
    with pytest.raises(SearchError, match="cannot be stored"):
        store.put_thumb(session.session_id, thumb(turn, person="An\0n"))
    with pytest.raises(ValueError, match="time zone"):
        store.put_thumb(session.session_id, replace(thumb(turn), created_at=datetime(2026, 1, 2)))
    store.put_thumb(session.session_id, thumb(turn))
    store.drop_thumb(other.session_id, turn.turn_id, "image-00000", "Ann")
    assert store.session(session.session_id).thumbs == (thumb(turn),) and not store.session(other.session_id).thumbs


def test_thumbs_go_with_their_session(tmp_path):
    store = SqlSessionStore(engine_of(tmp_path))
    session = store.create_session(a_session(created_at=NOON))
    store.put_thumb(session.session_id, thumb(add(store, session)))
    remove_before(store.engine, NOON + timedelta(days=1))
    with reading(store.engine) as connection:
        assert connection.execute(select(tables.thumbs)).all() == []
    store.close()


def test_an_upload_is_remembered_once(store):
    for _ in range(2):
        store.add_upload("upload:" + "0" * 32, 640, 480, "my chair.jpg")


def test_eight_threads_at_the_same_session(store, session):
    root = add(store, session)

    def work(_):
        parent, made = root, []
        for _ in range(25):
            parent = add(store, session, parent)
            made.append(parent.turn_id)
        return made

    with ThreadPoolExecutor(8) as threads:
        acknowledged = [turn_id for made in threads.map(work, range(8)) for turn_id in made]
    loaded = store.session(session.session_id)
    assert sorted(turn.turn_id for turn in loaded.turns) == sorted([root.turn_id, *acknowledged])
    assert [branch.number for branch in loaded.branches] == list(range(1, 9))
    for branch in loaded.branches:  # eight lines from the one root, none with a gap
        line = [turn for turn in loaded.turns if turn.branch_id == branch.branch_id]
        start = 1 if branch.number == 1 else 2
        assert [turn.number for turn in line] == list(range(start, 27))
        assert all(b.parent_id == a.turn_id for a, b in pairwise(line))


def test_the_order_of_turns_is_kept_in_rows(tmp_path):
    store = SqlSessionStore(engine_of(tmp_path))
    session = store.create_session(a_session())
    made = [add(store, session) for _ in range(5)]
    store.add_upload("upload:1", 2, 3, "a\nb")
    with reading(store.engine) as connection:
        t = tables.turns.c
        rows = connection.execute(select(t.turn_id, t.seq).order_by(t.seq)).all()
        assert [tuple(row) for row in rows] == [(turn.turn_id, i + 1) for i, turn in enumerate(made)]
        upload = connection.execute(select(tables.uploads)).one()
    assert (upload.width, upload.height, upload.original_name) == (2, 3, "a b")
    store.close()


def test_open_store_makes_and_reopens_the_database(tmp_path):
    settings = settings_of(tmp_path / "deep" / "home")
    store = open_store(settings)
    session = store.create_session(a_session())
    store.close()
    again = open_store(settings)
    assert again.session(session.session_id) == session
    again.close()


def a_tree(store, session):
    """Branch 1: 1-2-3-4, branch 2: 3b from turn 2, branch 3: 5c from a 4c from turn 3."""
    one = add(store, session)
    two = add(store, session, one)
    three = add(store, session, two)
    four = add(store, session, three)
    other = add(store, session, two, modification_text="ÄRMEL lang")
    fork = add(store, session, three)
    return one, two, three, four, other, fork


def shown(session):
    return [(turn.number, next(b.number for b in session.branches if b.branch_id == turn.branch_id))
            for turn in session.turns]


def test_a_deleted_branch_takes_only_its_own_turns_and_comes_back(store, session):
    *_, four, other, fork = a_tree(store, session)
    before = store.session(session.session_id)
    assert [branch.number for branch in before.branches] == [1, 2, 3]
    left = store.remove_branch(session.session_id, other.branch_id)
    assert [branch.number for branch in left.branches] == [1, 3] and left.turn(other.turn_id) is None
    assert len(left.turns) == 5 and left == store.session(session.session_id)
    left = store.remove_branch(session.session_id, four.branch_id)   # the first: branch 3 goes through 1, 2 and 3
    assert shown(left) == [(1, 3), (2, 3), (3, 3), (4, 3)]
    assert left.tip_of(fork.branch_id).turn_id == fork.turn_id == left.latest.turn_id
    for branch_id in (fork.branch_id, four.branch_id):
        if branch_id == fork.branch_id:
            with pytest.raises(SearchError, match="only branch"):
                store.remove_branch(session.session_id, branch_id)
    assert store.session(session.session_id, whole=True) == before
    store.remove_branch(session.session_id, four.branch_id, removed=False)
    assert store.remove_branch(session.session_id, other.branch_id, removed=False) == before


def test_turns_that_two_branches_go_through_are_those_of_the_first(store, session):
    _, _, _, four, _, _ = a_tree(store, session)
    left = store.remove_branch(session.session_id, four.branch_id)
    assert shown(left) == [(1, 2), (2, 2), (3, 3), (3, 2), (4, 3)]


def test_a_deleted_branch_is_not_continued_and_its_number_not_given_again(store, session):
    one, two, _, _, other, _ = a_tree(store, session)
    store.remove_branch(session.session_id, other.branch_id)
    later = add(store, session, other)                       # from a tab that still shows it
    found = store.session(session.session_id)
    assert [branch.number for branch in found.branches] == [1, 3, 4]
    assert [turn.turn_id for turn in found.path_to(later.turn_id)] == [
        turn.turn_id for turn in (one, two, other, later)]


@pytest.mark.parametrize("removed", [True, False])
def test_no_branch_of_another_session_is_deleted(store, session, removed):
    other = store.create_session(a_session())
    turn = add(store, other)
    add(store, session)
    for branch_id in (turn.branch_id, "none"):
        with pytest.raises(UnknownSession, match="No branch"):
            store.remove_branch(session.session_id, branch_id, removed)


def test_a_list_shows_what_is_left_of_a_session(store, session):
    *_, fork = a_tree(store, session)
    store.remove_branch(session.session_id, fork.branch_id)
    [row] = store.sessions()
    assert (row.turns, row.branches, row.last_text) == (5, 2, "ÄRMEL lang")


def test_evaluations_read_all_of_a_session(store):
    session = store.create_session(a_session(target_id="image-00003"), owner="Ann")
    *_, other, _ = a_tree(store, session)
    store.reveal_target(session.session_id)
    before = store.finished_target_sessions([session.session_id])
    store.remove_branch(session.session_id, other.branch_id)
    store.remove_session(session.session_id)
    assert store.finished_target_sessions([session.session_id]) == before and len(before[0].turns) == 6
    assert [row.session_id for row in store.sessions()] == [session.session_id]
    assert store.session(session.session_id).turns            # its link still opens it


def of_list(store, *asked):
    rows, count = store.listed(*asked)
    assert len(rows) <= count
    return [row.session_id for row in rows], count


def test_a_person_s_list(store):
    ids = {}
    for name, owner in (("ann", "Ann"), ("bob", "Bob"), ("nobody", ""), ("stranger", "")):
        ids[name] = store.create_session(a_session(title=name), owner=owner).session_id
        add(store, store.session(ids[name]))
    store.create_session(a_session(), owner="Ann")            # nothing was searched in it
    target = store.create_session(a_session(target_id="image-00001"), owner="Ann").session_id
    known = [ids["nobody"], ids["bob"], "unknown"]
    assert of_list(store, "Ann", known) == ([target, ids["nobody"], ids["ann"]], 3)
    assert of_list(store, "", known) == ([ids["nobody"]], 1)
    assert of_list(store, "", []) == ([], 0)
    assert of_list(store, "Ann", known, "", 2) == ([target, ids["nobody"]], 3)
    assert [store.owner_of(ids[one]) for one in ("ann", "nobody")] == ["Ann", ""]


def test_what_was_removed_leaves_its_owner_s_list_until_it_is_searched_in(store):
    session = store.create_session(a_session(), owner="Ann")
    turn = add(store, session)
    store.remove_session(session.session_id)
    assert of_list(store, "Ann", [session.session_id]) == ([], 0)
    store.remove_session(session.session_id, removed=False)
    assert of_list(store, "Ann", []) == ([session.session_id], 1)
    store.remove_session(session.session_id)
    add(store, session, turn)
    assert of_list(store, "Ann", []) == ([session.session_id], 1)


@pytest.mark.parametrize(("words", "found"), [
    ("", True), ("   ", True), ("ärmel", True), ("ÄRMEL LANG", True), ("lang mine", True), ("ATELIER", True),
    ("100%", True), ("%", True), ("_", False), ("kurz", False), ("lang kurz", False), ("'", False), ("\0", False),
])
def test_a_list_is_searched_by_words(store, words, found):
    session = store.create_session(a_session(title="Mine, 100%"), owner="Ann")
    one = add(store, session, modification_text="Ärmel")
    add(store, session, one, modification_text="lang")
    assert of_list(store, "Ann", [], words) == (([session.session_id], 1) if found else ([], 0))


@pytest.mark.parametrize("change", [
    lambda store: store.owner_of("none"), lambda store: store.remove_session("none"),
    lambda store: store.remove_branch("none", "b"), lambda store: store.session("none", whole=True),
])
def test_what_is_not_there_is_not_removed(store, change):
    with pytest.raises(UnknownSession, match="No search session"):
        change(store)
