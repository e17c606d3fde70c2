"""``--metric cirqrs``: measures of result sets that look at the images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from cir_core.settings import get_settings
from cli.console import open_relevance, progress_bar

if TYPE_CHECKING:
    from cir_core.datasets.readers.circled import CircledSession
    from cir_core.datasets.records import Benchmark
    from cir_core.evaluation.evaluate_run import Further
    from cir_core.evaluation.evaluators.records import Columns
    from cir_core.evaluation.evaluators.sessions import FurtherByTurn
    from cir_core.gallery.gallery import Gallery
    from cir_core.relevance.scorer import RelevanceScorer


class Metric(StrEnum):
    cirqrs = "cirqrs"


MetricOption = Annotated[Metric | None, typer.Option(
    "--metric", help="Also score the first 10 and 50 by CIRQRS.")]


def check_metric(
    metric: Metric | None, relevance: str | None, gallery: str | None = "", *, hidden: bool = False
) -> None:
    """Raises ``BadParameter`` for options that do not go together. ``hidden``: nothing is measured."""
    if metric is None and relevance is not None:
        raise typer.BadParameter("--relevance is the model of --metric cirqrs. Name the metric, too.")
    if metric is not None and gallery is None:
        raise typer.BadParameter("CIRQRS looks at the images: name their gallery with --gallery. `cirque datasets "
                                 "index` makes one of a benchmark.")
    if metric is not None and hidden:
        raise typer.BadParameter("With --submission nothing is measured. Leave --metric out.")


def scorer_in(name: str, relevance: str | None) -> RelevanceScorer:
    """CIRQRS over a gallery. Raises ``RelevanceUnavailable``, ``GalleryError``."""
    from cir_core.gallery.gallery import open_gallery

    return scorer_over(open_gallery(name, home=get_settings().home), relevance)


def scorer_over(gallery: Gallery, relevance: str | None) -> RelevanceScorer:
    """As :func:`scorer_in`."""
    from cir_core.relevance.scorer import RelevanceScorer

    return RelevanceScorer(open_relevance(relevance), gallery)


def further_by(scorer: RelevanceScorer | None, system: str) -> Further | None:
    """CIRQRS for :func:`~cir_core.evaluation.evaluate_run.evaluate_run`, with a progress bar."""
    if scorer is None:
        return None

    def further(benchmark: Benchmark, rankings: Mapping[str, Sequence[str]]) -> tuple[Columns, tuple[str, ...]]:
        from cir_core.evaluation.evaluators.relevance import cirqrs

        with progress_bar(f"CIRQRS, {system}") as update:
            return cirqrs(benchmark, rankings, scorer, progress=update)

    return further


def further_by_turn(scorer: RelevanceScorer | None, system: str) -> FurtherByTurn | None:
    """As :func:`further_by`, of every turn, for
    :func:`~cir_core.evaluation.evaluators.sessions.evaluate_sessions`."""
    if scorer is None:
        return None

    def further(
        sessions: Sequence[CircledSession], rankings: Mapping[str, Sequence[str]]
    ) -> tuple[Columns, tuple[str, ...]]:
        from cir_core.evaluation.evaluators.relevance import cirqrs_by_turn

        with progress_bar(f"CIRQRS, {system}") as update:
            return cirqrs_by_turn(sessions, rankings, scorer, progress=update)

    return further
