"""Scores kept with a study, and the stamp that tells whether a report would be another one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import event, text

from annotation.records import MetricScores, PlannedAssignment, StudyEvent
from annotation.records.studies import NAME_LIMIT
from cir_core.errors import StorageError, StudyError, UnknownScores, UnknownStudy
from storage.engine.database import reading, writing
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import engine_of
from tests.fakes.preferences import START, a_study, an_answer, an_item, keep
from tests.fakes.preferences import a_judgement as a_rating
from tests.fakes.session_ratings import a_model, a_session, a_session_study
from tests.fakes.study_records import IMAGES, ITEMS, PLACES, STUDY, a_decision, a_judgement, take_nothing

THIRD = 1 / 3   # of no finite number of binary digits
SCORES = MetricScores("Cosine, mine", "From a file of mine.", {("q0", 1): THIRD, ("q0", 2): -2.0, ("q1", 2): 1e-300},
                      ("one set has none",))


@pytest.fixture
def store(tmp_path):
    engine = engine_of(tmp_path)
    store = SqlStudyStore(engine)
    questions = [replace(an_item(number), item_id=f"q{number}") for number in (0, 1)]
    keep(store, a_study(), questions, [PlannedAssignment("q0", 1, 0), PlannedAssignment("q1", 2, 0)], [], [])
    store.create(STUDY, ITEMS, IMAGES, PLACES)
    yield store
    engine.dispose()


def test_scores_come_back_as_they_were_kept(store):
    assert store.scores("p1") == ()
    store.save_scores("p1", SCORES, "Ann", START)
    other = MetricScores("a model", "", {})
    store.save_scores("p1", other, "Ann", START)
    assert store.scores("p1") == (other, SCORES)   # by name


def test_the_same_name_again_replaces_them(store):
    store.save_scores("p1", SCORES, "Ann", START)
    again = replace(SCORES, name="COSINE, mine ", scores={("q1", 1): 0.5})
    store.save_scores("p1", again, "Bob", START)
    assert store.scores("p1") == (replace(again, name="COSINE, mine"),)


@pytest.mark.parametrize(("scores", "sentence"), [
    (replace(SCORES, scores={("q9", 1): 1.0}), "no set 1 of an item 'q9'"),
    (replace(SCORES, scores={("q0", 3): 1.0}), "no set 3 of an item 'q0'"),
    (replace(SCORES, scores={("q0", 1): float("nan")}), "nan, which is not a number"),
    (replace(SCORES, scores={("q0", 1): float("inf")}), "inf, which is not a number"),
    (replace(SCORES, name=" "), "need a name"),
    (replace(SCORES, name="x" * (NAME_LIMIT + 1)), "1 to 60 characters"),
    (replace(SCORES, notes=("\0",)), "cannot be stored"),
])
def test_scores_that_cannot_be_used_are_refused(store, scores, sentence):
    store.save_scores("p1", SCORES, "Ann", START)
    with pytest.raises(StudyError, match=sentence):
        store.save_scores("p1", scores, "Ann", START)
    assert store.scores("p1") == (SCORES,)


def test_only_preference_studies_have_sets(store):
    with pytest.raises(StudyError, match="is a validity study"):
        store.save_scores("s1", MetricScores("m", "", {}), "Ann", START)


def test_scores_are_dropped_by_name(store):
    store.save_scores("p1", SCORES, "Ann", START)
    with pytest.raises(UnknownScores, match="It has Cosine, mine"):
        store.drop_scores("p1", "cosine")
    store.drop_scores("p1", "cosine, MINE")
    assert store.scores("p1") == ()
    with pytest.raises(UnknownScores, match="It has none"):
        store.drop_scores("p1", "cosine, mine")


def test_a_study_that_is_not_there(store):
    for work in (lambda: store.save_scores("gone", SCORES, "Ann", START), lambda: store.scores("gone"),
                 lambda: store.drop_scores("gone", "m"), lambda: store.stamp("gone")):
        with pytest.raises(UnknownStudy):
            work()


def test_scores_go_with_their_study(store):
    store.save_scores("p1", SCORES, "Ann", START)
    store.remove("p1")
    with reading(store.engine) as connection:
        assert connection.execute(text("SELECT count(*) FROM study_scores")).scalar_one() == 0


@pytest.mark.parametrize("damage", ['"scores"', '{"q0": 3}', '{"q0": [1, "a"]}', '{"q0": [1, 2, 3]}', '{"q0'])
def test_damaged_scores_are_named(store, damage):
    sqlite = store.engine.dialect.name == "sqlite"
    if not sqlite and damage == '{"q0':
        return   # which such a database refuses
    store.save_scores("p1", SCORES, "Ann", START)
    with writing(store.engine) as connection:
        connection.execute(text(f"UPDATE study_scores SET scores = {':damage' if sqlite else 'CAST(:damage AS JSON)'}"),
                           {"damage": damage})
    with pytest.raises(StorageError, match=r"'Cosine, mine' of Shops are damaged.*--remove"):
        store.scores("p1")
    store.drop_scores("p1", SCORES.name)   # what the sentence says to do
    assert store.scores("p1") == ()


# --- the stamp ------------------------------------------------------------------------------------


def test_the_stamp_changes_with_whatever_a_report_is_made_of(store):
    store.join("s1", "Ann", START, take_nothing)
    stamps = [store.stamp("s1")]

    def changes(work):
        work()
        stamps.append(store.stamp("s1"))
        assert stamps[-1] not in stamps[:-1]

    save = store.save
    changes(lambda: save(a_judgement("i0", "Ann", "t1"), unsure=False))
    # A later revision that carries an earlier time: somebody put the clock back.
    flagged = {"validated": False, "flags": ["QUERY_TOO_BROAD"]}
    changes(lambda: save(a_judgement("i0", "Ann", "t2", flagged, minutes=-9), unsure=False))
    changes(lambda: save(a_judgement("i0", "Ann", "t3", flagged), unsure=True))   # the same answer, now unsure
    changes(lambda: store.join("s1", "Bob", START, take_nothing))
    changes(lambda: store.decide(a_decision("i0", "d1")))
    changes(lambda: store.decide(a_decision("i0", "d2", reason="on second thoughts")))
    changes(lambda: store.change_settings("s1", {"unsure_after": 60}))
    changes(lambda: store.set_accepting("s1", False))
    changes(lambda: store.rename("s1", "Another name"))
    changes(lambda: store.note(StudyEvent("e1", "s1", "Ann", "check", "c1", {"right": True}, START)))


def test_the_stamp_changes_with_scores(store):
    before = store.stamp("p1")
    store.save_scores("p1", SCORES, "Ann", START)
    kept = store.stamp("p1")
    store.save_scores("p1", replace(SCORES, scores={}), "Ann", START)   # under the same name, at the same time
    replaced = store.stamp("p1")
    assert len({before, kept, replaced}) == 3
    store.drop_scores("p1", SCORES.name)
    assert store.stamp("p1") == before


def test_the_stamp_stays_while_nothing_is_answered(store):
    store.join("p1", "Ann", START, take_nothing)
    store.save(replace(a_rating(0, "Ann", an_answer()), item_id="q0"), unsure=False)
    before = store.stamp("p1")
    store.save(replace(a_rating(0, "Ann", an_answer()), item_id="q0"), unsure=False)   # the same press again
    store.workspace("p1", "Ann", at=START.replace(hour=20))   # looking
    store.save_scores("p1", SCORES, "Ann", START)
    store.drop_scores("p1", SCORES.name)
    other = store.stamp("s1")
    store.rename("p1", "Other shops")
    assert store.stamp("s1") == other
    store.rename("p1", "Shops")
    assert store.stamp("p1") == before


def test_the_stamp_is_two_statements_that_read_no_row_of_judgements(store):
    said = []
    event.listen(store.engine, "before_cursor_execute", lambda *of: said.append((of[2], of[3])))
    store.stamp("p1")
    asked = [(statement, given) for statement, given in said if statement.startswith("SELECT")]
    assert len(asked) == 2
    if store.engine.dialect.name == "sqlite":
        with reading(store.engine) as connection:
            plan = connection.exec_driver_sql("EXPLAIN QUERY PLAN " + asked[0][0], asked[0][1]).all()
        steps = [row[-1] for row in plan if "judgements" in row[-1]]
        assert steps and all("USING COVERING INDEX" in step for step in steps)


def test_a_session_study_has_five_scores_a_session(store):
    store.create(a_session_study(), [a_session(0), a_session(1)], [], [PlannedAssignment("n0", 1, 0)])
    model = a_model({0: [1, 2, 3, 4, 5]})
    store.save_scores("r1", model, "Ann", START)
    assert store.scores("r1") == (model,)
    for scores, sentence in (({("n0", 6): 1.0}, "no question 6 of an item"),
                             ({("n0", 5): 6.0}, "6, not a whole number"),
                             ({("n0", 5): 2.5}, "2.5, not a whole number")):
        with pytest.raises(StudyError, match=sentence):
            store.save_scores("r1", replace(model, scores=scores), "Ann", START)
    assert store.scores("r1") == (model,)


@pytest.mark.parametrize("damage", ['{"n0": [1, 2]}', '{"n0": [1, 2, 3, 4, 9]}', '{"n0": [1, 2, 3, 4, 5, 5]}'])
def test_damaged_scores_of_sessions_are_said(store, damage):
    store.create(a_session_study(), [a_session(0)], [], [PlannedAssignment("n0", 1, 0)])
    store.save_scores("r1", a_model({0: 3}), "Ann", START)
    sqlite = store.engine.dialect.name == "sqlite"
    with writing(store.engine) as connection:
        connection.execute(text(f"UPDATE study_scores SET scores = {':damage' if sqlite else 'CAST(:damage AS JSON)'}"),
                           {"damage": damage})
    with pytest.raises(StorageError, match="are damaged"):
        store.scores("r1")
