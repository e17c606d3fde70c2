"""Folders of constructions that others made: what is no file is not waited for, and what is large is not held."""

from __future__ import annotations

import json
import os
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from cir_core.construct.browse.folders import list_constructions, open_construction
from cir_core.construct.browse.journal import JournalFollower, MemoryAllowance
from cir_core.construct.browse.sessions import SessionReader, judged_files, read_scores
from cir_core.construct.browse.targets import TargetReader
from cir_core.construct.targets.provenance import MOST_LINE
from cir_core.datasets.readers import circled_raw
from cir_core.datasets.readers.circled_raw import MOST_RECORD
from cir_core.errors import DatasetError
from cir_core.jobs.journal import FORMAT

pytestmark = pytest.mark.sqlite   # nothing here is kept in a database
SESSION: dict[str, Any] = {"query_id": 1, "reference_image_id": 2, "success": True, "turns": [
    {"turn": 0, "best_gt_rank": 4}, {"turn": 1, "relative_caption": "is longer", "best_gt_rank": 1}]}
QUERY: dict[str, Any] = {"query_id": "1", "reference": "r", "original_target": "t", "captions": [], "text": "is red",
                         "sentences": [], "queries": {}, "candidates": []}
HEADING = json.dumps({"format": FORMAT, "card": {"gallery": "g"}}) + "\n"


def raw(folder: Path, sessions: list[dict[str, Any]], **head: Any) -> Path:
    (folder / "raw").mkdir(parents=True)
    path = folder / "raw/dress.json"
    path.write_text(json.dumps({"dataset_name": "FashionIQ_dress", **head, "results": sessions}), "utf-8")
    return path


def provenance(folder: Path, lines: list[str]) -> Path:
    (folder / "provenance").mkdir(parents=True)
    path = folder / "provenance/dress.jsonl"
    path.write_text("".join(line + "\n" for line in lines), "utf-8")
    return path


def journal(folder: Path, lines: Sequence[str] = ()) -> Path:
    folder.mkdir(parents=True)
    path = folder / "journal.jsonl"
    path.write_text(HEADING + "".join(line + "\n" for line in lines), "utf-8")
    return path


PIPES: dict[str, Callable[[Path], None]] = {
    "the journal": lambda folder: (folder.mkdir(), os.mkfifo(folder / "journal.jsonl"))[0],
    "the journal beside raw files": lambda folder: (raw(folder, [SESSION]), os.mkfifo(folder / "journal.jsonl"))[1],
    "a raw file": lambda folder: ((folder / "raw").mkdir(parents=True), os.mkfifo(folder / "raw/a.json"))[1],
    "queries": lambda folder: ((folder / "provenance").mkdir(parents=True),
                               os.mkfifo(folder / "provenance/a.jsonl"))[1],
    "the card": lambda folder: (provenance(folder, [json.dumps(QUERY)]), os.mkfifo(folder / "protocol.json"))[1],
    "the run": lambda folder: (journal(folder), os.mkfifo(folder / "run.json"))[1],
    "the lock": lambda folder: (journal(folder), os.mkfifo(folder / "lock"))[1],
    "scores": lambda folder: (raw(folder, [SESSION]), os.mkfifo(folder / "judged.json"))[1],
}


@pytest.mark.parametrize("where", PIPES)
def test_a_named_pipe_is_not_waited_for(tmp_path: Path, where: str) -> None:
    PIPES[where](tmp_path / "bomb")
    raw(tmp_path / "good", [SESSION])
    found = {one.name: one for one in list_constructions(tmp_path)}
    assert found["good"].state == "finished"
    bomb = found["bomb"]
    assert "pipe" in bomb.problem or bomb.state in ("stopped", "finished") or "cannot be read" in bomb.problem
    if bomb.state == "finished":
        read = SessionReader().read(bomb)
        assert len(read.sessions) == 1 and read_scores(judged_files(bomb.path), read) == {}


