"""What a preference study says of its methods: ratings, and which of two is preferred. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from annotation.preference.quality import Proportion, share
from annotation.records import Item, Judgement


@dataclass(frozen=True)
class MethodResult:
    """``preferred``: of the answers that prefer one of the two, those that prefer this method's set."""

    method: str
    rated: int               # sets of it that were rated
    mean_rating: float       # 1 to 5
    preferred: Proportion
    ties: int


@dataclass(frozen=True)
class PairResult:
    """Two methods, by name. ``first_preferred``: of the answers that prefer one of them, the first.

    Balanced as it is laid out, a study is no longer so where answers are missing or left out; then who likes the
    first side gives a part of their preferences to the method that stood there more often. ``adjusted`` weighs both
    sides alike: the mean of the shares in ``first_leading`` and ``second_leading``.
    """

    first: str
    second: str
    answers: int
    first_preferred: Proportion
    ties: int
    mean_difference: float   # rating of the first less that of the second, in one answer
    first_led: int           # answers in which the first stood first on the screen
    second_led: int          # in which the second did; of the others nobody recorded it
    first_leading: Proportion     # preferences for the first where it stood first
    second_leading: Proportion    # preferences for the first where the second stood first
    adjusted: float | None   # None with ``unadjusted``, why
    unadjusted: str


def method_results(
    items: Iterable[Item], judgements: Iterable[Judgement]
) -> tuple[list[MethodResult], list[PairResult]]:
    """Methods, the most often preferred first, and pairs by name. Sets of unknown methods are left out.

    Intervals take answers as independent, though one person gave many: they are a first look.
    """
    methods_of = {item.item_id: item.hidden["methods"] for item in items}
    ratings: dict[str, list[int]] = defaultdict(list)
    won: dict[str, list[bool | None]] = defaultdict(list)
    pairs: dict[tuple[str, str], list[_Met]] = defaultdict(list)
    for judgement in judgements:
        methods, answer = methods_of[judgement.item_id], judgement.answer
        if None in methods:
            continue
        for index, method in enumerate(methods):
            ratings[method].append(answer["ratings"][index])
            won[method].append(_won(answer["preferred"], index))
        first = 0 if methods[0] <= methods[1] else 1
        pairs[methods[first], methods[1 - first]].append(_Met(
            _won(answer["preferred"], first), answer["ratings"][first] - answer["ratings"][1 - first],
            None if answer["first"] is None else answer["first"] == first + 1))
    found = [MethodResult(method, len(given), fmean(given), _share(won[method]), won[method].count(None))
             for method, given in ratings.items()]
    return (
        sorted(found, key=lambda one: (-(one.preferred.value or 0.0), -one.mean_rating, one.method)),
        [_pair(*pair, met) for pair, met in sorted(pairs.items())],
    )


@dataclass(frozen=True)
class _Met:
    """One answer to a pair, as its first method has it. None: a tie, a side that nobody recorded."""

    won: bool | None
    difference: int
    led: bool | None


def _pair(first: str, second: str, met: Sequence[_Met]) -> PairResult:
    won = [one.won for one in met]
    leading, following = ([one for one in met if one.led is led] for led in (True, False))
    sides = _share([one.won for one in leading]), _share([one.won for one in following])
    adjusted, why = None, ""
    if sides[0].value is not None and sides[1].value is not None:
        adjusted = (sides[0].value + sides[1].value) / 2
    elif not leading and not following:
        why = "which set was shown first was not recorded"
    else:
        lacking = first if sides[0].value is None else second
        why = f"no answer prefers one of the two with {lacking} shown first"
    return PairResult(first, second, len(met), _share(won), won.count(None), fmean(one.difference for one in met),
                      len(leading), len(following), *sides, adjusted, why)


def _won(preferred: int, index: int) -> bool | None:
    """None for a tie."""
    return None if preferred == 0 else preferred == index + 1


def _share(won: list[bool | None]) -> Proportion:
    return share(won.count(True), len(won) - won.count(None))
