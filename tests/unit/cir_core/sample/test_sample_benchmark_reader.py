"""The sample benchmark is read from what the sample gallery was drawn to."""

import json

import pytest

from cir_core.errors import DatasetError
from cir_core.sample.atelier.build import build_atelier
from cir_core.sample.benchmark import read_benchmark
from cir_core.sample.gallery import SPLIT
from tests.fakes.benchmark_files import fashioniq, fashioniq_record


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    return build_atelier(tmp_path_factory.mktemp("drawn"), sizes={"test": 30})


def test_queries_pools_and_pictures(drawn):
    benchmark = read_benchmark(drawn.folder, split=SPLIT)
    assert benchmark.name == "sample-test" and read_benchmark(drawn.folder).digest == benchmark.digest
    pictures = [image_id for pool in benchmark.pools.values() for image_id in pool or ()]
    assert len(pictures) == len(set(pictures)) == 30
    assert all((drawn.folder / benchmark.image_paths(image_id)[0]).is_file() for image_id in pictures)
    written = {
        category: json.loads(drawn.captions(category, SPLIT).read_text("utf-8")) for category in benchmark.pools
    }
    assert len(benchmark.queries) == sum(map(len, written.values())) > 0
    for query in benchmark.queries:
        record = written[query.pool][int(query.query_id.partition(":")[2])]
        assert (query.reference_id, query.target_ids) == (record["candidate"], (record["target"],))
        assert query.modification_text == " and ".join(record["captions"])


def test_it_never_hides_its_targets(tmp_path):
    fashioniq(tmp_path, records=[fashioniq_record(None, "B01", "a", "b")], split="test")
    with pytest.raises(DatasetError, match=r"cap\.dress\.test\.json, record 0: 'target' is missing"):
        read_benchmark(tmp_path)


def test_where_nothing_was_drawn(tmp_path):
    with pytest.raises(DatasetError, match="Draw it with `cirque sample build"):
        read_benchmark(tmp_path)
