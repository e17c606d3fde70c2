"""Near-duplicates fold under the best-ranked image; nothing is lost and ranks stay."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cir_core.errors import SearchError
from cir_core.index.near_duplicates import fold, folded_page
from cir_core.types.records import Hit


def hits(count):
    return [Hit(f"i{n}", 1 - n / 1000, n + 1) for n in range(count)]


def on_a_circle(*degrees):
    angles = np.radians(degrees)
    return np.column_stack([np.cos(angles), np.sin(angles)]).astype(np.float32)


def names(folds):
    return [(one.hit.image_id, [hit.image_id for hit in one.similar]) for one in folds]


def test_an_image_folds_under_the_best_one_that_it_resembles():
    # cos 20° = 0.94, cos 40° = 0.77: the third resembles the second alone, which is folded itself.
    assert names(fold(hits(4), on_a_circle(0, 20, 40, 180), 0.9)) == [("i0", ["i1"]), ("i2", []), ("i3", [])]


def test_copies_fold_at_one():
    vectors = np.random.default_rng(0).normal(size=(3, 192)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert names(fold(hits(5), vectors[[0, 1, 0, 2, 0]], 1.0)) == [("i0", ["i2", "i4"]), ("i1", []), ("i3", [])]


@given(st.lists(st.integers(0, 359), min_size=0, max_size=40), st.floats(0.5, 1))
def test_every_image_is_there_once_in_its_order(degrees, at):
    given_hits = hits(len(degrees))
    folds = fold(given_hits, on_a_circle(*degrees), at)
    assert sorted((hit for one in folds for hit in (one.hit, *one.similar)), key=lambda hit: hit.rank) == given_hits
    assert [one.hit.rank for one in folds] == sorted(one.hit.rank for one in folds)
    vectors = dict(zip(given_hits, on_a_circle(*degrees).astype(float), strict=True))
    for one in folds:
        assert all(vectors[one.hit] @ vectors[hit] >= at - 1e-5 for hit in one.similar)


def test_a_page_stays_full():
    ranking, vectors = hits(60), on_a_circle(*[6 * (n // 5) * 5 for n in range(60)])   # twelve places, five copies each
    rows = {hit.image_id: vector for hit, vector in zip(ranking, vectors, strict=True)}
    asked = []

    def ranked(k):
        asked.append(k)
        return ranking[:k]

    page = folded_page(ranked, lambda ids: np.stack([rows[i] for i in ids]), 10, 0.99)
    assert [(one.hit.rank, len(one.similar)) for one in page] == [(1 + 5 * n, 4) for n in range(10)]
    assert asked == [40, 1000]   # eight places are in the first forty


def test_a_fold_has_nothing_from_below_its_page():
    ranking, vectors = hits(4), on_a_circle(0, 90, 180, 0)
    rows = {hit.image_id: vector for hit, vector in zip(ranking, vectors, strict=True)}
    page = folded_page(lambda k: ranking[:k], lambda ids: np.stack([rows[i] for i in ids]), 2, 0.99)
    assert names(page) == [("i0", []), ("i1", [])]   # the copy ranks below the third image, which begins the next page


@pytest.mark.parametrize("at", [0.2, 1.5, float("nan")])
def test_a_threshold_out_of_range_is_refused(at):
    with pytest.raises(SearchError, match=r"0\.5 to 1"):
        folded_page(lambda k: hits(3), lambda ids: on_a_circle(0, 1, 2), 3, at)
