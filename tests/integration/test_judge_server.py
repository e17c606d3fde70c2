"""Judging sessions with a language model on a server: what is sent, and what a bad server can do."""

from __future__ import annotations

import json
import re
import threading
import zlib
from typing import Any

import numpy as np
import pytest

from cir_core.construct.describe.sets import SubsetSessions
from cir_core.construct.judging.run import Judging, estimate_judging, judge_sessions
from cir_core.construct.judging.sample import Source
from cir_core.construct.judging.scores import DIMENSIONS
from cir_core.construct.sessions.estimate import Prices
from cir_core.datasets.readers.circled import CircledSession, CircledTurn
from cir_core.errors import DatasetError, LanguageModelUnavailable, SettingsError
from cir_core.jobs.job import JobOptions
from cir_core.jobs.spending import Budget
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.language.tasks import CaptionAnswer
from cir_core.language.wrappers.routed import RoutedLanguageModel
from tests.fakes.answer_cache import DictCache
from tests.fakes.chat_server import ChatServer, Reply, refusal
from tests.fakes.colours import gallery as gallery
from tests.fakes.patience import PATIENCE
from tests.integration.test_construct_server import connected, history_of, pictures_of

SIZE = 8


def some_sessions(gallery, subset: str, count: int, start: int = 0) -> SubsetSessions:
    ids = [one for one in gallery.ids if one not in ("r0g0b0",)]
    sessions = []
    for n in range(start, start + count):
        turns = tuple(CircledTurn(ids[(7 * n + 11 * turn) % len(ids)], f"say {subset} {n} {turn}")
                      for turn in range(2 + n % 3))
        sessions.append(CircledSession(f"{subset}_{n:04d}", subset, (ids[(5 * n + 3) % len(ids)],), turns))
    return SubsetSessions(subset, tuple(sessions))


@pytest.fixture(scope="module")
def sources(gallery):
    return [Source("ours", (some_sessions(gallery, "cirr_val", 30), some_sessions(gallery, "fashioniq_dress_val", 5))),
            Source("simple-concat", (some_sessions(gallery, "cirr_val", 20, 40),))]


def scores_for(request: dict[str, Any]) -> dict[str, Any]:
    """From what was sent alone."""
    drawn = zlib.crc32(json.dumps(request["messages"]).encode())
    return {"reason": f"Because of {drawn}.", **{name: 1 + (drawn >> 3 * n) % 5 for n, name in enumerate(DIMENSIONS)}}


def person(request: dict[str, Any]) -> Reply:
    return Reply(json.dumps(scores_for(request)))


def judge(judging_of, folder, server, cache=None, about=None, **options):
    with connected(server, DictCache() if cache is None else cache, **about or {}) as language:
        return judge_sessions(judging_of(language), folder, options=JobOptions(workers=4, **options))


@pytest.fixture
def judging_of(gallery, sources):
    return lambda language: Judging(sources, {"": gallery}, language, SIZE, seed=3)


@pytest.fixture(scope="module")
def undisturbed(gallery, sources, tmp_path_factory):
    """Of a run that nothing disturbs."""
    folder = tmp_path_factory.mktemp("undisturbed")
    with ChatServer(person) as server:
        judge(lambda language: Judging(sources, {"": gallery}, language, SIZE, seed=3), folder, server)
    return without_server(folder)


def without_server(folder):
    """The scores; the server's name has its port."""
    found = json.loads((folder / "judged.json").read_text("utf-8"))
    found["card"].pop("language_model")
    return found


def test_what_is_sent_of_a_session(gallery, sources, judging_of, undisturbed, tmp_path):
    with ChatServer(person) as server:
        report = judge(judging_of, tmp_path, server)
    assert without_server(tmp_path) == undisturbed
    # Eight of thirty, all of five, eight of twenty; one request each.
    assert len(report.sessions) == len(server.requests) == report.usage.calls == 8 + 5 + 8 and not report.failures
    assert [(row.source, row.subset, row.sessions) for row in report.rows if row.turns is None] == [
        ("ours", None, 13), ("ours", "cirr_val", 8), ("ours", "fashioniq_dress_val", 5),
        ("simple-concat", None, 8), ("simple-concat", "cirr_val", 8)]
    known = {tuple(np.round(features, 4)): image_id
             for image_id, features in zip(gallery.ids, np.asarray(gallery.features), strict=True)}
    sessions = {session.session_id: session for source in sources for subset in source.subsets
                for session in subset.sessions}
    by_texts = {tuple(turn.text for turn in session.turns): session for session in sessions.values()}
    judged = {one.session_id: one for one in report.sessions}
    for request in server.requests:
        session = by_texts[history_of(request)]
        # Each picture behind its label, in the order of the turns; the target last.
        labels = [part["text"] for part in request["messages"][1]["content"] if part["type"] == "text"][:-1]
        assert labels == [*(f"Turn {n + 1}:" for n in range(len(session.turns))), "Target:"]
        names = [known[tuple(np.round(one.features, 4))] for one in pictures_of(request)]
        wanted = [*(turn.reference_id for turn in session.turns), session.target_ids[0]]
        assert [same_colour(gallery, *both) for both in zip(names, wanted, strict=True)] == [True] * len(wanted)
        # Nothing of where it comes from: no id, subset, source, rank, number of turns of others.
        sent = json.dumps(request).replace(json.dumps(history_of(request)), "")
        sent = re.sub(r"say \w+ \d+ \d+", "", re.sub(r"base64,[^\"]*", "", sent))
        for secret in (session.session_id, session.subset, "ours", "simple-concat", "circled", *wanted):
            assert secret.lower() not in sent.lower()
        # The answer is the one for this request.
        scores = scores_for(request)
        found = judged[session.session_id]
        assert found.reason == scores.pop("reason") and found.scores == scores
        schema = request["response_format"]["json_schema"]["schema"]
        assert schema["required"] == ["reason", *DIMENSIONS] and request["temperature"] == 0


