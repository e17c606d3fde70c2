"""``cirque construct`` as a person types it, and constructions that are killed."""

from __future__ import annotations

import json
import random
import re
import sys
from contextlib import closing

import pytest
from typer.testing import CliRunner

from cir_core.construct.sessions.run import construct_sessions
from cir_core.errors import CirqueError, DatasetError, LanguageModelUnavailable, SettingsError
from cir_core.gallery.gallery import open_gallery
from cir_core.jobs.job import JobOptions
from cir_core.settings import get_settings
from cli.main import app
from storage.sessions.store import open_store
from storage.stores import open_stores
from tests.fakes import drawn
from tests.fakes.chat_server import ChatServer, Reply
from tests.fakes.colour_person import ColourPerson
from tests.fakes.colours import NAME, colour_gallery
from tests.fakes.construction import colour_construction
from tests.fakes.databases import use_home
from tests.fakes.turns import a_session, a_turn
from tests.integration.homes import commands_at
from tests.integration.victims import kill_when, lines_of
from tests.unit.cir_core.construct.plain_checks import STAGES, recount

COUNT = 60
PROGRAM = """
import sys
from pathlib import Path
from cir_core.construct.sessions.run import construct_sessions
from cir_core.gallery.gallery import open_gallery
from cir_core.jobs.job import JobOptions
from tests.fakes.colour_person import ColourPerson
from tests.fakes.construction import colour_construction
from tests.integration.homes import commands_at
from tests.integration.victims import no_further_than
home, folder, workers, most = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
person = ColourPerson(delay=0.002, fail=no_further_than(most, folder / "journal.jsonl"))
construction = colour_construction(open_gallery("colours", home=home), person, 60)
construct_sessions(construction, folder, options=JobOptions(workers, resume=True))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
@pytest.mark.parametrize("kills", [2, pytest.param(7, marks=pytest.mark.extended)])
def test_killed_again_and_again_it_ends_as_if_never_killed(tmp_path, kills):
    colour_gallery(tmp_path)
    home, folder = tmp_path / "home", tmp_path / "killed"
    draw, journal, lines = random.Random(20261123), folder / "journal.jsonl", 0
    for _ in range(kills):
        wanted = lines + draw.randint(1, 3)     # sessions; the journal begins with a heading
        kill_when(lambda wanted=wanted: lines_of(journal) > wanted, "-c", PROGRAM, home, folder,
                  draw.choice([1, 2, 5]), wanted + 2)
        before, lines = lines, lines_of(journal) - 1
        assert before < lines < COUNT and not (folder / "raw").exists()
    gallery = open_gallery(NAME, home=home)
    report = construct_sessions(colour_construction(gallery, ColourPerson(), COUNT), folder,
                                options=JobOptions(resume=True))
    assert report.resumed == lines
    construct_sessions(colour_construction(gallery, ColourPerson(), COUNT), tmp_path / "whole")
    for name in ("raw/cirr_val.json", "failures.json", "protocol.json"):
        assert (folder / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


# --- the commands ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """Some garments of the sample, indexed with its own encoder as "atelier"."""
    home = drawn.home(tmp_path_factory.mktemp("home"), 90)
    return home, home / "sample"


@pytest.fixture(scope="module")
def built(sample, tmp_path_factory):
    """Sessions of all queries, which some tests read."""
    home, folder = sample
    out = tmp_path_factory.mktemp("built") / "built"
    with commands_at(home):
        result = CliRunner().invoke(app, ["construct", "sessions", "sample", str(folder), "--gallery", "atelier",
                                          "--out", str(out), "--k", "3"])
    assert result.exit_code == 0, result.output
    return out


@pytest.fixture
def construct(sample, monkeypatch, tmp_path):
    home, folder = sample
    use_home(monkeypatch, home)
    monkeypatch.setattr("cli.console.out.width", 160)
    get_settings.cache_clear()

    def run(*arguments, **settings):
        for name, value in settings.items():
            monkeypatch.setenv(f"CIRQUE_{name}", value)
        get_settings.cache_clear()
        return CliRunner().invoke(app, ["construct", *map(str, arguments)])

    run.sample = ("sessions", "sample", folder, "--gallery", "atelier", "--out", tmp_path / "built")
    yield run
    get_settings.cache_clear()


def test_from_queries_to_a_benchmark(construct, tmp_path):
    built, kept = tmp_path / "built", tmp_path / "kept"
    estimate = construct(*construct.sample, "--k", 3, "--dry-run")
    assert estimate.exit_code == 0 and "a trial of 12 sessions" in estimate.output and not built.exists()
    result = construct(*construct.sample, "--k", 3)
    assert result.exit_code == 0, result.output
    raws = sorted((built / "raw").iterdir())
    assert [path.name for path in raws] == [f"sample_{name}_test.json" for name in ("dress", "shirt", "toptee")]
    contents = [json.loads(path.read_text("utf-8")) for path in raws]
    assert {content["config"]["caption_mode"] for content in contents} == {"separate"}
    assert {content["config"]["language_model"] for content in contents} == {"built-in/2"}
    assert contents[0]["config"] == json.loads((built / "protocol.json").read_text("utf-8"))
    queries = sum(content["data_completeness"]["queries"] for content in contents)
    assert f"{queries:,} sessions to construct" in estimate.output

    again = construct(*construct.sample, "--k", 3)
    assert isinstance(again.exception, DatasetError) and "Add --resume" in str(again.exception)
    assert "0 sessions to construct" in construct(*construct.sample, "--k", 3, "--resume").output
    other = construct(*construct.sample, "--k", 4, "--resume")
    assert "settings.k was 3, is 4" in str(other.exception)

    result = construct("filter", built, "--out", kept, "--explain")
    assert result.exit_code == 0, result.output
    stages = {one["subset"]: one for one in json.loads((kept / "stages.json").read_text())["subsets"]}
    from cir_core.encoders import load_encoder

    for path in raws:
        removed, left = recount(path, load_encoder("atelier"))
        assert stages[path.stem]["removed"] == removed and stages[path.stem]["kept"] == len(left)
        for session in json.loads((kept / "raw" / path.name).read_text("utf-8"))["results"]:
            ranks = [turn["best_gt_rank"] for turn in session["turns"]]
            assert ranks[-1] <= 3 < min(ranks[:-1])
        for form in ("public", "raw"):
            checked = CliRunner().invoke(app, ["datasets", "check", "circled", str(kept / form / path.name)])
            assert checked.exit_code == 0 and "No faults" in checked.output, checked.output
    total = sum(one["kept"] for one in stages.values())
    assert total > 10 and len((kept / "dropped.jsonl").read_text().splitlines()) == sum(
        one["sessions"] - one["kept"] for one in stages.values())
    as_json = construct("filter", raws[0], "--out", tmp_path / "more", "--tau", "1.01", "--json")
    assert [one["removed"]["redundancy"] for one in json.loads(as_json.stdout)] == [0]
    assert list(json.loads(as_json.stdout)[0]["removed"]) == list(STAGES)

    verified = construct("check", kept, "--json")
    assert verified.exit_code == 0 and json.loads(verified.stdout)["ok"], verified.output
    assert {one["subset"]: one["sessions"] for one in json.loads(verified.stdout)["subsets"]} == {
        name: one["kept"] for name, one in stages.items()}
    broken = construct("check", built, "--epsilon", 0)
    assert broken.exit_code == 1 and re.search(r"\d sessions break a condition:", broken.output), broken.output

    result = construct("describe", kept, "--out", tmp_path / "described")
    assert result.exit_code == 0, result.output
    assert re.search(rf"all +dress, shirt, toptee +{total} ", result.output) and "--tagger" in result.output
    described = json.loads((tmp_path / "described/description.json").read_text())
    assert described["sizes"][-1]["sessions"] == total
    assert "<!doctype html>" in (tmp_path / "described/description.html").read_text()
    assert json.loads(construct("describe", kept, "--json").stdout) == described


@pytest.mark.extended
def test_a_trial_of_some_queries_of_one_subset(construct, tmp_path):
    result = construct(*construct.sample, "--subset", "shirt", "--limit", 4, "--max-turns", 2, "--fold-duplicates")
    assert result.exit_code == 0, result.output
    [path] = (tmp_path / "built/raw").iterdir()
    content = json.loads(path.read_text())
    assert path.stem == "sample_shirt_test" and content["data_completeness"]["queries"] == 4
    assert max(len(session["turns"]) for session in content["results"]) <= 2
    assert (content["config"]["settings"]["max_turns"], content["config"]["settings"]["fold_duplicates"]) == (2, True)


@pytest.mark.extended
def test_every_reading_is_an_option_and_in_the_protocol(construct, tmp_path):
    given = {"count-turns": "after-first", "history": "generated", "difference-target": "first", "select-by": "image"}
    result = construct(*construct.sample, "--limit", 1, *(
        part for name, value in given.items() for part in (f"--{name}", value)))
    assert result.exit_code == 0, result.output
    settings = json.loads((tmp_path / "built/protocol.json").read_text())["settings"]
    assert {name: settings[name.replace("-", "_")] for name in given} == given


def test_what_cannot_work_is_said_before_anything_begins(construct, tmp_path):
    for arguments, settings, error, says in (
        (("--domain", "scene"), {}, SettingsError, "compares garments only"),
        (("--budget", 3), {}, SettingsError, "CIRQUE_LLM_PROMPT_PRICE"),
        (("--subset", "hats"), {}, DatasetError, "There is no subset 'hats'"),
        (("--split", "train"), {}, CirqueError, "train"),
    ):
        result = construct(*construct.sample, *arguments, **settings)
        assert isinstance(result.exception, error) and says in str(result.exception), result.output
        assert not (tmp_path / "built").exists()
    result = construct("filter", tmp_path, "--out", tmp_path / "x")
    assert isinstance(result.exception, DatasetError) and "contains no raw file" in str(result.exception)


def test_the_estimate_of_a_server_costs_nothing_and_its_failure_keeps_the_folder(construct, tmp_path):
    settings = {"LLM_BASE_URL": "http://127.0.0.1:9/v1", "LLM_MODEL": "m", "LLM_PROMPT_PRICE": "0.15",
                "LLM_COMPLETION_PRICE": "0.6", "LLM_RETRIES": "0"}
    result = construct(*construct.sample, "--dry-run", **settings)
    assert result.exit_code == 0, result.output
    found = re.search(r"Time: .*, cost ([\d.]+); basis: CIRCLED's 3.3 turns a query", result.output)
    assert found and float(found[1]) > 0 and re.search(r"difference +[\d,]+ +[\d,]+ +[\d,]+", result.output)
    result = construct(*construct.sample, **settings)
    assert isinstance(result.exception, LanguageModelUnavailable)
    assert "--resume continues" in str(result.exception)
    assert (tmp_path / "built/journal.jsonl").exists()


SCORES = {"naturalness": 4, "coherence": 3, "progress": 5, "redundancy": 5, "overall": 4}


@pytest.mark.extended
def test_sessions_are_judged_and_their_sources_compared(construct, built, tmp_path):
    kept, out = tmp_path / "kept", tmp_path / "judged"
    assert construct("filter", built, "--out", kept).exit_code == 0
    asked = ("judge", f"filtered={kept}", f"unfiltered={built}", "--gallery", "atelier", "--sample", 2, "--seed", 5,
             "--out", out)
    refused = construct(*asked)
    assert isinstance(refused.exception, SettingsError) and "needs a connected language model" in str(refused.exception)
    with ChatServer([Reply(json.dumps({"reason": "It reads well.", **SCORES}))]) as server:
        settings = {"LLM_BASE_URL": server.url, "LLM_MODEL": "m", "LLM_PROMPT_PRICE": "1",
                    "LLM_COMPLETION_PRICE": "10"}
        ahead = construct(*asked, "--dry-run", **settings)
        assert ahead.exit_code == 0, ahead.output
        assert re.search(r"12 sessions to judge, of [\d,]+ in 2 sources, with m@127", ahead.output)
        assert re.search(r"judge +12 +24 ", ahead.output) and not server.requests and not out.exists()
        part = construct(*asked, "--max-calls", 5, "--workers", 1, **settings)
        assert part.exit_code == 1 and "Stopped after 5 of 12 sessions: 5 requests were sent" in part.output
        whole = construct(*asked, "--resume", **settings)
        assert whole.exit_code == 0, whole.output
        assert re.search(r"filtered +all +6 +\d\.\d\d +4\.00 \[4\.00, 4\.00\]", whole.output)
        assert re.search(r"unfiltered +sample_shirt_test +2 ", whole.output) and "by number of turns" in whole.output
        sent = len(server.requests)
        assert sent <= 12      # a session that both sources have is asked for once
        again = construct(*asked, "--resume", "--json", **settings)
        assert again.exit_code == 0 and len(server.requests) == sent
        # A model without sight reads captions: of the built-in model, where the manifest has none.
        blind = construct("judge", kept, "--gallery", "kept=atelier", "--sample", 1, "--out", tmp_path / "read",
                          **settings, LLM_SEES="false")
        assert blind.exit_code == 0 and "which sees captions" in blind.output
        for request in server.requests[sent:]:
            assert re.search(r'^Turn 1: "[^"]*(dress|shirt|top)', request["messages"][1]["content"])
        assert len(server.requests) == sent + 3
    found = json.loads(again.stdout)
    assert found | {"usage": 0, "stopped": ""} == json.loads((out / "judged.json").read_text("utf-8")) | {
        "usage": 0, "stopped": ""}
    assert found["complete"] and len(found["sessions"]) == 12 and found["failures"] == []
    assert all(one.items() >= {"reason": "It reads well.", **SCORES}.items() for one in found["sessions"])
    assert found["card"]["seed"] == 5 and found["card"]["sources"].keys() == {"filtered", "unfiltered"}
    assert found["usage"]["calls"] == sent


def test_people_rate_the_sessions_that_a_model_judges(construct, built, tmp_path):
    kept = tmp_path / "kept"
    assert construct("filter", built, "--out", kept).exit_code == 0
    asked = ("judge", f"filtered={kept}", f"unfiltered={built}", "--gallery", "atelier", "--sample", 2, "--seed", 5)
    people = (*asked, "--judge", "people", "--name", "Dialogues")
    for given, refusal in (
        ((*people, "--out", tmp_path / "judged", "--resume"), "--out, --resume are only for --judge llm"),
        ((*people, "--budget", 0), "--budget is only for --judge llm"),
        ((*asked, "--people", 3), "--people is only for --judge people"),
        (asked, "--out FOLDER"), ((*asked, "--judge", "people"), "add --name NAME"),
        ((*asked, "--judge", "people", "--name", "D", "--gallery", "nobody=atelier"), "neither a source nor a subset"),
    ):
        refused = construct(*given)
        assert isinstance(refused.exception, SettingsError) and refusal in str(refused.exception)
    ahead = construct(*people, "--people", 3, "--overlap", 2, "--agreement-items", 3, "--dry-run")
    assert ahead.exit_code == 0 and "Nothing was created" in ahead.output, ahead.output
    assert re.search(r"sessions per person +9 ", ahead.output)   # 3 + 9 * 2 / 3
    assert CliRunner().invoke(app, ["study", "list"]).output.count("Dialogues") == 0
    made = construct(*people, "--people", 3, "--overlap", 2, "--agreement-items", 3)
    assert made.exit_code == 0, made.output
    assert re.search(r"Created Dialogues: 12 sessions, \d+ image files\. .*/annotate\?study=Dialogues", made.output)
    with ChatServer([Reply(json.dumps({"reason": "It reads well.", **SCORES}))]) as server:
        judged = construct(*asked, "--out", tmp_path / "judged", "--json", LLM_BASE_URL=server.url, LLM_MODEL="m")
    assert judged.exit_code == 0, judged.output
    card = json.loads(judged.stdout)["card"]
    with closing(open_stores(get_settings())) as stores:
        study = stores.studies.study("Dialogues")
        items = stores.studies.items(study.study_id)
    assert [item.key for item in items] == [
        f"{one['source']}::{one['subset']}::{one['session_id']}" for one in json.loads(judged.stdout)["sessions"]]
    assert [item.hidden["turns"] for item in items] == [one["turns"] for one in json.loads(judged.stdout)["sessions"]]
    assert study.source == {"form": "judged-sessions", **{name: card[name] for name in (
        "sources", "galleries", "sample", "seed")}}
    run = CliRunner()
    for command, found in (
        (("list",), "Dialogues"), (("show", "Dialogues"), "12 sessions, circled/1, open"),
        (("results", "Dialogues"), "unfiltered"), (("close", "Dialogues"), "closed"), (("open", "Dialogues"), "open"),
        (("rename", "Dialogues", "Talks"), "Talks"), (("export", "results", "Talks", "--out", tmp_path / "x"), "Wrote"),
        (("export", "csv", "Talks", "--out", tmp_path / "x"), "judgements.csv, items.csv"),
        (("release", "Talks", "Ada"), ""), (("remove", "Talks", "--yes"), "Removed Talks: 12 items"),
    ):
        result = run.invoke(app, ["study", *map(str, command)])
        assert found in result.output, (command, result.output)
        assert result.exit_code == 0 or command[0] == "release", (command, result.exception)
    assert not list((get_settings().home / "studies").iterdir()), "its images go with it"


def test_searches_of_people_beside_constructed_sessions(construct, built, tmp_path):
    mine, built = tmp_path / "mine", built / "raw/sample_dress_test.json"
    empty = construct("own", "--out", mine)
    assert empty.exit_code == 0 and "No search here can be used" in empty.output
    result = construct("compare", built, "--own")
    assert isinstance(result.exception, DatasetError) and "Search for a target first" in str(result.exception)
    with closing(open_store(get_settings())) as store:
        for number in range(3):
            session = a_session(gallery="atelier", target_id="target" if number else None)
            store.create_session(session)
            turn = None
            for rank, text in ((40, "a red dress with long sleeves"), (4, "shorter")):
                turn = store.add_turn(a_turn(
                    session.session_id, turn and turn.turn_id, reference_id=f"image-{rank}", modification_text=text,
                    target_rank=rank))
            if number:
                store.reveal_target(session.session_id)
    result = construct("own", "--out", mine)
    assert result.exit_code == 0, result.output
    assert re.search(r"atelier_all +2", result.output)
    assert "1 search was left out: a search without a target to find." in result.output
    written = json.loads(construct("own", "--out", mine, "--json").stdout)
    assert written["sessions"] == {"atelier_all": 2} and written["left_out"] == {"no target": 1}
    filtered = construct("filter", mine, "--out", tmp_path / "kept", "--json")
    assert json.loads(filtered.stdout)[0]["kept"] == 2
    assert construct("describe", tmp_path / "kept").exit_code == 0
    # One command, from the database; the same from the files.
    result = construct("compare", f"simulated={built}", "--own")
    assert result.exit_code == 0, result.output
    assert re.search(r"own +2 +2 +2 +2 +2 +2 +2", result.output)
    assert re.search(r"turns, mean .* 2\.000 +2\.000", result.output) and "1 search was left out" in result.output
    found = json.loads(construct("compare", f"simulated={built}", "--own", "--json").stdout)
    again = json.loads(construct("compare", f"simulated={built}", f"own={mine}", "--json").stdout)
    assert found["sources"] == again["sources"] and [one["source"] for one in found["sources"]] == ["simulated", "own"]
    own = found["sources"][1]
    assert own["kept"]["words_first"] == 6 and own["kept"]["words_later"] == 1 and own["judged"] is None
    assert own["all"]["median_final_rank"] == 4 and found["encoder"] == "atelier"
    (tmp_path / "judged.json").write_text(json.dumps({"card": {"seed": 0}, "sessions": [
        {"source": "own", "subset": "atelier_all", "session_id": "x", "turns": 2, "reason": "y", **SCORES}]}))
    result = construct("compare", f"simulated={built}", f"own={mine}", "--judged", tmp_path)
    assert result.exit_code == 0 and re.search(r"own +all +1 +2\.00 +4\.00", result.output)


def test_what_cannot_be_compared_is_said(construct, tmp_path):
    for name, spec in (("a", "atelier"), ("b", "another"), ("own", "atelier")):
        (tmp_path / f"{name}.json").write_text(json.dumps({
            "dataset_name": name, "config": {"encoders": {"diversity": {"spec": spec}}}, "results": []}))
    a, b = tmp_path / "a.json", tmp_path / "b.json"
    for arguments, error, says in (
        ((a, b), SettingsError, "do not name one encoder"), ((tmp_path / "own.json", "--own"), SettingsError, "called"),
        ((a, "--judged", b), DatasetError, "cirque construct judge wrote"),
        ((a, "--judged", tmp_path), DatasetError, "not a readable file of scores"),
        ((f"x={a}", f"x={tmp_path}/none.json"), CirqueError, "none.json"),
    ):
        result = construct("compare", *arguments)
        assert isinstance(result.exception, error) and says in str(result.exception), (arguments, result.exception)
    result = construct("compare", a, b, "--encoder", "atelier", "--json")
    assert [one["sessions"] for one in json.loads(result.stdout)["sources"]] == [0, 0]


def test_the_other_sources_of_table_5_are_written_and_described(sample, built, construct, tmp_path):
    """Redundant sessions, apart from the kept ones; and single queries in a row."""
    kept, concat = tmp_path / "kept", tmp_path / "concat"
    result = construct("filter", built, "--out", kept, "--write-excluded")
    assert result.exit_code == 0, result.output
    stages = json.loads((kept / "stages.json").read_text("utf-8"))["subsets"]
    for one in stages:
        excluded = json.loads((kept / "excluded" / f"{one['subset']}.json").read_text("utf-8"))
        assert len(excluded) == one["removed"]["rank margin"] + one["removed"]["redundancy"]
    assert "Wrote" in result.output and "excluded" in result.output
    result = construct("concat", "sample", sample[1], "--out", concat, "--sessions", "3", "--json")
    assert result.exit_code == 0, result.output
    made = json.loads(result.output)["subsets"]
    assert set(made.values()) == {3}
    described = construct("describe", concat, "--json")
    assert described.exit_code == 0, described.output
    refused = construct("concat", "sample", sample[1], "--out", concat, "--subset", "none")
    assert isinstance(refused.exception, DatasetError) and "There is no subset none" in str(refused.exception)
