"""The two conditions of CIRCLED over files of sessions, at their bounds."""

from __future__ import annotations

import json

import pytest

from cir_core.construct.filtering.conditions import SubsetConditions, check_conditions
from cir_core.construct.filtering.files import filter_sessions, raw_files
from cir_core.construct.filtering.stages import FilterSettings
from cir_core.datasets.readers.circled_raw import write_raw
from cir_core.errors import DatasetError
from cir_core.evaluation.metrics.consistency import RankSetback, RepeatedText
from tests.fakes.encoder import FakeEncoder
from tests.unit.cir_core.construct.test_filters import THREE, released


def raw_file(path, *results, images=100):
    numbered = [{**result, "query_id": str(number)} for number, result in enumerate(results)]
    write_raw(path, {"dataset_name": "cirr_val", "data_completeness": {"images": images}}, numbered)
    return path


def checked(path, **settings):
    return check_conditions(path, FilterSettings(**settings), encoder=FakeEncoder())


def test_epsilon_itself_is_allowed_and_one_more_is_not(tmp_path):
    path = raw_file(tmp_path / "a.json", released((50, 80, 4), **THREE), released((50, 81, 4), **THREE))
    report = checked(path)
    assert report.subsets == (SubsetConditions("cirr_val", 2, 1, 0, 31, report.subsets[0].closest_texts),)
    [violation] = report.violations
    assert (violation.session, violation.setbacks, violation.repeated) == ("1", (RankSetback(2, 50, 81),), ())
    assert not report.ok and report.broken == 1
    assert checked(path, epsilon=31).ok


def test_tau_itself_is_too_high(tmp_path):
    path = raw_file(tmp_path / "a.json", released(texts=("more red", "red more")), released())
    report = checked(path, tau=1.0)
    assert (report.subsets[0].repetitive, report.subsets[0].closest_texts) == (1, 1.0)
    assert report.violations[0].repeated == (RepeatedText(2, 1, 1.0),)
    assert checked(path, tau=1.01).ok


def test_a_session_that_breaks_both_counts_once(tmp_path):
    path = raw_file(tmp_path / "a.json", released((50, 90, 4), texts=("a b", "c d", "d c"), images=("a", "b", "c")))
    report = checked(path)
    assert (report.broken, report.subsets[0].inconsistent, report.subsets[0].repetitive) == (1, 1, 1)


def test_a_lost_target_breaks_epsilon_without_a_number_of_ranks(tmp_path):
    path = raw_file(tmp_path / "a.json", released((50, -1, 4), **THREE), images=None)
    [row] = checked(path).subsets
    assert (row.inconsistent, row.worst_setback) == (1, None)
    assert checked(path, missing="minus-one").ok      # as the released code reads it: -1 is a rank


def test_what_the_filter_keeps_satisfies_both(tmp_path):
    path = raw_file(tmp_path / "a.json", released((50, 81, 4), **THREE), released(), released((4,), ("red",), ("a",)),
                    released(texts=("more red", "red more")), released((60, 70, 3), **THREE))
    filter_sessions(raw_files(path), tmp_path / "kept", encoder=FakeEncoder())
    report = checked(tmp_path / "kept")
    assert report.ok and report.subsets[0].sessions == 2 and report.subsets[0].worst_setback == 10
    json.dumps(report.as_json(), allow_nan=False)

    public = check_conditions(tmp_path / "kept/public/cirr_val.json", encoder=FakeEncoder())
    assert public.ok and (public.subsets[0].sessions, public.subsets[0].inconsistent) == (2, None)
    assert "ε was not checked" in public.notes[0]
    assert public.subsets[0].closest_texts == report.subsets[0].closest_texts


def test_what_cannot_be_checked_is_refused(tmp_path):
    with pytest.raises(DatasetError, match=r"absent is missing\. Check the path"):
        checked(tmp_path / "absent")
    with pytest.raises(DatasetError, match=r"none\.json has no sessions to check"):
        checked(raw_file(tmp_path / "none.json"))
    path = raw_file(tmp_path / "a.json", released())
    with pytest.raises(DatasetError, match="Name the encoder that compares them"):
        check_conditions(path)
    filter_sessions(raw_files(path), tmp_path / "kept", encoder=FakeEncoder())
    with pytest.raises(DatasetError, match=r"public format, which has neither ranks nor similarities"):
        check_conditions(tmp_path / "kept/public/cirr_val.json")
