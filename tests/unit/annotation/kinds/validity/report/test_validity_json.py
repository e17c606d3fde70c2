"""The JSON of validity reports: its keys are a promise to scripts."""

import json

import pytest

from annotation.analysis.records import Options
from annotation.kinds.validity.report.as_json import validity_json
from annotation.kinds.validity.report.report import validity_report
from tests.fakes.judged import BROAD, IMAGE, TARGET, TEXT
from tests.fakes.verdict_grids import PEOPLE, grid

BESIDE = {"ci95", "n", "reasons", "estimates"}
PAIRWISE = {"count", "mean", "median", "min", "max"}
TWO_WAY = {"positive_rate", "fleiss_kappa", "krippendorff_alpha", "pairwise_cohen", "pairs"} | BESIDE


def written(*lines, **options):
    found = validity_json(validity_report(grid(*lines), options=Options(**{"draws": 50, **options})))
    return json.loads(json.dumps(found, allow_nan=False))


TEN = written("V V", "V V", "V V", "V V", "V T", "T V", "T V", "T T", "T TB", "B B")


@pytest.mark.parametrize("found", [TEN, written(), written("V"), written("V V", "V V"), written("V . ?", ". T .")])
def test_the_keys_are_always_all_there(found):
    assert set(found) == {
        "n_items", "n_raters", "binary", "flags", "signature",
        "judged", "judgements", "unlabelled", "people_per_item", "raters", "about"}
    assert set(found["binary"]) == TWO_WAY | {"exact_agreement_rate", "exact_invalid_signature_rate", "unanimous_rate"}
    assert list(found["flags"]) == [TARGET, IMAGE, TEXT, BROAD]
    for of in found["flags"].values():
        assert set(of) == TWO_WAY | {"label"}
    for of in (found["binary"], *found["flags"].values()):
        assert set(of["pairwise_cohen"]) == PAIRWISE | {"undefined", "ci95", "reason", "estimates"}
        for pair in of["pairs"]:
            assert set(pair) == {"a", "b", "n", "kappa", "ci95", "reason", "a_seat", "b_seat", "agreement",
                                 "agreement_ci95", "confusion", "estimates"}
        rates = TWO_WAY - BESIDE - {"pairwise_cohen", "pairs"}
        assert rates <= set(of["ci95"]) == set(of["n"])
    assert set(found["signature"]) == {
        "krippendorff_alpha", "exact_agreement_rate", "exact_invalid_signature_rate", "pairwise_agreement_mean",
        "pairs", "counts"} | BESIDE
    for pair in found["signature"]["pairs"]:
        assert set(pair) == {"a", "b", "n", "agreement", "ci95", "reason", "a_seat", "b_seat", "confusion",
                             "estimates"}
    assert set(found["about"]) == {
        "study", "study_id", "kind", "protocol", "accepting", "planned", "answered", "latest", "selection", "options",
        "versions", "notes"}


def test_the_numbers_stand_under_them():
    # By hand in test_validity_report.py.
    binary = TEN["binary"]
    assert (TEN["n_items"], TEN["n_raters"]) == (10, 2)
    assert binary["exact_agreement_rate"] == pytest.approx(0.6)    # of whole signatures
    # Three items are invalid by both: T T and B B alike, T TB not.
    assert binary["exact_invalid_signature_rate"] == pytest.approx(2 / 3)
    assert binary["n"]["exact_invalid_signature_rate"] == 3
    assert binary["unanimous_rate"] == pytest.approx(0.7)          # of valid or not
    assert binary["fleiss_kappa"] == pytest.approx(13 / 33)
    assert binary["pairwise_cohen"]["mean"] == pytest.approx(0.4)
    low, high = binary["ci95"]["fleiss_kappa"]
    assert low < 13 / 33 < high
    [pair] = binary["pairs"]
    assert (pair["a"], pair["b"], pair["n"], pair["confusion"]) == ("Ada", "Björn", 10, [[3, 2], [1, 4]])
    assert TEN["flags"][TEXT]["positive_rate"] == pytest.approx(7 / 20)
    [pair] = TEN["signature"]["pairs"]
    assert pair["agreement"] == pytest.approx(0.6)
    assert pair["confusion"][0] == {"a": "VALIDATED", "b": "VALIDATED", "n": 4}
    assert TEN["signature"]["counts"]["VALIDATED"] == 11
    assert TEN["raters"][0] == {"seat": 1, "name": "Ada", "judgements": 10, "valid": 5}


def test_what_there_is_not_is_null_with_a_reason():
    image = TEN["flags"][IMAGE]
    assert image["positive_rate"] == 0.0                     # a real 0: nobody set it
    assert image["fleiss_kappa"] is image["krippendorff_alpha"] is image["pairwise_cohen"]["mean"] is None
    assert image["ci95"]["fleiss_kappa"] is None
    assert image["reasons"]["fleiss_kappa"] and image["pairwise_cohen"]["reason"] and image["pairs"][0]["reason"]
    assert (image["pairwise_cohen"]["count"], image["pairwise_cohen"]["undefined"]) == (0, 1)
    empty = written()
    assert (empty["n_items"], empty["binary"]["fleiss_kappa"], empty["binary"]["positive_rate"]) == (0, None, None)


def test_hidden_names_do_not_get_into_it():
    text = json.dumps(written("V V T", "T V .", hide_names=True), ensure_ascii=False)
    assert "P03" in text and not [name for name in PEOPLE if name in text]
