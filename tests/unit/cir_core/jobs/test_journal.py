"""The journal of a long job, also as earlier versions wrote it, and which of its items may have loaded models."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any, ClassVar

import pytest

from cir_core.errors import DatasetError, LanguageModelError
from cir_core.jobs.estimate import Pace, Prices, RoleEstimate, TimeRange, estimate_job, time_left, time_unmeasured
from cir_core.jobs.job import JobOptions, JobReport, open_job
from cir_core.jobs.journal import ItemResult, JobCard, JobProgress, read_progress
from cir_core.jobs.spending import ItemWatch

pytestmark = pytest.mark.sqlite   # nothing here is kept in a database

# Byte for byte what the version before wrote: three items, one of which failed, and spending of an unfinished one.
EARLIER = b"""\
{"format":1,"card":{"gallery":"colours"},"crc":"ae5de1a3"}
{"at":0,"usage":{"calls":2,"prompt_tokens":10},"seconds":40.0,"result":{"text":"red"},"crc":"3478856b"}
{"at":2,"usage":{"calls":1},"seconds":2.0,"failure":"no caption","crc":"db44d867"}
{"usage":{"calls":1},"seconds":0.0,"crc":"ef596700"}
{"at":1,"usage":{"calls":1},"seconds":4.0,"result":{"text":"blue"},"crc":"dfe5268d"}
"""


@dataclass(frozen=True)
class Card(JobCard):
    kept: ClassVar[str] = "texts"

    gallery: str = "colours"


def run(folder: Path, items: int, make: Any, **options: Any) -> tuple[JobReport, list[ItemResult]]:
    with open_job(folder, Card(), JobOptions(**options), "makes texts") as job:
        return job.run(range(items), make), list(job.journal.results(range(items)))


def text(item: int, watch: ItemWatch) -> Mapping[str, Any]:
    return {"text": str(item)}


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    (tmp_path / "journal.jsonl").write_bytes(EARLIER)
    return tmp_path


def test_an_earlier_journal_is_resumed(earlier: Path) -> None:
    report, found = run(earlier, 5, text, resume=True)
    assert (report.resumed, report.done, report.usage.calls, report.usage.prompt_tokens) == (3, 5, 2 + 1 + 1 + 1, 10)
    assert [one.result or one.failure for one in found] == [
        {"text": "red"}, {"text": "blue"}, "no caption", {"text": "3"}, {"text": "4"}]
    assert (earlier / "journal.jsonl").read_bytes().startswith(EARLIER)


def test_failures_of_an_earlier_journal_are_tried_again(earlier: Path) -> None:
    report, found = run(earlier, 3, text, resume=True, retry_failed=True)
    assert (report.resumed, report.done, found[2].result) == (2, 3, {"text": "2"})


def test_an_earlier_journal_is_not_begun_anew_nor_under_other_settings(earlier: Path) -> None:
    with pytest.raises(DatasetError, match=r"contains texts already\. Add --resume"):
        run(earlier, 3, text)
    with (pytest.raises(DatasetError, match="gallery was colours, is shapes"),
          open_job(earlier, Card("shapes"), JobOptions(resume=True), "makes texts")):
        pass
    assert (earlier / "journal.jsonl").read_bytes() == EARLIER


def test_of_an_earlier_journal_the_first_item_may_have_loaded_models(earlier: Path) -> None:
    progress = read_progress(earlier / "journal.jsonl")
    assert (list(progress.cold), list(progress.warm), progress.left(range(5))) == ([40.0], [2.0, 4.0], [3, 4])


def test_the_first_items_of_each_run_may_have_loaded_models(tmp_path: Path) -> None:
    """Those that began before one of the same run had succeeded: a failure may come before anything is loaded."""
    def make(item: int, watch: ItemWatch) -> Mapping[str, Any]:
        if item == 0:
            raise LanguageModelError("no caption")
        return text(item, watch)

    _, found = run(tmp_path, 4, make)
    assert [one.cold for one in found] == [True, True, False, False]
    _, found = run(tmp_path, 7, text, resume=True)
    assert [one.cold for one in found] == [True, True, False, False, True, False, False]
    assert len(read_progress(tmp_path / "journal.jsonl").cold) == 3


def test_items_that_load_models_beside_each_other(tmp_path: Path) -> None:
    """Of three workers the first three items begin at once, and none of them finds anything loaded."""
    together = threading.Barrier(3)

    def make(item: int, watch: ItemWatch) -> Mapping[str, Any]:
        if item < 3:
            together.wait(30)
        return text(item, watch)

    _, found = run(tmp_path, 9, make, workers=3)
    assert [one.item for one in found if one.cold][:3] == [0, 1, 2]
    assert not found[-1].cold


# --- how long a job takes --------------------------------------------------------------------

T_19 = 1.7291       # Student's t with 19 degrees of freedom, 95 % below it; of a printed table, as all others here
T_1 = 6.3138


def test_a_slow_first_item_is_not_taken_for_all_of_them() -> None:
    """20 items of 4 s after one of 40 s that loaded a model: 45 more take 3 min, and the model is loaded again; as many
    items as the first took would be 30 min."""
    found = time_left(45, 1, [4.0] * 20, [40.0])
    assert found == TimeRange(*3 * [45 * 4.0 + 36.0])
    assert str(found) == "about 4 min" and str(time_left(45, 1, [4.0] * 20)) == "about 3 min"


def test_a_slow_first_item_that_nothing_marks() -> None:
    """Of an earlier version's second run: at best it loaded something, at worst one item in 21 is like it."""
    found = time_left(45, 1, [40.0, *[4.0] * 20])
    assert (found.shortest, found.longest) == pytest.approx((45 * 4 + 36, 45 * (40 + 80) / 21))
    assert str(found) == "about 4 min"


