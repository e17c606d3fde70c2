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
