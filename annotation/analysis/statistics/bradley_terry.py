"""How strong methods are by what people prefer: Bradley and Terry's model, around a mean of 0, ties half.

Two numbers for each method: the model as it is, by evalica, and with a term for what stood first, which takes out what
people give to a side. Intervals are over draws of questions or of people.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import Estimate, Options, Strength
from annotation.analysis.statistics.answer_rows import Meetings, Values, drawn_sums, over_draws
from annotation.analysis.statistics.bradley_terry_fit import fit
from annotation.analysis.statistics.method_order import rank_estimate, ranks
from annotation.analysis.statistics.shares import share

# evalica stops when strengths change by less; its own default leaves errors of 1e-6.
_TOLERANCE = 1e-14
_LIMIT = 100_000
_NAMED = 5      # of the methods left out
_NO_FIT = ("too lopsided to fit",
           "no finite strength: preferences always follow the position, or a method was always shown in the same "
           "position")      # without and with a term for the side


def strengths(met: Meetings, options: Options) -> tuple[Strength, ...]:
    """All methods that met another one, the strongest first; those without a strength come last."""
    if not met.methods:
        return ()
    values, places = _estimates(met, options, sides=False)
    adjusted, _ = _estimates(met, options, sides=True)
    ratings = _mean_ratings(met, options)
    found = []
    for method, name in enumerate(met.methods):
        won = ((met.one == method) & (met.preferred == 1)) | ((met.two == method) & (met.preferred == 2))
        decided = ((met.one == method) | (met.two == method)) & (met.preferred != 0)
        found.append(Strength(name, values[method], adjusted[method], ratings[method],
                              share(int(won.sum()), int(decided.sum())), places[method]))
    return tuple(sorted(found, key=lambda one: (one.value.value is None, -(one.value.value or 0.0),
                                                -(one.win_rate.value or 0.0), one.method)))


def bradley_terry(wins: Values) -> Values:
    """(methods,): logarithms of strengths around a mean of 0.

    Args:
        wins: (methods, methods), of the row's method over the column's, half a win of each for a tie; a chain of wins
            must lead from each to each other one.
    """
    from evalica import Winner
    from evalica import bradley_terry as by_evalica

    winners, losers = np.nonzero(wins)
    found = by_evalica(winners.tolist(), losers.tolist(), [Winner.X] * len(winners),
                       weights=wins[winners, losers].tolist(), tolerance=_TOLERANCE, limit=_LIMIT)
    strength = np.log(found.scores.reindex(range(len(wins))).to_numpy(float))
    around: Values = strength - strength.mean()
    return around


def with_side(won: Values, lost: Values) -> Values:
    """(methods,): the same with a term for what stood first: a logistic regression without penalty.

    Args:
        won: (methods, methods), answers the row's method won where it stood first and the column's second.
        lost: likewise, those it lost.
    """
    import statsmodels.api as sm

    cells = [np.column_stack([*np.nonzero(counts), np.full(np.count_nonzero(counts), outcome)])
             for counts, outcome in ((won, 1), (lost, 0))]
    first, second, outcome = np.concatenate(cells).T
    rows = np.arange(len(outcome))
    design = np.zeros((len(rows), len(won) + 1))
    design[rows, first] += 1
    design[rows, second] -= 1
    design[:, len(won)] = 1
    weight = np.concatenate([won[won > 0], lost[lost > 0]])
    # The first method is the one that others are measured by.
    found = sm.GLM(outcome, design[:, 1:], family=sm.families.Binomial(), freq_weights=weight).fit(
        tol=1e-14, maxiter=200)
    strength = np.concatenate([[0.0], found.params[:-1]])
    around: Values = strength - strength.mean()
    return around


def _estimates(met: Meetings, options: Options, *, sides: bool) -> tuple[list[Estimate], list[Estimate]]:
    """Strengths, and ranks among those that have one."""
    side, winner, loser, value = met.preferences()
    known = side < 2
    count = len(met.methods)
    if sides and not known.any():
        return [Estimate(None, 0, reason="which set was shown first was not recorded")] * count, []
    wins = np.zeros((3, count, count))
    np.add.at(wins, (side, winner, loser), value)
    core, reasons = _linked(wins[:2].sum(axis=0) if sides else wins.sum(axis=0))
    strength = np.full(count, np.nan)
    if len(core):
        of_core = wins[:, core][:, :, core]
        if np.isnan(fit(of_core[None], sides=sides)).any():
            for method in core:
                reasons[method] = _NO_FIT[sides]
            core = core[:0]
        elif sides:
            strength[core] = with_side(of_core[0], of_core[1].T)
        else:
            strength[core] = bradley_terry(of_core.sum(axis=0))
    fitted = np.isin(met.one, core) & np.isin(met.two, core) & (met.first > 0 if sides else True)
    answers = np.bincount(np.concatenate([met.one[fitted], met.two[fitted]]), minlength=count)
    drawn = _drawn(met, core, options, sides=sides)
    found = [Estimate(None, 0, reason=reason) for reason in reasons]
    order, placed = list(found), ranks(drawn)
    left_out = _left_out([name for method, name in enumerate(met.methods) if method not in core])
    for place, method in enumerate(core):
        estimate = Estimate(float(strength[method]), int(answers[method]), reason=left_out)
        found[method] = over_draws(estimate, drawn[:, place], met.unit[fitted], options)
        order[method] = rank_estimate(1 + int((strength[core] > strength[method]).sum()), placed[:, place], len(core))
    return found, order


def _left_out(names: list[str]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"the fit leaves out {', '.join(names[:_NAMED])}{more}"


def _linked(wins: Values) -> tuple[NDArray[np.int64], list[str]]:
    """The largest group of methods in which chains of wins lead from each to each other one, none where two are as
    large; and for each method why it would have no strength."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    count = len(wins)
    graph = csr_array(wins > 0)
    parts, met_group = connected_components(graph, connection="weak")
    _, group = connected_components(graph, connection="strong")
    sizes = np.bincount(group)
    largest = np.flatnonzero(sizes == sizes.max())
    alone = len(largest) > 1 or sizes.max() < 2
    core = np.empty(0, np.int64) if alone else np.flatnonzero(group == largest[0])
    reasons = []
    for method in range(count):
        won, lost = wins[method].sum(), wins[:, method].sum()
        if not won + lost:
            reasons.append("which set was shown first was not recorded for its comparisons")
        elif not lost:
            reasons.append("never lost: strength unbounded")
        elif not won:
            reasons.append("never won: strength unbounded")
        elif parts > 1 and (alone or met_group[method] != met_group[core[0]]):
            reasons.append("some methods are not connected by comparisons, so their strengths cannot be compared")
        else:
            reasons.append("some methods never lost to the others, so their strengths cannot be compared")
    return core, reasons


