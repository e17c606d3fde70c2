"""Databases of every earlier schema, with data in them, are brought up to date and lose nothing: on SQLite, and on
PostgreSQL where the tests run on it. What each schema held is in ``tests/fakes/earlier``, one file for each."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import MetaData, select

from annotation.kinds.preference.survey.texts import load_survey
from annotation.records import MethodVote
from cir_core.audit.records import QueryAudit, Ranking, RunCard
from cir_core.types.records import Hit, Thumb
from storage.accounts.store import SqlPeopleStore
from storage.backups.integrity import inspect_database
from storage.engine.database import open_database, reading, writing
from storage.engine.revisions import SCRIPTS, known_revisions, latest_revision
from storage.mapping.tables import metadata
from storage.migrations.run import migrate
from storage.sessions.audits import SqlAuditStore
from storage.sessions.comparisons import SqlComparisonStore, SqlVoteStore
from storage.sessions.llm_cache import SqlAnswerCache
from storage.sessions.store import SqlSessionStore
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import database_of

WRITTEN = Path(__file__).parents[3] / "fakes" / "earlier"
REVISIONS = sorted(known_revisions())
THEN = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
HITS = (Hit("a", 0.7, 1, (("text", 0.7),)), Hit("b", 0.1, 2, (("text", 0.1),)))
CARD = RunCard(dataset="cirr", dataset_digest="d1", pools_digest="p1", retriever="slerp", identity={"encoder": "e"},
               ablation="empty", instruction=None, caption_mode="single", top_k=50, k=10)


@pytest.fixture
def engine(tmp_path):
    engine = open_database(database_of(tmp_path, empty=True))
    yield engine
    engine.dispose()


def make_as_of(engine, revision, folder):
    """A database as that schema left it, with rows in each of its tables."""
    scripts = folder / "scripts"
    shutil.copytree(SCRIPTS, scripts)
    for script in (scripts / "versions").glob("0*.py"):
        if script.name[:4] > revision:
            script.unlink()
    assert migrate(engine, scripts).after == revision
    with writing(engine) as connection:
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql("SET LOCAL TIME ZONE 'UTC'")
        for path in sorted(WRITTEN.glob("*.sql")):
            if path.stem <= revision:
                for statement in of_dialect(path.read_text("utf-8"), engine.dialect.name).split(";\n\n"):
                    connection.exec_driver_sql(statement)


def of_dialect(statements, name):
    """Bytes are the one thing that both write otherwise; and psycopg wants to be given % twice."""
    return statements if name == "sqlite" else re.sub(r"X'([0-9a-f]*)'", r"'\\x\1'", statements).replace("%", "%%")


def columns_of(engine):
    """Of every table there is, the columns that it has."""
    found = MetaData()
    with reading(engine) as connection:
        found.reflect(connection)
    return {table.name: list(table.columns) for table in found.sorted_tables if table.name != "alembic_version"}


def content(engine, columns):
    with reading(engine) as connection:
        return {name: sorted(map(tuple, connection.execute(select(*those))), key=repr)
                for name, those in columns.items()}


def with_later_names(found, revision):
    """Schemas 0008 and 0011 give the survey, and the questions, of earlier studies and of their answers another name;
    nothing else changes."""
    names = {"hs-fashioniq/1": "hs-fashioniq-reworded/1"} if revision < "0008" else {}
    names |= {"circled/1": "circled-reworded/1"} if revision < "0011" else {}
    return {table: sorted((tuple(names.get(value, value) if isinstance(value, str) else value for value in row)
                           for row in rows), key=repr) if table in ("studies", "judgements") else rows
            for table, rows in found.items()}


def test_studies_keep_the_wording_they_were_made_with(engine, tmp_path):
    """Those that people answered in cirque's words; the released answers were given in the paper's."""
    make_as_of(engine, "0007", tmp_path)
    with writing(engine) as connection:
        connection.exec_driver_sql(
            "INSERT INTO studies (study_id, name_key, name, kind, protocol, plan, accepting, settings, source,"
            " created_by, created_at) SELECT 'hp', 'released', 'Released', kind, protocol, plan, accepting, settings,"
            " '{\"form\":\"hp-fashioniq-answers\"}', created_by, created_at FROM studies WHERE study_id = 'st'")
    migrate(engine)
    store = SqlStudyStore(engine)
    assert store.study("st").protocol == "hs-fashioniq-reworded/1" and store.study("hp").protocol == "hs-fashioniq/1"
    assert {one.protocol for one in store.judgements("st")} == {"hs-fashioniq-reworded/1"}
    assert load_survey(store.study("st").protocol).scale[2] == "fits in part"
    assert load_survey(store.study("hp").protocol).scale[2] == "Matches to an average degree"


def test_each_schema_has_its_rows_here():
    assert sorted(path.stem for path in WRITTEN.glob("*.sql")) == REVISIONS


@pytest.mark.parametrize("revision", REVISIONS)
def test_nothing_is_lost_or_changed(engine, tmp_path, revision):
    make_as_of(engine, revision, tmp_path)
    columns = columns_of(engine)
    before = content(engine, columns)
    assert all(before.values()), "a table without rows would show nothing"
    report = migrate(engine)
    assert (report.before, report.after) == (revision, latest_revision())
    assert report.applied == tuple(REVISIONS[REVISIONS.index(revision) + 1:])
    assert content(engine, columns) == with_later_names(before, revision)
    assert inspect_database(engine).faults == ()
    with reading(engine) as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []


def test_processes_that_start_at_once_migrate_once(engine, tmp_path):
    make_as_of(engine, "0003", tmp_path)
    code = ("import sys; from storage.engine.database import open_database; "
            "from storage.migrations.run import migrate; "
            "print(len(migrate(open_database(sys.argv[1])).applied))")
    url = engine.url.render_as_string(hide_password=False)
    started = [subprocess.Popen([sys.executable, "-c", code, url], cwd=WRITTEN.parents[2], stdout=subprocess.PIPE,
                                text=True) for _ in range(2)]
    assert sorted(int(process.communicate(timeout=120)[0]) for process in started) == [0, len(REVISIONS) - 3]


def test_an_empty_database_gets_the_latest_schema(engine):
    assert migrate(engine).applied == tuple(REVISIONS)
    with reading(engine) as connection:
        assert compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), metadata) == []
    assert inspect_database(engine).contents.is_empty


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_stores_read_what_was_there(engine, tmp_path, revision):
    make_as_of(engine, revision, tmp_path)
    migrate(engine)
    session = SqlSessionStore(engine).session("s")
    assert (session.title, session.target_id, session.target_revealed) == ("Chairs 🪑", "b", True)
    assert [turn.turn_id for turn in session.turns] == ["t1", "t2", "t3"][:2 + (revision >= "0002")]
    assert session.turns[0].modification_text == "in red; 'quoted', 50% longer"
    for turn in session.turns:
        assert turn.vector.tolist() == [np.float32(0.6), np.float32(0.8)]
        assert (turn.hits, turn.created_at) == (HITS, THEN)
    if revision >= "0002":
        composition = session.turns[2].composition
        assert composition.base.tolist() == [1, 0] and composition.marks.less_like == ("b",)
        assert [(name, vector.tolist()) for name, vector in composition.terms] == [
            ("text", [np.float32(0.6), np.float32(0.8)])]
        assert SqlAnswerCache(engine).get("00aa") == '{"caption":"a chair"}'
        comparison = SqlComparisonStore(engine).comparison("c")
        assert (comparison.seed, comparison.created_at) == (9007199254740993, THEN)   # 2 ** 53 + 1: no float
        assert [(one.method, one.problem) for one in comparison.columns] == [
            ("soft", ""), ("slerp", "The model was away.")]
        assert comparison.columns[0].hits == HITS and comparison.columns[0].protocol.method.soft_filter.weight == 0.5
        assert SqlVoteStore(engine).votes() == (
            MethodVote("v", "c", "Ann", ("soft", "slerp"), "soft", True, 4.25, THEN),)
    if revision >= "0003":
        assert SqlAuditStore(engine).stored(CARD) == {
            0: QueryAudit("q0", {"multimodal": Ranking((1, 7), ("x", "y")), "text_only": Ranking((3, 2), ("y",))}, ""),
            1: QueryAudit("q1", {}, "The model was away.")}
    if revision >= "0009":
        assert session.thumbs == (Thumb("t1", "a", "Ann", True, THEN),)
    if revision >= "0004":
        studies = SqlStudyStore(engine)
        study = studies.study("FRÄCKE 🐕")
        assert (study.study_id, study.plan.overlap, study.settings) == ("st", 2, {"unsure_after": 120})
        judged = studies.judgements("st", history=True)
        assert [(one.item_id, one.revision, one.answer, one.seconds) for one in judged] == [
            ("i0", 1, {"preferred": 1}, 4.5), ("i0", 2, {"preferred": 2}, 2.25), ("i1", 1, {"unsure": True}, 9)]
        assert studies.workspace("st", "Bo", item_id="i0").draft.answer == {"note": "begun"}
        assert studies.workspace("st", "Ann", item_id="i0").extra == {"first": 2}
        people = SqlPeopleStore(engine)
        person, sign_in = people.visitor("5e", THEN)
        assert (person.name, person.role, sign_in.expires_at.year) == ("Ann", "annotator", 2099)
        assert people.invitation("1f", THEN).uses_left == 3
    if revision >= "0005":
        [scores] = SqlStudyStore(engine).scores("st")
        assert (scores.name, scores.scores, scores.notes) == ("Cosine, mine", {("i0", 1): 0.25}, ("a note",))
