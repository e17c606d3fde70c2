"""Questions and images of a new preference study, from command-line options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cir_core.errors import GalleryError, StudyError
from cir_core.methods.declared import all_methods
from cir_core.types.records import Domain
from cli.console import open_encoder
from cli.evaluate.audit import SAMPLE, SAMPLE_GALLERY, data_set, sample_gallery
from cli.evaluate.method_options import ModelChoice, chosen_methods, language_model, named_bar

if TYPE_CHECKING:
    from annotation.kinds.preference.sources import SurveySource
    from annotation.sources.queries import FindPicture
    from cir_core.datasets.records import Benchmark
    from cir_core.evaluation.runs.records import Run
    from cir_core.gallery.gallery import Gallery
    from cir_core.settings import Settings


@dataclass(frozen=True)
class PreferenceSourceArgs:
    """Options of ``cirque study create preference`` that select the questions."""

    dataset: str | None
    methods: str | None
    runs: Sequence[str]
    hp: Path | None
    annotations: Path | None
    split: str | None
    pool: Path | None
    gallery: str | None
    images: Path | None
    queries: int | None
    seed: int
    model: ModelChoice
    domain: Domain | None
    skip_missing: bool

    def check(self) -> None:
        """Raises ``StudyError`` unless exactly one source is given, with its options."""
        named = [name for name, value in (("--methods", self.methods), ("--from-runs", self.runs),
                                          ("--from-hp", self.hp)) if value]
        if len(named) != 1:
            what = f"{' and '.join(named)} cannot go together" if named else "Specify whose results to compare"
            raise StudyError(f"{what}: --dataset D with --methods A,B or --from-runs A,B, --from-hp FILE, or "
                             "--from-table FILE.")
        if self.hp and (self.dataset or self.annotations or self.split or self.pool):
            raise StudyError("--from-hp has its own queries: it takes no --dataset, --annotations, --split or --pool.")
        if not self.hp and not self.dataset:
            raise StudyError(f"{named[0]} needs --dataset: see cirque datasets list.")
        if self.methods and self.images:
            raise StudyError("--images cannot be combined with --methods: images come from the searched gallery.")

    def refuse_with_table(self) -> None:
        """Raises ``StudyError`` for options of other sources."""
        for option, value in (("--dataset", self.dataset), ("--methods", self.methods), ("--from-runs", self.runs),
                              ("--from-hp", self.hp), ("--annotations", self.annotations), ("--split", self.split),
                              ("--pool", self.pool), ("--queries", self.queries)):
            if value:
                raise StudyError(f"{option} cannot be combined with --from-table: the table has queries and results.")


def open_source(asked: PreferenceSourceArgs, settings: Settings) -> SurveySource:
    """Queries and result sets of the questions; methods are run now."""
    asked.check()
    if asked.hp is not None:
        from annotation.kinds.preference.sources.queries import from_hp

        gallery = _named(asked, settings)
        if gallery is None and asked.images is None:
            raise GalleryError(_where(settings))
        return from_hp(asked.hp, size=asked.queries, seed=asked.seed, images=asked.images, gallery=gallery)
    assert asked.dataset is not None
    benchmark = data_set(asked.dataset, asked.annotations, asked.split, None, asked.pool, settings)
    if asked.methods is None:
        from annotation.kinds.preference.sources.runs import from_runs

        return from_runs(benchmark, _runs(asked.runs), _pictures(asked, benchmark, settings), size=asked.queries,
                         seed=asked.seed)
    return _ranked(asked, asked.methods, benchmark, settings)


def _ranked(asked: PreferenceSourceArgs, names: str, benchmark: Benchmark, settings: Settings) -> SurveySource:
    from annotation.kinds.preference.sources.methods import from_methods
    from cir_core.registry.kinds import domain_of

    methods = chosen_methods(names, None, all_methods(settings.methods))
    sample = benchmark.kind == SAMPLE and not asked.gallery
    gallery = sample_gallery(settings) if sample else _gallery(asked, benchmark, settings)
    if gallery is None:
        raise GalleryError(f"Which gallery contains the images of {benchmark.name}? Name it with --gallery. "
                           f"{_galleries(settings)}")
    encoder = open_encoder(gallery.encoder.spec)
    with language_model(asked.model, encoder) as language, named_bar() as progress:
        return from_methods(
            benchmark, gallery, encoder, language, methods, size=asked.queries, seed=asked.seed,
            domain=asked.domain or domain_of(benchmark) or settings.domain, skip_missing=asked.skip_missing,
            progress=progress)


def _runs(names: Sequence[str]) -> list[Run]:
    """Run files by path, or several separated by commas."""
    from cli.evaluate.answers import from_files

    paths = [Path(part.strip()) for name in names
             for part in ([name] if Path(name).exists() else name.split(",")) if part.strip()]
    return [answer.run for answer in from_files(paths)]


def _pictures(asked: PreferenceSourceArgs, benchmark: Benchmark, settings: Settings) -> FindPicture:
    from annotation.sources.pictures import Pictures
    from cir_core.sample.gallery import sample_folder

    gallery, folder = _gallery(asked, benchmark, settings), asked.images
    if gallery is None and folder is None and benchmark.kind == SAMPLE:
        folder = asked.annotations or sample_folder(settings.home)
    if gallery is None and folder is None:
        raise GalleryError(_where(settings))
    return Pictures(benchmark.image_paths, folder=folder, gallery=gallery)


def _gallery(asked: PreferenceSourceArgs, benchmark: Benchmark, settings: Settings) -> Gallery | None:
    """The named gallery, else the data set's usual one if it exists; none with an image folder."""
    from cir_core.gallery.gallery import open_gallery

    usual = SAMPLE_GALLERY if benchmark.kind == SAMPLE else benchmark.name
    if asked.gallery or asked.images or usual not in _names(settings):
        return _named(asked, settings)
    return open_gallery(usual, home=settings.home)


def _named(asked: PreferenceSourceArgs, settings: Settings) -> Gallery | None:
    from cir_core.gallery.gallery import open_gallery

    return open_gallery(asked.gallery, home=settings.home) if asked.gallery else None


def _where(settings: Settings) -> str:
    return ("Where are the images? Name their folder with --images, or their gallery with --gallery. "
            f"{_galleries(settings)}")


def _galleries(settings: Settings) -> str:
    names = _names(settings)
    return f"There are galleries: {', '.join(names)}." if names else "There is no gallery yet."


def _names(settings: Settings) -> list[str]:
    from cir_core.gallery.gallery import list_galleries

    return [info.name for info in list_galleries(settings.home) if info.status == "complete"]
