"""Recall@k of the shown sets, with which CIRQRS compares metrics."""

from __future__ import annotations

from collections.abc import Iterable

from annotation.kinds.preference.hp_fashioniq import KEPT
from annotation.records import Item, MetricScores
from cir_core.errors import StudyError
from cir_core.support.texts import quoted


def recall_scores(items: Iterable[Item], k: int) -> MetricScores:
    """Share of a question's targets among the first ``k`` images of each set: 0 or 1 with a single target. Questions
    without a known target have no score; notes count them. Raises ``StudyError`` for a ``k`` below 1."""
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise StudyError(f"Recall@k needs a whole number from 1 as k, not {quoted(k)}.")
    items = list(items)
    scores = {}
    unknown = unranked = short = 0
    for item in items:
        targets = {target for target in item.hidden["target_ids"] if target}
        sets = item.hidden["set_ids"]
        if not targets:
            unknown += 1
            continue
        unranked += KEPT in item.hidden and any(k < len(ids) for ids in sets)
        short += any(len(ids) < k for ids in sets)
        for number, ids in enumerate(sets, 1):
            scores[item.item_id, number] = len(targets.intersection(ids[:k])) / len(targets)
    notes = []
    if items and not scores:
        notes.append(f"No question has a known target, so there is no recall@{k}.")
    elif unknown:
        notes.append(f"Questions without a known target, which recall@{k} leaves out: {unknown:,} of {len(items):,}.")
    if unranked:
        notes.append(f"The released file does not say how the images of a set were ranked: recall@{k} takes its first "
                     f"{k} in the order of the file.")
    if short:
        notes.append(f"Questions with a set of fewer than {k} images, of which recall@{k} takes all: {short:,}.")
    return MetricScores(f"recall@{k}", f"Share of a question's targets among the first {k} images of the set.",
                        scores, tuple(notes))
