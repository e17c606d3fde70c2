"""``cirque study invite``, ``payment`` and ``pay``, as a person types them."""

import json
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

from annotation.records import Participant
from cir_core.errors import StudyError
from cli.studies.studies import app
from tests.fakes.studies import make_study
from tests.integration.homes import command_home, command_stores  # noqa: F401


@pytest.fixture
def study(home, stores):
    made = make_study(stores.studies, home, name="Shops", items=2, seats=1)
    for who in ("p1", "p2"):
        stores.recruitment.enter(Participant(made.study_id, who, f"P-{who}", {}, "new", {}, "", datetime.now(UTC)))
    return made


def run(*arguments):
    """What the command prints; raises what it raises."""
    result = CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def told(*arguments):
    return json.loads(run("invite", "Shops", "--json", *arguments))


def test_the_link_and_its_settings(study, tmp_path):
    first = told()
    assert "/take/" in first["link"] and first["settings"]["open"] is True
    assert told() == first                                     # asking changes nothing
    file = tmp_path / "study.toml"
    file.write_text('﻿consent = "I agree."\n[complete]\nurl = "https://x.org/{code}"\n', "utf-8")
    set_ = told("--settings", file, "--pause")
    assert (set_["link"], set_["settings"]["consent"], set_["settings"]["open"]) == (first["link"], "I agree.", False)
    assert told("--new-link", "--open")["link"] != first["link"]
    file.write_text('[complete]\nurl = "prolific"\n', "utf-8")
    with pytest.raises(StudyError, match=r"study\.toml, complete\.url"):
        told("--settings", file)
    assert "lets people in" in run("invite", "Shops")


def test_payment(study, tmp_path):
    ids, table = tmp_path / "ids.csv", tmp_path / "all.csv"
    (tmp_path / "list.txt").write_text("p1\n\n", "utf-8")
    run("pay", "Shops", "--approve", "--from", tmp_path / "list.txt")
    run("pay", "Shops", "p2", "--reject", "Always the same answer.")
    run("payment", "Shops", "--out", ids, "--form", "ids")
    run("payment", "Shops", "--out", table)
    assert ids.read_bytes() == b"p1\n" and "Always the same answer." in table.read_text("utf-8-sig")
    for wrong in (("p1",), ("p1", "--approve", "--reject", "x"), ("nobody", "--approve"), ("--approve",)):
        with pytest.raises(StudyError):
            run("pay", "Shops", *wrong)
