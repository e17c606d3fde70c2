"""A study put to a language model on a server: what is sent, what is kept, and what a bad server can do."""

from __future__ import annotations

import json
import re
import sys
import zlib
from typing import Any

import pytest
from typer.testing import CliRunner

from annotation.analysis.records import Options
from annotation.kinds.models.kept import models_folder, read_models
from annotation.kinds.models.run import ask_model, model_job
from annotation.kinds.reports import compose, load_answers
from annotation.kinds.table import KINDS
from annotation.kinds.validity.answers import Validity
from annotation.studies.service import StudyService
from cir_core.errors import LanguageModelUnavailable, SettingsError, StudyError
from cir_core.jobs.job import JobOptions
from cir_core.jobs.records import JobRecords
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.settings import get_settings
from cli.main import app
from tests.fakes.answer_cache import DictCache
from tests.fakes.chat_server import ChatServer, Reply, refusal
from tests.fakes.colours import colour_gallery
from tests.fakes.session_studies import QUESTIONS, make_session_study, session_rated
from tests.fakes.studies import make_preference_study, make_study, valid
from tests.fakes.target_studies import all_marked, make_target_study
from tests.integration.homes import command_home as command_home
from tests.integration.homes import command_stores as command_stores
from tests.integration.test_construct_server import connected
from tests.integration.victims import kill_when, lines_of

VALID = {"flags": [], "reasons": [], "note": "", "unsure": False}
BROAD = VALID | {"flags": ["QUERY_TOO_BROAD"]}


def words(request: dict[str, Any]) -> str:
    return "\n".join(part["text"] for message in request["messages"] for part in (
        message["content"] if isinstance(message["content"], list) else [{"type": "text", "text": message["content"]}])
        if part["type"] == "text")


def images(request: dict[str, Any]) -> list[str]:
    return [part["image_url"]["url"] for message in request["messages"] if isinstance(message["content"], list)
            for part in message["content"] if part["type"] == "image_url"]


def said(answers: dict[str, Any], reason: str = "It is so.") -> Reply:
    return Reply(json.dumps({"reason": reason, "answers": answers}))


def form(request: dict[str, Any]) -> dict[str, Any]:
    return request["response_format"]["json_schema"]["schema"]["properties"]["answers"]["properties"]


def judge_of(request: dict[str, Any]) -> Reply:
    """From what was sent alone, in any kind's form. Each question draws for itself: that one draw makes every mark of
    four items "not sure" would happen once in 81 studies."""
    sent = json.dumps(request["messages"])
    answers: dict[str, Any] = {}
    for name, schema in form(request).items():
        drawn = zlib.crc32(f"{name}\n{sent}".encode())
        answers[name] = (schema["enum"][drawn % len(schema["enum"])] if "enum" in schema else
                         {"boolean": False, "array": [], "string": ""}[schema["type"]])
    if "preferred" in answers:
        answers["preferred"] = "A" if answers["rating_A"] >= answers["rating_B"] else "B"
    return said(answers)


@pytest.fixture
def study(stores, home):
    return make_study(stores.studies, home, items=5, seats=2, overlap=2, pictures=14, panel=3)


def ask(store, home, study, server, cache=None, options=None, **about):
    with connected(server, DictCache() if cache is None else cache) as language:
        job = model_job(store, home, study, language, **about)
        return job, ask_model(job, options or JobOptions())


def test_a_model_reads_and_sees_what_people_do_and_nothing_else(stores, home):
    study = make_study(stores.studies, home, items=3, pictures=8, panel=3,
                       hidden={"hidden_category": "SECRET-CATEGORY", "query_id": "SECRET-QUERY"},
                       settings={"own_guidelines": {"text": "Look at the *collar* first.", "pictures": {}}})
    with ChatServer(lambda request: said(VALID | {"alternatives": ["panel 2"]})) as server:
        _, report = ask(stores.studies, home, study, server)
    assert report.complete and not report.failures
    [one] = read_models(home, study)
    by_id = {item.item_id: item for item in stores.studies.items(study.study_id)}
    for request in server.requests:
        text = words(request)
        assert "Do you understand what the text asks for?" in text and "Look at the *collar* first." in text
        assert "Unclear text" in text and "fewer than 10 other images" in text
        assert len(images(request)) == 2 + 3
        assert form(request)["flags"]["items"]["enum"][0] == "INVALID_TEXT_QUERY"
        assert not re.search("SECRET|picture-0|shortcut_free|sample::", json.dumps(request))
    for given in one.answers:     # canonical: tokens of the panel, as a person's answer has them
        assert given.answer["validated"] is True
        assert given.answer["alternatives"] == [by_id[given.item_id].shown["panel"][1]]


def test_its_answers_are_apart_from_peoples(stores, home, study):
    before = stores.studies.counts(study.study_id)
    with ChatServer(judge_of) as server:
        ask(stores.studies, home, study, server)
    assert stores.studies.counts(study.study_id) == before and not stores.studies.judgements(study.study_id)
    assert not any(seat.annotator for seat in stores.studies.seats(study.study_id))
    assert [len(one.answers) for one in read_models(home, study)] == [5]


