"""What all tests share: nothing of the shell's settings, what is let go after use, and the choice of files."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator
from functools import cache
from pathlib import Path

import pytest

from cir_core.settings import quiet_threads
from tests.budget import Ledger, Meter
from tests.fakes import databases, forked
from tests.fakes.imported import BROWSER, PROCESSES, changed_since, imports_of, is_touched
from tests.fakes.kept_encoder import keep_encoder
from tests.fakes.people import hash_lightly
from tests.fakes.resident import pytest_runtest_protocol as pytest_runtest_protocol
from tests.fakes.shell import forget_settings

DATABASES = "tests.fakes.databases"
HERE = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--only-databases", action="store_true",
                     help="only files of tests that import tests.fakes.databases, themselves or through what they "
                          "import of tests, and start no browser: all others do the same whatever "
                          "CIRQUE_TEST_DATABASE_URL says, or ask the database nothing that these do not")
    parser.addoption("--quick", action="store_true",
                     help="neither files of tests that import, themselves or through what they import of tests, what "
                          f"starts a browser, a server or another process ({', '.join(sorted(PROCESSES))})")
    parser.addoption("--changed-since", metavar="COMMIT", help="only files of tests that reach what differs from it")
    parser.addoption("--spent", metavar="NAME", help="keep the CPU seconds of this run under that name")
    parser.addoption("--full-chromium", action="store_true", help="drive Chromium, not its headless shell")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What is not asked for is not imported either."""
    databases_alone, quick, since = map(config.getoption, ("--only-databases", "--quick", "--changed-since"))
    if not collection_path.match("test_*.py") or not (databases_alone or quick or since):
        return None
    imported = imports_of(collection_path)
    left_out = ((databases_alone and (DATABASES not in imported or BROWSER in imported))
                or (quick and PROCESSES & imported)
                or (since and not is_touched(collection_path, _changed(since))))
    return True if left_out else None


@cache
def _changed(commit: str) -> frozenset[Path]:
    try:
        return changed_since(commit)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # Files that take long come first, so that the workers end at the same time.
    items.sort(key=lambda item: [HERE / room in item.path.parents for room in ("web", "integration")], reverse=True)
    left_out = [] if databases.ON_SQLITE else [item for item in items if item.get_closest_marker("sqlite")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


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
    quiet_threads()
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"     # demos that tests make would look for a newer version
    if "PYTEST_XDIST_WORKER" in os.environ:   # the workers have all cores
        os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.modules.setdefault("triton", None)    # type: ignore[arg-type] # for GPUs: 70 MB of each worker
    forget_settings()
    hash_lightly()
    config.pluginmanager.register(Owners())
    is_worker = hasattr(config, "workerinput")
    if name := config.getoption("--spent"):
        config.pluginmanager.register(Meter())
        if not is_worker:
            config.pluginmanager.register(Ledger(config, name))
    if not is_worker and config.getoption("numprocesses", None) and not config.getoption("--quick"):
        os.environ["OMP_NUM_THREADS"] = "1"      # or sums of commands differ from those of the workers
        forked.serve()                           # one for all of them
        if sys.platform == "linux":
            config.option.tx = [forked.worker()] * len(config.option.tx)


def pytest_collection_finish() -> None:
    """What is loaded by now stays: a full collection, of which some tests have hundreds, need not look at it."""
    keep_encoder()
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)   # when also the fixtures of an interrupted run are over
def pytest_sessionfinish() -> None:
    databases.close()
    forked.close()
    gc.unfreeze()     # libraries complain of what is left when the interpreter ends
