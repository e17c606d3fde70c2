"""Several audits in one table: CIRCUS's published Tables 1 and 2 and Composition Gaps, written as summaries."""

import json
import random

import pytest

from cir_core.audit.joining.page import gaps_table, joined_page, labels_table, recall_table, validated_table
from cir_core.audit.joining.reading import join_audits, joined_json
from cir_core.audit.report import make_report, summary_json
from cir_core.errors import DatasetError
from tests.fakes.audit_ranks import benchmark, run

QUERIES = 30


def summary(seed=1, names=("a", "b"), validated=None, **card):
    """An audit of random ranks, as its summary.json has it."""
    draw = random.Random(seed)
    of = benchmark(QUERIES)
    runs = [run(of, name, [tuple(min(900, int(draw.expovariate(1 / mean)) + 1) for mean in (8, 40, 90))
                           for _ in range(QUERIES)], **card) for name in names]
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
    one = folder_of(tmp_path / "one", summary(names=("a", "b"), validated=[f"q{n}" for n in range(QUERIES)]))
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
    with pytest.raises(DatasetError, match="is no summary of an audit"):
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
