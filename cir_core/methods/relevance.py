"""CIRQRS as a step: a learned score of how well an image answers a reference and a text (eq. 1).

With r the relevance of an image (:mod:`cir_core.relevance`, a cosine) and s its score so far,

    score = (1 − w) · s + w · r

for the first M images, or for the whole gallery. Of the first M alone, the images behind them keep their order: their
scores are lowered by one number, such that they go on below the worst of the first M.

Relevance is that of this turn's reference and words alone; what earlier turns asked for counts through s. Several
references have the normalised mean of their query vectors, as with a composing encoder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
from PIL import Image
from pydantic import Field

from cir_core.errors import RelevanceMismatch, RelevanceUnavailable
from cir_core.methods.observer import StageTimer
from cir_core.methods.parameters import Label, declare
from cir_core.methods.step import Notes, Rerank, Step, StepTurn
from cir_core.support.maths import unit
from cir_core.support.texts import quoted
from cir_core.types.composition import Composition
from cir_core.types.methods import MethodSettings, Share
from cir_core.types.records import Vector

RELEVANCE = "relevance"     # ledger: w · r
SMALL = 500                 # images; larger galleries are ranked as a whole only with stored features
OVER = {"first": "The first M", "gallery": "The whole gallery"}


@dataclass(frozen=True)
class Relevance:
    over: Annotated[Literal["first", "gallery"], Field(description="the first M results, or all images")] = "first"
    images: Annotated[int, Field(ge=2, le=1000, description="M: results that are ranked again")] = 50
    weight: Annotated[Share, Field(description="w: 0 leaves the ranking, 1 ranks by relevance alone")] = 1.0


@dataclass(frozen=True)
class RelevanceQuery:
    """The query vector of a turn, and the revision of the model that made it. Numbers, not a vector: its length is
    that of the relevance model, not of the gallery's encoder."""

    numbers: tuple[float, ...]
    revision: str


class RelevanceScores(Protocol):
    """Relevance over one gallery: :class:`cir_core.relevance.scorer.RelevanceScorer`."""

    @property
    def revision(self) -> str: ...

    @property
    def complete(self) -> bool:
        """Whether the gallery's candidate features are stored."""

    @property
    def size(self) -> int:
        """Images of the gallery."""

    @property
    def gallery_name(self) -> str: ...

    def query(self, reference: Image.Image, text: str) -> npt.NDArray[np.float32]: ...

    def all_scores(self, query: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]: ...

    def scores_of(self, query: npt.NDArray[np.float32], rows: Sequence[int]) -> npt.NDArray[np.float32]: ...


class RelevanceStep(Step[Relevance]):
    name, label, title, settings = "relevance", "CIRQRS", "Relevance (CIRQRS)", Relevance
    parameters = declare(
        Relevance, Label("over", "Rank", choices=OVER), Label("images", "images ranked again", "M", "images", most=200),
        Label("weight", "weight of the relevance", "w", "weight", step=0.05))

    @property
    def keeps(self) -> Mapping[str, type[Any]]:
        return {self.name: Relevance, "relevance_query": RelevanceQuery}

    def figure(self, settings: Relevance) -> str:
        over = f"M {settings.images}" if settings.over == "first" else "whole gallery"
        return over if settings.weight == 1 else f"{over} · w {settings.weight:g}"

    def summary(self, settings: Relevance) -> tuple[str, str]:
        over = f"the first {settings.images}" if settings.over == "first" else "the whole gallery"
        return self.label, f"{over}, w {settings.weight:g}"

    def ask(self, settings: Relevance, turn: StepTurn) -> tuple[Mapping[str, Any], Notes]:
        scores = turn.gallery_view.relevance()
        _check_size(settings, scores)
        with turn.stages("relevance"):
            query = _query(scores, [_pixels(part.picture.load) for part in turn.reference.parts], turn.text)
        return {self.name: settings, "relevance_query": RelevanceQuery(tuple(query.tolist()), scores.revision)}, ()

    def rerank(
        self, composition: Composition, relevance: Callable[[], RelevanceScores], stages: StageTimer
    ) -> Rerank | None:
        settings: Relevance | None = composition.part(self.name)
        stored: RelevanceQuery | None = composition.part("relevance_query")
        if settings is None or stored is None:
            return None
        scores = relevance()
        if scores.revision != stored.revision:
            raise RelevanceMismatch(f"This turn was ranked by relevance model {stored.revision}; {scores.revision} is "
                                    "set now. Search again, or set CIRQUE_RELEVANCE to the earlier model.")
        _check_size(settings, scores)
        query = np.asarray(stored.numbers, np.float32)
        whole = settings.over == "gallery"

        def of(rows: Sequence[int]) -> npt.NDArray[np.float32]:
            return scores.all_scores(query)[list(rows)] if whole else scores.scores_of(query, rows)

        return Rerank(RELEVANCE, None if whole else settings.images, settings.weight, of)


def needs_relevance(method: MethodSettings) -> bool:
    """Whether ``method`` works only with a relevance model."""
    return method.part(RelevanceStep.name) is not None


def _check_size(settings: Relevance, scores: RelevanceScores) -> None:
    if settings.over == "gallery" and not scores.complete and scores.size > SMALL:
        raise RelevanceUnavailable(
            f"Gallery {quoted(scores.gallery_name)} has no candidate features of this relevance model, which ranking "
            f"all of its {scores.size:,} images needs. Make them with `cirque relevance index {scores.gallery_name}`, "
            "or rank only the first results again, for example with the method guided-cirqrs.")


def _query(scores: RelevanceScores, images: Sequence[Image.Image], text: str) -> Vector:
    vectors = [scores.query(image, text) for image in images]
    if len(vectors) == 1:
        return vectors[0]
    return unit(np.sum(vectors, axis=0))


def _pixels(load: Callable[[], Image.Image] | None) -> Image.Image:
    if load is None:
        raise RelevanceUnavailable("The reference has no pixels to score. Upload it again.")
    return load()
