"""``cirque evaluate relevance``: how well metrics of result sets agree with raters who know what is true."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cir_core.methods.declared import all_methods
from cir_core.settings import get_settings
from cir_core.types.methods import flat
from cli.console import open_encoder, open_relevance, progress_bar, write_file
from cli.evaluate.method_options import RelevanceOption, chosen_methods, named_bar
from cli.galleries.galleries import index_bar
from cli.tables.output import TablesOption, give

if TYPE_CHECKING:
    from annotation.kinds.preference.report.metric_comparison import MetricComparison
    from annotation.kinds.preference.report.simulated_raters import SimulatedAnswers, Values
    from cir_core.relevance.scorer import RelevanceScorer
    from cir_core.sample.evaluate_metrics import ResultSets

CIRQRS = "CIRQRS"
app = typer.Typer(help="Evaluate relevance models as metrics.", no_args_is_help=True)


@app.command("sample")
def sample(
    relevance: RelevanceOption = None,
    methods: Annotated[str, typer.Option(
        "--methods", "-m", help="Methods to rate, comma-separated, or all (default: six).")] = "",
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first queries of each category.")] = None,
    draw: Annotated[int | None, typer.Option(
        help="Draw other queries over the same garments with this seed.")] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed (default: CIRQUE_SEED).")] = None,
    json_path: Annotated[Path | None, typer.Option("--json", help="Also write everything to this JSON file.")] = None,
    tables: TablesOption = None,
) -> None:
    """CIRQRS, Recall and CLIP similarity against simulated raters of held-out garments."""
    from cir_core.relevance.scorer import RelevanceScorer
    from cir_core.sample.evaluate_metrics import METHODS, build_sets
    from cir_core.sample.gallery import ensure_sample, sample_folder
    from cli.tables.evaluation_tables import comparison_parts

    settings = get_settings()
    seed = settings.seed if seed is None else seed
    chosen = chosen_methods(methods or ",".join(METHODS), None, all_methods(settings.methods))
    model = open_relevance(relevance)   # before methods run for minutes
    encoder = open_encoder("atelier")
    with progress_bar("Drawing garments") as drawing, index_bar("Indexing") as indexing:
        gallery = ensure_sample(settings.home, encoder, drawing=drawing, indexing=indexing)
    from cir_core.language.builtin import BuiltinLanguageModel

    with named_bar() as update:
        sets = build_sets(gallery, sample_folder(settings.home), encoder, BuiltinLanguageModel(encoder), chosen,
                          limit=limit, draw=draw, progress=update)
    scorer = RelevanceScorer(model, gallery)
    metrics, found = compare(sets, {CIRQRS: scorer}, seed=seed)

    def write() -> None:
        if json_path is None:
            return
        content = as_json(sets, metrics, found, {CIRQRS: model.identity.revision}, seed, limit, draw)
        write_file(json_path, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False, default=dict) + "\n")
    give(comparison_parts(sets, metrics, found, {CIRQRS: model.identity.revision}, seed), tables, between=write)


Compared = dict[str, "tuple[SimulatedAnswers, MetricComparison]"]
"""By what the raters look at: "target", "request"."""


def compare(
    sets: ResultSets, scorers: dict[str, RelevanceScorer], *, seed: int
) -> tuple[dict[str, Values], Compared]:
    """Every metric's values of ``sets``, and for raters of each truth their answers and how the metrics agree with
    them. ``scorers``: a name for each relevance model; the differences are those of each of them from every other
    metric."""
    from annotation.analysis.records import Options
    from annotation.kinds.preference.report.metric_comparison import compare_with_raters
    from annotation.kinds.preference.report.simulated_raters import simulate_answers
    from cir_core.evaluation.metrics.bootstrap import DRAWINGS
    from cir_core.sample.evaluate_metrics import metric_values, relevance_values

    metrics = metric_values(sets)
    for name, scorer in scorers.items():
        with progress_bar(f"Scoring sets, {name}") as update:
            metrics[name] = relevance_values(sets, scorer, update)
    options, found = Options(draws=DRAWINGS, seed=seed), Compared()
    for name, truth in sets.truths.items():
        answers = simulate_answers(truth, sets.image_ids, seed=seed)
        found[name] = answers, compare_with_raters(answers, truth, metrics, tuple(scorers), options)
    return metrics, found


def as_json(
    sets: ResultSets, metrics: dict[str, Values], found: Compared, revisions: dict[str, str], seed: int,
    limit: int | None, draw: int | None,
) -> dict[str, Any]:
    """Everything but the single sets and answers. Raters who look at the target are at the top, where they have always
    been; those who look at the request under ``request_raters``."""
    return {
        "protocol": {
            "dataset": "sample", "gallery_digest": sets.gallery_digest, "encoder": sets.encoder,
            "relevance": revisions, "methods": dict(sets.protocols), "queries": len(sets.queries), "limit": limit,
            "draw": draw,
            "failures": dict(sets.failures), "seed": seed,
        },
        "by_method": {
            method: {"truth": float(sets.truths["target"][:, place].mean()),
                     "request_truth": float(sets.truths["request"][:, place].mean()),
                     **{name: float(values[:, place].mean()) for name, values in metrics.items()}}
            for place, method in enumerate(sets.methods)
        },
        **_raters(sets, found, "target"),
        "request_raters": _raters(sets, found, "request"),
    }


def _raters(sets: ResultSets, found: Compared, name: str) -> dict[str, Any]:
    answers, comparison = found[name]
    return {
        "raters": {"answers": len(answers.query), "noise": answers.noise, "agreement": answers.agreement,
                   "truth_of_unchanged_reference": sets.unchanged[name]},
        **dataclasses.asdict(comparison, dict_factory=flat),
    }
