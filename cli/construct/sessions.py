"""``cirque construct sessions``: a session from each single-turn query."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cir_core.construct.sessions.settings import (
    ConstructionSettings,
    DifferenceTarget,
    History,
    Selection,
    TurnCount,
)
from cir_core.settings import get_settings
from cir_core.support.texts import counted
from cli.console import ModelChoice, open_encoder, print_notes
from cli.construct import jobs
from cli.construct.tables import print_estimate, print_report
from cli.evaluate.method_options import DomainOption, language_model
from cli.galleries.datasets import CaptionOption, PoolOption, SplitOption, dataset_path
from cli.tables.output import TablesOption

if TYPE_CHECKING:
    from cir_core.construct.sessions.run import Construction
    from cir_core.encoders.base import Encoder

_DEFAULT = ConstructionSettings()


def sessions(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="A benchmark of `cirque datasets list`.")],
    gallery: Annotated[str, typer.Option("--gallery", "-g", help="Gallery of its images.")],
    folder: Annotated[Path, typer.Option("--out", "-o", help="Folder of the journal and the sessions.")],
    path: Annotated[Path | None, typer.Argument(metavar="PATH", help="Its file or folder.")] = None,
    subset: Annotated[list[str] | None, typer.Option(help="Only this subset; repeatable.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first queries of each subset.")] = None,
    max_turns: Annotated[int, typer.Option(min=1, help="Turns of a session at most.")] = _DEFAULT.max_turns,
    resume: jobs.ResumeOption = False,
    retry_failed: jobs.RetryOption = False,
    dry_run: jobs.DryRunOption = False,
    budget: jobs.BudgetOption = None,
    max_calls: jobs.CallsOption = None,
    workers: jobs.WorkersOption = None,
    model: Annotated[ModelChoice, typer.Option(help="The settings' language model, or the built-in one.")] = (
        ModelChoice.settings),
    domain: DomainOption = None,
    split: SplitOption = None,
    caption_mode: CaptionOption = None,
    pool: PoolOption = None,
    select_encoder: Annotated[str | None, typer.Option(
        help="Encoder of the captions compared to pick an image (default: the gallery's).")] = None,
    diversity_encoder: Annotated[str | None, typer.Option(
        help="Encoder that tells repeated texts (default: the gallery's; the paper's: ViT-B-32/openai).")] = None,
    fold_duplicates: Annotated[bool, typer.Option(
        "--fold-duplicates", help="Keep one of byte-identical images, as in the release.")] = False,
    k: Annotated[int, typer.Option("--k", min=1, max=1000, help="Images shown; a target among them ends a session.")]
    = _DEFAULT.k,
    tau: Annotated[float, typer.Option(min=0, max=1, help="A text this close to an earlier one is requested again.")]
    = _DEFAULT.tau,
    attempts: Annotated[int, typer.Option(min=1, max=10, help="Requests for a text at most.")] = _DEFAULT.attempts,
    count_turns: Annotated[TurnCount, typer.Option(
        help="What --max-turns counts: all (paper), or those after-first (code).")] = _DEFAULT.count_turns,
    history: Annotated[History, typer.Option(
        help="Texts a new one must differ from: all (paper), or the generated ones (code).")] = _DEFAULT.history,
    difference_target: Annotated[DifferenceTarget, typer.Option(
        help="Of several targets the texts describe: the best-ranked (paper), or the first (code).")]
    = _DEFAULT.difference_target,
    select_by: Annotated[Selection, typer.Option(
        help="Compare images by their caption's vector (paper and code) or by the image's.")] = _DEFAULT.select_by,
    alpha: Annotated[float, typer.Option(min=0, max=2, help="Eq. 9: towards the picked image.")] = _DEFAULT.alpha,
    beta: Annotated[float, typer.Option(min=0, max=2, help="Eq. 9: away from the others.")] = _DEFAULT.beta,
    gamma: Annotated[float, typer.Option(min=0, max=2, help="Eq. 9: towards the new text.")] = _DEFAULT.gamma,
    tables: TablesOption = None,
) -> None:
    """Construct a multi-turn session from each single-turn query of a data set, as CIRCLED does."""
    from cir_core.construct.sessions.run import Construction, construct_sessions
    from cir_core.gallery.gallery import open_gallery
    from cir_core.jobs.journal import check_card
    from cir_core.registry.constructing import queries_to_construct
    from cir_core.registry.kinds import domain_of

    settings = get_settings()
    jobs.check_budget(budget)
    benchmark = queries_to_construct(
        dataset, dataset_path(dataset, path), split=split, caption_mode=caption_mode, pool=pool)
    found = open_gallery(gallery, home=settings.home)
    encoder = open_encoder(found.encoder.spec)
    chosen = ConstructionSettings(
        max_turns, count_turns, history, difference_target, select_by, k, tau, attempts, fold_duplicates, alpha, beta,
        gamma)
    with ExitStack() as stack:
        language = stack.enter_context(language_model(model, encoder))
        construction = Construction(
            benchmark, found, encoder, language, chosen, selecting=_another(select_encoder, encoder),
            diversity=_another(diversity_encoder, encoder),
            domain=domain or domain_of(benchmark) or settings.domain)
        at_a_time = workers or (1 if language.name.startswith("built-in/") else settings.llm_concurrency)
        check_card(folder / "journal.jsonl", construction.card, resume=resume)
        print_notes((*benchmark.notes, *construction.subsets.notes))
        _estimate(construction, folder, tuple(subset or ()), limit, at_a_time, resume)
        if dry_run:
            return
        with jobs.job_run("Constructing", folder, "sessions", workers=at_a_time, budget=budget, max_calls=max_calls,
                          resume=resume, retry_failed=retry_failed) as options:
            report = construct_sessions(construction, folder, subsets=tuple(subset or ()), limit=limit, options=options)
    print_report(report, folder, tables)
    if not report.outputs:
        raise typer.Exit(1)


def _another(spec: str | None, encoder: Encoder) -> Encoder | None:
    return None if spec is None or spec == encoder.identity.spec else open_encoder(spec)


def _estimate(
    construction: Construction, folder: Path, subsets: tuple[str, ...], limit: int | None, workers: int, resume: bool
) -> None:
    """Print what is ahead. Raises ``SettingsError`` for a language model that cannot do it at all."""
    from cir_core.construct.sessions.estimate import check_language, estimate

    chosen = construction.subsets.chosen(subsets)
    left, before, prices = jobs.left_to_do(folder, construction.wanted(chosen, limit), resume)
    check_language(construction, left)
    print_estimate(
        estimate(construction, chosen, left, workers=workers, prices=prices, before=before),
        f"{counted(len(left), 'session')} to construct with {construction.language.name}, encoder "
        f"{construction.encoder.name}, domain {construction.domain}.")
