"""Queries with targets read from a folder: what a threshold makes of them, search and order, what is damaged."""

from __future__ import annotations

import json
import shutil
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from cir_core.construct.browse.folders import list_constructions, open_construction
from cir_core.construct.browse.journal import JournalReader
from cir_core.construct.browse.query import TARGET_SORTS, TARGETS_SHOWN, TargetQuery, find_queries, summary_of
from cir_core.construct.browse.targets import TargetReader, scored
from cir_core.construct.targets.multi_target import find_targets
from cir_core.construct.targets.provenance import read_provenance
from cir_core.construct.targets.settings import TargetSettings
from cir_core.errors import DatasetError
from cir_core.gallery.gallery import Gallery
from cir_core.gallery.paths import locked
from cir_core.jobs.job import JobOptions, RunRecord, read_run, write_run
from cir_core.jobs.spending import Budget
from tests.fakes.colour_targets import ColourAssessor, colour_targets

COUNT = 24
SMALL = TargetSettings(keep=6, scored=4)
THRESHOLDS = (0.0, 0.33, 0.34, 0.67, 0.671, 0.85, 1.0)      # 0.33 and 0.67 are confidences themselves
Json = dict[str, Any]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, gallery: Gallery) -> Path:
    root = tmp_path_factory.mktemp("benchmarks")
    find_targets(colour_targets(gallery, ColourAssessor(), COUNT, settings=SMALL), root / "built")
    path = root / "built/provenance/cirr.jsonl"
    first, *lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text(json.dumps(json.loads(first) | {"original_target": "r0g0b0"}) + "\n" + "".join(lines), "utf-8")
    return root     # the first query's original target is no candidate, as with candidates of others


@pytest.fixture
def copied(root: Path, tmp_path: Path) -> Path:
    """The folder ``built`` in ``tmp_path``."""
    return Path(shutil.copytree(root / "built", tmp_path / "built"))


def lines_of(root: Path) -> list[Json]:
    return [json.loads(line) for line in (root / "built/provenance/cirr.jsonl").read_text("utf-8").splitlines()]


def confidences(line: Json) -> list[float]:
    return [one["confidence"] for one in line["candidates"] if one["confidence"] is not None]


def counted(line: Json, threshold: float) -> int:
    return sum(one >= threshold for one in confidences(line))


def original(line: Json) -> float | None:
    return next((one["confidence"] for one in line["candidates"] if one["image"] == line["original_target"]), None)


def found(root: Path, **query: Any) -> list[str]:
    read = TargetReader().read(open_construction(root, "built"))
    return [one.read().query_id for one in find_queries(read.queries, TargetQuery(limit=1000, **query)).shown]


def test_a_finished_folder_is_listed_and_read(root: Path) -> None:
    [one] = list_constructions(root)
    assert (one.name, one.kind, one.state, one.problem, one.gallery) == ("built", "targets", "finished", "", "colours")
    assert one.run == RunRecord((), None, COUNT, complete=True, thresholds={"cirr": 0.85})
    read, records = TargetReader().read(one), list(read_provenance(one.provenance[0]))
    assert [query.read() for query in read.queries] == records and read.failures == 0 and read.notes == ()
    shown = {name for record in records for name in (record.reference, record.original_target)}
    assert read.image_ids == shown | {one["image"] for line in lines_of(root) for one in line["candidates"]
                                      if one["confidence"] is not None}
    assert len(read.image_ids) < 64    # not the gallery
    for query in read.queries:
        assert read.find(query.key) is query
        ordered = scored(query.read())
        assert [confidence for _, confidence in ordered] == list(query.confidences)[::-1]


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_a_threshold_is_recounted(root: Path, threshold: float) -> None:
    read, lines = TargetReader().read(open_construction(root, "built")), lines_of(root)
    numbers = [counted(line, threshold) for line in lines]
    summary = summary_of(read.queries, threshold)
    assert summary.by_targets == {number: numbers.count(number) for number in set(numbers)}
    assert (summary.queries, summary.kept, summary.targets) == (COUNT, COUNT - numbers.count(0), sum(numbers))
    assert summary.mean == (sum(numbers) / summary.kept if summary.kept else None)
    assert summary.rewritable == sum(number >= 3 for number in numbers)
    lost = [number > 0 and (original(line) is None or original(line) < threshold)  # type: ignore[operator]
            for number, line in zip(numbers, lines, strict=True)]
    assert summary.without_original == sum(lost)
    ids = [line["query_id"] for line in lines]
    kept = {"all": [True] * COUNT, "with": [number > 0 for number in numbers], "lost": lost,
            "without": [number == 0 for number in numbers], "several": [number >= 3 for number in numbers]}
    assert set(kept) == set(TARGETS_SHOWN)
    for show, members in kept.items():
        expected = [one for one, member in zip(ids, members, strict=True) if member]
        assert found(root, threshold=threshold, show=show) == expected


