"""The whole report of a small audit: its files, the same bytes each time, and its page."""

import json
import math
import random
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cir_core.audit.aggregate import aggregate
from cir_core.audit.circus.aggregate_files import read_aggregate
from cir_core.audit.circus.circus_files import read_run, write_run
from cir_core.audit.gap import composition_gap, gaps, subsets_of
from cir_core.audit.joining import (
    gaps_table,
    join_audits,
    joined_json,
    joined_page,
    labels_table,
    recall_table,
    validated_table,
)
from cir_core.audit.page import page
from cir_core.audit.report import make_report, summary_json, write_files
from cir_core.audit.summary import scores
from cir_core.errors import DatasetError
from tests.fakes.audit_ranks import benchmark, image, run

QUERIES = 40
OF = benchmark(QUERIES)


def drawn(name: str, seed: int):
    rng = random.Random(seed)
    ranks = [tuple(min(999, int(rng.expovariate(1 / mean)) + 1) for mean in (20, 90, 150)) for _ in range(QUERIES)]
    top = {n: [image(i) for i in rng.sample(range(1_000), 20)] for n in range(QUERIES)}
    return run(OF, name, [*ranks[:-1], "image 'i039' cannot be read"], top=top)


RUNS = [drawn("slerp", 1), drawn("<b>GME</b>/2B", 2), drawn("CIReVL (atelier)", 3)]


def drawn_in(text: str) -> dict[str, Any]:
    """Figures of a page by their keys, as plotly gets them."""
    return {key: json.loads(spec) for key, spec in re.findall(r'data-figure="([^"]+)">(.*?)</script>', text, re.S)}


@pytest.fixture(scope="module")
def report():
    return make_report(OF, RUNS, validated=[f"q{n}" for n in range(0, QUERIES - 1, 3)])


