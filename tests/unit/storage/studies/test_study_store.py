"""The store of studies: seats, desks, answers that are kept once, work that is handed on.

See tests/fakes/databases.py for how to run it on another database as well.
"""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import event, text
from sqlalchemy.dialects import postgresql

from annotation.records import PlannedAssignment, Reassignment, Released, Seat, StudyPlan
from cir_core.errors import NotJoined, StorageError, StudyClosed, StudyError, UnknownItem, UnknownStudy, UsedToken
from storage.engine.database import reading, writing
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import engine_of, open_migrated, sqlite_of
from tests.fakes.patience import wait_for
from tests.fakes.study_records import (
    FLAGGED,
    IMAGES,
    ITEMS,
    PLACES,
    START,
    STUDY,
    VALID,
    a_decision,
    a_draft,
    a_judgement,
    later,
    take_all,
    take_nothing,
)


@pytest.fixture
def store(tmp_path):
    yield from a_store(engine_of(tmp_path))


@pytest.fixture
def store_in_a_file(tmp_path):
    yield from a_store(open_migrated(sqlite_of(tmp_path)))


def a_store(engine):
    store = SqlStudyStore(engine)
    store.create(STUDY, ITEMS, IMAGES, PLACES)
    yield store
    engine.dispose()


def join(store, *names, at=START, policy=take_nothing):
    return [store.join("s1", name, at, policy).number for name in names]


def save(store, item_id, annotator, token, answer=None, *, unsure=False, seen=None, minutes=0):
    return store.save(a_judgement(item_id, annotator, token, answer, minutes), unsure=unsure, seen_revision=seen)


def states(store, annotator):
    return [(one.item_id, one.state) for one in store.overview("s1", annotator)]


def counters_agree(store):
    """The counters of the seats are those of their assignments."""
    with reading(store.engine) as connection:
        kept = connection.execute(text("SELECT number, total, done, unsure FROM study_seats")).all()
    for number, total, done, unsure in kept:
        found = Counter(one.state for one in store.assignments("s1") if one.seat == number)
        assert (total, done, unsure) == (
            found.total() - found["handed_on"], found["done"] + found["unsure"], found["unsure"])
    return True


# --- making and reading -------------------------------------------------------------------


def test_a_study_comes_back_as_it_was_stored(store):
    assert store.study("s1") == store.study("DOGS & FRÄCKE 🐕 ") == STUDY
    assert store.study("dogs & fra\u0308cke 🐕") == STUDY  # the accent typed as a character of its own
    assert (store.studies(), store.items("s1")) == ((STUDY,), ITEMS)
    assert store.images("s1") == {image.token: image for image in IMAGES}
    assert store.seats("s1") == (Seat("s1", 1, None, None, None), Seat("s1", 2, None, None, None))
    assert [(one.item_id, one.seat, one.position) for one in store.assignments("s1")] == [
        (place.item_id, place.seat, place.position) for place in PLACES]
    assert {one.state for one in store.assignments("s1")} == {"open"}
    assert store.counts("s1") == {
        "items": 4, "assignments": 5, "done": 0, "unsure": 0, "people": 0, "decisions": 0}


def test_the_latest_study_first(store):
    store.create(replace(STUDY, study_id="s2", name="s1", created_at=later(1)), [], [], [])
    assert [study.study_id for study in store.studies()] == ["s2", "s1"]
    assert store.study("s1").study_id == "s1"  # an id goes before a name


def test_a_name_that_is_taken_changes_nothing(store):
    with pytest.raises(StudyError, match=r"'DOGS & Fräcke 🐕' is already taken. Choose another name"):
        store.create(replace(STUDY, study_id="s2", name="DOGS & Fräcke 🐕"), [], [], [])
    assert store.studies() == (STUDY,)


def test_all_or_nothing(store):
    other = replace(STUDY, study_id="s2", name="other")
    twice = [replace(item, study_id="s2", item_id="same") for item in ITEMS[:2]]
    with pytest.raises(StorageError):
        store.create(other, twice, [], [])
    with pytest.raises(UnknownStudy, match=r"No study 'other' here. Choose one from the list"):
        store.study("other")


def test_texts_that_cannot_be_stored(store):
    with pytest.raises(StudyError, match="cannot be stored"):
        store.create(replace(STUDY, study_id="s2", name="other", source={"file": ["\ud83d"]}), [], [], [])
    join(store, "Ann")
    for note in ("\0", "half \ud83d"):
        with pytest.raises(StudyError, match="cannot be stored"):
            save(store, "i0", "Ann", "t", {"note": note})
        with pytest.raises(StudyError, match="cannot be stored"):
            store.save_draft("s1", a_draft("i0", "Ann", note))
    save(store, "i0", "Ann", "t", {"note": "مرحبا \u200f 👩‍🔬 \\u0000"})
    assert store.judgements("s1")[0].answer["note"] == "مرحبا \u200f 👩‍🔬 \\u0000"


