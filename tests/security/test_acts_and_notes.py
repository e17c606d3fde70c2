"""Whatever changes accounts or studies is noted in the transaction that does it: both are kept, or neither."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event, select

from annotation.accounts.service import Passwords, PeopleService
from annotation.kinds.validity.answers import Validity
from annotation.records import (
    AUDIT_ACTIONS,
    AuditAction,
    Decision,
    GoldItem,
    MetricScores,
    Participant,
    PaymentDecision,
    Recruitment,
    Seat,
    Study,
)
from annotation.studies.service import StudyService
from cir_core.errors import StorageError
from cir_core.types.records import new_id
from storage.accounts.audit_log import SqlAuditLog
from storage.accounts.store import SqlPeopleStore
from storage.engine.database import reading
from storage.mapping.tables import metadata
from storage.studies.recruitment import SqlRecruitmentStore
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import engine as engine
from tests.fakes.people import LIGHT, PASSWORD
from tests.fakes.studies import make_preference_study, make_study, valid
from tests.fakes.study_records import IMAGES, ITEMS, PLACES, START, STUDY, a_judgement

NOW = datetime(2026, 5, 1, tzinfo=UTC)

# What changes nothing that the log is about: a download is noted before it is given, a wrong password changes no
# account, benchmarks and jobs are files, and a backup or a restore is over when it is noted.
NOTED_ALONE: set[AuditAction] = {
    "sign-in.failed", "sign-in.throttled", "study.exported", "report.downloaded", "session.exported",
    "benchmark.started", "benchmark.stopped", "benchmark.downloaded", "log.exported",
    "job.started", "job.stopped", "job.resumed", "job.forgotten",
    "database.backed-up", "database.restored"}


@dataclass(frozen=True)
class There:
    """Ada, an admin; Bob, who is signed in, and Cy, who is not active; an invitation; a validity study that Bob began
    and a preference study with scores; a study that takes no more answers."""

    people: PeopleService
    studies: SqlStudyStore
    signed_in: str
    invited: str
    study: Study
    answered: str
    shops: Study
    closed: Study

    @property
    def recruitment(self) -> SqlRecruitmentStore:
        return SqlRecruitmentStore(self.studies.engine)

    def scores(self, name: str) -> MetricScores:
        return MetricScores(name, "", {(self.studies.items(self.shops.study_id)[0].item_id, 1): 0.5})

    def decide(self) -> None:
        study_id, item = self.study.study_id, self.answered
        self.studies.decide(Decision(new_id(), study_id, item, "Ada", 0, "token-decide", valid(), "", NOW))


CASES: Mapping[AuditAction, Callable[[There], object]] = {
    "sign-in": lambda it: it.people.sign_in("Ada", PASSWORD),
    "sign-out": lambda it: it.people.sign_out(it.signed_in),
    "account.made": lambda it: it.people.add("Eve", PASSWORD, "analyst", by="Ada"),
    "account.role": lambda it: it.people.set_role("Bob", "analyst", by="Ada"),
    "account.password": lambda it: it.people.set_password("Bob", "another horse", by="Ada"),
    "account.deactivated": lambda it: it.people.deactivate("Bob", by="Ada"),
    "account.activated": lambda it: it.people.reactivate("Cy", by="Ada"),
    "invitation.made": lambda it: it.people.invite("analyst", 7, 2, "Ada"),
    "invitation.used": lambda it: it.people.accept(it.invited, "Eve", PASSWORD),
    "invitation.withdrawn": lambda it: it.people.withdraw(it.people.invitations()[0].handle, by="Ada"),
    "study.made": lambda it: it.studies.create(STUDY, ITEMS, IMAGES, PLACES),
    "study.imported": lambda it: it.studies.create(
        STUDY, ITEMS, IMAGES, PLACES, seats=[Seat("s1", 1, "Ann", START, START)],
        judgements=[a_judgement("i0", "Ann", "token-i0", revision=1)]),
    "study.opened": lambda it: it.studies.set_accepting(it.closed.study_id, True, by="Ada"),
    "study.closed": lambda it: it.studies.set_accepting(it.study.study_id, False, by="Ada"),
    "study.released": lambda it: it.studies.release(it.study.study_id, "Bob", by="Ada"),
    "study.renamed": lambda it: it.studies.rename(it.study.study_id, "Second", by="Ada"),
    "study.removed": lambda it: it.studies.remove(it.study.study_id, by="Ada"),
    "study.settings": lambda it: it.studies.change_settings(it.study.study_id, {"broad_at": 3}, by="Ada"),
    "study.gold": lambda it: it.studies.make_gold(it.study.study_id, lambda there, places: (
        [GoldItem(it.study.study_id, it.answered, "gold", valid(), "", "Ada", NOW)], []), by="Ada"),
    "study.recruiting": lambda it: it.recruitment.save(
        Recruitment(it.study.study_id, "link-token", "secret", {"open": True}), by="Ada"),
    "study.paid": lambda it: it.recruitment.pay(it.study.study_id, [PaymentDecision("p1", "approved")], by="Ada"),
    "scores.added": lambda it: it.studies.save_scores(it.shops.study_id, it.scores("Other"), "Ada", NOW),
    "scores.removed": lambda it: it.studies.drop_scores(it.shops.study_id, "Recall", by="Ada"),
    "item.decided": lambda it: it.decide(),
}


@pytest.fixture
def there(engine: Engine, tmp_path: Path) -> There:
    people = PeopleService(SqlPeopleStore(engine), passwords=Passwords(LIGHT))
    people.add("Ada", PASSWORD, "admin")
    people.add("Bob", PASSWORD, "annotator")
    people.add("Cy", PASSWORD, "annotator")
    people.deactivate("Cy")
    studies = SqlStudyStore(engine)
    study = make_study(studies, tmp_path, name="First", edge=16)
    judge = StudyService(studies, {"validity": Validity()})
    item = judge.join("First", "Bob").item
    assert item is not None
    judge.save("First", "Bob", item.item_id, valid(), "token-001")
    shops = make_preference_study(studies, tmp_path, edge=16)
    closed = make_study(studies, tmp_path, name="Closed", accepting=False, edge=16)
    made = There(people, studies, people.sign_in("Bob", PASSWORD), people.invite("annotator", 7, 1, "Ada"), study,
                 item.item_id, shops, closed)
    studies.save_scores(shops.study_id, made.scores("Recall"), "Ada", NOW)
    made.recruitment.enter(Participant(study.study_id, "p1", "P-1", {}, "new", {}, "", NOW))
    return made


def rows(engine: Engine) -> dict[str, list[str]]:
    """All that is in the database."""
    with reading(engine) as connection:
        return {table.name: sorted(map(repr, connection.execute(select(table)))) for table in metadata.sorted_tables}


@contextmanager
def no_room_in_the_log(engine: Engine) -> Iterator[None]:
    def refuse(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if "INSERT INTO audit_log" in statement:
            raise StorageError("no room")

    event.listen(engine, "before_cursor_execute", refuse)
    try:
        yield
    finally:
        event.remove(engine, "before_cursor_execute", refuse)


def test_every_kind_of_act_has_a_case_or_changes_nothing() -> None:
    assert CASES.keys() | NOTED_ALONE == set(AUDIT_ACTIONS) and not CASES.keys() & NOTED_ALONE


@pytest.mark.parametrize("kind", CASES)
def test_an_act_and_its_note_stand_or_fall_together(engine: Engine, there: There, kind: AuditAction) -> None:
    before, log = rows(engine), SqlAuditLog(engine)
    last = log.acts(limit=1)[0].number
    with no_room_in_the_log(engine), pytest.raises(StorageError, match="no room"):
        CASES[kind](there)
    assert rows(engine) == before

    CASES[kind](there)
    after = rows(engine)
    assert any(after[name] != before[name] for name in after if name != "audit_log")
    assert kind in [one.act.kind for one in log.acts() if one.number > last]
