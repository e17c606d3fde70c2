"""A person's work in studies, over the real store."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from annotation.kinds.validity.answers import Validity
from annotation.records import Decision
from annotation.studies import input_limits
from annotation.studies.creation import release
from annotation.studies.service import StudyService
from cir_core.errors import (
    IncompleteJudgement,
    NotJoined,
    StudyClosed,
    StudyError,
    UnknownItem,
    UnknownStudy,
    UsedToken,
)
from storage.mapping import tables
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import study_store as study_store
from tests.fakes.people import Clock
from tests.fakes.people import clock as clock
from tests.fakes.studies import flagged, make_study, valid


@pytest.fixture
def service(store: SqlStudyStore, clock: Clock) -> StudyService:
    return StudyService(store, {"validity": Validity()}, clock)


def item_of(service: StudyService, who: str, position: int) -> str:
    return service.overview("Sample", who)[position].item_id


def test_joining_takes_a_seat_and_shows_the_first_item(
    service: StudyService, store: SqlStudyStore, tmp_path: Path,
) -> None:
    study = make_study(store, tmp_path)
    workspace = service.join("sample", "Ada")   # names are compared without regard to case
    assert (workspace.study.study_id, workspace.seat, workspace.position, workspace.done,
            workspace.total) == (study.study_id, 1, 0, 0, 3)
    assert workspace.item is not None and len(workspace.ahead) == 2
    assert service.workspace(study.study_id, "ada").seat == 1   # by id too, and once more is the same seat
    assert service.join("Sample", "Bea").seat == 2


def test_looking_takes_no_seat(service: StudyService, store: SqlStudyStore, tmp_path: Path) -> None:
    study = make_study(store, tmp_path)   # six items for two people
    somewhere = store.items(study.study_id)[0].item_id
    for asked in ({}, {"position": 0}, {"item_id": somewhere}):
        workspace = service.workspace("Sample", "Ada", **asked)  # type: ignore[arg-type]
        assert (workspace.joined, workspace.item, workspace.position, workspace.seat, workspace.total) == (False, None,
                                                                                                           None, 0, 3)
    workspace, progress = service.progress("Sample", "Ada")
    assert not workspace.joined and (progress.done, progress.total, progress.median_seconds) == (0, 0, None)
    for refused in (lambda: service.save("Sample", "Ada", somewhere, valid(), "token-01"),
                    lambda: service.save_draft("Sample", "Ada", somewhere, valid()),
                    lambda: service.more("Sample", "Ada"), lambda: service.overview("Sample", "Ada")):
        with pytest.raises(NotJoined, match="You have no items in Sample yet"):
            refused()
    assert [seat.annotator for seat in store.seats(study.study_id)] == [None, None]
    assert [each.joined for each in service.assigned_studies("Ada")] == [False]
    assert service.join("Sample", "Ada").joined and service.workspace("Sample", "Ada").joined
    with pytest.raises(UnknownItem, match="not one of yours"):
        service.join("Sample", "Bea", item_id=item_of(service, "Ada", 0))


def test_saving_goes_on_to_the_next_open_item_and_round_to_the_first(
    service: StudyService, store: SqlStudyStore, tmp_path: Path,
) -> None:
    make_study(store, tmp_path, seats=1, items=4)
    service.join("Sample", "Ada")
    workspace = service.workspace("Sample", "Ada", position=2)
    seen = []
    for number in range(4):
        assert workspace.item is not None
        seen.append(workspace.position)
        saved, workspace = service.save("Sample", "Ada", workspace.item.item_id, valid(), f"token-{number:02}")
        assert saved.judgement.revision == 1
    assert seen == [2, 3, 0, 1]
    assert workspace.item is None and workspace.done == workspace.total == 4


def test_staying_shows_what_was_saved(service: StudyService, store: SqlStudyStore, tmp_path: Path) -> None:
    make_study(store, tmp_path)
    first = item_of_first(service)
    _, workspace = service.save("Sample", "Ada", first, flagged("QUERY_TOO_BROAD"), "token-01", stay=True)
    assert workspace.item is not None and workspace.item.item_id == first
    assert workspace.judgement is not None and workspace.judgement.answer["flags"] == ["QUERY_TOO_BROAD"]


def test_a_repeated_call_and_a_changed_mind(service: StudyService, store: SqlStudyStore, tmp_path: Path) -> None:
    study = make_study(store, tmp_path)
    first = item_of_first(service)
    once, _ = service.save("Sample", "Ada", first, valid(), "token-01")
    again, _ = service.save("Sample", "Ada", first, valid(), "token-01")
    changed, _ = service.save("Sample", "Ada", first, flagged("QUERY_TOO_BROAD"), "token-02", seen_revision=1)
    late, _ = service.save("Sample", "Ada", first, valid(), "token-01")
    assert [(each.judgement.revision, each.repeated) for each in (once, again, changed, late)] == [
        (1, False), (1, True), (2, False), (2, True)]
    assert not changed.overtook
    assert len(store.judgements(study.study_id, history=True)) == 2


def test_a_token_is_one_answers(service: StudyService, store: SqlStudyStore, tmp_path: Path) -> None:
    study = make_study(store, tmp_path)
    first = item_of_first(service)
    service.save("Sample", "Ada", first, valid(), "token-01")
    with pytest.raises(UsedToken, match="Send a new token with every new answer"):
        service.save("Sample", "Ada", first, flagged("QUERY_TOO_BROAD"), "token-01")
    assert len(store.judgements(study.study_id, history=True)) == 1


def test_opening_the_panel_is_no_answer_and_is_never_taken_back(
    service: StudyService, store: SqlStudyStore, tmp_path: Path,
) -> None:
    make_study(store, tmp_path)
    first, presses = item_of_first(service), iter(range(100))

    def save(opened: bool, **changes: object) -> tuple[int, bool]:
        saved, _ = service.save("Sample", "Ada", first, valid(panel_opened=opened, **changes),
                                f"token-{next(presses):02}")
        return saved.judgement.revision, saved.judgement.answer["panel_opened"]

    assert [save(False), save(True), save(False)] == [(1, False)] * 3
    assert [save(False, note="so"), save(True, note="so")] == [(2, True)] * 2
    assert save(False, note="or so") == (3, True)


def test_what_a_draft_says_of_the_panel_goes_into_the_first_answer(
    service: StudyService, store: SqlStudyStore, tmp_path: Path,
) -> None:
    make_study(store, tmp_path)
    first = item_of_first(service)
    service.save_draft("Sample", "Ada", first, {"panel_opened": True})
    service.save_draft("Sample", "Ada", first, {"panel_opened": False, "note": "hm"})
    draft = service.workspace("Sample", "Ada").draft
    assert draft is not None and draft.answer["panel_opened"] is True
    service.drop_draft("Sample", "Ada", first)
    assert service.save("Sample", "Ada", first, valid(), "token-01")[0].judgement.answer == valid(panel_opened=True)


def test_a_window_that_had_not_seen_the_other_ones_answer_is_told(
    service: StudyService, store: SqlStudyStore, tmp_path: Path,
) -> None:
    make_study(store, tmp_path)
    first = item_of_first(service)
    service.save("Sample", "Ada", first, valid(), "token-01", seen_revision=0)
    saved, _ = service.save("Sample", "Ada", first, flagged("QUERY_TOO_BROAD"), "token-02", seen_revision=0)
    assert saved.overtook and saved.judgement.revision == 2


def test_drafts_come_back_and_end_when_saved(service: StudyService, store: SqlStudyStore, tmp_path: Path) -> None:
    make_study(store, tmp_path)
    first = item_of_first(service)
    service.save_draft("Sample", "Ada", first, {"flags": ["INVALID_TEXT_QUERY"], "note": "half a thou"}, seconds=12)
    draft = service.workspace("Sample", "Ada").draft
    assert draft is not None and draft.seconds == 12
    assert (draft.answer["flags"], draft.answer["note"]) == (["INVALID_TEXT_QUERY"], "half a thou")
    _, workspace = service.save("Sample", "Ada", first, valid(), "token-01", stay=True)
    assert workspace.draft is None


def test_a_draft_that_is_discarded_is_gone_and_what_was_saved_stays(
    service: StudyService, store: SqlStudyStore, tmp_path: Path,
) -> None:
    make_study(store, tmp_path)
    first = item_of_first(service)
    service.save("Sample", "Ada", first, valid(), "token-01")
    service.save_draft("Sample", "Ada", first, {"flags": ["INVALID_TEXT_QUERY"]})
    for _ in range(2):
        service.drop_draft("Sample", "ada", first)
        workspace = service.workspace("Sample", "Ada", item_id=first)
        assert workspace.draft is None
        assert workspace.judgement is not None and workspace.judgement.answer["validated"] is True
    service.join("Sample", "Bea")
    theirs = service.overview("Sample", "Bea")[0].item_id
    for item in ("no such item", theirs):
        with pytest.raises(UnknownItem):
            service.drop_draft("Sample", "Ada", item)


def test_what_is_incomplete_is_not_kept(service: StudyService, store: SqlStudyStore, tmp_path: Path) -> None:
    study = make_study(store, tmp_path)
    first = item_of_first(service)
    for answer in (None, [], "yes", {}, {"validated": "yes"}, flagged("INVALID_TEXT_QUERY"), {"colour": "red"},
                   flagged("INVALID_TEXT_QUERY", reasons=("1c",)), valid(alternatives=["0" * 24])):
        with pytest.raises(IncompleteJudgement):
            service.save("Sample", "Ada", first, answer, "token-01")
    assert store.judgements(study.study_id) == ()


def nested(depth: int) -> object:
    answer: object = []
    for _ in range(depth):
        answer = [answer]
    return answer


def test_what_is_too_large_or_no_json_is_refused_before_anything_else(
    service: StudyService, store: SqlStudyStore, tmp_path: Path,
) -> None:
    make_study(store, tmp_path)
    for answer in (valid(note="x" * 300_000), {"note": object()}, nested(100_000)):
        with pytest.raises(IncompleteJudgement, match=r"too long|not plain JSON"):
            service.save("Sample", "Ada", "no matter which", answer, "token-01")
        with pytest.raises(IncompleteJudgement, match=r"too long|not plain JSON"):
            service.save_draft("Sample", "Ada", "no matter which", answer)


def test_a_note_of_100_kb_is_refused_as_an_answer_and_kept_as_a_draft(
    service: StudyService, store: SqlStudyStore, tmp_path: Path,
) -> None:
    study = make_study(store, tmp_path)
    first, note = item_of_first(service), "ä" * 50_000
    with pytest.raises(IncompleteJudgement, match="The note has 50,000 characters"):
        service.save("Sample", "Ada", first, valid(note=note), "token-01")
    service.save_draft("Sample", "Ada", first, valid(note=note))
    draft = service.workspace("Sample", "Ada").draft
    assert draft is not None and draft.answer["note"] == note
    assert store.judgements(study.study_id) == ()


@pytest.mark.parametrize("token", ["", "short", "x" * 65, "with space", "naïve-token", "token-01\n", None, 12345678])
def test_a_token_has_its_form(token: object) -> None:
    with pytest.raises(StudyError, match="8 to 64 letters"):
        input_limits.checked_token(token)


@pytest.mark.parametrize(("given", "kept"), [
    (12.5, 12.5), (-3, 0), (10**9, 86_400), (float("nan"), 0), (float("inf"), 0), ("soon", 0), (None, 0), (True, 0)])
def test_seconds_are_clipped(given: object, kept: float) -> None:
    assert input_limits.checked_seconds(given) == kept


@pytest.mark.parametrize("revision", [-1, 1.5, "1", True, 2**40])
def test_a_revision_is_a_whole_number(revision: object) -> None:
    with pytest.raises(StudyError, match="whole number"):
        input_limits.checked_revision(revision)


def test_an_item_that_is_not_there(service: StudyService, store: SqlStudyStore, tmp_path: Path) -> None:
    make_study(store, tmp_path)
    service.join("Sample", "Ada")
    for item in ("no-such-item", "", "x" * 65, "a\0b", "half \ud800", None, 7):
        with pytest.raises(UnknownItem):
            service.save("Sample", "Ada", item, valid(), "token-01")  # type: ignore[arg-type]
        with pytest.raises(UnknownItem):
            service.save_draft("Sample", "Ada", item, valid())  # type: ignore[arg-type]


def test_another_persons_item_is_not_mine(service: StudyService, store: SqlStudyStore, tmp_path: Path) -> None:
    study = make_study(store, tmp_path)
    theirs = service.join("Sample", "Bea").item
    service.join("Sample", "Ada")
    assert theirs is not None
    with pytest.raises(UnknownItem, match="not one of yours"):
        service.save("Sample", "Ada", theirs.item_id, valid(), "token-01")
    with pytest.raises(UnknownItem):
        service.save_draft("Sample", "Ada", theirs.item_id, valid())
    with pytest.raises(UnknownItem):
        service.workspace("Sample", "Ada", item_id=theirs.item_id)
    assert store.judgements(study.study_id) == ()


def test_a_study_that_is_not_there(service: StudyService) -> None:
    for name in ("Nowhere", "", "x" * 201, "a\0b", "half \ud800", None):
        for enter in (service.workspace, service.join):
            with pytest.raises(UnknownStudy):
                enter(name, "Ada")  # type: ignore[arg-type]


def test_a_closed_study_can_be_looked_at_by_its_people_only(
    service: StudyService, store: SqlStudyStore, tmp_path: Path,
) -> None:
    study = make_study(store, tmp_path)
    first = item_of_first(service)
    service.save("Sample", "Ada", first, valid(), "token-01")
    store.set_accepting(study.study_id, False)
    assert service.workspace("Sample", "Ada", item_id=first).judgement is not None
    with pytest.raises(StudyClosed):
        service.save("Sample", "Ada", first, flagged("QUERY_TOO_BROAD"), "token-02")
    # An answer that had been kept is still acknowledged when its call comes again.
    assert service.save("Sample", "Ada", first, valid(), "token-01")[0].repeated
    for enter in (service.workspace, service.progress, service.join):
        with pytest.raises(StudyClosed, match=r"Sample (is closed|takes no more answers)"):
            enter("Sample", "Bea")
    assert service.join("Sample", "Ada").done == 1
    assert [seat.annotator for seat in store.seats(study.study_id)] == ["Ada", None]


def test_a_new_process_knows_whose_item_it_is(
    service: StudyService, store: SqlStudyStore, tmp_path: Path, clock: Clock,
) -> None:
    make_study(store, tmp_path)
    first = item_of_first(service)
    restarted = StudyService(store, {"validity": Validity()}, clock)
    assert restarted.save("Sample", "Ada", first, valid(), "token-01")[0].judgement.revision == 1


def test_my_studies(service: StudyService, store: SqlStudyStore, tmp_path: Path) -> None:
    make_study(store, tmp_path, name="One", items=6, seats=2)
    make_study(store, tmp_path, name="Two", items=8, seats=2)
    closed = make_study(store, tmp_path, name="Three")
    service.join("Three", "Ada")
    store.set_accepting(closed.study_id, False)
    workspace = service.join("One", "Ada")
    assert workspace.item is not None
    service.save("One", "Ada", workspace.item.item_id, valid(), "token-01")
    assert {(e.study.name, e.joined, e.done, e.total) for e in service.assigned_studies("ADA")} == {
        ("One", True, 1, 3), ("Two", False, 0, 4), ("Three", True, 0, 3)}
    assert {e.study.name for e in service.assigned_studies("Bea")} == {"One", "Two"}


@pytest.mark.parametrize("form", ["circus-users", "hp-fashioniq-answers"])
def test_imported_studies_are_nobodys_work(
    service: StudyService, store: SqlStudyStore, tmp_path: Path, form: str,
) -> None:
    """An account may have the name of somebody who judged elsewhere."""
    study = make_study(store, tmp_path, name="Other")
    make_study(store, tmp_path)
    service.join("Other", "Ada")
    item = item_of_first(service)
    with store.engine.begin() as connection:
        connection.execute(tables.studies.update().where(tables.studies.c.study_id == study.study_id).values(
            source={"form": form}))
    later = StudyService(store, {"validity": Validity()})
    assert [each.study.name for each in later.assigned_studies("Ada")] == ["Sample"]
    for refused in (lambda: later.workspace("Other", "Ada"), lambda: later.join("Other", "Bea"),
                    lambda: later.save("Other", "Ada", item, valid(), "token-01"),
                    lambda: later.overview("Other", "Ada"), lambda: later.progress("Other", "Ada")):
        with pytest.raises(StudyError, match="imported with its answers, so there is nothing to judge"):
            refused()
    with pytest.raises(StudyError, match="Other was imported"):
        release(store, store.study("Other"), "Ada")
    assert [seat.annotator for seat in store.seats(study.study_id)] == ["Ada", None]


def test_pace_and_time_left_once_three_items_are_done(
    service: StudyService, store: SqlStudyStore, tmp_path: Path,
) -> None:
    make_study(store, tmp_path, seats=1, items=10)
    workspace = service.join("Sample", "Ada")
    for number, seconds in enumerate((20, 0, 50, 30)):   # 0: a script that measured nothing
        assert service.progress("Sample", "Ada")[1].median_seconds is None
        assert workspace.item is not None
        answer = valid(unsure=True, validated=None) if number == 3 else valid()
        _, workspace = service.save("Sample", "Ada", workspace.item.item_id, answer, f"token-{number:02}",
                                    seconds=seconds)
    progress = service.progress("Sample", "Ada")[1]
    # Median of 20, 50 and 30 is 30; 6 of 10 are left: 180 s.
    assert (progress.done, progress.total, progress.unsure) == (4, 10, 1)
    assert (progress.median_seconds, progress.seconds_left) == (30, 180)


def test_somebody_late_shares_the_work_and_nothing_is_judged_less_often(
    service: StudyService, store: SqlStudyStore, tmp_path: Path,
) -> None:
    study = make_study(store, tmp_path, items=30, seats=2, overlap=2, agreement_items=6)
    service.join("Sample", "Ada")
    service.join("Sample", "Bea")
    late = service.join("Sample", "Cy")
    # 24 * 2 = 48 open besides the block; a third of it, 16, and the block's 6.
    assert (late.seat, late.total) == (3, 22)
    kept = [a for a in store.assignments(study.study_id) if a.state != "handed_on"]
    counts = Counter(a.item_id for a in kept)
    in_block = {item.item_id for item in store.items(study.study_id) if item.in_block}
    assert all(count == (3 if item_id in in_block else 2) for item_id, count in counts.items())


def test_who_comes_later_gets_first_what_earlier_judges_differ_on(
    service: StudyService, store: SqlStudyStore, tmp_path: Path,
) -> None:
    """Verdicts differ on one item, only the flags on another (half as bad), nothing on the rest."""
    study = make_study(store, tmp_path, items=9, seats=4, overlap=4, order="disputed")
    items = [item.item_id for item in store.items(study.study_id)]
    verdict, flags = items[4], items[7]
    before = {seat: [one.item_id for one in sorted(store.assignments(study.study_id), key=lambda one: one.position)
                     if one.seat == seat] for seat in (1, 3)}
    for who, answers in (("Ada", {}), ("Bea", {verdict: flagged("INVALID_TEXT_QUERY", reasons=("1a",)),
                                               flags: flagged("QUERY_TOO_BROAD")})):
        service.join("Sample", who)
        for number, item_id in enumerate(items):
            usual = flagged("INVALID_IMAGE_QUERY", reasons=("2a",)) if item_id == flags else valid()
            service.save("Sample", who, item_id, answers.get(item_id, usual), f"token-{number:02}")
    assert [one.item_id for one in service.overview("Sample", "Ada")] == before[1]    # nobody had answered yet
    assert (late := service.join("Sample", "Cy")).item is not None and late.item.item_id == verdict
    rest = [item_id for item_id in before[3] if item_id not in (verdict, flags)]
    assert [one.item_id for one in service.overview("Sample", "Cy")] == [verdict, flags, *rest]
    service.save("Sample", "Cy", verdict, valid(), "token-00")
    service.save("Sample", "Cy", rest[0], flagged("QUERY_TOO_BROAD"), "token-01")
    # Who is at work already keeps their order, also by opening the study once more.
    service.join("Sample", "Cy")
    assert [one.item_id for one in service.overview("Sample", "Cy")] == [verdict, flags, *rest]
    service.join("Sample", "Di")    # one of three pairs agrees on the verdict, and on Cy's other item; on the flags ½
    first = [one.item_id for one in service.overview("Sample", "Di")][:3]
    assert first == [*sorted([verdict, rest[0]]), flags]


def test_what_was_decided_is_no_longer_disputed(service: StudyService, store: SqlStudyStore, tmp_path: Path) -> None:
    study = make_study(store, tmp_path, items=4, seats=3, overlap=3, order="disputed")
    items = [item.item_id for item in store.items(study.study_id)]
    for who, answer in (("Ada", valid()), ("Bea", flagged("INVALID_TEXT_QUERY", reasons=("1a",)))):
        service.join("Sample", who)
        for number, item_id in enumerate(items):
            service.save("Sample", who, item_id, answer if item_id in items[:2] else valid(), f"token-{number:02}")
    assert service.first_items(study) == sorted(items[:2])
    store.decide(Decision("d", study.study_id, items[0], "Judith", 0, "decided-1", valid(), "", study.created_at))
    assert service.first_items(study) == [items[1]]


def test_who_is_done_can_take_more(service: StudyService, store: SqlStudyStore, tmp_path: Path) -> None:
    make_study(store, tmp_path, items=40, seats=2)
    service.join("Sample", "Bea")
    workspace = service.join("Sample", "Ada")
    assert service.more("Sample", "Ada")[0] == 0   # not before
    while workspace.item is not None:
        _, workspace = service.save("Sample", "Ada", workspace.item.item_id, valid(), f"token-{workspace.done:02}")
    added, workspace = service.more("Sample", "Ada")
    # Bea has 20 open: half of them.
    assert (added, workspace.total, workspace.position) == (10, 30, 20)
    assert len(service.overview("Sample", "Bea")) == 10


def test_a_study_can_be_finished_without_somebody_who_has_left(
    service: StudyService, store: SqlStudyStore, tmp_path: Path,
) -> None:
    """Ten items for two, two of them the block: four of their own and the block each."""
    study = make_study(store, tmp_path, items=10, seats=2, agreement_items=2)
    first = item_of_first(service)
    service.join("Sample", "Bea")
    service.save("Sample", "Ada", first, valid(), "token-00")
    block = {item.item_id for item in store.items(study.study_id) if item.in_block}
    released = release(store, study, "ada")
    assert (released.items, released.block, released.freed) == ((4, 1, False) if first in block else (3, 2, False))
    pass_all(service, "Bea")
    assert service.more("Sample", "Bea")[0] == released.items
    pass_all(service, "Bea")
    counts = store.counts(study.study_id)
    assert counts["done"] == counts["assignments"] == 7 + released.items
    # Ada comes back, and asks for more: it is the rest of the block.
    assert service.workspace("Sample", "Ada").item is None
    added, workspace = service.more("Sample", "Ada")
    assert added == released.block and workspace.item is not None and workspace.item.item_id in block


def test_who_lost_the_seat_may_come_again(service: StudyService, store: SqlStudyStore, tmp_path: Path) -> None:
    study = make_study(store, tmp_path)
    first = item_of_first(service)
    assert release(store, study, "Ada").freed
    assert not service.workspace("Sample", "Ada").joined   # also where the service had known better
    with pytest.raises(NotJoined):
        service.save("Sample", "Ada", first, valid(), "token-01")
    again = service.join("Sample", "Ada")
    assert again.seat == 1 and again.item is not None and again.item.item_id == first
    with pytest.raises(StudyError, match="Zoe has no seat"):
        release(store, study, "Zoe")


def test_work_of_somebody_away_for_longer_than_the_lease(
    service: StudyService, store: SqlStudyStore, tmp_path: Path, clock: Clock,
) -> None:
    make_study(store, tmp_path, items=20, seats=2, lease_hours=24)
    first = item_of_first(service)
    service.join("Sample", "Bea")
    clock.now += timedelta(hours=25)
    service.workspace("Sample", "Bea")
    assert service.join("Sample", "Cy").total == 10   # 20 open, Bea at work: half, all of it Ada's
    assert service.overview("Sample", "Ada") == []
    # Ada comes back: what she had begun she may still answer.
    saved, _ = service.save("Sample", "Ada", first, valid(), "token-01")
    assert saved.judgement.revision == 1 and len(service.overview("Sample", "Ada")) == 1


def test_a_seat_emptied_before_anybody_took_it_gets_work_again(
    service: StudyService, store: SqlStudyStore, tmp_path: Path,
) -> None:
    study = make_study(store, tmp_path, items=36, seats=3)
    service.join("Sample", "Ada")
    service.join("Sample", "Bea")
    pass_all(service, "Ada")
    # 24 are open with Bea and in the free seat: a third, 8 of the seat's; then 16: 6, the seat's 4 and 2 of Bea's.
    for share in (8, 6):
        assert service.more("Sample", "Ada")[0] == share
        pass_all(service, "Ada")
    assert [a for a in store.assignments(study.study_id) if a.seat == 3 and a.state == "open"] == []
    # Cy finds the seat empty and gets half of Bea's 10.
    workspace = service.join("Sample", "Cy")
    assert (workspace.seat, workspace.done, workspace.total) == (3, 0, 5)


def test_studies_of_another_kind_are_not_shown(store: SqlStudyStore, tmp_path: Path) -> None:
    make_study(store, tmp_path)
    service = StudyService(store, {})
    assert service.assigned_studies("Ada") == []
    for enter in (service.workspace, service.join):
        with pytest.raises(StudyError, match="does not support"):
            enter("Sample", "Ada")
    with pytest.raises(StudyError, match="does not support"):
        service.page("Sample")


def test_the_page_knows_the_rubric_and_the_studys_own_settings(
    service: StudyService, store: SqlStudyStore, tmp_path: Path,
) -> None:
    make_study(store, tmp_path, settings={"unsure_after": 90})
    page = service.page("Sample")
    assert page["unsure_after"] == 90 and page["broad_at"] == 10 and len(page["flags"]) == 4


def item_of_first(service: StudyService) -> str:
    item = service.join("Sample", "Ada").item
    assert item is not None
    return item.item_id


def pass_all(service: StudyService, who: str) -> None:
    """Answer all that is open."""
    workspace = service.join("Sample", who)
    while workspace.done < workspace.total:
        assert workspace.item is not None
        _, workspace = service.save("Sample", who, workspace.item.item_id, valid(), f"token-{workspace.done:02}")
