"""Figures of two evaluations, one less the other."""

import pytest

from cir_core.errors import DatasetError, RelevanceMismatch
from cli.evaluate.comparing import Evaluated, check_comparable, differences, evaluated, read_evaluated

DATA = ("circo", "val", "0123456789abcdef")
PROTOCOL = {"dataset": "circo", "split": "val", "dataset_digest": DATA[2], "relevance": "a" * 16}
ONE = {"system": "mine", "map": {"5": 0.5}, "average": 0.25, "within_list": {"ndcg": 0.1}, "queries": 3,
       "intervals": {"map": {"5": [0.4, 0.6]}, "average": None, "within_list": {"ndcg": None}}}


def test_figures_of_either_form_are_read_by_their_families():
    one = evaluated("a.json", {**ONE, "protocol": PROTOCOL})
    several = evaluated("b.json", {"systems": [ONE, {**ONE, "system": "other"}], "protocol": PROTOCOL})
    figures = {"map@5": 0.5, "average": 0.25, "within_list ndcg": 0.1}
    assert one == Evaluated("a.json", DATA, "a" * 16, {"mine": figures})
    assert list(several.figures) == ["mine", "other"] and several.figures["mine"] == one.figures["mine"]


def test_systems_are_matched_by_name_or_by_being_the_only_ones():
    then = {"mine": {"map@5": 0.25, "gone": 1.0}, "other": {"map@5": 0.5}}
    assert differences({"mine": {"map@5": 0.5, "new": 1.0}}, then) == {"mine": {"map@5": 0.25}}
    assert differences({"third": {"map@5": 0.5}}, then) == {}
    assert differences({"third": {"map@5": 0.75}}, {"mine": {"map@5": 0.25}}) == {"third": {"map@5": 0.5}}


def test_scores_of_different_models_or_data_are_not_compared():
    earlier = Evaluated("a.json", DATA, "a" * 16, {})
    check_comparable("now", DATA, "a" * 16, earlier)
    check_comparable("now", DATA, "", earlier)
    with pytest.raises(RelevanceMismatch, match=r"a\.json"):
        check_comparable("now", DATA, "b" * 16, earlier)
    with pytest.raises(DatasetError, match="other data"):
        check_comparable("now", (*DATA[:2], "f" * 16), "a" * 16, earlier)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"systems": [], "protocol": 3}', '{"single": []}', "[" * 9999])
def test_any_other_file_is_refused(tmp_path, content):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(DatasetError, match="--json"):
        read_evaluated(tmp_path / "x.json")
    with pytest.raises(DatasetError, match="cannot be read"):
        read_evaluated(tmp_path / "nosuch.json")
