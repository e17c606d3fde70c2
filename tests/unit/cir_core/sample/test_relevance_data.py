"""Training data of the sample's relevance model: unlike the gallery in every combination of attributes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cir_core.relevance.training.data import TrainingData
from cir_core.sample import relevance_data
from cir_core.sample.atelier.catalogue import DEFAULT_SIZES, Garment, catalogue
from cir_core.sample.atelier.draw import render
from cir_core.sample.relevance_data import Pixels, shrink

EACH = 240


@pytest.fixture(scope="module")
def garments() -> tuple[Garment, ...]:
    return catalogue(sizes={**DEFAULT_SIZES, "designs": 6000})


@pytest.fixture(scope="module")
def made_before(garments: tuple[Garment, ...]) -> Iterator[None]:
    """The catalogue, which takes a second, is that of these tests if its sizes are."""
    def of_sizes(*, sizes: Mapping[str, int]) -> tuple[Garment, ...]:
        assert sizes == {**DEFAULT_SIZES, "designs": 6000}
        return garments

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(relevance_data, "catalogue", of_sizes)
        yield


@pytest.fixture(scope="module")
def data(made_before: None, tmp_path_factory: pytest.TempPathFactory) -> TrainingData:
    """Of blank pictures: it is about the queries."""
    def blank(part: Sequence[Garment], *_: object, **__: object) -> Pixels:
        return np.zeros((1, len(part), 2, 2, 3), dtype=np.uint8)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(relevance_data, "rendered", blank)
        return relevance_data.sample_relevance_data(tmp_path_factory.mktemp("blank"), seed=1, limit=EACH)


def shown(garments: Sequence[Garment], each: int) -> list[Garment]:
    return [one for split in ("train", "designs", "val")
            for one in [garment for garment in garments if garment.split == split][:each]]


def test_more_designs_change_nothing_of_the_gallery_and_share_no_combination_with_it(
    garments: tuple[Garment, ...], shipped: tuple[Garment, ...],
) -> None:
    assert garments[: len(shipped)] == shipped
    combinations = [tuple(one.attributes.values()) for one in garments]
    assert len(set(combinations)) == len(combinations) == len(shipped) + 6000


def test_queries_keep_the_category_and_change_one_to_four_attributes(
    garments: tuple[Garment, ...], data: TrainingData
) -> None:
    rows = shown(garments, EACH)
    assert data.images == len(rows) == 3 * EACH
    assert data.queries and data.validation
    for query in (*data.queries, *data.further, *data.validation):
        reference, target = rows[query.reference], rows[query.target]
        assert reference.category == target.category
        assert 1 <= sum(reference.attributes[key] != target.attributes[key] for key in target.attributes) <= 4
        assert len(query.captions) == 1 and " and " in query.captions[0]
    assert len(data.further) == 5 * len(data.queries)
    pairs = [{(query.reference, query.target, *query.captions) for query in queries}
             for queries in (data.queries, data.further)]
    assert len(pairs[0] & pairs[1]) < len(pairs[0]) / 10   # not the same once more
    assert {rows[query.target].split for query in data.queries} == {"train", "designs"}
    assert {rows[query.target].split for query in data.validation} == {"val"}
    # Negatives come from all garments, recall is counted in a category.
    assert {query.pool for query in (*data.queries, *data.further)} == {"all"} and len(data.pools["all"]) == 2 * EACH
    assert all(rows[query.target].category == query.pool for query in data.validation)
    for pools, queries in ((data.pools, data.queries), (data.validation_pools, data.validation)):
        assert all(query.target in pools[query.pool] for query in queries)
    assert all(rows[row].category == name for name, found in data.validation_pools.items() for row in found)


def test_each_row_is_its_garments_drawing(
    garments: tuple[Garment, ...], made_before: None, tmp_path: Path
) -> None:
    drawn = relevance_data.sample_relevance_data(tmp_path, seed=1, limit=2, processes=1)
    assert drawn.images == 6
    for row, one in enumerate(shown(garments, 2)):
        picture = Image.fromarray(render(one.attributes, one.seed, size=256))
        assert np.array_equal(np.asarray(drawn.load(row)), shrink(picture, 160))
