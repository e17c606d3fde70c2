"""Aggregate all retrievers' ranks to one label per query (CIRCUS, "How CIRCUS works", step 3).

A query counts as a shortcut if any retriever finds the target from the text or the image alone,
so labels get stricter as the pool grows. Labels of a single retriever are weak evidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from cir_core.audit.records import (
    CUTOFF,
    VARIANTS,
    Aggregate,
    Detail,
    Label,
    Legacy,
    QueryAudit,
    QueryLabel,
    RetrieverRun,
    RunCard,
    Variant,
)
from cir_core.errors import DatasetError
from cir_core.support.texts import quoted

_MUST_AGREE: Sequence[tuple[Literal["dataset", "dataset_digest", "pools_digest", "ablation", "caption_mode"], str]] = (
    ("dataset", "the data set"),
    ("dataset_digest", "the data set's queries or images"),
    ("pools_digest", "the images that were ranked"),
    ("ablation", "how an input was ablated"),
    ("caption_mode", "the caption mode"),
)


def aggregate(runs: Sequence[RetrieverRun], *, k: int = CUTOFF, min_support: int = 1) -> Aggregate:
    """Label every query that all retrievers ranked.

    Args:
        runs: one per retriever, over the same queries in the same order.
        k: rank ≤ ``k`` counts as found (CIRCUS: 10).
        min_support: retrievers that must find the target with both inputs before a query that
            none solves by one input is composition_required (CIRCUS: M = 1).

    Raises ``DatasetError`` naming two runs and their difference, or a repeated retriever.
    """
    check_comparable(runs)
    if k < 1:
        raise DatasetError(f"K is {k}. Give a rank of 1 or more.")
    if not 1 <= min_support <= len(runs):
        most = f"1 to {len(runs)}" if len(runs) > 1 else "1"
        raise DatasetError(f"The minimum support is {min_support}; give {most}, the number of retrievers.")
    # By name, so that the first of several equal ranks is the first by name.
    ordered = sorted(runs, key=lambda run: run.card.retriever)
    names = tuple(run.card.retriever for run in ordered)
    labels: list[QueryLabel] = []
    skipped: dict[str, str] = {}
    for answers in zip(*(run.queries for run in ordered), strict=True):
        problems = tuple(_problems(names, answers))
        if problems:
            skipped[answers[0].query_id] = "; ".join(problems)
        else:
            labels.append(_label(names, answers, k, min_support))
    return Aggregate(names, k, min_support, tuple(labels), skipped)


def check_comparable(runs: Sequence[RetrieverRun]) -> None:
    """Raises ``DatasetError`` unless the runs can be pooled."""
    if not runs:
        raise DatasetError("There is no run to aggregate. Give at least one retriever.")
    names = [run.card.retriever for run in runs]
    for name in names:
        if names.count(name) > 1:
            raise DatasetError(f"Two runs are of the retriever {quoted(name)}. Leave one out, or rename it in "
                               "its file.")
    check_cards([run.card for run in runs])
    first = runs[0]
    for run in runs[1:]:
        if [query.query_id for query in first.queries] != [query.query_id for query in run.queries]:
            raise _disagree(first.card, run.card, "the queries", *_first_difference(first, run))


def check_cards(cards: Sequence[RunCard]) -> None:
    """The part of :func:`check_comparable` that needs no ranks."""
    for card in cards[1:]:
        for field, words in _MUST_AGREE:
            if getattr(cards[0], field) != getattr(card, field):
                raise _disagree(cards[0], card, words, getattr(cards[0], field), getattr(card, field))
    instructed = [card for card in cards if card.instruction is not None]
    for card in instructed[1:]:
        if card.instruction != instructed[0].instruction:
            raise _disagree(instructed[0], card, "the instruction", instructed[0].instruction, card.instruction)


def label_of(ranks: Mapping[Variant, int], support: int, *, k: int, min_support: int) -> tuple[Label, Detail, Legacy]:
    """Label, detail and CIRCUS's older category from best ranks; ``support``: number of retrievers that
    succeed with both inputs."""
    text, image = ranks["text_only"] <= k, ranks["image_only"] <= k
    if text and image:
        return "shortcut_solvable", "both_unimodal", "either"
    if text:
        return "shortcut_solvable", "text_only", "text_only"
    if image:
        return "shortcut_solvable", "image_only", "image_only"
    if support >= min_support:
        return "composition_required", "composition_required", "multimodal_needed"
    return "unresolved", "unresolved", "multimodal_needed"


def _label(names: Sequence[str], answers: Sequence[QueryAudit], k: int, min_support: int) -> QueryLabel:
    ranks: dict[Variant, int] = {}
    best: dict[Variant, str] = {}
    support: dict[str, int] = {}
    for variant in VARIANTS:
        of_each = [answer.rankings[variant].best for answer in answers]
        ranks[variant] = min(of_each)
        best[variant] = names[of_each.index(ranks[variant])]
        support[variant] = sum(rank <= k for rank in of_each)
    support["either_unimodal"] = sum(
        answer.rankings["text_only"].best <= k or answer.rankings["image_only"].best <= k for answer in answers
    )
    label, detail, legacy = label_of(ranks, support["multimodal"], k=k, min_support=min_support)
    return QueryLabel(answers[0].query_id, label, detail, legacy, ranks, best, support)


def _problems(names: Sequence[str], answers: Sequence[QueryAudit]) -> Iterator[str]:
    for name, answer in zip(names, answers, strict=True):
        missing = [variant for variant in VARIANTS if variant not in answer.rankings]
        if answer.problem or missing:
            yield f"{name}: {answer.problem or 'no rank under ' + ', '.join(missing)}"


def _first_difference(first: RetrieverRun, run: RetrieverRun) -> tuple[str, str]:
    one, other = ([query.query_id for query in each.queries] for each in (first, run))
    for a, b in zip(one, other, strict=False):
        if a != b:
            return f"query {a}", f"query {b} in its place"
    return f"{len(one)} queries", f"{len(other)} queries"


def _disagree(first: RunCard, other: RunCard, words: str, one: object, two: object) -> DatasetError:
    return DatasetError(f"{first.retriever} and {other.retriever} differ in {words} ({quoted(one)} and {quoted(two)}), "
                        "so their ranks cannot be combined. Audit them in the same way, or leave one out.")
