"""``cirque report`` as a person types it: reports, their files, and the scores that they take in."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from annotation.records import Judgement
from annotation.studies.assignment import reassign
from cir_core.encoders import load_encoder
from cir_core.errors import (
    CirqueError,
    DatasetError,
    GalleryError,
    MethodError,
    RelevanceUnavailable,
    SearchError,
    SettingsError,
    StudyError,
    UnknownScores,
    UnknownStudy,
)
from cir_core.gallery.indexing import index_folder
from cir_core.settings import get_settings
from cir_core.types.records import Thumb
from cli.main import app
from cli.tables.report_tables import LINES
from tests.fakes.preferences import an_answer
from tests.fakes.relevance import save_random
from tests.fakes.session_ratings import a_session, judged_file, keep_sessions
from tests.fakes.studies import flagged, make_preference_study, make_study, valid
from tests.fakes.turns import a_session as a_search
from tests.fakes.turns import a_turn
from tests.integration.homes import command_home, command_stores  # noqa: F401

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
TEXT, BROAD = "INVALID_TEXT_QUERY", "QUERY_TOO_BROAD"
# Four items, all in the agreement block. Ann and Bob agree on three of four; Çağla judged two.
VERDICTS = {
    "Ann": [valid(), valid(), flagged(TEXT), flagged(TEXT)],
    "Bob": [valid(), valid(), flagged(TEXT), valid()],
    "Çağla": [valid(), flagged(BROAD)],
}



def answer(stores, study, person, given):
    """``given`` for the study's items by number, from the first."""
    store = stores.studies
    numbers = {item.item_id: item.number for item in store.items(study.study_id)}
    store.join(study.study_id, person, AT, reassign)
    for place in store.overview(study.study_id, person):
        number = numbers[place.item_id]
        if number < len(given):
            store.save(Judgement(
                f"{study.study_id}-{person}-{number}", study.study_id, place.item_id, person, 0, f"t{number}",
                study.protocol, given[number], 5.0, AT + timedelta(minutes=number)), unsure=False)


@pytest.fixture
def validity(stores, home):
    study = make_study(stores.studies, home, name="Well formed?", items=4, seats=3, agreement_items=4, pictures=12)
    for person, given in VERDICTS.items():
        answer(stores, study, person, given)
    return study


@pytest.fixture
def preference(stores, home):
    """Twelve questions, six for each of two people, who like stored set 1 more the later the question."""
    study = make_preference_study(stores.studies, home, pictures=24)
    given = [an_answer(1 + number % 5, 5 - number % 5, 1 if number % 5 > 1 else 2, first=1 + number % 2)
             for number in range(12)]
    for person in ("Ann", "Bob"):
        answer(stores, study, person, given)
    return study


