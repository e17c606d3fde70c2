"""What a report may be narrowed to, and what is left then; answers out of the store, and people's names."""

from dataclasses import replace

import pytest

from annotation.analysis.records import Rater, Selection, StudyAnswers
from annotation.analysis.selection import choices, name_of, raters, select
from annotation.kinds.reports import load_answers
from annotation.kinds.table import KINDS
from annotation.kinds.validity.answers import Validity
from annotation.records import Seat
from annotation.studies.service import StudyService
from cir_core.errors import StudyError
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import engine_of
from tests.fakes.judged import AT, decision_of, item_of
from tests.fakes.preferences import a_check, a_judgement, a_study, an_answer, an_assignment, an_item, seats_of
from tests.fakes.studies import make_study, valid
from tests.fakes.verdict_grids import grid

ITEMS = [item_of(0), item_of(1, category="composition_required"), replace(item_of(2, dataset="circo"), in_block=True),
         item_of(3, dataset="circo", category="")]
VALIDITY = replace(grid("V V", "V .", "T T", "B V", items=ITEMS), decisions=(decision_of(ITEMS[3], {}),))
PREFERENCE = StudyAnswers(
    a_study(), (an_item(0), an_item(1, category="dress"), an_item(2, category="")), tuple(seats_of("Ada", "Ben", "Cy")),
    tuple(an_assignment(number, seat, name) for number, seat, name in ((0, 1, "Ada"), (1, 1, "Ada"), (2, 2, "Ben"))),
    tuple(a_judgement(number, name, an_answer()) for number, name in ((0, "Ada"), (1, "ada"), (2, "Ben"))),
    checks=(a_check("Ada", 1, True), a_check("Ben", 1, False)), groups=KINDS["preference"].groups,
)


def left(selection, answers=VALIDITY):
    found = select(answers, selection)
    return [item.number for item in found.items], [(one.item_id, one.annotator) for one in found.judgements]


def test_what_there_is_to_choose():
    found = choices(VALIDITY)
    assert found.datasets == (("cirr", 2), ("circo", 2))
    assert found.categories == (("unresolved", 2), ("composition_required", 1), ("unknown", 1))
    assert found.people == (Rater(1, "Ada", 4), Rater(2, "Björn", 3))
    assert found.block == 1
    # All answers of theirs, also those that no number of a report counts.
    assert choices(grid("V ?")).people == (Rater(1, "Ada", 1), Rater(2, "Björn", 1))
    shops = choices(PREFERENCE, hide_names=True)
    assert (shops.datasets, shops.block) == ((("fashioniq", 3),), 0)
    assert shops.categories == (("shirt", 1), ("dress", 1), ("unknown", 1))
    assert shops.people == (Rater(1, "P01", 2), Rater(2, "P02", 1))   # who has answered nothing is not there


def test_nothing_chosen_takes_all():
    found = select(VALIDITY, Selection())
    assert (found.items, found.judgements, found.seats) == (VALIDITY.items, VALIDITY.judgements, VALIDITY.seats)


def test_each_filter():
    assert left(Selection(datasets=("circo",)))[0] == [2, 3]
    assert left(Selection(categories=("composition_required", "unknown")))[0] == [1, 3]
    assert left(Selection(block_only=True))[0] == [2]
    items, judged = left(Selection(people=(2,)))
    assert items == [0, 1, 2, 3]     # they stay: nobody of these people has judged item 1
    assert judged == [("i0", "Björn"), ("i2", "Björn"), ("i3", "Björn")]
    assert left(Selection(datasets=("cirr",), categories=("unknown",))) == ([], [])   # all must hold
    assert left(Selection(datasets=("circo",), people=(1,), block_only=True)) == ([2], [("i2", "Ada")])
    assert select(VALIDITY, Selection(datasets=("cirr",))).decisions == ()


def test_of_a_preference_study():
    assert left(Selection(categories=("dress",)), PREFERENCE) == ([1], [("i1", "ada")])
    found = select(PREFERENCE, Selection(people=(1,)))
    assert [one.annotator for one in found.judgements] == ["Ada", "ada"]   # one person, however it is written
    assert ([seat.number for seat in found.seats], len(found.checks), len(found.assignments)) == ([1], 1, 2)


@pytest.mark.parametrize(("answers", "selection", "said"), [
    (VALIDITY, Selection(datasets=("cirr", "lasco")), "of the data set “lasco”.*cirr, circo"),
    (VALIDITY, Selection(categories=("shirt",)), "of the category “shirt”.*unresolved"),
    (VALIDITY, Selection(people=(1, 9)), "Nobody has seat 9.*1, 2"),
    (PREFERENCE, Selection(block_only=True), "has no agreement set"),
    (PREFERENCE, Selection(categories=("unresolved",)), "shirt, dress, unknown"),
    (grid("V V"), Selection(block_only=True), "no agreement set"),
    (grid(), Selection(datasets=("cirr",)), "has no items"),
    (grid(), Selection(people=(1,)), "Nobody has joined"),
])
def test_what_is_not_there_is_refused(answers, selection, said):
    with pytest.raises(StudyError, match=said):
        select(answers, selection)


def test_names_and_codes():
    seat = Seat("s1", 3, "Ada", AT, AT)
    assert (name_of(seat, hide=False), name_of(seat, hide=True)) == ("Ada", "P03")
    assert name_of(replace(seat, number=120), hide=True) == "P120"
    assert name_of(Seat("s1", 4, None, None, None), hide=False) == "P04"
    assert raters(VALIDITY, [], hide=False) == ()


def test_answers_out_of_the_store(tmp_path):
    store = SqlStudyStore(engine_of(tmp_path))
    study = make_study(store, tmp_path, items=3, seats=2, agreement_items=3, pictures=2, panel=0)
    service = StudyService(store, {"validity": Validity()})
    for person in ("Ada", "Ben"):
        workspace = service.join(study.study_id, person)
        service.save(study.study_id, person, workspace.item.item_id, valid(), f"one-press-of-{person}")
    found = load_answers(store, study)
    assert (len(found.items), len(found.assignments), len(found.judgements)) == (3, 6, 2)
    assert (found.decisions, found.checks) == ((), ())
    assert choices(found).people == (Rater(1, "Ada", 1), Rater(2, "Ben", 1))
