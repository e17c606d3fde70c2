"""Bringing databases up to date, without losing or overwriting any."""

from __future__ import annotations

import logging
import shutil
import sqlite3
import stat
import struct
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from cir_core.errors import StorageError
from cir_core.types.records import Hit, MethodSettings
from storage.engine.database import open_database, reading
from storage.engine.revisions import SCRIPTS
from storage.mapping.tables import metadata
from storage.migrations import run as migrate_module
from storage.migrations.run import MigrationReport, migrate
from storage.sessions.store import SqlSessionStore
from tests.fakes.turns import a_composition, a_session, a_turn, same_composition

REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009", "0010", "0011", "0012",
             "0013", "0014", "0015")
HEAD = REVISIONS[-1]
NEXT = '''
import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = "9999", "0015", None, None


def upgrade() -> None:
    with op.batch_alter_table("sessions", recreate="always") as table:
        table.add_column(sa.Column("colour", sa.Text(), nullable=False, server_default="red"))
    FAIL
'''


# What cirque 0.1 wrote: cards without captions, methods without stages, turns without compositions.
OLD_METHOD = '{"base":"cirevl","alpha":0.1,"beta":0.29,"gamma":0.44,"feedback_depth":10,"exclude":"history"}'
OLD_CARD = (
    '{"gallery":"atelier","gallery_size":240,"gallery_digest":"0123456789abcdef","split":"all","encoder":'
    '{"spec":"atelier","revision":"fedcba9876543210","dim":2},"language_model":"rules","method":' + OLD_METHOD +
    ',"caption_mode":"single","tie_rule":"score, then gallery order","seed":null,"version":"0.1",'
    '"digest":"00ff00ff00ff00ff","scope":"whole gallery","max_turns":null}')
OLD_HITS = '{"ids":["a","b"],"ranks":[1,2],"labels":[["text"]],"which":[0,0]}'
OLD_TIME = "2026-01-02 03:04:05.678901"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cirque.db"


@pytest.fixture
def engine(path):
    engine = open_database(f"sqlite:///{path}")
    yield engine
    engine.dispose()


def later_scripts(tmp_path, fail="pass"):
    """The migrations of a later cirque: one that copies a table that others point at."""
    folder = tmp_path / "100% later"
    shutil.copytree(SCRIPTS, folder)
    (folder / "versions" / "9999_next.py").write_text(NEXT.replace("FAIL", fail))
    return folder


def with_a_turn(engine):
    migrate(engine)
    store = SqlSessionStore(engine)
    session = store.create_session(a_session())
    store.add_turn(a_turn(session.session_id, None))
    return store.session(session.session_id)


def of_first_schema(engine, path, tmp_path):
    """A database as cirque 0.1 left it, with a branch of two turns."""
    folder = tmp_path / "earlier"
    shutil.copytree(SCRIPTS, folder)
    for script in (folder / "versions").glob("0*.py"):
        if not script.name.startswith("0001"):
            script.unlink()
    assert migrate(engine, folder).after == "0001"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO sessions VALUES ('s', 'atelier', ?, ?, '00ff00ff00ff00ff', 'b', 0, 1, "
                           "'Chairs 🪑', ?, ?)", (OLD_METHOD, OLD_CARD, OLD_TIME, OLD_TIME))
        connection.execute("INSERT INTO branches VALUES ('r', 's', 1, '')")
        for number, parent in ((1, None), (2, "t1")):
            connection.execute(
                "INSERT INTO turns VALUES (?, 's', 'r', ?, ?, ?, 'a', 'in red', 'a blue chair', 'a red chair', "
                "'[]', ?, ?, ?, '[\"a\"]', 2, '{\"search\":0.1}', '00ff00ff00ff00ff', ?)",
                (f"t{number}", parent, number, number, struct.pack("<2f", 0.6, 0.8), OLD_HITS,
                 struct.pack("<4d", 0.7, 0.1, 0.7, 0.1), OLD_TIME))


def dump(path):
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def test_an_empty_database_needs_no_backup(engine, path):
    assert migrate(engine) == MigrationReport(None, HEAD, REVISIONS, None)
    assert list(path.parent.glob("*.bak")) == []


def test_again_it_does_nothing(engine):
    with_a_turn(engine)
    assert migrate(engine) == MigrationReport(HEAD, HEAD, (), None)


def test_migrations_and_tables_agree(engine):
    migrate(engine)
    with reading(engine) as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []


def test_constraints_carry_the_names_of_the_convention(engine):
    migrate(engine)
    with reading(engine) as connection:
        statements = connection.exec_driver_sql("SELECT sql FROM sqlite_master").scalars().all()
    built = " ".join(statement or "" for statement in statements)
    for table in metadata.tables.values():
        for constraint in table.constraints:
            assert f"CONSTRAINT {constraint.name} " in built, constraint.name


