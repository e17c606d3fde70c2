"""Figures of answers to requests: satisfaction, preservation, exact targets.

*satisfaction@5* is the share of the first five images that satisfy every request made so far, over min(5, images in
the gallery that do); *preservation@5* is the number of unmentioned attributes that the first five share with the
reference, over that of the five satisfying images that share most. Both are at most 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cir_core.evaluation.evaluate_single import SEEN
from cir_core.evaluation.metrics.bootstrap import MeanEstimate, Values, estimates_of_many, share_estimates
from cir_core.garments.lexicon import GROUPS
from cir_core.sample.request_set import KIND_SHARES, Pool, RequestSet, unmentioned
from cir_core.sample.requests import Kind, Request, Wants
from cir_core.search.searcher import TurnResult

SHOWN = 5
MEASURES = ("satisfaction@5", "preservation@5", "harmonic mean")
EXACT = ("R@1", "R@10")
AS_EXPECTED = "as expected"
Figures = Mapping[str, MeanEstimate]


@dataclass(frozen=True)
class Answer:
    """What a method made of one request.

    ``wants`` and ``possible`` (images that could be shown) are of all requests so far; ``shown`` are the first five
    images, ``values`` what they are in the groups wanted; ``shared`` and ``most_shared`` are the mean numbers of
    unmentioned attributes of the first five and of the best five. ``exact_targets`` satisfy all and share all,
    ``exact_rank`` is that of the first of them, if among the first ten.
    """

    reference_id: str
    text: str
    kind: Kind
    about: tuple[str, ...]
    wants: Mapping[str, tuple[str, ...]]
    query: str
    shown: tuple[str, ...]
    values: Mapping[str, tuple[str, ...]]
    satisfied: tuple[bool, ...]
    possible: int
    shared: float
    most_shared: float
    satisfaction: float
    preservation: float
    exact_targets: int
    exact_rank: int | None
    notes: tuple[str, ...] = ()

    @property
    def harmonic_mean(self) -> float:
        both = self.satisfaction + self.preservation
        return 2 * self.satisfaction * self.preservation / both if both else 0.0


@dataclass(frozen=True)
class RequestFigures:
    """Means over ``count`` requests; ``exact``: recall of exact targets over the ``exact_count`` that have one."""

    count: int
    measures: Figures
    exact_count: int
    exact: Figures


@dataclass(frozen=True)
class GalleryLimits:
    """What the gallery can give to the requests about one attribute, whatever the method: the mean number of the
    other eight that the nearest satisfying image shares, and the share of requests with an exact target."""

    count: int
    nearest: float
    exact: float
    nearest_by_group: Mapping[str, float]
    nearest_by_kind: Mapping[str, float]


def judge(
    found: TurnResult, request: Request, reference_id: str, wants: Wants, used: Sequence[str], pool: Pool
) -> Answer:
    """Satisfaction and preservation of ``found``; ``wants`` are those of all requests so far, ``used`` the images
    that are not shown again."""
    groups = unmentioned(wants)
    satisfying = pool.satisfying(wants, used)
    alike = pool.shared(pool.truth[reference_id], groups)
    ranked = pool.rows([hit.image_id for hit in found.hits[:SEEN]])
    first, possible = ranked[:SHOWN], int(satisfying.sum())
    shared, most = float(alike[first].mean()), float(np.sort(alike[satisfying])[::-1][:SHOWN].mean())
    exact = satisfying & (alike == len(groups))
    hits = [rank for rank, row in enumerate(ranked, start=1) if exact[row]]
    shown = [pool.ids[row] for row in first]
    return Answer(
        reference_id, request.text, request.kind, request.about,
        {group: tuple(sorted(values)) for group, values in wants.items()}, found.merged_text,
        tuple(shown), {group: tuple(pool.truth[image_id][group] for image_id in shown) for group in wants},
        tuple(bool(satisfying[row]) for row in first), possible, shared, most,
        min(1.0, int(satisfying[first].sum()) / min(SHOWN, possible)), min(1.0, shared / most) if most else 1.0,
        int(exact.sum()), hits[0] if hits else None, found.notes,
    )


def figures(answers: Sequence[Answer], seed: int) -> RequestFigures:
    """Means with bootstrap intervals over requests; no measures of nothing."""
    values = np.array([[one.satisfaction, one.preservation, one.harmonic_mean] for one in answers])
    exact = np.array([[one.exact_rank == 1, one.exact_rank is not None] for one in answers if one.exact_targets])
    return RequestFigures(len(answers), _named(MEASURES, values, seed), len(exact), _named(EXACT, exact, seed))


@dataclass(frozen=True)
class WrittenAnswer:
    """What a method made of one turn of a written request or dialogue (``where`` in the file, of the class ``name``).

    ``asked`` is what the turn was read as, ``unused`` are words of it that nothing was made of, ``choices`` texts that
    were offered in its place. ``satisfaction`` and ``preservation`` are as in :class:`Answer`, None where nothing is
    wanted or the gallery has nothing more that satisfies; after an act that goes back they are 1 or 0: the hits of
    that turn are shown again, or not. ``as_expected``: of a vague request. ``silent``: nothing was asked, and nothing
    said about it; None for a method that does not read requests.
    """

    where: str
    name: str
    turn: int
    reference_id: str
    text: str
    act: str
    query: str
    asked: tuple[str, ...]
    notes: tuple[str, ...]
    unused: tuple[str, ...]
    choices: tuple[str, ...]
    wants: Mapping[str, tuple[str, ...]]
    shown: tuple[str, ...]
    values: Mapping[str, tuple[str, ...]]
    satisfaction: float | None
    preservation: float | None
    as_expected: bool | None
    silent: bool | None

    @property
    def failed(self) -> bool:
        return bool((self.satisfaction is not None and self.satisfaction < 1) or self.as_expected is False
                    or self.silent)


@dataclass(frozen=True)
class WrittenFigures:
    """Means over ``count`` answers, those of an entry of the file resampled together; ``silent`` of them."""

    count: int
    measures: Figures
    silent: int | None


def written_figures(answers: Sequence[WrittenAnswer], seed: int) -> WrittenFigures:
    """Measures that no answer has are left out."""
    measured: dict[str, Sequence[float | None]] = {
        MEASURES[0]: [one.satisfaction for one in answers], MEASURES[1]: [one.preservation for one in answers],
        AS_EXPECTED: [one.as_expected for one in answers]}
    found: dict[str, MeanEstimate] = {}
    for name, values in measured.items():
        some = [(one.where, float(value)) for one, value in zip(answers, values, strict=True) if value is not None]
        if some:
            [found[name]] = estimates_of_many([[[value] for _, value in some]], seed=seed,
                                              units=[[where for where, _ in some]])
    known = [one.silent for one in answers if one.silent is not None]
    return WrittenFigures(len(answers), found, sum(known) if known else None)


def gallery_limits(asked: RequestSet, pool: Pool) -> GalleryLimits:
    """Over the requests of ``asked`` that mention one attribute."""
    found = list[tuple[str, str, int]]()  # group, kind, what the nearest shares
    for one in asked.requests:
        if len(one.request.wants) == 1:
            alike = pool.shared(pool.truth[one.reference_id], unmentioned(one.request.wants))
            best = alike[pool.satisfying(one.request.wants, (one.reference_id,))].max()
            found.append((one.request.about[0], one.request.kind, int(best)))

    def mean(name: str = "") -> float:
        some = [best for group, kind, best in found if name in ("", group, kind)]
        return float(np.mean(some)) if some else 0.0

    groups, kinds, nearest = zip(*found, strict=True) if found else ((), (), ())
    exact = nearest.count(len(GROUPS) - 1) / max(1, len(found))
    return GalleryLimits(
        len(found), mean(), exact, {group.key: mean(group.key) for group in GROUPS if group.key in groups},
        {kind: mean(kind) for kind in KIND_SHARES if kind in kinds},
    )


def _named(names: Sequence[str], values: Values, seed: int) -> Figures:
    return dict(zip(names, share_estimates([values], seed=seed), strict=True)) if len(values) else {}
