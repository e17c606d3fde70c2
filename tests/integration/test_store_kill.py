"""A process that is killed while it saves loses nothing that it acknowledged."""

from __future__ import annotations

import random
import sys
from collections import Counter

import pytest
from sqlalchemy import text

from storage.engine.database import open_database, reading
from storage.migrations.run import migrate
from storage.sessions.comparisons import SqlComparisonStore, SqlVoteStore
from storage.sessions.llm_cache import SqlAnswerCache
from storage.sessions.store import SqlSessionStore
from tests.fakes.comparisons import METHODS
from tests.fakes.databases import check_sound, database_of
from tests.fakes.turns import a_composition, a_session, same_composition
from tests.integration.victims import Writer
from tests.integration.vote_writer import key_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kill -9")


@pytest.fixture
def url(tmp_path):
    return database_of(tmp_path)


@pytest.fixture
def session_id(url):
    engine = open_database(url)
    migrate(engine)
    session = SqlSessionStore(engine).create_session(a_session())
    engine.dispose()
    return session.session_id


def turn_writer(url, session_id, parent_id=""):
    return Writer("turn_writer", url, session_id, parent_id)


def stored(url, session_id):
    """The session, after a check that the database is whole."""
    check_sound(url)
    engine = open_database(url)
    with reading(engine) as connection:
        seqs = connection.execute(text("SELECT seq FROM turns ORDER BY seq")).scalars().all()
    assert seqs == list(range(1, len(seqs) + 1))
    session = SqlSessionStore(engine).session(session_id)
    engine.dispose()
    return session


def test_kill_while_saving(url, session_id):
    draw = random.Random(7)
    acknowledged: list[str] = []
    for kills in range(1, 7):
        parent = acknowledged[-1] if acknowledged else ""
        acknowledged += turn_writer(url, session_id, parent).kill_after(draw.randint(1, 20))
        session = stored(url, session_id)
        times = Counter(turn.turn_id for turn in session.turns)
        assert [times[turn_id] for turn_id in acknowledged] == [1] * len(acknowledged)
        # A turn may have been on disk before its id was printed: at most one per kill.
        assert len(times) - len(acknowledged) <= kills
        assert all(len(turn.hits) == 60 and turn.hits[0].parts for turn in session.turns)
        assert all(same_composition(turn.composition, a_composition()) for turn in session.turns)


def test_two_processes_in_one_session_and_one_is_killed(url, session_id):
    root = turn_writer(url, session_id).kill_after(1)[0]
    session = stored(url, session_id)
    tip = session.turns[-1].turn_id
    one, two = turn_writer(url, session_id, tip), turn_writer(url, session_id, tip)
    acknowledged = {0: one.kill_after(20), 1: two.kill_after(10)}
    session = stored(url, session_id)
    assert session.turn(root)
    assert [branch.number for branch in session.branches] == [1, 2]  # both went on from one tip
    for made in acknowledged.values():
        assert len({session.turn(turn_id).branch_id for turn_id in made}) == 1
        path = [turn.turn_id for turn in session.path_to(made[-1])]
        assert path[-len(made):] == made
    per_branch = Counter((turn.branch_id, turn.number) for turn in session.turns)
    assert set(per_branch.values()) == {1}


def test_kill_while_people_vote(url, session_id):
    draw = random.Random(11)
    acknowledged: dict[str, list[str]] = {}  # name: ids of its vote, the last one in force
    for kills in range(1, 4):
        for line in Writer("vote_writer", url).kill_after(draw.randint(2, 20)):
            name, vote_id = line.split()
            acknowledged.setdefault(name, []).append(vote_id)
        check_sound(url)
        engine = open_database(url)
        votes = {vote.annotator: vote for vote in SqlVoteStore(engine).votes()}
        comparisons, answers = SqlComparisonStore(engine), SqlAnswerCache(engine)
        assert len(votes) - len(acknowledged) <= kills
        revised = 0
        for name, vote_ids in acknowledged.items():
            assert comparisons.comparison(name).columns[-1].method == METHODS[-1]
            assert answers.get(key_of(name)) == f'"{name}"'
            # The revision may have been on disk before it was printed: at most one per kill.
            revised += votes[name].vote_id != vote_ids[-1]
            assert votes[name].vote_id == vote_ids[-1] or (len(vote_ids) == 1 and votes[name].chosen is None)
        assert revised <= kills
        engine.dispose()
    assert len(acknowledged) > 3  # more than the first of each writer
