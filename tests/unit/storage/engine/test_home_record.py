"""A home folder remembers its database: one that was lost is not replaced by an empty one, and who had to sign in once
is never let in without."""

from __future__ import annotations

import errno
import json
import stat
import threading

import pytest
from sqlalchemy import text
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from typer.testing import CliRunner

from annotation.accounts.service import Passwords, PeopleService
from annotation.records import AuditEvent
from cir_core.errors import CirqueError, StorageError
from cir_core.settings import get_settings
from cli.main import app as commands
from storage.accounts.store import SqlPeopleStore
from storage.backups.backup import back_up_to
from storage.engine import home_record
from storage.engine.database import open_database, writing
from storage.engine.home_record import NAME, HomeRecord
from storage.sessions.store import open_store
from storage.stores import open_stores
from tests.fakes.databases import ON_SQLITE, database_of, settings_of, sqlite_of, use_home
from tests.fakes.people import LIGHT
from web.middleware.auth import AuthMiddleware
from web.services import open_services

PASSWORD = "a long password"


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def cirque(home, monkeypatch):
    """A command, and what it said."""
    use_home(monkeypatch, home)

    def run(*words, says=None):
        get_settings.cache_clear()
        done = CliRunner().invoke(commands, list(words), input=says)
        if done.exception is not None and not isinstance(done.exception, SystemExit | CirqueError):
            raise done.exception
        return done.exit_code, done.output + (str(done.exception) if isinstance(done.exception, CirqueError) else "")

    yield run
    get_settings.cache_clear()


def noted(home):
    return json.loads((home / NAME).read_text())


def start(home, **settings):
    """As a server does."""
    services = open_services(settings_of(home, **settings))
    services.database._engine.dispose()


def use(home, *names):
    """As people did before, of whom some had accounts."""
    stores = open_stores(settings_of(home))
    stores.log.note(AuditEvent("sign-in", "Ada"))
    people = PeopleService(stores.people, passwords=Passwords(LIGHT))
    for name in names:
        people.add(name, PASSWORD, "admin")
    stores.close()


def lose(home):
    """The database goes; on a server somebody makes another one by its name."""
    if ON_SQLITE:
        for path in home.glob("cirque.db*"):
            path.unlink()
        return
    engine = open_database(database_of(home))
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()


def is_empty(home):
    if ON_SQLITE:
        return not list(home.glob("cirque.db*"))
    engine = open_database(database_of(home))
    try:
        with engine.connect() as connection:
            return connection.execute(text("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")).scalar() == 0
    finally:
        engine.dispose()


def test_what_is_noted(home):
    use(home)
    assert noted(home)["accounts"] is False
    assert noted(home)["database"] == ("cirque.db" if ON_SQLITE else noted(home)["database"])
    assert "password" not in (home / NAME).read_text() and "@" not in (home / NAME).read_text()
    assert stat.S_IMODE((home / NAME).stat().st_mode) == 0o600
    begun = noted(home)["created_at"]
    use(home, "Ada")
    assert noted(home)["accounts"] is True and noted(home)["created_at"] == begun


def test_an_account_is_acknowledged_after_it_was_noted(home, monkeypatch):
    stores = open_stores(settings_of(home))
    people = PeopleService(stores.people, passwords=Passwords(LIGHT))

    def full(*_given, **_named):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(home_record, "write_durably", full)
    with pytest.raises(StorageError, match=r"database.json cannot be written: No space left"):
        people.add("Ada", PASSWORD, "admin")
    stores.close()
    monkeypatch.undo()
    use(home)   # the next start sees the account
    assert noted(home)["accounts"] is True


@pytest.mark.parametrize("names", [(), ("Ada",)])
def test_a_database_that_was_lost_is_not_made_anew(home, cirque, names):
    use(home, *names)
    lose(home)
    for opening in (start, lambda home: open_stores(settings_of(home)), lambda home: open_store(settings_of(home))):
        with pytest.raises(StorageError, match=r"it had one: it was used with .*No new database was made") as no:
            opening(home)
    assert ("which had accounts" in str(no.value)) == bool(names)
    assert "cirque db restore FILE" in str(no.value) and f"move {NAME} out of this one" in str(no.value)
    for words in (("user", "add", "Eve", "--role", "admin", "--password-stdin"), ("user", "list"), ("study", "list"),
                  ("sessions", "list"), ("log",)):
        code, said = cirque(*words, says=f"{PASSWORD}\n")
        assert code and "No new database was made" in said, words
    assert is_empty(home)

    (home / NAME).unlink()   # on purpose
    start(home)


