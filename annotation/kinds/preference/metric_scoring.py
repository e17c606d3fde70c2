"""Score the result sets of a preference study by a method: mean of its scores of a set's images for the query. Score
the result sets of a preference study by CIRQRS: the mean learned relevance of a set's images (eq. 7).

This is the score of a set in CIRQRS (eq. 7), with a method's score instead of the learned one: for most
methods the cosine of the composed query and the image.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from annotation.records import Item, MetricScores, dataset_of
from annotation.records.studies import NAME_LIMIT
from cir_core.encoders.base import Encoder
from cir_core.errors import ENDS_A_RUN, CirqueError, DecodingBusy, SearchError, Stopped, StudyError
from cir_core.evaluation.method_runs import Progress, searcher_over, telling_how_far
from cir_core.evaluation.query_steps import Problem, composed_together, each
from cir_core.gallery.gallery import Gallery
from cir_core.index.scoring import CombinedScores, PlainScores, Products, Scored
from cir_core.language.base import LanguageModel, Observer
from cir_core.methods.declared import Method
from cir_core.methods.observer import QueryWatch
from cir_core.methods.steps import step_score
from cir_core.registry.kinds import domain_named
from cir_core.search.prepare import Composed, PreparedTurn
from cir_core.search.searcher import Searcher
from cir_core.support.texts import clean_text, quoted, shortened
from cir_core.types.composition import Usage
from cir_core.types.records import Domain, MethodSettings

if TYPE_CHECKING:
    from cir_core.relevance.scorer import RelevanceScorer

_BATCH = 64   # batch size of queries
_Query = tuple[str, str]   # reference and text: questions about one query share its composition


def method_scores(
    items: Sequence[Item], gallery: Gallery, encoder: Encoder, language: LanguageModel, method: Method, *,
    name: str = "", domain: Domain | None = None, otherwise: Domain = "garment", progress: Progress | None = None,
    watch: Observer | None = None,
) -> MetricScores:
    """The mean score of each set's images under ``method`` in ``gallery``, which may hold more than the study.

    A set has no score if the gallery lacks one of its images or the question's reference, or if the method fails on
    the query. Notes count these. An image that is in a set twice counts twice.

    Args:
        items: of a preference study.
        name: of the metric; default "METHOD in GALLERY".
        domain: of the images, for prompts of language models; None: that of the items' data set, else
            ``otherwise``.
        progress: called with the method's title, and the numbers of processed and of all queries.
        watch: observer, which may stop the run and receives the usage of language models.

    Raises:
        StudyError: an invalid name; no set can be scored.
        Stopped: requested by ``watch``.
        EncoderMismatch, LanguageModelUnavailable, EncoderUnavailable: the method cannot continue.
    """
    name = checked_name(name or f"{method.name} in {gallery.name}")
    settings = replace(method.settings, exclude="reference")   # as the sets were chosen
    searcher = searcher_over(None, gallery, encoder, language, domain or _domain(items) or otherwise,
                             reflects=settings.reflection is not None)
    sets_of, missing = scorable_sets(items, gallery)
    scores: dict[tuple[str, int], float] = {}
    failed: dict[_Query, str] = {}
    queries = list(sets_of)
    for start in range(0, len(queries), _BATCH):
        together = queries[start:start + _BATCH]
        with telling_how_far(method.title, start, len(queries), "queries"):
            for query, made in zip(together, _composed(searcher, together, settings, watch), strict=True):
                if isinstance(made, Problem):
                    failed[query] = made.reason
                else:
                    scores.update(_scores(searcher, made, sets_of[query]))
        if progress:
            progress(method.title, min(start + _BATCH, len(queries)), len(queries))
    if not scores:
        query, reason = next(iter(failed.items()))
        raise StudyError(f"{method.title} failed on every query; on {quoted(query[1])} of the image {query[0]}: "
                         f"{reason}")
    spec, card = encoder.identity.spec, searcher.card(settings)
    return MetricScores(
        name, f"Mean over a set's images of their score by {method.title} for the query (eq. 7 of CIRQRS with this "
        f"score), in the gallery {gallery.name} of {len(gallery):,} images with the encoder {spec}; protocol "
        f"{card.digest}.", scores, _notes(items, missing, failed, sets_of, method))


def checked_name(name: str) -> str:
    """The normalised name of a metric. Raises ``StudyError``."""
    name = name.strip()
    if not name or len(name) > NAME_LIMIT or not name.isprintable():
        raise StudyError(f"{quoted(name)} is not a valid metric name. Choose 1 to {NAME_LIMIT} characters on one line, "
                         "none of them invisible.")
    if name.casefold().startswith("recall@"):
        raise StudyError(f"{quoted(name)} is reserved: cirque computes recall itself. Choose another name.")
    return name


@dataclass(frozen=True)
class ScorableSet:
    item_id: str
    number: int
    image_ids: tuple[str, ...]


@dataclass
class Missing:
    """What the gallery lacks."""

    references: int = 0   # questions
    sets: int = 0         # of questions with a reference


def scorable_sets(items: Sequence[Item], gallery: Gallery) -> tuple[dict[_Query, list[ScorableSet]], Missing]:
    """Queries (reference, text), each with the scorable sets of all its questions. Raises ``StudyError`` if there are
    none."""
    sets_of: dict[_Query, list[ScorableSet]] = {}
    missing = Missing()
    for item in items:
        reference = item.hidden["reference_id"]
        if reference not in gallery:
            missing.references += 1
            continue
        for number, ids in enumerate(item.hidden["set_ids"], 1):
            if not ids or any(image_id not in gallery for image_id in ids):
                missing.sets += 1
            else:
                sets_of.setdefault((reference, item.shown["text"]), []).append(
                    ScorableSet(item.item_id, number, tuple(ids)))
    if not sets_of:
        raise StudyError(f"The gallery {gallery.name} has the images of none of the {2 * len(items):,} sets. Name the "
                         "gallery that the study's images come from." if items else "The study has no questions.")
    return sets_of, missing


class _QueryObserver(QueryWatch):
    """Records the problems of one query, and forwards usage to the outer observer."""

    def __init__(self, outer: Observer | None) -> None:
        super().__init__()
        self._outer = outer

    @property
    def stopped(self) -> bool:
        return super().stopped or (self._outer is not None and self._outer.stopped)

    def spent(self, usage: Usage) -> None:
        super().spent(usage)
        if self._outer is not None:
            self._outer.spent(usage)


def _composed(
    searcher: Searcher, queries: Sequence[_Query], settings: MethodSettings, watch: Observer | None
) -> list[Composed | Problem]:
    def ask(query: _Query) -> PreparedTurn:
        if watch is not None and watch.stopped:
            raise Stopped("it was stopped.")
        reference, text = query
        text = clean_text(text, required=settings.base != "image-only")
        return searcher.prepare(searcher.gallery_reference(reference), text, settings, watch=_QueryObserver(watch))

    made = composed_together(each(ask, queries), [searcher] * len(queries), settings)
    if watch is not None and watch.stopped:   # reflection may have been cut short, so scores are discarded
        raise Stopped("it was stopped.")
    return made


def _scores(searcher: Searcher, made: Composed, sets: Sequence[ScorableSet]) -> dict[tuple[str, int], float]:
    """Scores, identical to those of a search to the last digit."""
    ids = list(dict.fromkeys(image_id for one in sets for image_id in one.image_ids))
    place = {image_id: row for row, image_id in enumerate(ids)}
    products = Products(searcher.features_of(ids), ids)
    score = step_score(made.query.vector, made.composition, searcher.encoder)
    scored: Scored = (PlainScores(products, made.query.vector) if score is None
                      else CombinedScores(products, score, score.vectors))
    exact = scored.exact(np.arange(len(ids))).astype(np.float64)
    if not np.isfinite(exact).all():
        raise SearchError("A score is not finite. Index the gallery again.")
    return {(one.item_id, one.number): float(exact[[place[image_id] for image_id in one.image_ids]].mean())
            for one in sets}


def _domain(items: Sequence[Item]) -> Domain | None:
    found = {domain_named(dataset_of(item)) for item in items}
    return found.pop() if len(found) == 1 else None


def missing_notes(items: Sequence[Item], missing: Missing) -> list[str]:
    """How many sets have no score because of what the gallery lacks."""
    notes = []
    if missing.references:
        notes.append(f"Questions whose reference is not in the gallery, both sets without a score: "
                     f"{missing.references:,} of {len(items):,}.")
    if missing.sets:
        notes.append(f"Sets without a score, because the gallery lacks one of their images: {missing.sets:,} of "
                     f"{2 * len(items):,}.")
    return notes


def _notes(
    items: Sequence[Item], missing: Missing, failed: Mapping[_Query, str],
    sets_of: Mapping[_Query, Sequence[ScorableSet]], method: Method,
) -> tuple[str, ...]:
    notes = missing_notes(items, missing)
    if failed:
        (_, text), reason = next(iter(failed.items()))
        lost = sum(len(sets_of[query]) for query in failed)
        notes.append(f"Sets without a score, because {method.title} failed on their query: {lost:,} of "
                     f"{2 * len(items):,}. The first such query is “{shortened(text)}”: {reason}")
    return tuple(notes)


CIRQRS = "CIRQRS"


def relevance_scores(
    items: Sequence[Item], scorer: RelevanceScorer, *, name: str = "", progress: Progress | None = None,
    watch: Observer | None = None,
) -> MetricScores:
    """CIRQRS of each set, over the scorer's gallery, which may hold more than the study.

    A set has no score if the gallery lacks one of its images or the question's reference, or if one cannot be read.
    Notes count these. An image that is in a set twice counts twice.

    Args:
        items: of a preference study.
        name: of the metric; default "CIRQRS".
        progress: called with the metric's name, and the numbers of processed and of all queries.
        watch: observer, which may stop the run.

    Raises:
        StudyError: an invalid name; no set can be scored.
        Stopped: requested by ``watch``.
    """
    from cir_core.relevance.scores import UNREADABLE  # here: it imports torch

    name, gallery = checked_name(name or CIRQRS), scorer.gallery
    sets_of, missing = scorable_sets(items, gallery)
    scores: dict[tuple[str, int], float] = {}
    unreadable = 0
    for done, ((reference_id, text), sets) in enumerate(sets_of.items()):
        if watch is not None and watch.stopped:
            raise Stopped("it was stopped.")
        if progress:
            progress(CIRQRS, done, len(sets_of))
        try:
            query = scorer.query(gallery.load_for_encoder(reference_id), text)
        except (*ENDS_A_RUN, DecodingBusy):
            raise
        except CirqueError:
            unreadable += len(sets)
            continue
        ids = list(dict.fromkeys(image_id for one in sets for image_id in one.image_ids))
        found = dict(zip(ids, map(float, scorer.scores_of(query, [gallery.row_of(one) for one in ids])), strict=True))
        for one in sets:
            values = [found[image_id] for image_id in one.image_ids]
            if min(values) <= UNREADABLE:
                unreadable += 1
            else:
                scores[one.item_id, one.number] = sum(values) / len(values)
    if progress:
        progress(CIRQRS, len(sets_of), len(sets_of))
    if not scores:
        raise StudyError(f"None of the images of the sets in the gallery {quoted(gallery.name)} can be read. Index it "
                         "again.")
    notes = missing_notes(items, missing)
    if unreadable:
        notes.append(f"Sets without a score, because the reference or an image cannot be read: {unreadable:,} of "
                     f"{2 * len(items):,}.")
    return MetricScores(
        name, f"CIRQRS (eq. 7): mean relevance of a set's images for the query, by the relevance model "
        f"{scorer.revision}, in the gallery {gallery.name}. Values of different models are not comparable.",
        scores, tuple(notes))
