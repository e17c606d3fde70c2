"""The whole report of a small audit: its files, the same bytes each time, and its page."""

import json
import random
import re
from dataclasses import replace
from typing import Any

import pytest

from cir_core.audit.circus.aggregate_files import read_aggregate
from cir_core.audit.circus.circus_files import read_run, write_run
from cir_core.audit.page import page
from cir_core.audit.report import make_report, summary_json, write_files
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
    names = sorted(path.name for path in folder.iterdir())
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
        assert path.read_bytes() == (folder / path.name).read_bytes(), path.name


def test_files_say_nothing_of_when_and_where(folder):
    for path in folder.iterdir():
        if path.suffix != ".html":   # plotly's own code is in there
            assert str(folder) not in path.read_text("utf-8") and "generated_at" not in path.read_text("utf-8")


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
    assert set(tmp_path.iterdir()) == {*written, *kept}
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
