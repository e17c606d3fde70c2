"""Every statistic of every draw equals the plain loop: units repeated as often as drawn, given to the library."""

from itertools import combinations
from unittest.mock import patch

import evalica
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa

from annotation.analysis.statistics import agreement as module
from annotation.analysis.statistics.agreement import agreement_draws, statistics_of
from annotation.analysis.statistics.bootstrap import interval, weights
from annotation.analysis.statistics.coefficients.fleiss import FLEISS, fleiss
from annotation.analysis.statistics.coefficients.krippendorff import ALPHA, krippendorff
from annotation.analysis.statistics.matrix import Ratings
from annotation.analysis.statistics.shares import positive_rate, unanimous

PAIRS = tuple(combinations(range(4), 2))
SEED = 4


def made(seed, units, categories, missing, people=4, first=0.5):
    """People who share a leaning, so that there is agreement to find. ``first``: how often they just say 0."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, categories, (units, people)).astype(np.int16)
    table[:, 1:] = np.where(rng.random((units, people - 1)) < 0.5, table[:, :1], table[:, 1:])
    table[rng.random(table.shape) < first] = 0
    table[rng.random(table.shape) < missing] = -1
    return Ratings(table, tuple(map(str, range(categories))))


def samples(codes, draws):
    for often in np.concatenate(list(weights(len(codes), draws, SEED))).astype(int):
        yield np.repeat(codes, often, axis=0)


def of(draws, name):
    return draws.pooled[name] if name in draws.pooled else getattr(draws, name)


def loop(ratings, pairs, draws, undefined, scale):
    """The libraries on the repeated rows, guarded where they give nan, 1.0 or an exception for what means nothing.
    Agreement takes samples of the units with two answers or more, the rate of those with any."""
    alone = np.nan if undefined == "null" else 1.0
    categories = len(ratings.categories)
    people = (ratings.codes >= 0).sum(axis=1)
    numbers = range(2, ratings.codes.shape[1] + 1)
    each = max(numbers, key=lambda number: (sum(people == number), number)) if (people >= 2).any() else 0
    found = {name: [] for name in ("positive_rate", FLEISS.key, ALPHA.key, "unanimous", "kappas", "agreements")}
    for codes in samples(ratings.codes[people >= 1], draws):
        found["positive_rate"].append(
            (codes == 1).sum() / (codes >= 0).sum() if categories == 2 and (codes >= 0).any() else np.nan)
    for codes in samples(ratings.codes[people >= 2], draws):
        given, answers = codes >= 0, (codes >= 0).sum(axis=1)
        paired = codes[answers >= 2]
        if not len(paired):
            found[ALPHA.key].append(np.nan)
            found["unanimous"].append(np.nan)
        else:
            found["unanimous"].append(np.mean([len(set(row[row >= 0])) == 1 for row in paired]))
            one_alone = len(set(paired[paired >= 0])) == 1
            table = pd.DataFrame(np.where(paired < 0, np.nan, paired).T)
            found[ALPHA.key].append(alone if one_alone else evalica.alpha(table, distance=scale).alpha)
        uses = np.array([np.bincount(row[row >= 0], minlength=categories) for row in codes[answers == each]])
        if each < 2 or not len(uses):
            found[FLEISS.key].append(np.nan)
        else:
            found[FLEISS.key].append(alone if (uses.sum(axis=0) > 0).sum() == 1 else fleiss_kappa(uses))
        kappas, agreements = [], []
        for a, b in pairs:
            one, other = codes[given[:, a] & given[:, b]][:, [a, b]].T
            agreements.append(np.mean(one == other) if len(one) else np.nan)
            if not len(one):
                kappas.append(np.nan)
            elif len({*one, *other}) == 1:
                kappas.append(alone)
            else:
                kappas.append(cohen_kappa_score(one, other, labels=range(categories)))
        found["kappas"].append(kappas)
        found["agreements"].append(agreements)
    return {name: np.array(values, dtype=float) for name, values in found.items()}


def same(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("undefined", ["null", "one"])
@pytest.mark.parametrize(("ratings", "scale"), [
    (made(1, 30, 2, 0.0), "nominal"),
    (made(2, 30, 2, 0.4), "nominal"),
    (made(9, 12, 2, 0.5, first=0.7), "nominal"),     # kappas and alphas that some draws leave undefined
    (made(4, 30, 5, 0.3), "nominal"),
    (made(5, 30, 5, 0.3), "ordinal"),
    (made(5, 8, 5, 0.5, first=0.7), "ordinal"),
    (made(7, 40, 60, 0.3), "nominal"),                # signatures
], ids=["complete", "missing", "sparse", "five", "ordinal", "sparse ordinal", "signatures"])
def test_equal_to_the_loop_over_libraries(ratings, scale, undefined):
    ours = agreement_draws(ratings, PAIRS, 40, SEED, scale=scale, undefined=undefined)
    theirs = loop(ratings, PAIRS, 40, undefined, scale)
    for name, values in theirs.items():
        if name not in (FLEISS.key, ALPHA.key) or name in ours.pooled:     # Fleiss' kappa has no ordinal form
            same(of(ours, name), values)
    with pytest.MonkeyPatch.context() as patched:   # several batches and blocks of pairs give the same
        patched.setattr(module, "_AT_ONCE", 100)
        again = agreement_draws(ratings, PAIRS, 40, SEED, scale=scale, undefined=undefined)
    for name in (*ours.pooled, "positive_rate", "unanimous", "kappas", "agreements"):
        same(of(again, name), of(ours, name))
    defined = ~np.isnan(theirs["kappas"])
    for k in range(40):
        mean = theirs["kappas"][k][defined[k]].mean() if defined[k].any() else np.nan
        same(ours.mean_kappa[k], mean)
        same(ours.mean_agreement[k], np.nanmean(theirs["agreements"][k]))


def test_there_are_draws_that_leave_something_undefined():
    """Or the test above would not say that they are treated rightly."""
    sparse = made(9, 12, 2, 0.5, first=0.7)
    draws = agreement_draws(sparse, PAIRS, 40, SEED)
    assert np.isnan(draws.kappas).any()
    assert not np.isnan(draws.kappas).all()
    assert np.isnan(draws.pooled[ALPHA.key]).any()
    assert not np.isnan(draws.pooled[ALPHA.key]).all()
    assert (agreement_draws(sparse, PAIRS, 40, SEED, undefined="one").kappas == 1).any()


def test_single_answers_do_not_thin_out_the_shared_units():
    """However many units one person judged alone, a sample has as many shared ones as there are."""
    shared = made(8, 12, 2, 0.0)
    alone = np.full((500, 4), -1, dtype=np.int16)
    alone[:, 0] = np.arange(500) % 2
    both = Ratings(np.concatenate([alone, shared.codes]), shared.categories)
    ours, mixed = (agreement_draws(ratings, PAIRS, 50, SEED) for ratings in (shared, both))
    shared_only = [one.key for one in statistics_of("nominal") if not one.single_answers]
    for name in (*shared_only, "unanimous", "kappas", "agreements", "mean_kappa", "mean_agreement"):
        same(of(mixed, name), of(ours, name))
    # The rate is of all 548 answers: of a share near 1/2 it spreads by √(.25 / 548) = .02, not by .07 as of 48.
    assert mixed.positive_rate.std() < 0.04 < ours.positive_rate.std()


def test_without_kappas_all_else_stays():
    ratings = made(9, 30, 60, 0.3)
    ours, full = (agreement_draws(ratings, PAIRS, 20, SEED, kappas=kappas) for kappas in (False, True))
    assert ours.kappas.shape == (20, 6)
    assert np.isnan(ours.kappas).all()
    assert np.isnan(ours.mean_kappa).all()
    same(ours.agreements, full.agreements)
    same(ours.pooled[ALPHA.key], full.pooled[ALPHA.key])


def test_a_draw_of_everything_once_is_the_point_estimate():
    ratings = made(10, 50, 2, 0.2)
    with patch.object(module, "weights", lambda units, *_, **__: iter([np.ones((1, units))])):
        draws = agreement_draws(ratings, PAIRS, 1, SEED)
    for values, point in ((draws.positive_rate, positive_rate(ratings)),
                          (draws.pooled[FLEISS.key], fleiss(ratings)),
                          (draws.pooled[ALPHA.key], krippendorff(ratings, "nominal")),
                          (draws.unanimous, unanimous(ratings))):
        same(values[0], point.value)


@pytest.mark.parametrize(("units", "people", "categories"), [(0, 3, 2), (4, 0, 2), (0, 0, 0), (5, 1, 2), (3, 2, 1)])
def test_nothing_to_draw_from_is_undefined_everywhere(units, people, categories):
    ratings = Ratings(np.full((units, people), -1, dtype=np.int16), tuple(map(str, range(categories))))
    pairs = tuple(combinations(range(people), 2))
    draws = agreement_draws(ratings, pairs, 7, SEED, undefined="one")
    for name in ("positive_rate", "unanimous", "mean_kappa", "mean_agreement"):
        values = getattr(draws, name)
        assert values.shape == (7,)
        assert np.isnan(values).all()
    assert draws.kappas.shape == draws.agreements.shape == (7, len(pairs))


def test_no_draws():
    draws = agreement_draws(made(1, 10, 2, 0), PAIRS, 0, SEED)
    assert draws.pooled[ALPHA.key].shape == (0,)
    assert draws.kappas.shape == (0, 6)


def test_items_are_what_varies():
    """People who agree on easy items and not on hard ones: pairs of answers within an item come together. An interval
    that draws pairs of answers one by one takes them for independent and is too narrow."""
    rng = np.random.default_rng(5)
    hard = rng.random(60) < 0.5
    table = np.where(hard[:, None], rng.integers(0, 2, (60, 8)), rng.integers(0, 2, (60, 1))).astype(np.int16)
    ratings = Ratings(table, ("no", "yes"))
    low, high, _ = interval(agreement_draws(ratings, (), 1000, SEED).pooled[ALPHA.key])
    narrow = evalica.alpha_bootstrap(pd.DataFrame(table.T.astype(float)), n_resamples=1000, random_state=1)
    assert high - low > 1.5 * (narrow.high - narrow.low)
