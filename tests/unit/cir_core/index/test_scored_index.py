"""Exact search by a combined score: the same guarantees as by a plain one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cir_core.errors import EncoderMismatch, SearchError, UnknownImage
from cir_core.index import scoring
from cir_core.index.flat import FlatIndex
from cir_core.index.scoring import CombinedScores, Products
from cir_core.methods.guidance import Aspect, Guidance, guided_score
from cir_core.methods.soft_filter import SoftScore
from cir_core.types.records import SoftFilter
from tests.fakes.encoder import FakeEncoder

MODES = ("both", "reward", "penalty")


def units(n, dim, seed=7):
    rows = np.random.default_rng(seed).standard_normal((n, dim))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def named(features):
    return FlatIndex(features, [f"{row:05}" for row in range(len(features))])


def rank_scored(index, score, image_id, exclude=()):
    return index.search_and_rank_scored([score], 1, exclude, [image_id])[0][1][0]


def as_printed(features, vectors, soft_filter):
    """Eq. 1 and 2 in double precision, rounded once at the end."""
    s, r, p = (features.astype(np.float64) @ vectors.astype(np.float64).T).T
    filtered = {"both": s * (r + 1 - p) / 2, "reward": s * r, "penalty": s * (1 - p)}[soft_filter.mode]
    weight = soft_filter.weight
    return np.where(s < 0, s, (1 - weight) * s + weight * filtered).astype(np.float32)


def sorted_ids(scores, exclude=()):
    order = sorted(range(len(scores)), key=lambda row: (-scores[row], row))
    return [f"{row:05}" for row in order if f"{row:05}" not in exclude]


@settings(max_examples=60, deadline=None)
@given(
    # Few different values, so that ties are everywhere; scores of both signs.
    arrays(np.int8, st.tuples(st.integers(1, 30), st.just(3)), elements=st.integers(-2, 2)),
    arrays(np.int8, (3, 3), elements=st.integers(-2, 2)),
    st.integers(1, 35), st.sets(st.integers(0, 29)), st.floats(0, 1) | st.sampled_from([0.0, 1e-40, 0.5, 1.0]),
    st.sampled_from(MODES),
)
def test_lists_and_ranks_are_those_of_a_plain_sort(features, vectors, k, hidden, weight, mode):
    features, vectors = features.astype(np.float32), vectors.astype(np.float32)
    index, score = named(features), SoftScore(vectors, SoftFilter(weight, mode))
    exclude = {f"{row:05}" for row in hidden}
    scores = as_printed(features, vectors, score.soft_filter)
    expected = sorted_ids(scores, exclude)
    hits = index.search_scored(score, k, exclude)
    assert [hit.image_id for hit in hits] == expected[:k]
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert [hit.score for hit in hits] == [scores[int(hit.image_id)] for hit in hits]
    for rank, image_id in enumerate(expected, start=1):
        assert rank_scored(index, score, image_id, exclude) == rank


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("weight", [0.2, 1.0])
def test_lists_and_ranks_on_real_numbers_with_copies(mode, weight):
    features = np.concatenate([units(2000, 96), units(30, 96), units(2000, 96)[:50]])  # 50 are there twice
    index = named(features)
    vectors = units(3, 96, seed=3)
    vectors[1:] *= np.array([[0.6], [0.3]], dtype=np.float32)  # a mean of several texts is shorter
    score = SoftScore(vectors, SoftFilter(weight, mode))
    scores = as_printed(features, vectors, score.soft_filter)
    hits = index.search_scored(score, len(features))
    # No score, no place differs from a sort of the whole gallery, copies in gallery order.
    assert [hit.image_id for hit in hits] == sorted_ids(scores)
    assert [hit.score for hit in hits] == [scores[int(hit.image_id)] for hit in hits]
    for k in (1, 7, 60):
        assert index.search_scored(score, k) == hits[:k]
    for hit in hits[::41]:
        assert rank_scored(index, score, hit.image_id) == hit.rank
    exclude = [hit.image_id for hit in hits[:5]]
    assert [hit.image_id for hit in index.search_scored(score, 20, exclude)] == [
        hit.image_id for hit in hits[5:25]]
    assert rank_scored(index, score, hits[30].image_id, exclude) == 26


def test_near_ties_that_single_precision_would_swap():
    """Images that differ from each other by less than the error of a single-precision product."""
    rng = np.random.default_rng(5)
    base = units(1, 512, seed=1)
    features = base + rng.standard_normal((800, 512)).astype(np.float32) * np.float32(2e-8)
    vectors = np.concatenate([base, units(2, 512, seed=2)])
    for mode in MODES:
        for weight in (0.0, 0.3, 1.0):
            score = SoftScore(vectors, SoftFilter(weight, mode))
            expected = sorted_ids(as_printed(features, vectors, score.soft_filter))
            index = named(features)
            assert [hit.image_id for hit in index.search_scored(score, 40)] == expected[:40]
            for rank in (1, 20, 500):
                assert rank_scored(index, score, expected[rank - 1]) == rank


@pytest.mark.parametrize("mode", MODES)
def test_lambda_zero_is_the_base_search_to_the_last_bit(mode):
    # Ties by copies, images on the other side of the query and one at right angles to it.
    rows = units(300, 32)
    features = np.concatenate([rows, rows[:40], -rows[:40], np.zeros((1, 32), np.float32)])
    index = named(features)
    query = units(1, 32, seed=4)[0]
    score = SoftScore(np.stack([query, *units(2, 32, seed=5)]), SoftFilter(0.0, mode))
    base = index.search(query, len(features))
    assert base[-1].score < 0 and len({hit.score for hit in base}) < len(base) - 30
    assert index.search_scored(score, len(features)) == base
    for hit in base[::17]:
        assert rank_scored(index, score, hit.image_id) == hit.rank


def test_the_fast_pass_stays_within_the_bound():
    features = units(4000, 200)
    index = named(features)
    for seed in range(3):
        vectors = units(3, 200, seed=seed)
        for mode in MODES:
            for weight in (0.0, 1e-30, 0.5, 1.0):
                score = SoftScore(vectors, SoftFilter(weight, mode))
                fast = score.combine(features @ vectors.T)
                exact = score.combine(features.astype(np.float64) @ vectors.astype(np.float64).T)
                bound = score.error(index._products.errors(vectors), index._products.sizes(vectors))
                assert np.abs(fast - exact).max() <= bound < 1e-3


def test_what_cannot_be_searched_says_why():
    index = named(units(4, 3))
    score = SoftScore(units(3, 3), SoftFilter())
    with pytest.raises(SearchError, match="k is 0"):
        index.search_scored(score, 0)
    with pytest.raises(UnknownImage, match="'z'"):
        rank_scored(index, score, "z")
    with pytest.raises(SearchError, match="excluded"):
        rank_scored(index, score, "00001", ["00001"])
    with pytest.raises(EncoderMismatch, match="2 dimensions, the gallery 3"):
        index.search_scored(SoftScore(units(3, 2), SoftFilter()), 1)
    with pytest.raises(SearchError, match="not finite"):
        index.search_scored(SoftScore(np.full((3, 3), np.nan, np.float32), SoftFilter()), 1)
    assert index.search_scored(score, 5, ["00000", "00001", "00002", "00003"]) == []


@pytest.mark.parametrize("hidden", [(), ("image 3",), ("image 7", "image 1")])
def test_hits_and_the_rank_of_one_come_from_one_pass(hidden):
    rng = np.random.default_rng(3)
    features = units(40, 12, seed=5)
    ids = [f"image {row}" for row in range(40)]
    index = FlatIndex(features, ids)
    query = units(1, 12, seed=9)[0]
    sides = units(2, 12, seed=int(rng.integers(99)))
    score = SoftScore(np.stack([query, *sides]), SoftFilter(0.7))
    # "image 7" is hidden from the hits in one case and still has the rank it would have.
    others = [image_id for image_id in hidden if image_id != "image 7"]
    assert index.search_and_rank(query, 9, hidden, "image 7") == (
        index.search(query, 9, hidden), index.ranks_of_many([query], [7], [index.rows_of(others)])[0])
    assert index.search_and_rank(score, 9, hidden, "image 7") == (
        index.search_scored(score, 9, hidden), rank_scored(index, score, "image 7", others))


@pytest.mark.parametrize("hidden", [(), ("00003", "00011")])
def test_hits_and_several_ranks_come_from_one_pass(hidden, monkeypatch):
    index = named(units(40, 12, seed=5))
    score = SoftScore(units(3, 12, seed=9), SoftFilter(0.7))
    every = [hit.image_id for hit in index.search_scored(score, 40, hidden)]
    asked = [every[30], every[0], every[7]]
    hits = index.search_scored(score, 9, hidden)
    passes, fast = [], CombinedScores.fast
    monkeypatch.setattr(CombinedScores, "fast", lambda scored: passes.append(scored) or fast(scored))
    assert index.search_and_rank_scored([score], 9, hidden, asked) == [(hits, (31, 1, 8))] and len(passes) == 1
    assert index.search_and_rank_scored([score], 9, hidden, ()) == [(hits, ())]


def test_weights_of_one_query_share_its_products(monkeypatch):
    index, vectors = named(units(300, 8)), units(3, 8, seed=1)
    scores = [SoftScore(vectors, SoftFilter(weight, mode)) for weight in (0.0, 0.3, 1.0) for mode in MODES]
    asked, hidden = ["00003", "00250"], {"00001"}
    alone = [index.search_and_rank_scored([score], 9, hidden, asked)[0] for score in scores]
    passes, fast = [], Products.fast
    monkeypatch.setattr(Products, "fast", lambda products, vectors: passes.append(1) or fast(products, vectors))
    assert index.search_and_rank_scored(scores, 9, hidden, asked) == alone and len(passes) == 1


WORDS = ("red", "green", "blue", "wide", "narrow")


def guided(query, *, aspects=1, asked=0.5, temperature=0.1, wanted=("red",), others=("green", "blue")):
    parts = (Aspect("colour", "red", wanted, others, turn=1), Aspect("size", "wide", ("wide",), ("narrow",)))
    return guided_score(query, parts[:aspects], Guidance(asked, 0.1, temperature=temperature), FakeEncoder())


@pytest.mark.parametrize("change", [
    {}, {"aspects": 2}, {"asked": 1.6}, {"temperature": 0.05}, {"wanted": ("green",), "others": ("red", "blue")},
    {"wanted": ("red", "green"), "others": ("blue",)}, {"wanted": ("blue", "red"), "others": ("green",)},
])
def test_parts_kept_from_earlier_searches_change_nothing(change):
    dim = FakeEncoder().dim
    features, queries = units(300, dim), units(2, dim, seed=3)
    warm = named(features)
    for aspects in (1, 2):
        warm.search_scored(guided(queries[0], aspects=aspects), 5)
    for query in queries:
        score = guided(query, **change)
        assert warm.search_scored(score, 300) == named(features).search_scored(score, 300)
        assert warm.search_and_rank(score, 9, (), "00042") == named(features).search_and_rank(score, 9, (), "00042")


def test_a_later_search_multiplies_by_its_query_alone(monkeypatch):
    dim, widths, fast = FakeEncoder().dim, [], Products.fast
    index, [first, second] = named(units(50, dim)), units(2, dim, seed=3)
    monkeypatch.setattr(Products, "fast", lambda one, vectors: widths.append(len(vectors)) or fast(one, vectors))
    for query, aspects in ((first, 1), (second, 1), (second, 2)):
        index.search_scored(guided(query, aspects=aspects), 5)
    assert widths == [1 + 3, 1, 1 + 2]


def test_what_is_kept_is_bounded(monkeypatch):
    rows = 1000
    monkeypatch.setattr(scoring, "_KEPT", 2 * 4 * rows)   # two parts of float32
    index, query = named(units(rows, FakeEncoder().dim)), units(1, FakeEncoder().dim, seed=3)[0]
    for wanted in WORDS[:3]:
        index.search_scored(guided(query, aspects=2, wanted=(wanted,), others=WORDS[3:]), 5)
    assert index._products._kept.currsize <= 2 * 4 * rows
    monkeypatch.setattr(scoring, "_KEPT", 4 * rows - 1)   # none fits
    small = named(units(rows, FakeEncoder().dim))
    assert small.search_scored(guided(query), 5) == index.search_scored(guided(query), 5)
    assert not small._products._kept
