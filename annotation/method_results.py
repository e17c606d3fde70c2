"""What a preference study says of its methods: ratings, and which of two is preferred. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from annotation.quality import Share, share
from annotation.records import Item, Judgement


@dataclass(frozen=True)
class MethodResult:
    """``preferred``: of the answers that prefer one of the two, those that prefer this method's set."""

    method: str
    rated: int               # sets of it that were rated
    mean_rating: float       # 1 to 5
    preferred: Share
    ties: int


@dataclass(frozen=True)
class PairResult:
    """Two methods, by name. ``first_preferred``: of the answers that prefer one of them, the first."""

    first: str
    second: str
    answers: int
    first_preferred: Share
    ties: int
    mean_difference: float   # rating of the first less that of the second, in one answer


def method_results(
    items: Iterable[Item], judgements: Iterable[Judgement]
) -> tuple[list[MethodResult], list[PairResult]]:
    """Methods, the most often preferred first, and pairs by name. Sets of unknown methods are left out.

    Intervals take answers as independent, though one person gave many: they are a first look.
    """
    methods_of = {item.item_id: item.hidden["methods"] for item in items}
    ratings: dict[str, list[int]] = defaultdict(list)
    won: dict[str, list[bool | None]] = defaultdict(list)
    pairs: dict[tuple[str, str], list[tuple[bool | None, int]]] = defaultdict(list)
    for judgement in judgements:
        methods, answer = methods_of[judgement.item_id], judgement.answer
        if None in methods:
            continue
        for index, method in enumerate(methods):
            ratings[method].append(answer["ratings"][index])
            won[method].append(_won(answer["preferred"], index))
        first = 0 if methods[0] <= methods[1] else 1
        pairs[methods[first], methods[1 - first]].append((
            _won(answer["preferred"], first), answer["ratings"][first] - answer["ratings"][1 - first]))
    found = [MethodResult(method, len(given), fmean(given), _share(won[method]), won[method].count(None))
             for method, given in ratings.items()]
    return (
        sorted(found, key=lambda one: (-(one.preferred.value or 0.0), -one.mean_rating, one.method)),
        [PairResult(*pair, len(given), _share([one for one, _ in given]), [one for one, _ in given].count(None),
                    fmean(difference for _, difference in given)) for pair, given in sorted(pairs.items())],
    )


def _won(preferred: int, index: int) -> bool | None:
    """None for a tie."""
    return None if preferred == 0 else preferred == index + 1


def _share(won: list[bool | None]) -> Share:
    return share(won.count(True), len(won) - won.count(None))
