"""``cirque study create KIND NAME --from-table``, as a person types it."""

import json

import pytest
from typer.testing import CliRunner

from cir_core.errors import CirqueError
from cli.console import open_stores
from cli.studies.studies import app
from tests.fakes.picture_tables import csv_of, pictures, xlsx, zipped
from tests.fakes.preferences import OWN_SURVEY
from tests.fakes.session_studies import OWN_QUESTIONS
from tests.fakes.target_studies import OWN_MARKS
from tests.integration.homes import command_home  # noqa: F401

LETTERS = "abcdefghijklmnop"


@pytest.fixture
def here(home, tmp_path):
    """A folder with pictures a.png, b.png, …, which is the home of nothing yet."""
    return pictures(tmp_path / "pics", [f"{letter}.png" for letter in LETTERS])


def run(*arguments):
    """What the command prints; raises what it raises."""
    result = CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def items(name):
    with open_stores() as stores:
        study = stores.studies.study(name)
        return study, stores.studies.items(study.study_id), stores.studies.images(study.study_id)


def refused(*arguments):
    with pytest.raises(CirqueError) as caught:
        run(*arguments)
    with open_stores() as stores:
        assert not stores.studies.studies(), "nothing is created"
    return str(caught.value)


def test_a_validity_study(here, tmp_path):
    table = csv_of(tmp_path / "q.csv", ("Ref", "Tgt", "mod", "retrieved"), ("a", "b", "redder", "c|d"),
                   ("C.PNG", "pics\\d.png", "no belt", "e|f"), delimiter=";")
    output = run("create", "validity", "V", "--from-table", table, "--images", here, "--people", 2, "--overlap", 2)
    study, found, images = items("V")
    assert [item.shown["text"] for item in found] == ["redder", "no belt"] and study.plan.seats == 2
    assert [images[item.shown["reference"]].image_id for item in found] == ["a", "C.PNG"]
    assert [len(item.shown["panel"]) for item in found] == [2, 2]
    assert found[1].hidden["target_id"] == "pics\\d.png" and study.source["columns"]["text"] == ["mod"]
    assert "2 rows of q.csv read as 2 items" in output and "reference from Ref" in output


def test_a_target_study_in_either_shape(here, tmp_path):
    wide = xlsx(tmp_path / "w.xlsx", [("id", "text", "reference", "candidate 1", "candidate 2", "target"),
                                      ("q1", "redder", "a", "b", "c", "d"), ("q2", "no belt", "e", "f", "", "")])
    long = csv_of(tmp_path / "l.csv", ("id", "text", "reference", "candidate"), ("q1", "redder", "a", "b"),
                  ("q1", "redder", "a", "c"), ("q2", "no belt", "e", "f"))
    shown = {}
    for name, table in (("W", wide), ("L", long)):
        run("create", "targets", name, "--from-table", table, "--images", here)
        _, found, images = items(name)
        shown[name] = {item.hidden["query_id"]: sorted(images[token].image_id for token in item.shown["candidates"])
                       for item in found}
    assert shown == {"W": {"q1": ["b", "c", "d"], "q2": ["f"]}, "L": {"q1": ["b", "c"], "q2": ["f"]}}
    for form in ("csv", "results"):
        run("export", form, "L", "--out", tmp_path / form)
    wrong = csv_of(tmp_path / "x.csv", ("id", "text", "reference", "candidate"), ("1", "redder", "a", "b"),
                   ("1", "other", "a", "c"))
    with pytest.raises(CirqueError, match=r"x\.csv, line 3: the id '1' has another text or reference in line 2"):
        run("create", "targets", "X", "--from-table", wrong, "--images", here)


@pytest.mark.parametrize("kind", ["validity", "sessions", "targets"])
def test_everybody_in_the_order_of_the_table(here, tmp_path, kind):
    head, row = {
        "validity": (("ref", "tgt", "text"), lambda n: ("a", "b", f"text {n}")),
        "sessions": (("session", "reference", "text", "target"), lambda n: (f"s{n}", "a", f"text {n}", "b")),
        "targets": (("reference", "text", "candidate"), lambda n: ("a", f"text {n}", "b|c"))}[kind]
    table = csv_of(tmp_path / "t.csv", head, *map(row, range(12)))
    run("create", kind, "T", "--from-table", table, "--images", here, "--people", 3, "--overlap", 2, "--order", "table")
    study, found, _ = items("T")
    with open_stores() as stores:
        places = stores.studies.assignments(study.study_id)
    number = {item.item_id: item.number for item in found}
    for seat in (1, 2, 3):
        mine = [number[one.item_id] for one in sorted(places, key=lambda one: one.position) if one.seat == seat]
        assert mine == sorted(mine) and len(mine) == 8          # 12 × 2 / 3
    assert study.plan.order == "table" and "in the order of the table" in run("show", "T")
    run("create", kind, "D", "--from-table", table, "--images", here, "--order", "disputed")
    assert "the most disputed items first" in run("show", "D")