def test_a_database_of_the_first_schema_keeps_all_it_has(engine, path, tmp_path):
    of_first_schema(engine, path, tmp_path)
    before = dump(path)
    report = migrate(engine)
    assert (report.before, report.after, report.applied) == ("0001", HEAD, REVISIONS[1:])
    assert report.backup.name.startswith(f"cirque.db.before-{HEAD}-") and dump(report.backup) == before
    store = SqlSessionStore(engine)
    session = store.session("s")
    assert session.method == MethodSettings(alpha=0.1, exclude="history") == session.protocol.method
    assert session.method.reflection is session.method.soft_filter is None
    assert (session.protocol.captions, session.protocol.digest) == ("", "00ff00ff00ff00ff")
    assert (session.title, session.target_id, session.target_revealed) == ("Chairs 🪑", "b", True)
    first, second = session.path_to("t2")
    for turn in (first, second):
        assert turn.composition is None
        assert turn.vector.tobytes() == struct.pack("<2f", 0.6, 0.8)
        assert turn.hits == (Hit("a", 0.7, 1, (("text", 0.7),)), Hit("b", 0.1, 2, (("text", 0.1),)))
        assert turn.created_at == datetime.fromisoformat(OLD_TIME).replace(tzinfo=UTC)
    composition = a_composition()  # and it goes on from there
    third = store.add_turn(a_turn("s", "t2", composition=composition))
    loaded = store.session("s")
    assert loaded.path_to(third.turn_id) == (first, second, third)
    assert same_composition(loaded.latest.composition, composition)


def test_an_update_of_the_first_schema_that_fails_changes_nothing(engine, path, tmp_path):
    of_first_schema(engine, path, tmp_path)
    before = dump(path)
    with pytest.raises(RuntimeError, match="half-way"):
        migrate(engine, later_scripts(tmp_path, "raise RuntimeError('half-way')"))
    assert dump(path) == before  # nor is what went before it there
    assert migrate(engine).applied == REVISIONS[1:]


def test_a_database_with_content_is_copied_first(engine, path, tmp_path):
    session = with_a_turn(engine)
    before = dump(path)
    report = migrate(engine, later_scripts(tmp_path))
    assert (report.before, report.after, report.applied) == (HEAD, "9999", ("9999",))
    assert report.backup.name.startswith("cirque.db.before-9999-") and report.backup.suffix == ".bak"
    assert stat.S_IMODE(report.backup.stat().st_mode) == 0o600
    assert dump(report.backup) == before
    assert not list(tmp_path.glob("cirque-unfinished-*")) and not list(tmp_path.glob("*.bak-*"))
    assert SqlSessionStore(engine).session(session.session_id).turns == session.turns  # nothing cascaded
    with reading(engine) as connection:
        assert connection.exec_driver_sql("SELECT colour FROM sessions").scalar_one() == "red"
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar_one() == 1


def test_the_backup_can_be_opened_in_place_of_the_database(engine, tmp_path):
    session = with_a_turn(engine)
    backup = migrate(engine, later_scripts(tmp_path)).backup
    restored = open_database(f"sqlite:///{backup}")
    assert migrate(restored).applied == ()
    assert SqlSessionStore(restored).session(session.session_id) == session
    restored.dispose()


@pytest.mark.parametrize("fail", [
    "raise RuntimeError('half-way')",
    "op.execute(\"UPDATE turns SET session_id = 'nowhere'\")",
])
def test_a_migration_that_fails_changes_nothing(engine, path, tmp_path, fail):
    with_a_turn(engine)
    before = dump(path)
    with pytest.raises((RuntimeError, StorageError)):
        migrate(engine, later_scripts(tmp_path, fail))
    assert dump(path) == before
    assert len(list(tmp_path.glob("*.bak"))) == 1


def test_no_migration_without_its_backup(engine, path, tmp_path, monkeypatch):
    with_a_turn(engine)
    before = dump(path)

    def no_room(database, before):
        raise StorageError("no room")

    monkeypatch.setattr(migrate_module, "back_up", no_room)
    with pytest.raises(StorageError, match="no room"):
        migrate(engine, later_scripts(tmp_path))
    assert dump(path) == before


def test_a_newer_database_is_refused_and_left_alone(engine, path, tmp_path):
    with_a_turn(engine)
    migrate(engine, later_scripts(tmp_path))
    before = dump(path)
    with pytest.raises(StorageError, match=r"newer version of cirque \(schema 9999\).*Update cirque"):
        migrate(engine)
    assert dump(path) == before


def test_another_programs_database_is_refused(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    before = dump(path)
    engine = open_database(f"sqlite:///{path}")
    with pytest.raises(StorageError, match="belongs to another program"):
        migrate(engine)
    engine.dispose()
    assert dump(path) == before


def test_logging_stays_as_the_app_set_it(engine):
    root = logging.getLogger()
    mine = logging.getLogger("cirque.test")
    before = (root.level, list(root.handlers), logging.getLogger("alembic").level, mine.disabled)
    migrate(engine)
    assert (root.level, list(root.handlers), logging.getLogger("alembic").level, mine.disabled) == before


@pytest.mark.extended
def test_processes_that_start_at_once_migrate_once(tmp_path):
    code = ("import sys; from pathlib import Path; from storage.engine.database import open_database; "
            "from storage.migrations.run import migrate; "
            "print(len(migrate(open_database(sys.argv[1]), Path(sys.argv[2])).applied))")
    arguments = [sys.executable, "-c", code, f"sqlite:///{tmp_path}/home/cirque.db"]
    root = Path(__file__).parents[4]

    def start_three(scripts):
        started = [subprocess.Popen([*arguments, str(scripts)], cwd=root, stdout=subprocess.PIPE, text=True)
                   for _ in range(3)]
        return sorted(int(process.communicate(timeout=120)[0]) for process in started)

    assert start_three(SCRIPTS) == [0, 0, len(REVISIONS)]
    assert start_three(later_scripts(tmp_path)) == [0, 0, 1]
    assert len(list((tmp_path / "home").glob("*.bak"))) == 1
