"""CIRCO's released val annotations and example submission."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from typer.testing import CliRunner

from cir_core.datasets.readers.circo import ASPECTS, read_benchmark
from cir_core.evaluation.runs.submissions import read_circo_submission, write_circo
from cli.evaluate.evaluate import app


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


# --- CIRCO's own example submission, scored --------------------------------------------------

def test_the_example_submission_scores_as_its_authors_evaluator_says(reference_data):
    circo = reference_data / "circo"
    result = CliRunner().invoke(app, [
        "circo", "--annotations", str(circo / "annotations/val.json"),
        "--run", str(circo / "submission_examples/submission_val.json"), "--json",
    ])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)

    def percent(family: str) -> dict[str, float]:
        return {at: round(100 * value, 2) for at, value in found[family].items()}

    assert percent("map") == {"5": 0.49, "10": 0.52, "25": 0.54, "50": 0.60}
    assert percent("recall") == {"5": 0.91, "10": 0.91, "25": 1.36, "50": 3.64}
    aspects = percent("semantic_map_at_10")
    assert len(aspects) == 9
    assert (aspects["direct_addressing"], aspects["comparative_statement"], aspects["cardinality"]) == (0.92, 1.05, 0)
    # 8 of 220 targets in the first fifty: shares, at full precision
    assert found["recall"]["50"] == pytest.approx(8 / 220, abs=1e-15)
    assert found["queries"] == 220
