"""Exact search: order, ties, exclusion, and ranks that agree with the lists."""

import faiss
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cir_core.errors import EncoderMismatch, GalleryError, SearchError, UnknownImage
from cir_core.index.flat import FlatIndex
from cir_core.index.near_duplicates import fold, folded_page
from cir_core.types.records import Hit

# On the query (1, 0): a 0.6, b 1, c 0.6, d 0, e 0.6. Order: b, then a c e by row, then d.
FEATURES = np.array([[0.6, 0.8], [1, 0], [0.6, -0.8], [0, 1], [0.6, 0.8]], dtype=np.float32)
QUERY = np.array([1, 0], dtype=np.float32)


@pytest.fixture
def index():
    return FlatIndex(FEATURES, list("abcde"))


def units(n, dim, seed=7):
    rows = np.random.default_rng(seed).standard_normal((n, dim))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def ids_of(hits):
    return [hit.image_id for hit in hits]


def test_order_is_score_then_gallery_order_with_ranks_from_one(index):
    hits = index.search(QUERY, 5)
    assert ids_of(hits) == ["b", "a", "c", "e", "d"]
    assert [hit.rank for hit in hits] == [1, 2, 3, 4, 5]
    assert hits[0].score == 1.0 and hits[1].score == float(np.float32(0.6))


@pytest.mark.parametrize(("k", "expected"), [(1, "b"), (2, "ba"), (3, "bac"), (4, "bace"), (99, "baced")])
def test_ties_at_the_end_of_the_list_go_by_gallery_order(index, k, expected):
    assert ids_of(index.search(QUERY, k)) == list(expected)


def test_excluded_images_never_show_and_do_not_shorten_the_list(index):
    assert ids_of(index.search(QUERY, 3, exclude={"b", "a", "upload:unknown"})) == ["c", "e", "d"]
    assert index.search(QUERY, 3, exclude="abcde") == []


def test_rank_counts_better_and_earlier_equal_images(index):
    # e: b is better, a and c are equal and earlier.
    assert index.rank_of(QUERY, "e") == 4
    assert index.rank_of(QUERY, "e", exclude=["a", "b"]) == 2
    with pytest.raises(SearchError, match="excluded"):
        index.rank_of(QUERY, "e", exclude=["e"])


def test_batches_agree_with_single_queries(index):
    queries = np.array([[1, 0], [0, 1]], dtype=np.float32)
    lists = index.rank_many(queries, [(), ()], k=3)
    assert [[index.ids[row] for row in one.top] for one in lists] == [ids_of(index.search(one, 3)) for one in queries]
    [_, second] = index.rank_many(queries, [(), ()], k=1, exclude_rows=[[1], [3]])
    assert second.top.tolist() == [0]
    # Query (0, 1): d 1, a and e 0.8, b 0, c -0.8.
    assert index.ranks_of_many(queries, [4, 2]).tolist() == [4, 5]
    assert index.ranks_of_many(queries, [4, 2], exclude_rows=[[0, 0, 1], [3]]).tolist() == [2, 4]


@settings(max_examples=60, deadline=None)
@given(
    # Few different values, so that ties are everywhere.
    arrays(np.int8, st.tuples(st.integers(1, 40), st.just(3)), elements=st.integers(-2, 2)),
    arrays(np.int8, 3, elements=st.integers(-2, 2)),
    st.integers(1, 45), st.sets(st.integers(0, 39)),
)
def test_lists_and_ranks_are_those_of_a_plain_sort(features, query, k, hidden):
    ids = [str(row) for row in range(len(features))]
    index = FlatIndex(features.astype(np.float32), ids)
    exclude = {str(row) for row in hidden}
    products = features.astype(int) @ query.astype(int)
    expected = [i for i in sorted(ids, key=lambda i: (-products[int(i)], int(i))) if i not in exclude]
    assert ids_of(index.search(query, k, exclude)) == expected[:k]
    for rank, image_id in enumerate(expected, start=1):
        assert index.rank_of(query, image_id, exclude) == rank


def test_every_rank_equals_its_place_in_the_whole_list_on_real_numbers():
    features = np.concatenate([units(3000, 96), units(40, 96), units(3000, 96)[:50]])  # 50 are there twice
    index = FlatIndex(features, [f"{row:05}" for row in range(len(features))])
    query = units(1, 96, seed=3)[0]
    hits = index.search(query, len(features))
    keys = [(-hit.score, hit.image_id) for hit in hits]
    assert keys == sorted(keys)
    for hit in hits[::37]:
        assert index.rank_of(query, hit.image_id) == hit.rank
    rows = np.array([int(hit.image_id) for hit in hits[:200]])
    ranks = index.ranks_of_many(np.tile(query, (200, 1)), rows)
    assert ranks.tolist() == list(range(1, 201))


def test_copies_of_an_image_keep_gallery_order_wherever_they_lie():
    features = units(1003, 64)
    features[[17, 500, 1001, 1002]] = features[17]
    index = FlatIndex(features, [str(row) for row in range(1003)])
    assert ids_of(index.search(features[17], 3)) == ["17", "500", "1001"]


def test_lists_are_those_of_faiss():
    features, queries = units(5000, 128), units(20, 128, seed=2)
    flat = faiss.IndexFlatIP(128)
    flat.add(features)
    _, rows = flat.search(queries, 25)
    index = FlatIndex(features, [str(row) for row in range(5000)])
    assert [[int(hit.image_id) for hit in index.search(query, 25)] for query in queries] == rows.tolist()
    assert [one.top.tolist() for one in index.rank_many(queries, [()] * 20, k=25)] == rows.tolist()


def test_the_file_is_not_copied(tmp_path):
    mapped = np.memmap(tmp_path / "f", dtype="<f4", mode="w+", shape=(5, 2))
    mapped[:] = FEATURES
    assert np.shares_memory(FlatIndex(mapped, list("abcde"))._features, mapped)


def test_a_query_of_zeros_returns_gallery_order(index):
    assert ids_of(index.search(np.zeros(2), 3)) == ["a", "b", "c"]


def test_what_cannot_be_searched_says_why(index):
    with pytest.raises(EncoderMismatch, match="3 dimensions, the gallery 2"):
        index.search(np.ones(3), 1)
    with pytest.raises(SearchError, match="not finite"):
        index.search(np.array([np.nan, 0]), 1)
    with pytest.raises(SearchError, match="k is 0"):
        index.search(QUERY, 0)
    with pytest.raises(UnknownImage, match="'z'"):
        index.rank_of(QUERY, "z")
    with pytest.raises(SearchError, match="one vector"):
        index.search(FEATURES, 1)
    with pytest.raises(SearchError, match="rows 0 to 4"):
        index.ranks_of_many(FEATURES[:1], [5])
    with pytest.raises(GalleryError, match="2 ids"):
        FlatIndex(FEATURES, ["a", "b"])
    damaged = FEATURES.copy()
    damaged[2, 0] = np.inf
    with pytest.raises(GalleryError, match="'c' is damaged"):
        FlatIndex(damaged, list("abcde")).search(QUERY, 1)


# --- near-duplicates fold under the best-ranked image ----------------------------------------

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
