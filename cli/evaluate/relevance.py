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
        "--methods", "-m", help="Methods whose result sets are rated, comma-separated, or all (default: six, from "
                                "image-only to guided).")] = "",
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first queries of each category.")] = None,
    seed: Annotated[int | None, typer.Option(help="Other raters and intervals (default: CIRQUE_SEED).")] = None,
    json_path: Annotated[Path | None, typer.Option("--json", help="Also write everything to this file.")] = None,
    tables: TablesOption = None,
) -> None:
    """CIRQRS, Recall and CLIP similarity of the held-out garments against simulated raters."""
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
                          limit=limit, progress=update)
    scorer = RelevanceScorer(model, gallery)
    answers, metrics, comparison = compare(sets, {CIRQRS: scorer}, seed=seed)

    def write() -> None:
        if json_path is None:
            return
        content = as_json(sets, answers, metrics, comparison, {CIRQRS: model.identity.revision}, seed, limit)
        write_file(json_path, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False, default=dict) + "\n")
    give(comparison_parts(sets, answers, metrics, comparison, {CIRQRS: model.identity.revision}, seed), tables,
         between=write)


def compare(
    sets: ResultSets, scorers: dict[str, RelevanceScorer], *, seed: int
) -> tuple[SimulatedAnswers, dict[str, Values], MetricComparison]:
    """Answers of simulated raters about ``sets``, every metric's values of them, and how the two agree. ``scorers``: a
    name for each relevance model; the differences are those of each of them from every other metric."""
    from annotation.analysis.records import Options
    from annotation.kinds.preference.report.metric_comparison import compare_with_raters
    from annotation.kinds.preference.report.simulated_raters import simulate_answers
    from cir_core.evaluation.metrics.bootstrap import DRAWINGS
    from cir_core.sample.evaluate_metrics import metric_values, relevance_values

    metrics = metric_values(sets)
    for name, scorer in scorers.items():
        with progress_bar(f"Scoring sets, {name}") as update:
            metrics[name] = relevance_values(sets, scorer, update)
    answers = simulate_answers(sets.truth, sets.image_ids, seed=seed)
    options = Options(draws=DRAWINGS, seed=seed)
    return answers, metrics, compare_with_raters(answers, sets.truth, metrics, tuple(scorers), options)


def as_json(
    sets: ResultSets, answers: SimulatedAnswers, metrics: dict[str, Values], comparison: MetricComparison,
    revisions: dict[str, str], seed: int, limit: int | None,
) -> dict[str, Any]:
    """Everything but the single sets and answers."""
    return {
        "protocol": {
            "dataset": "sample", "gallery_digest": sets.gallery_digest, "encoder": sets.encoder,
            "relevance": revisions, "methods": dict(sets.protocols), "queries": len(sets.queries), "limit": limit,
            "failures": dict(sets.failures), "seed": seed,
        },
        "raters": {"answers": len(answers.query), "noise": answers.noise, "agreement": answers.agreement},
        "by_method": {
            method: {"truth": float(sets.truth[:, place].mean()),
                     **{name: float(values[:, place].mean()) for name, values in metrics.items()}}
            for place, method in enumerate(sets.methods)
        },
        **dataclasses.asdict(comparison, dict_factory=flat),
    }
