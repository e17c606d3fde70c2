"""Search among candidates: what an engine can change about a list, and what it cannot."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from cir_core.errors import EncoderMismatch, SearchError, UnknownImage
from cir_core.index.approximate import DEEPEST, PAGE, ApproximateIndex, directions_of
from cir_core.index.flat import FlatIndex
from cir_core.methods.guidance import Aspect, Guidance, guided_score
from cir_core.methods.soft_filter import SoftScore
from cir_core.types.records import SoftFilter
from tests.fakes.encoder import FakeEncoder

SIZE, DIM = 3000, 32
RNG = np.random.default_rng(5)


def units(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


CENTRES = RNG.standard_normal((30, DIM))
FEATURES = units(CENTRES[RNG.integers(30, size=SIZE)] + 0.5 * RNG.standard_normal((SIZE, DIM)))
FEATURES[7] = FEATURES[3]   # a tie
IDS = [f"{row:05}" for row in range(SIZE)]
EXACT = FlatIndex(FEATURES, IDS)


class Engine:
    """The best by float32 products, without those in ``lost``; keeps what it was asked."""

    def __init__(self, lost=()):
        self.lost, self.asked = list(lost), []

    def candidates(self, vectors, k, settings, hidden=()):
        self.asked.append((len(vectors), k, settings, len(hidden)))
        products = vectors @ FEATURES.T
        products[:, self.lost] = -np.inf
        best = np.argsort(-products, axis=1)[:, :min(k + len(hidden), SIZE - len(self.lost))]
        return [RNG.permutation(rows) for rows in best]


def index(engine=None, oversampling=2):
    return ApproximateIndex(FEATURES, IDS, engine or Engine(), {"oversampling": oversampling}, "an engine")


def guided(query):
    texts = ("red", "green", "blue", "striped", "plain")
    aspects = (Aspect("colour", "Red", texts[:1], texts[1:3], turn=1),
               Aspect("pattern", "Plain", texts[4:], texts[3:4]))
    return guided_score(query, aspects, Guidance(), FakeEncoder(DIM))


QUERY = FEATURES[3]
SMAPS = Path("/proc/self/smaps")


@pytest.mark.skipif(not SMAPS.exists(), reason="how a mapping is read stands there on Linux")
def test_scores_read_single_rows_of_a_file(tmp_path):
    """Not the 128 kB around each, of which a gallery larger than memory would keep nothing."""
    path = tmp_path / "features.f32"
    FEATURES.tofile(path)
    mapped = np.memmap(path, "<f4", "r", shape=FEATURES.shape)
    opened = ApproximateIndex(mapped, IDS, Engine(), {"oversampling": 2})
    areas = SMAPS.read_text().split("VmFlags:")
    advised = ["rr" in flags.split("\n")[0].split() for area, flags in pairwise(areas) if str(path) in area]
    assert sorted(advised) == [False, True]    # exact search goes through the other one from end to end
    for replaced in (lambda: path.replace(tmp_path / "earlier"), lambda: path.write_bytes(b"a shorter file")):
        replaced()
        again = ApproximateIndex(mapped, IDS, Engine(), {"oversampling": 2})
        assert again.search(QUERY, 20) == opened.search(QUERY, 20) == EXACT.search(QUERY, 20)


@pytest.mark.parametrize("k", [1, 10, 60])
def test_with_all_candidates_lists_are_those_of_exact_search(k):
    assert index().search(QUERY, k) == EXACT.search(QUERY, k)
    assert [hit.image_id for hit in index().search(QUERY, 2)] == ["00003", "00007"]   # the tie, in gallery order


def test_an_engine_can_leave_out_an_image_and_changes_nothing_else():
    best = EXACT.search(QUERY, 61)
    lost = [int(best[4].image_id), int(best[9].image_id)]
    found = index(Engine(lost)).search(QUERY, 59)
    assert [(hit.image_id, hit.score) for hit in found] == [
        (hit.image_id, hit.score) for hit in best if int(hit.image_id) not in lost]
    assert [hit.rank for hit in found] == list(range(1, 60))


def test_short_lists_begin_as_long_ones_do():
    engine = Engine()
    assert index(engine).search(QUERY, 10) == index(engine).search(QUERY, PAGE)[:10]
    assert [asked[1] for asked in engine.asked] == [2 * PAGE, 2 * PAGE]


def test_excluded_images_make_room_for_others():
    exclude = {hit.image_id for hit in EXACT.search(QUERY, 200)} | {"not in the gallery"}
    engine = Engine()
    assert index(engine, oversampling=1).search(QUERY, 60, exclude) == EXACT.search(QUERY, 60, exclude)
    assert engine.asked == [(1, 60, {"oversampling": 1}, 200)]


@pytest.mark.parametrize(("k", "exclude"), [(DEEPEST + 1, ()), (60, IDS[:SIZE // 2]), (SIZE + 5, ())])
def test_lists_that_need_much_of_the_gallery_are_exact(k, exclude):
    engine = Engine(lost=range(100))
    assert index(engine).search(QUERY, k, exclude) == EXACT.search(QUERY, k, exclude)
    assert index(engine).search_scored(guided(QUERY), k, exclude) == EXACT.search_scored(guided(QUERY), k, exclude)
    assert not engine.asked


def test_with_fewer_candidates_than_results_search_is_exact():
    class Few(Engine):
        def candidates(self, vectors, k, settings, hidden=()):
            return [np.array([5, 3, 9]) for _ in vectors]

    few, exclude = index(Few()), ["00009"]
    assert few.search(QUERY, 60, exclude) == EXACT.search(QUERY, 60, exclude)
    assert few.search_scored(guided(QUERY), 60, exclude) == EXACT.search_scored(guided(QUERY), 60, exclude)
    assert [hit.image_id for hit in few.search(QUERY, 2, exclude)] == ["00003", "00005"]   # are enough


@pytest.mark.parametrize("query", [QUERY, guided(QUERY)], ids=["vector", "score"])
def test_a_targets_rank_counts_the_whole_gallery_and_its_list_is_that_of_a_search_without_one(query):
    lost = [int(hit.image_id) for hit in EXACT.search(QUERY, 30)][:20]
    target = f"{lost[0]:05}"
    found, rank = index(Engine(lost)).search_and_rank(query, 60, [target], target)
    _, expected = EXACT.search_and_rank(query, 60, [target], target)
    search = index(Engine(lost)).search if query is QUERY else index(Engine(lost)).search_scored
    assert rank == expected and found == search(query, 60, [target])
    assert index(Engine(lost)).score_of(query, target) == EXACT.score_of(query, target)


def test_ranks_of_many_are_exact():
    lossy = index(Engine(lost=range(SIZE)))
    rows = [[1, 2], [3]]
    for ours, theirs in zip(lossy.rank_many(FEATURES[:2], rows, k=5), EXACT.rank_many(FEATURES[:2], rows, k=5),
                            strict=True):
        assert ours.ranks == theirs.ranks and ours.top.tolist() == theirs.top.tolist()
    scores = [guided(QUERY)]
    assert (lossy.search_and_rank_scored(scores, 5, (), ["00001"])
            == EXACT.search_and_rank_scored(scores, 5, (), ["00001"]))


@pytest.mark.parametrize("score", [
    guided(units(FEATURES[3:4] + FEATURES[90:91])[0]),
    SoftScore(np.stack([QUERY, FEATURES[100], FEATURES[200]]), SoftFilter(0.8, "both")),
    SoftScore(np.stack([QUERY, FEATURES[100], np.zeros(DIM, np.float32)]), SoftFilter(1.0, "reward")),
], ids=["guided", "soft", "reward alone"])
def test_combined_scores_are_exact_and_their_best_are_among_the_candidates(score):
    engine = Engine()
    best = EXACT.search_scored(score, 60)
    found = index(engine).search_scored(score, 60)
    scores = {hit.image_id: hit.score for hit in EXACT.search_scored(score, SIZE)}
    assert [hit.score for hit in found] == [scores[hit.image_id] for hit in found]
    assert found == sorted(found, key=lambda hit: (-hit.score, hit.image_id))
    assert len({hit.image_id for hit in found} & {hit.image_id for hit in best}) >= 57
    assert {asked[1] for asked in engine.asked} == {directions_of(60, {"oversampling": 2})} == {200}


def test_a_vector_that_lowers_the_score_gets_no_list():
    engine = Engine()
    index(engine).search_scored(SoftScore(np.stack([QUERY, FEATURES[100], FEATURES[200]]),
                                          SoftFilter(0.8, "penalty")), 60)
    # At products of 0 the score of eq. 2 rises with the query's alone: its list, that of the slope, which is the same
    # direction, and the query's own.
    assert engine.asked[0][0] == 3


def test_errors_are_those_of_exact_search():
    for k in (0, -1):
        with pytest.raises(SearchError, match="at least 1"):
            index().search(QUERY, k)
    with pytest.raises(EncoderMismatch):
        index().search(QUERY[:5], 3)
    with pytest.raises(SearchError, match="not finite"):
        index().search(np.full(DIM, np.nan), 3)
    with pytest.raises(UnknownImage):
        index().search_and_rank(QUERY, 3, (), "nobody")
