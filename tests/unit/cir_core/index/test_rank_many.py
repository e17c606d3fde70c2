"""Ranks of many queries against a plain sort of double-precision products."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cir_core.errors import EncoderMismatch, GalleryError, SearchError, UnknownImage
from cir_core.index import rank_many as engine
from cir_core.index.flat import FlatIndex
from cir_core.index.rank_many import RowQuery, rank_many
from cir_core.index.scoring import CombinedScores, Products
from cir_core.methods.soft_filter import SoftScore
from cir_core.types.records import SoftFilter
from tests.unit.cir_core.index.test_index import units


def indexed(features):
    return FlatIndex(features, [f"{row:06}" for row in range(len(features))])


def sorted_rows(features, query, hidden=()):
    """Every row, best first: the double-precision product rounded to float32, then the row."""
    scores = (features.astype(np.float64) * query.astype(np.float64)).sum(axis=1).astype(np.float32)
    return [row for row in np.lexsort((np.arange(len(features)), -scores)).tolist() if row not in hidden]


def ranked(features, queries, questions, k=0, **how):
    features = np.ascontiguousarray(features, dtype=np.float32)
    found = rank_many(Products(features, range(len(features))), queries, questions, k, **how)
    return [(one.ranks, one.top.tolist()) for one in found]


def expected(features, queries, questions, k):
    lists = [sorted_rows(features, query, set(question.hidden)) for query, question in
             zip(queries, questions, strict=True)]
    return [(tuple(rows.index(target) + 1 for target in question.targets), rows[:k])
            for rows, question in zip(lists, questions, strict=True)]


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_ranks_and_lists_are_those_of_a_plain_sort(data):
    # Few different values, so that ties are everywhere, also across the borders of tiles.
    values = st.integers(-2, 2)
    features = data.draw(arrays(np.int8, st.tuples(st.integers(1, 40), st.just(3)), elements=values))
    queries = data.draw(arrays(np.int8, st.tuples(st.integers(1, 6), st.just(3)), elements=values))
    features, queries = features.astype(np.float32), queries.astype(np.float32)
    rows = st.integers(0, len(features) - 1)
    questions = []
    for _ in queries:
        hidden = data.draw(st.sets(rows))
        seen = [row for row in range(len(features)) if row not in hidden]
        targets = data.draw(st.lists(st.sampled_from(seen), max_size=4)) if seen else []
        questions.append(RowQuery(tuple(targets), frozenset(hidden)))
    k = data.draw(st.integers(0, 45))
    how = {"block": data.draw(st.integers(1, 7)), "tile": data.draw(st.sampled_from([1, 8, 24, 9999])),
           "threads": data.draw(st.integers(1, 3))}
    assert ranked(features, queries, questions, k, **how) == expected(features, queries, questions, k)


@pytest.fixture(scope="module")
def crowded():
    """3,100 images, 60 of them copies of others that lie in another tile, and queries with 0 to 5
    targets, some of which are copies, less 0 to 3 hidden images."""
    features = units(3100, 64)
    features[3000:3060] = features[:60]
    queries = np.concatenate([units(150, 64, seed=3), features[:30]])
    rng = np.random.default_rng(5)
    questions = []
    for i in range(len(queries)):
        drawn = rng.permutation(3100)[:8].tolist()
        targets = [*drawn[:i % 6], *([3000 + i % 60] if i % 6 == 5 else [])]
        questions.append(RowQuery(targets, [row for row in drawn[5:5 + i % 4] if row not in targets]))
    return features, queries, questions


def test_many_targets_exclusions_and_copies(crowded):
    assert ranked(*crowded, 25) == expected(*crowded, 25)


@pytest.mark.parametrize("how", [
    {"block": 1}, {"block": 7, "tile": 8}, {"block": 64, "tile": 1000, "threads": 1}, {"threads": 5, "tile": 512},
])
@pytest.mark.parametrize("k", [0, 25, 3100])
def test_blocks_tiles_and_threads_change_nothing(crowded, how, k):
    features, queries, questions = (part[:60] if part is not crowded[0] else part for part in crowded)
    assert ranked(features, queries, questions, k, **how) == ranked(features, queries, questions, k)


def test_single_queries_give_the_same(crowded):
    features, queries, questions = crowded
    index = indexed(features)
    found = index.rank_many(queries, [question.targets for question in questions], k=9,
                            exclude_rows=[question.hidden for question in questions])
    for query, question, one in zip(queries[::9], questions[::9], found[::9], strict=True):
        hidden = [index.ids[row] for row in question.hidden]
        hits = index.search(query, 9, hidden)
        assert [index.ids[row] for row in one.top] == [hit.image_id for hit in hits]
        assert one.scores.tolist() == [hit.score for hit in hits]
        assert one.ranks == tuple(index.rank_of(query, index.ids[row], hidden) for row in question.targets)


def test_near_ties_that_single_precision_would_swap():
    """All images are nearer to each other than the error of a single-precision product, so that
    every one is decided in double precision, and the lists overflow with candidates."""
    rng = np.random.default_rng(5)
    base = units(1, 512, seed=1)
    features = base + rng.standard_normal((2500, 512)).astype(np.float32) * np.float32(2e-8)
    queries = np.concatenate([base, units(2, 512, seed=2)])
    questions = [RowQuery([3, 2499, 1200])] * 3
    assert ranked(features, queries, questions, 4) == expected(features, queries, questions, 4)


def test_a_query_of_zeros_ranks_in_gallery_order():
    # Every score is 0: rank is row + 1, less the hidden rows before it.
    zeros = np.zeros((1, 4), dtype=np.float32)
    assert ranked(units(3000, 4), zeros, [RowQuery([0, 10, 2999], [5])], 7) == [
        ((1, 10, 2999), [0, 1, 2, 3, 4, 6, 7])]


def test_pairs_are_the_digits_of_exact():
    features, vectors = units(900, 100), units(40, 100, seed=2)
    products = Products(features, range(900))
    rng = np.random.default_rng(1)
    which, rows = rng.integers(0, 40, 700), rng.integers(0, 900, 700)
    one_by_one = [products.exact(vectors[[i]], np.array([row]))[0, 0] for i, row in zip(which, rows, strict=True)]
    assert products.pairs(vectors, which, rows).tolist() == np.array(one_by_one, dtype=np.float32).tolist()


def test_the_fast_pass_stays_within_the_bound_of_the_count():
    features, queries = units(4000, 300), units(20, 300, seed=2)
    strip = engine._Strip(Products(features, range(4000)), queries, [RowQuery([0])] * 20, 0)
    exact = (features.astype(np.float64) @ queries.astype(np.float64).T).T
    errors = np.abs(queries @ features.T - exact).max(axis=1)
    assert (errors < (strip._above[:, 0] - strip._below[:, 0]) / 2).all()


def test_the_matrix_of_all_products_is_never_held(monkeypatch):
    """20,000 images × 3,000 queries would be 240 MB; numpy counts what it allocates."""
    import tracemalloc

    features, queries = units(20_000, 16), units(3_000, 16, seed=1)
    index = indexed(features)
    index.rank_many(queries[:10], [[0]] * 10, k=20)
    tracemalloc.start()
    index.rank_many(queries, [[i] for i in range(3000)], k=20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 80e6


def test_progress_is_told_of_queries():
    seen = []
    index = indexed(units(30, 8))
    index.rank_many(units(2100, 8, seed=1), [[0]] * 2100, progress=lambda *step: seen.append(step))
    assert seen == [(1024, 2100), (2048, 2100), (2100, 2100)]
    assert index.rank_many(np.empty((0, 8)), []) == []


def test_what_cannot_be_ranked_says_why():
    index, one = indexed(units(4, 3)), units(1, 3)
    with pytest.raises(SearchError, match="'000001' is excluded from these results"):
        index.rank_many(one, [[0, 1]], exclude_rows=[[1]])
    with pytest.raises(SearchError, match="Row 4 is outside the gallery, which has rows 0 to 3"):
        index.rank_many(one, [[4]])
    with pytest.raises(SearchError, match="Row -1 is outside"):
        index.rank_many(one, [[0]], exclude_rows=[[-1]])
    with pytest.raises(SearchError, match="2 target rows for 1 queries"):
        index.rank_many(one, [[0], [1]])
    with pytest.raises(SearchError, match="k is -1"):
        index.rank_many(one, [[0]], k=-1)
    with pytest.raises(SearchError, match="not finite"):
        index.rank_many(np.full((1, 3), np.nan), [[0]])
    with pytest.raises(EncoderMismatch, match="2 dimensions, the gallery 3"):
        index.rank_many(np.ones((1, 2)), [[0]])
    damaged = units(4, 3)
    damaged[2] = np.nan
    with pytest.raises(GalleryError, match="'000002' is damaged"):
        indexed(damaged).rank_many(one, [[0]])


# --- by a combined score: the same guarantees ------------------------------------------------

MODES = ("both", "reward", "penalty")


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


def test_near_ties_of_scores_that_single_precision_would_swap():
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
        assert rank_scored(index, score, hit.image_id) == hit.rank == index.rank_of(query, hit.image_id)


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
        index.search(query, 9, hidden), index.rank_of(query, "image 7", others))
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
