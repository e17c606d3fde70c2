"""SoFT's stage 2: which target is drawn, which texts pass, what is written."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from cir_core.construct.inputs import Pictures
from cir_core.construct.targets.rewriter import Drawn, Rewriter, draw, text_problem
from cir_core.construct.targets.single_target import (
    SingleTargets,
    estimate_rewriting,
    read_target_files,
    rewrite_targets,
)
from cir_core.datasets.readers.soft import MultiTarget, read_single_target, write_multi_target
from cir_core.errors import DatasetError, SettingsError
from cir_core.jobs.job import JobOptions
from cir_core.jobs.spending import Budget
from cir_core.registry.checking import check
from tests.fakes.colour_targets import ColourAssessor

RECORD = MultiTarget("r0g0b1", "r3g0b0", ("is red", "has no blue"), 0.85,
                     {"r3g0b0": 1.0, "r3g1b0": 0.9, "r2g0b0": 0.9, "r1g0b0": 0.86})


@pytest.fixture
def targets(tmp_path):
    """Four queries, of which the last has two targets and the third three with its own reference."""
    records = [RECORD, MultiTarget("r0g1b0", "r0g0b3", ("more blue",), 0.85, {"r0g0b3": 1.0, "r0g1b3": 0.95,
                                                                              "r1g0b3": 0.95}),
               MultiTarget("r3g3b3", "r3g0b0", ("is red",), 0.85, {"r3g0b0": 1.0, "r3g1b0": 0.9, "r3g3b3": 0.9}),
               MultiTarget("r0g0b2", "r3g0b0", ("is red",), 0.85, {"r3g0b0": 1.0, "r3g1b0": 0.9})]
    path = tmp_path / "cirr_multi_target_selection.json"
    write_multi_target(path, records)
    return path


def about(gallery, path, language=None, **more):
    paths = [path] if isinstance(path, Path) else path
    return SingleTargets(read_target_files(paths), gallery, language or ColourAssessor(rewrites=sole),
                         check=more.pop("check", "text"), domain="scene", **more)


def sole(task):
    """Names the attempt, so that each text is new."""
    return f"{task.modification_text}, for the {len(task.rejected) + 1}. time"


def written(folder, name="single_target_selection"):
    [path] = (folder / name).iterdir()
    return path


def test_the_draw_depends_on_the_seed_and_on_what_the_record_says_alone():
    drawn = draw(RECORD, 42)
    assert drawn is not None and len({drawn.target, *drawn.distractors}) == 3
    assert {drawn.target, *drawn.distractors} <= RECORD.scores.keys()
    turned = MultiTarget(*RECORD.__dict__.values())
    object.__setattr__(turned, "scores", dict(reversed(list(RECORD.scores.items()))))
    assert draw(turned, 42) == drawn
    targets = Counter(draw(RECORD, seed).target for seed in range(400))
    assert targets.keys() == RECORD.scores.keys() and min(targets.values()) > 60     # 100 each
    others = Counter(name for seed in range(400) for name in draw(RECORD, seed).distractors)
    assert min(others.values()) > 150                                               # 200 each


def test_the_reference_is_drawn_only_on_demand():
    """T-15: three rows of SoFT's shirts have their own reference as the target."""
    own = MultiTarget("r3g3b3", "r3g0b0", ("is red",), 0.85, {"r3g0b0": 1.0, "r3g1b0": 0.9, "r3g3b3": 0.9})
    assert draw(own, 42) is None
    drawn = draw(own, 42, keep_reference=True)
    assert drawn is not None and "r3g3b3" in (drawn.target, *drawn.distractors)
    below = MultiTarget("r3g3b3", "r3g0b0", ("is red",), 0.95, {"a": 1.0, "b": 0.96, "c": 0.9})
    assert draw(below, 42) is None


