"""Names of systems as names of files, and folders that runs go to."""

import os

import pytest

from cir_core.errors import SettingsError
from cir_core.evaluation.runs.records import Run
from cli.evaluate.answer_files import apart, safe_name, write_run
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
    with pytest.raises(SettingsError, match=r"below cannot be the folder of --submission: .+\. Name another one\."):
        check_folder(tmp_path / "file/below", "--submission")


def test_a_folder_that_is_not_ours_to_write(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # whoever runs the tests may write everywhere
    with pytest.raises(SettingsError, match="cannot be written to"):
        check_folder(tmp_path, "--write-run")


def test_a_failed_write_names_folder_and_remedy(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match=r"'mine' could not be written to .*file: .* name another folder with --wr"):
        write_run(tmp_path / "file", Run("mine", {"q": ("a",)}), lambda line: None)
