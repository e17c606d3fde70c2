"""One person is one person everywhere, however their name is written. Imported files write it in any way."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from annotation.adjudication.service import Adjudication, nameless
from annotation.kinds.validity.answers import Validity
from annotation.records import Seat, Study, name_key, same_person
from annotation.studies.overview import seat_progress
from annotation.studies.service import StudyService
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import study_store as study_store
from tests.fakes.judged import AT, answer_of, item_of, judgement_of, study_of
from tests.fakes.studies import make_study, valid
from web.studies.adjudicate import decision_json

COMPOSED, DECOMPOSED = "J\u00fcrgen", "Ju\u0308rgen"   # the same to read; only letter case is what casefold() evens out
KINDS = {"validity": Validity()}


@pytest.fixture
def study(store: SqlStudyStore, tmp_path: Path) -> Study:
    """One of its items is answered by ``DECOMPOSED``."""
    made = make_study(store, tmp_path, seats=1)
    judge(store, DECOMPOSED)
    return made


def judge(store: SqlStudyStore, who: str) -> None:
    service = StudyService(store, KINDS)
    workspace = service.join("Sample", who)
    assert workspace.item is not None
    service.save("Sample", who, workspace.item.item_id, valid(), "token-01", seconds=8)


def test_what_is_the_same_name():
    assert name_key(COMPOSED) == name_key(DECOMPOSED) == name_key(f" {COMPOSED.upper()}\n") == "j\u00fcrgen"
    assert name_key("STRASSE") == name_key("stra\u00dfe")
    assert same_person(COMPOSED, DECOMPOSED) and not same_person("Ada", "Bea")


def test_nobody_is_not_the_same_as_nobody():
    for nobody in (None, "", " ", "\0", "\ud83d"):
        assert not same_person(nobody, nobody) and not same_person("Ada", nobody) and not same_person(nobody, "Ada")
    assert name_key("a\0b") == ""


def test_a_study_is_known_to_be_theirs(store: SqlStudyStore, study: Study) -> None:
    store.set_accepting(study.study_id, False)
    service = StudyService(store, KINDS)
    (mine,) = service.assigned_studies(COMPOSED)
    assert mine.joined and mine.done == 1
    assert service.workspace("Sample", COMPOSED).done == 1   # it is closed to those who have no seat


def test_their_pace_is_theirs():
    said = [judgement_of(item_of(0), COMPOSED, answer_of(), seconds=30.0)]
    (row,) = seat_progress(study_of(), [Seat("s1", 1, DECOMPOSED, AT, AT)], [], said, AT + timedelta(hours=1))
    assert row.median_seconds == 30.0


def test_an_adjudicator_is_told_of_their_own(store: SqlStudyStore, study: Study) -> None:
    adjudication = Adjudication(store, KINDS)
    (judgement,) = store.judgements(study.study_id)
    adjudication.answer("Sample", judgement.item_id, DECOMPOSED, valid())
    assert adjudication.case("Sample", judgement.item_id, COMPOSED).own
    adjudication.decide("Sample", judgement.item_id, DECOMPOSED, valid(), "seen again", "token-01")
    decision = adjudication.case("Sample", judgement.item_id, COMPOSED).decision
    assert decision is not None and decision_json(decision, COMPOSED)["by_you"]


def test_letters_of_judges_do_not_depend_on_how_a_name_is_written():
    study, items = study_of(), [item_of(n) for n in range(8)]

    def seconds(name: str) -> list[list[float]]:
        given = [[judgement_of(item, who, answer_of(), seconds=s) for who, s in ((name, 1.0), ("Ada", 2.0))]
                 for item in items]
        return [[one.seconds for _, one in nameless(study, item.item_id, of_item)]
                for item, of_item in zip(items, given, strict=True)]

    assert seconds(COMPOSED) == seconds(DECOMPOSED)