def test_an_answer_that_the_form_refuses_is_asked_for_once_more_with_the_complaint(stores, home, study):
    """Unclear text needs a reason. The second item never gives one."""
    wrong = VALID | {"flags": ["INVALID_TEXT_QUERY"], "alternatives": []}
    stubborn = stores.studies.items(study.study_id)[1].shown["text"]

    def person(request):
        if stubborn in words(request) or "was refused" not in words(request):
            return said(wrong)
        return said(wrong | {"reasons": ["1b"]})

    with ChatServer(person) as server:
        _, report = ask(stores.studies, home, study, server)
    assert [key for key, _ in report.failures] == ["sample::1"]
    assert "refused twice" in report.failures[0][1] and "needs a reason" in report.failures[0][1]
    [one] = read_models(home, study)
    assert one.failed == 1 and all(given.again and given.answer["reasons"] == ["1b"] for given in one.answers)
    assert len(server.requests) == 2 * 5
    assert "“Unclear text” (INVALID_TEXT_QUERY) needs a reason" in words(server.requests[1])


def test_an_answer_outside_the_choices_is_no_answer(stores, home, study):
    replies = [said(VALID | {"flags": ["MY_OWN"], "alternatives": []}), said(VALID | {"alternatives": []})]
    with ChatServer(replies) as server:
        ask(stores.studies, home, study, server, limit=1)
    assert "answers.flags: it must be a list of some of" in words(server.requests[1])
    assert read_models(home, study)[0].answers[0].answer["flags"] == []


def test_stopped_and_resumed_nothing_is_asked_again(stores, home, study):
    with ChatServer(judge_of) as server:
        ask(stores.studies, home, study, server, options=JobOptions(workers=1), limit=2)
        first = read_models(home, study)[0].answers
        with pytest.raises(Exception, match="Add --resume"):
            ask(stores.studies, home, study, server)
        asked = len(server.requests)
        server.play([refusal(503, "gone")])
        with pytest.raises(LanguageModelUnavailable):
            ask(stores.studies, home, study, server, options=JobOptions(resume=True))
        assert read_models(home, study)[0].answers == first
        server.play(judge_of)
        down = len(server.requests)
        _, report = ask(stores.studies, home, study, server, options=JobOptions(resume=True))
    assert report.complete and report.resumed == 2 and (asked, len(server.requests) - down) == (2, 3)
    kept = {one.item_id: one for one in read_models(home, study)[0].answers}
    assert len(kept) == 5 and all(kept[one.item_id] == one for one in first)


def test_other_guidelines_are_another_set_of_answers(stores, home, study):
    with ChatServer(judge_of) as server:
        ask(stores.studies, home, study, server)
        changed = stores.studies.change_settings(study.study_id, {
            **study.settings, "own_guidelines": {"text": "Be strict.", "pictures": {}}})
        ask(stores.studies, home, changed, server, limit=2)
    assert len(list(models_folder(home, study.study_id).iterdir())) == 2
    assert [len(one.answers) for one in read_models(home, changed)] == [2]     # those given last


def test_sides_are_drawn_and_both_are_asked_for(stores, home):
    study = make_preference_study(stores.studies, home, questions=12)
    with ChatServer(judge_of) as server:
        ask(stores.studies, home, study, server, both_sides=True, options=JobOptions(workers=2))
        with pytest.raises(StudyError, match="no sides"):
            ask(stores.studies, home, make_study(stores.studies, home, name="Other"), server, both_sides=True)
    [one] = read_models(home, study)
    first = {(given.item_id, given.turned): given.answer["first"] for given in one.answers}
    assert len(first) == 24
    drawn = [side for (_, turned), side in first.items() if not turned]
    assert set(drawn) == {1, 2} and all(
        first[item.item_id, True] == 3 - first[item.item_id, False] for item in stores.studies.items(study.study_id))
    text = words(server.requests[0])
    assert "Consider the original image and the user text equally." in text and "Shopping Mall 1, result" in text
    assert not re.search("slerp|soft|text\\|", text.partition("The texts of this item")[2])


def test_a_contradiction_counts_if_the_model_stays_with_it(stores, home):
    study = make_preference_study(stores.studies, home, questions=6)
    against = {"rating_A": 1, "rating_B": 5, "preferred": "A", "irrelevant_either": False}
    with ChatServer(lambda request: said(against)) as server:
        ask(stores.studies, home, study, server, limit=1)
    [given] = read_models(home, study)[0].answers
    assert given.again and given.answer["contradiction_confirmed"] and len(server.requests) == 2


def test_what_cannot_be_asked_says_so(stores, home, study):
    with pytest.raises(SettingsError, match="connected language model"):
        model_job(stores.studies, home, study, BuiltinLanguageModel(None))
    with ChatServer(judge_of) as server, connected(server, DictCache(), sees=False) as blind, \
            pytest.raises(SettingsError, match="does not accept images"):
        model_job(stores.studies, home, study, blind)