@pytest.fixture(scope="module")
def folder(report, tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    write_files(folder, OF, report)
    return folder


def test_no_retriever_s_file_is_another_s_or_the_aggregate_s(tmp_path):
    """Also where a file system does not tell "Slerp" from "slerp"."""
    names = ["Slerp", "slerp", "aggregated_best_rank_mm_any"]
    write_files(tmp_path, OF, make_report(OF, [drawn(name, seed) for seed, name in enumerate(names)]))
    files = sorted(path.name for path in tmp_path.glob("retrieval_data_*"))
    assert len({name.lower() for name in files}) == 4
    aggregate = json.loads((tmp_path / "retrieval_data_tiny-val_task7_aggregated_best_rank_mm_any.json").read_text())
    own = [name for name in files if not name.endswith("_mm_any.json")]
    assert sorted(aggregate["metadata"]["aggregation"]["source_files"]) == own
    assert {read_run(tmp_path / name).card.retriever for name in own} == set(names)


def test_everything_is_written_and_can_be_read_again(report, folder):
    names = sorted(path.name for path in folder.iterdir() if path.is_file())
    assert [re.sub(r"-[0-9a-f]{6}\b", "-…", name) for name in names] == [
        "gap.html",
        "retrieval_data_tiny-val_task7_CIReVL-atelier-….json",
        "retrieval_data_tiny-val_task7_aggregated_best_rank_mm_any.json",
        "retrieval_data_tiny-val_task7_b-GME-b-2B-….json",
        "retrieval_data_tiny-val_task7_slerp.json",
        "summary.json",
        "tiny-val_queries.jsonl",
        "tiny-val_shortcut_free.csv",
        "tiny-val_shortcut_free.jsonl",
        "tiny-val_shortcut_free_query_indices.json",
    ]
    assert read_run(folder / "retrieval_data_tiny-val_task7_slerp.json") == RUNS[0]
    assert read_aggregate(folder / "retrieval_data_tiny-val_task7_aggregated_best_rank_mm_any.json") == report.aggregate
    free = json.loads((folder / "tiny-val_shortcut_free_query_indices.json").read_text("utf-8"))["query_indices"]
    assert len(free) == report.summary.shortcut_free == report.gaps.subsets["shortcut_free"]
    lines = (folder / "tiny-val_queries.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == report.summary.labelled == QUERIES - 1


def test_the_same_runs_in_any_order_give_the_same_bytes(folder, tmp_path):
    again = make_report(OF, RUNS[::-1], validated=[f"q{n}" for n in range(0, QUERIES - 1, 3)][::-1])
    for path in write_files(tmp_path, OF, again):
        assert path.read_bytes() == (folder / path.relative_to(tmp_path)).read_bytes(), path.name


def test_files_say_nothing_of_when_and_where(folder):
    for path in (one for one in folder.rglob("*") if one.is_file()):
        if path.suffix != ".html":   # plotly's own code is in there
            content = path.read_bytes()
            assert str(folder).encode() not in content and b"generated_at" not in content


def test_the_summary_is_json_and_adds_up(report, folder):
    content = json.loads((folder / "summary.json").read_text("utf-8"))
    assert content == json.loads(json.dumps(summary_json(report)))
    summary = content["summary"]
    assert sum(summary["labels"].values()) == sum(summary["details"].values()) == summary["labelled"]
    assert summary["labelled"] + sum(summary["skipped"].values()) == summary["queries"] == QUERIES
    assert [card["retriever"] for card in content["retrievers"]] == ["<b>GME</b>/2B", "CIReVL (atelier)", "slerp"]
    # a gap by hand from the means that stand beside it
    row = content["composition_gap"]["retrievers"][0]
    means = row["means"]["ndcg"]
    assert row["gaps"]["ndcg"]["value"] == pytest.approx(
        1 - max(means["text_only"], means["image_only"]) / means["multimodal"], abs=1e-8)


def test_no_shortcut_free_query_leaves_no_list_behind(tmp_path, report):
    write_files(tmp_path, OF, report)
    easy = make_report(OF, [run(OF, "slerp", [(1, 1, 1)] * QUERIES)])
    names = {path.name for path in write_files(tmp_path, OF, easy)}
    assert "tiny-val_shortcut_free_query_indices.json" not in names
    assert not (tmp_path / "tiny-val_shortcut_free_query_indices.json").exists()
    assert easy.gaps.of("slerp", "shortcut_free").gaps["ndcg"].reason == "the subset is empty"


def test_files_of_an_earlier_pool_do_not_stay(tmp_path, report):
    """Ours of the same data set alone go, and not those that ranks were read from."""
    write_files(tmp_path, OF, report)
    source = tmp_path / "retrieval_data_tiny-val_task7_source.json"
    write_run(source, RUNS[0], OF)
    kept = {source, tmp_path / "retrieval_data_tiny-val_task7_theirs.json",
            tmp_path / "retrieval_data_other-val_task7_slerp.json", tmp_path / "notes.json"}
    for path in kept - {source}:
        path.write_text('{"metadata": {}, "samples": []}')
    written = write_files(tmp_path, OF, make_report(OF, RUNS[:1]), keep=[source])
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == {*written, *kept}
    write_files(tmp_path, OF, make_report(OF, RUNS[:1]))
    assert not source.exists()


def test_lines_are_those_of_the_whole_data_set(tmp_path):
    part = replace(OF, queries=OF.queries[10:12])
    hard = make_report(part, [run(part, "slerp", [(1, 90, 90)] * 2)])
    write_files(tmp_path, part, hard, whole=OF)
    index = json.loads((tmp_path / "tiny-val_shortcut_free_query_indices.json").read_text("utf-8"))
    lines = [json.loads(line) for name in ("queries", "shortcut_free")
             for line in (tmp_path / f"tiny-val_{name}.jsonl").read_text("utf-8").splitlines()]
    assert index["query_indices"] == [10, 11] and [line["query_idx"] for line in lines] == [10, 11, 10, 11]
    one = json.loads((tmp_path / "retrieval_data_tiny-val_task7_slerp.json").read_text("utf-8"))
    pool = json.loads((tmp_path / "retrieval_data_tiny-val_task7_aggregated_best_rank_mm_any.json").read_text("utf-8"))
    assert [[sample["query_idx"] for sample in file["samples"]] for file in (one, pool)] == [[10, 11], [10, 11]]


def test_the_page_needs_no_network_and_names_are_only_text(folder):
    text = (folder / "gap.html").read_text("utf-8")
    body = text[text.index("<body>"):text.index("<script>")]
    assert "&lt;b&gt;GME&lt;/b&gt;/2B" in body and "<b>GME" not in body
    assert not re.search(r"<(script|link|img|iframe)[^>]+(src|href)=", text[:text.index("<script>")] + text[-20_000:])
    assert "default-src &#39;none&#39;" in text
    figures = drawn_in(text)
    assert set(figures) == {"labels", "inputs-ndcg", "inputs-mrr", "gaps-ndcg", "gaps-mrr"}
    assert all(f'id="plot-{name}"' in body for name in figures)
    assert "&lt;b&gt;GME" in json.dumps(figures["gaps-ndcg"])


def test_tables_hold_the_plotted_numbers(report, folder):
    text = (folder / "gap.html").read_text("utf-8")
    body = text[text.index("<body>"):text.index("<script>")]
    figures = drawn_in(text)
    for measure in ("ndcg", "mrr"):
        plotted = [x for trace in figures[f"gaps-{measure}"]["data"] for x in trace["x"]]
        assert len(plotted) == 3 * 4     # three subsets, three retrievers and their mean
        assert all(f">{x:.3f} [".replace("-", "−") in body for x in plotted)
        means = [x for trace in figures[f"inputs-{measure}"]["data"] for x in trace["x"]]
        assert len(means) == 3 * 3 * 3   # retrievers, subsets, inputs
        assert all(f">{x:.3f}</td>" in body for x in means)
    assert sorted(figures["labels"]["data"][0]["x"]) == sorted(report.summary.details.values())
    for detail, count in report.summary.details.items():
        assert f">{count}</td>" in body, detail


def test_a_gap_below_zero_is_within_its_figure():
    words = make_report(OF, [run(OF, "words", [(50, 5, 90)] * QUERIES), RUNS[0]])
    text = page("tiny-val", words.summary, words.gaps)
    figure = drawn_in(text)["gaps-ndcg"]
    low, high = figure["layout"]["xaxis"]["range"]
    ends = [x - arm for trace in figure["data"]
            for x, arm in zip(trace["x"], trace["error_x"]["arrayminus"], strict=True)]
    assert low < min(ends) < 0 <= high
    assert "A negative share means" in text


def test_the_page_says_which_gaps_are_none_by_construction():
    method = {"method": {"base": "text-only", "soft_filter": None, "reflection": None}}
    both = make_report(OF, [RUNS[0], run(OF, "words", [(5, 5, 90)] * QUERIES, identity=method)])
    text = page("tiny-val", both.summary, both.gaps)
    assert "words takes the text alone: its gap is 0 by construction" in text and "slerp takes" not in text


def test_one_retriever_without_annotations_or_labels():
    alone = make_report(OF, [RUNS[0]])
    text = page("tiny-val", alone.summary, alone.gaps)
    assert "Labels of one retriever are weak evidence" in text and "validated ones" not in text
    assert "Mean of the retrievers" not in text
    nothing = make_report(OF, [run(OF, "slerp", ["unreadable"] * QUERIES)])
    text = page("tiny-val", nothing.summary, nothing.gaps)
    assert "No query could be labelled" in text and "40 of 40 queries" in text


# --- composition gap -------------------------------------------------------------------------

def test_published_cases():
    assert composition_gap(0.40, text_only=0.30, image_only=0.10) == pytest.approx(0.25)
    assert composition_gap(0.20, text_only=0.30, image_only=0.10) == pytest.approx(-0.50)
    assert composition_gap(0.0, text_only=0.3, image_only=0.1) is None


def test_scores_of_one_target():
    two = benchmark(2)
    found = scores([run(two, "a", [(1, 2, 10), (3, 7, 11)])], ["q0", "q1"])
    assert found.shape == (1, 3, 3, 2)
    recall, ndcg, mrr = found[0, :, :, 0].T
    # ranks 1, 2, 10: 1 / log2(1 + r) = 1, 0.6309, 0.2891
    assert ndcg == pytest.approx([1.0, 0.63093, 0.28906], abs=1e-5)
    assert mrr == pytest.approx([1.0, 0.5, 0.1]) and list(recall) == [1, 1, 1]
    assert found[0, 2, 0, 1] == 0   # rank 11


def test_scores_of_two_targets():
    one = benchmark(1, targets=2)
    found = scores([run(one, "a", [((3, 1), (30, 7), (15, 11))])], ["q0"])[0, :, :, 0]
    # ideal 1 + 0.63093; ranks 3 and 1: (0.5 + 1) / 1.63093 = 0.91972; 7: log2(8) = 3, 30: log2(31) = 4.95420
    assert found[0] == pytest.approx([1, 0.91972, 1.0], abs=1e-5)
    assert found[1] == pytest.approx([1, (1 / 3 + 1 / 4.95420) / 1.63093, 1 / 7], abs=1e-5)
    assert found[2] == pytest.approx([0, (1 / 4 + 1 / math.log2(12)) / 1.63093, 1 / 11], abs=1e-5)


def test_a_ratio_of_means_not_a_mean_of_ratios():
    two = benchmark(2)
    report = gaps([run(two, "a", [(1, 2, 100), (2, 4, 100)])], {"full": ["q0", "q1"]})
    row = report.of("a", "full")
    # MRR: both (1 + ½) / 2 = 0.75, text (½ + ¼) / 2 = 0.375: 1 − 0.375 / 0.75 = ½
    assert row.means["mrr"]["multimodal"] == 0.75 and row.gaps["mrr"].value == pytest.approx(0.5)
    # nDCG: both (1 + 0.63093) / 2, text (0.63093 + 0.43068) / 2: 1 − 1.06161 / 1.63093 = 0.34908
    assert row.gaps["ndcg"].value == pytest.approx(0.34908, abs=1e-5)
    # all three inputs but the image are within 10
    assert row.recall_gap.value == 0


def test_the_mean_over_retrievers_and_a_negative_gap():
    two = benchmark(2)
    good = run(two, "good", [(1, 2, 9), (1, 2, 9)])          # 1 − 0.5 / 1 = 0.5
    poor = run(two, "poor", [(4, 2, 9), (4, 2, 9)])          # 1 − 0.5 / 0.25 = −1
    report = gaps([good, poor], {"full": ["q0", "q1"]})
    assert report.of("poor", "full").gaps["mrr"].value == pytest.approx(-1.0)
    mean = report.mean("full", "mrr")
    assert mean.gap.value == pytest.approx(-0.25) and (mean.retrievers, mean.undefined) == (2, 0)
    # every drawing of equal queries is the same
    assert (mean.gap.low, mean.gap.high) == (pytest.approx(-0.25), pytest.approx(-0.25))


def test_recall_gap_is_a_difference():
    four = benchmark(4)
    report = gaps([run(four, "a", [(1, 50, 50), (10, 50, 50), (11, 3, 50), (2, 50, 50)])],
                  {"full": [f"q{n}" for n in range(4)]})
    assert report.of("a", "full").recall_gap.value == pytest.approx(0.75 - 0.25)


def test_an_empty_subset_is_not_defined_and_one_query_has_no_interval():
    two = benchmark(2)
    report = gaps([run(two, "a", [(1, 2, 9), (1, 2, 9)])], {"none": [], "one": ["q1"]})
    empty, one = report.of("a", "none"), report.of("a", "one")
    assert empty.gaps["ndcg"].value is None and "empty" in empty.gaps["ndcg"].reason and not empty.means
    mean = report.mean("none", "ndcg")
    assert (mean.gap.value, mean.retrievers, mean.undefined) == (None, 0, 1) and mean.gap.reason
    assert one.gaps["mrr"].value == pytest.approx(0.5) and one.gaps["mrr"].low is None
    assert report.subsets == {"none": 0, "one": 1}


def test_the_interval_is_the_one_of_drawing_the_queries_again():
    """Against plain drawing by index, query by query."""
    rng = np.random.default_rng(4)
    some = benchmark(60)
    runs = [run(some, name, [tuple(map(int, rng.integers(1, 200, 3))) for _ in range(60)]) for name in "ab"]
    ids = [query.query_id for query in some.queries]
    report = gaps(runs, {"full": ids}, seed=7)
    found = scores(runs, ids)[:, :, 1]                                       # nDCG: [2, 3, 60]
    draw = np.random.default_rng(8)
    drawn = []
    for _ in range(4_000):
        means = found[:, :, draw.integers(0, 60, 60)].mean(axis=-1)
        drawn.append(1 - np.maximum(means[:, 1], means[:, 2]) / means[:, 0])
    low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
    for row, name in enumerate("ab"):
        gap = report.of(name, "full").gaps["ndcg"]
        width = high[row] - low[row]
        assert gap.low == pytest.approx(low[row], abs=0.1 * width)
        assert gap.high == pytest.approx(high[row], abs=0.1 * width)
    ends = np.percentile(np.mean(drawn, axis=1), [2.5, 97.5])
    mean = report.mean("full", "ndcg").gap
    assert (mean.low, mean.high) == (pytest.approx(ends[0], abs=0.03), pytest.approx(ends[1], abs=0.03))
    assert gaps(runs, {"full": ids}, seed=7) == report != gaps(runs, {"full": ids}, seed=8)


def test_the_interval_of_the_recall_gap_is_that_of_the_difference():
    """Target ranks by both, text and image: 30 queries of 40 are found by both, 10 of those by the text too. So
    recall is 0.75 and 0.25, the gap ½; of a query it is 1 for 20 and 0 for 20, so drawn again it has the standard
    error √(½ · ½ / 40) = 0.0791, and the interval is ½ ± 1.96 · 0.0791 = 0.345 … 0.655."""
    ranks = [(1, 2, 50)] * 10 + [(10, 11, 50)] * 20 + [(11, 50, 50)] * 10
    gap = gaps([run(benchmark(40), "a", ranks)], {"full": [f"q{n}" for n in range(40)]}).of("a", "full").recall_gap
    assert gap.value == pytest.approx(0.5)
    assert (gap.low, gap.high) == (pytest.approx(0.345, abs=0.03), pytest.approx(0.655, abs=0.03))


def test_a_file_with_best_ranks_only_is_told_of():
    one = benchmark(1, targets=2)
    whole, best = run(one, "whole", [((1, 2), (3, 4), (5, 6))]), run(one, "best", [(1, 3, 5)])
    assert gaps([whole, best], {"full": ["q0"]}).notes[0].startswith("best has only the best target's rank")
    assert not gaps([best], {"full": ["q0"]}).notes


def test_one_input_alone_is_told_of():
    """A soft filter or reflection brings the other input back in."""
    two = benchmark(2)

    def of(name, base, **more):
        method = {"base": base, "soft_filter": None, "reflection": None, **more}
        return run(two, name, [(1, 1, 9), (2, 2, 9)], identity={"kind": "method", "method": method})

    text, image, both = of("my text", "text-only"), of("my image", "image-only"), of("slerp", "slerp")
    filtered = of("filtered", "text-only", soft_filter={"weight": 1.0})
    assert gaps([text, image, both, filtered], {"full": ["q0"]}).notes == (
        "my text takes the text alone: its gap is 0 by construction and is left out of the mean.",
        "my image takes the image alone: its gap is 0 by construction and is left out of the mean.",
    )
    assert gaps([text], {"full": ["q0"]}).notes == ("my text takes the text alone: its gap is 0 by construction.",)


def test_the_mean_is_over_the_retrievers_that_compose():
    two = benchmark(2)
    text = run(two, "words", [(1, 1, 9), (2, 2, 9)], identity={"method": {"base": "text-only"}})
    good, poor = run(two, "good", [(1, 2, 9), (1, 4, 9)]), run(two, "poor", [(4, 2, 9), (4, 2, 9)])
    report = gaps([good, text, poor], {"full": ["q0", "q1"]})
    # good: 1 − 0.375 / 1 = 0.625; poor: 1 − 0.5 / 0.25 = −1; words would be 0
    assert report.of("words", "full").gaps["mrr"].value == 0
    mean = report.mean("full", "mrr")
    assert (mean.gap.value, mean.retrievers, mean.undefined, mean.left_out) == (pytest.approx(-0.1875), 2, 0, 1)
    assert report.one_input == ("words",)
    without = gaps([good, poor], {"full": ["q0", "q1"]}).mean("full", "mrr")
    assert (mean.gap.low, mean.gap.high) == (without.gap.low, without.gap.high)
    alone = gaps([text], {"full": ["q0", "q1"]}).mean("full", "mrr")
    assert (alone.gap.value, alone.gap.low, alone.gap.reason) == (None, None, "every retriever takes one input alone")


def test_ranks_from_a_file_that_one_input_explains():
    """A file does not say what its retriever takes; the same ranks on all of 20 queries do."""
    many = benchmark(20)
    ids = [query.query_id for query in many.queries]
    same = [(n + 1, 50, n + 1) for n in range(20)]
    from_file = {"identity": {"file_form": "ranks"}}
    assert gaps([run(many, "picture", same, **from_file)], {"full": ids}).one_input == ("picture",)
    other = [*same[:-1], (20, 50, 21)]
    assert gaps([run(many, "picture", other, **from_file)], {"full": ids}).one_input == ()


LABELLED = benchmark(5)
GAP_RUNS = [run(LABELLED, "a", [(3, 50, 70), (11, 90, 11), (1, 10, 30), (3, 11, 11), "unreadable"])]


def test_subsets_follow_the_labels():
    of = subsets_of(aggregate(GAP_RUNS), {"q0", "q1", "q2", "q4"})
    assert of == {
        "full": ("q0", "q1", "q2", "q3"), "shortcut_solvable": ("q2",), "shortcut_free": ("q0", "q1", "q3"),
        "composition_required": ("q0", "q3"), "unresolved": ("q1",),
        "validated": ("q0", "q1", "q2"), "validated_solved": ("q0",), "validated_unsolved": ("q1",),
    }
    assert "validated" not in subsets_of(aggregate(GAP_RUNS))


def test_validated_queries_of_another_data_set():
    with pytest.raises(DatasetError, match=r"1 of 2 validated queries are not in this audit, 'x' for one"):
        subsets_of(aggregate(GAP_RUNS), ["q0", "x"])
    with pytest.raises(DatasetError, match="None of the validated"):
        subsets_of(aggregate(GAP_RUNS), ["q4"])


def test_a_query_without_ranks_cannot_be_measured():
    with pytest.raises(DatasetError, match=r"a did not rank query 'q4' under multimodal \(unreadable\)"):
        gaps(GAP_RUNS, {"full": ["q4"]})
    with pytest.raises(DatasetError, match="a has no query 'x'"):
        gaps(GAP_RUNS, {"full": ["x"]})


# --- several audits in one table -------------------------------------------------------------

JOINED_QUERIES = 30


def summary(seed=1, names=("a", "b"), validated=None, **card):
    """An audit of random ranks, as its summary.json has it."""
    draw = random.Random(seed)
    of = benchmark(JOINED_QUERIES)
    runs = [run(of, name, [tuple(min(900, int(draw.expovariate(1 / mean)) + 1) for mean in (8, 40, 90))
                           for _ in range(JOINED_QUERIES)], **card) for name in names]
    return json.loads(json.dumps(summary_json(make_report(of, runs, validated=validated, seed=1))))


def published(dataset, labels, validated, gaps):
    """``labels``: composition required, unresolved, shortcut-solvable; ``validated``: solved and unsolved; ``gaps``: of
    Full, SF and V."""
    content = summary()
    required, unresolved, solvable = labels
    content["dataset"] = dataset
    content["summary"] |= {
        "queries": sum(labels), "labelled": sum(labels), "shortcut_free": required + unresolved,
        "labels": {"composition_required": required, "unresolved": unresolved, "shortcut_solvable": solvable}}
    content["composition_gap"]["subsets"] = {
        "full": sum(labels), "shortcut_free": required + unresolved, "composition_required": required,
        "unresolved": unresolved, "validated": sum(validated), "validated_solved": validated[0],
        "validated_unsolved": validated[1]}
    subsets = dict(zip(("full", "shortcut_free", "validated"), gaps, strict=True))
    content["composition_gap"]["means"] = [
        {"subset": subset, "measure": measure, "retrievers": 11, "undefined": 0, "left_out": 0,
         "gap": {"value": value, "low": value - 0.01, "high": value + 0.01, "reason": ""}}
        for subset, value in subsets.items() for measure in ("ndcg", "mrr")]
    rows = content["composition_gap"]["retrievers"]
    content["composition_gap"]["retrievers"] = [
        *rows, *({**row, "subset": "validated"} for row in rows if row["subset"] == "full")]
    return content


def folder_of(path, content):
    path.mkdir()
    (path / "summary.json").write_text(json.dumps(content), "utf-8")
    return path


@pytest.fixture
def circus(tmp_path):
    """CIRR and CIRCO as CIRCUS's page has them."""
    cirr = published("cirr-test", (271, 414, 3485), (147, 156), (0.137, 0.313, 0.361))
    circo = published("circo-test", (53, 3, 164), (39, 3), (0.470, 0.569, 0.562))
    return [("CIRR", folder_of(tmp_path / "cirr", cirr)), ("CIRCO", folder_of(tmp_path / "circo", circo))]


def test_the_published_tables(circus):
    joined = join_audits(circus)
    assert [row[:6] for row in labels_table(joined).rows] == [
        ("CIRR", 4170, 271, 414, 685, 3485), ("CIRCO", 220, 53, 3, 56, 164)]
    assert labels_table(joined).rows[0][6] == pytest.approx(0.8357, abs=1e-4)
    assert validated_table(joined).rows == (("CIRR", 271, 147, 414, 156, 303), ("CIRCO", 53, 39, 3, 3, 42))
    cirr, circo = gaps_table(joined, "ndcg").rows
    assert cirr[:5] == ("CIRR", 11, 0.137, pytest.approx(0.127), pytest.approx(0.147))
    assert (cirr[-1], circo[-1]) == (pytest.approx(0.224), pytest.approx(0.092))    # Full → V


def test_recall_of_each_retriever_stands_beside_that_of_the_other_benchmark(circus):
    joined = join_audits(circus)
    table = recall_table(joined)
    assert [column.name for column in table.columns] == [
        "Retriever", *(f"{name}, {subset}" for name in ("CIRR", "CIRCO")
                       for subset in ("full", "shortcut-free", "validated"))]
    [means] = [row["means"]["recall"]["multimodal"] for row in summary()["composition_gap"]["retrievers"]
               if (row["retriever"], row["subset"]) == ("a", "full")]
    assert table.rows[0][:2] == ("a", means)


def test_the_page_and_the_json_have_the_same_numbers(circus):
    joined = join_audits(circus)
    found = json.loads(json.dumps(joined_json(joined), allow_nan=False))
    assert [one["shortcut_free"] for one in found["audits"]] == [685, 56]
    assert found["audits"][0]["composition_gap"]["validated"]["ndcg"]["value"] == 0.361
    page = joined_page(joined)
    assert page == joined_page(join_audits(circus)) and page.startswith("<!doctype html>")
    assert all(text in page for text in ("3,485", "83.6 %", "0.361", "Composition Gap, nDCG", "Validated, solved"))


def test_audits_that_differ_are_told_of(tmp_path):
    one = folder_of(tmp_path / "one", summary(names=("a", "b"), validated=[f"q{n}" for n in range(JOINED_QUERIES)]))
    other = folder_of(tmp_path / "other", summary(seed=2, names=("b", "words"), instruction="Find it."))
    joined = join_audits([("one", one), ("other", other)])
    assert any("different retrievers (1 in all of them)" in note for note in joined.notes)
    assert any("different instructions" in note for note in joined.notes)
    assert "No validated queries: other." in joined.notes
    assert gaps_table(joined, "mrr").rows[1][-4:] == (None, None, None, None)    # of validated queries, and the move
    assert recall_table(joined).rows[2][0] == "words" and recall_table(joined).rows[2][1] is None
    assert "words" in joined_page(joined)


def test_what_cannot_be_joined_is_refused(tmp_path):
    one, same = (folder_of(tmp_path / name, summary()) for name in ("one", "same"))
    with pytest.raises(DatasetError, match="two audits or more"):
        join_audits([("", one)])
    with pytest.raises(DatasetError, match=r"Two audits are called 'tiny-val'\. .* NAME=FOLDER"):
        join_audits([("", one), ("", same)])
    with pytest.raises(DatasetError, match=r"summary\.json is missing\. Name folders"):
        join_audits([("", one), ("x", tmp_path)])
    broken = tmp_path / "broken.json"
    broken.write_text("[1]")
    with pytest.raises(DatasetError, match="is not the summary of an audit"):
        join_audits([("", one), ("x", broken)])
    dropped = folder_of(tmp_path / "dropped", summary(ablation="drop"))
    with pytest.raises(DatasetError, match=r"differ in ablation \(--ablation\): a black, b drop"):
        join_audits([("a", one), ("b", dropped)])
    content = summary()
    content["summary"]["k"] = 5
    with pytest.raises(DatasetError, match=r"differ in K \(--k\): a 10, b 5"):
        join_audits([("a", one), ("b", folder_of(tmp_path / "five", content))])
    earlier = summary()
    del earlier["composition_gap"]["one_input"]
    with pytest.raises(DatasetError, match="earlier version of cirque"):
        join_audits([("a", one), ("b", folder_of(tmp_path / "earlier", earlier))])
