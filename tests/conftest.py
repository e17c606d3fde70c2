"""What all tests share: nothing of the shell's settings, what is let go after use, and the choice of files."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.fakes import databases, forked
from tests.fakes.imported import imports_of
from tests.fakes.people import hash_lightly
from tests.fakes.shell import forget_settings

DATABASES, BROWSER = "tests.fakes.databases", "playwright.sync_api"
PROCESSES = frozenset({"subprocess", "uvicorn", BROWSER})    # what one imports to start one


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--only-databases", action="store_true",
                     help="only files of tests that import tests.fakes.databases, themselves or through what they "
                          "import of tests, and start no browser: all others do the same whatever "
                          "CIRQUE_TEST_DATABASE_URL says, or ask the database nothing that these do not")
    parser.addoption("--quick", action="store_true",
                     help="neither files of tests that import, themselves or through what they import of tests, what "
                          f"starts a browser, a server or another process ({', '.join(sorted(PROCESSES))}), nor tests "
                          "that are marked as slow")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What is not asked for is not imported either."""
    if not collection_path.match("test_*.py"):
        return None
    imported = imports_of(collection_path)
    left_out = ((config.getoption("--only-databases") and (DATABASES not in imported or BROWSER in imported))
                or (config.getoption("--quick") and PROCESSES & imported))
    return True if left_out else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    def is_asked_for(item: pytest.Item) -> bool:
        return ((databases.ON_SQLITE or item.get_closest_marker("sqlite") is None)
                and not (config.getoption("--quick") and item.get_closest_marker("slow")))

    config.hook.pytest_deselected(items=[item for item in items if not is_asked_for(item)])
    items[:] = [item for item in items if is_asked_for(item)]


class Owners:
    """Tells ``databases`` what is under way. A plugin of its own, for pytest does not ask the hooks of a conftest.py
    about fixtures that last as long as all tests."""

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
        with databases.owned_by(fixturedef.addfinalizer):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        with databases.owned_by(item.addfinalizer):
            return (yield)


def pytest_configure(config: pytest.Config) -> None:
    # Threads of torch that wait for one another turn round and round otherwise, and take the cores from who works.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    if "PYTEST_XDIST_WORKER" in os.environ:   # the workers have all cores
        os.environ.setdefault("OMP_NUM_THREADS", "1")
    forget_settings()
    hash_lightly()
    config.pluginmanager.register(Owners())


def pytest_collection_finish() -> None:
    """What is loaded by now stays: a full collection, of which some tests have hundreds, need not look at it."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)   # when also the fixtures of an interrupted run are over
def pytest_sessionfinish() -> None:
    databases.close()
    forked.close()
    gc.unfreeze()     # libraries complain of what is left when the interpreter ends