def test_models_are_loaded_once_in_each_run_however_many_workers_wait_for_it() -> None:
    """Two runs of two workers: 30 s or so until a model was there, then 5 s an item; two at a time."""
    found = time_left(60, 2, [5.0] * 30, [30.0, 31.0, 29.0, 30.0])
    assert found.expected == pytest.approx(60 / 2 * 5 + (30 - 5))


@pytest.mark.parametrize(("warm", "cold", "shortest", "longest"), [
    ([], [], 0.0, 0.0),
    ([], [9.0], 9.0, 10 * 9.0),                         # perhaps all of it was loading
    ([3.0], [], 10 * 3.0 / 2, 10 * 3.0 * 2),            # one tells nothing of how different they are
    ([3.0], [9.0], 10 * 3.0 / 2 + 6, 10 * 3.0 * 2 + 6),
])
def test_very_few_items(warm: Sequence[float], cold: Sequence[float], shortest: float, longest: float) -> None:
    found = time_left(10, 1, warm, cold)
    assert (found.shortest, found.longest) == pytest.approx((shortest, longest))
    assert found.shortest <= found.expected <= found.longest


def test_two_items() -> None:
    """1 and 3 s: mean 2, deviation √2; 100 more: 200 s, by a factor of 1 + t·√2·√(1/2 + 1/100)/2."""
    beyond = 1 + T_1 * sqrt(2) * sqrt(1 / 2 + 1 / 100) / 2
    found = time_left(100, 1, [1.0, 3.0])
    assert (found.shortest, found.expected, found.longest) == pytest.approx((200 / beyond, 200, 200 * beyond), rel=1e-4)


def test_items_of_very_different_length_give_a_wide_range_and_more_of_them_a_narrower_one() -> None:
    """Half of 1 s and half of 9 s: mean 5, deviation 4·√(20/19)."""
    beyond = 1 + T_19 * 4 * sqrt(20 / 19) * sqrt(1 / 20 + 1 / 60) / 5
    found = time_left(60, 1, [1.0, 9.0] * 10)
    assert (found.shortest, found.longest) == pytest.approx((300 / beyond, 300 * beyond), rel=1e-4)
    assert str(found) == f"{300 / beyond / 60:.0f} to {300 * beyond / 60:.0f} min" == "4 to 7 min"
    narrower = time_left(60, 1, [1.0, 9.0] * 200)
    assert narrower.longest - narrower.shortest < found.longest - found.shortest


def test_fewer_items_than_workers_take_as_long_as_one() -> None:
    assert time_left(2, 8, [6.0] * 5).expected == 6.0
    assert time_left(0, 8, [6.0] * 5, [9.0]) == TimeRange(0.0, 0.0, 0.0)


