"""``cirque audit``: shortcut audit of a benchmark's queries. ``cirque audit join``: several finished audits in one
table and chart."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cir_core.audit.records import Rule
from cir_core.datasets.records import CaptionMode
from cir_core.errors import DatasetError, GalleryError, SettingsError
from cir_core.settings import Settings, get_settings
from cir_core.types.records import Domain
from cli.console import CommandGroup, err, open_encoder, open_stores, out, progress_bar
from cli.evaluate.method_options import DomainOption, ModelChoice, ModelOption
from cli.galleries.galleries import index_bar
from cli.tables.audit_tables import run_bar
from cli.tables.output import TablesOption, give

if TYPE_CHECKING:
    from cir_core.audit.records import RetrieverRun
    from cir_core.audit.retrievers.models import Models
    from cir_core.audit.retrievers.opening import Audited
    from cir_core.audit.retrievers.specs import RetrieverSpec
    from cir_core.audit.runner import AuditOutcome
    from cir_core.datasets.records import Benchmark
    from cir_core.gallery.gallery import Gallery
    from storage.stores import Stores

def join(
    audits: Annotated[list[str], typer.Argument(
        metavar="AUDIT", help="Folders of `cirque audit`, or NAME=FOLDER; two or more.")],
    folder: Annotated[Path | None, typer.Option(
        "--out", "-o", help="Folder for JSON, HTML and figures.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON.")] = False,
    tables: TablesOption = None,
) -> None:
    """Compare finished audits of several benchmarks."""
    from cir_core.audit.joining import join_audits, joined_json, joined_page, joined_sections
    from cir_core.reports.paper import FIGURES, write_figures
    from cir_core.support.files import write_atomically

    joined = join_audits([_source(text) for text in audits])
    content = json.dumps(joined_json(joined), indent=1, ensure_ascii=False) + "\n"
    if folder:
        try:
            write_atomically(folder / "joined.json", content.encode())
            write_atomically(folder / "joined.html", joined_page(joined).encode())
            write_figures(folder / FIGURES, joined_sections(joined))
        except OSError as error:
            raise SettingsError(f"{folder} cannot be written: {error.strerror or error}. Choose another folder with "
                                "--out.") from error
    if as_json:
        typer.echo(content, nl=False)
    give([*joined_sections(joined), "", *(f"Note: {note}" for note in joined.notes)], tables, quiet=as_json)
    if folder and not as_json:
        out.print(f"\nWrote {folder / 'joined.json'} and joined.html", soft_wrap=True)


def _source(text: str) -> tuple[str, Path]:
    """A folder, or NAME=FOLDER. A path that exists is one, whatever is in its name."""
    name, equals, path = text.partition("=")
    if not equals or Path(text).exists():
        return "", Path(text)
    if not name.strip() or not path:
        raise DatasetError(f"{text} does not name an audit. Write a folder, or NAME=FOLDER.")
    return name.strip(), Path(path)


SAMPLE, SAMPLE_GALLERY = "sample", "atelier"
_LISTED = 40   # rows on the terminal; gap.html has all


class AuditCommand(CommandGroup):
    def own(self) -> tuple[str, Callable[..., None]]:
        return "audit", audit


app = typer.Typer(cls=AuditCommand, help="Run the shortcut audit of a benchmark; join: several in one table.")
app.command("join")(join)


class Ablations(StrEnum):
    black = "black"
    drop = "drop"


def audit(
    dataset: Annotated[str | None, typer.Argument(metavar="DATASET", help="Name from `cirque datasets list`.")] = None,
    retrievers: Annotated[list[str] | None, typer.Option(
        "--retrievers", "-r", help="Methods and other retrievers, comma-separated; repeatable.")] = None,
    annotations: Annotated[Path | None, typer.Option(help="Folder or annotation file of the data set.")] = None,
    split: Annotated[str | None, typer.Option(help="Split: train, val, test, test1.")] = None,
    caption_mode: Annotated[CaptionMode | None, typer.Option(help="How to join a query's two captions.")] = None,
    pool: Annotated[Path | None, typer.Option(help="List of the gallery's images, if needed.")] = None,
    gallery: Annotated[str | None, typer.Option("--gallery", "-g", help="Gallery with the images.")] = None,
    ablation: Annotated[Ablations, typer.Option(help=(
        "Replace an input by a black image or empty text, or drop it."))] = Ablations.black,
    instruction: Annotated[str, typer.Option(help="Text prefix, for composing encoders.")] = "",
    k: Annotated[int, typer.Option("--k", min=1, help="A target up to this rank counts as found.")] = 10,
    min_support: Annotated[int, typer.Option(min=1, help="Retrievers that must succeed with both inputs.")] = 1,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first queries of each category.")] = None,
    validated: Annotated[Path | None, typer.Option(help="Well-formed queries: a trace or index.")]
    = None,
    validated_dataset: Annotated[str | None, typer.Option(
        metavar="NAME", help="Name of the data set in that file, if different.")] = None,
    rule: Annotated[Rule, typer.Option(help="Label of several judgements: majority, or first.")]
    = "majority",
    model: ModelOption = ModelChoice.built_in,
    domain: DomainOption = None,
    retry: Annotated[bool, typer.Option("--retry", help="Retry failed queries.")] = False,
    folder: Annotated[Path | None, typer.Option("--out", "-o", help="Output folder.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON.")]
    = False,
    list_: Annotated[bool, typer.Option("--list", help="List stored runs.")] = False,
    tables: TablesOption = None,
) -> None:
    """Run the shortcut audit: rank every query with both inputs, text only and image only.

    `cirque audit join` sets several finished audits side by side.
    """
    from cir_core.audit.retrievers.opening import Audited, open_retrievers
    from cir_core.audit.runner import run_audit
    from cir_core.audit.scope import check_targets, limited, over_gallery
    from cir_core.registry.kinds import domain_of

    settings = get_settings()
    with ExitStack() as stack:
        stores = stack.enter_context(open_stores())
        if list_:
            _list(stores, as_json, tables)
            return
        if dataset is None:
            raise DatasetError("Name a data set, for example: cirque audit sample --retrievers text-only,slerp,cirevl. "
                               "`cirque datasets list` names the kinds.")
        whole = data_set(dataset, annotations, split, caption_mode, pool, settings)
        check_targets(whole)
        specs, base = _chosen(retrievers or [], whole, gallery, settings)
        if min_support > len(specs):
            raise DatasetError(f"--min-support is {min_support}, but only {len(specs)} retrievers are named. "
                               "Name more, or lower it.")
        part = limited(whole, limit)
        benchmark = over_gallery(part, base) if base else part
        # Before the work: of a file that cannot be read one should not be told afterwards.
        accepted = _validated(validated, validated_dataset, rule, whole, benchmark)
        models = _models(model, domain or domain_of(whole) or settings.domain, stores, settings)
        with run_bar() as (ranked, indexed):
            audited = Audited(benchmark, whole, base, settings.home, ablation.value, instruction.strip(), indexed)
            outcome = run_audit(benchmark, open_retrievers(specs, audited, models), stores.audits, retry=retry,
                                progress=ranked)
    _tell_failed(outcome)  # before the report, which may fail over what they are missing for
    if outcome.runs:
        to = folder or settings.home / "audits" / _folder_name(
            benchmark, outcome.runs, k, min_support, accepted, settings.seed)
        sources = [spec.ranks for spec in specs if spec.ranks]
        _report(audited, outcome, to, sources, k, min_support, accepted, settings.seed, as_json, tables,
                drawn=folder is not None)
    if outcome.failed:
        raise typer.Exit(1)


def data_set(
    dataset: str, annotations: Path | None, split: str | None, caption_mode: CaptionMode | None, pool: Path | None,
    settings: Settings,
) -> Benchmark:
    """Queries of ``dataset``; those of the sample gallery by default."""
    from cir_core.registry.kinds import find_kind, read_benchmark

    find_kind(dataset)
    path = annotations
    if path is None:
        if dataset != SAMPLE:
            raise DatasetError(f"Say where the files of {dataset} are: --annotations PATH. `cirque datasets list` "
                               "says what is expected there.")
        from cir_core.sample.gallery import ensure_drawn

        with progress_bar("Drawing garments") as drawing:
            path = ensure_drawn(settings.home, progress=drawing)[0].folder
    return read_benchmark(dataset, path, split=split, caption_mode=caption_mode, pool=pool)


def _chosen(
    texts: Sequence[str], benchmark: Benchmark, gallery: str | None, settings: Settings
) -> tuple[Sequence[RetrieverSpec], Gallery | None]:
    """The requested retrievers and the gallery they rank; None if no retriever needs one."""
    from cir_core.audit.retrievers.opening import gallery_of_ranks
    from cir_core.audit.retrievers.specs import parse_retrievers
    from cir_core.gallery.gallery import list_galleries, open_gallery
    from cir_core.methods.declared import all_methods

    names = [info.name for info in list_galleries(settings.home)]
    usual = SAMPLE_GALLERY if benchmark.kind == SAMPLE else benchmark.name
    base = gallery or (usual if benchmark.kind == SAMPLE or usual in names else "")
    specs = parse_retrievers(texts, all_methods(settings.methods), [*names, *([base] if base not in names else [])],
                             base)
    files = [spec.ranks for spec in specs if spec.ranks]
    if len(files) == len(specs):
        if gallery or base not in names:
            return specs, open_gallery(gallery, home=settings.home) if gallery else None
        return specs, gallery_of_ranks(files, benchmark, open_gallery(base, home=settings.home))
    base = base or next((spec.gallery for spec in specs if spec.gallery), "")
    if not base:
        raise GalleryError(
            f"Which gallery contains the images of {benchmark.name}? Name it with --gallery. To make one: cirque "
            f"datasets index {benchmark.kind} PATH --images ROOT")
    if base == SAMPLE_GALLERY and not gallery:
        return specs, sample_gallery(settings)
    return specs, open_gallery(base, home=settings.home)


def sample_gallery(settings: Settings) -> Gallery:
    """The sample gallery, drawn and indexed if missing."""
    from cir_core.gallery.gallery import open_gallery
    from cir_core.sample.gallery import ensure_sample, is_ready

    if is_ready(settings.home):
        return open_gallery(SAMPLE_GALLERY, home=settings.home)
    with index_bar("Indexing") as indexing:
        return ensure_sample(settings.home, open_encoder("atelier"), indexing=indexing)


def _models(model: ModelChoice, domain: Domain, stores: Stores, settings: Settings) -> Models:
    from cir_core.audit.retrievers.models import Models

    if model is ModelChoice.built_in:
        from cir_core.language.builtin import BuiltinLanguageModel

        return Models(open_encoder, BuiltinLanguageModel, domain)
    from cir_core.language.connect import language_models

    # Without a fallback: ranks must not mix the answers of two models.
    language_for = language_models(settings, stores.answers, fallback=False)
    return Models(open_encoder, language_for, domain, settings.llm_concurrency)


def _validated(
    path: Path | None, dataset: str | None, rule: Rule, whole: Benchmark, benchmark: Benchmark
) -> frozenset[str] | None:
    """The validated queries, matched by position in the whole data set and restricted to the audited ones."""
    if path is None:
        return None
    from cir_core.audit.circus.traces import read_validated
    from cir_core.audit.scope import validated_here

    return validated_here(read_validated(path, whole, dataset=dataset, rule=rule), benchmark)


def _folder_name(
    benchmark: Benchmark, runs: Sequence[RetrieverRun], k: int, min_support: int, accepted: frozenset[str] | None,
    seed: int,
) -> str:
    """Output folder name, unique per audit configuration."""
    parts = [*sorted(run.card.digest for run in runs), str(k), str(min_support), str(seed), *sorted(accepted or ())]
    return f"{benchmark.name}-{hashlib.sha256(chr(10).join(parts).encode()).hexdigest()[:8]}"


def _report(
    audited: Audited, outcome: AuditOutcome, folder: Path, sources: Sequence[Path], k: int, min_support: int,
    accepted: frozenset[str] | None, seed: int, as_json: bool, tables: Path | None, *, drawn: bool,
) -> None:
    """``drawn``: also write the figures as images, which takes seconds."""
    from cir_core.audit.page import results
    from cir_core.audit.report import make_report, write_files
    from cir_core.reports.paper import FIGURES, write_figures
    from cli.tables.audit_tables import audit_parts

    benchmark = audited.benchmark
    report = make_report(benchmark, outcome.runs, k=k, min_support=min_support, validated=accepted, seed=seed)
    try:
        paths = write_files(folder, benchmark, report, whole=audited.whole, keep=sources)
        if drawn:
            paths += write_figures(folder / FIGURES, results(report.summary, report.gaps))
    except OSError as error:
        raise SettingsError(f"{folder} cannot be written: {error.strerror or error}. Choose another folder with --out; "
                            "the ranks are stored and will be reused.") from error
    if as_json:
        typer.echo((folder / "summary.json").read_text("utf-8"), nl=False)
    give(audit_parts(benchmark, report), tables, quiet=as_json, most=_LISTED, between=lambda: None if as_json else
         out.print(f"\n{len(paths)} files in {folder}", soft_wrap=True))
    if not report.aggregate.labels:
        raise DatasetError("No query has a label: each failed with some retriever. Fix the causes listed in "
                           "summary.json, and run the same command with --retry.")


def _tell_failed(outcome: AuditOutcome) -> None:
    """Report failed retrievers and how to continue."""
    if not outcome.failed:
        return
    for name, reason in outcome.failed.items():
        err.print(f"{name} stopped: {reason}", style="red", soft_wrap=True)
    err.print("Finished rankings are stored: the same command continues. With --retry it also repeats the queries that "
              "failed.", soft_wrap=True)


def _list(stores: Stores, as_json: bool, tables: Path | None) -> None:
    from cli.tables.audit_tables import runs_json, runs_table

    runs = stores.audits.runs()
    if as_json:
        typer.echo(runs_json(runs))
    give([runs_table(runs)], tables, quiet=as_json)