def test_an_imported_study_is_stored_as_answered(store):
    study = replace(STUDY, study_id="s2", name="imported", plan=StudyPlan(2, 1, 0, 0), accepting=False)
    items = [replace(item, study_id="s2", item_id=f"x{item.number}") for item in ITEMS]
    seats = [Seat("s2", 1, "ann", START, START), Seat("s2", 2, "Bo", START, None)]
    given = [
        replace(a_judgement("x0", "ann", "a", revision=1, extra={"id": 5}), study_id="s2"),
        replace(a_judgement("x0", "ann", "b", FLAGGED, revision=2), study_id="s2"),
        replace(a_judgement("x1", "BO", "c", {"unsure": True}, revision=1), study_id="s2"),
    ]
    store.create(study, items, [], [PlannedAssignment("x0", 1, 0), PlannedAssignment("x1", 1, 1)], seats=seats,
                 judgements=given)
    # x1 was planned for ann, who did not answer it; Bo answered it without a place in the plan.
    assert [(one.item_id, one.seat, one.position, one.state, one.annotator) for one in store.assignments("s2")] == [
        ("x0", 1, 0, "done", "ann"), ("x1", 1, 1, "open", "ann"), ("x1", 2, 0, "unsure", "Bo")]
    assert store.judgements("s2") == (given[1], replace(given[2], annotator="Bo"))
    assert store.judgements("s2", history=True)[0] == given[0]
    assert store.counts("s2") == {
        "items": 4, "assignments": 3, "done": 2, "unsure": 1, "people": 2, "decisions": 0}
    assert store.workspace("s2", "Ann").item.item_id == "x1"
    with pytest.raises(StudyClosed, match="imported takes no more answers"):
        store.save(replace(a_judgement("x1", "ann", "d"), study_id="s2"), unsure=False)
    with pytest.raises(ValueError, match="no seat"):
        store.create(replace(study, study_id="s3", name="third"), items, [], [], judgements=given)


def test_ids_that_are_not_there(store):
    join(store, "Ann", "Bo")
    for call in (store.items, store.images, store.seats, store.assignments, store.judgements, store.decisions,
                 store.counts, lambda s: store.join(s, "Cy", START, take_all), lambda s: store.workspace(s, "Ann"),
                 lambda s: store.take_more(s, "Ann", START, take_all), lambda s: store.release(s, "Ann"),
                 lambda s: store.set_accepting(s, False), lambda s: store.overview(s, "Ann"),
                 lambda s: store.save(replace(a_judgement("i0", "Ann", "t"), study_id=s), unsure=False)):
        with pytest.raises(UnknownStudy):
            call("nowhere")
    not_yours = r"That item is not one of yours in Dogs & Fräcke 🐕. Reload the page."
    for item_id in ("forged", "i1"):  # i1 is Bo's
        with pytest.raises(UnknownItem, match=not_yours):
            save(store, item_id, "Ann", "t")
        with pytest.raises(UnknownItem, match=not_yours):
            store.workspace("s1", "Ann", item_id=item_id)
        with pytest.raises(UnknownItem, match=not_yours):
            store.workspace("s1", "Ann", after=item_id)
        with pytest.raises(UnknownItem, match=not_yours):
            store.save_draft("s1", a_draft(item_id, "Ann"))
    with pytest.raises(UnknownItem, match=not_yours):
        store.workspace("s1", "Ann", position=3)
    for call in (lambda: store.workspace("s1", "Eve"), lambda: save(store, "i0", "Eve", "t"),
                 lambda: store.overview("s1", "Eve"), lambda: store.drop_draft("s1", "i0", "Eve")):
        with pytest.raises(UnknownItem, match="You have no items in"):
            call()
    with pytest.raises(StudyError, match="Eve has no seat"):
        store.release("s1", "Eve")
    assert store.judgements("s1") == store.item_judgements("s1", "forged") == ()


def test_names_that_are_none(store):
    for name in ("", " ", "\0", "\ud83d"):
        with pytest.raises(UnknownStudy):
            store.study(name)
        with pytest.raises(UnknownItem):
            store.workspace("s1", name)
        with pytest.raises(StudyError):
            join(store, name)
        with pytest.raises(StudyError):
            store.create(replace(STUDY, study_id="s2", name=name), [], [], [])


# --- seats --------------------------------------------------------------------------------


def test_people_take_the_lowest_free_seat_and_keep_it(store):
    assert join(store, "Ann", "Bo", "ANN ", "bo") == [1, 2, 1, 2]
    assert store.seats("s1") == (Seat("s1", 1, "Ann", START, START), Seat("s1", 2, "Bo", START, START))