def _drawn(met: Meetings, core: NDArray[np.int64], options: Options, *, sides: bool) -> Values:
    """(draws, methods of the core)."""
    count = len(core)
    if not count or not options.draws:
        return np.empty((0, count))
    place = np.full(len(met.methods), -1)
    place[core] = range(count)
    side, winner, loser, value = met.preferences()
    inside = (place[winner] >= 0) & (place[loser] >= 0)
    column = (side * count + place[winner]) * count + place[loser]
    unit = np.concatenate([met.unit, met.unit])
    batches = drawn_sums(unit[inside], column[inside], value[inside], met.units, 3 * count * count, options)
    return np.concatenate([fit(sums.reshape(-1, 3, count, count), sides=sides) for sums in batches])


def _mean_ratings(met: Meetings, options: Options) -> list[Estimate]:
    count = len(met.methods)
    method = np.concatenate([met.one, met.two])
    rating = np.concatenate([met.ratings[:, 0], met.ratings[:, 1]])
    rated = np.bincount(method, minlength=count)
    mean = np.bincount(method, rating, count) / rated
    drawn = np.empty((0, count))
    unit = np.concatenate([met.unit, met.unit])
    if options.draws:
        column = np.concatenate([method, method + count])
        value = np.concatenate([rating, np.ones(len(rating))])
        sums = np.concatenate(list(drawn_sums(np.tile(unit, 2), column, value, met.units, 2 * count, options)))
        with np.errstate(invalid="ignore"):     # 0 / 0: a draw without this method is nan
            drawn = sums[:, :count] / sums[:, count:]
    return [over_draws(Estimate(float(mean[one]), int(rated[one])), drawn[:, one], unit[method == one], options)
            for one in range(count)]
