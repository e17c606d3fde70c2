"""Constructions with a language model on a server: what is sent, and what a bad server can do."""

from __future__ import annotations

import base64
import io
import json
import re
import threading
import zlib
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cir_core.construct.sessions.run import construct_sessions
from cir_core.errors import LanguageModelUnavailable
from cir_core.jobs.job import JobOptions
from cir_core.language.openai.call import Clock
from cir_core.language.openai.model import OpenAILanguageModel
from cir_core.language.openai.server import Server
from cir_core.language.tasks import DifferenceTask, Picture
from cir_core.language.wrappers.cached import CachedLanguageModel
from tests.fakes.answer_cache import DictCache
from tests.fakes.chat_server import ChatServer, Reply, refusal
from tests.fakes.colour_person import ColourPerson, caption_of, difference, merged
from tests.fakes.colours import gallery as gallery
from tests.fakes.construction import colour_construction
from tests.fakes.encoder import FakeEncoder
from tests.fakes.patience import PATIENCE

COUNT = 12
RAW = "raw/cirr_val.json"


@pytest.fixture(scope="module")
def offline(gallery, tmp_path_factory):
    """The sessions of the same person without a server between."""
    folder = tmp_path_factory.mktemp("offline")
    construct_sessions(colour_construction(gallery, ColourPerson(), COUNT), folder)
    return results(folder), json.loads((folder / "failures.json").read_text())


def results(folder):
    return json.loads((folder / RAW).read_text("utf-8"))["results"]


def role_of(request: dict[str, Any]) -> str:
    [field] = request["response_format"]["json_schema"]["schema"]["required"]
    return {"caption": "caption", "query": "merge", "instruction": "difference"}[field]


def texts_of(request: dict[str, Any]) -> str:
    content = request["messages"][1]["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return "\n".join(part["text"] for part in parts if part["type"] == "text")


def pictures_of(request: dict[str, Any]) -> list[Picture]:
    content = request["messages"][1]["content"]
    parts = content if isinstance(content, list) else []
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    images = [Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).convert("RGB") for url in urls]
    return [Picture(features=features) for features in FakeEncoder().encode_images(images)]


def history_of(request: dict[str, Any]) -> tuple[str, ...]:
    return tuple(json.loads(said) for said in re.findall(r'^\d+\. (".*")$', texts_of(request), re.MULTILINE))


def person(request: dict[str, Any]) -> Reply:
    """What :class:`ColourPerson` would say, from what was sent alone."""
    role, pictures, text = role_of(request), pictures_of(request), texts_of(request)
    if role == "caption":
        return Reply(json.dumps({"caption": caption_of(pictures[0])}))
    if role == "merge":
        caption, wanted = (json.loads(re.search(rf"{label}: (.*)", text)[1]) for label in ("Caption", "Wanted change"))
        return Reply(json.dumps({"query": merged(caption, wanted)}))
    attempt = int((re.search(r"attempt (\d)", text) or [0, 1])[1])
    task = DifferenceTask(*pictures, history_of(request), attempt=attempt)
    return Reply(json.dumps({"instruction": difference(task)}))


@contextmanager
def connected(server: ChatServer, cache: DictCache, **about: Any):
    """No pause between tries takes time; the server's name is that of its port."""
    lock, now = threading.Lock(), [0.0]

    def sleep(seconds):
        with lock:
            now[0] += seconds / 100     # many wait at one time, and a call has only so much of it

    model = OpenAILanguageModel(Server(server.url, "m", "k", concurrency=4, retries=2, **about),
                                Clock(lambda: now[0], sleep, lambda: 0.5))
    try:
        yield CachedLanguageModel(model, cache)
    finally:
        model.close()


def construct(gallery, folder, server, cache=None, **options):
    with connected(server, cache or DictCache()) as language:
        return construct_sessions(colour_construction(gallery, language, COUNT), folder,
                                  options=JobOptions(workers=4, **options))


