"""CIRCO's released val annotations and example submission."""

from collections import Counter

import pytest

from cir_core.datasets.readers.circo import ASPECTS, read_benchmark
from cir_core.evaluation.runs.submissions import read_circo_submission, write_circo


@pytest.fixture(scope="module")
def benchmark(reference_data):
    return read_benchmark(reference_data / "circo")


def test_counts(benchmark):
    targets = [len(query.target_ids) for query in benchmark.queries]
    assert (benchmark.name, len(targets), min(targets), max(targets)) == ("circo-val", 220, 1, 14)
    assert round(sum(targets) / 220, 2) == 4.16
    assert not any(query.reference_id in query.target_ids for query in benchmark.queries)
    assert set(Counter(aspect for query in benchmark.queries for aspect in query.aspects)) == set(ASPECTS)
    assert [note for note in benchmark.notes if "Aspects" in note] == []


def test_the_annotation_file_alone(reference_data, benchmark):
    assert read_benchmark(reference_data / "circo" / "annotations" / "val.json").digest == benchmark.digest


def test_the_example_submission_is_valid(reference_data, benchmark, tmp_path):
    run = read_circo_submission(reference_data / "circo" / "submission_examples" / "submission_val.json", benchmark)
    assert len(run.rankings) == 220 and {len(ranking) for ranking in run.rankings.values()} == {50}
    assert run.notes == ()
    written = write_circo(tmp_path / "submission_val.json", run, benchmark)
    assert read_circo_submission(written.paths[0], benchmark) == run