def run(*arguments):
    """What the command prints; raises what it raises."""
    result = CliRunner().invoke(app, ["report", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def refused(error: type[CirqueError], sentence: str, *arguments) -> None:
    with pytest.raises(error, match=sentence):
        run(*arguments)


# --- validity -------------------------------------------------------------------------------------


def test_the_json_of_a_validity_study_has_the_fixed_keys(validity):
    """By hand. Ann and Bob: p_o = 3/4, p_e = 1/2 · 3/4 + 1/2 · 1/4 = 1/2, kappa = (3/4 - 1/2) / (1/2) = 1/2.
    Ann and Çağla: (valid, valid) and (valid, not): Ann is constant, p_o = p_e = 1/2, kappa = 0; so are Bob and she.
    All who judged an item gave the same signature on items 0 and 2, two of four."""
    found = json.loads(run("validity", "WELL formed?", "--json", "--draws", 50))
    assert (found["n_items"], found["n_raters"]) == (4, 3)
    binary = found["binary"]
    assert {(pair["a"], pair["b"]): (pair["n"], pair["kappa"]) for pair in binary["pairs"]} == {
        ("Ann", "Bob"): (4, 0.5), ("Ann", "Çağla"): (2, 0.0), ("Bob", "Çağla"): (2, 0.0)}
    assert {key: binary["pairwise_cohen"][key] for key in ("count", "median", "min", "max")} == {
        "count": 3, "median": 0.0, "min": 0.0, "max": 0.5}
    assert binary["pairwise_cohen"]["mean"] == pytest.approx(1 / 6)
    assert binary["exact_agreement_rate"] == binary["unanimous_rate"] == 0.5
    assert {"fleiss_kappa", "krippendorff_alpha"} <= binary.keys()
    assert set(found["flags"]) == {"INVALID_TARGET_IMAGE", "INVALID_IMAGE_QUERY", TEXT, BROAD}
    for flag in found["flags"].values():
        assert {"positive_rate", "fleiss_kappa", "krippendorff_alpha", "pairwise_cohen"} <= flag.keys()
    assert {(pair["a"], pair["b"]): (pair["n"], pair["agreement"]) for pair in found["signature"]["pairs"]} == {
        ("Ann", "Bob"): (4, 0.75), ("Ann", "Çağla"): (2, 0.5), ("Bob", "Çağla"): (2, 0.5)}
    assert found["about"]["options"]["seed"] == get_settings().seed and found["about"]["options"]["draws"] == 50


def test_undefined_kappas_as_the_option_says(validity):
    keys = ("Well formed?", "--json", "--draws", 0)
    image = json.loads(run(*keys))["flags"]["INVALID_IMAGE_QUERY"]["pairwise_cohen"]
    assert (image["count"], image["undefined"], image["mean"]) == (0, 3, None) and image["reason"]
    image = json.loads(run(*keys, "--undefined-kappa", "one"))["flags"]["INVALID_IMAGE_QUERY"]["pairwise_cohen"]
    assert (image["count"], image["mean"]) == (3, 1.0)


def test_a_selection_of_people_by_name_or_code(validity):
    keys = ("Well formed?", "--json", "--draws", 0)
    seats = {one["name"]: one["seat"] for one in json.loads(run(*keys))["raters"]}
    by_name = json.loads(run(*keys, "-p", "ann ", "--person", "ÇAĞLA"))
    assert [one["name"] for one in by_name["raters"]] == ["Ann", "Çağla"] and by_name["n_items"] == 2
    by_code = json.loads(run(*keys, "-p", f"P{seats['Ann']:02}", "-p", f"p{seats['Çağla']:02}", "-p", "ann"))
    assert by_code == by_name
    assert json.loads(run(*keys, "--block", "-c", "shortcut_free", "-d", "sample"))["judged"] == 2
    refused(StudyError, r"Nobody called Zoe is in Well formed\?\. In it are Ann, Bob, Çağla", *keys, "-p", "Zoe")
    with pytest.raises(StudyError) as hidden:
        run(*keys, "-p", "Zoe", "--hide-names")
    assert "P01, P02, P03" in str(hidden.value) and "Ann" not in str(hidden.value)


def test_hidden_names_are_nowhere(validity, tmp_path):
    shown = run("Well formed?", "--hide-names", "--draws", 20, "--out", tmp_path / "made")
    written = [path.read_bytes().decode() for path in sorted((tmp_path / "made").rglob("*")) if path.is_file()]
    assert "P01" in shown and len(written) > 10
    for text in (shown, *written):
        for person in ("Bob", "Çağla", "\\u00c7"):
            assert person not in text


def test_the_terminal_shows_headlines_and_tables(validity):
    shown = run("Well formed?", "--draws", 20, "--all")
    assert shown.startswith("Well formed?: 10 of 12 answers\n")
    assert "Pairwise Cohen’s κ" in shown and "Çağla" in shown and "0.500" in shown
    assert max(map(len, shown.splitlines())) > 100   # wider than the terminal rather than cut
    assert "…" not in shown.replace("… and", "")
    said = [line.partition("] ")[2] for line in shown.splitlines() if re.match(r"\[\d+\] ", line)]
    assert said and len(said) == len(set(said))      # each remark once, at the end
    assert TEXT not in shown and "Unclear text" in shown


@pytest.mark.parametrize("study", ["validity", "preference", "sessions"])
def test_the_terminal_shows_what_matters_in_sixty_lines(study, request):
    made = request.getfixturevalue(study)
    name = made[0].name if study == "sessions" else made.name
    shown, whole = run(name, "--draws", 20).splitlines(), run(name, "--draws", 20, "--all").splitlines()
    assert len(shown) <= LINES < len(whole)
    assert re.fullmatch(r"\d+ more tables with --all, or as files with --out\.", shown[-1])
    headings = [line for line in whole if line.isupper() and line != "METHOD"]
    assert headings[:3] == [line for line in shown if line.isupper()][:3]


def test_a_flag_that_nobody_set_is_no_row_of_what_matters(validity):
    assert "Unusable reference" in run("Well formed?", "--draws", 0, "--all")
    shown = run("Well formed?", "--draws", 0)
    assert "Unusable reference" not in shown and "Unclear text" in shown


def test_the_wrong_kind_and_the_wrong_scale_are_refused(validity, preference):
    # With the kind first, as in earlier versions.
    refused(StudyError, 'is a preference study. Its report: cirque report "Shops"', "validity", "shops")
    refused(StudyError, r'cirque report "Well formed\?"', "preference", "Well formed?")
    assert run("validity", "--json", "Well formed?", "--draws", 0) == run("Well formed?", "--json", "--draws", 0)
    refused(StudyError, "alpha of a validity study is nominal", "Well formed?", "--scale", "ordinal")
    refused(StudyError, "alpha of a preference study is ordinal", "shops", "--scale", "nominal")
    run("Well formed?", "--scale", "nominal", "--draws", 0)
    refused(UnknownStudy, "No study 'nothing'", "nothing")
    refused(StudyError, "needs --draws above 0", "Well formed?", "--width", 0.1, "--draws", 0)


def test_a_study_called_like_a_kind(stores, home):
    make_study(stores.studies, home, name="validity", items=2, pictures=6, panel=2)
    assert run("validity", "--draws", 0, "--json") == run("--draws", 0, "--json", "validity")


def test_a_study_called_like_a_command(stores, home):
    make_study(stores.studies, home, name="scores", items=2, pictures=6, panel=2)
    whole = run("--draws", 0, "--json", "--", "scores")
    assert run("scores", "--draws", 0, "--json") == run("--draws", 0, "--json", "scores") == whole
    assert run("scores", "--json", "--draws", 0) == run("validity", "scores", "--draws", 0, "--json") == whole
    refused(StudyError, "has no sets that a metric could score", "scores", "scores")


# --- searches -------------------------------------------------------------------------------------


def thumbs(stores, *ups, texts=("in red",), when=AT, person="Ann", gallery="atelier"):
    """A session with a turn for each of ``texts``; ``ups``: thumbs on the results of the first, from the first on."""
    session = stores.sessions.create_session(a_search(gallery=gallery))
    turns = []
    for text in texts:
        parent = turns[-1].turn_id if turns else None
        turns.append(stores.sessions.add_turn(a_turn(
            session.session_id, parent, n_hits=8, modification_text=text, created_at=when)))
    for hit, up in zip(turns[0].hits, ups, strict=False):
        if up is not None:
            stores.sessions.put_thumb(session.session_id, Thumb(turns[0].turn_id, hit.image_id, person, up, when))
    return session


def test_satisfaction_with_searches(stores, tmp_path):
    """By hand: 3 of 4 thumbs among the first five say yes; of 15 such results of three turns 4 are judged."""
    thumbs(stores, True, None, False, True, None, None, False, texts=("in red", "longer"))
    thumbs(stores, True, texts=("not red",))
    found = json.loads(run("searches", "--json", "--tables", tmp_path / "tables"))
    overall = found["overall"]
    assert (overall["satisfaction"], overall["judgements"], overall["up"]) == (0.75, 4, 3)
    assert (overall["results_judged"], overall["results"], overall["coverage"]) == (4, 15, 4 / 15)
    assert (overall["turns_judged"], overall["turns"], overall["sessions_judged"], overall["sessions"]) == (2, 3, 2, 2)
    assert overall["low"] is None and "2 sessions of the 10" in overall["reason"]
    assert [(one["turn"], one["satisfaction"]) for one in found["by_turn"]] == [(1, 0.75), (2, None)]
    assert [(one["request"], one["satisfaction"]) for one in found["by_request"]] == [
        ("colour", 2 / 3), ("negation", 1), ("comparison", None)]
    assert [one["method"] for one in found["by_method"]] == ["Custom"]
    assert len(found["by_turn_request_and_method"]) == 3
    few, beyond = found["notes"]
    assert "at least 8 more" in few and "1 judgement of results beyond the first 5 does not count" in beyond
    rows = list(csv.DictReader(io.StringIO((tmp_path / "tables" / "searches-turn.csv").read_text("utf-8-sig"))))
    assert [(row["turn"], row["satisfaction"], row["judgements"], row["coverage"]) for row in rows] == [
        ("1", "0.75", "4", "0.4"), ("2", "", "0", "0.0")]
    printed = run("searches")
    assert "75.0 %" in printed and "BY TURN" not in printed and "at least 8 more" in printed


def test_searches_of_a_time_and_of_a_gallery(stores):
    thumbs(stores, True, when=AT)
    thumbs(stores, False, when=AT + timedelta(days=2), gallery="shoes")

    def of(*options):
        overall = json.loads(run("searches", "--json", *options))["overall"]
        return overall["up"], overall["judgements"]

    assert of() == (1, 2) and of("--gallery", "shoes") == (0, 1) and of("--gallery", "atelier") == (1, 1)
    assert of("--since", "2026-03-02") == of("--since", "2026-03-03T09:00") == of("--since", "2026-03-03T10:00+01:00")
    assert of("--since", "2026-03-03T09:00") == (0, 1) and of("--since", "2026-03-03T09:01") == (0, 0)
    refused(SearchError, "over a gallery 'hats'. There are sessions over atelier, shoes", "searches", "-g", "hats")
    refused(CirqueError, "'yesterday' is not a time", "searches", "--since", "yesterday")


def test_nothing_judged_says_what_to_do_first(stores, tmp_path):
    assert "Search first" in run("searches", "--tables", tmp_path / "none")
    assert json.loads(run("searches", "--json"))["overall"]["satisfaction"] is None
    refused(SearchError, "no search sessions yet", "searches", "--gallery", "hats")
    thumbs(stores)
    printed = run("searches")
    assert "Nobody has judged" in printed and "1 turn in 1 session" in printed and "All searches" not in printed


def test_a_study_called_searches(stores, home):
    make_study(stores.studies, home, name="searches", items=2, pictures=6, panel=2)
    assert "Its report: cirque report -- searches" in run("searches")
    whole = json.loads(run("--draws", 0, "--json", "--", "searches"))
    assert "n_raters" in whole and json.loads(run("validity", "searches", "--draws", 0, "--json")) == whole
    assert "n_raters" in json.loads(run("searches", "--draws", 0, "--json", "--hide-names"))   # an option of its own


def test_an_option_of_other_kinds_is_refused(validity, preference, sessions):
    has = {"Well formed?": "--dataset, --category, --block, --scale, --width",
           "Shops": "--dataset, --category, --rule, --k, --scores, --resample, --scale, --width",
           "Stories": "--source, --subset, --block, --scores, --scale, --width"}
    options = {"--dataset": "sample", "--category": "x", "--source": "x", "--subset": "x", "--block": None,
               "--rule": "none", "--k": 1, "--scores": "gone.csv", "--resample": "items"}
    for name, own in has.items():
        for option, value in options.items():
            if option not in own.split(", "):
                refused(StudyError, f"study: its report has no {option}. Leave it out; what it has are {own}", name,
                        option, *(() if value is None else (value,)))


def test_the_example_of_the_docs(validity, tmp_path, monkeypatch, capsys):
    text = Path(__file__).parents[2].joinpath("docs", "how-to", "studies", "paper.md").read_text("utf-8")
    [example] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(example.replace("First hundred", validity.name), {})
    said = capsys.readouterr().out
    assert "Çağla" in said and "Unclear text" in said
    assert (tmp_path / "kappa.pdf").read_bytes().startswith(b"%PDF")


def test_a_plan_is_part_of_report_and_json(validity):
    keys = ("Well formed?", "--width", 0.5, "--draws", 50)
    assert "PRECISION" in run(*keys)
    plan = json.loads(run(*keys, "--json"))["plan"]
    assert {one["more_of"] for one in plan} == {"items", "answers per item"} and all(one["assumption"] for one in plan)


def test_what_is_printed_as_json_is_what_is_written(validity, preference, tmp_path):
    for kind, name in (("validity", "Well formed?"), ("preference", "shops")):
        printed = run(name, "--json", "--draws", 30, "--width", 0.4, "--out", tmp_path / kind)
        assert (tmp_path / kind / "report.json").read_text("utf-8") == printed
        assert json.loads(printed)["plan"]
    assert json.loads(run("Well formed?", "--json", "--draws", 0))["plan"] == []


def test_files_are_written_and_never_over_others_by_accident(validity, tmp_path):
    made = tmp_path / "reports" / "first"
    keys = ("Well formed?", "--draws", 20, "--out", made)
    assert run(*keys).endswith(f"Wrote the report to {made}\n")
    names = {str(path.relative_to(made)) for path in made.rglob("*") if path.is_file()}
    assert {"report.md", "report.html", "report.json"} <= names and any(name.startswith("tables/") for name in names)
    assert not [name for name in names if name.endswith(".part")]
    assert json.loads((made / "report.json").read_text("utf-8"))["n_items"] == 4
    (made / "report.md").write_text("mine")
    refused(SettingsError, r"already has .* more files\. Choose another folder with --out, or overwrite it "
            "with --force", *keys)
    assert (made / "report.md").read_text() == "mine"
    found = json.loads(run(*keys, "--force", "--json"))
    assert found["n_items"] == 4 and "Well formed?" in (made / "report.md").read_text("utf-8")
    (tmp_path / "a file").write_text("")
    refused(SettingsError, "cannot be written", *keys[:-1], tmp_path / "a file")


@pytest.mark.extended
def test_a_zip_holds_what_a_folder_would(validity, tmp_path):
    keys = ("Well formed?", "--draws", 20, "--out")
    run(*keys, tmp_path / "folder")
    archive = tmp_path / "new" / "report.ZIP"
    assert run(*keys, archive).endswith(f"Wrote the report to {archive}\n")
    with zipfile.ZipFile(archive) as found:
        assert {name: found.read(name) for name in found.namelist()} == {
            path.relative_to(tmp_path / "folder").as_posix(): path.read_bytes()
            for path in (tmp_path / "folder").rglob("*") if path.is_file()}
    refused(SettingsError, r"new already has report\.ZIP\. Choose another folder with --out, or overwrite it "
            "with --force", *keys, archive)
    run(*keys, archive, "--force")
    (tmp_path / "folder.zip").mkdir()
    refused(SettingsError, "folder.zip is a folder", *keys, tmp_path / "folder.zip")


def test_a_selection_and_few_draws_are_said_in_the_terminal(validity):
    shown = run("Well formed?", "--draws", 20, "-p", "Ann", "-p", "Bob")
    assert shown.splitlines()[1] == "Selected: people Ann, Bob (8 of 10 answers)"
    assert "use 20 draws, too few" in shown
    shown = run("Well formed?", "--draws", 0)
    assert "Selected:" not in shown and "too few for reliable bounds" not in shown


# --- preference and scores ------------------------------------------------------------------------


def scores_file(stores, study, folder: Path, name: str = "scores.csv", **columns) -> Path:
    """A CSV as people make it: questions by key, and a column of numbers for each metric."""
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["item", "set", *columns])
    for item in stores.studies.items(study.study_id):
        for number in (1, 2):
            rows.writerow([item.key, number, *(of(item.number, number) for of in columns.values())])
    (folder / name).write_text(text.getvalue(), "utf-8")
    return folder / name


def liking(number, which):
    """As the two people do: set 1 the better the later within five."""
    return number % 5 if which == 1 else 4 - number % 5


def test_the_json_of_a_preference_study_has_the_fixed_keys(preference, stores, tmp_path):
    """A column that follows the ratings: rho is 1. Its two scores are equal where n % 5 is 2, two of twelve questions,
    so the symmetric rate is over the other ten, and all of these follow it."""
    file = scores_file(stores, preference, tmp_path, mine=liking)
    found = json.loads(run("shops", "--json", "--draws", 50, "--scores", file, "--k", 1, "--k", 5))
    assert (found["n_people"], found["n_questions"], found["n_valid"]) == (2, 12, 12)
    assert set(found["ratings"]) == set("12345") and sum(found["ratings"].values()) == 24
    assert set(found["metrics"]) == {"recall@1", "recall@5", "mine"}
    for metric in found["metrics"].values():
        assert {"shapiro", "spearman", "preference_rate_ge", "preference_rate_gt", "preference_rate_symmetric",
                "preference_rate_given_equal_recall"} <= metric.keys()
        assert {"w", "p"} <= metric["shapiro"].keys() and {"rho", "p", "ci95", "n"} <= metric["spearman"].keys()
        assert {"rate", "n", "ci95"} <= metric["preference_rate_ge"].keys()
    mine = found["metrics"]["mine"]
    assert mine["spearman"]["rho"] == pytest.approx(1.0) and mine["spearman"]["n"] == 24
    assert (mine["preference_rate_symmetric"]["rate"], mine["preference_rate_symmetric"]["n"]) == (1.0, 10)
    assert stores.studies.scores(preference.study_id) == ()   # for this report only


def test_a_preference_report_in_the_terminal_and_as_files(preference, tmp_path):
    shown = run("shops", "--draws", 50, "--rule", "none", "--resample", "people", "--width", 0.2,
                "--out", tmp_path / "made")
    assert shown.startswith("Shops: 12 of 12 answers\n") and "recall@5" in shown and "PRECISION" in shown
    assert (tmp_path / "made" / "report.html").stat().st_size > 1000
    assert "ratings as pdf" in (tmp_path / "made" / "figures" / "ratings.pdf").read_text()
    assert r"\cirqueimage{figures/ratings.pdf}" in (tmp_path / "made" / "report.tex").read_text("utf-8")
    refused(StudyError, "rule", "shops", "--rule", "nonsense")


def test_scores_are_added_listed_and_removed(preference, stores, tmp_path):
    assert "has no stored scores" in run("scores", "shops")
    file = scores_file(stores, preference, tmp_path, mine=liking, other=lambda number, which: number * which)
    assert "Stored mine with Shops: 24 sets of 24." in run("scores", "shops", "--add", file)
    assert [(one["name"], one["sets"], one["of"]) for one in json.loads(run("scores", "shops", "--json"))] == [
        ("mine", 24, 24), ("other", 24, 24)]
    listed = run("scores", "shops")
    assert "24 of 24" in listed and "Column mine of scores.csv." in " ".join(listed.split())
    found = json.loads(run("shops", "--json", "--draws", 0))
    assert set(found["metrics"]) == {"recall@5", "mine", "other"}
    # A file for one report stands in for what is kept under the same name.
    worse = scores_file(stores, preference, tmp_path, "worse.csv", MINE=lambda *of: -liking(*of))
    found = json.loads(run("shops", "--json", "--draws", 0, "--scores", worse))
    assert found["metrics"]["MINE"]["spearman"]["rho"] == pytest.approx(-1.0) and "mine" not in found["metrics"]
    assert "Removed other" in run("scores", "shops", "--remove", "other")
    assert [one["name"] for one in json.loads(run("scores", "shops", "--json"))] == ["mine"]
    refused(UnknownScores, "It has mine", "scores", "shops", "--remove", "other")


def test_scores_by_a_method(preference, stores, home, tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number in range(24):
        colour = (number * 53 % 256, number * 97 % 256, number * 29 % 256)
        Image.new("RGB", (48, 64), colour).save(folder / f"picture-{number:04}.png")
    index_folder(folder, name="pictures", encoder=load_encoder("atelier"), home=home)
    said = run("scores", "shops", "--method", "slerp", "--gallery", "pictures", "--name", "cosine")
    assert "Stored cosine with Shops: 24 sets of 24." in said
    [kept] = stores.studies.scores(preference.study_id)
    assert "in the gallery pictures of 24 images with the encoder atelier" in kept.description
    assert len(set(kept.scores.values())) > 12 and all(-1 <= value <= 1 for value in kept.scores.values())
    found = json.loads(run("shops", "--json", "--draws", 0))
    assert found["metrics"]["cosine"]["spearman"]["n"] == 24
    refused(GalleryError, "nowhere", "scores", "shops", "--method", "slerp", "--gallery", "nowhere")
    refused(MethodError, "nothing", "scores", "shops", "--method", "nothing", "--gallery", "pictures")
    learned = save_random(tmp_path / "model")
    said = run("scores", "shops", "--metric", "cirqrs", "--gallery", "pictures", "--relevance", tmp_path / "model")
    assert "Stored CIRQRS with Shops: 24 sets of 24." in said
    [of_model] = [one for one in stores.studies.scores(preference.study_id) if one.name == "CIRQRS"]
    assert learned.revision in of_model.description and all(-1 < value < 1 for value in of_model.scores.values())
    metrics = json.loads(run("shops", "--json", "--draws", 0))["metrics"]
    assert metrics["CIRQRS"]["spearman"]["n"] == 24 and metrics["CIRQRS"]["preference_rate_ge"]["n"] > 0
    asked = ("scores", "shops", "--gallery", "pictures")
    refused(RelevanceUnavailable, "cirque relevance train", *asked, "--metric", "cirqrs", "--relevance", tmp_path / "x")
    refused(StudyError, "name the metric", *asked, "--method", "slerp", "--relevance", tmp_path / "model")
    refused(StudyError, "one thing at a time", *asked, "--method", "slerp", "--metric", "cirqrs")


def test_scores_that_cannot_be_made_are_refused(preference, validity, stores, tmp_path):
    file = scores_file(stores, preference, tmp_path, mine=liking)
    again = scores_file(stores, preference, tmp_path, "again.csv", Mine=liking)
    refused(StudyError, "one thing at a time", "scores", "shops", "--add", file, "--remove", "mine")
    refused(StudyError, "belong to --method", "scores", "shops", "--gallery", "pictures")
    refused(StudyError, "Name it with --gallery", "scores", "shops", "--method", "slerp")
    refused(StudyError, "one method at a time", "scores", "shops", "--method", "slerp,text-only", "--gallery", "g")
    refused(StudyError, "recall itself", "scores", "shops", "--method", "slerp", "--gallery", "g", "--name", "recall@5")
    refused(StudyError, "none of them invisible", "scores", "shops", "--method", "slerp", "--gallery", "g", "--name",
            "a\u202eb")
    refused(StudyError, "Two of the files have scores called Mine", "scores", "shops", "--add", file, "--add", again)
    refused(DatasetError, "cannot be read", "scores", "shops", "--add", tmp_path / "gone.csv")
    refused(DatasetError, "gone.csv cannot be read", "shops", "--scores", tmp_path / "gone.csv")
    refused(StudyError, "has no sets that a metric could score", "scores", "Well formed?", "--add", file)
    assert stores.studies.scores(preference.study_id) == ()


# --- sessions -------------------------------------------------------------------------------------


@pytest.fixture
def sessions(stores):
    """Six sessions of two sources. Ann and Bob agree on all but the last."""
    items = [a_session(number, "built" if number < 3 else "own") for number in range(6)]
    scores = dict(enumerate([1, 2, 3, 4, 5, 5]))
    return keep_sessions(stores.studies, items, {"Ann": scores, "Bob": scores | {5: 3}}), items


def test_a_session_study_beside_a_language_model(sessions, tmp_path):
    _study, items = sessions
    file = tmp_path / "judged.json"
    file.write_text(json.dumps(judged_file(items, dict(enumerate([2, 3, 4, 5, 5, 5])), "gpt-x")))
    plain = json.loads(run("stories", "--json", "--draws", 50))
    overall = plain["questions"]["overall"]
    # of each session the mean, (1 + 2 + 3 + 4 + 5 + 4) / 6; apart: only the last, by 2
    assert overall["mean"]["value"] == pytest.approx(19 / 6) and overall["apart"]["value"] == pytest.approx(2 / 6)
    assert plain["models"] == {} and plain["n_people"] == 2
    once = json.loads(run("stories", "--json", "--draws", 0, "--scores", file))
    assert once["models"]["gpt-x"]["questions"]["overall"]["difference"]["value"] == pytest.approx(5 / 6)
    assert "Stored gpt-x with Stories: 30 questions of 30." in run("scores", "stories", "--add", file)
    shown = run("stories", "--draws", 20, "--out", tmp_path / "made")
    assert "GPT-X AND PEOPLE" in shown and (tmp_path / "made" / "tables" / "model-1.csv").exists()
    assert json.loads(run("stories", "--json", "--draws", 0, "--source", "own"))["n_sessions"] == 3
    assert "30 of 30" in run("scores", "stories")
    refused(StudyError, "of the subset “nothing”", "stories", "--subset", "nothing")
    refused(StudyError, "no sets that a method could score", "scores", "stories", "--method", "slerp", "--gallery", "x")
    refused(StudyError, "alpha of a session study is ordinal", "stories", "--scale", "nominal")
    file.write_text("{}")
    refused(DatasetError, "judged.json contains no scores of sessions", "scores", "stories", "--add", file)
    assert "Removed gpt-x" in run("scores", "stories", "--remove", "gpt-x")
    assert "no stored scores of language models" in run("scores", "stories")