def test_no_other_source_keeps_its_order(here, tmp_path):
    """It may be sorted by what judges must not know."""
    for kind, source in (("validity", ["--from-sessions"]), ("targets", [tmp_path, "--gallery", "g"])):
        said = refused("create", kind, "T", *source, "--order", "table")
        assert said == "--order table works only with --from-table."


def test_a_preference_study(here, tmp_path):
    table = csv_of(tmp_path / "q.csv", ("text", "reference", "results slerp", "results CIReVL"),
                   ("redder", "a", "a|b|c|d|e|f", "g|h|i|j|k"), ("no belt", "b", "a|c|d|e|f", "c|d|e|f|g"))
    run("create", "preference", "P", "--from-table", table, "--images", here, "--shared-every", 0, "--allow-tie")
    study, found, _ = items("P")
    assert study.settings["allow_tie"] is True and study.source["methods"] == ["results slerp", "results CIReVL"]
    by_method = dict(zip(found[0].hidden["methods"], found[0].hidden["set_ids"], strict=True))
    assert by_method["results slerp"] == list("bcdef"), "the reference is shown anyway"
    short = csv_of(tmp_path / "s.csv", ("text", "reference", "set A", "set B"),
                   ("redder", "a", "a|b|c|d|e", "b|c|d|e|f"))
    with pytest.raises(CirqueError, match="1 method has 5 images besides the reference"):
        run("create", "preference", "S", "--from-table", short, "--images", here)


def test_a_session_study(here, tmp_path):
    table = csv_of(tmp_path / "s.csv", ("session", "turn", "reference", "text", "target"),
                   ("s1", "2", "b", "no belt", ""), ("s1", "1", "a", "redder", "c"), ("s2", "1", "d", "longer", "e"))
    run("create", "sessions", "S", "--from-table", table, "--images", here)
    _, found, images = items("S")
    assert [[turn["text"] for turn in item.shown["turns"]] for item in found] == [["redder", "no belt"], ["longer"]]
    assert [images[item.shown["target"]].image_id for item in found] == ["c", "e"]
    wrong = csv_of(tmp_path / "w.csv", ("session", "turn", "reference", "text", "target"), ("s1", "1", "a", "x", "c"),
                   ("s1", "1", "b", "y", "d"), ("s2", "one", "d", "z", "e"), ("s3", "1", "d", "z", ""))
    with pytest.raises(CirqueError) as caught:
        run("create", "sessions", "W", "--from-table", wrong, "--images", here)
    for words in ("line 2: the session 's1' has 2 targets", "line 3: the turn '1'", "there twice",
                  "line 4: the turn 'one'", "not a whole number", "line 5: the session 's3' has no target"):
        assert words in str(caught.value)


def test_questions_of_ones_own(here, tmp_path):
    table = csv_of(tmp_path / "t.csv", ("session", "turn", "reference", "text", "target"), ("s1", "1", "a", "x", "c"))
    queries = csv_of(tmp_path / "q.csv", ("text", "reference", "target"), ("x", "a", "b"))
    own, asked = tmp_path / "mine.toml", ("--images", here, "--questions", tmp_path / "mine.toml")
    assert "cannot be read as UTF-8" in refused("create", "validity", "V", "--from-table", queries, *asked)
    own.write_text(run("questions", "validity").replace("circus/1", "mine/1").replace("Too broad", "Too many"), "utf-8")
    said = refused("create", "sessions", "S", "--from-table", table, *asked, "--dry-run")
    assert said.startswith("mine.toml, questions: this field is missing"), "a file of another kind"
    assert "no kind of study 'votes'" in refused("questions", "votes")
    run("create", "validity", "V", "--from-table", queries, *asked)
    assert items("V")[0].protocol == "mine/1" and 'name = "Too many"' in run("questions", "V", "--of-study")
    own.write_text(OWN_QUESTIONS, "utf-8")
    run("create", "sessions", "S", "--from-table", table, *asked)
    assert (items("S")[0].protocol, run("questions", "S", "--of-study")) == ("my-lab/1", OWN_QUESTIONS)
    run("create", "validity", "W", "--from-table", queries, "--images", here)
    with pytest.raises(CirqueError, match="W uses circus/1, which comes with cirque"):
        run("questions", "W", "--of-study")