def peak_of(work: Callable[[], Any]) -> tuple[Any, int]:
    tracemalloc.start()
    try:
        return work(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_query_with_more_candidates_than_any_is_left_out_and_said(tmp_path: Path) -> None:
    one = '{"image":"image-of-some-length","confidence":0.5,"found":[]}'
    many = json.dumps(QUERY)[:-2] + ",".join([one] * (MOST_LINE // len(one) + 1)) + "]}"
    assert json.loads(many)["query_id"] == "1" and len(many) > MOST_LINE
    provenance(tmp_path / "b", [json.dumps(QUERY), many, json.dumps(QUERY | {"query_id": "3"})])
    read, peak = peak_of(lambda: TargetReader().read(open_construction(tmp_path, "b")))
    assert [one.read().query_id for one in read.queries] == ["1", "3"] and peak < 4 * MOST_LINE
    assert read.notes[0].startswith("1 line is not a query")


def test_a_journal_line_longer_than_any_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    journal(tmp_path / "b", [json.dumps({"at": 0, "result": SESSION}),
                             json.dumps({"at": 1, "result": "x" * MOST_RECORD})])
    folder = open_construction(tmp_path, "b")
    with pytest.raises(DatasetError, match=r"journal\.jsonl has a line of more than 4 MB"):
        SessionReader().read(folder)
    assert JournalFollower().look(folder.journal)[0] == 1


def test_a_card_longer_than_any_is_an_error_that_hides_no_other(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b/journal.jsonl").write_text(HEADING.replace('"g"', json.dumps("x" * 2**21)), "utf-8")
    journal(tmp_path / "good")
    assert {one.name: bool(one.problem) for one in list_constructions(tmp_path)} == {"b": True, "good": False}


@pytest.fixture
def smaller(monkeypatch: pytest.MonkeyPatch) -> int:
    """Bytes of a record at most, for tests that count each object of it."""
    monkeypatch.setattr(circled_raw, "MOST_RECORD", 2**18)
    return 2**18


def test_a_session_larger_than_any_ends_the_reading_and_is_said(tmp_path: Path, smaller: int) -> None:
    huge = SESSION | {"more": [[]] * 2**18}
    raw(tmp_path / "b", [SESSION, huge, SESSION])
    read, peak = peak_of(lambda: SessionReader().read(open_construction(tmp_path, "b")))
    assert len(read.sessions) == 1 and "1 records are not" in read.notes[0] and peak < 40 * smaller


def test_a_head_larger_than_any_is_not_held(tmp_path: Path, smaller: int) -> None:
    path = raw(tmp_path / "b", [SESSION], config={"a": [[]] * 2**18})
    path.write_text(path.read_text("utf-8").replace('"dataset_name": "FashionIQ_dress", ', "", 1)[:-1]
                    + ', "dataset_name": "FashionIQ_dress"}', "utf-8")
    [one], peak = peak_of(lambda: list_constructions(tmp_path))
    assert "no dataset_name" in one.problem and peak < 40 * smaller


@pytest.mark.parametrize("kind", ["sessions", "queries"])
def test_more_than_fits_is_passed_over_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(MemoryAllowance.__init__, "__defaults__", (20_000,))
    reader: Any
    if kind == "sessions":
        raw(tmp_path / "b", [SESSION | {"query_id": number} for number in range(50)])
        reader, shown = SessionReader(), "sessions"
    else:
        provenance(tmp_path / "b", [json.dumps(QUERY | {"query_id": str(number)}) for number in range(50)])
        reader, shown = TargetReader(), "queries"
    read = reader.read(open_construction(tmp_path, "b"))
    kept = len(getattr(read, shown))
    assert 0 < kept < 50 and f"{50 - kept} {shown} more would not fit" in read.notes[0]


def test_scores_that_are_none_take_no_memory(tmp_path: Path) -> None:
    raw(tmp_path / "b", [SESSION])
    (tmp_path / "b/judged.json").write_text('{"sessions": [' + ",".join(["[]"] * 30_000) + "]}", "utf-8")
    read = SessionReader().read(open_construction(tmp_path, "b"))
    scores, peak = peak_of(lambda: read_scores(judged_files(tmp_path / "b"), read))
    assert scores == {} and peak < 2 * 2**20
