"""What the store keeps of studies of preference besides: extras of assignments, events between the items."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from sqlalchemy import event, text

from annotation.records import PlannedAssignment, Reassignment, Seat, StudyEvent
from cir_core.errors import StorageError, StudyError, UnknownItem, UnknownStudy
from storage.engine.database import reading, writing
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import engine as engine
from tests.fakes.databases import open_migrated, sqlite_of
from tests.fakes.study_records import IMAGES, ITEMS, PLACES, START, STUDY, VALID, a_judgement, later, take_nothing

SURVEY = replace(STUDY, kind="preference", protocol="hs-fashioniq/1")
FIRST, SECOND = {"first": 1, "form": 1, "reason": False}, {"first": 2, "form": 1, "reason": True}
# As in the fake study: seat 1 has i0, i3, i2 and seat 2 has i3, i1; only seat 2's i1 has no extra.
SIDES = [replace(place, extra=extra) for place, extra in zip(PLACES, (FIRST, SECOND, FIRST, FIRST, {}), strict=True)]


@pytest.fixture
def store(engine):
    return with_two_people(engine)


@pytest.fixture
def store_in_a_file(tmp_path):
    engine = open_migrated(sqlite_of(tmp_path))
    yield with_two_people(engine)
    engine.dispose()


def with_two_people(engine):
    store = SqlStudyStore(engine)
    store.create(SURVEY, ITEMS, IMAGES, SIDES)
    for name in ("Ann", "Bo"):
        store.join("s1", name, START, take_nothing)
    return store


def an_event(annotator, token, kind="check", minutes=0.0, **payload):
    return StudyEvent(f"e-{annotator.casefold()}-{token}", "s1", annotator, kind, token, payload, later(minutes))


# --- extras of assignments ----------------------------------------------------------------


def test_extras_of_places_come_back_with_assignments(store):
    assert [one.extra for one in store.assignments("s1")] == [FIRST, SECOND, FIRST, FIRST, {}]
    assert [one.extra for one in store.overview("s1", "bo")] == [FIRST, {}]


def test_a_desk_has_the_extra_of_its_item(store):
    assert store.workspace("s1", "Ann").extra == FIRST                    # i0
    assert store.workspace("s1", "Ann", item_id="i3").extra == SECOND     # the same item stands otherwise for Bo
    assert store.workspace("s1", "Bo", position=0).extra == FIRST
    assert store.workspace("s1", "Bo", after="i3").extra == {}            # i1
    for item_id in ("i3", "i1"):
        store.save(a_judgement(item_id, "Bo", "token"), unsure=False)
    assert store.workspace("s1", "Bo").item is None and store.workspace("s1", "Bo").extra == {}
    assert store.workspace("s1", "Bo", item_id="i3").extra == FIRST       # going back


def test_what_is_taken_over_has_an_extra_of_its_own(store):
    seen = []

    def policy(work):
        seen.extend((one.item_id, one.extra) for one in work.open)
        return [Reassignment("i0", 0, 1, {"first": 2}), Reassignment("i1", 1, 2)]

    store.join("s1", "Cy", START, policy)
    # The policy sees the extras of what it may hand over; i3 is of the agreement block.
    assert seen == [("i0", FIRST), ("i2", FIRST), ("i1", {})]
    assert [one.extra for one in store.overview("s1", "Cy")] == [{"first": 2}, {}]
    assert [(one.state, one.extra) for one in store.overview("s1", "Ann")] == [
        ("handed_on", FIRST), ("open", SECOND), ("open", FIRST)]
    assert store.workspace("s1", "Ann", item_id="i0").extra == FIRST      # a late answer is read by what Ann saw


def test_no_extra_is_stored_as_none(store):
    with reading(store.engine) as connection:
        kept = connection.execute(text("SELECT item_id FROM assignments WHERE extra IS NULL")).scalars().all()
    assert kept == ["i1"]


def test_an_imported_answer_without_a_place_has_no_extra(engine):
    store = SqlStudyStore(engine)
    seats = [Seat("s1", 1, "Ann", START, START)]
    store.create(SURVEY, ITEMS, IMAGES, [PlannedAssignment("i0", 1, 0, FIRST)], seats=seats, judgements=[
        a_judgement("i1", "Ann", "token", {"ratings": [4, 2], "preferred": 1}, revision=1)])
    assert [(one.item_id, one.state, one.extra) for one in store.assignments("s1")] == [
        ("i0", "open", FIRST), ("i1", "done", {})]


def test_records_with_extras_can_still_be_in_sets():
    assert len({*SIDES, *PLACES}) == 2 * len(PLACES) - 1   # i1's is the same
    assert len({Reassignment("i0", 0, 1, {"first": 1}), Reassignment("i0", 0, 1)}) == 2


def test_extras_that_cannot_be_stored(engine):
    store = SqlStudyStore(engine)
    with pytest.raises(StudyError, match="cannot be stored"):
        store.create(SURVEY, ITEMS, IMAGES, [PlannedAssignment("i0", 1, 0, {"form": "\0"})])


# --- events -------------------------------------------------------------------------------


def test_an_event_comes_back_as_it_was_noted(store):
    given = an_event("ANN", "t1", number=5, answer=12, right=True, note="né 🐕")
    kept = store.note(given)
    assert kept == replace(given, annotator="Ann")           # the name as the seat has it
    assert store.events("s1") == store.events("s1", "ann") == (kept,)


def test_the_same_press_again_gives_what_was_noted_first(store):
    first = store.note(an_event("Ann", "t1", right=False))
    again = store.note(replace(an_event("ann", "t1", "consent", 9, right=True), event_id="other"))
    assert again == first and store.events("s1") == (first,)
    other = store.note(an_event("Bo", "t1", right=True))     # a token is one person's
    assert store.events("s1", "Bo") == (other,)


def test_events_oldest_first_by_person_and_kind(store):
    noted = [store.note(one) for one in (
        an_event("Ann", "t9", "consent", 0), an_event("Bo", "t1", "consent", 1), an_event("Ann", "t5", "check", 2),
        an_event("Ann", "t4", "check", 2),                   # at the same time, and after it
        an_event("Ann", "t0", "finish", 3))]
    assert store.events("s1") == tuple(noted)
    assert store.events("s1", "ANN") == (noted[0], *noted[2:])
    assert store.events("s1", kind="consent") == tuple(noted[:2])
    assert store.events("s1", "Ann", "check") == (noted[2], noted[3])
    assert store.events("s1", "Cy") == ()


def test_a_desk_has_the_events_of_its_person(store):
    first, second = store.note(an_event("Ann", "t2")), store.note(an_event("Ann", "t1"))
    store.note(an_event("Bo", "t3"))
    assert store.workspace("s1", "ann").events == (first, second)
    for item_id in ("i0", "i3", "i2"):
        store.save(a_judgement(item_id, "Ann", "token"), unsure=False)
    workspace = store.workspace("s1", "Ann")
    assert workspace.item is None and workspace.events == (first, second)


def test_a_desk_of_another_kind_does_not_read_them(engine):
    store = SqlStudyStore(engine)
    store.create(STUDY, ITEMS, IMAGES, PLACES)
    store.join("s1", "Ann", START, take_nothing)
    kept = store.note(an_event("Ann", "t"))
    statements = []
    event.listen(engine, "before_cursor_execute", lambda c, cursor, statement, *rest: statements.append(statement))
    assert store.workspace("s1", "Ann").events == () and store.workspace("s1", "Ann").extra == {}
    assert not any("study_events" in statement for statement in statements)
    assert store.events("s1") == (kept,)


def test_who_cannot_note_anything(store):
    with pytest.raises(UnknownItem, match=r"You have no items in Dogs .* yet"):
        store.note(an_event("Cy", "t"))
    with pytest.raises(UnknownStudy):
        store.note(replace(an_event("Ann", "t"), study_id="s9"))
    with pytest.raises(UnknownStudy):
        store.events("s9")
    with pytest.raises(StudyError, match="cannot be stored"):
        store.note(an_event("Ann", "t", answer="half \ud83d"))
    assert store.events("s1") == ()


def test_a_closed_study_still_notes(store):
    store.set_accepting("s1", False)
    kept = store.note(an_event("Ann", "t", "finish", code="AB12"))
    assert store.events("s1") == (kept,)


def test_one_press_in_many_threads_is_one_event(store):
    start, kept = threading.Barrier(8), []

    def press(number):
        start.wait()
        kept.append(store.note(replace(an_event("Ann", f"t{number % 2}"), event_id=f"e{number}")))

    threads = [threading.Thread(target=press, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kept) == 8 and len({one.event_id for one in kept}) == 2
    assert {one.event_id for one in store.events("s1")} == {one.event_id for one in kept}


def test_noting_and_reading_go_by_indexes(store_in_a_file):
    store = store_in_a_file
    plans = []

    def explain(connection, cursor, statement, parameters, *rest):
        if not statement.startswith(("BEGIN", "INSERT")):
            plan = connection.connection.cursor().execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
            plans.extend(row[3] for row in plan.fetchall())

    event.listen(store.engine, "before_cursor_execute", explain)
    for token in "ab":
        store.note(an_event("Ann", token))
    store.workspace("s1", "Ann", after="i0")
    store.events("s1", "Ann", "check")
    of_events = [plan for plan in plans if "study_events" in plan]
    assert len(of_events) >= 6 and not [plan for plan in plans if plan.startswith("SCAN")]
    # By person or by token, never all of a study; only everybody's list may sort.
    assert all("seat=?" in plan for plan in of_events), of_events


def test_events_keep_the_study_from_being_deleted(store):
    store.note(an_event("Ann", "t", "consent", text="I agree."))
    with pytest.raises(StorageError), writing(store.engine) as connection:
        connection.execute(text("DELETE FROM studies"))
    assert store.studies() == (SURVEY,) and len(store.events("s1")) == 1


def test_answers_and_events_do_not_mix(store):
    """A token of a check can be that of an answer too: they are kept apart."""
    store.note(an_event("Ann", "t"))
    assert not store.save(a_judgement("i0", "Ann", "t", VALID), unsure=False).repeated
    assert len(store.events("s1")) == len(store.judgements("s1")) == 1
