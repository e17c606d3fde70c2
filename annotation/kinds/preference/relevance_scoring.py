"""Score the result sets of a preference study by CIRQRS: the mean learned relevance of a set's images (eq. 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from annotation.kinds.preference.metric_scoring import checked_name, missing_notes, scorable_sets
from annotation.records import Item, MetricScores
from cir_core.errors import ENDS_A_RUN, CirqueError, DecodingBusy, Stopped, StudyError
from cir_core.evaluation.method_runs import Progress
from cir_core.language.observer import Observer
from cir_core.support.texts import quoted

if TYPE_CHECKING:
    from cir_core.relevance.scorer import RelevanceScorer

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