@pytest.mark.parametrize(("shortest", "longest", "words"), [
    (0.0, 0.2, "about 0 s"), (11.8, 40.0, "12 to 40 s"), (40.0, 170.0, "40 s to 3 min"), (110.0, 290.0, "2 to 5 min"),
    (175.0, 185.0, "about 3 min"), (3000.0, 7200.0, "50 min to 2.0 h"), (5400.0, 9000.0, "1.5 to 2.5 h"),
])
def test_words(shortest: float, longest: float, words: str) -> None:
    assert str(TimeRange(longest, shortest, longest)) == words


def journal(items: Sequence[tuple[float, bool]], calls: int) -> JobProgress:
    """Of items with their seconds, and whether they were cold."""
    found = JobProgress()
    for at, (seconds, cold) in enumerate(items):
        found.add(at, {"at": at, "usage": {"calls": calls, "prompt_tokens": 100}, "seconds": seconds,
                       "result": {}, **({"cold": True} if cold else {})})
    return found


ROLES = {"merge": RoleEstimate(30, 60, 3000, 600), "difference": RoleEstimate(10, 40, 1000, 200)}


def test_a_job_that_stops_and_resumes() -> None:
    """Two runs, in each a cold item of 50 s and nine of 5 s: of three requests an item, three quarters for "merge"."""
    before = journal([(50.0, True), *[(5.0, False)] * 9] * 2, 3)
    found = estimate_job(40, ROLES, "the prompts", workers=1, prices=Prices(1.0, 10.0), before=before)
    assert found.time.expected == 40 * 5 + 45 and str(found.time) == "about 4 min"
    assert (found.calls, found.roles["merge"].calls, found.roles["merge"].most) == (40 * 3, 90, 60)
    assert found.cost == pytest.approx(40 * 100 / 1e6)      # no answer token was counted
    assert found.basis == "measured on the 20 sessions that are over"


@pytest.mark.parametrize("items", [0, 1, 2])
def test_too_few_items_measure_nothing(items: int) -> None:
    """Of an earlier version's journal, whose first item was cold."""
    before = journal([(5.0, False)] * items, 3)
    found = estimate_job(40, ROLES, "the prompts", workers=4, prices=Prices(), before=before)
    assert found.time == time_unmeasured(30 + 10, 4) == TimeRange(40 * 2 / 4, 40 * 2 / 4 / 2, 40 * 2 / 4 * 2)
    assert re.search("the prompts and 2 s a request", found.basis) and found.cost is None


def test_items_that_all_loaded_models_are_measured_too() -> None:
    """Eleven workers began at once: no item is known that loaded nothing."""
    before = journal([(30.0, True)] * 11, 3)
    found = estimate_job(40, ROLES, "the prompts", workers=4, prices=Prices(), before=before)
    assert found.time == time_left(40, 4, [], [30.0] * 11)


@pytest.mark.parametrize("items", [3, 11])
def test_the_time_of_a_few_items_is_known_sooner_than_what_they_ask(items: int) -> None:
    before = journal([(5.0, False)] * items, 3)
    found = estimate_job(40, ROLES, "the prompts", workers=4, prices=Prices(), before=before)
    assert found.time == time_left(40, 4, [5.0] * (items - 1), [5.0]) and found.roles == ROLES
    assert found.basis == f"the prompts, and the time of the {items} sessions that are over"


def test_a_model_that_costs_nothing() -> None:
    before = journal([(5.0, False)] * 12, 0)
    found = estimate_job(40, {}, "the prompts", workers=1, prices=Prices(1.0, 10.0), before=before)
    assert found.cost is None and found.time.expected == 40 * 5


@pytest.mark.parametrize(("workers", "finished", "rate"), [
    (1, [], None), (1, [40.0], None),                   # the first one loads a model
    (1, [40.0, 44.0, 48.0], 2 / 8),
    (3, [40.0, 41.0, 42.0], None),                      # three wait for it together
    (3, [40.0, 41.0, 42.0, 44.0, 45.0, 46.0], 3 / 4),
])
def test_the_pace_of_a_run_that_goes_on(workers: int, finished: Sequence[float], rate: float | None) -> None:
    now = [0.0]
    pace = Pace(workers, lambda: now[0])
    pace.update(100)        # of earlier runs
    for number, now[0] in enumerate(finished, start=101):
        pace.update(number)
    assert pace.rate == (rate and pytest.approx(rate))
    now[0] += 60            # a run that stands still is slower
    assert rate is None or pace.rate < rate
