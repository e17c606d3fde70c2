"""What a public demo keeps, and for how long."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from PIL import Image
from sqlalchemy import func, select

from cir_core.errors import SettingsError, UnknownSession
from cir_core.settings import Settings
from storage.engine.database import reading
from storage.mapping import tables
from storage.sessions.store import SqlSessionStore
from storage.stores import open_stores
from tests.fakes.comparisons import a_comparison, a_vote
from tests.fakes.databases import settings_of
from tests.fakes.turns import a_session
from web.http.visitor import works_for
from web.ops.demo_data import DemoSweep, own_folder
from web.services import open_services

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def demo(home: Path) -> Settings:
    return settings_of(home, public_demo=True, database_url="")


def test_it_is_emptied_at_the_start_and_the_home_around_it_is_not(tmp_path: Path) -> None:
    settings = demo(tmp_path)
    others = [tmp_path / "uploads" / "x.png", tmp_path / "cirque.db", tmp_path / "galleries" / "g" / "ids.json"]
    left = [settings.uploads / "x.png", settings.data / "cirque.db", settings.upload_counts / "2026-05-01.jsonl"]
    for path in (*others, *left):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("kept")
    outside = tmp_path.parent / "elsewhere"
    outside.mkdir()
    (outside / "file").write_text("kept")
    (settings.data / "link").symlink_to(outside)
    with own_folder(settings):
        assert [path.name for path in settings.data.iterdir()] == ["lock"]
    assert all(path.read_text() == "kept" for path in (*others, outside / "file"))


def test_nothing_is_emptied_without_the_setting(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    before = sorted(path.name for path in tmp_path.iterdir())
    with own_folder(settings):
        assert settings.data == tmp_path
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_two_demos_do_not_empty_each_other_s(tmp_path: Path) -> None:
    settings = demo(tmp_path)
    with own_folder(settings):
        (settings.data / "cirque.db").write_text("kept")
        with pytest.raises(SettingsError, match="Another process"), own_folder(settings):
            pass
        assert (settings.data / "cirque.db").read_text() == "kept"
    with own_folder(settings):
        assert not (settings.data / "cirque.db").exists()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("kept")
    (tmp_path / "public-demo").symlink_to(tmp_path / "mine")
    with pytest.raises(SettingsError, match="is a link"), own_folder(demo(tmp_path)):
        pass
    assert (tmp_path / "mine" / "file").read_text() == "kept"


def test_the_database_is_the_demo_s_own(tmp_path: Path) -> None:
    whole = open_stores(settings_of(tmp_path))
    whole.sessions.create_session(a_session(session_id="s1"))
    stores = open_stores(demo(tmp_path))
    assert stores.sessions.sessions() == () and len(whole.sessions.sessions()) == 1
    stores.close()
    whole.close()


def test_what_is_a_day_old_is_removed_and_nothing_else(tmp_path: Path) -> None:
    settings = demo(tmp_path)
    services = open_services(settings)
    stores = open_stores(settings)
    works_for("browser")
    for name, hours in (("old", 25), ("new", 23)):
        at = NOON - timedelta(hours=hours)
        services.search._store.create_session(a_session(session_id=name, created_at=at))
        services.compare._store.add_comparison(a_comparison(comparison_id=f"c-{name}", created_at=at))
        stores.votes.put_vote(a_vote(f"c-{name}"))
        stores.answers.put(name, "{}", model="m", role="r", prompt_version="1", prompt_tokens=1, completion_tokens=1)
        settings.uploads.mkdir(exist_ok=True)
        (settings.uploads / f"{name}.png").write_text("")
        os.utime(settings.uploads / f"{name}.png", (at.timestamp(), at.timestamp()))
    DemoSweep(services).sweep(NOON)
    assert [one.session_id for one in stores.sessions.sessions()] == ["new"]
    assert services.search.session("new") and services.compare.comparison("c-new")
    for gone in (lambda: services.search.session("old"), lambda: services.compare.comparison("c-old")):
        with pytest.raises(UnknownSession):
            gone()
    assert [vote.comparison_id for vote in stores.votes.votes()] == ["c-new"]
    assert [path.name for path in settings.uploads.iterdir()] == ["new.png"]
    DemoSweep(services).sweep(datetime.now(UTC) + timedelta(days=2))     # and in the end nothing is left
    assert rows(stores.sessions) == 0 and list(settings.uploads.iterdir()) == []
    works_for("")
    stores.close()


def rows(store: SqlSessionStore) -> int:
    kept = (tables.sessions, tables.branches, tables.turns, tables.uploads, tables.answers, tables.comparisons,
            tables.comparison_columns, tables.method_votes)
    with reading(store.engine) as connection:
        return sum(connection.execute(select(func.count()).select_from(table)).scalar_one() for table in kept)


def test_an_upload_that_comes_again_is_kept_a_day_from_then(tmp_path: Path) -> None:
    services = open_services(demo(tmp_path))
    image = Image.new("RGB", (8, 8), "red")
    reference = services.search.add_upload(image, "holiday-in-Rome.png")
    [path] = services.settings.uploads.iterdir()
    os.utime(path, (NOON.timestamp(), NOON.timestamp()))
    assert services.search.add_upload(image) == reference
    DemoSweep(services).sweep(NOON + timedelta(days=2))
    assert path.exists()
    stores = open_stores(services.settings)
    with reading(stores.sessions.engine) as connection:
        assert connection.execute(select(tables.uploads.c.original_name)).scalars().all() == [""]
    stores.close()