def test_the_thresholds_tell_queries_apart(root: Path) -> None:
    """The tests above would say little otherwise."""
    means = [sum(counted(line, threshold) for line in lines_of(root)) for threshold in THRESHOLDS]
    assert means == sorted(means, reverse=True) and len(set(means)) >= 4
    assert [original(line) is None for line in lines_of(root)] == [True] + [False] * (COUNT - 1)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("sort", TARGET_SORTS)
def test_orders(root: Path, sort: str, descending: bool) -> None:
    lines, threshold = lines_of(root), 0.67
    values: dict[str, list[float | None]] = {
        "constructed": [*range(COUNT)], "targets": [counted(line, threshold) for line in lines],
        "lowest": [min((one for one in confidences(line) if one >= threshold), default=None) for line in lines],
        "original": [original(line) for line in lines]}
    known = [place for place in range(COUNT) if values[sort][place] is not None]
    known.sort(key=lambda place: (values[sort][place] or 0) * (-1 if descending else 1))      # stable
    expected = known + [place for place in range(COUNT) if values[sort][place] is None]
    assert found(root, sort=sort, descending=descending, threshold=threshold) == [
        lines[place]["query_id"] for place in expected]


def test_search_and_pages(root: Path) -> None:
    lines = lines_of(root)
    assert found(root, text="MORE  red") == [line["query_id"] for line in lines if "more red" in line["text"]]
    name = lines[3]["candidates"][0]["image"]
    assert found(root, text=name) == [
        line["query_id"] for line in lines if name in (line["reference"], line["original_target"]) or any(
            one["image"] == name and one["confidence"] is not None for one in line["candidates"])]
    assert found(root, text="nothing like this") == [] == found(root, subset="other")
    read = TargetReader().read(open_construction(root, "built")).queries
    page = find_queries(read, TargetQuery(offset=5, limit=4, subset="cirr"))
    assert [one.number for one in page.shown] == [5, 6, 7, 8] and page.total == COUNT
    assert page.most == max(len(confidences(line)) for line in lines)


