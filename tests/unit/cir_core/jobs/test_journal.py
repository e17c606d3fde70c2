"""The journal of a long job, also as earlier versions wrote it, and which of its items may have loaded models."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from cir_core.errors import DatasetError, LanguageModelError
from cir_core.jobs.job import JobOptions, JobReport, open_job
from cir_core.jobs.journal import ItemResult, JobCard, read_progress
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
    with pytest.raises(DatasetError, match=r"holds texts already\. Add --resume"):
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