@pytest.mark.parametrize("folder", ["studies", "uploads"])
def test_a_home_of_an_earlier_version_shows_it_by_its_pictures(home, folder):
    lose(home)
    (home / folder / "inside").mkdir(parents=True)
    with pytest.raises(StorageError, match=rf"{folder}/ contains images.*move {folder}/ out"):
        start(home)
    assert is_empty(home)
    (home / folder / "inside").rmdir()
    start(home)


def test_a_home_with_galleries_alone_is_new(home):
    """As ``cirque demo`` leaves it before it opens a database."""
    lose(home)
    (home / "galleries" / "atelier").mkdir(parents=True)
    (home / "manifests").mkdir()
    start(home)
    assert noted(home)["accounts"] is False


def test_a_home_of_an_earlier_version_is_noted_at_the_first_start(home):
    use(home, "Ada")
    (home / NAME).unlink()
    start(home)
    assert noted(home)["accounts"] is True


def forget_everybody(home):
    engine = open_database(database_of(home))
    with writing(engine) as connection:
        for table in ("sign_ins", "invitations", "people"):
            connection.execute(text(f"DELETE FROM {table}"))
    engine.dispose()


def test_who_had_to_sign_in_is_not_let_in_without(home, cirque):
    use(home, "Ada")
    forget_everybody(home)
    with pytest.raises(StorageError, match=r"There are no accounts in .*does not start without a sign-in.*user add"):
        start(home)
    assert cirque("study", "list")[0], "no command works in what may be the wrong database"
    code, said = cirque("user", "list")
    assert code and "does not start without a sign-in" in said
    assert cirque("user", "add", "Ben", "--role", "annotator", "--password-stdin", says=f"{PASSWORD}\n")[0]
    code, said = cirque("user", "add", "Ben", "--role", "admin", "--password-stdin", says=f"{PASSWORD}\n")
    assert code == 0, said
    start(home)


def test_accounts_that_vanish_while_it_runs_open_nothing(home):
    """Also for a process that began when there were none."""
    stores = open_stores(settings_of(home))
    service = PeopleService(stores.people, passwords=Passwords(LIGHT))
    page = Starlette(routes=[Route("/", lambda request: PlainTextResponse("inside"))])
    page.add_middleware(AuthMiddleware, people=service)
    client = TestClient(page, base_url="http://localhost", follow_redirects=False)
    assert client.get("/").text == "inside", "nobody has an account yet"
    HomeRecord(home).note_accounts("cirque.db")   # as another process does, whose account then vanishes
    service._looked = float("-inf")               # a second later
    answer = client.get("/", headers={"accept": "application/json"})
    assert answer.status_code == 503 and "inside" not in answer.text and "accounts are missing" in answer.text
    assert str(home) not in answer.text
    stores.close()


@pytest.mark.sqlite
def test_another_database_for_the_same_home(home, tmp_path, caplog):
    other, third = sqlite_of(tmp_path / "other"), sqlite_of(tmp_path / "third")
    use(home)
    start(home, database_url=other)
    assert noted(home)["database"] == str(tmp_path / "other" / "cirque.db")
    assert "was used with cirque.db before" in caplog.text
    (tmp_path / "other" / "cirque.db").unlink()
    use(home, "Ada")   # the first one again, which is there
    with pytest.raises(StorageError, match=r"no database at .*other/cirque.db.*used with cirque.db, which had "
                                           r"accounts.*Leave CIRQUE_DATABASE_URL empty, or set it to "
                                           r"sqlite:/{4}.*cirque\.db, or restore"):
        start(home, database_url=other)
    assert not (tmp_path / "other" / "cirque.db").exists()
    start(tmp_path / "third")   # somebody else's, with nothing in it
    with pytest.raises(StorageError, match="There are no accounts"):
        start(home, database_url=third)
    use(tmp_path / "third", "Ben")
    start(home, database_url=third)   # it has accounts


