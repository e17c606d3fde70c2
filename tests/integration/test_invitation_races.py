"""Many who take up one invitation at the same moment, by threads of one process and by processes of their own, while it
is withdrawn, or while whoever made it is deactivated."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Engine

from annotation.accounts.service import PeopleService
from annotation.records import LoggedEvent
from cir_core.errors import AccessError
from storage.accounts.audit_log import SqlAuditLog
from storage.accounts.store import SqlPeopleStore
from tests.fakes.databases import database_of
from tests.fakes.databases import engine as engine
from tests.fakes.forked import start
from tests.fakes.patience import PATIENCE, wait_for
from tests.fakes.people import PASSWORD, people_service

ROUNDS = 12
_TAKE = """
import sys
from pathlib import Path
from storage.engine.database import open_database
from storage.accounts.store import SqlPeopleStore
from cir_core.errors import AccessError
from tests.fakes.people import PASSWORD
from annotation.accounts.service import Passwords
from annotation.accounts.service import PeopleService
from tests.fakes.people import LIGHT
from tests.fakes.patience import wait_for

people = PeopleService(SqlPeopleStore(open_database(sys.argv[1])), passwords=Passwords(LIGHT))
print("ready", flush=True)
wait_for(Path(sys.argv[3]).exists, pause=0.001)
for number, secret in enumerate(Path(sys.argv[3]).read_text().split()):
    try:
        people.accept(secret, f"{sys.argv[2]} {number}", PASSWORD)
        print("in", flush=True)
    except AccessError:
        print("out", flush=True)
"""


@pytest.fixture
def store(engine: Engine) -> SqlPeopleStore:
    return SqlPeopleStore(engine)


@pytest.fixture
def people(store: SqlPeopleStore) -> PeopleService:
    service = PeopleService(store, passwords=people_service()._passwords)
    service.add("Ada", PASSWORD, "admin")
    service.add("Ben", PASSWORD, "admin")
    return service


def at_once(*works: Callable[[], object]) -> list[object]:
    """What each gave, or ``AccessError``; anything else fails the test."""
    together, found = threading.Barrier(len(works)), [object()] * len(works)

    def run(number: int) -> None:
        together.wait()
        try:
            found[number] = works[number]()
        except AccessError as error:
            found[number] = error
        except BaseException as error:
            found[number] = AssertionError(repr(error))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one in found:
        if isinstance(one, AssertionError):
            raise one
    return found


def acts(store: SqlPeopleStore) -> list[LoggedEvent]:
    return list(reversed(SqlAuditLog(store.engine).acts(limit=1000)))


@pytest.mark.parametrize("uses", [1, 3])
def test_it_is_taken_up_as_often_as_it_says(people: PeopleService, uses: int) -> None:
    for number in range(ROUNDS):
        secret = people.invite("annotator", 7, uses, "Ada")
        before = len(people.people())
        done = at_once(*(partial(people.accept, secret, f"Person {number} {who}", PASSWORD)
                         for who in ("one", "two", "three", "four", "five", "six")))
        assert sum(isinstance(one, str) for one in done) == uses
        assert len(people.people()) == before + uses
        with pytest.raises(AccessError):
            people.invitation(secret)


def test_one_name_is_had_once_and_costs_one_use(people: PeopleService) -> None:
    """Also two that only look the same."""
    for number in range(ROUNDS):
        secret = people.invite("annotator", 7, 5, "Ada")
        before = len(people.people())
        done = at_once(*(partial(people.accept, secret, name, PASSWORD)
                         for name in (f"Cy {number}", f"cy {number}", f"CY {number}", f"Cy {number}")))
        assert sum(isinstance(one, str) for one in done) == 1
        assert len(people.people()) == before + 1
        assert people.invitation(secret).uses_left == 4


def test_nobody_takes_up_what_was_withdrawn(people: PeopleService, store: SqlPeopleStore) -> None:
    for number in range(ROUNDS):
        secret = people.invite("annotator", 7, 2, "Ada")
        handle = people.invitation(secret).handle
        before = len(people.people())
        taken, *_ = at_once(partial(people.accept, secret, f"Dee {number}", PASSWORD),
                            partial(people.withdraw, handle), partial(people.withdraw, handle))
        assert len(people.people()) == before + isinstance(taken, str)
        with pytest.raises(AccessError):
            people.accept(secret, f"Late {number}", PASSWORD)
        kinds = [one.act.kind for one in acts(store) if one.act.about == handle]
        assert kinds.count("invitation.withdrawn") == 1, "by one of the two who tried"
        assert kinds == ["invitation.made", *(["invitation.used"] * isinstance(taken, str)), "invitation.withdrawn"]


def test_nobody_takes_up_what_somebody_made_who_was_deactivated(people: PeopleService, store: SqlPeopleStore) -> None:
    for number in range(ROUNDS):
        secret = people.invite("annotator", 7, 2, "Ben")
        handle = people.invitation(secret).handle
        taken, _ = at_once(partial(people.accept, secret, f"Eve {number}", PASSWORD), partial(people.deactivate, "Ben"))
        with pytest.raises(AccessError):
            people.accept(secret, f"Late {number}", PASSWORD)
        kinds = [one.act.kind for one in acts(store) if one.act.about in (handle, "Ben")]
        if isinstance(taken, str):
            # Before the account that made it was closed: on a server both may note at the same moment.
            assert kinds.index("invitation.used", 1) and kinds[-1] == "invitation.withdrawn"
        people.reactivate("Ben")


@pytest.mark.extended
def test_processes_of_their_own(people: PeopleService, tmp_path: Path) -> None:
    """Four processes on one database, each with all the secrets: every one of them is for two."""
    secrets = [people.invite("annotator", 7, 2, "Ada") for _ in range(20)]
    before = len(people.people())
    logs = [tmp_path / name for name in ("ash", "birch", "cedar", "date")]
    started = []
    for log in logs:
        with log.open("w") as output:
            started.append(start("-c", _TAKE, database_of(tmp_path), f"Process {log.name}", str(tmp_path / "secrets"),
                                 environment=os.environ, output=output))
    wait_for(lambda: all(log.read_text() == "ready\n" for log in logs),
             going=lambda: all(process.poll() is None for process in started))
    (tmp_path / "new").write_text("\n".join(secrets))
    (tmp_path / "new").rename(tmp_path / "secrets")
    assert [process.wait(PATIENCE) for process in started] == [0] * 4
    said = [log.read_text().split()[1:] for log in logs]
    assert [len(lines) for lines in said] == [20] * 4, "nobody stumbled over anything else"
    assert all([lines[number] for lines in said].count("in") == 2 for number in range(20))
    assert len(people.people()) == before + 40
    assert not people.invitations()