def same_colour(gallery, one: str, other: str) -> bool:
    rows = np.round(gallery.features[[gallery.row_of(one), gallery.row_of(other)]], 4)
    return bool((rows[0] == rows[1]).all())


def test_a_model_without_sight_reads_captions_of_one_origin(gallery, sources, tmp_path):
    class Captioner:
        name, sees = "blip-x", True

        def __init__(self):
            self.asked = []

        def complete(self, task, watch=None):
            self.asked.append(task.picture.digest)
            return CaptionAnswer(caption=f"a picture {task.picture.digest[:6]}")

    captioner = Captioner()
    with ChatServer(person) as server, connected(server, DictCache(), sees=False) as language:
        judging = Judging(sources, {"": gallery}, RoutedLanguageModel(language, {"caption": captioner}), 3)
        report = judge_sessions(judging, tmp_path)
    assert len(report.sessions) == 9 and report.card["shown"] == "captions"
    for request in server.requests:
        text = request["messages"][1]["content"]
        assert isinstance(text, str) and re.search(r'Turn 1: "a picture \w{6}"', text)
        assert re.search(r'Target: "a picture \w{6}"', text)
    assert len(captioner.asked) == len(set(captioner.asked)) > 9     # each image once


def test_busy_answers_are_waited_for(judging_of, undisturbed, tmp_path):
    refused = set()

    def busy(request):
        asked = json.dumps(request["messages"])
        if zlib.crc32(asked.encode()) % 2 or asked in refused:
            return person(request)
        refused.add(asked)
        return Reply(status=429, body=refusal(429, "slow down").body, headers={"Retry-After": "1"})

    with ChatServer(busy) as server:
        report = judge(judging_of, tmp_path, server)
    assert without_server(tmp_path) == undisturbed and len(refused) > 3
    assert report.usage.calls == len(server.requests)


@pytest.mark.parametrize(("bad", "says"), [
    (lambda: Reply("I would rather not."), "in a form that cannot be used"),
    (lambda: Reply('{"reason": "x", "naturalness": 9}'), "in a form that cannot be used"),
    (lambda: Reply("", finish="content_filter"), "declined"),
    (lambda: refusal(400, "flagged by our usage policies"), "usage policies"),
])
def test_garbage_and_refusals_fail_their_sessions_alone(judging_of, undisturbed, tmp_path, bad, says):
    def improper(request):
        return bad() if len(history_of_first(request)) == 4 else person(request)

    cache = DictCache()
    with ChatServer(improper) as server:
        report = judge(judging_of, tmp_path, server, cache)
        failed = {(one["source"], one["session_id"]): one["reason"] for one in report.failures}
        assert failed and all(says in reason for reason in failed.values())
        assert [one for one in undisturbed["sessions"] if one["turns"] != 4] == without_server(tmp_path)["sessions"]
        assert failed.keys() == {(one["source"], one["session_id"]) for one in undisturbed["sessions"]
                                 if one["turns"] == 4}
        # Once the server behaves, the same folder is completed; nothing that was answered is asked again.
        answered = len(cache.rows)
        server.play(person)
        server.requests.clear()
        again = judge(judging_of, tmp_path, server, cache, resume=True, retry_failed=True)
    assert without_server(tmp_path) == undisturbed and again.resumed == answered
    assert len(server.requests) == len(cache.rows) - answered == len(failed)


def history_of_first(request: dict[str, Any]) -> tuple[str, ...]:
    """What was said, also in a request that asks for a repair."""
    return history_of({"messages": request["messages"][:2]})


