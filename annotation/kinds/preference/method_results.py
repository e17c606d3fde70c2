"""Ratings and pairwise preferences of methods. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from annotation.analysis.records import Estimate
from annotation.analysis.statistics.shares import share
from annotation.records import Item, Judgement


@dataclass(frozen=True)
class MethodResult:
    """``preferred``: proportion of non-tied answers that prefer this method's set."""

    method: str
    rated: int               # number of its rated sets
    mean_rating: float       # 1 to 5
    preferred: Estimate
    ties: int


@dataclass(frozen=True)
class PairResult:
    """Comparison of two methods, by name. ``first_preferred``: proportion of non-tied answers that prefer the first.

    Missing or excluded answers unbalance a study; position bias then favours the method that was shown first more
    often. ``adjusted`` weights both positions equally: the mean of the proportions ``first_leading`` and
    ``second_leading``.
    """

    first: str
    second: str
    answers: int
    first_preferred: Estimate
    ties: int
    mean_difference: float   # rating of the first minus that of the second, per answer
    first_led: int           # answers with the first method shown first
    second_led: int          # with the second shown first; not recorded for the others
    first_leading: Estimate     # preferences for the first when shown first
    second_leading: Estimate    # preferences for the first when the second was shown first
    adjusted: float | None   # None with a reason in ``unadjusted``
    unadjusted: str


def method_results(
    items: Iterable[Item], judgements: Iterable[Judgement]
) -> tuple[list[MethodResult], list[PairResult]]:
    """Methods, most often preferred first, and pairs by name, without sets of unknown methods. Intervals treat answers
    as independent, although each person gave many: they are approximate."""
    methods_of = {item.item_id: item.hidden["methods"] for item in items}
    ratings: dict[str, list[int]] = defaultdict(list)
    won: dict[str, list[bool | None]] = defaultdict(list)
    pairs: dict[tuple[str, str], list[_Outcome]] = defaultdict(list)
    for judgement in judgements:
        methods, answer = methods_of[judgement.item_id], judgement.answer
        if None in methods:
            continue
        for index, method in enumerate(methods):
            ratings[method].append(answer["ratings"][index])
            won[method].append(_won(answer["preferred"], index))
        first = 0 if methods[0] <= methods[1] else 1
        pairs[methods[first], methods[1 - first]].append(_Outcome(
            _won(answer["preferred"], first), answer["ratings"][first] - answer["ratings"][1 - first],
            None if answer["first"] is None else answer["first"] == first + 1))
    found = [MethodResult(method, len(given), fmean(given), _share(won[method]), won[method].count(None))
             for method, given in ratings.items()]
    return (
        sorted(found, key=lambda one: (-(one.preferred.value or 0.0), -one.mean_rating, one.method)),
        [_pair(*pair, outcomes) for pair, outcomes in sorted(pairs.items())],
    )


@dataclass(frozen=True)
class _Outcome:
    """One answer to a pair, from the first method's point of view. None: a tie, or an unrecorded side."""

    won: bool | None
    difference: int
    led: bool | None


def _pair(first: str, second: str, outcomes: Sequence[_Outcome]) -> PairResult:
    won = [one.won for one in outcomes]
    leading, following = ([one for one in outcomes if one.led is led] for led in (True, False))
    sides = _share([one.won for one in leading]), _share([one.won for one in following])
    adjusted, why = None, ""
    if sides[0].value is not None and sides[1].value is not None:
        adjusted = (sides[0].value + sides[1].value) / 2
    elif not leading and not following:
        why = "it was not recorded which set was shown first"
    else:
        lacking = first if sides[0].value is None else second
        why = f"no answer without a tie where {lacking} was shown first"
    difference = fmean(one.difference for one in outcomes)
    return PairResult(first, second, len(outcomes), _share(won), won.count(None), difference,
                      len(leading), len(following), *sides, adjusted, why)


def _won(preferred: int, index: int) -> bool | None:
    """None for a tie."""
    return None if preferred == 0 else preferred == index + 1


def _share(won: list[bool | None]) -> Estimate:
    return share(won.count(True), len(won) - won.count(None))