def test_a_growing_journal_is_read_once(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heading, *lines = (root / "built" / "journal.jsonl").read_bytes().splitlines(keepends=True)
    path = tmp_path / "growing" / "journal.jsonl"
    path.parent.mkdir()
    reader, again = TargetReader(), 0
    seen = list[int]()
    read_journal = JournalReader.read

    def watched(self: Any, path: Path, parse: Any) -> Any:
        return read_journal(self, path, lambda at, *line: seen.append(at) or parse(at, *line))

    monkeypatch.setattr(JournalReader, "read", watched)
    for count in (0, 5, 6, 6, len(lines)):
        path.write_bytes(heading + b"".join(lines[:count]) + b'{"at": 3, "resu')
        folder, again = open_construction(tmp_path, "growing"), len(seen)
        assert (folder.kind, folder.state) == ("targets", "stopped")
        read = reader.read(folder)
        assert len(seen) - again == count - again    # each line once
        assert [one.place for one in read.queries] == sorted(json.loads(line)["at"] for line in lines[:count])
        assert [one.number for one in read.queries] == list(range(count))
    known = {line["query_id"]: line for line in lines_of(root)}
    assert [one.read().as_json()["candidates"] for one in read.queries] == [
        known[one.read().query_id]["candidates"] for one in read.queries]
    path.write_bytes(heading + lines[0])    # another, shorter one
    with pytest.raises(DatasetError, match=r"have changed since they were read\. Reload"):
        read.queries[-1].read()
    assert len(reader.read(open_construction(tmp_path, "growing")).queries) == 1


def test_what_is_damaged_is_left_out_and_said(copied: Path) -> None:
    path = copied / "provenance/cirr.jsonl"
    lines = path.read_text("utf-8").splitlines()

    def with_candidate(place: int, **changes: Any) -> str:
        line = json.loads(lines[place])
        line["candidates"][0]["found"][0] |= changes
        return json.dumps(line)

    lines[0], lines[1], lines[2] = "{", "[]", json.dumps({"query_id": "q"})
    lines[3] = with_candidate(3, confidence=float("nan"))
    lines[4], lines[5] = with_candidate(4, confidence=1.5), with_candidate(5, rank=10**30)
    lines[6] = with_candidate(6, group="elsewhere")
    path.write_text("\n".join(lines) + "\n", "utf-8")
    read = TargetReader().read(open_construction(copied.parent, "built"))
    assert [one.place for one in read.queries] == list(range(7, COUNT))
    assert "7 lines are not queries with candidates and are left out" in read.notes[0]
    first = read.queries[0]
    path.write_text("\n".join(lines[::-1]) + "\n", "utf-8")
    with pytest.raises(DatasetError, match="Reload the page") as told:
        first.read()
    assert str(copied) not in str(told.value)


def test_failed_queries_are_counted(gallery: Gallery, tmp_path: Path) -> None:
    def fail(task: Any) -> None:
        if "green" in task.modification_text:
            from cir_core.errors import LanguageModelError
            raise LanguageModelError("No.")

    find_targets(colour_targets(gallery, ColourAssessor(fail=fail), 6, settings=SMALL), tmp_path / "failing")
    folder = open_construction(tmp_path, "failing")
    assert folder.state == "finished" and len(TargetReader().read(folder).queries) == 4
    shutil.rmtree(folder.path / "provenance")
    assert TargetReader().read(open_construction(tmp_path, "failing")).failures == 2


def test_states_of_a_folder(gallery: Gallery, copied: Path) -> None:
    root = copied.parent
    with locked(copied):
        running = open_construction(root, "built")
        assert running.state == "running" and running.provenance == ()
        assert len(TargetReader().read(running).queries) == COUNT
    more = colour_targets(gallery, ColourAssessor(), COUNT + 6, settings=SMALL)
    found = find_targets(more, root / "more", options=JobOptions(budget=Budget(calls=20)))
    stopped = open_construction(root, "more")
    assert found.stopped and stopped.state == "stopped" and stopped.run is not None
    assert (stopped.run.total, stopped.run.complete, stopped.run.budget.calls) == (COUNT + 6, False, 20)
    assert 0 < len(TargetReader().read(stopped).queries) < COUNT
    # Finished once, then begun again for more queries, and stopped: what is in the journal counts.
    run = read_run(copied)
    assert run is not None
    write_run(copied, RunRecord(total=run.total + 6))
    assert open_construction(root, "built").state == "stopped"
    (copied / "journal.jsonl").unlink()     # copied without it
    alone = open_construction(root, "built")
    assert (alone.kind, alone.state, alone.gallery) == ("targets", "finished", "colours")


def test_links_and_rewritten_texts_are_refused(copied: Path) -> None:
    root, path = copied.parent, copied / "provenance/cirr.jsonl"
    path.rename(root / "elsewhere.jsonl")
    path.symlink_to(root / "elsewhere.jsonl")
    with pytest.raises(DatasetError, match="contains a symbolic link"):
        open_construction(root, "built")
    (root / "single").mkdir()
    (root / "single/journal.jsonl").write_text('{"format": 1, "card": {"sources": {}}}\n', "utf-8")
    with pytest.raises(DatasetError, match="contains rewritten texts of cirque construct single-target"):
        open_construction(root, "single")


def test_candidates_stay_in_the_file(root: Path, tmp_path: Path) -> None:
    """What is kept of a query is less than a fifth of its line."""
    line = lines_of(root)[0]
    places = [{"group": group, "rank": 1, "similarity": 0.123456, "confidence": 0.5}
              for group in ("caption_query", "joined_query", "tg_img")]
    line["candidates"] = [{"image": f"image-{n}", "confidence": 0.5, "found": places} for n in range(60)]
    path = tmp_path / "large" / "provenance" / "cirr.jsonl"
    path.parent.mkdir(parents=True)
    with path.open("w") as file:
        for number in range(100):
            file.write(json.dumps(line | {"query_id": f"q{number}"}) + "\n")
    tracemalloc.start()
    read = TargetReader().read(open_construction(tmp_path, "large"))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(read.queries) == 100 and kept < path.stat().st_size / 5
