"""Names of systems as names of files, and folders that runs go to."""

import os

import pytest

from cir_core.errors import DatasetError, RelevanceMismatch, SettingsError
from cir_core.evaluation.runs.records import Run
from cli.evaluate.answers import apart, safe_name, write_run
from cli.evaluate.comparing import Evaluated, check_comparable, differences, evaluated, read_evaluated
from cli.tables.output import check_folder


def test_long_names_are_cut_and_stay_different():
    names = [f"{'é' * 300}{end}" for end in ("one", "two")]
    files = [safe_name(name) for name in names]
    assert len(set(files)) == 2 and all(len(name.encode()) <= 120 and name.startswith("éé") for name in files)
    assert safe_name("a" * 120) == "a" * 120


def test_systems_of_one_name_are_numbered():
    assert apart(["tag", "tag", "other", "tag"]) == ["tag", "tag (2)", "other", "tag (3)"]
    assert apart(["tag", "tag", "tag (2)"]) == ["tag", "tag (3)", "tag (2)"]  # nobody's own name is taken
    assert apart(["a/b", "a:b", "A_B"]) == ["a/b", "a:b (2)", "A_B (3)"]  # one file name, on some systems
    long = "x" * 500
    assert len({safe_name(name) for name in apart([long] * 3)}) == 3


def test_a_folder_is_made_or_refused(tmp_path):
    check_folder(None, "--write-run")
    check_folder(tmp_path / "a/b", "--write-run")
    assert (tmp_path / "a/b").is_dir()
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match=r"file cannot be the folder of --write-run: it is a file\."):
        check_folder(tmp_path / "file", "--write-run")
    with pytest.raises(SettingsError, match=r"below cannot be the folder of --submission: .+\. Choose another one\."):
        check_folder(tmp_path / "file/below", "--submission")


def test_a_folder_that_is_not_ours_to_write(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # whoever runs the tests may write everywhere
    with pytest.raises(SettingsError, match="cannot be written to"):
        check_folder(tmp_path, "--write-run")


def test_a_failed_write_names_folder_and_remedy(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError,
                       match=r"'mine' could not be written to .*file: .* choose another folder with --write-run"):
        write_run(tmp_path / "file", Run("mine", {"q": ("a",)}), lambda line: None)


# --- figures of two evaluations --------------------------------------------------------------

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