def test_a_late_person_gets_what_the_policy_gives(store):
    join(store, "Ann", at=later(-60))
    join(store, "Bo")
    assert join(store, "Cy", policy=take_all) == [3]
    # Ann was last seen before START: her i0 and i2 go on, the block's i3 stays hers and is Cy's too.
    assert states(store, "Ann") == [("i0", "handed_on"), ("i3", "open"), ("i2", "handed_on")]
    assert states(store, "Cy") == [("i3", "open"), ("i0", "open"), ("i2", "open")]
    assert states(store, "Bo") == [("i3", "open"), ("i1", "open")]
    assert store.counts("s1")["assignments"] == 6 and counters_agree(store)


def test_what_the_policy_sees(store):
    seen = []
    join(store, "Ann", "Bo")
    save(store, "i0", "Ann", "t", minutes=3)
    save(store, "i3", "Bo", "t")
    store.release("s1", "Bo")
    join(store, "Cy", at=later(5), policy=lambda work: seen.append(work) or [])
    work, = seen
    assert (work.study, work.seat, work.now, work.mine, work.block) == (STUDY, 3, later(5), frozenset(), ("i3",))
    assert [(one.item_id, one.seat, one.annotator) for one in work.open] == [("i2", 1, "Ann"), ("i1", 2, "Bo")]
    assert [(seat.annotator, seat.seen_at) for seat in work.seats if seat.annotator != "Bo"] == [
        ("Ann", later(3)), ("Cy", later(5))]
    assert work.seats[1].seen_at.year == 1970  # whose work was released has been away for very long
    assert store.seats("s1")[1].seen_at == START


@pytest.mark.parametrize("taken", [
    [Reassignment("i0", 0, 1), Reassignment("i0", 1, 1)],  # twice
    [Reassignment("i0", 0, 2)],                     # not open there
    [Reassignment("i1", 0, None)],                  # not of the block
    [Reassignment("i3", 0, 1)],                     # of the block, which is nobody's to give
])
def test_a_policy_that_would_break_the_plan_is_a_defect(store, taken):
    join(store, "Ann", "Bo")
    with pytest.raises(ValueError, match="seat 3 was to get"):
        join(store, "Cy", policy=lambda work: taken)
    assert len(store.seats("s1")) == 2 and len(store.assignments("s1")) == 5


def test_a_late_answer_to_what_was_handed_on_is_kept(store):
    join(store, "Ann", at=later(-60))
    join(store, "Bo")
    join(store, "Cy", policy=take_all)
    save(store, "i3", "Ann", "t3")
    workspace = store.workspace("s1", "Ann")  # what was handed on is neither offered nor counted
    assert (workspace.item, workspace.total, workspace.done) == (None, 1, 1)
    assert not save(store, "i0", "Ann", "t0").repeated
    save(store, "i0", "Cy", "t0", FLAGGED)
    assert [(one.annotator, one.answer) for one in store.item_judgements("s1", "i0")] == [
        ("Ann", VALID), ("Cy", FLAGGED)]
    assert (store.workspace("s1", "Ann").total, store.workspace("s1", "Ann").done) == (2, 2) and counters_agree(store)


def test_more_for_those_who_are_done(store):
    join(store, "Ann", "Bo")
    assert store.take_more("s1", "Ann", START, take_all) == 0  # has open work
    save(store, "i3", "Bo", "t1")
    save(store, "i1", "Bo", "t2")
    assert store.take_more("s1", "Bo", START, take_all) == 0  # nothing to give: Ann is at work
    save(store, "i0", "Ann", "t")
    assert store.release("s1", "Ann") == Released(1, 1, freed=False)
    assert store.take_more("s1", "bo", START, take_all) == 1
    assert store.take_more("s1", "Bo", START, take_all) == 0  # a second press
    assert states(store, "Bo") == [("i3", "done"), ("i1", "done"), ("i2", "open")]
    assert states(store, "Ann") == [("i0", "done"), ("i3", "handed_on"), ("i2", "handed_on")]
    assert counters_agree(store)


# --- work that is released ----------------------------------------------------------------


def test_a_release_counts_what_moves_and_waits_for_no_block(store):
    """Of Ann's i0, i3 and i2 the first is answered, i3 is everybody's, and i2 alone can go to others."""
    join(store, "Ann", "Bo")
    save(store, "i0", "Ann", "t")
    assert store.release("s1", "Ann") == Released(1, 1, freed=False)
    assert states(store, "Ann") == [("i0", "done"), ("i3", "handed_on"), ("i2", "open")]
    assert store.release("s1", "Ann") == Released(1, 0, freed=False)   # once more: nothing else moves
    for item_id in ("i3", "i1"):
        save(store, item_id, "Bo", "t")
    assert store.take_more("s1", "Bo", START, take_all) == 1
    save(store, "i2", "Bo", "t")
    counts = store.counts("s1")   # the study is finished: nothing waits for Ann
    assert (counts["assignments"], counts["done"]) == (4, 4) and counters_agree(store)


