"""``cirque construct single-target``: queries rewritten for one of their targets."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cir_core.construct.targets.settings import SEED, Check
from cir_core.settings import get_settings
from cir_core.support.texts import counted
from cli.console import ModelChoice, open_encoder, out
from cli.construct import jobs
from cli.construct.tables import count_table, print_estimate, print_job
from cli.evaluate.method_options import DomainOption, language_model
from cli.tables.output import TablesOption, give

if TYPE_CHECKING:
    from cir_core.construct.targets.single_target import SingleTargetReport, SingleTargets


def single_target(
    targets: Annotated[list[Path], typer.Argument(
        metavar="TARGETS...", help="Files in SoFT's multi-target form, or folders of cirque construct multi-target.")],
    gallery: Annotated[str, typer.Option("--gallery", "-g", help="Gallery of their images.")],
    folder: Annotated[Path, typer.Option("--out", "-o", help="Folder of the journal and the files.")],
    seed: Annotated[int, typer.Option(help="Decides target and distractors of each query.")] = SEED,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first queries of each file.")] = None,
    check: Annotated[Check | None, typer.Option(
        help="Check a text by confidence (needs a model that sees) or by its words alone (default: as the model "
             "allows).")] = None,
    keep_reference: Annotated[bool, typer.Option(
        "--keep-reference", help="Draw the reference too where it is listed as a target, as SoFT does.")] = False,
    resume: jobs.ResumeOption = False,
    retry_failed: jobs.RetryOption = False,
    dry_run: jobs.DryRunOption = False,
    budget: jobs.BudgetOption = None,
    max_calls: jobs.CallsOption = None,
    workers: jobs.WorkersOption = None,
    model: Annotated[ModelChoice, typer.Option(help="The settings' language model, or the built-in one.")] = (
        ModelChoice.settings),
    domain: DomainOption = None,
    tables: TablesOption = None,
) -> None:
    """Rewrite queries with three targets and more so that one target is left, as stage 2 of SoFT's pipeline does."""
    from cir_core.construct.targets.single_target import SingleTargets, read_target_files, rewrite_targets
    from cir_core.gallery.gallery import open_gallery
    from cir_core.jobs.journal import check_card
    from cir_core.language.wrappers.routed import answering
    from cir_core.registry.kinds import domain_of_targets

    settings = get_settings()
    jobs.check_budget(budget)
    files = read_target_files(targets)
    found = open_gallery(gallery, home=settings.home)
    with ExitStack() as stack:
        # Of use only to a model that sees nothing: the built-in one reads captions off the encoder's vectors.
        encoder = None if model is ModelChoice.settings and settings.llm_sees and settings.llm_model else (
            open_encoder(found.encoder.spec))
        language = stack.enter_context(language_model(model, encoder))
        chosen: Check = check or ("confidence" if language.sees else "text")
        shows = domain or domain_of_targets((file.name, file.records[0].reference_id) for file in files
                                            if file.records) or settings.domain
        about = SingleTargets(files, found, language, chosen, seed, shows, keep_reference)
        built_in = answering(language, "rewrite").name.startswith("built-in/")
        at_a_time = workers or (1 if built_in else settings.llm_concurrency)
        check_card(folder / "journal.jsonl", about.card, resume=resume)
        _estimate(about, folder, limit, at_a_time, resume)
        if dry_run:
            return
        with jobs.job_run("Rewriting", folder, "texts", workers=at_a_time, budget=budget, max_calls=max_calls,
                          resume=resume, retry_failed=retry_failed) as options:
            report = rewrite_targets(about, folder, limit=limit, options=options)
    _print(report, folder, tables)
    if not report.outputs:
        raise typer.Exit(1)


def _estimate(about: SingleTargets, folder: Path, limit: int | None, workers: int, resume: bool) -> None:
    from cir_core.construct.targets.estimate import estimate_rewriting

    left, before, prices = jobs.left_to_do(folder, about.wanted(limit), resume)
    records = sum(len(file.records) for file in about.files)
    print_estimate(
        estimate_rewriting(about, left, workers=workers, prices=prices, before=before),
        f"{counted(len(left), 'query', 'queries')} to rewrite, of {records:,}, with {about.language.name}, checked by "
        f"{about.check}, domain {about.domain}.")


def _print(report: SingleTargetReport, folder: Path, tables: Path | None) -> None:
    give([count_table("rewritten", "file", ("queries", "3 targets and more", "rewritten", "failed", "texts rejected"), {
        name: (one.queries, one.drawn, one.rewritten, one.failed, one.again) for name, one in report.counts.items()},
    )], tables, between=lambda: _print_rest(report, folder))


def _print_rest(report: SingleTargetReport, folder: Path) -> None:
    print_job(report.job, [(f"{one['file']}, record {one['record']}", one["reason"]) for one in report.failures],
              folder, "texts")
    for paths in report.outputs.values():
        for path in paths:
            out.print(f"Wrote {path}", soft_wrap=True)