def test_what_is_sent_for_each_role(gallery, offline, tmp_path):
    with ChatServer(person) as server:
        report = construct(gallery, tmp_path, server)
    assert results(tmp_path) == offline[0] and list(report.failures) == offline[1]
    assert report.usage.calls == len(server.requests) and report.usage.prompt_tokens == 120 * len(server.requests)
    requests = {role: [one for one in server.requests if role_of(one) == role]
                for role in ("caption", "merge", "difference")}
    assert {role: len(sent) for role, sent in requests.items()} == {
        role: usage.calls for role, usage in report.by_role.items()}

    by_features = {tuple(np.round(features, 4)): image_id
                   for image_id, features in zip(gallery.ids, np.asarray(gallery.features), strict=True)}

    def image_ids(request):
        return [by_features[tuple(np.round(picture.features, 4))] for picture in pictures_of(request)]

    # caption: one image, once each.
    captioned = [image_ids(request) for request in requests["caption"]]
    assert all(len(one) == 1 for one in captioned)
    # merge: two texts and no image.
    assert all(image_ids(request) == [] for request in requests["merge"])
    sent = {(json.loads(re.search(r"Caption: (.*)", text)[1]), json.loads(re.search(r"Wanted change: (.*)", text)[1]))
            for text in map(texts_of, requests["merge"])}
    # difference: the picked image, then the target, and every text so far.
    asked = {(*image_ids(request), history_of(request)) for request in requests["difference"]
             if "This is attempt" not in texts_of(request)}
    for session in offline[0]:
        texts = [session["original_query"], *(turn["relative_caption"] for turn in session["turns"][1:])]
        for number, turn in enumerate(session["turns"]):
            if number:
                target = session["ground_truth_ids"][0]
                assert _known(asked, turn["selected_image"], target, tuple(texts[:number]), by_features, gallery)
                assert (turn["selected_image_caption"], texts[number]) in sent
    for request in requests["difference"]:
        labels = [part["text"] for part in request["messages"][1]["content"] if part["type"] == "text"][:2]
        assert labels == ["First image:", "Second image:"] and request["temperature"] == 0
        details = [part["image_url"]["detail"] for part in request["messages"][1]["content"]
                   if part["type"] == "image_url"]
        assert details == ["low", "low"]
    # A retry has the same images and history, and says which attempt it is.
    retries = [request for request in requests["difference"] if "This is attempt" in texts_of(request)]
    assert retries and all((*image_ids(request), history_of(request)) in asked for request in retries)
    assert {re.search(r"This is attempt (\d)", texts_of(request))[1] for request in retries} == {"2", "3"}


def _known(asked, picked, target, history, by_features, gallery):
    """Colours whose vectors agree are one to the server."""
    def name(image_id):
        return by_features[tuple(np.round(np.asarray(gallery.features[gallery.row_of(image_id)]), 4))]

    return (name(picked), name(target), history) in asked


@pytest.mark.extended
def test_busy_answers_are_waited_for(gallery, offline, tmp_path):
    refused = set()

    def busy(request):
        """Every third request is refused once, every other one of those with a wish."""
        asked = json.dumps(request["messages"])
        if zlib.crc32(asked.encode()) % 3 or asked in refused:
            return person(request)
        refused.add(asked)
        if len(refused) % 2:
            return Reply(status=429, body=refusal(429, "slow down").body, headers={"Retry-After": "1"})
        return refusal(503, "overloaded")

    with ChatServer(busy) as server:
        report = construct(gallery, tmp_path, server)
    assert results(tmp_path) == offline[0] and len(refused) > 10
    assert report.usage.calls == len(server.requests)


BAD = (("in a form that cannot be used", lambda: Reply("I would rather not.")),
       ("usage policies", lambda: refusal(400, "flagged by our usage policies")))


@pytest.mark.extended
def test_garbage_and_refusals_fail_their_sessions_alone(gallery, offline, tmp_path):
    """Each in another way."""
    asked, lock = {}, threading.Lock()

    def improper(request):
        if role_of(request) != "merge" or "shinier" not in texts_of(request):
            return person(request)
        with lock:      # a reply that cannot be used is asked for once more
            _, bad = asked.setdefault(re.search(r"Caption: (.*)", texts_of(request))[1], BAD[len(asked) % len(BAD)])
        return bad()

    cache = DictCache()
    with ChatServer(improper) as server:
        report = construct(gallery, tmp_path, server, cache)
        failed = {one["query_id"]: one["reason"] for one in report.failures if "No image is left" not in one["reason"]}
        assert failed.keys() == {f"q{n}" for n in range(3, COUNT, 4)}
        assert [sum(says in reason for reason in failed.values()) for says, _ in BAD] in ([1, 2], [2, 1])
        assert results(tmp_path) == [session for session in offline[0] if session["query_id"] not in failed]
        # Once the server behaves, the same folder is completed; nothing that was answered is asked again.
        before = len(cache.rows)
        server.play(person)
        server.requests.clear()
        construct(gallery, tmp_path, server, cache, resume=True, retry_failed=True)
    assert results(tmp_path) == offline[0] and len(server.requests) == len(cache.rows) - before


def test_a_server_that_dies_in_the_middle_loses_nothing(gallery, offline, tmp_path):
    """The requests that are under way when it goes are held until then."""
    cache, dying, ended = DictCache(), threading.Event(), []

    def mortal(request):
        if len(server.requests) <= 30:
            return person(request)
        dying.set()
        return refusal(503, "going down") if server.closing.is_set() else Reply(
            person(request).text, hold=threading.Event())

    def run():
        with pytest.raises(LanguageModelUnavailable) as error:
            construct(gallery, tmp_path, server, cache)
        ended.append(str(error.value))

    with ChatServer(mortal) as server:
        port = server.port
        thread = threading.Thread(target=run)
        thread.start()
        assert dying.wait(PATIENCE)
    thread.join(PATIENCE)
    assert not thread.is_alive() and ended and not (tmp_path / RAW).exists()
    answered = len(cache.rows)
    with ChatServer(person, port) as server:
        report = construct(gallery, tmp_path, server, cache, resume=True)
    assert results(tmp_path) == offline[0] and report.resumed > 0 and answered >= 25
    assert len(server.requests) == len(cache.rows) - answered
