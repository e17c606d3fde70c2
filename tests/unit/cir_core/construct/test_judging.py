"""Samples of sessions and their scores, counted by hand here."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from cir_core.construct.describe.sets import SubsetSessions
from cir_core.construct.judging.run import Judging, judge_sessions
from cir_core.construct.judging.sample import Source, draw_sample
from cir_core.construct.judging.scores import DIMENSIONS, JudgedSession, score_rows, score_table, turn_table
from cir_core.datasets.readers.circled import CircledSession, CircledTurn
from cir_core.errors import DatasetError, SettingsError
from cir_core.jobs.job import JobOptions
from cir_core.language.tasks import JudgeAnswer
from cli.construct.own import named_paths, named_values
from tests.fakes.colours import colour_gallery


def subset(name: str, numbers, first_id: int = 0) -> SubsetSessions:
    return SubsetSessions(name, tuple(
        CircledSession(f"{name}_{place:04d}", name, ("Z",), (CircledTurn("A", f"text {n}"), CircledTurn("B", "more")))
        for place, n in enumerate(numbers, first_id)))


def texts(sample) -> list[tuple[str, str, str]]:
    return [(one.source, one.session.subset, one.session.turns[0].text) for one in sample]


def test_a_sample_has_as_many_of_each_subset_of_each_source():
    sources = [Source("a", (subset("x", range(50)), subset("y", range(3)))), Source("b", (subset("x", range(100)),))]
    sample = draw_sample(sources, 10, seed=1)
    assert Counter((one.source, one.session.subset) for one in sample) == {("a", "x"): 10, ("a", "y"): 3,
                                                                           ("b", "x"): 10}
    assert len(set(texts(sample))) == 23
    # The first of each come first.
    assert [one[:2] for one in texts(sample)[:6]] == [("a", "x"), ("a", "y"), ("b", "x")] * 2
    assert sample == draw_sample(sources, 10, seed=1)
    assert set(texts(sample)) != set(texts(draw_sample(sources, 10, seed=2)))


def test_a_sample_depends_on_nothing_but_content_and_seed():
    def drawn(source, size=10):
        return texts(draw_sample([source], size, seed=1))

    usual = drawn(Source("a", (subset("x", range(50)),)))
    assert drawn(Source("a", (subset("x", reversed(range(50)), first_id=7),))) == usual
    assert drawn(Source("a", (subset("x", range(50)), subset("y", range(9)))))[::2][:9] == usual[:9]
    assert drawn(Source("a", (subset("x", range(50)),)), 20)[:10] == usual
    assert [one[1:] for one in drawn(Source("b", (subset("x", range(50)),)))] == [one[1:] for one in usual]
    # Each session is drawn about as often: 50 seeds of 10 in 50 are 10 each.
    counts = Counter(one for seed in range(50) for one in texts(draw_sample(
        [Source("a", (subset("x", range(50)),))], 10, seed)))
    assert len(counts) == 50 and max(counts.values()) < 25


def test_sources_may_be_named_in_any_order(tmp_path):
    sources = [Source("b", (subset("x", range(5)),)), Source("a", (subset("x", range(7, 9)), subset("y", range(3))))]
    sample = draw_sample(sources, 4, seed=1)
    assert sample == draw_sample(sources[::-1], 4, seed=1) and sample[0].source == "a"
    gallery = colour_gallery(tmp_path)

    class Judge:
        name, sees = "judge/1", True

        def complete(self, task, watch=None):
            return JudgeAnswer(reason="why", **dict.fromkeys(DIMENSIONS, 3))

    def named(name):
        return {"a": gallery.ids[1], "b": gallery.ids[2], "z": gallery.ids[3]}[name]

    there = [replace(source, subsets=tuple(replace(part, sessions=tuple(
        replace(one, target_ids=(named("z"),), turns=tuple(replace(turn, reference_id=named(turn.reference_id.lower()))
                                                           for turn in one.turns))
        for one in part.sessions)) for part in source.subsets)) for source in sources]
    judge_sessions(Judging(there, {"": gallery}, Judge(), 4), tmp_path / "out")
    before = (tmp_path / "out/judged.json").read_bytes()
    report = judge_sessions(Judging(there[::-1], {"": gallery}, Judge(), 4), tmp_path / "out", JobOptions(resume=True))
    assert report.resumed == report.total == 9 and not report.failures
    assert [(one["source"], one["session_id"]) for one in report.as_json()["sessions"]] == [
        (one["source"], one["session_id"]) for one in json.loads(before)["sessions"]]
    journal = tmp_path / "out/journal.jsonl"
    heading, *lines = map(json.loads, journal.read_text().splitlines())
    moved = [{**line, "at": (line["at"] + 1) % 9} for line in lines]
    journal.write_text("".join(json.dumps(line) + "\n" for line in (heading, *moved)))
    with pytest.raises(DatasetError, match=r"scores belong to another session than x_000\d of a"):
        judge_sessions(Judging(there, {"": gallery}, Judge(), 4), tmp_path / "out", JobOptions(resume=True))


def judged(source: str, part: str, turns: int, *scores: int) -> JudgedSession:
    return JudgedSession(source, part, "id", turns, dict(zip(DIMENSIONS, scores, strict=True)), "why")


def test_means_by_source_subset_and_turns():
    rows = score_rows([judged("a", "x", 2, 1, 2, 3, 4, 5), judged("a", "x", 2, 3, 2, 3, 4, 5),
                       judged("a", "y", 4, 5, 5, 5, 5, 5), judged("b", "x", 2, 1, 1, 1, 1, 1)], seed=0)
    found = {(row.source, row.subset, row.turns): row for row in rows}
    assert list(found) == [("a", None, None), ("a", "x", None), ("a", "y", None), ("a", None, 2), ("a", None, 4),
                           ("b", None, None), ("b", "x", None), ("b", None, 2)]
    whole = found["a", None, None]
    # naturalness 1, 3, 5: mean 3, deviation 2; turns 2, 2, 4
    assert (whole.sessions, whole.mean_turns) == (3, pytest.approx(8 / 3))
    score = whole.scores["naturalness"]
    assert (score.mean, score.sd) == (3, 2) and 1 <= score.low < 3 < score.high <= 5
    same = found["a", "x", None].scores["coherence"]
    assert (same.mean, same.sd, same.low, same.high) == (2, 0, 2, 2)
    alone = found["a", "y", None].scores["overall"]
    assert (alone.mean, alone.sd, alone.low, alone.high) == (5, None, None, None)
    assert [row[:3] for row in score_table(rows).rows] == [
        ("a", "all", 3), ("a", "x", 2), ("a", "y", 1), ("b", "all", 1), ("b", "x", 1)]
    assert [row[:3] for row in turn_table(rows).rows] == [("a", 2, 2), ("a", 4, 1), ("b", 2, 1)]
    assert score_rows([], seed=0) == [] and score_table([]).rows == ()


def test_judged_sessions_come_back_from_json():
    one = JudgedSession("a", "x", "x_0000", 2, dict.fromkeys(DIMENSIONS, 3), "why", ("smaller pictures",))
    assert JudgedSession.from_json(one.as_json()) == one


def test_names_of_sources_and_galleries(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "odd=name.json").write_text("[]")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "kept").mkdir()
    kept, odd = tmp_path / "kept", tmp_path / "odd=name.json"
    assert named_paths([str(kept), str(odd)]) == {"kept": [kept], "odd=name": [odd]}
    assert named_paths([f"a={kept}", f"a={odd}", f"b={kept}"]) == {"a": [kept, odd], "b": [kept]}
    for given in ([str(kept), str(tmp_path / "other" / "kept")], [str(kept), f"kept={odd}"], ["=x"], ["a="]):
        with pytest.raises(SettingsError, match=r"would be called|neither a file nor"):
            named_paths(given)
    assert named_values(["g", "a=h"], "--gallery") == {"": "g", "a": "h"}
    for given in (["g", "h"], ["a=g", "a=h"], ["=g"], ["a="], [""]):
        with pytest.raises(SettingsError, match=r"--gallery"):
            named_values(given, "--gallery")
