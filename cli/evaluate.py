"""``cirque evaluate``: numbers with their protocol."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from cir_core.settings import get_settings
from cli.console import err, open_encoder, out, progress_bar, write_file
from cli.galleries import index_bar

app = typer.Typer(help="Evaluate methods and encoders.", no_args_is_help=True)
JsonOption = Annotated[Path | None, typer.Option("--json", help="Also write everything to this file.")]


@app.command("sample-encoder")
def sample_encoder(
    encoder: Annotated[str, typer.Option("--encoder", "-e")] = "atelier",
    json_path: JsonOption = None,
) -> None:
    """Captions to images and zero-shot attributes on the held-out garments."""
    from cir_core.atelier.catalogue import catalogue
    from cir_core.evaluate_encoder import evaluate_sample_encoder
    from cir_core.images import open_image
    from cir_core.sample import SPLIT, ensure_drawn

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
    table = Table("zero-shot attribute", "accuracy", "correct", "of", box=None)
    for name, group in report.attribute_accuracy.items():
        table.add_row(name, f"{group.accuracy:.4f}", str(group.correct), str(group.total))
    table.add_row("mean of groups", f"{report.mean_attribute_accuracy:.4f}", "", "")
    out.print(table)
    _write_json(json_path, {
        "encoder": dataclasses.asdict(model.identity), "n": report.n, "seed": settings.seed,
        "recall_at_1": report.recall_at_1, "recall_at_10": report.recall_at_10,
        "attribute_accuracy": {name: group.accuracy for name, group in report.attribute_accuracy.items()},
        "mean_attribute_accuracy": report.mean_attribute_accuracy,
    })


@app.command("sample")
def sample(
    encoder: Annotated[str, typer.Option("--encoder", "-e")] = "atelier",
    turns: Annotated[int, typer.Option(min=2, max=10, help="Longest session.")] = 4,
    limit: Annotated[int | None, typer.Option(min=1, help="First queries of each category only.")] = None,
    json_path: JsonOption = None,
) -> None:
    """Text only, image only and composed on the sample benchmark; then whole sessions."""
    from cir_core.evaluate_sample import CUTOFFS, evaluate_sample
    from cir_core.language.builtin import BuiltinLanguageModel
    from cir_core.sample import ensure_sample, sample_folder

    settings = get_settings()
    model = open_encoder(encoder)
    with progress_bar("Drawing garments") as drawing, index_bar("Indexing") as indexing:
        gallery = ensure_sample(settings.home, model, drawing=drawing, indexing=indexing)
    with progress_bar("Evaluating") as update:
        report = evaluate_sample(
            gallery, sample_folder(settings.home), model,
            BuiltinLanguageModel(model), seed=settings.seed, max_turns=turns, limit=limit,
            progress=lambda _name, done, total: update(done, total),
        )
    first = report.single[0]
    out.print(f"Sample benchmark, {first.queries} queries, FashionIQ's protocol: each category ranked by itself, "
              "reference kept, two captions joined by “and”")
    table = Table("system", "gallery", *(f"R@{k}" for k in CUTOFFS), "protocol", box=None)
    for row in report.single:
        for name, recall in row.recall.items():
            table.add_row(row.system, name, *(f"{100 * recall[k]:.2f}" for k in CUTOFFS), row.protocol.digest)
    out.print(table)
    scores = report.sessions.scores
    out.print(f"Sessions of at most {turns} turns with a simulated person (seed {report.sessions.seed}), "
              f"{scores.sessions} sessions, protocol {report.sessions.protocol.digest}")
    table = Table("measure", *(f"turn {turn}" for turn in range(1, scores.max_turns + 1)), box=None)
    table.add_row("Hits@10", *(f"{100 * value:.2f}" for value in scores.hits_at_10))
    out.print(table)
    out.print(f"Final Recall@10 {100 * scores.final_recall_at_10:.2f}   AUC {100 * scores.auc:.2f}")
    _write_json(json_path, dataclasses.asdict(report))


def _write_json(path: Path | None, content: dict[str, Any]) -> None:
    if path is not None:
        write_file(path, json.dumps(content, indent=1, default=dict) + "\n")
