"""The soak, on a small scale: everything in it works, and it ends well."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.soak import Size, soak
from benchmarks.soak_table import as_markdown
from tests.fakes.databases import ON_SQLITE, check_sound, database_of

pytestmark = [pytest.mark.extended, pytest.mark.skipif(sys.platform == "win32", reason="kill -9")]
SMALL = Size(actions=150, annotators=8, searchers=4, minutes=60.0, least=1.0, most=4.0, kills=2, slices=1.5)


def test_nothing_acknowledged_is_lost_and_searches_that_wait_hold_up_nobody(tmp_path: Path) -> None:
    url = database_of(tmp_path / "home", empty=ON_SQLITE)
    with ThreadPoolExecutor(1) as thread:   # browser tests before this one leave their event loop in the main one
        soaked = thread.submit(soak, tmp_path, SMALL, url).result()
    assert soaked.problems(SMALL.actions) == []
    assert soaked.kills >= SMALL.kills + 1, "the last one is at the end"
    assert len(soaked.seconds_to_ready) == soaked.kills + 1, "every kill but the last is followed by a start"
    kinds = {"judgement, route", "judgement, named call", "rating, route", "rating, named call",
             "search, named call, cold", "search, named call, warm"}
    assert kinds <= set(soaked.milliseconds)
    assert soaked.seconds_to_warm and min(soaked.seconds_to_warm) > min(soaked.seconds_to_ready)
    assert {"answer", "turn", "draft"} <= set(soaked.verdict.acknowledged)
    without, waiting = soaked.waiting.without, soaked.waiting.waiting
    assert without is not None and waiting is not None and soaked.waiting.searches == SMALL.searchers
    # With all four lanes to the language model taken, saves do not wait for the server's 600 seconds.
    assert without.quantile(0.95) > 0 and waiting.quantile(0.95) < 60_000
    table = as_markdown(soaked)
    for row in ("**Lost** | **0**", "**Doubled** | **0**", "**Changed** | **0**", "while searches wait"):
        assert f"| {row} |" in table
    which = "SQLite 3." if ON_SQLITE else "PostgreSQL 1"
    assert table.startswith(f"{SMALL.annotators} annotators and {SMALL.searchers} searchers, {which}")
    check_sound(url)