def test_who_comes_back_gets_the_block_again(store):
    join(store, "Ann", "Bo")
    save(store, "i0", "Ann", "t")
    store.release("s1", "Ann")
    assert store.take_more("s1", "Ann", START, take_all) == 0   # i2 is still hers, and open
    save(store, "i2", "Ann", "t")
    store.release("s1", "Ann")
    assert store.take_more("s1", "Ann", START, take_nothing) == 1
    assert states(store, "Ann") == [("i0", "done"), ("i3", "open"), ("i2", "done")]
    assert store.workspace("s1", "Ann").item == ITEMS[3] and counters_agree(store)
    assert store.take_more("s1", "Ann", START, take_nothing) == 0
    # She is at work again: what she has is not taken from her.
    seen = []
    join(store, "Cy", policy=lambda work: seen.extend(work.seats) or [])
    assert seen[0].annotator == "Ann" and seen[0].seen_at == START


def test_a_late_answer_to_the_block_is_kept(store):
    join(store, "Ann")
    save(store, "i0", "Ann", "t")
    store.release("s1", "Ann")
    save(store, "i3", "Ann", "t", FLAGGED)
    assert states(store, "Ann")[1] == ("i3", "done") and store.workspace("s1",
                                                                         "Ann").total == 3 and counters_agree(store)


def test_a_seat_at_which_nothing_was_answered_is_free_again(store):
    join(store, "Ann", "Bo")
    assert store.release("s1", "ANN") == Released(3, 0, freed=True)
    assert store.seats("s1") == (Seat("s1", 1, None, None, None), Seat("s1", 2, "Bo", START, START))
    assert store.counts("s1") == {
        "items": 4, "assignments": 5, "done": 0, "unsure": 0, "people": 1, "decisions": 0}
    with pytest.raises(NotJoined):
        store.workspace("s1", "Ann")
    with pytest.raises(NotJoined):
        save(store, "i0", "Ann", "t")
    assert join(store, "Cy", "Ann") == [1, 3]
    assert states(store, "Cy") == [("i0", "open"), ("i3", "open"), ("i2", "open")] and counters_agree(store)


def test_what_somebody_began_stays_theirs_and_is_nobody_elses(store):
    join(store, "Ann", "Bo")
    store.save_draft("s1", a_draft("i0", "Ann"), sticky_fields=["seen"])
    store.save_draft("s1", replace(a_draft("i2", "Ann"), answer={"seen": True}), sticky_fields=["seen"])
    assert store.release("s1", "Ann").freed and join(store, "Cy") == [1]
    assert [store.workspace("s1", "Cy", item_id=item_id).draft for item_id in ("i0", "i3", "i2")] == [None] * 3
    save(store, "i2", "Cy", "t", {"seen": False})
    store.save(a_judgement("i2", "Cy", "t2", {"seen": False, "n": 2}), unsure=False, sticky_fields=["seen"])
    assert store.item_judgements("s1", "i2")[0].answer == {"seen": False, "n": 2}   # Ann has looked, not Cy
    # Ann is at a seat of her own now, without work but for what she had begun.
    assert states(store, "Ann") == [("i0", "handed_on"), ("i2", "handed_on")] and store.workspace("s1",
                                                                                                  "Ann").total == 0
    assert store.workspace("s1", "Ann", item_id="i0").draft == a_draft("i0", "Ann")
    for _ in range(2):   # there is nothing more to take from her, and no seat to free
        assert store.release("s1", "Ann") == Released(0, 0, freed=False) and len(store.seats("s1")) == 3
    save(store, "i0", "Ann", "t")
    assert store.workspace("s1", "Ann").done == 1 and counters_agree(store)


def test_items_that_others_had_taken_over_do_not_wait_at_a_free_seat(store):
    join(store, "Ann", at=later(-60))
    join(store, "Bo")
    join(store, "Cy", policy=take_all)
    assert store.release("s1", "Ann") == Released(1, 0, freed=True)
    assert join(store, "Di") == [1] and states(store, "Di") == [("i3", "open")] and counters_agree(store)


def test_a_release_and_the_first_answer_at_once(store):
    """Whoever comes first: an answer that was acknowledged is somebody's, and a free seat has none."""
    for name in ("Ann", "Bo"):
        join(store, name)
        item_id, start = store.workspace("s1", name).item.item_id, threading.Barrier(2)

        def answer(name=name, item_id=item_id, start=start):
            start.wait(timeout=30)
            try:
                return save(store, item_id, name, "t")
            except NotJoined:
                return None

        def release(name=name, start=start):
            start.wait(timeout=30)
            return store.release("s1", name)

        with ThreadPoolExecutor(2) as people:
            answered, released = people.submit(answer), people.submit(release)
        assert (answered.result() is None) == released.result().freed
        assert counters_agree(store)


