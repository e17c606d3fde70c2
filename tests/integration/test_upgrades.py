"""The real app starts on a home folder of every earlier schema, with data in it."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from storage.backups.integrity import inspect_database
from storage.engine.database import open_database
from storage.engine.revisions import latest_revision
from tests.fakes.databases import ON_SQLITE, database_of
from tests.fakes.patience import PATIENCE
from tests.integration.processes import App
from tests.unit.storage.engine.test_earlier_schemas import (
    REVISIONS,
    columns_of,
    content,
    make_as_of,
    with_later_names,
)

WITH_ACCOUNTS = "0004"   # the first schema that has them
OFTEN = {REVISIONS[0], WITH_ACCOUNTS, REVISIONS[-1]}    # the ends, and where starts differ


@pytest.mark.parametrize("revision", [
    pytest.param(one, marks=() if one in OFTEN else pytest.mark.extended) for one in REVISIONS])
def test_a_start_on_what_an_earlier_version_left(tmp_path: Path, revision: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "uploads").mkdir()
    (home / "uploads" / "a.png").write_bytes(b"a picture")
    engine = open_database(database_of(home, empty=True))
    make_as_of(engine, revision, tmp_path)
    columns = columns_of(engine)
    before = content(engine, columns)
    assert all(before.values()), "a table without rows would show nothing"
    expected = with_later_names(before, revision)
    engine.dispose()

    app = App(home, tmp_path / "log")
    try:
        url = app.url
        ready = httpx.get(f"{url}/readyz", timeout=PATIENCE)
        assert ready.status_code == 200, ready.text
        page = httpx.get(f"{url}/", timeout=PATIENCE)
        assert page.status_code == (303 if revision >= WITH_ACCOUNTS else 200)
        app.terminate()
        assert app.process.wait(PATIENCE) == 0
    finally:
        app.end()
    assert "Traceback" not in app.said, app.said
    assert ("No sign-in needed" in app.said) == (revision < WITH_ACCOUNTS)
    assert json.loads((home / "database.json").read_text())["accounts"] == (revision >= WITH_ACCOUNTS)
    copies = list(home.glob("cirque.db.before-*.bak"))
    assert len(copies) == (ON_SQLITE and revision != latest_revision())

    engine = open_database(database_of(home))
    found = inspect_database(engine)
    assert (found.contents.revision, found.faults) == (latest_revision(), ())
    after = content(engine, columns)
    engine.dispose()
    changed = [name for name in before if after[name] != expected[name]]
    assert not changed, "the start and a stop wrote nothing of their own"
