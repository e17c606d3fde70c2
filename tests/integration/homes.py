"""Fixtures of tests that run commands in their own process. Who imports one has it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cir_core.settings import get_settings
from cli import console
from storage.stores import Stores, open_stores
from tests.fakes.databases import use_home
from tests.fakes.undrawn import without_images


@contextmanager
def commands_at(home: Path) -> Iterator[Path]:
    """It is the home of commands. What they print is not wrapped, and images of figures are not drawn."""
    with pytest.MonkeyPatch.context() as patch:
        use_home(patch, home)
        patch.setattr(console.out, "width", 200)     # read once, where the console is made
        without_images(patch)
        get_settings.cache_clear()
        yield home
    get_settings.cache_clear()


@pytest.fixture(name="home")
def command_home(tmp_path: Path) -> Iterator[Path]:
    """One with nothing in it."""
    (tmp_path / "home").mkdir()
    with commands_at(tmp_path / "home") as home:
        yield home


@pytest.fixture(name="stores")
def command_stores(home: Path) -> Iterator[Stores]:
    """Of that home."""
    stores = open_stores(get_settings())
    yield stores
    stores.close()
