"""Intervals of kappa and alpha, with a remark where the percentile interval is known to fall short.

Drawn studies (beta-binomial items, 300 of each size) say when: nominal 95 % intervals of alpha held the truth in 80
to 85 % where there were fewer than 20 items or the rarer answer had the weight of fewer than ten, and in 89 to 95 %
elsewhere. They missed by being too low.
"""

from __future__ import annotations

from dataclasses import replace

from annotation.analysis.records import Estimate
from annotation.analysis.statistics.agreement import fleiss_units
from annotation.analysis.statistics.bootstrap import Values, with_interval
from annotation.analysis.statistics.matrix import Codes, Ratings

LEAST_ITEMS = 20
LEAST_RARER = 10
_TOO_LOW = "interval unreliable"


def fleiss_with_interval(estimate: Estimate, values: Values, ratings: Ratings) -> Estimate:
    """Over the units that Fleiss' kappa takes."""
    return kappa_with_interval(estimate, values, ratings.codes[fleiss_units(ratings)], ratings)


def shared_with_interval(estimate: Estimate, values: Values, ratings: Ratings) -> Estimate:
    """What rests on all units with two answers or more: alpha, and the mean of all pairs' kappas."""
    return kappa_with_interval(estimate, values, ratings.codes[ratings.people_per_unit() >= 2], ratings)


def kappa_with_interval(estimate: Estimate, values: Values, codes: Codes, of: Ratings) -> Estimate:
    """As :func:`~annotation.analysis.statistics.bootstrap.with_interval`, with a remark where few items or
    few of the rarer answers stand behind it.

    Args:
        codes: ``[units, people]`` of ``of``, what the statistic rests on. Of two categories the units' number and
            the weight of the rarer answer (its share of the answers, times the units) are looked at; of more the
            units' number alone, as everywhere.
    """
    units = len(codes)
    two_way = len(of.categories) == 2
    found = with_interval(estimate, values, None if two_way and units < LEAST_ITEMS else units, f"{of.unit}s")
    if not two_way or found.low is None:
        return found
    given = codes[codes >= 0]
    yes = float((given == 1).mean()) if len(given) else 0.0
    rarer = min(yes, 1 - yes) * units
    if units < LEAST_ITEMS:
        said = f"only {units} {of.unit}s: {_TOO_LOW}"
    elif rarer < LEAST_RARER:
        # Not the units with a rare answer among theirs: of nine people one slip is enough for that.
        said = f"rarer answer on only ≈ {rarer:.1f} of {units:,} {of.unit}s: {_TOO_LOW}"
    else:
        return found
    return replace(found, reason="; ".join(filter(None, (found.reason, said))))
