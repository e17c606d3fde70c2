"""Settings from the environment: what is refused rather than replaced by a default."""

from pathlib import Path

import pytest

from cir_core.errors import SettingsError
from cir_core.settings import Settings, get_settings


@pytest.fixture(autouse=True)
def read_anew():
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


@pytest.mark.parametrize("value", ["", "   "])
def test_an_empty_home_is_refused(monkeypatch, value):
    monkeypatch.setenv("CIRQUE_HOME", value)
    with pytest.raises(SettingsError, match=r"^CIRQUE_HOME: it is set, but empty\. Name a folder, or unset it"):
        get_settings()


def test_without_it_the_default_folder_holds(monkeypatch, tmp_path):
    monkeypatch.delenv("CIRQUE_HOME", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    assert get_settings().home == tmp_path / "cirque"


def test_a_home_that_is_named_in_code_needs_no_variable(monkeypatch):
    monkeypatch.setenv("CIRQUE_HOME", "")
    assert Settings.model_validate({"home": "/srv/cirque"}).home == Path("/srv/cirque")


def test_other_empty_variables_count_as_not_set(monkeypatch, tmp_path):
    monkeypatch.setenv("CIRQUE_HOME", str(tmp_path))
    monkeypatch.setenv("CIRQUE_GALLERY", "")
    assert get_settings().gallery == "atelier"


@pytest.mark.parametrize(("name", "value"), [
    ("database_url", "postgresql+psycopg://lab"), ("mcp", True), ("metrics", True), ("allow_downloads", True),
    ("log_level", "debug"), ("llm_base_url", "http://127.0.0.1:8000/v1"),
])
def test_what_a_public_demo_must_not_have_is_refused(name, value):
    with pytest.raises(ValueError, match=rf"CIRQUE_{name.upper()}"):
        Settings.model_validate({"public_demo": True, name: value})
    assert Settings.model_validate({name: value}).public_demo is False


def test_a_mistake_about_the_demo_is_said_at_the_start(monkeypatch, tmp_path):
    monkeypatch.setenv("CIRQUE_HOME", str(tmp_path))
    monkeypatch.setenv("CIRQUE_PUBLIC_DEMO", "true")
    monkeypatch.setenv("CIRQUE_MCP", "true")
    with pytest.raises(SettingsError,
                       match=r"^CIRQUE_PUBLIC_DEMO: .*unset CIRQUE_MCP\. See docs/reference/settings\.md\.$"):
        get_settings()


def test_a_public_demo_has_smaller_limits_unless_others_are_set(tmp_path):
    usual, demo = (Settings.model_validate({"home": tmp_path, "public_demo": one}) for one in (False, True))
    assert demo.uploads_per_day < usual.uploads_per_day and demo.max_upload_mb < usual.max_upload_mb
    assert demo.upload_mb_per_day < usual.upload_mb_per_day
    chosen = Settings.model_validate({"public_demo": True, "uploads_per_day": 7, "demo_language_model": True,
                                      "llm_base_url": "http://127.0.0.1:8000/v1"})
    assert chosen.uploads_per_day == 7


def test_a_public_demo_keeps_its_data_apart(tmp_path):
    demo = Settings.model_validate({"home": tmp_path, "public_demo": True})
    for path in (demo.uploads, demo.upload_counts):
        assert path.parent == tmp_path / "public-demo"
    assert demo.resolved_database_url.endswith("/public-demo/cirque.db")