def test_the_items_that_most_people_have_answered_come_first(stores, home, study):
    service = StudyService(stores.studies, {"validity": Validity()})
    service.join(study.study_id, "Ada")
    answered = stores.studies.items(study.study_id)[3]
    service.save(study.study_id, "Ada", answered.item_id, valid(), "token-of-ada", seconds=1)
    with ChatServer(judge_of) as server:
        ask(stores.studies, home, study, server, limit=1)
    assert [one.item_id for one in read_models(home, study)[0].answers] == [answered.item_id]
    found = load_answers(stores.studies, study, home)
    assert len(found.judgements) == 1 and found.models[0].answers[0].item_id == answered.item_id


@pytest.mark.parametrize(("make", "answer", "questions"), [
    (make_session_study, lambda item: session_rated(), QUESTIONS),
    (make_target_study, lambda item: all_marked(item.shown["candidates"]), ("target",)),
], ids=["sessions", "targets"])
def test_the_other_kinds_are_asked_and_compared(stores, home, tmp_path, make, answer, questions):
    study = make(stores.studies, home, colour_gallery(tmp_path / "colours"), seats=1)
    service = StudyService(stores.studies, {name: kind.answers for name, kind in KINDS.items()})
    service.join(study.study_id, "Ada")
    for number, item in enumerate(stores.studies.items(study.study_id)):
        service.save(study.study_id, "Ada", item.item_id, answer(item), f"token-of-ada-{number}", seconds=1)
    with ChatServer(judge_of) as server:
        _, report = ask(stores.studies, home, study, server, limit=4)
    assert report.complete and not report.failures
    whole = compose(load_answers(stores.studies, study, home), options=Options(draws=10))
    [model] = whole.json["model_answers"]
    assert tuple(model["questions"]) == questions and whole.sections[-1].key == "method"
    assert all(one["units"] >= 4 and one["pairs_model"]["agreement"]["n"] == 1 for one in model["questions"].values())


PROGRAM = """
import sys
from pathlib import Path
from annotation.kinds.models.run import ask_model, model_job
from cir_core.jobs.job import JobOptions
from cir_core.settings import get_settings
from storage.stores import open_stores
from tests.fakes.answer_cache import DictCache
from tests.fakes.chat_server import ChatServer
from tests.integration.test_construct_server import connected
from tests.integration.test_study_judge import judge_of
from tests.integration.victims import no_further_than
journal, most = Path(sys.argv[2]), int(sys.argv[3])
look = no_further_than(most, journal)
def person(request):
    look(request)
    return judge_of(request)
stores = open_stores(get_settings())
study = stores.studies.study("Sample")
with ChatServer(person, int(sys.argv[4])) as server, connected(server, DictCache()) as language:
    ask_model(model_job(stores.studies, Path(sys.argv[1]), study, language), JobOptions(resume=True))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
def test_killed_and_resumed_it_keeps_what_it_has(stores, home, study):
    with ChatServer(judge_of) as server:
        port = server.port
        with connected(server, DictCache()) as language:
            journal = model_job(stores.studies, home, study, language).folder / "journal.jsonl"
    kill_when(lambda: lines_of(journal) > 2, "-c", PROGRAM, home, journal, 4, port)
    kept = {one.item_id: one for one in read_models(home, study)[0].answers}
    assert 2 <= len(kept) < 5
    with ChatServer(judge_of, port) as server:
        _, report = ask(stores.studies, home, study, server, options=JobOptions(resume=True))
    whole = {one.item_id: one for one in read_models(home, study)[0].answers}
    assert report.resumed == len(kept) and len(server.requests) == 5 - len(kept)
    assert len(whole) == 5 and all(whole[key] == one for key, one in kept.items())


def test_the_command(monkeypatch, stores, home, study):
    with ChatServer(judge_of) as server:
        for name, value in {"BASE_URL": server.url, "MODEL": "m", "API_KEY": "k"}.items():
            monkeypatch.setenv(f"CIRQUE_LLM_{name}", value)
        get_settings.cache_clear()
        run = CliRunner().invoke
        dry = run(app, ["study", "judge", "Sample", "--dry-run", "--items", "3"])
        assert dry.exit_code == 0 and "3 items to answer, of 5 items in Sample, with m@" in dry.output, dry.output
        assert not server.requests
        limited = run(app, ["study", "judge", "Sample", "--max-calls", "2", "--workers", "1"])
        assert limited.exit_code == 1 and "Stopped after 2 of 5 items" in limited.output
        [job] = JobRecords(home).all()
        assert job.state == "stopped" and job.resumable and job.error.startswith("Stopped: 2 requests were sent")
        again = run(app, ["study", "judge", "Sample"])
        assert isinstance(again.exception, StudyError) and "Add --resume" in str(again.exception)
        done = run(app, ["study", "judge", "Sample", "--resume", "--json"])
        assert done.exit_code == 0 and json.loads(done.output)["answered"] == 5, done.output
        other = run(app, ["study", "judge", "Sample", "--model", "other", "--items", "1"])
        assert other.exit_code == 0 and server.requests[-1]["model"] == "other"
    assert [one.model.partition("@")[0] for one in read_models(home, study)] == ["m", "other"]
    jobs = JobRecords(home).all()
    assert {one.kind for one in jobs} == {"Study put to a model"} and "done" in {one.state for one in jobs}
