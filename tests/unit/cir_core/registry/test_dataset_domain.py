"""What language models are told that a data set's images show."""

from __future__ import annotations

import pytest

from cir_core.datasets.records import Benchmark, BenchmarkQuery
from cir_core.registry.kinds import domain_named, domain_of, domain_of_targets


def benchmark(kind, *, dataset="", pools=("all",), reference="B001"):
    queries = (BenchmarkQuery("0", reference, "red", ("x",)),)
    return Benchmark(kind, "val", queries, dict.fromkeys(pools), lambda image_id: (), dataset=dataset)


@pytest.mark.parametrize(("of", "expected"), [
    (benchmark("sample"), "garment"),
    (benchmark("fashioniq", pools=("dress", "shirt")), "garment"),
    (benchmark("cirr"), "scene"),
    (benchmark("lasco"), "scene"),
    (benchmark("circo"), "circo"),
    (benchmark("mbeir", dataset="cirr"), "scene"),
    (benchmark("mbeir", dataset="CIRCO"), "circo"),
    (benchmark("mbeir", dataset="fashioniq_dress"), "garment"),
    (benchmark("mbeir", dataset="nights"), None),
    (benchmark("mbeir"), None),
    (benchmark("circled", pools=("cirr_val",)), "scene"),
    (benchmark("circled", pools=("fashioniq_dress_val", "fashioniq_shirt_val")), "garment"),
    (benchmark("circled", pools=("cirr_val", "circo_val")), None),
    (benchmark("soft-multi-target", reference="dev-244-0-img1"), "scene"),
    (benchmark("soft-single-target", reference="B00A3F9MJE"), "garment"),
])
def test_the_data_set_says_it_or_nobody(of, expected):
    assert domain_of(of) == expected


@pytest.mark.parametrize(("files", "expected"), [
    ([("cirr", "dev-244-0-img1")], "scene"),
    ([("mine", "dev-244-0-img1"), ("cirr", "a")], "scene"),
    ([("shirt", "B00A3F9MJE"), ("dress", "B00A3F9MJF")], "garment"),
    ([("circo", "000000000001")], "circo"),
    ([("fashioniq_dress", "a")], "garment"),
    ([("shirt", "B00A3F9MJE"), ("cirr", "dev-244-0-img1")], None),
    ([("shirt", "B00A3F9MJE"), ("mine", "a")], None),
    ([], None),
])
def test_files_of_targets_say_it_by_their_names_and_images(files, expected):
    assert domain_of_targets(files) == expected


@pytest.mark.parametrize("name", ["", "_", "own_val", "cirruscloud", "mycirr"])
def test_a_name_that_is_only_like_a_known_one_says_nothing(name):
    assert domain_named(name) is None
