"""The cache of language-model answers: the first answer to a key stays, whoever asks."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import event, func, select
from sqlalchemy.exc import IntegrityError

from cir_core.errors import StorageError
from cir_core.language.wrappers.cached import AnswerCache
from storage.engine.database import open_database, reading, writing
from storage.mapping import tables
from storage.sessions.llm_cache import SqlAnswerCache
from tests.fakes.databases import database_of, open_migrated, sqlite_of
from tests.fakes.databases import engine as engine

KEY = hashlib.sha256(b"caption").hexdigest()
ABOUT = {"model": "small/1", "role": "caption", "prompt_version": "3", "prompt_tokens": 900,
         "completion_tokens": 61}


@pytest.fixture
def cache(engine):
    return SqlAnswerCache(engine)


@pytest.fixture
def cache_in_a_file(tmp_path):
    engine = open_migrated(sqlite_of(tmp_path))
    yield SqlAnswerCache(engine)
    engine.dispose()


def rows(cache):
    with reading(cache.engine) as connection:
        return connection.execute(select(tables.answers)).all()


def test_an_answer_comes_back_as_it_was_put(cache: AnswerCache):
    answer = '{"caption": "rouge 👩🏽‍🎨 «très» 赤い \\ud83d \\u0000", "notes": ["\'; DROP TABLE answers; --"]}'
    assert cache.get(KEY) is None
    cache.put(KEY, answer, **ABOUT)
    assert cache.get(KEY) == answer
    assert cache.get(KEY[:-1] + "0") is None
    [row] = rows(cache)
    assert {name: getattr(row, name) for name in ABOUT} == ABOUT
    assert datetime.now(UTC) - row.created_at < timedelta(minutes=1)


def test_it_is_on_disk_when_put_returns(cache, tmp_path):
    cache.put(KEY, "{}", **ABOUT)
    code = ("import sys; from storage.sessions.llm_cache import SqlAnswerCache; "
            "from storage.engine.database import open_database; "
            "print(SqlAnswerCache(open_database(sys.argv[1])).get(sys.argv[2]))")
    said = subprocess.run([sys.executable, "-c", code, database_of(tmp_path), KEY], cwd=Path(__file__).parents[4],
                          capture_output=True, text=True, check=True, timeout=60).stdout
    assert said == "{}\n"


def test_the_first_answer_stays(cache):
    cache.put(KEY, "first", **ABOUT)
    cache.put(KEY, "second", **{**ABOUT, "prompt_tokens": 1})
    [row] = rows(cache)
    assert (row.answer, row.prompt_tokens) == ("first", 900)


def test_threads_with_the_same_keys(cache):
    """Each of 16 keys is put by eight threads at once: one answer is kept, and all see that one."""
    start = threading.Barrier(8)

    def work(thread):
        start.wait()
        for number in range(16):
            cache.put(f"{number:064x}", f"of thread {thread}", **ABOUT)
        return [cache.get(f"{number:064x}") for number in range(16)]

    with ThreadPoolExecutor(8) as threads:
        seen = list(threads.map(work, range(8)))
    assert all(answers == seen[0] for answers in seen) and None not in seen[0]
    with reading(cache.engine) as connection:
        assert connection.execute(select(func.count()).select_from(tables.answers)).scalar_one() == 16


def test_only_a_known_key_is_passed_over(cache):
    """A row that breaks another rule of the table is a defect and is not swallowed."""
    with pytest.raises(StorageError) as refused:
        cache.put(KEY, "{}", **{**ABOUT, "prompt_tokens": None})
    assert isinstance(refused.value.__cause__, IntegrityError)
    assert cache.get(KEY) is None


@pytest.mark.parametrize("text", ["nul \0", "half an emoji \ud83d"])
def test_what_cannot_be_stored_is_refused(cache, text):
    with pytest.raises(StorageError, match="cannot be stored"):
        cache.put(KEY, text, **ABOUT)
    with pytest.raises(StorageError, match="cannot be stored"):
        cache.put(KEY, "{}", **{**ABOUT, "model": text})
    assert rows(cache) == []


def test_a_full_disk(cache_in_a_file):
    """A limit on the file's pages fails as a full disk does."""
    cache = cache_in_a_file
    with reading(cache.engine) as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    cache.put(KEY, "kept", **ABOUT)
    cache.engine.dispose()
    limit = f"PRAGMA max_page_count = {pages + 2}"
    event.listen(cache.engine, "connect", lambda connection, record: connection.execute(limit))
    with pytest.raises(StorageError, match="no room left on its disk"):
        cache.put("0" * 64, "x" * 100_000, **ABOUT)
    assert cache.get(KEY) == "kept" and cache.get("0" * 64) is None


def test_a_database_that_cannot_be_read(cache_in_a_file, tmp_path):
    cache, path = cache_in_a_file, tmp_path / "cirque.db"
    cache.put(KEY, "{}", **ABOUT)
    cache.engine.dispose()
    content = bytearray(path.read_bytes())
    content[:] = os.urandom(len(content))
    path.write_bytes(content)
    for call in (lambda: cache.get(KEY), lambda: cache.put(KEY, "{}", **ABOUT)):
        with pytest.raises(StorageError, match="is not a database"):
            call()


def test_another_writer_that_does_not_let_go(cache_in_a_file):
    cache = cache_in_a_file
    event.listen(cache.engine, "connect", lambda connection, record: connection.execute("PRAGMA busy_timeout = 50"))
    cache.engine.dispose()
    other = open_database(str(cache.engine.url))  # of another process, so to speak: it takes no turns with ours
    with writing(other):
        with pytest.raises(StorageError, match="locked by another program"):
            cache.put(KEY, "{}", **ABOUT)
        assert cache.get(KEY) is None  # readers go on
    other.dispose()
    cache.put(KEY, "{}", **ABOUT)
    assert cache.get(KEY) == "{}"
