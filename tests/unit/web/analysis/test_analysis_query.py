"""The parameters of a report as an address carries them."""

from __future__ import annotations

import json

import pytest

from annotation.analysis.records import Options, Selection
from annotation.kinds.preference.exclusion import Rules
from cir_core.errors import CirqueError
from web.analysis.query import ReportParams, read_query


def test_what_goes_without_saying():
    assert read_query({"study": "x"}) == ReportParams(Selection(), Options(), None, (5,), None)
    usual = Options(draws=7, seed=99)
    assert read_query({}, usual=usual).options == usual
    assert read_query({"seed": "1"}, usual=usual).options == Options(draws=7, seed=1)


def test_all_of_it():
    select = {"datasets": ["cirr", "circo", "cirr"], "categories": ["a"], "people": [3, 1, 3], "block_only": True}
    found = read_query({
        "select": json.dumps(select), "draws": "0", "seed": "7", "undefined": "one", "resample": "people",
        "names": "hidden", "rules": "irrelevant,failed-checks=2", "k": "5,1", "plan": "0.1", "since": "x"}, ["since"])
    assert found.selection == Selection(("circo", "cirr"), ("a",), (1, 3), True)
    assert found.options == Options(0, 7, "one", "people", True)
    assert (found.rules, found.ks, found.plan) == (Rules(irrelevant=True, failed_checks=2), (5, 1), 0.1)
    assert hash(found) == hash(found)
    assert read_query({"rules": "none"}).rules == Rules() and read_query({"rules": ""}).rules == Rules()


@pytest.mark.parametrize(("query", "said"), [
    ({"colour": "red"}, "Unknown in this call: colour"),
    ({"since": "x"}, "Unknown in this call: since"),
    ({"draws": "10001"}, "“draws” must be a whole number from 0 to 10,000, not '10001'"),
    ({"draws": "-1"}, "draws"), ({"draws": "1e3"}, "draws"), ({"draws": ""}, "draws"), ({"draws": "٣"}, "draws"),
    ({"seed": "nan"}, "seed"), ({"seed": "9" * 17}, "seed"),
    ({"undefined": "zero"}, "one of null, one"),
    ({"resample": "pairs"}, "one of items, people"),
    ({"names": "no"}, "one of shown, hidden"),
    ({"k": "6"}, "from 1 to 5"), ({"k": "0"}, "from 1 to 5"), ({"k": "5;1"}, "from 1 to 5"), ({"k": ""}, "from 1 to 5"),
    ({"k": "²"}, "from 1 to 5"),
    ({"plan": "0"}, "interval width"), ({"plan": "nan"}, "width"), ({"plan": "wide"}, "width"),
    ({"plan": "inf"}, "width"),
    ({"rules": "loudest"}, "no rule 'loudest'"),
    ({"select": "{"}, "not valid JSON"), ({"select": "[]"}, "it is not an object"),
    ({"select": '{"who": 1}'}, "it has who"),
    ({"select": '{"people": ["1"]}'}, "seat numbers"), ({"select": '{"people": [true]}'}, "seat numbers"),
    ({"select": '{"people": [1.0]}'}, "seat numbers"),
    ({"select": '{"datasets": "cirr"}'}, "list of at most 500 texts"),
    ({"select": json.dumps({"datasets": ["x"] * 501})}, "at most 500"),
    ({"select": json.dumps({"datasets": ["x" * 201]})}, "more than 200 characters"),
    ({"select": '{"block_only": 1}'}, "true or false"),
    ({"select": " " * 100_001}, "the limit is 100,000"),
])
def test_what_is_wrong_is_said_in_a_sentence(query, said):
    with pytest.raises(CirqueError) as problem:
        read_query(query)
    assert said in str(problem.value) and str(problem.value).endswith(".")