def test_a_server_that_dies_in_the_middle_loses_nothing(judging_of, undisturbed, tmp_path):
    cache, dying, ended = DictCache(), threading.Event(), []

    def mortal(request):
        if len(server.requests) > 9:
            dying.set()
        return person(request)

    def run():
        with pytest.raises(LanguageModelUnavailable) as error:
            judge(judging_of, tmp_path, server, cache)
        ended.append(str(error.value))

    hold = threading.Event()

    def slow(request):
        reply = mortal(request)
        return Reply(reply.text, hold=hold) if dying.is_set() else reply

    with ChatServer(slow) as server:
        port = server.port
        thread = threading.Thread(target=run)
        thread.start()
        assert dying.wait(PATIENCE)
        server.play(lambda request: refusal(503, "going down"))
    hold.set()
    thread.join(PATIENCE)
    assert not thread.is_alive() and ended
    answered = len(cache.rows)
    with ChatServer(person, port) as server:
        report = judge(judging_of, tmp_path, server, cache, resume=True)
    assert without_server(tmp_path) == undisturbed and 0 < report.resumed <= answered
    assert len(server.requests) == len(cache.rows) - answered == 21 - answered


def test_a_budget_stops_it_and_a_larger_one_goes_on(gallery, sources, judging_of, undisturbed, tmp_path):
    cache = DictCache()
    with ChatServer(person) as server:
        report = judge(judging_of, tmp_path, server, cache, budget=Budget(calls=9))
        assert "9 requests were sent" in report.stopped and 9 <= report.done < 9 + 4
        # What stopped early has judged as many of each subset.
        counts = {(row.source, row.subset): row.sessions for row in report.rows if row.subset}
        assert len(counts) == 3 and max(counts.values()) - min(counts.values()) <= 2
        assert not json.loads((tmp_path / "judged.json").read_text())["complete"]
        with pytest.raises(DatasetError, match=r"contains scores already\. Add --resume"):
            judge(judging_of, tmp_path, server, cache)
        with pytest.raises(DatasetError, match=r"The scores in .* other settings: seed was 3, is 4"):
            judge(lambda language: Judging(sources, {"": gallery}, language, SIZE, seed=4), tmp_path, server, cache,
                  resume=True)
        report = judge(judging_of, tmp_path, server, cache, resume=True)
    assert not report.stopped and without_server(tmp_path) == undisturbed
    assert report.usage.calls == len(server.requests) == 21


def test_what_is_ahead(gallery, sources, judging_of):
    with ChatServer(person) as server, connected(server, DictCache()) as language:
        judging = judging_of(language)
        found = estimate_judging(judging, range(len(judging.sampled)), workers=4, prices=Prices(1.0, 10.0))
        assert not server.requests
    role = found.roles["judge"]
    assert role.calls == 21 and found.time.expected == 21 * 2 / 4
    # Three or four pictures of 85 tokens a session, and the prompt's two thousand letters.
    assert 21 * (3 * 85 + 300) < role.prompt_tokens < 21 * (5 * 85 + 700)
    assert found.cost == pytest.approx((role.prompt_tokens + 10 * role.completion_tokens) / 1e6)


def test_a_session_that_cannot_be_judged_is_listed_and_nothing_is_sent(gallery, tmp_path):
    turns = (CircledTurn("r1g1b1", "redder"), CircledTurn("r2g1b1", "bluer"))
    odd = (CircledSession("cirr_val_0000", "cirr_val", ("r3g3b3",), turns),
           CircledSession("cirr_val_0001", "cirr_val", (), turns),
           CircledSession("cirr_val_0002", "cirr_val", ("nowhere",), turns),
           CircledSession("cirr_val_0003", "cirr_val", ("nowhere", "r3g3b0"), turns))
    with ChatServer(person) as server:
        sources = [Source("a", (SubsetSessions("cirr_val", odd),))]
        report = judge(lambda language: Judging(sources, {"cirr_val": gallery}, language), tmp_path, server)
    assert len(server.requests) == 2 == len(report.sessions)
    reasons = {one["session_id"]: one["reason"] for one in report.failures}
    assert "names no target" in reasons["cirr_val_0001"] and "No image 'nowhere'" in reasons["cirr_val_0002"]


def test_what_is_refused_before_it_begins(gallery, sources):
    with pytest.raises(SettingsError, match="the built-in one cannot judge"):
        Judging(sources, {"": gallery}, BuiltinLanguageModel())
    with ChatServer(person) as server, connected(server, DictCache()) as language:
        with pytest.raises(SettingsError, match="No gallery contains the images of fashioniq_dress_val from 'ours'"):
            Judging(sources, {"cirr_val": gallery}, language)
        with pytest.raises(SettingsError, match=r"--gallery theirs=\.\.\. names neither"):
            Judging(sources, {"": gallery, "theirs": gallery}, language)
        written = [Source("own", (SubsetSessions("cirr_val", (), language_model=f"{language.name} + blip (caption)"),))]
        assert "wrote texts of own itself" in Judging(written, {"": gallery}, language).notes[0]
        assert Judging(sources, {"": gallery}, language).notes == []
