"""``cirque construct multi-target``: all images that answer each query."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cir_core.errors import SettingsError
from cir_core.reports.columns import count, text
from cir_core.reports.records import ReportColumn, ReportTable
from cir_core.settings import get_settings
from cir_core.support.texts import counted
from cli.console import ModelChoice, open_encoder, out, print_notes
from cli.construct import jobs
from cli.construct.tables import print_estimate, print_job
from cli.evaluate.method_options import DomainOption, language_model
from cli.galleries.datasets import CaptionOption, PoolOption, SplitOption, dataset_path
from cli.tables.output import TablesOption, give

if TYPE_CHECKING:
    from cir_core.construct.targets.multi_target import MultiTargetReport, MultiTargets
    from cir_core.encoders.base import Encoder
    from cir_core.language.base import LanguageModel


def multi_target(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="A benchmark of `cirque datasets list`.")],
    gallery: Annotated[str, typer.Option("--gallery", "-g", help="Gallery of its images.")],
    folder: Annotated[Path, typer.Option("--out", "-o", help="Folder of the journal and the files.")],
    path: Annotated[Path | None, typer.Argument(metavar="PATH", help="Its file or folder.")] = None,
    subset: Annotated[list[str] | None, typer.Option(help="Only this subset; repeatable.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first queries of each subset.")] = None,
    threshold: Annotated[float, typer.Option(
        min=0, max=1, help="Least confidence of a target. With --resume another one asks nothing again.")] = 0.85,
    keep: Annotated[int, typer.Option(min=1, max=1000, help="Candidates of each group that are kept.")] = 20,
    scored: Annotated[int, typer.Option(
        min=1, max=1000, help="Candidates of each group that get a confidence.")] = 10,
    candidates: Annotated[Path | None, typer.Option(
        help="Folder of candidates in SoFT's form, instead of sentences and searches.")] = None,
    scores: Annotated[Path | None, typer.Option(
        help="With --candidates: folder of their confidences in SoFT's form; only what it lacks is asked for.")] = None,
    sentences: Annotated[ModelChoice, typer.Option(
        help="Who writes the two sentences: the settings' language model, or the built-in one (garments).")] = (
        ModelChoice.settings),
    resume: jobs.ResumeOption = False,
    retry_failed: jobs.RetryOption = False,
    dry_run: jobs.DryRunOption = False,
    budget: jobs.BudgetOption = None,
    max_calls: jobs.CallsOption = None,
    workers: jobs.WorkersOption = None,
    domain: DomainOption = None,
    split: SplitOption = None,
    caption_mode: CaptionOption = None,
    pool: PoolOption = None,
    tables: TablesOption = None,
) -> None:
    """Find all images that answer each query of a data set, as stage 1 of SoFT's pipeline does."""
    from cir_core.construct.targets.multi_target import MultiTargets, find_targets
    from cir_core.construct.targets.settings import TargetSettings
    from cir_core.gallery.gallery import open_gallery
    from cir_core.jobs.journal import check_card
    from cir_core.registry.constructing import refuse_unsuitable
    from cir_core.registry.kinds import domain_of, read_benchmark

    settings = get_settings()
    jobs.check_budget(budget)
    if candidates is not None and sentences is ModelChoice.built_in:
        raise SettingsError("With --candidates nobody writes sentences. Leave --sentences out.")
    if scores is not None and candidates is None:
        raise SettingsError("Confidences are those of given candidates. Name these with --candidates, or leave "
                            "--scores out.")
    benchmark = read_benchmark(dataset, dataset_path(dataset, path), split=split, caption_mode=caption_mode, pool=pool)
    refuse_unsuitable(benchmark, "targets")
    found = open_gallery(gallery, home=settings.home)
    encoder = open_encoder(found.encoder.spec)
    with ExitStack() as stack:
        language = stack.enter_context(language_model(ModelChoice.settings, encoder))
        about = MultiTargets(
            benchmark, found, encoder, _with_sentences(language, sentences, encoder), TargetSettings(keep, scored),
            domain or domain_of(benchmark) or settings.domain, candidates, tuple(subset or ()),
            scores)
        at_a_time = workers or settings.llm_concurrency
        check_card(folder / "journal.jsonl", about.card, resume=resume)
        print_notes((*benchmark.notes, *about.subsets.notes))
        _estimate(about, folder, limit, at_a_time, resume)
        if dry_run:
            return
        with jobs.job_run("Finding targets", folder, "queries", workers=at_a_time, budget=budget, max_calls=max_calls,
                          resume=resume, retry_failed=retry_failed) as options:
            report = find_targets(about, folder, threshold=threshold, limit=limit, options=options)
    _print(report, folder, tables)
    if not report.outputs:
        raise typer.Exit(1)


def _with_sentences(language: LanguageModel, sentences: ModelChoice, encoder: Encoder) -> LanguageModel:
    if sentences is ModelChoice.settings:
        return language
    from cir_core.language.builtin import BuiltinLanguageModel
    from cir_core.language.wrappers.routed import RoutedLanguageModel

    return RoutedLanguageModel(language, {"two-sentences": BuiltinLanguageModel(encoder)})


def _estimate(about: MultiTargets, folder: Path, limit: int | None, workers: int, resume: bool) -> None:
    from cir_core.construct.targets.estimate import estimate_targets

    wanted = [at for positions in about.wanted(limit).values() for at in positions]
    left, before, prices = jobs.left_to_do(folder, wanted, resume)
    print_estimate(
        estimate_targets(about, left, workers=workers, prices=prices, before=before),
        f"{counted(len(left), 'query', 'queries')} whose targets are to be found with {about.language.name}, encoder "
        f"{about.encoder.name}, domain {about.domain}.")


def _print(report: MultiTargetReport, folder: Path, tables: Path | None) -> None:
    names = ("queries", "found", "none", "failed", "targets")
    give([ReportTable(
        "targets", "", (text("subset", "subset"), *(count(name, name) for name in names),
                        ReportColumn("mean", "mean", "score"), count("most", "most"), count("rewritable", "3+")),
        tuple((name, one.queries, one.kept, one.dropped, one.failed, one.targets, one.mean, one.most, one.rewritable)
              for name, one in report.counts.items()))], tables, between=lambda: _print_rest(report, folder))


def _print_rest(report: MultiTargetReport, folder: Path) -> None:
    original = sum(one.without_original for one in report.counts.values())
    reference = sum(one.with_reference for one in report.counts.values())
    out.print(f"The original target is not among the targets of {counted(original, 'query', 'queries')}; the reference "
              f"is in {reference:,}.", soft_wrap=True)
    print_job(report.job, [(f"{one['subset']} {one['query_id']}", one["reason"]) for one in report.failures], folder,
              "queries")
    for paths in report.outputs.values():
        for path in paths[:2]:
            out.print(f"Wrote {path}", soft_wrap=True)
    if report.outputs:
        out.print(f"Rewrite them: cirque construct single-target {folder} --gallery GALLERY --out FOLDER",
                  soft_wrap=True)