@pytest.mark.sqlite
def test_a_home_that_was_moved_as_a_whole(home, tmp_path):
    use(home, "Ada")
    home.rename(tmp_path / "moved")
    start(tmp_path / "moved")
    assert noted(tmp_path / "moved")["database"] == "cirque.db"


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"format": 1}', '{"database": 1, "accounts": true}',
                                     '{"database": "cirque.db", "accounts": "no"}'])
def test_a_note_that_cannot_be_read(home, content):
    use(home, "Ada")
    (home / NAME).write_text(content)
    with pytest.raises(StorageError, match=r"database.json (is damaged|does not have its form).*move the file away"):
        start(home)


def test_a_note_of_a_newer_version(home):
    use(home, "Ada")
    (home / NAME).write_text(json.dumps({"format": 2, "somewhere": "else"}))
    with pytest.raises(StorageError, match="newer version"):
        start(home)


def test_many_who_note_at_once_forget_no_accounts(home):
    """The first start of a server, and the command that makes the first account."""
    for _ in range(20):
        (home / NAME).unlink(missing_ok=True)
        together = threading.Barrier(4)

        def note(accounts, together=together):
            together.wait()
            HomeRecord(home).note("cirque.db", accounts=accounts)

        threads = [threading.Thread(target=note, args=(number == 3,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert noted(home)["accounts"] is True
        assert [path.name for path in home.iterdir()] == [NAME]


def test_a_backup_from_before_there_were_accounts(home, tmp_path, cirque):
    use(home)
    stores = open_stores(settings_of(home))
    backup = back_up_to(stores.people.engine, tmp_path / "early").path
    stores.close()
    use(home, "Ada")
    code, said = cirque("db", "restore", str(backup), "--force")
    assert code == 0 and "cirque does not start until one exists" in " ".join(said.split())
    assert noted(home)["accounts"] is True
    with pytest.raises(StorageError, match="does not start without a sign-in"):
        start(home)
    assert cirque("user", "add", "Ada", "--role", "admin", "--password-stdin", says=f"{PASSWORD}\n")[0] == 0
    start(home)


def test_a_backup_takes_the_place_of_a_database_that_was_lost(home, tmp_path, cirque):
    use(home, "Ada")
    stores = open_stores(settings_of(home))
    backup = back_up_to(stores.people.engine, tmp_path / "backup").path
    stores.close()
    lose(home)
    code, said = cirque("db", "restore", str(backup))
    assert code == 0, said
    start(home)
    stores = open_stores(settings_of(home))
    assert SqlPeopleStore(stores.people.engine).any()
    stores.close()


@pytest.mark.sqlite
def test_a_backup_is_not_restored_beside_what_is_left_of_the_log(home, tmp_path, cirque):
    use(home, "Ada")
    stores = open_stores(settings_of(home))
    backup = back_up_to(stores.people.engine, tmp_path / "backup").path
    stores.close()
    lose(home)
    (home / "cirque.db-wal").write_bytes(b"saved last")
    code, said = cirque("db", "restore", str(backup))
    assert code and "move what is left of it to another folder" in said
    assert (home / "cirque.db-wal").read_bytes() == b"saved last" and not (home / "cirque.db").exists()
    (home / "cirque.db-wal").rename(tmp_path / "kept-wal")
    assert cirque("db", "restore", str(backup))[0] == 0
    start(home)


def test_a_read_only_home_says_so(home, monkeypatch):
    """There is nothing to remove after nothing was written, and a read-only mount refuses even that."""
    def refused(*_given, **_named):
        raise OSError(errno.EROFS, "Read-only file system")

    home.mkdir()
    for name in ("write_durably", "Path.unlink"):
        monkeypatch.setattr(f"storage.engine.home_record.{name}", refused)
    with pytest.raises(StorageError, match=r"database\.json cannot be written: Read-only file system"):
        HomeRecord(home).note("postgresql://db/cirque")
