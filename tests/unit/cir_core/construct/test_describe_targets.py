"""Histograms of queries with several targets, against numbers counted by hand."""

import pytest

from cir_core.construct.describe.targets import (
    describe_targets,
    histogram_table,
    holds_targets,
    target_page,
    target_table,
)
from cir_core.construct.targets.provenance import Candidate, FoundIn, QueryCandidates, write_provenance
from cir_core.datasets.readers.soft import MultiTarget, write_multi_target


def record(reference, **scores):
    return MultiTarget(reference, "t", ("x",), 0.85, scores)


def candidates(confidence):
    found = (FoundIn("tg_img", 1, 1.0, 0.1), FoundIn("caption_query", 3, 0.3, confidence))
    return QueryCandidates("q", "r", "t", ("x",), "x", (), {}, (Candidate("a", found[:1]), Candidate("t", found)))


@pytest.fixture
def folder(tmp_path):
    selection = tmp_path / "multi_target_selection"
    # Targets: 2 (the original among them), 3 (with the reference), 1 (0.5 is below the threshold).
    write_multi_target(selection / "dress_multi_target_selection.json", [
        record("r1", t=0.9, a=0.85), record("r2", a=0.9, b=0.9, r2=1.0), record("r3", a=0.9, t=0.5)])
    write_multi_target(selection / "shirt_multi_target_selection.json", [record("r4", t=0.9, a=0.9)])
    for name, scores in (("dress", (0.9, 0.94, 1.0, 0.3, None)), ("shirt", (0.95, 0.04))):
        write_provenance(tmp_path / f"provenance/{name}.jsonl", [candidates(one) for one in scores])
    return tmp_path


def test_counts_by_number_of_targets_and_of_their_confidences(folder):
    dress, shirt, both = describe_targets([folder]).rows
    assert (dress.queries, dress.targets, dress.by_targets) == (3, 6, {1: 1, 2: 1, 3: 1})
    assert (dress.mean, dress.most, dress.rewritable, dress.without_original, dress.with_reference) == (2.0, 3, 1, 2, 1)
    # The greatest of its groups, in steps of 0.05: 0.9 and 0.94 at 0.90, 1 at the last one; without its own 0.1 counts.
    assert dress.original == {0.1: 1, 0.3: 1, 0.9: 2, 0.95: 1} and shirt.original == {0.1: 1, 0.95: 1}
    assert (both.name, both.queries, both.by_targets) == ("all", 4, {1: 1, 2: 2, 3: 1})
    assert both.original == {0.1: 2, 0.3: 1, 0.9: 2, 0.95: 2}
    found = describe_targets([folder])
    assert [row[:4] for row in target_table(found).rows][-1] == ("all", 4, 8, 2.0)
    assert [row[:2] for row in histogram_table(found).rows] == [(1, 1), (2, 2), (3, 1)]
    page = target_page(found, "both")
    assert "Targets of a query, all: 1: 1, 2: 2, 3: 1" in page and "from 0.95: 2" in page


def test_a_file_alone_has_its_provenance_beside_it(folder, tmp_path):
    path = folder / "multi_target_selection/shirt_multi_target_selection.json"
    [row] = describe_targets([path]).rows
    assert row.original == {0.1: 1, 0.95: 1}
    (folder / "provenance/shirt.jsonl").unlink()
    [row] = describe_targets([path]).rows
    assert row.original is None and "Confidence of" not in target_page(describe_targets([path]), "shirt")


def test_files_of_targets_are_told_from_files_of_sessions(folder, tmp_path):
    assert holds_targets(folder) and holds_targets(folder / "multi_target_selection")
    assert holds_targets(folder / "multi_target_selection/dress_multi_target_selection.json")
    for name, content in (("a", '[{"session_id": "x", "turns": []}]'), ("b", '{"results": []}'), ("c", "[]")):
        (tmp_path / name).write_text(content)
        assert not holds_targets(tmp_path / name)
    empty = tmp_path / "hat_multi_target_selection.json"
    empty.write_text("[]")
    assert holds_targets(empty)
    [row] = describe_targets([empty]).rows
    assert (row.name, row.queries, row.targets, row.mean, row.most) == ("hat", 0, 0, None, 0)
    assert histogram_table(describe_targets([empty])).rows == () and "0 queries" in target_page(
        describe_targets([empty]), "hat")
    assert not holds_targets(tmp_path / "none") and not holds_targets(tmp_path / "provenance")