@pytest.mark.parametrize(("text", "says"), [
    ("Is red with a hood.", ""),
    ("is red, size 3.5, and has a hood", ""),
    ("", "no words"),
    ("???", "no words"),
    ("…", "no words"),
    ("_ _", "no words"),
    ("is red", "says nothing that the request does not say"),
    ("has no blue and is red, is red", "says nothing that the request does not say"),
    ("IS RED with a hood (Refined).", "marked as refined"),
    ("has a refined collar", ""),
    ("Unlike distractor1, with a hood", "mentions 'distractor1'"),
    ("Unlike distractor 2 with a hood", "mentions 'distractor 2'"),
    ("Unlike candidate2, with a hood", "mentions 'candidate2'"),
    ("shows fewer distracting elements", ""),
    ("红色的连衣裙。带有蓝色的图案。", "more than one sentence"),
    ("红色的连衣裙！“带有蓝色的图案”", "more than one sentence"),
    ("红色的连衣裙，带有蓝色的图案。", ""),
    ("Is red. It has a hood.", "more than one sentence"),
    ("i, s,  , r, e, d, a, n, d", "letter by letter"),
    ("is red (refined)", "marked as refined"),
    ("Is red, unlike the distractors", "mentions 'distractors'"),
    ("Is red like the target image", "mentions 'target image'"),
    ("Is RED and has no blue!", "says nothing that the request does not say"),
])
def test_what_words_cannot_do(text, says):
    found = text_problem(text, "is red and has no blue")
    assert says in found and bool(says) == bool(found)


def test_a_text_that_fits_a_distractor_is_rejected_with_the_reason(gallery):
    """The assessor goes by the colour that a text names: of "red" the distractors have as much, of "green" less."""
    drawn = Drawn("r3g1b0", ("r3g0b0", "r2g0b0"))
    texts = ["is red, really red", "is red, and all red", "has some green"]
    language = ColourAssessor(rewrites=lambda task: texts[len(task.rejected)])
    pictures = Pictures(gallery, language, "scene")
    found = Rewriter(language, pictures, "scene", "confidence", 42).rewrite(RECORD, drawn)
    assert found.refined == "has some green" and found.text == "is red and has no blue"
    # The target and the first distractor are as red as each other but for the norm of their vectors.
    assert len(found.rejected) == 2 and all("(distractor 1" in one for one in found.rejected)
    assert found.confidences["r3g1b0"] > max(
        found.confidences[name] for name in drawn.distractors)
    asked = language.asked_as("rewrite")
    assert [task.rejected for task in asked] == [(), found.rejected[:1], found.rejected]
    assert {len(task.names) for task in language.asked_as("confidence")} == {3}

    stubborn = ColourAssessor(rewrites=lambda task: "is red, really red")
    with pytest.raises(DatasetError, match=r"No rewritten text passed the check.*really red': distractor 1"):
        Rewriter(stubborn, Pictures(gallery, stubborn, "scene"), "scene", "confidence", 42).rewrite(RECORD, drawn)
    assert len(stubborn.asked_as("rewrite")) == 2       # the same again is not asked for a third time


def test_the_files_are_soft_s_and_keep_the_text_as_it_was(gallery, targets, tmp_path):
    report = rewrite_targets(about(gallery, targets), tmp_path / "out")
    counts = report.counts["cirr"]
    assert (counts.queries, counts.drawn, counts.rewritten, counts.failed) == (4, 2, 2, 0)
    path = written(tmp_path / "out")
    assert path.name == "cirr_selection_single_target_seed42.json"
    assert check("soft-single-target", path).ok
    rewritten, before = read_single_target(path), read_single_target(written(tmp_path / "out", "original_texts"))
    for one, was in zip(rewritten, before, strict=True):
        drawn = draw(MultiTarget(one.reference_id, one.original_target_id, one.original_captions, 0.85, one.scores), 42)
        assert (one.target_id, one.distractor_ids) == (drawn.target, drawn.distractors)
        assert one.target_confidence == one.scores[one.target_id]
        assert one.refined_caption == f"{was.refined_caption}, for the 1. time"
        assert was.refined_caption == " and ".join(one.original_captions)
    checks = [json.loads(line) for line in (tmp_path / "out/checks/cirr.jsonl").read_text().splitlines()]
    assert [one["record"] for one in checks] == [0, 1] and checks[0]["refined"] == rewritten[0].refined_caption
    kept = rewrite_targets(about(gallery, targets, keep_reference=True), tmp_path / "kept")
    assert kept.counts["cirr"].drawn == 3


