"""``cirque evaluate``: evaluation with protocol cards."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cir_core.methods.declared import all_methods
from cir_core.reports.records import ReportTable, count, percent, text
from cir_core.settings import get_settings
from cir_core.types.methods import flat
from cli.console import err, open_encoder, out, progress_bar, write_file
from cli.evaluate import evaluate_datasets, relevance
from cli.evaluate.answers import Opened
from cli.evaluate.captions_first import LONG, YesOption, captions_first
from cli.evaluate.comparing import (
    CompareOption,
    check_comparable,
    difference_parts,
    differences,
    evaluated,
    read_evaluated,
    sample_data,
)
from cli.evaluate.further_metrics import MetricOption, check_metric, scorer_over
from cli.evaluate.method_options import (
    ModelChoice,
    ModelOption,
    RelevanceOption,
    chosen_methods,
    language_model,
    named_bar,
)
from cli.evaluate.sweeping import ByOption, SweepOption, SweepRequest, TurnsOption, draw_sample_turns
from cli.galleries.galleries import index_bar
from cli.tables.output import TablesOption, give

if TYPE_CHECKING:
    from cir_core.encoders.base import Encoder
    from cir_core.gallery.gallery import Gallery

DEFAULT_METHODS = "text-only,image-only,cirevl"
app = typer.Typer(help="Evaluate methods and encoders.", no_args_is_help=True)
evaluate_datasets.register(app)
app.add_typer(relevance.app, name="relevance")
JsonOption = Annotated[Path | None, typer.Option("--json", help="Also write everything to this JSON file.")]


@app.command("sample-encoder")
def sample_encoder(
    encoder: Annotated[str, typer.Option("--encoder", "-e", help="Encoder, such as ViT-B-32/openai.")] = "atelier",
    json_path: JsonOption = None,
    tables: TablesOption = None,
) -> None:
    """Evaluate an encoder on held-out garments: caption to image, zero-shot attributes."""
    from cir_core.images.load import open_image
    from cir_core.sample.atelier.catalogue import catalogue
    from cir_core.sample.evaluate_encoder import evaluate_sample_encoder
    from cir_core.sample.gallery import SPLIT, ensure_drawn

    settings = get_settings()
    model = open_encoder(encoder)
    with progress_bar("Drawing garments") as drawing:
        paths, _ = ensure_drawn(settings.home, progress=drawing)
    garments = [garment for garment in catalogue() if garment.split == SPLIT]
    with progress_bar("Reading images") as update:
        images = []
        for number, garment in enumerate(garments, 1):
            images.append(open_image(paths.image(garment.item_id), max_megapixels=1))
            update(number, len(garments))
    err.print("Encoding images and captions ...")
    report = evaluate_sample_encoder(model, garments, images, seed=settings.seed)
    out.print(f"Encoder {model.name} (revision {model.identity.revision}) on {report.n} held-out garments, "
              f"none of whose attribute combinations it was trained on; seed {settings.seed}")
    out.print(f"  full caption to image   Recall@1 {report.recall_at_1:.4f}   Recall@10 {report.recall_at_10:.4f}"
              f"   median rank {report.median_rank:.0f}")
    content = {
        "encoder": dataclasses.asdict(model.identity), "n": report.n, "seed": settings.seed,
        "recall_at_1": report.recall_at_1, "recall_at_10": report.recall_at_10,
        "attribute_accuracy": {name: group.accuracy for name, group in report.attribute_accuracy.items()},
        "mean_attribute_accuracy": report.mean_attribute_accuracy,
    }
    give([ReportTable(
        "attributes", "", (text("attribute", "zero-shot attribute"), percent("accuracy", "accuracy, %"),
                           count("correct", "correct"), count("of", "of")),
        (*((name, group.accuracy, group.correct, group.total) for name, group in report.attribute_accuracy.items()),
         ("mean of groups", report.mean_attribute_accuracy, None, None)))],
        tables, between=lambda: _write_json(json_path, content))


@app.command("sample")
def sample(
    context: typer.Context,
    encoder: Annotated[str, typer.Option("--encoder", "-e", help="Encoder, such as ViT-B-32/openai.")] = "atelier",
    methods: Annotated[str, typer.Option(
        "--methods", "-m", help="Methods, comma-separated, or all.")] = DEFAULT_METHODS,
    against: Annotated[str | None, typer.Option(help="Also print differences to this method.")] = None,
    sessions: Annotated[bool, typer.Option("--sessions/--no-sessions", help="Also multi-turn sessions.")] = True,
    requests: Annotated[bool, typer.Option("--requests/--no-requests", help="Also `cirque evaluate requests`.")] = True,
    turns: Annotated[int, typer.Option(min=2, max=10, help="Longest session.")] = 4,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first queries of each category.")] = None,
    model: ModelOption = ModelChoice.built_in,
    run: evaluate_datasets.Runs = None,
    partial: evaluate_datasets.Partial = False,
    metric: MetricOption = None,
    relevance_spec: RelevanceOption = None,
    compare: CompareOption = None,
    sweep: SweepOption = None,
    choose_by: ByOption = None,
    figure: TurnsOption = None,
    yes: YesOption = False,
    json_path: JsonOption = None,
    tables: TablesOption = None,
) -> None:
    """Evaluate methods or stored runs on the sample benchmark."""
    check_metric(metric, relevance_spec)
    request = SweepRequest(sweep, choose_by, figure)
    request.check(methods=not run, draws=sessions and not run, other={
        "--metric": metric, "--compare": compare, "--partial": partial, "--against": against})
    if run:
        of_methods = ("encoder", "methods", "against", "sessions", "requests", "turns", "limit", "model")
        if name := _given(context, of_methods):
            raise typer.BadParameter(f"--{name} is for methods. A run (--run FILE) is measured as it is.")
        scorer = scorer_over(_sample_gallery(open_encoder("atelier")), relevance_spec) if metric else None
        evaluate_datasets.sample_runs(run, partial, json_path, compare, scorer, tables)
        return
    if partial:
        raise typer.BadParameter("--partial needs a run: --run FILE.")
    if sweep and (name := _given(context, ("sessions", "requests", "turns"))):
        raise typer.BadParameter(f"--{name} cannot be combined with --sweep, over single turns. Leave it out.")
    from cir_core.datasets.readers.fashioniq import CATEGORIES, read_queries
    from cir_core.sample.evaluate_sample import evaluate_sample
    from cir_core.sample.gallery import sample_folder
    from cli.tables.evaluation_tables import sample_parts

    settings = get_settings()
    chosen = chosen_methods(methods, against, all_methods(settings.methods))
    if sweep:
        request.wanted(chosen)   # before anything is drawn
    loaded = open_encoder(encoder)
    gallery = _sample_gallery(loaded)
    folder = sample_folder(settings.home)
    if sweep:
        with language_model(model, loaded) as language:
            evaluate_datasets.sweep_sample(
                request, Opened(gallery, loaded, language, chosen), folder, limit, json_path, tables, yes=yes)
        return
    scorer = scorer_over(gallery, relevance_spec) if metric else None
    earlier = None if compare is None else read_evaluated(compare)
    if earlier:
        count = sum(len(read_queries(folder, name, gallery.split)[:limit]) for name in CATEGORIES)
        check_comparable("this evaluation", sample_data(gallery.split, gallery.digest, count),
                         scorer.revision if scorer else "", earlier)
    with language_model(model, loaded) as language:
        captions_first(gallery, loaded, language, chosen, "garment", 3 * limit if limit else LONG, yes=yes)
        with named_bar() as update:
            report = evaluate_sample(
                gallery, folder, loaded, language, chosen, seed=settings.seed, max_turns=turns,
                limit=limit, sessions=sessions, requests=requests, against=against, scorer=scorer, progress=update,
            )
    parts = list(sample_parts(report, turns))
    content = dataclasses.asdict(report, dict_factory=flat)
    if earlier:
        less = differences(evaluated("", content).figures, earlier.figures)
        parts += difference_parts(less, earlier)
        content["less_earlier"] = {"file": earlier.name, "systems": less}
    give(parts, tables, between=lambda: _write_json(json_path, content))
    if figure:
        draw_sample_turns(figure, report)


@app.command("requests")
def requests(
    context: typer.Context,
    encoder: Annotated[str, typer.Option("--encoder", "-e", help="Encoder, such as ViT-B-32/openai.")] = "atelier",
    methods: Annotated[str, typer.Option(
        "--methods", "-m", help="Methods, comma-separated, or all.")] = DEFAULT_METHODS,
    file: Annotated[Path | None, typer.Option(
        "--file", metavar="FILE", help="Own requests and dialogues: docs/how-to/evaluate/requests.md.")] = None,
    references: Annotated[int, typer.Option(
        min=1, max=100, help="With --file: images per entry.")] = 3,
    failures: Annotated[bool, typer.Option(
        "--failures", help="With --file: also list wrong results.")] = False,
    limit: Annotated[int | None, typer.Option(
        min=1, help="Only the first requests, sessions or dialogues.")] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed (default: CIRQUE_SEED).")] = None,
    model: ModelOption = ModelChoice.built_in,
    yes: YesOption = False,
    json_path: JsonOption = None,
    tables: TablesOption = None,
) -> None:
    """Satisfaction and preservation of requests, in one turn and in sessions of four."""
    from cir_core.sample.evaluate_requests import evaluate_requests, evaluate_written, read_truth
    from cir_core.sample.gallery import sample_folder
    from cir_core.sample.request_file import read_request_file
    from cli.tables.request_tables import request_parts, written_parts

    settings = get_settings()
    chosen = chosen_methods(methods, None, all_methods(settings.methods))
    if file is None and (name := _given(context, ("references", "failures"))):
        raise typer.BadParameter(f"--{name} needs requests of your own: --file FILE.")
    written = read_request_file(file).first(limit) if file else None
    seed = settings.seed if seed is None else seed
    loaded = open_encoder(encoder)
    gallery = _sample_gallery(loaded)
    truth = read_truth(sample_folder(settings.home))
    number = len(written.entries) * references if written else limit or LONG
    with language_model(model, loaded) as language:
        captions_first(gallery, loaded, language, chosen, "garment", number, yes=yes)
        with named_bar() as update:
            if written:
                of_file = evaluate_written(gallery, truth, loaded, language, chosen, written, seed=seed,
                                           most=references, progress=update)
                parts, content = written_parts(of_file, failures=failures), dataclasses.asdict(
                    of_file, dict_factory=flat)
            else:
                report = evaluate_requests(gallery, truth, loaded, language, chosen, seed=seed, limit=limit,
                                           progress=update)
                parts, content = request_parts(report), dataclasses.asdict(report, dict_factory=flat)
    give(parts, tables, between=lambda: _write_json(json_path, content))


def _given(context: typer.Context, names: Sequence[str]) -> str | None:
    """The first of the options ``names`` that a person set."""
    sources = {name: context.get_parameter_source(name) for name in names}
    return next((name for name, source in sources.items() if source is not None and source.name != "DEFAULT"), None)


def _sample_gallery(encoder: Encoder) -> Gallery:
    """The sample gallery, drawn and indexed if necessary."""
    from cir_core.sample.gallery import ensure_sample

    with progress_bar("Drawing garments") as drawing, index_bar("Indexing") as indexing:
        return ensure_sample(get_settings().home, encoder, drawing=drawing, indexing=indexing)


def _write_json(path: Path | None, content: dict[str, Any]) -> None:
    if path is not None:
        write_file(path, json.dumps(content, indent=1, default=dict) + "\n")
