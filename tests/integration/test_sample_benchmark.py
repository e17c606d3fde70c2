"""The sample benchmark end to end, small: drawing, indexing, the bundled encoder, both evaluations."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest

from cir_core.encoders import load_encoder
from cir_core.errors import MethodError
from cir_core.evaluation.evaluate_replay import RememberingEncoder
from cir_core.evaluation.metrics.multi_turn import multi_turn_scores
from cir_core.gallery.gallery import open_gallery
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.methods.declared import Method, builtin_methods
from cir_core.reports.cells import reading
from cir_core.sample.evaluate_sample import evaluate_sample
from cir_core.sample.gallery import NAME
from cir_core.sessions import quick
from cir_core.settings import environment_with, get_settings
from cir_core.types.records import MethodSettings, SoftFilter
from cli.tables.evaluation_tables import sample_parts
from tests.fakes import drawn
from tests.fakes.chat_server import ChatServer, Reply, refusal
from tests.fakes.forked import run

GARMENTS, QUERIES = 240, 16
METHODS = ("text-only", "image-only", "cirevl", "weighted")


@pytest.fixture(scope="module")
def encoder():
    return RememberingEncoder(load_encoder("atelier"))


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    return drawn.home(tmp_path_factory.mktemp("home"), GARMENTS)


def evaluated(home, encoder, names, **options):
    methods = builtin_methods()
    return evaluate_sample(open_gallery(NAME, home=home), home / "sample", encoder, BuiltinLanguageModel(encoder),
                           [methods[name] for name in names], seed=1, limit=QUERIES, **options)


@pytest.fixture(scope="module")
def report(home, encoder):
    return evaluated(home, encoder, METHODS, against="text-only")


def test_composed_beats_each_modality_alone(report):
    mean = {row.method: row.measures for row in report.single}
    assert mean["cirevl"]["R@10"].value > mean["text-only"]["R@10"].value + 0.1
    assert mean["cirevl"]["R@1"].value > mean["image-only"]["R@1"].value + 0.2


def test_recall_grows_with_the_cutoff_and_the_mean_is_the_mean(report):
    for row in report.single:
        values = [row.measures[name].value for name in ("R@1", "R@5", "R@10", "R@50")]
        assert values == sorted(values)
        categories = [row.by_category[name]["R@10"] for name in ("dress", "shirt", "toptee")]
        assert row.measures["R@10"].value == pytest.approx(sum(categories) / 3)
        assert all(one.low <= one.value <= one.high for one in row.measures.values())


def test_ranks_are_there_for_every_query_and_give_the_figures_again(report):
    for row in report.single:
        assert {name: len(ranks) for name, ranks in row.ranks.items()} == dict.fromkeys(report.queries, QUERIES)
        found = [sum(rank <= 10 for rank in ranks) / len(ranks) for ranks in row.ranks.values()]
        assert row.measures["R@10"].value == pytest.approx(sum(found) / 3)


def test_every_method_answers_the_same_sessions(report):
    neutral, built = report.sessions
    assert len(neutral.fixed.sessions) == built.live.sessions == 3 * QUERIES
    for sessions in report.sessions:
        lengths = [len(one.turns) for one in sessions.fixed.sessions]
        assert all([len(ranks) for ranks in row.ranks] == lengths for row in sessions.scores)
        for row in sessions.scores:
            scores = multi_turn_scores(row.ranks)
            assert row.measures["AUC"].value == pytest.approx(scores.auc)
            assert row.measures["Final R@10"].value == pytest.approx(scores.final_recall_at_10)
    assert {len(one.turns) for one in neutral.fixed.sessions} == {4}
    assert all(2 <= len(one.turns) <= 4 for one in built.fixed.sessions)


def test_the_construction_hits_its_own_sessions_only_at_their_end(report):
    """The bias that the neutral sessions are there for."""
    built = report.sessions[1]
    of = {row.method: row.ranks for row in built.scores}
    assert all(min(ranks[:-1]) > 10 for ranks in of["cirevl"])
    assert any(min(ranks[:-1]) <= 10 for ranks in of["weighted"])


def test_turn_one_is_the_same_under_every_history(report):
    for sessions in report.sessions:
        of = {row.method: [ranks[0] for ranks in row.ranks] for row in sessions.scores}
        assert of["cirevl"] == of["weighted"] != of["text-only"]


def test_requests_are_put_to_the_same_methods(report):
    assert [row.method for row in report.requests.scores] == list(METHODS)
    assert report.requests.requests == QUERIES
    of = {row.method: row.overall.measures for row in report.requests.scores}
    assert of["cirevl"]["harmonic mean"].value > of["image-only"]["harmonic mean"].value
    assert of["cirevl"]["preservation@5"].value > of["text-only"]["preservation@5"].value
    assert of["cirevl"] == of["weighted"]  # one turn


def test_differences_are_paired(report):
    measures = {row.method: row.measures["R@10"].value for row in report.single}
    assert [one.method for one in report.differences] == ["image-only", "cirevl", "weighted"]
    for one in report.differences:
        assert one.measures["R@10"].value == pytest.approx(measures[one.method] - measures["text-only"])
    cirevl, weighted = report.differences[1:]
    assert cirevl.measures == weighted.measures  # one turn has no history to weigh
    assert cirevl.measures["R@10"].low * cirevl.measures["R@10"].high > 0    # the interval is on one side of zero
    assert len(report.sessions[0].differences) == len(METHODS) - 1


def test_the_same_seed_gives_the_same_numbers_and_cards_tell_rows_apart(home, encoder, report):
    alone = evaluated(home, encoder, ["cirevl"])
    assert (alone.queries, alone.single) == (report.queries, report.single[2:3])
    assert alone.requests.scores == report.requests.scores[2:3]
    for one, beside in zip(alone.sessions, report.sessions, strict=True):
        assert (one.fixed, one.live, one.scores) == (beside.fixed, beside.live, beside.scores[2:3])
    cards = [row.protocol for part in (report, *report.sessions)
             for row in (part.single if part is report else part.scores)]
    assert len({card.digest for card in cards}) == 3 * len(METHODS)
    assert all(card.method.exclude == "none" and card.scope.startswith("each category by itself") for card in cards)


def test_tables_and_json_hold_the_figures(report):
    text = "\n".join(part if isinstance(part, str) else f"{part.title}\n{reading(part)}"
                     for part in sample_parts(report, 4))
    for row in report.single:
        assert f"{100 * row.measures['R@10'].value:.2f} [" in text and row.protocol.digest in text
    for sessions in report.sessions:
        assert f"{sessions.fixed.kind.capitalize()} sessions ({len(sessions.fixed.sessions)}, " in text
    assert "Less text-only" in text and "whole turn" in text and "model calls" not in text
    content = json.loads(json.dumps(dataclasses.asdict(report)))
    assert content["single"][2]["ranks"]["dress"] == list(report.single[2].ranks["dress"])
    assert content["single"][2]["protocol"]["method"]["exclude"] == "none"
    first = content["sessions"][0]["fixed"]["sessions"][0]
    assert set(first) == {"category", "target_id", "turns"} and len(first["turns"]) == 4


def test_a_method_made_in_code_and_one_that_cannot_run(home, encoder):
    mine = Method("mine", "Slerp, filtered a little", "", MethodSettings(base="slerp", soft_filter=SoftFilter(0.2)))
    gallery, language = open_gallery(NAME, home=home), BuiltinLanguageModel(encoder)
    report = evaluate_sample(gallery, home / "sample", encoder, language, [builtin_methods()["joint"], mine],
                             seed=1, limit=2, sessions=False)
    assert [row.method for row in report.single] == ["mine"] and report.sessions == ()
    assert list(report.skipped) == ["joint"] and "does not compose" in report.skipped["joint"]
    with pytest.raises(MethodError, match="'cirevl'"):
        evaluate_sample(gallery, home / "sample", encoder, language, [mine], seed=1, against="cirevl")


def test_the_python_door(home):
    """Two turns, a branch and an image file as the reference."""
    search = quick.open_search(NAME, home=home)
    first = search.start(search.gallery.ids[0], "in red, with long sleeves")
    second = first.refine(first.hits[2].image_id, "without the belt")
    other = first.refine(first.hits[1].image_id, "without the belt")
    assert second.references == (search.gallery.ids[0], first.hits[2].image_id)
    assert second.found.vector.tolist() != other.found.vector.tolist()
    assert "red" in first.merged_text and "long sleeves" in first.merged_text
    own = search.start(search.gallery.path_of(search.gallery.ids[5]), "in blue")
    assert own.hits[0].rank == 1


def test_the_python_door_asks_the_connected_model(home, monkeypatch):
    """As the web app does, and falls back as it does; what it was told once it does not ask again."""
    with ChatServer([Reply(json.dumps({"caption": "a red dress", "query": "a blue dress"}))]) as server:
        monkeypatch.setenv("CIRQUE_LLM_BASE_URL", server.url)
        monkeypatch.setenv("CIRQUE_LLM_MODEL", "m")
        monkeypatch.setenv("CIRQUE_LLM_RETRIES", "0")
        get_settings.cache_clear()
        try:
            search = quick.open_search(NAME, method="cirevl", home=home)
            reference = search.gallery.ids[0]
            assert search.start(reference, "in blue").merged_text == "a blue dress"
            before = len(server.requests)
            assert search.start(reference, "in blue").merged_text == "a blue dress" and len(server.requests) == before
            server.play([refusal(500, "out of order")])
            assert any("out of order" in note for note in search.start(reference, "in green").found.notes)
        finally:
            get_settings.cache_clear()


def test_the_script_in_the_readme_runs(home):
    page = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    script, = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    done = run("-c", script, environment=environment_with({"CIRQUE_HOME": str(home)}))
    assert done.returncode == 0, done.stderr
    begin, *hits, overlap = done.stdout.splitlines()
    assert begin.startswith("From: a ")
    assert [line.split()[0] for line in hits] == ["1", "2", "3"] * 2
    # In a gallery this small not every image that was asked for exists; the best one does.
    assert "red" in hits[0] and "long sleeves" in hits[0], hits
    assert "blue" in hits[3] and "long sleeves" in hits[3], hits
    assert re.fullmatch(r"\d+ of the top 10 are the same", overlap)
    assert overlap != "10 of the top 10 are the same", "another method was asked for by its name"


def test_a_method_is_opened_by_its_name(home):
    assert quick.open_search(NAME, method="soft", home=home).method == builtin_methods()["soft"].settings
    assert quick.open_search(NAME, home=home).method == builtin_methods()["guided"].settings
    with pytest.raises(MethodError, match=r"No method 'sotf'\. There are: .*cirevl.*soft"):
        quick.open_search(NAME, method="sotf", home=home)
