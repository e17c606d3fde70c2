"""``cirque construct sessions``: a session from each single-turn query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

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
from cli.construct.jobs import DatasetFlags, JobFlags, with_flags
from cli.construct.tables import count_table, print_estimate, print_files
from cli.evaluate.method_options import ModelOption, language_model
from cli.galleries.datasets import dataset_path
from cli.recorded import Stopped
from cli.tables.output import give

if TYPE_CHECKING:
    from cir_core.encoders.base import Encoder

_DEFAULT = ConstructionSettings()


@with_flags
def sessions(
    data: DatasetFlags,
    gallery: Annotated[str, typer.Option("--gallery", "-g", help="Gallery with the images.")],
    flags: JobFlags,
    max_turns: Annotated[int, typer.Option(min=1, help="Maximum turns per session.")] = _DEFAULT.max_turns,
    model: ModelOption = ModelChoice.settings,
    select_encoder: Annotated[str | None, typer.Option(
        help="Encoder of captions, to pick an image (default: the gallery's).")] = None,
    diversity_encoder: Annotated[str | None, typer.Option(
        help="Encoder to recognise repeated texts (default: the gallery's; paper: ViT-B-32/openai).")] = None,
    fold_duplicates: Annotated[bool, typer.Option(
        "--fold-duplicates", help="Keep one of byte-identical images, as released.")] = False,
    k: Annotated[int, typer.Option("--k", min=1, max=1000, help="A target up to this rank ends a session.")]
    = _DEFAULT.k,
    tau: Annotated[float, typer.Option(min=0, max=1, help="Cosine with an earlier text that requests another.")]
    = _DEFAULT.tau,
    attempts: Annotated[int, typer.Option(min=1, max=10, help="Maximum requests per text.")] = _DEFAULT.attempts,
    count_turns: Annotated[TurnCount, typer.Option(
        help="--max-turns counts: all (paper), or after-first (code).")] = _DEFAULT.count_turns,
    history: Annotated[History, typer.Option(
        help="Texts to differ from: all (paper), or generated (code).")] = _DEFAULT.history,
    difference_target: Annotated[DifferenceTarget, typer.Option(
        help="Target described, of several: best-ranked (paper), or first (code).")]
    = _DEFAULT.difference_target,
    select_by: Annotated[Selection, typer.Option(
        help="Compare images by vectors of captions (paper, code) or images.")] = _DEFAULT.select_by,
    alpha: Annotated[float, typer.Option(min=0, max=2, help="Eq. 9: towards the picked image.")] = _DEFAULT.alpha,
    beta: Annotated[float, typer.Option(min=0, max=2, help="Eq. 9: away from the others.")] = _DEFAULT.beta,
    gamma: Annotated[float, typer.Option(min=0, max=2, help="Eq. 9: towards the new text.")] = _DEFAULT.gamma,
) -> None:
    """Construct a multi-turn session from each query of a data set, as CIRCLED does."""
    from cir_core.construct.sessions.estimate import check_language, estimate
    from cir_core.construct.sessions.run import Construction, construct_sessions
    from cir_core.gallery.gallery import open_gallery
    from cir_core.registry.constructing import queries_to_construct
    from cir_core.registry.kinds import domain_of

    settings = get_settings()
    benchmark = queries_to_construct(data.dataset, dataset_path(data.dataset, data.path), split=data.split,
                                     caption_mode=data.caption_mode, pool=data.pool)
    found = open_gallery(gallery, home=settings.home)
    encoder = open_encoder(found.encoder.spec)
    chosen = ConstructionSettings(
        max_turns, count_turns, history, difference_target, select_by, k, tau, attempts, fold_duplicates, alpha, beta,
        gamma)
    with language_model(model, encoder) as language:
        construction = Construction(
            benchmark, found, encoder, language, chosen, selecting=_another(select_encoder, encoder),
            diversity=_another(diversity_encoder, encoder),
            domain=flags.domain or domain_of(benchmark) or settings.domain)
        names = tuple(data.subset or ())
        subsets = construction.subsets.chosen(names)

        def tell(left: Sequence[int], **known: Any) -> None:
            print_notes((*benchmark.notes, *construction.subsets.notes))
            check_language(construction, left)
            print_estimate(estimate(construction, subsets, left, **known),
                           f"{counted(len(left), 'session')} to construct with {language.name}, encoder "
                           f"{encoder.name}, domain {construction.domain}.")

        report = flags.run(
            "Constructing", "sessions", construction.card, construction.wanted(subsets, flags.limit),
            flags.workers or (1 if language.name.startswith("built-in/") else settings.llm_concurrency), tell,
            lambda options: construct_sessions(construction, flags.folder, subsets=names, limit=flags.limit,
                                               options=options))
    if report is None:
        return
    give([count_table("sessions", "subset", ("queries", "sessions", "found the target", "failed"), {
        name: (one.queries, one.sessions, one.successes, one.failures) for name, one in report.counts.items()},
    )], flags.tables, between=lambda: print_files(
        report, [(f"{one['subset']} {one['query_id']}", one["reason"]) for one in report.failures], flags.folder,
        "sessions", f"Filter them: cirque construct filter {flags.folder} --out FOLDER"))
    if not report.outputs:
        raise Stopped(report.stopped) if report.stopped else typer.Exit(1)


def _another(spec: str | None, encoder: Encoder) -> Encoder | None:
    return None if spec is None or spec == encoder.identity.spec else open_encoder(spec)