def test_marks_and_a_survey_of_ones_own(here, tmp_path):
    marked = csv_of(tmp_path / "m.csv", ("id", "text", "reference", "candidates"), ("q1", "redder", "a", "b|c"))
    compared = csv_of(tmp_path / "p.csv", ("text", "reference", "results one", "results two"),
                      ("redder", "a", "b|c|d|e|f", "g|h|i|j|k"))
    own = tmp_path / "mine.toml"
    for kind, table, text in (("targets", marked, OWN_MARKS), ("preference", compared, OWN_SURVEY)):
        assert run("questions", kind).startswith("# ")
        text = text.replace("my-lab/1", f"my-{kind}/1")
        own.write_text(text, "utf-8")
        run("create", kind, kind, "--from-table", table, "--images", here, "--questions", own)
        assert (items(kind)[0].protocol, run("questions", kind, "--of-study")) == (f"my-{kind}/1", text)
        run("export", "csv", kind, "--out", tmp_path / kind)
        assert (tmp_path / kind / "questions.toml").read_text("utf-8") == text
    assert items("preference")[0].settings["set_names"] == ["Shelf A", "Shelf B"]
    run("create", "preference", "named", "--from-table", compared, "--images", here, "--questions", own,
        "--set-names", "Left,Right")
    assert items("named")[0].settings["set_names"] == ["Left", "Right"]


def test_all_faults_of_a_table_at_once(here, tmp_path):
    table = csv_of(tmp_path / "q.csv", ("id", "text", "reference", "target"), ("1", "", "a", "b"), ("1", "x", "a", "b"),
                   ("2", "x", "", "b"))
    said = refused("create", "validity", "V", "--from-table", table, "--images", here)
    for words in ("3 faults in q.csv", "line 2, column text: it is empty", "line 3: the id '1' is also in line 2",
                  "line 4, column reference: it is empty"):
        assert words in said


def test_missing_pictures_are_listed(here, tmp_path):
    rows = [("x", "a", f"none{number}") for number in range(12)]
    table = csv_of(tmp_path / "q.csv", ("text", "reference", "target"), *rows, ("y", "a", "b"))
    said = refused("create", "validity", "V", "--from-table", table, "--images", here)
    assert "12 of 14 pictures are not in pics" in said and "line 2, target: none0 is not there" in said
    assert "none9" in said and "none10" not in said and "and 2 more" in said
    run("create", "validity", "V", "--from-table", table, "--images", here, "--skip-missing")
    assert len(items("V")[1]) == 1


def test_pictures_in_a_zip_and_a_damaged_one(here, tmp_path):
    files = {f"deep/{path.name}": path.read_bytes() for path in here.iterdir()}
    archive = zipped(tmp_path / "p.zip", {**files, "deep/b.png": b"no picture"})
    table = csv_of(tmp_path / "q.csv", ("text", "reference", "target"), ("x", "a.jpg", "c"))
    run("create", "validity", "V", "--from-table", table, "--images", archive)
    assert len(items("V")[2]) == 2
    table = csv_of(tmp_path / "r.csv", ("text", "reference", "target"), ("x", "a", "b"))
    with pytest.raises(CirqueError, match=r"table::1, target: b "):
        run("create", "validity", "R", "--from-table", table, "--images", archive)


def test_a_dry_run_says_what_would_be(here, tmp_path):
    table = csv_of(here / "q.csv", ("text", "reference", "target"), ("x", "a", "b"), ("y", "c", "d"))
    told = json.loads(run("create", "validity", "V", "--from-table", table, "--overlap", 2, "--people", 2, "--dry-run",
                          "--json"))      # pictures beside the table
    assert told["plan"]["judgements"] == 4 and told["items"] == {"table::unknown": 2}
    with open_stores() as stores:
        assert not stores.studies.studies()


REFUSED = (
    (("validity", "V", "--from-table", "T", "--sample", 1), "--sample cannot be combined with --from-table"),
    (("validity", "V", "--from-sessions", "--columns", "text=x"), "--columns works only with --from-table"),
    (("validity", "V", "--from-table", "T", "--from-sessions"), "cannot go together"),
    (("validity", "V", "--from-table", "T", "--columns", "text=x"), "no column 'x'"),
    (("validity", "V", "--from-table", "T", "--overlap", 3), "An overlap of 3 needs 3 people"),
    (("targets", "V", "D", "--from-table", "T"), "choose the rows in the table"), (("targets", "V"), "Name the folder"),
    (("preference", "V", "--from-table", "T", "--dataset", "sample"), "--dataset cannot be combined with --from-table"),
    (("preference", "V", "--from-table", "T"), "at least 2 columns of sets"),
    (("sessions", "V"), "Name the table"), (("sessions", "V", "--from-table", "T"), "no column for session"),
    (("validity", "V", "--from-table", "T", "--images", "none"), "none is missing"),
    (("validity", "V", "--from-table", "T", "--images", ".", "--gallery", "g"), "cannot go together"),
)


def test_options_that_do_not_go_together(here, monkeypatch):
    monkeypatch.chdir(here)
    csv_of(here / "T", ("text", "reference", "target"), ("x", "a", "b"))
    for arguments, words in REFUSED:
        assert words in refused("create", *arguments)
