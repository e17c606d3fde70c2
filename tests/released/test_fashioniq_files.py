"""FashionIQ's released val files."""

import pytest

from cir_core.datasets.readers.fashioniq import read_benchmark


@pytest.fixture(scope="module")
def folder(reference_data):
    return reference_data / "fashioniq"


def queries_by_category(benchmark):
    return {name: sum(query.pool == name for query in benchmark.queries) for name in benchmark.pools}


def test_counts(folder):
    benchmark = read_benchmark(folder)
    assert queries_by_category(benchmark) == {"dress": 2017, "shirt": 2038, "toptee": 1961}
    assert {name: len(pool) for name, pool in benchmark.pools.items()} == {"dress": 3817, "shirt": 6346, "toptee": 5373}
    assert benchmark.notes == ("3 empty captions were left out; the query's other caption is used alone.",)
    assert len({query.query_id for query in benchmark.queries}) == 6016


def test_every_caption_but_the_three_empty_ones(folder):
    separate = read_benchmark(folder, caption_mode="separate")
    assert len(separate.queries) == 2 * 6016 - 3
    references = {query.query_id.rpartition(":")[0] for query in separate.queries}
    assert len(references) == 6016  # never both captions of a pair are empty


def test_the_union_of_references_and_targets(folder):
    benchmark = read_benchmark(folder, union=True)
    assert {name: len(pool) for name, pool in benchmark.pools.items()} == {"dress": 2628, "shirt": 3089, "toptee": 2902}