def test_saving_ends_a_release(store):
    join(store, "Ann", "Bo")
    save(store, "i0", "Ann", "t")
    store.release("s1", "Ann")
    save(store, "i3", "Ann", "t", minutes=1)
    join(store, "Cy", policy=take_all)
    assert states(store, "Cy") == [("i3", "open")]


def test_a_closed_study_takes_nobody_in(store):
    join(store, "Ann")
    assert store.set_accepting("s1", False) == replace(STUDY, accepting=False) == store.study("s1")
    assert join(store, "Ann") == [1]
    for call in (lambda: join(store, "Bo"), lambda: store.take_more("s1", "Ann", START, take_all)):
        with pytest.raises(StudyClosed):
            call()
    store.set_accepting("s1", True)
    assert join(store, "Bo") == [2]


def test_people_who_join_at_once_never_share_a_seat(store):
    start, numbers = threading.Barrier(8), []

    def come(name):
        start.wait()
        numbers.append(store.join("s1", name, START, take_all).number)

    threads = [threading.Thread(target=come, args=(f"{name}{n % 4}",)) for n, name in enumerate("abcdabcd")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Eight presses by four people, each of them twice.
    assert sorted(numbers) == [1, 1, 2, 2, 3, 3, 4, 4]
    taken = Counter((one.item_id, one.seat) for one in store.assignments("s1"))
    assert set(taken.values()) == {1} and counters_agree(store)


# --- the desk -----------------------------------------------------------------------------


def test_a_desk(store):
    join(store, "Ann")
    workspace = store.workspace("s1", "ann", ahead=1)
    assert (workspace.study, workspace.seat, workspace.total, workspace.done, workspace.unsure) == (STUDY, 1, 3, 0, 0)
    assert (workspace.item, workspace.position, workspace.judgement, workspace.draft) == (ITEMS[0], 0, None, None)
    assert workspace.ahead == (ITEMS[3],) and workspace.seconds == ()
    assert set(workspace.images) == {"token0", "panel0", "token3", "panel3", "token9"}
    assert workspace.images["token0"] == IMAGES[0]


def test_a_desk_by_id_by_position_and_behind_an_item(store):
    join(store, "Ann")
    save(store, "i0", "Ann", "t", FLAGGED, unsure=True)
    for asked in ({"item_id": "i0"}, {"position": 0}):
        workspace = store.workspace("s1", "Ann", **asked)
        assert (workspace.item, workspace.judgement.answer, workspace.judgement.revision) == (ITEMS[0], FLAGGED, 1)
        assert workspace.ahead == (ITEMS[3], ITEMS[2]) and (workspace.done, workspace.unsure) == (1, 1)

    def behind(item_id):
        workspace = store.workspace("s1", "Ann", after=item_id)
        return workspace.item and workspace.item.item_id

    # In Ann's order i0 (answered), i3, i2: the first open one behind, wrapping round.
    assert [behind("i0"), behind("i3"), behind("i2")] == ["i3", "i2", "i3"]
    save(store, "i2", "Ann", "t")
    assert [behind("i0"), behind("i3"), behind("i2")] == ["i3", "i3", "i3"]
    save(store, "i3", "Ann", "t")
    assert behind("i3") is None
    workspace = store.workspace("s1", "Ann")
    assert (workspace.item, workspace.position, workspace.ahead, workspace.images, workspace.done) == (None, None, (),
                                                                                                       {}, 3)


def test_the_seconds_of_the_latest_answers(store):
    join(store, "Ann")
    for minutes, (item_id, token, seconds) in enumerate([("i0", "a", 1), ("i3", "a", 2), ("i0", "b", 3)]):
        store.save(a_judgement(item_id, "Ann", token, {"n": token}, minutes, seconds=seconds), unsure=False)
    assert store.workspace("s1", "Ann").seconds == (3.0, 2.0)  # what counts now, the latest first


def test_being_seen_is_noted_once_a_minute(store):
    join(store, "Ann")
    written = []
    event.listen(store.engine, "before_cursor_execute", lambda c, cursor, statement, *rest: written.append(statement))
    for minutes, seen in ((0.5, 0), (1, 1), (1.9, 1), (2.1, 2.1)):
        written.clear()
        store.workspace("s1", "Ann", at=later(minutes))
        assert store.seats("s1")[0].seen_at == later(seen)
        assert any(one.startswith("UPDATE") for one in written) == (seen == minutes)


def test_a_desk_and_a_save_go_by_indexes(store_in_a_file):
    store = store_in_a_file
    join(store, "Ann")
    plans = []

    def explain(connection, cursor, statement, parameters, *rest):
        if not statement.startswith(("BEGIN", "INSERT")):
            plan = connection.connection.cursor().execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
            plans.extend(row[3] for row in plan.fetchall())

    event.listen(store.engine, "before_cursor_execute", explain)
    for token in "ab":
        save(store, "i0", "Ann", token, {"n": token})
    store.save_draft("s1", a_draft("i0", "Ann"))
    store.workspace("s1", "Ann", item_id="i0")
    store.workspace("s1", "Ann", after="i0")
    store.workspace("s1", "Ann", position=1)
    store.item_judgements("s1", "i0")
    assert len(plans) > 20 and not [plan for plan in plans if plan.startswith("SCAN")]
    of_judgements = {plan.partition(" INDEX ")[2] for plan in plans if plan.startswith("SEARCH judgements")}
    assert all("item_id=?" in index or "seat=?" in index or "judgement_id=?" in index for index in of_judgements)


# --- saving -------------------------------------------------------------------------------


def test_a_save(store):
    join(store, "Ann")
    store.save_draft("s1", a_draft("i0", "Ann"))
    given = a_judgement("i0", "ANN", "t", FLAGGED, 5)
    saved = store.save(given, unsure=False)
    assert saved.judgement == replace(given, annotator="Ann", revision=1)
    assert (saved.repeated, saved.overtook) == (False, False)
    assert store.judgements("s1") == (saved.judgement,)
    assert states(store, "Ann")[0] == ("i0", "done")
    assert store.workspace("s1", "Ann", item_id="i0").draft is None
    assert store.seats("s1")[0].seen_at == later(5)


def test_the_same_press_again_changes_nothing(store):
    join(store, "Ann")
    first = save(store, "i0", "Ann", "t1")
    again = save(store, "i0", "Ann", "t1")
    assert (again.judgement, again.repeated) == (first.judgement, True)
    second = save(store, "i0", "Ann", "t2", FLAGGED)
    late = save(store, "i0", "Ann", "t1")  # what counts now is the answer, not what it was then
    assert (late.judgement, late.repeated) == (second.judgement, True)
    assert [one.revision for one in store.judgements("s1", history=True)] == [1, 2]


def test_a_token_is_one_answers(store):
    join(store, "Ann", "Bo")
    save(store, "i3", "Ann", "t1")
    save(store, "i3", "Ann", "t2", FLAGGED)
    for token, answer in (("t1", FLAGGED), ("t2", VALID), ("t1", VALID | {"note": "new"})):
        with pytest.raises(UsedToken, match=r"used for another answer to this item. Send a new token"):
            save(store, "i3", "Ann", token, answer)
    store.set_accepting("s1", False)
    with pytest.raises(UsedToken):
        save(store, "i3", "Ann", "t1", FLAGGED)
    store.set_accepting("s1", True)
    assert len(store.judgements("s1", history=True)) == 2
    for item_id, name in (("i0", "Ann"), ("i3", "Bo")):   # another item, another person: another answer
        assert not save(store, item_id, name, "t1", FLAGGED).repeated


def test_what_was_seen_stays_seen_and_is_no_answer(store):
    join(store, "Ann")

    def answer(token, seen, note=""):
        saved = store.save(
            a_judgement("i0", "Ann", token, {"seen": seen, "note": note}), unsure=False, sticky_fields=["seen"])
        return saved.judgement.revision, saved.repeated, saved.judgement.answer["seen"]

    def draft(seen):
        given = replace(a_draft("i0", "Ann"), answer={"seen": seen, "note": "begun"})
        store.save_draft("s1", given, sticky_fields=["seen"])
        return store.workspace("s1", "Ann", item_id="i0").draft.answer["seen"]

    assert answer("t1", False) == (1, False, False)
    assert answer("t2", True) == (1, True, False)          # alone it is nothing new
    assert answer("t1", True) == (1, True, False)          # nor another answer under a token
    assert answer("t3", False, "a") == (2, False, True)    # it comes with the next change, though this one denies it
    assert answer("t4", False, "a") == (2, True, True)
    assert [draft(False), draft(True)] == [True, True]

    join(store, "Bo")
    assert "seen" not in store.workspace("s1", "Bo", item_id="i3").extra
    given = replace(a_draft("i3", "Bo"), answer={"seen": True})
    store.save_draft("s1", given, sticky_fields=["seen"])
    store.drop_draft("s1", "i3", "Bo")                     # what was written is discarded, what was seen is not
    first = store.save(a_judgement("i3", "Bo", "t", {"seen": False}), unsure=False, sticky_fields=["seen"])
    assert first.judgement.answer == {"seen": True}
    other = store.save(a_judgement("i1", "Bo", "t", {"seen": False}), unsure=False, sticky_fields=["seen"])
    assert other.judgement.answer == {"seen": False}


def test_the_same_answer_again_adds_no_revision(store):
    join(store, "Ann")
    first = save(store, "i0", "Ann", "t1", {"a": [1, 2], "b": True})
    again = save(store, "i0", "Ann", "t2", {"b": True, "a": (1, 2)}, unsure=True)
    assert (again.judgement, again.repeated, again.overtook) == (first.judgement, True, False)
    assert states(store, "Ann")[0] == ("i0", "unsure")  # the state follows all the same
    assert save(store, "i0", "Ann", "t3", {"b": 1, "a": [1, 2]}).judgement.revision == 2  # true is not 1
    assert counters_agree(store)


def test_every_revision_is_kept_and_the_latest_counts(store):
    join(store, "Ann", "Bo")
    save(store, "i3", "Bo", "t")
    for number, answer in enumerate((VALID, FLAGGED, VALID)):
        save(store, "i3", "Ann", f"t{number}", answer, unsure=number == 1, minutes=number)
    history = store.judgements("s1", history=True)
    assert [(one.annotator, one.revision, one.answer) for one in history] == [
        ("Ann", 1, VALID), ("Ann", 2, FLAGGED), ("Ann", 3, VALID), ("Bo", 1, VALID)]
    assert store.judgements("s1") == (history[2], history[3]) == store.item_judgements("s1", "i3")
    assert store.counts("s1")["done"] == 2 and store.counts("s1")["unsure"] == 0 and counters_agree(store)


def test_two_windows(store):
    """Both opened before anything was answered; the second to save is told, and counts."""
    join(store, "Ann")
    assert not save(store, "i0", "Ann", "one", VALID, seen=0).overtook
    second = save(store, "i0", "Ann", "two", FLAGGED, seen=0)
    assert second.overtook and second.judgement.revision == 2
    assert not save(store, "i0", "Ann", "same", FLAGGED, seen=0).overtook  # they agree
    assert not save(store, "i0", "Ann", "three", VALID, seen=2).overtook
    assert not save(store, "i0", "Ann", "four", FLAGGED).overtook  # a script that has seen nothing


def test_a_closed_study_takes_no_answers_but_knows_those_it_has(store):
    join(store, "Ann")
    first = save(store, "i0", "Ann", "t1")
    store.set_accepting("s1", False)
    assert save(store, "i0", "Ann", "t1").judgement == first.judgement
    with pytest.raises(StudyClosed, match=r"takes no more answers. Ask"):
        save(store, "i0", "Ann", "t2", FLAGGED)
    store.save_draft("s1", a_draft("i0", "Ann"))  # nothing that was begun is lost
    assert store.workspace("s1", "Ann", item_id="i0").draft == a_draft("i0", "Ann")
    assert store.judgements("s1") == (first.judgement,)


def test_a_double_click(store):
    """The same press eight times at once, then eight presses with other tokens."""
    join(store, "Ann")
    for tokens in (["t"] * 8, [f"t{n}" for n in range(8)]):
        start, saved = threading.Barrier(8), []

        def press(token, start=start, saved=saved):
            start.wait()
            saved.append(save(store, "i0", "Ann", token))

        threads = [threading.Thread(target=press, args=(token,)) for token in tokens]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(saved) == 8 and {one.judgement.revision for one in saved} == {1}
    assert len(store.judgements("s1", history=True)) == 1 and counters_agree(store)


def test_four_windows_of_one_person(store):
    """Each answers every item, all at once and each otherwise: an answer counts once."""
    join(store, "Ann", "Bo")
    start = threading.Barrier(4)

    def work(window):
        for item_id in ("i0", "i3", "i2"):
            start.wait(timeout=30)
            save(store, item_id, "Ann", f"token-{window}", {"n": window}, unsure=window % 2 == 0)

    with ThreadPoolExecutor(4) as windows:
        list(windows.map(work, range(4)))
    assert counters_agree(store) and store.counts("s1")["done"] == 3
    assert [one.revision for one in store.judgements("s1", history=True)] == [1, 2, 3, 4] * 3


def test_answers_while_the_work_is_handed_on(store):
    """Whoever comes first: the counters stay true, and what was answered before is not handed on."""
    join(store, "Ann", "Bo")
    start, given, answering = threading.Barrier(3), [], []

    def policy(work):
        given.extend(one.item_id for one in work.open if one.seat == 1)
        wait_for(lambda: len(answering) == 2)   # the answers arrive meanwhile
        return [Reassignment(one.item_id, n, 1) for n, one in enumerate(work.open) if one.seat == 1]

    def answer(item_id):
        start.wait(timeout=30)
        answering.append(item_id)
        save(store, item_id, "Ann", "token", unsure=item_id == "i2")

    def come():
        start.wait(timeout=30)
        join(store, "Cy", policy=policy)

    with ThreadPoolExecutor(3) as people:
        for done in [people.submit(answer, "i0"), people.submit(answer, "i2"), people.submit(come)]:
            done.result()
    assert counters_agree(store)
    assert [one.item_id for one in store.overview("s1", "Cy")] == given
    assert len(store.judgements("s1")) == 2 and store.workspace("s1", "Ann").done == 2


def test_a_lock_reads_nothing_besides_what_it_locks(store):
    """Where a statement waits for a row, PostgreSQL reads what it joins as it was before it waited."""
    statements = []
    event.listen(store.engine, "before_execute", lambda c, statement, *rest: statements.append(
        str(statement.compile(dialect=postgresql.dialect()))))
    join(store, "Ann", "Bo", "Cy")
    save(store, "i0", "Ann", "t")
    store.save_draft("s1", a_draft("i3", "Ann"))
    store.drop_draft("s1", "i3", "Ann")
    store.take_more("s1", "Cy", START, take_all)
    store.release("s1", "Ann")
    store.decide(a_decision("i0", "t"))
    locks = [one for one in statements if "FOR UPDATE" in one]
    assert len(locks) > 5 and not [one for one in locks if "JOIN" in one]


def test_what_was_not_committed_is_not_there(store):
    join(store, "Ann")

    def fail(connection):
        raise RuntimeError("the machine stopped")

    event.listen(store.engine, "commit", fail)
    with pytest.raises(RuntimeError):
        save(store, "i0", "Ann", "t")
    event.remove(store.engine, "commit", fail)
    assert store.judgements("s1") == () and states(store, "Ann")[0] == ("i0", "open")
    assert not save(store, "i0", "Ann", "t").repeated


# --- drafts, decisions, settings ----------------------------------------------------------


def test_drafts(store):
    join(store, "Ann", "Bo")
    store.save_draft("s1", a_draft("i3", "Bo", "another's"))
    store.save_draft("s1", a_draft("i3", "ann", "first"))
    store.save_draft("s1", a_draft("i3", "Ann", "second", minutes=1))
    assert store.workspace("s1", "Ann", item_id="i3").draft == a_draft("i3", "Ann", "second", minutes=1)
    save(store, "i3", "Ann", "t")
    assert store.workspace("s1", "Ann", item_id="i3").draft is None
    store.save_draft("s1", a_draft("i3", "Ann", "on second thoughts"))
    workspace = store.workspace("s1", "Ann", item_id="i3")
    assert workspace.draft.answer == {"note": "on second thoughts"} and workspace.judgement.answer == VALID
    store.drop_draft("s1", "i3", "Ann")
    store.drop_draft("s1", "i3", "Ann")
    assert store.workspace("s1", "Ann", item_id="i3").draft is None
    assert store.workspace("s1", "Bo", item_id="i3").draft == a_draft("i3", "Bo", "another's")


def test_decisions(store):
    first = store.decide(a_decision("i1", "t1"))
    assert first == replace(a_decision("i1", "t1"), revision=1)
    assert store.decide(a_decision("i1", "t1")) == first           # the same press
    for other in (a_decision("i1", "t1", FLAGGED), a_decision("i1", "t1", reason="others"),
                  a_decision("i1", "t1", adjudicator="Bea")):
        with pytest.raises(UsedToken, match="another decision on this item"):
            store.decide(other)
    assert store.decide(a_decision("i1", "t2")) == first           # the same decision
    store.set_accepting("s1", False)
    second = store.decide(a_decision("i1", "t3", FLAGGED, adjudicator="Bea"))
    assert second.revision == 2 and store.decide(a_decision("i1", "t1")) == second
    third = store.decide(a_decision("i1", "t4", FLAGGED, "another reason", "Bea"))
    other = store.decide(a_decision("i0", "t1"))
    assert store.decisions("s1") == (other, third)
    assert store.decisions("s1", history=True) == (other, first, second, third)
    assert store.counts("s1")["decisions"] == 2
    with pytest.raises(UnknownItem, match="No such item"):
        store.decide(a_decision("forged", "t"))
    with pytest.raises(UnknownStudy):
        store.decide(replace(a_decision("i0", "t"), study_id="nowhere"))


def test_settings(store):
    changed = store.change_settings("s1", {"unsure_after": 60})
    assert changed == replace(STUDY, settings={"unsure_after": 60}) == store.study("s1")
    store.change_settings("s1", {"broad_at": 3})     # by somebody whose page does not know of the other yet
    changed = store.change_settings("s1", {"unsure_after": None, "never": None})
    assert changed == replace(STUDY, settings={"broad_at": 3}) == store.study("s1")


def test_what_people_judged_cannot_go_unnoticed(store):
    join(store, "Ann")
    save(store, "i0", "Ann", "t")
    with pytest.raises(StorageError, match="contradicts"), writing(store.engine) as connection:
        connection.execute(text("DELETE FROM studies"))
    assert len(store.judgements("s1")) == 1
