"""Correlation and preference rates of each metric of a preference study. Recall@k of the shown sets, with which
CIRQRS compares metrics. Pairwise comparison of methods (:mod:`annotation.kinds.preference.method_results`) with
bootstrap intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.analysis.records import Estimate, MetricScores, MetricTest, Options, Strength
from annotation.analysis.statistics.answer_rows import AnswerRows, Meetings, Values, drawn_sums, over_draws
from annotation.analysis.statistics.correlation import RatedSets, compare_metrics, kendall, shapiro, spearman
from annotation.analysis.statistics.method_order import predicted
from annotation.analysis.statistics.rates import RATES, Compared
from annotation.analysis.statistics.shares import share
from annotation.kinds.preference.answers import RATINGS
from annotation.kinds.preference.hp_fashioniq import KEPT
from annotation.kinds.preference.method_results import PairResult, method_results
from annotation.kinds.preference.report.records import MethodPair, MetricReport
from annotation.records import Item, Judgement
from cir_core.errors import StudyError
from cir_core.support.texts import quoted

_PARTS = 5
_LEVEL, _POWER = 0.05, 0.8


def rated_sets(rows: AnswerRows, metric: MetricScores, options: Options) -> RatedSets:
    """Two rows per answer."""
    return RatedSets(rows.unit(options.resample).repeat(2), rows.ratings.ravel(), rows.scores(metric).ravel())


def compared(rows: AnswerRows, metric: MetricScores, recall: MetricScores | None, options: Options) -> Compared:
    """Answers without a tie. ``recall``: for equation 9."""
    decided = rows.preferred != 0
    scores, recalls = rows.scores(metric)[decided], rows.scores(recall)[decided]
    return Compared(rows.unit(options.resample)[decided], rows.preferred[decided], scores[:, 0], scores[:, 1],
                    rows.first[decided], recalls[:, 0], recalls[:, 1])


def metric_report(
    rows: AnswerRows, metric: MetricScores, recall: MetricScores | None, options: Options
) -> MetricReport:
    sets, answers, units = (rated_sets(rows, metric, options), compared(rows, metric, recall, options),
                            rows.units(options.resample))
    return MetricReport(
        metric.name, metric.description, len(sets.scored.score), shapiro(sets.score), spearman(sets, options, units),
        kendall(sets), {form.key: form(answers, options, units) for form in RATES}, metric.notes,
        ratings_by_value(sets.scored.score, sets.scored.rating))


def ratings_by_value(score: Values, rating: Values) -> tuple[tuple[float, float, tuple[int, ...]], ...]:
    """The rated sets in at most five parts by score, as equal in size as ties allow: least and greatest score of each,
    and how many of its sets are rated 1 to 5. Both are (sets,)."""
    different = np.unique(score)
    if len(different) > _PARTS:
        edges = np.unique(np.quantile(score, np.arange(1, _PARTS) / _PARTS))
        part = np.searchsorted(edges, score, side="left")
    else:
        part = np.searchsorted(different, score)
    return tuple((float(score[part == one].min()), float(score[part == one].max()), likert_counts(rating[part == one]))
                 for one in np.unique(part))


def likert_counts(rating: Values) -> tuple[int, ...]:
    """How many of ``rating`` are 1, 2, 3, 4 and 5."""
    return tuple(int((rating == level).sum()) for level in RATINGS)


def method_ratings(met: Meetings) -> dict[str, tuple[int, ...]]:
    """By method, of answers that compare two methods: how many of its sets are rated 1 to 5."""
    method, rating = np.concatenate([met.one, met.two]), met.ratings.T.ravel()
    return {name: likert_counts(rating[method == place]) for place, name in enumerate(met.methods)}


def metric_tests(rows: AnswerRows, metrics: Sequence[MetricScores], options: Options) -> tuple[MetricTest, ...]:
    """Tests of all pairs of metrics. The permutation unit is the question, independent of the resampling unit."""
    scores: Mapping[str, NDArray[np.float64]] = {one.name: rows.scores(one).ravel() for one in metrics}
    return compare_metrics(list(combinations(scores, 2)), scores, rows.ratings.ravel(), rows.question.repeat(2),
                           options, clusters=rows.unit(options.resample).repeat(2))


def recall_scores(items: Iterable[Item], k: int) -> MetricScores:
    """Share of a question's targets among the first ``k`` images of each set: 0 or 1 with a single target. Questions
    without a known target have no score; notes count them. Raises ``StudyError`` for a ``k`` below 1."""
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise StudyError(f"k of Recall@k must be a whole number from 1, not {quoted(k)}.")
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
        notes.append(f"Questions with a set of fewer than {k} images, all of which recall@{k} counts: {short:,}.")
    return MetricScores(f"recall@{k}", f"Share of a question's targets among the first {k} images of the set.",
                        scores, tuple(notes))


# Sums per pair and replicate: preferences for the first when shown first, all preferences then, the same with the
# second shown first, rating of the first minus that of the second, answers.
_SUMS = 6


def method_pairs(
    items: Iterable[Item], judgements: Sequence[Judgement], paired: Meetings, options: Options
) -> tuple[MethodPair, ...]:
    """Pairs by name. ``paired``: :func:`annotation.analysis.statistics.answer_rows.meetings` of ``judgements``."""
    places = {name: place for place, name in enumerate(paired.methods)}
    count = len(places)
    lower, higher = np.minimum(paired.one, paired.two), np.maximum(paired.one, paired.two)
    met_pairs, pair = np.unique(lower * max(count, 1) + higher, return_inverse=True)
    drawn = _drawn(paired, pair, len(met_pairs), options)
    found = []
    for result in method_results(items, judgements)[1]:
        if result.first == result.second:
            continue
        number = int(np.searchsorted(met_pairs, places[result.first] * count + places[result.second]))
        found.append(_with_intervals(result, paired, pair == number, drawn[:, number], options))
    return tuple(found)


def answers_needed(pair: MethodPair, pairs: int) -> int | None:
    """Answers, ties included, with which the next study finds a preference as strong as this one in four of five
    attempts (power 0.8): two-sided binomial test against one half at 0.05 / ``pairs``, the first step of Holm's
    correction. Normal approximation. None if nothing was preferred."""
    from scipy.stats import norm

    share, decided = pair.first_preferred.value, pair.answers - pair.ties
    if share is None or share == 0.5 or not decided:
        return None
    reach = norm.isf(_LEVEL / pairs / 2) / 2 + norm.ppf(_POWER) * np.sqrt(share * (1 - share))
    return int(np.ceil((reach / (share - 0.5)) ** 2 * pair.answers / decided))


def with_order(pairs: Sequence[MethodPair], methods: Sequence[Strength]) -> tuple[MethodPair, ...]:
    """With what the strengths predict, and Holm's correction of the pairs' tests against one half."""
    from statsmodels.stats.multitest import multipletests

    strength = {one.method: one.value.value for one in methods}
    tested = [pair for pair in pairs if pair.first_preferred.p is not None]
    corrected = multipletests([pair.first_preferred.p for pair in tested], method="holm")[1] if tested else ()
    p_holm = {(pair.first, pair.second): float(p) for pair, p in zip(tested, corrected, strict=True)}
    found = []
    for pair in pairs:
        one, other = strength.get(pair.first), strength.get(pair.second)
        found.append(replace(pair, needed=answers_needed(pair, len(tested)),
                             p_holm=p_holm.get((pair.first, pair.second)),
                             predicted=None if one is None or other is None else predicted(one, other)))
    return tuple(found)


def _with_intervals(
    result: PairResult, paired: Meetings, rows: NDArray[np.bool_], sums: Values, options: Options
) -> MethodPair:
    """``sums``: (draws, 6)."""
    with np.errstate(invalid="ignore"):     # 0 / 0: a replicate without an answer of that kind is nan
        adjusted = (sums[:, 0] / sums[:, 1] + sums[:, 2] / sums[:, 3]) / 2
        difference = sums[:, 4] / sums[:, 5]
    sided = result.first_leading.n + result.second_leading.n
    decided = rows & (paired.preferred != 0) & (paired.first != 0)
    return MethodPair(
        result.first, result.second, result.answers, result.ties, result.first_preferred,
        over_draws(Estimate(result.adjusted, sided, reason=result.unadjusted), adjusted, paired.unit[decided], options,
                   share=True),
        share(int((paired.preferred == paired.first)[decided].sum()), int(decided.sum())),
        over_draws(Estimate(result.mean_difference, result.answers), difference, paired.unit[rows], options))


def _drawn(paired: Meetings, pair: NDArray[Any], pairs: int, options: Options) -> Values:
    """(draws, pairs, 6)."""
    if not options.draws or not pairs:
        return np.empty((0, pairs, _SUMS))
    turned = paired.one > paired.two      # the pair's first, by name, is stored set 2
    first_set = np.where(turned, 2, 1)
    decided = paired.preferred != 0
    led, followed = decided & (paired.first == first_set), decided & (paired.first == 3 - first_set)
    won = paired.preferred == first_set
    difference = np.where(turned, -1, 1) * (paired.ratings[:, 0] - paired.ratings[:, 1])
    values = np.stack([led & won, led, followed & won, followed, difference, np.ones(len(pair))]).astype(np.float64)
    column = pair * _SUMS + np.arange(_SUMS)[:, None]
    batches = drawn_sums(
        np.tile(paired.unit, _SUMS), column.ravel(), values.ravel(), paired.units, pairs * _SUMS, options)
    return np.concatenate([sums.reshape(-1, pairs, _SUMS) for sums in batches])
