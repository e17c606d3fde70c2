"""A study gets another name, or goes with all that belongs to it; others are as they were."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import cycle

import pytest
from sqlalchemy import func, select

from annotation.kinds.validity.answers import Validity
from annotation.records import Assignment, Decision, Draft, Judgement, Seat, StudyEvent, StudyPlan
from annotation.studies.copying import duplicate_study
from annotation.studies.creation import (
    is_archived,
    remove_study,
    remove_with_backup,
    rename_study,
    set_accepting,
    set_archived,
)
from annotation.studies.gold import make_gold
from annotation.studies.guidelines import Guidelines, set_guidelines, text_of
from annotation.studies.image_snapshots import studies_folder
from annotation.studies.overview import seat_progress
from annotation.studies.service import StudyService
from cir_core.errors import StorageError, StudyClosed, StudyError, UnknownStudy
from cir_core.types.records import new_id
from storage.mapping import tables
from tests.fakes.databases import study_store as study_store
from tests.fakes.judged import AT, answer_of, item_of, judgement_of, study_of
from tests.fakes.patience import PATIENCE
from tests.fakes.picture_tables import png
from tests.fakes.studies import make_study, valid

NOW = datetime(2026, 3, 1, tzinfo=UTC)
OF_STUDIES = (tables.studies, tables.study_images, tables.study_items, tables.study_seats, tables.assignments,
              tables.judgements, tables.drafts, tables.study_events, tables.decisions)


def a_judgement(study, item_id, name="Ada", answer=None):
    return Judgement(new_id(), study.study_id, item_id, name, 0, new_id(), "circus/1", answer or valid(), 1.0, NOW)


def lived_in(store, home, name):
    """A study with something in every table: two revisions, a draft, an event, a decision."""
    study = make_study(store, home, name=name, items=3, pictures=12, panel=4)
    store.join(study.study_id, "Ada", NOW, lambda work: ())
    first, second = (one.item_id for one in store.overview(study.study_id, "Ada")[:2])
    for answer in (valid(), valid(note="b")):
        store.save(a_judgement(study, first, answer=answer), unsure=False)
    store.save_draft(study.study_id, Draft(second, "Ada", {"note": "?"}, 1.0, NOW))
    store.note(StudyEvent(new_id(), study.study_id, "Ada", "consent", new_id(), {}, NOW))
    store.decide(Decision(new_id(), study.study_id, first, "Bo", 0, new_id(), valid(), "so", NOW))
    return study


def rows(store, study=None):
    with store.engine.connect() as connection:
        return {table.name: connection.execute(select(func.count()).select_from(table).where(
            table.c.study_id == study.study_id if study else True)).scalar_one() for table in OF_STUDIES}


def files(home, study):
    folder = studies_folder(home)
    return {path.name for path in folder.rglob("*") if study.study_id in str(path.relative_to(folder))}


def test_a_removed_study_leaves_nothing_and_others_stay(store, tmp_path):
    gone, kept = (lived_in(store, tmp_path, name) for name in ("Gone", "Kept"))
    before = rows(store, kept)
    assert all(before.values()) and rows(store, gone) == before and len(files(tmp_path, gone)) == 25
    remove_study(store, tmp_path, gone)
    assert not any(rows(store, gone).values()) and rows(store, kept) == rows(store) == before
    assert files(tmp_path, gone) == set() and len(files(tmp_path, kept)) == 25
    assert [one.study_id for one in store.studies()] == [kept.study_id]
    for again in (lambda: remove_study(store, tmp_path, gone), lambda: store.rename(gone.study_id, "New"),
                  lambda: store.study("Gone"), lambda: store.save(a_judgement(gone, "x"), unsure=False)):
        with pytest.raises(UnknownStudy):
            again()
    assert make_study(store, tmp_path, name="gone").name == "gone", "its name is free"


def test_pictures_whose_study_went_before_them_are_cleared_with_the_next_one(store, tmp_path, monkeypatch):
    """Killed between the two, a removal must not leave pictures that nothing will ever find."""
    one, two = (make_study(store, tmp_path, name=name, items=2, pictures=4, panel=1) for name in ("one", "two"))
    with monkeypatch.context() as patch:
        patch.setattr("annotation.studies.creation.clear_pictures",
                      lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            remove_study(store, tmp_path, one)
    assert files(tmp_path, one), "the study is gone, its pictures are not"
    remove_study(store, tmp_path, two)
    assert list(studies_folder(tmp_path).iterdir()) == []


def test_where_the_database_is_away_everything_stays(store, tmp_path, monkeypatch):
    study = lived_in(store, tmp_path, "one")
    before, pictures = rows(store), files(tmp_path, study)

    def away(study_id, *, by):
        raise StorageError("The database is away.")

    with monkeypatch.context() as patch:
        patch.setattr(store, "remove", away)
        with pytest.raises(StorageError):
            remove_study(store, tmp_path, study)
    assert rows(store) == before
    other = make_study(store, tmp_path, name="two", items=1, pictures=2, panel=0)
    remove_study(store, tmp_path, other)     # which clears what was left
    assert files(tmp_path, study) == pictures


def test_who_is_saving_while_a_study_is_removed_is_told(store, tmp_path):
    study = make_study(store, tmp_path, items=30, seats=1, pictures=2, panel=0)
    store.join(study.study_id, "Ada", NOW, lambda work: ())
    ids, told, begun = [one.item_id for one in store.overview(study.study_id, "Ada")], [], threading.Event()

    def judge():
        try:
            for item_id in cycle(ids):
                store.save(a_judgement(study, item_id, answer=valid(note=new_id())), unsure=False)
                begun.set()
        except Exception as error:
            told.append(error)

    thread = threading.Thread(target=judge)
    thread.start()
    assert begun.wait(PATIENCE)
    store.remove(study.study_id)
    thread.join()
    assert [type(error) for error in told] == [UnknownStudy]
    assert not any(rows(store).values())


def test_another_name(store, tmp_path):
    study, other = (make_study(store, tmp_path, name=name, items=1, pictures=2, panel=0) for name in ("one", "two"))
    assert rename_study(store, study, " Straße 1 ") == replace(study, name="Straße 1") == store.study("STRASSE 1")
    assert store.study("straße 1").study_id == study.study_id
    with pytest.raises(UnknownStudy, match="'one'"):
        store.study("one")
    study = rename_study(store, store.study("straße 1"), "STRASSE 1")
    assert study.name == "STRASSE 1", "its own, written otherwise"
    invalid = "is not a valid study name"
    for name, says in (("TWO", "'two' is already taken"), ("", invalid), ("a\nb", invalid), ("x" * 81, invalid),
                       ("a\ud800", invalid)):
        with pytest.raises(StudyError, match=says):
            rename_study(store, study, name)
    with pytest.raises(StudyError, match="name 'two' is already taken"):
        store.rename(study.study_id, "two")      # also where it was taken since one looked
    assert [one.name for one in store.studies()].count("STRASSE 1") == 1 and store.study("two") == other


def test_a_running_server_learns_of_both_within_a_second(store, tmp_path):
    """A study of the same name, made after the first one went, is not taken for it."""
    clock = [100.0]
    service = StudyService(store, {"validity": Validity()}, timer=lambda: clock[0])
    first = make_study(store, tmp_path, name="one", items=1, pictures=2, panel=0)
    assert service.join("one", "Ada").study.study_id == first.study_id
    rename_study(store, first, "old")
    second = make_study(store, tmp_path, name="one", items=1, pictures=2, panel=0)
    clock[0] += 1.5
    assert service.join("one", "Ada").study.study_id == second.study_id
    assert service.workspace("old", "Ada").study == replace(first, name="old")
    remove_study(store, tmp_path, second)
    clock[0] += 1.5
    with pytest.raises(UnknownStudy, match="No study 'one' here"):
        service.workspace("one", "Ada")
    third = make_study(store, tmp_path, name="one", items=1, pictures=2, panel=0)
    assert service.join("one", "Ada").study.study_id == third.study_id


# --- how far the people of a study are -------------------------------------------------------

def states(seat, annotator, **counts):
    return [Assignment(f"i{state}{n}", seat, n, state, annotator)
            for state, many in counts.items() for n in range(many)]


def test_counts_pace_and_who_is_away():
    study = study_of(plan=StudyPlan(3, 1, 0, 7, lease_hours=2))
    seats = [Seat("s1", 3, None, None, None), Seat("s1", 2, "Bea", AT, None),
             Seat("s1", 1, "Ada", AT, AT + timedelta(hours=3))]
    work = [*states(1, "Ada", done=3, unsure=1, open=2), *states(2, "Bea", open=1, handed_on=4),
            *states(3, None, open=5)]
    said = [judgement_of(item_of(n), "ada", answer_of(), seconds=s) for n, s in enumerate((10.0, 30.0, 80.0, 0.0))]
    ada, bea, free = seat_progress(study, seats, work, said, AT + timedelta(hours=4))
    # Unsure ones are answered too; what nobody timed (0 s) says nothing of the pace: median of 10, 30, 80.
    assert (ada.done, ada.unsure, ada.open, ada.total, ada.median_seconds) == (4, 1, 2, 6, 30.0)
    assert not ada.away                              # seen an hour ago, and two are allowed
    assert (bea.done, bea.open, bea.total, bea.median_seconds) == (0, 1, 1, None)   # what was handed on is not hers
    assert bea.away                                  # joined four hours ago and never seen since
    assert (free.annotator, free.open, free.away) == (None, 5, False)


def test_somebody_who_is_done_is_not_away():
    study = study_of(plan=StudyPlan(1, 1, 0, 7, lease_hours=2))
    (ada,) = seat_progress(study, [Seat("s1", 1, "Ada", AT, AT)], states(1, "Ada", done=2), [], AT + timedelta(days=9))
    assert not ada.away and ada.total == 2


def test_a_duplicate_has_the_same_items_and_seats_and_nobodys_answers(store, tmp_path):
    study = lived_in(store, tmp_path, "one")
    picture = tmp_path / "p.png"
    picture.write_bytes(png())
    study = set_guidelines(store, tmp_path, study, Guidelines("![p](p.png)", lambda name: picture))
    copy = duplicate_study(store, tmp_path, study, "two", by="Ada")
    assert not copy.accepting and text_of(copy) == "![p](p.png)"
    assert [item.shown for item in store.items(copy.study_id)] == [item.shown for item in store.items(study.study_id)]
    number = {item.item_id: item.number for made in (study, copy) for item in store.items(made.study_id)}
    planned, copied = ({(number[one.item_id], one.seat, one.position) for one in store.assignments(made.study_id)}
                       for made in (study, copy))
    assert copied == planned
    assert store.counts(copy.study_id)["done"] == 0 and all(s.annotator is None for s in store.seats(copy.study_id))
    names = {path.name for path in (studies_folder(tmp_path) / copy.study_id).iterdir()}
    token = copy.settings["own_guidelines"]["pictures"]["p.png"]
    assert {f"{token}-s.webp", f"{token}-l.webp"} <= names
    with pytest.raises(StudyError, match="taken"):
        duplicate_study(store, tmp_path, study, "One")


def test_a_duplicate_has_no_gold_of_somebody(store, tmp_path):
    study = make_study(store, tmp_path, name="one", items=6, seats=2)
    planned = {(one.seat, one.position) for one in store.assignments(study.study_id)}
    known = next(one.item_id for one in store.assignments(study.study_id) if one.seat == 2)
    store.decide(Decision("d", study.study_id, known, "Judith", 0, "decided-1", valid(), "", NOW))
    assert make_gold(store, study, Validity().dealt_extra, by="Olga").dealt == 1
    assert len(store.assignments(study.study_id)) == len(planned) + 1
    copy = duplicate_study(store, tmp_path, study, "two")
    assert len(store.assignments(copy.study_id)) == len(planned)


def test_a_duplicate_does_not_tell_what_was_disputed(store, tmp_path):
    study = make_study(store, tmp_path, name="one", items=20, seats=2, overlap=2, order="disputed")
    last = [item.item_id for item in store.items(study.study_id)][::-1]
    store.join(study.study_id, "Ada", NOW, lambda work: [], last)
    copy = duplicate_study(store, tmp_path, study, "two")
    number = {item.item_id: item.number for made in (study, copy) for item in store.items(made.study_id)}

    def order(made, seat):
        places = sorted(store.assignments(made.study_id), key=lambda one: one.position)
        return [number[one.item_id] for one in places if one.seat == seat]

    assert order(study, 1) == list(range(20))[::-1]
    for seat in (1, 2):
        assert sorted(order(copy, seat)) == list(range(20)) and order(copy, seat) != order(study, seat)


def test_gold_and_training_keep_their_places_among_items_that_come_first(store, tmp_path):
    study = make_study(store, tmp_path, name="one", items=12, seats=2)
    others = [one for one in store.assignments(study.study_id) if one.seat == 2]
    for number, known in enumerate(others[:2]):
        store.decide(Decision(f"d{number}", study.study_id, known.item_id, "Judith", 0, f"decided-{number}", valid(),
                              "", NOW))
    make_gold(store, study, Validity().dealt_extra, by="Olga", training=1)

    def work():
        found = sorted(store.assignments(study.study_id), key=lambda one: one.position)
        mine = [one for one in found if one.seat == 1]
        return [one.item_id for one in mine if one.dealt is None], [
            (one.item_id, one.dealt, one.position) for one in mine if one.dealt is not None]

    own, dealt = work()
    assert len(own) == 6 and {one[1] for one in dealt} == {"training", "gold"}
    store.join(study.study_id, "Ada", NOW, lambda work: [], [own[-1], own[2]])
    assert work() == ([own[-1], own[2], *(one for one in own if one not in (own[-1], own[2]))], dealt)


def test_no_answer_is_taken_that_the_backup_of_a_removal_lacks(store, tmp_path):
    study = make_study(store, tmp_path, name="one", items=2, seats=1)
    service = StudyService(store, {"validity": Validity()})
    item = service.join(study.study_id, "Ada").item.item_id

    def back_up():
        with pytest.raises(StudyClosed):
            service.save(study.study_id, "Ada", item, valid(), "token-00001")
        raise StorageError("The disk is full.")

    with pytest.raises(StorageError):
        remove_with_backup(store, tmp_path, study, "one", back_up)
    service.save(study.study_id, "Ada", item, valid(), "token-00001")   # it is open again


def test_an_archived_study_is_closed_and_in_nobodys_list_until_it_is_back(store, tmp_path):
    study = make_study(store, tmp_path, name="one", items=2, seats=1)
    service = StudyService(store, {"validity": Validity()})
    service.join(study.study_id, "Ada")
    archived = set_archived(store, study, True)
    assert is_archived(archived) and not archived.accepting and service.assigned_studies("Ada") == []
    assert archived.settings.items() >= study.settings.items()
    back = set_archived(store, archived, False)
    assert not is_archived(back) and not back.accepting and len(service.assigned_studies("Ada")) == 1
    assert not is_archived(set_accepting(store, set_archived(store, back, True), True))   # opening brings it back


def test_removal_asks_for_the_name_and_keeps_a_backup_with_the_images(store, tmp_path):
    study = lived_in(store, tmp_path, "one")
    images = {path.name for path in (studies_folder(tmp_path) / study.study_id).iterdir()}
    kept = tmp_path / "backups" / "before.db"

    def back_up():
        kept.parent.mkdir(exist_ok=True)
        kept.write_bytes(b"a backup")
        return kept

    with pytest.raises(StudyError, match="does not match"):
        remove_with_backup(store, tmp_path, study, "two", back_up)
    assert not kept.exists() and store.study("one") == study
    assert remove_with_backup(store, tmp_path, study, "one", back_up) == kept
    with pytest.raises(UnknownStudy):
        store.study("one")
    assert {path.name for path in (kept.parent / "before-images" / study.study_id).iterdir()} == images

    def full():
        raise StorageError("The disk is full.")

    other = lived_in(store, tmp_path, "two")
    with pytest.raises(StorageError):
        remove_with_backup(store, tmp_path, other, "two", full)
    assert store.study("two") == other
