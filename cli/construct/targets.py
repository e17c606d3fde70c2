"""``cirque construct multi-target`` and ``single-target``: all images that answer each query, and queries rewritten for
one of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cir_core.construct.targets.settings import SEED, THRESHOLD, Check, TargetSettings
from cir_core.errors import SettingsError
from cir_core.reports.records import ReportColumn, ReportTable, count, text
from cir_core.settings import get_settings
from cir_core.support.texts import counted
from cli.console import ModelChoice, open_encoder, out, print_notes
from cli.construct.jobs import DatasetFlags, JobFlags, with_flags
from cli.construct.tables import count_table, print_estimate, print_files
from cli.evaluate.method_options import ModelOption, language_model
from cli.galleries.datasets import dataset_path
from cli.recorded import Stopped
from cli.tables.output import give

if TYPE_CHECKING:
    from cir_core.construct.targets.multi_target import SubsetTargets
    from cir_core.encoders.base import Encoder
    from cir_core.jobs.job import FilesReport
    from cir_core.language.base import LanguageModel


@with_flags
def multi_target(
    data: DatasetFlags,
    gallery: Annotated[str, typer.Option("--gallery", "-g", help="Gallery with the images.")],
    flags: JobFlags,
    threshold: Annotated[float, typer.Option(
        min=0, max=1, help="Least confidence of a target; with --resume changed without new requests.")] = THRESHOLD,
    keep: Annotated[int, typer.Option(
        min=1, max=1000, help="Candidates kept per group.")] = TargetSettings.keep,
    scored: Annotated[int, typer.Option(
        min=1, max=1000, help="Candidates scored per group.")] = TargetSettings.scored,
    candidates: Annotated[Path | None, typer.Option(
        help="Folder of candidates in SoFT's format, instead of searching.")] = None,
    scores: Annotated[Path | None, typer.Option(
        help="With --candidates: folder of confidences in SoFT's format; missing ones are requested.")] = None,
    sentences: Annotated[ModelChoice, typer.Option(
        help="Model for the two sentences: the settings' or the built-in one (garments).")] = (
        ModelChoice.settings),
) -> None:
    """Find all targets of each query (SoFT's stage 1)."""
    from cir_core.construct.targets.multi_target import MultiTargets, estimate_targets, find_targets
    from cir_core.gallery.gallery import open_gallery
    from cir_core.registry.constructing import refuse_unsuitable
    from cir_core.registry.kinds import domain_of, read_benchmark

    settings = get_settings()
    if candidates is not None and sentences is ModelChoice.built_in:
        raise SettingsError("--candidates replaces the sentences. Leave --sentences out.")
    if scores is not None and candidates is None:
        raise SettingsError("Confidences are those of given candidates. Name these with --candidates, or leave "
                            "--scores out.")
    benchmark = read_benchmark(data.dataset, dataset_path(data.dataset, data.path), split=data.split,
                               caption_mode=data.caption_mode, pool=data.pool)
    refuse_unsuitable(benchmark, "targets")
    found = open_gallery(gallery, home=settings.home)
    encoder = open_encoder(found.encoder.spec)
    with language_model(ModelChoice.settings, encoder) as language:
        about = MultiTargets(
            benchmark, found, encoder, _with_sentences(language, sentences, encoder), TargetSettings(keep, scored),
            flags.domain or domain_of(benchmark) or settings.domain, candidates, tuple(data.subset or ()), scores)

        def tell(left: Sequence[int], **known: Any) -> None:
            print_notes((*benchmark.notes, *about.subsets.notes))
            print_estimate(estimate_targets(about, left, **known),
                           f"{counted(len(left), 'query', 'queries')} whose targets are to be found with "
                           f"{about.language.name}, encoder {encoder.name}, domain {about.domain}.")

        report = flags.run(
            "Finding targets", "queries", about.card,
            [at for positions in about.wanted(flags.limit).values() for at in positions],
            flags.workers or settings.llm_concurrency, tell,
            lambda options: find_targets(about, flags.folder, threshold=threshold, limit=flags.limit, options=options))
    if report is None:
        return
    names = ("queries", "found", "none", "failed", "targets")
    give([ReportTable(
        "targets", "", (text("subset", "subset"), *(count(name, name) for name in names),
                        ReportColumn("mean", "mean", "score"), count("most", "most"), count("rewritable", "3+")),
        tuple((name, one.queries, one.kept, one.dropped, one.failed, one.targets, one.mean, one.most, one.rewritable)
              for name, one in report.counts.items()),
    )], flags.tables, between=lambda: _print_found(report, flags.folder))
    if not report.outputs:
        raise Stopped(report.stopped) if report.stopped else typer.Exit(1)


def _with_sentences(language: LanguageModel, sentences: ModelChoice, encoder: Encoder) -> LanguageModel:
    if sentences is ModelChoice.settings:
        return language
    from cir_core.language.builtin import BuiltinLanguageModel
    from cir_core.language.wrappers.routed import RoutedLanguageModel

    return RoutedLanguageModel(language, {"two-sentences": BuiltinLanguageModel(encoder)})


def _print_found(report: FilesReport[SubsetTargets], folder: Path) -> None:
    original = sum(one.without_original for one in report.counts.values())
    reference = sum(one.with_reference for one in report.counts.values())
    out.print(f"The original target is not among the targets of {counted(original, 'query', 'queries')}; the reference "
              f"is in {reference:,}.", soft_wrap=True)
    print_files(report, [(f"{one['subset']} {one['query_id']}", one["reason"]) for one in report.failures], folder,
                "queries", f"Rewrite them: cirque construct single-target {folder} --gallery GALLERY --out FOLDER", 2)


@with_flags
def single_target(
    targets: Annotated[list[Path], typer.Argument(
        metavar="TARGETS...", help=(
            "Files in SoFT's multi-target format, or folders of `cirque construct multi-target`."))],
    gallery: Annotated[str, typer.Option("--gallery", "-g", help="Gallery with the images.")],
    flags: JobFlags,
    seed: Annotated[int, typer.Option(help="Random seed of targets and distractors.")] = SEED,
    check: Annotated[Check | None, typer.Option(
        help="Check texts by confidence (needs a model that accepts images) or words (default: as possible).")] = None,
    keep_reference: Annotated[bool, typer.Option(
        "--keep-reference", help="References listed as targets may be drawn, as in SoFT.")] = False,
    model: ModelOption = ModelChoice.settings,
) -> None:
    """Rewrite queries with three or more targets so that one is left (SoFT's stage 2)."""
    from cir_core.construct.targets.single_target import (
        SingleTargets,
        estimate_rewriting,
        read_target_files,
        rewrite_targets,
    )
    from cir_core.gallery.gallery import open_gallery
    from cir_core.language.wrappers.routed import answering
    from cir_core.registry.kinds import domain_of_targets

    settings, files = get_settings(), read_target_files(targets)
    found = open_gallery(gallery, home=settings.home)
    # Of use only to a model that sees nothing: the built-in one reads captions off the encoder's vectors.
    encoder = None if model is ModelChoice.settings and settings.llm_sees and settings.llm_model else (
        open_encoder(found.encoder.spec))
    with language_model(model, encoder) as language:
        shows = flags.domain or domain_of_targets((file.name, file.records[0].reference_id) for file in files
                                                  if file.records) or settings.domain
        about = SingleTargets(files, found, language, check or ("confidence" if language.sees else "text"), seed, shows,
                              keep_reference)
        records = sum(len(file.records) for file in files)
        built_in = answering(language, "rewrite").name.startswith("built-in/")
        report = flags.run(
            "Rewriting", "texts", about.card, about.wanted(flags.limit),
            flags.workers or (1 if built_in else settings.llm_concurrency),
            lambda left, **known: print_estimate(
                estimate_rewriting(about, left, **known),
                f"{counted(len(left), 'query', 'queries')} to rewrite, of {records:,}, with {language.name}, checked "
                f"by {about.check}, domain {about.domain}."),
            lambda options: rewrite_targets(about, flags.folder, limit=flags.limit, options=options))
    if report is None:
        return
    give([count_table("rewritten", "file", ("queries", "3 targets and more", "rewritten", "failed", "texts rejected"), {
        name: (one.queries, one.drawn, one.rewritten, one.failed, one.again) for name, one in report.counts.items()},
    )], flags.tables, between=lambda: print_files(
        report, [(f"{one['file']}, record {one['record']}", one["reason"]) for one in report.failures], flags.folder,
        "texts"))
    if not report.outputs:
        raise Stopped(report.stopped) if report.stopped else typer.Exit(1)