def test_it_stops_resumes_and_lists_what_failed(gallery, targets, tmp_path):
    whole = rewrite_targets(about(gallery, targets), tmp_path / "whole")
    part = rewrite_targets(about(gallery, targets), tmp_path / "part", options=JobOptions(budget=Budget(calls=1)))
    assert whole.complete and not part.outputs and part.done == 1
    with pytest.raises(DatasetError, match="seed was 42, is 7"):
        rewrite_targets(about(gallery, targets, seed=7), tmp_path / "part", options=JobOptions(resume=True))
    rewrite_targets(about(gallery, targets), tmp_path / "part", options=JobOptions(resume=True))
    assert written(tmp_path / "part").read_bytes() == written(tmp_path / "whole").read_bytes()
    silent = ColourAssessor(rewrites=lambda task: task.modification_text)
    report = rewrite_targets(about(gallery, targets, silent), tmp_path / "silent")
    assert [(one["file"], one["record"]) for one in report.failures] == [("cirr", "0"), ("cirr", "1")]
    assert all("says nothing that the request does not say" in one["reason"] for one in report.failures)


def test_records_without_a_text_neither_stop_the_estimate_nor_count(gallery, targets, tmp_path):
    with_text = about(gallery, targets)
    whole = estimate_rewriting(with_text, with_text.wanted(None), workers=1)
    empty = MultiTarget("r0g0b1", "r3g0b0", ("", " "), 0.85, RECORD.scores)
    path = tmp_path / "aaa_multi_target_selection.json"
    write_multi_target(path, [empty])
    both = about(gallery, [targets, path])
    found = estimate_rewriting(both, both.wanted(None), workers=1)
    assert found.sessions == 3 and found.roles == whole.roles and whole.roles["rewrite"].calls > 0
    alone = about(gallery, path)
    assert estimate_rewriting(alone, alone.wanted(None), workers=1).roles["rewrite"].calls == 0
    report = rewrite_targets(both, tmp_path / "out")
    assert [(one["file"], one["reason"]) for one in report.failures] == [
        ("aaa", "The captions of reference 'r0g0b1' are empty.")]


def test_files_may_be_named_in_any_order(gallery, targets, tmp_path):
    other = tmp_path / "aaa_multi_target_selection.json"
    write_multi_target(other, [MultiTarget("r0g1b0", "r0g0b3", ("bluer",), 0.85, {
        "r0g0b3": 1.0, "r0g1b3": 0.95, "r1g0b3": 0.95, "r2g0b3": 0.9})])

    rewrite_targets(about(gallery, [targets, other]), tmp_path / "out")
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").rglob("*.json*")}
    report = rewrite_targets(about(gallery, [other, targets]), tmp_path / "out", options=JobOptions(resume=True))
    assert report.resumed == report.total == 3
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").rglob("*.json*")} == before
    [alone] = read_single_target(tmp_path / "out/single_target_selection/aaa_selection_single_target_seed42.json")
    assert alone.refined_caption == "bluer, for the 1. time"
    # A journal of an earlier version numbers its queries in the order in which the files were named.
    journal = tmp_path / "out/journal.jsonl"
    heading, *lines = map(json.loads, journal.read_text().splitlines())
    moved = [{**line, "at": (line["at"] + 1) % 3} for line in lines]
    journal.write_text("".join(json.dumps(line) + "\n" for line in (heading, *moved)))
    language = ColourAssessor(rewrites=sole)
    with pytest.raises(DatasetError, match="belongs to another query than record 0 of 'aaa'"):
        rewrite_targets(about(gallery, [other, targets], language), tmp_path / "out", options=JobOptions(resume=True))
    assert language.asked == [] and {path.name: path.read_bytes() for path in (tmp_path / "out").rglob(
        "*.json")} == {name: content for name, content in before.items() if name.endswith(".json")}


def test_what_cannot_be_read_or_checked_is_said(gallery, targets, tmp_path):
    blind = ColourAssessor()
    blind.sees = False
    with pytest.raises(SettingsError, match="--check text"):
        about(gallery, targets, blind, check="confidence")
    with pytest.raises(DatasetError, match="contains no file of targets"):
        read_target_files([gallery.root])
    with pytest.raises(DatasetError, match="Two of the files are called 'cirr'"):
        read_target_files([targets, targets.parent])
