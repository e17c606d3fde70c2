"""Forecast of a study's cost and precision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, comb

from cir_core.errors import StudyError
from cir_core.evaluation.metrics.bootstrap import wilson

_Z = 1.959964          # for 95 % intervals
_REPLICATES = 2_000         # studies
_SIMULATED_ITEMS = 400
_SEED = 20261121


@dataclass(frozen=True)
class Forecast:
    """A plan's cost and precision. The first seven fields are the plan and the assumptions. Widths are of 95 %
    intervals, upper minus lower bound: 0.1 is ± 0.05."""

    people: int
    items: int                     # with the agreement set
    overlap: int
    agreement_items: int
    seconds_per_item: float        # assumed
    valid_rate: float              # assumed share of items that are valid
    kappa: float                   # assumed agreement of two people beyond chance
    judgements: int
    items_per_person: int          # maximum
    hours_per_person: float
    hours_total: float
    doubly_judged: int             # items with two annotators or more
    pairs: int                     # of judgements of one item, over all items
    rate_width: float              # of the share of valid items (Wilson)
    kappa_width: float | None      # of the kappa of any two people
    kappa_reason: str              # why ``kappa_width`` is None; else ""


def plan_study(
    people: int, items: int, overlap: int, agreement_items: int = 0, *, seconds_per_item: float = 60.0,
    valid_rate: float = 0.36, kappa: float = 0.46,
) -> Forecast:
    """Forecast a study of ``items`` items, ``agreement_items`` of which everybody judges, and the others
    ``overlap`` people each.

    The defaults of ``valid_rate`` and ``kappa`` are CIRCUS's results: 1,689 of 4,741 queries valid,
    Fleiss' kappa 0.456. With two people per item the interval of kappa is that of the expected table of two
    raters with these margins and this kappa, by the large-sample variance of Fleiss, Cohen and Everitt
    (1969). With more, the pairs of an item are not independent (nine people make 36 pairs of one item):
    there studies are simulated, see :func:`drawn_width`.

    Raises ``StudyError`` for an impossible plan.
    """
    _check(people, items, overlap, agreement_items, seconds_per_item, valid_rate, kappa)
    alone = items - agreement_items
    judgements = alone * overlap + agreement_items * people
    most = ceil(alone * overlap / people) + agreement_items
    pairs = alone * comb(overlap, 2) + agreement_items * comb(people, 2)
    groups = {overlap: alone, people: agreement_items} if overlap != people else {people: items}
    kappa_width, reason = _kappa_width(groups, valid_rate, kappa)
    return Forecast(
        people, items, overlap, agreement_items, seconds_per_item, valid_rate, kappa,
        judgements=judgements, items_per_person=most, hours_per_person=most * seconds_per_item / 3600,
        hours_total=judgements * seconds_per_item / 3600,
        doubly_judged=(alone if overlap > 1 else 0) + (agreement_items if people > 1 else 0), pairs=pairs,
        rate_width=_rate_width(items, valid_rate), kappa_width=kappa_width, kappa_reason=reason)


def _check(
    people: int, items: int, overlap: int, agreement_items: int, seconds: float, valid_rate: float, kappa: float,
) -> None:
    if people < 1 or items < 1 or overlap < 1:
        raise StudyError(f"A study needs at least a person, an item and one judgement per item, not {people} people, "
                         f"{items} items and an overlap of {overlap}.")
    if overlap > people:
        raise StudyError(f"An overlap of {overlap} needs {overlap} people, but the plan has {people}. Plan for more "
                         "people, or a smaller overlap.")
    if not 0 <= agreement_items <= items:
        raise StudyError(f"{agreement_items} of {items} items cannot be the agreement set. "
                         f"Choose between 0 and {items}.")
    if not 0 < seconds <= 86_400:
        raise StudyError(f"{seconds:g} seconds per item are impossible. Enter what a person needs, such as 60.")
    if not 0 < valid_rate < 1:
        raise StudyError(f"A share of valid items of {valid_rate:g} leaves nothing to estimate. "
                         "Enter one between 0 and 1, such as 0.36.")
    if not -1 <= kappa <= 1 or _table(1.0, valid_rate, kappa)[0][0] < 0 or _table(1.0, valid_rate, kappa)[1][1] < 0:
        raise StudyError(f"A kappa of {kappa:g} is impossible with a share of {valid_rate:g} valid items. "
                         "Enter one between 0 and 1, such as 0.46.")


def _table(pairs: float, valid_rate: float, kappa: float) -> list[list[float]]:
    """Expected confusion table of two raters with the same margins."""
    apart = valid_rate * (1 - valid_rate) * (1 - kappa)
    return [[pairs * (valid_rate - apart), pairs * apart], [pairs * apart, pairs * (1 - valid_rate - apart)]]


def _kappa_width(groups: Mapping[int, int], valid_rate: float, kappa: float) -> tuple[float | None, str]:
    """``groups``: people per item to number of items."""
    shared = {people: items for people, items in groups.items() if people > 1 and items}
    if not shared:
        return None, ("No item is judged by more than one person. Agreement needs an overlap of 2 or a few "
                      "agreement items, and two people.")
    if max(shared) > 2 and 0 <= kappa < 1:
        return drawn_width(shared, valid_rate, kappa), ""
    import numpy as np
    from statsmodels.stats.inter_rater import cohens_kappa

    found = cohens_kappa(np.array(_table(sum(shared.values()), valid_rate, kappa)))
    return float(found.kappa_upp - found.kappa_low), ""


def drawn_width(shared: Mapping[int, int], valid_rate: float, kappa: float) -> float:
    """Width of the interval of kappa over simulated studies, with a fixed seed. ``shared``: people per item (2 or
    more) to number of items. Each item has its own probability of a valid judgement, from the beta distribution with
    this mean and this intra-item correlation; judgements of one item are independent given it. Kappa is over all
    pairs of judgements of one item."""
    import numpy as np

    # The width shrinks with the root of the number of items, so large studies are simulated with fewer items.
    part = min(1.0, _SIMULATED_ITEMS / sum(shared.values()))
    random = np.random.default_rng(_SEED)
    differ, pairs, valid, calls = 0.0, 0, 0.0, 0
    for people, items in shared.items():
        number = max(1, round(items * part))
        if kappa > 0:
            spread = (1 - kappa) / kappa
            chance = random.beta(valid_rate * spread, (1 - valid_rate) * spread, (_REPLICATES, number))
        else:
            chance = np.full((_REPLICATES, number), valid_rate)
        positives = random.binomial(people, chance)
        differ = differ + (positives * (people - positives)).sum(axis=1)
        valid = valid + positives.sum(axis=1)
        pairs, calls = pairs + number * comb(people, 2), calls + number * people
    rate = valid / calls
    with np.errstate(invalid="ignore", divide="ignore"):
        kappas = 1 - (differ / pairs) / (2 * rate * (1 - rate))
    return float(2 * _Z * np.nanstd(kappas) * part ** 0.5)


def _rate_width(items: int, valid_rate: float) -> float:
    low, high = wilson(valid_rate * items, items)
    return high - low
