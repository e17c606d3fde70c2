"""Training data of the sample's relevance model: unlike the gallery in every combination of attributes."""

from __future__ import annotations

import numpy as np
import pytest

from cir_core.relevance.training.data import TrainingData
from cir_core.sample.atelier.catalogue import DEFAULT_SIZES, catalogue
from cir_core.sample.training.relevance_data import sample_relevance_data

EACH = 240


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> TrainingData:
    return sample_relevance_data(tmp_path_factory.mktemp("drawn"), seed=1, limit=EACH, processes=1)


def test_more_designs_change_nothing_of_the_gallery_and_share_no_combination_with_it() -> None:
    before = catalogue()
    after = catalogue(sizes={**DEFAULT_SIZES, "designs": 600})
    assert after[: len(before)] == before
    combinations = [tuple(one.attributes.values()) for one in after]
    assert len(set(combinations)) == len(combinations) == len(before) + 600


def test_queries_keep_the_category_and_change_one_to_four_attributes(data: TrainingData) -> None:
    garments = catalogue(sizes={**DEFAULT_SIZES, "designs": 6000})
    shown = [one for split in ("train", "designs", "val")
             for one in [garment for garment in garments if garment.split == split][:EACH]]
    assert data.images == len(shown) == 3 * EACH
    assert data.queries and data.validation
    for query in (*data.queries, *data.further, *data.validation):
        reference, target = shown[query.reference], shown[query.target]
        assert reference.category == target.category
        assert 1 <= sum(reference.attributes[key] != target.attributes[key] for key in target.attributes) <= 4
        assert len(query.captions) == 1 and " and " in query.captions[0]
    assert len(data.further) == 5 * len(data.queries)
    pairs = [{(query.reference, query.target, *query.captions) for query in queries}
             for queries in (data.queries, data.further)]
    assert len(pairs[0] & pairs[1]) < len(pairs[0]) / 10   # not the same once more
    assert {shown[query.target].split for query in data.queries} == {"train", "designs"}
    assert {shown[query.target].split for query in data.validation} == {"val"}
    # Negatives come from all garments, recall is counted in a category.
    assert {query.pool for query in (*data.queries, *data.further)} == {"all"} and len(data.pools["all"]) == 2 * EACH
    assert all(shown[query.target].category == query.pool for query in data.validation)
    for pools, queries in ((data.pools, data.queries), (data.validation_pools, data.validation)):
        assert all(query.target in pools[query.pool] for query in queries)
    assert all(shown[row].category == name for name, rows in data.validation_pools.items() for row in rows)


def test_each_row_is_its_garments_drawing(data: TrainingData) -> None:
    first, other, last = (np.asarray(data.load(row)) for row in (0, EACH, 3 * EACH - 1))
    assert first.shape == (160, 160, 3)
    assert not np.array_equal(first, other) and not np.array_equal(other, last)
    assert np.array_equal(first, np.asarray(data.load(0)))
