"""CIRCO's own example submission, with the figures that CIRCO's own evaluator gives it."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from cli.evaluate.evaluate import app


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
