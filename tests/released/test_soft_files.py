"""SoFT's multi-target and single-target files for shirts, as released."""

import json

import pytest

from cir_core.construct.describe.targets import describe_targets
from cir_core.construct.targets.rewriter import draw
from cir_core.datasets.readers.soft import (
    read_multi_target,
    read_single_target,
    write_multi_target,
    write_single_target,
)
from cir_core.datasets.readers.soft_benchmark import multi_target_benchmark, single_target_benchmark
from cir_core.registry.checking import check
from cir_core.registry.kinds import read_benchmark


@pytest.fixture(scope="module")
def multi(reference_data):
    return reference_data / "soft/shirt_multi_target_selection.json"


@pytest.fixture(scope="module")
def single(reference_data):
    return reference_data / "soft/shirt_selection_single_target_final.json"


@pytest.fixture(scope="module")
def split(reference_data):
    return reference_data / "fashioniq/image_splits/split.shirt.val.json"


def test_multi_target_counts_are_those_of_the_paper(multi, split):
    report = check("soft-multi-target", multi, pool=split)  # with the pool: every id is in the split
    assert report.ok
    assert report.counts["targets of a record, mean"] == pytest.approx(4.6806, abs=5e-5)
    for name, number in {
        "records": 2032, "targets of a record, most": 20, "confidence, least": 0.85,
        "records with three targets or more": 1681, "records without the original target": 220,
        "records with the reference as a target": 9, "queries": 2032, "images": 6346,
    }.items():
        assert report.counts[name] == number, name


def test_single_target_counts_are_those_of_the_paper(single, split):
    report = check("soft-single-target", single, pool=split)
    assert report.ok
    for name, number in {
        "records": 1681, "distractors of a record, least": 2, "distractors of a record, most": 2,
        "records that keep the original target": 323, "records whose target is the reference": 3, "queries": 1681,
    }.items():
        assert report.counts[name] == number, name


def test_both_files_come_back_byte_for_byte(multi, single, tmp_path):
    write_multi_target(tmp_path / "multi.json", read_multi_target(multi))
    assert (tmp_path / "multi.json").read_bytes() == multi.read_bytes()
    write_single_target(tmp_path / "single.json", read_single_target(single))
    assert (tmp_path / "single.json").read_bytes() == single.read_bytes()


def test_distractors_are_in_the_split_and_have_scores(single, split):
    known = set(json.loads(split.read_text()))
    for record in read_single_target(single):
        assert {record.original_target_id, *record.distractor_ids, *record.scores} <= known
        assert {record.target_id, *record.distractor_ids} <= set(record.scores)
        assert record.scores[record.target_id] == record.target_confidence


def test_without_the_reference_no_shirt_query_is_empty(multi, single):
    """Nine shirt queries list their reference, each beside other targets; three single-target rows
    have nothing else."""
    assert len(multi_target_benchmark(multi, exclude_reference=True).queries) == 2032
    assert len(single_target_benchmark(single, exclude_reference=True).queries) == 1681 - 3


def test_as_a_benchmark_by_kind(multi, split):
    benchmark = read_benchmark("soft-multi-target", multi, pool=split)
    assert sum(len(query.target_ids) for query in benchmark.queries) == 9511
    assert not any(query.excluded_ids for query in benchmark.queries)  # FashionIQ's gallery keeps the reference


def test_the_histogram_of_targets_and_what_stage_two_would_draw(multi):
    """1,681 queries have three targets or more; of two of them one is the reference."""
    [row] = describe_targets([multi]).rows
    assert (row.name, row.queries, row.targets, row.most, row.rewritable) == ("shirt", 2032, 9511, 20, 1681)
    assert (row.without_original, row.with_reference, row.original) == (220, 9, None)
    assert sum(row.by_targets.values()) == 2032 and row.by_targets[1] + row.by_targets[2] == 2032 - 1681
    records = read_multi_target(multi)
    assert sum(draw(record, 42, keep_reference=True) is not None for record in records) == 1681
    assert sum(draw(record, 42) is not None for record in records) == 1679
