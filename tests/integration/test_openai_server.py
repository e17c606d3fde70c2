"""The chat adapter against a real HTTP server: what servers do well, badly and not at all."""

from __future__ import annotations

import base64
import gc
import io
import json
import logging
import re
import socket
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from PIL import Image
from typer.testing import CliRunner

from cir_core.errors import (
    RULES_CAN,
    ImagesRefused,
    LanguageModelError,
    LanguageModelRefused,
    LanguageModelUnavailable,
    SettingsError,
    Stopped,
    UnsupportedTask,
)
from cir_core.evaluation.method_runs import StrictLanguageModel
from cir_core.language import connect
from cir_core.language.base import Observer
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.language.openai.call import Clock
from cir_core.language.openai.model import SAMPLE_TEMPERATURE, OpenAILanguageModel
from cir_core.language.openai.server import Server
from cir_core.language.tasks import (
    CaptionTask,
    ConfidenceTask,
    ConstraintsTask,
    MergeAnswer,
    MergeTask,
    Picture,
    ReflectTask,
    Task,
)
from cir_core.language.tasks.base import CUT_OFF
from cir_core.language.wrappers.availability import FallbackLanguageModel
from cir_core.language.wrappers.cached import CachedLanguageModel
from cir_core.methods.observer import PartWatch, QueryWatch, TurnObserver
from cir_core.settings import Settings, get_settings
from cir_core.types.composition import Usage
from cli.admin import models
from tests.fakes.answer_cache import DictCache
from tests.fakes.chat_server import ChatServer, Reply, refusal
from tests.fakes.patience import PATIENCE, wait_for

KEY = "sk-very-secret-0123456789"
MERGE = MergeTask("a red dress", "make it blue")
BLUE = Reply('{"query": "a blue dress"}')
NOISE = Image.effect_noise((600, 300), 90).convert("RGB")


class Time:
    """A clock that only sleeping moves; remembers how long was slept since it was last asked."""

    def __init__(self) -> None:
        self.now, self.slept = 0.0, 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept += seconds

    @property
    def clock(self) -> Clock:
        return Clock(lambda: self.now, self.sleep, lambda: 0.5)  # jitter in the middle: pauses as they are


class Hurried(Time):
    """Whoever looks at it moves it on as well, by ``step`` seconds."""

    step = PATIENCE / 10

    @property
    def clock(self) -> Clock:
        return Clock(self._look, self.sleep, lambda: 0.5)

    def _look(self) -> float:
        self.now += self.step
        return self.now


class Onlooker(Observer):
    def __init__(self) -> None:
        super().__init__()
        self.partials: list[tuple[str, dict[str, Any]]] = []

    def partial(self, role, fields):
        self.partials.append((role, dict(fields)))


class Following(TurnObserver):
    def partial(self, role, fields):
        pass


@contextmanager
def connected(server: ChatServer, time: Time | None = None, **about: Any) -> Iterator[OpenAILanguageModel]:
    model = OpenAILanguageModel(Server(server.url, "m", KEY, **about), (time or Time()).clock)
    try:
        yield model
    finally:
        model.close()


def fails(model: OpenAILanguageModel, error: type[Exception] = LanguageModelError, task: Task[Any] = MERGE) -> str:
    with pytest.raises(error) as caught:
        model.complete(task)
    assert type(caught.value) is error
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)


def test_an_answer():
    with ChatServer([BLUE]) as server, connected(server) as model:
        answer = model.complete(MERGE)
        assert answer.query == "a blue dress" and answer.notes == ()
        [request] = server.requests
        assert server.paths == ["/v1/chat/completions"]
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"
        assert request["model"] == "m" and request["temperature"] == 0 and request["max_tokens"] == 70
        assert request["response_format"]["json_schema"]["schema"]["required"] == ["query"]
        assert "stream" not in request and "seed" not in request
        assert model.name == f"m@127.0.0.1:{server.url.split(':')[2].removesuffix('/v1')}"


def test_a_query_string_in_the_address_is_sent():
    with ChatServer([BLUE]) as server:
        model = OpenAILanguageModel(Server(server.url + "/?api-version=preview", "m"))
        model.complete(MERGE)
        model.close()
        assert server.paths == ["/v1/chat/completions?api-version=preview"]


def test_a_streamed_answer_grows_and_is_counted():
    watch = Onlooker()
    with ChatServer([BLUE]) as server, connected(server, prompt_price=0.5, completion_price=2.0) as model:
        assert model.complete(MERGE, watch).query == "a blue dress"
        assert server.requests[0]["stream"] and server.requests[0]["stream_options"] == {"include_usage": True}
    # 25 characters in 4 pieces of 7: {"query, ": "a b, lue dre, ss"}
    assert watch.partials == [("merge", {"query": text}) for text in ("a b", "a blue dre", "a blue dress")]
    # 120 · 0.5 / 10⁶ + 8 · 2 / 10⁶ = 0.000076
    assert watch.usage == Usage(1, 0, 120, 8, pytest.approx(0.000076), (model.name,))


def test_no_tokens_are_invented():
    watch = Observer()
    with ChatServer([Reply(BLUE.text, usage=None)]) as server, connected(
            server, prompt_price=1, completion_price=1) as model:
        model.complete(MERGE, watch)
    assert watch.usage == Usage(calls=1, models=(model.name,))


def test_a_server_that_knows_no_streams():
    watch = Onlooker()
    with ChatServer([Reply(BLUE.text, stream=False)]) as server, connected(server) as model:
        assert model.complete(MERGE, watch).query == "a blue dress"
        assert model.complete(MERGE, watch).query == "a blue dress"
        assert [request.get("stream") for request in server.requests] == [True, None, None]
    assert watch.partials == [] and watch.usage.prompt_tokens == 240


def test_a_bad_answer_is_shown_to_the_model_once():
    watch = Observer()
    with ChatServer([Reply('{"qery": "a blue dress"}'), BLUE]) as server, connected(server) as model:
        assert model.complete(MERGE, watch).query == "a blue dress"
        assert [message["role"] for message in server.requests[1]["messages"]] == [
            "system", "user", "assistant", "user"]
        *_, shown, asked = server.requests[1]["messages"]
        assert shown["content"] == '{"qery": "a blue dress"}' and "query" in asked["content"]
    assert watch.usage.calls == 2 and watch.usage.prompt_tokens == 240


@pytest.mark.parametrize(("task", "text", "field"), [
    (MERGE, "I would rather chat.", "no whole JSON object"),
    (MERGE, '{"query": "a bl', "no whole JSON object"),
    (MERGE, '{"query": ""}', "query"),
    (ReflectTask(reference_caption="x"), '{"intent": "a dress"}', "query"),
    (ConstraintsTask(caption="x"), '{"prescriptive": "x"}', "proscriptive"),
    (ConfidenceTask(Picture("x"), names=("candidate 1",), candidates=(Picture("y"),)), '{"scores": {}}',
     "'candidate 1'"),
])
def test_two_bad_answers_name_role_and_field(task, text, field):
    with ChatServer([Reply(text)]) as server, connected(server, sees=False) as model:
        message = fails(model, LanguageModelRefused, task)
        assert len(server.requests) == 2
    assert field in message and f"'{task.role}'" in message and "CIRQUE_LLM_MODEL" in message


def test_an_answer_that_ran_out_of_room_gets_more():
    with ChatServer([Reply('{"query": "a bl', finish="length"), BLUE]) as server, connected(server) as model:
        model.complete(MERGE)
        assert [request["max_tokens"] for request in server.requests] == [70, 140]


def test_half_an_answer_is_used_only_if_the_next_is_none():
    half = Reply('{"query": "a blue dress", "notes": ["x', finish="length")
    with ChatServer([half, BLUE]) as server, connected(server) as model:
        assert model.complete(MERGE) == MergeAnswer(query="a blue dress")
        assert [request["max_tokens"] for request in server.requests] == [70, 140]
    with ChatServer([half, Reply("no")] * 2) as server, connected(server) as model:
        answer = model.complete(MERGE)
        assert (answer.query, answer.notes) == ("a blue dress", (CUT_OFF,)) and len(server.requests) == 2
        watch = QueryWatch()
        with pytest.raises(LanguageModelRefused, match="cut off"):
            StrictLanguageModel(model).complete(MERGE, watch)
        assert isinstance(watch.error, LanguageModelRefused)


def test_declining_is_not_argued_with():
    with ChatServer([Reply("", finish="content_filter")]) as server, connected(server) as model:
        message = fails(model, LanguageModelRefused)
        assert "declined" in message and message.endswith(RULES_CAN)
        assert len(server.requests) == 1


def test_retry_after_is_honoured_and_capped():
    time = Time()
    busy = refusal(429, "slow down")
    script = [Reply(status=429, body=busy.body, headers={"Retry-After": wish}) for wish in ("7", "3600")]
    with ChatServer([*script, BLUE]) as server, connected(server, time) as model:
        assert model.complete(MERGE).query == "a blue dress"
    assert time.slept == pytest.approx(7 + 30)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 408])
def test_failures_to_the_end(status):
    time, watch = Time(), Observer()
    with ChatServer([refusal(status, f"no, {KEY}")]) as server, connected(server, time) as model:
        message = fails(model, LanguageModelUnavailable)
        assert len(server.requests) == 4  # once and three more
        with pytest.raises(LanguageModelUnavailable):
            model.complete(MERGE, watch)
    assert str(status) in message and model.server.host not in message and "4 times" in message
    assert watch.usage == Usage(calls=4)
    # Twice: 0.5 + 1 + 2
    assert time.slept == pytest.approx(7.0)


def test_an_empty_account_is_not_asked_again():
    with ChatServer([refusal(429, "You exceeded your quota", code="insufficient_quota")]) as server, \
            connected(server) as model:
        assert "no credit" in fails(model, LanguageModelUnavailable)
        assert len(server.requests) == 1


def test_hanging_past_the_timeout():
    with ChatServer([Reply(hold=threading.Event()), BLUE]) as server, connected(
            server, timeout=3, retries=5) as model:     # the second answer may take long, too, on a busy machine
        assert model.complete(MERGE).query == "a blue dress"
    with ChatServer([Reply(hold=threading.Event())]) as server, connected(server, timeout=0.1, retries=0) as model:
        assert "sent nothing for 0.1 s" in fails(model, LanguageModelUnavailable)


def test_the_whole_call_has_its_time():
    time = Time()
    busy = refusal(503, "loading the model")
    with ChatServer([Reply(status=503, body=busy.body, headers={"Retry-After": "20"})]) as server, connected(
            server, time, timeout=15, retries=20) as model:
        message = fails(model, LanguageModelUnavailable)
        # Three timeouts are 45 s: 20 and 20 fit, the third pause does not.
        assert len(server.requests) == 3
    assert "45 s" in message and "loading the model" in message


def test_a_stream_that_trickles_has_its_time():
    time = Time()
    slow = Reply(BLUE.text, pieces=5, between=lambda number: time.sleep(20))
    with ChatServer([slow]) as server, connected(server, time, timeout=10) as model, pytest.raises(
            LanguageModelUnavailable, match="30 s"):
        model.complete(MERGE, Onlooker())


def test_a_stream_that_breaks_off_starts_over():
    watch = Onlooker()
    with ChatServer([Reply(BLUE.text, cut=2), BLUE]) as server, connected(server) as model:
        assert model.complete(MERGE, watch).query == "a blue dress"
        assert len(server.requests) == 2
    assert watch.usage == Usage(2, 0, 120, 8, None, (model.name,))
    with ChatServer([Reply(BLUE.text, cut=1)]) as server, connected(server, retries=1) as model, pytest.raises(
            LanguageModelUnavailable, match="closed the connection, 2 times"):
        model.complete(MERGE, Onlooker())


@pytest.mark.parametrize(("body", "error", "says"), [
    (b'data: {"error": {"message": "out of memory"}}\n\n', LanguageModelUnavailable, "out of memory"),
    (b'data: {"error": {"message": "context length is 512", "code": 400}}\n\n', LanguageModelError, "context length"),
    (b'data: {"choices": [{"delta": {"cont', LanguageModelUnavailable, "closed the connection"),
    (b'data: not json\n\n', LanguageModelUnavailable, "closed the connection"),
    (b"", LanguageModelUnavailable, "closed the connection"),
])
def test_errors_inside_a_stream(body, error, says):
    reply = Reply(body=body, headers={"Content-Type": "text/event-stream"})
    with ChatServer([reply]) as server, connected(server, retries=1) as model:
        with pytest.raises(error, match=says) as caught:
            model.complete(MERGE, Onlooker())
        assert type(caught.value) is error


def shown_sizes(request: dict[str, Any]) -> list[tuple[int, int]]:
    urls = [part["image_url"]["url"] for part in request["messages"][1]["content"] if part["type"] == "image_url"]
    return [Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).size for url in urls]


@pytest.mark.parametrize("refused", [
    refusal(413, "Payload Too Large"), refusal(400, "The image size exceeds the limit of 200 pixels"),
])
def test_an_image_too_large_is_sent_smaller_once(refused):
    caption = Reply('{"caption": "The image shows grey noise."}')
    with ChatServer([refused, caption]) as server, connected(server) as model:
        answer = model.complete(CaptionTask(Picture.of(NOISE)))
        assert [shown_sizes(request) for request in server.requests] == [[(512, 256)], [(256, 128)]]
    assert answer.caption == "grey noise." and "256" in answer.notes[0] and model.server.host not in answer.notes[0]
    with ChatServer([refused]) as server, connected(server) as model:
        assert "CIRQUE_LLM_IMAGE_EDGE" in fails(model, task=CaptionTask(Picture.of(NOISE)))
        assert len(server.requests) == 2


def test_a_text_too_large():
    with ChatServer([refusal(413, "Payload Too Large")]) as server, connected(server) as model:
        assert "request as too large" in fails(model)
        assert len(server.requests) == 1


@pytest.mark.parametrize(("reply", "says"), [
    (refusal(401, f"Incorrect API key provided: {KEY}"), "CIRQUE_LLM_API_KEY"),
    (refusal(403, "forbidden"), "CIRQUE_LLM_API_KEY"),
    (refusal(404, "The model 'm' does not exist"), "CIRQUE_LLM_MODEL and CIRQUE_LLM_BASE_URL"),
    (Reply(status=404, body=b"not found"), "ends in /v1"),
    (refusal(400, "Server is pinned to 'other'; requested 'm'."), "CIRQUE_LLM_MODEL"),
    (refusal(400, "This model's maximum context length is 512 tokens"), "longer context"),
    (refusal(400, f"Bad {KEY} " + "x" * 2000), "Bad [key] xxx"),
    (refusal(400, "This model does not support image input"), "image input. If the model does not see images, set "
     "CIRQUE_LLM_SEES=false"),
    (refusal(409, "conflict"), "conflict"),
    (Reply(body=b"<html>welcome</html>", headers={"Content-Type": "text/html"}), "ends in /v1"),
    (Reply(body=b"{"), "ends in /v1"),
    (Reply(body={"hello": "world"}), "ends in /v1"),
])
def test_refusals_are_explained_and_not_repeated(reply, says):
    time = Time()
    with ChatServer([reply]) as server, connected(server, time) as model:
        message = fails(model, ImagesRefused if "SEES" in says else LanguageModelError)
        assert len({json.dumps(request) for request in server.requests}) == len(server.requests)
    assert says in message and len(message) < 700 and time.slept == 0


def test_a_server_without_a_key_that_wants_one():
    with ChatServer([refusal(401, "no")]) as server:
        model = OpenAILanguageModel(Server(server.url, "m"))
        assert "CIRQUE_LLM_API_KEY is empty" in fails(model)
        assert "authorization" not in {name.lower() for name in server.headers[0]}
        model.close()


def refusing(**fields: str):
    """A server that refuses each of these request fields with its message, status 400 or 422."""
    def script(request: dict[str, Any]) -> Reply:
        for path, message in fields.items():
            value: Any = request
            for name in path.split("__"):
                value = value.get(name) if isinstance(value, dict) else None
            if value is not None:
                return refusal(422 if len(message) % 2 else 400, message)
        return BLUE
    return script


@pytest.mark.parametrize(("script", "mode"), [
    (refusing(response_format__json_schema="response_format: json_schema is not supported"), "json_object"),
    (refusing(response_format="Unexpected fields in the request: {'response_format'}"), "plain"),
])
def test_a_server_that_takes_no_schema_is_asked_otherwise_and_remembered(script, mode):
    with ChatServer(script) as server, connected(server) as model:
        assert model.answer_mode == "json_schema"
        assert model.complete(MERGE).query == "a blue dress"
        before = len(server.requests)
        assert model.complete(MERGE).query == "a blue dress"
        assert len(server.requests) == before + 1
    assert model.answer_mode == mode


@pytest.mark.parametrize("silent", [
    refusal(400, "Bad request"), refusal(422, ""), Reply(status=400, body=b""), Reply(status=400, body={"error": {}}),
    Reply(status=400, body=b"<html><h1>400 Bad Request</h1></html>", headers={"Content-Type": "text/html"}),
])
def test_a_refusal_without_a_reason_is_worth_one_try_without_a_form(silent):
    def script(request: dict[str, Any]) -> Reply:
        return silent if "response_format" in request else BLUE

    with ChatServer(script) as server, connected(server) as model:
        for _ in range(2):
            assert model.complete(MERGE).query == "a blue dress"
        forms = [request.get("response_format", {}).get("type") for request in server.requests]
        assert forms == ["json_schema", None] * 2  # nothing was named, so nothing is remembered
        server.play([silent])
        assert "refuses the request" in fails(model)
        assert len(server.requests) == 4 + 2 and model.answer_mode == "json_schema"


def test_one_odd_refusal_changes_nothing_for_later():
    with ChatServer([refusal(400, "Bad request"), BLUE]) as server, connected(server) as model:
        model.complete(MERGE)
        model.complete(MERGE)
        assert "json_schema" in server.requests[-1]["response_format"] and len(server.requests) == 3


@pytest.mark.parametrize("refused", [
    refusal(400, "The response was filtered.", code="content_filter"),
    refusal(400, "Your request was rejected as a result of our safety system."),
    refusal(400, "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
            code="invalid_prompt"),
    refusal(403, "The chosen model requires moderation and your input was flagged"),
    refusal(422, "content_policy_violation: the image, whose size exceeds what is decent, and its json_schema"),
])
def test_a_server_that_finds_it_improper_is_asked_once(refused):
    with ChatServer([refused]) as server, connected(server) as model:
        message = fails(model, LanguageModelRefused, CaptionTask(Picture.of(NOISE)))
        assert len(server.requests) == 1 and model.answer_mode == "json_schema"
    assert "by its content policy" in message and "Word the request differently" in message


def test_a_refusal_for_a_reason_we_do_not_know_is_final():
    with ChatServer([refusal(400, "The moon is in the wrong house.")]) as server, connected(server) as model:
        assert "wrong house" in fails(model)
        assert len(server.requests) == 1


def test_models_that_think_before_they_answer():
    script = refusing(
        max_tokens="Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                   "'max_completion_tokens' instead.",
        temperature="Unsupported value: 'temperature' does not support 0 with this model.",
        stream_options="Unknown parameter: stream_options",
    )
    with ChatServer(script) as server, connected(server) as model:
        assert model.complete(MERGE, Onlooker()).query == "a blue dress"
        assert len(server.requests) == 4
        last = server.requests[-1]
        assert last["max_completion_tokens"] == 4070 and not last.keys() & {"max_tokens", "temperature",
                                                                           "stream_options"}
        assert model.answer_mode == "json_schema"


def test_chat_templates_without_a_system_role():
    def script(request: dict[str, Any]) -> Reply:
        roles = [message["role"] for message in request["messages"]]
        return refusal(400, "System role not supported") if "system" in roles else BLUE

    with ChatServer(script) as server, connected(server) as model:
        assert model.complete(MERGE).query == "a blue dress"
        assert "refine queries" in server.requests[-1]["messages"][0]["content"]


def test_other_wordings_are_drawn_by_number():
    caption = Reply('{"caption": "noise"}')
    with ChatServer([caption]) as server, connected(server) as model:
        for sample in (0, 3):
            model.complete(CaptionTask(Picture.of(NOISE), sample=sample))
        plain, again = server.requests
    assert plain["temperature"] == 0 and "seed" not in plain
    assert again["temperature"] == SAMPLE_TEMPERATURE and again["seed"] == 3
    assert "number 3" in again["messages"][1]["content"][-1]["text"]


def test_nothing_is_asked_where_no_picture_is():
    with ChatServer([BLUE]) as server, connected(server) as model:
        with pytest.raises(UnsupportedTask):
            model.complete(CaptionTask())
        assert server.requests == []


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_an_unreachable_port_ends_in_the_built_in_model_with_a_note(caplog):
    """Which says nothing of where the server is: searchers read it. The log does."""
    watch = Observer()
    host = f"127.0.0.1:{free_port()}"
    model = OpenAILanguageModel(Server(f"http://{host}/v1", "m", KEY, retries=1), Time().clock)
    answer = FallbackLanguageModel(model, BuiltinLanguageModel()).complete(MERGE, watch)
    assert "blue" in answer.query
    assert "The language model's server cannot be reached, 2 times" in answer.notes[-1]
    assert not any(secret in answer.notes[-1] for secret in (KEY, host, "127.0.0.1"))
    assert f"No answer from {host}: lost" in caplog.text and KEY not in caplog.text
    assert watch.usage.calls == 0  # nothing was sent
    model.close()


def test_an_address_where_nobody_ever_answered_is_not_tried_for_long():
    """It is probably wrong, and somebody waits. A server that was there is: it may be restarting."""
    time = Time()
    model = OpenAILanguageModel(Server(f"http://127.0.0.1:{free_port()}/v1", "m"), time.clock)
    assert "2 times" in fails(model, LanguageModelUnavailable) and time.slept == pytest.approx(0.5)
    model.close()
    with ChatServer([BLUE]) as server:
        model = OpenAILanguageModel(Server(server.url, "m"), time.clock)
        model.complete(MERGE)
    assert "4 times" in fails(model, LanguageModelUnavailable)
    with ChatServer([BLUE], server.port):
        assert model.complete(MERGE).query == "a blue dress"
    model.close()


def test_stopping_in_the_middle_of_a_stream():
    class Impatient(Onlooker):
        def partial(self, role, fields):
            super().partial(role, fields)
            self.stop()
            go_on.set()

    go_on = threading.Event()

    def between(number: int) -> None:
        if number == 3:
            assert go_on.wait(PATIENCE)

    watch = Impatient()
    with ChatServer([Reply(BLUE.text, between=between)]) as server, connected(server) as model:
        with pytest.raises(Stopped):
            model.complete(MERGE, watch)
        assert len(watch.partials) == 1 and watch.usage == Usage(calls=1)
        with pytest.raises(Stopped):  # before anything is sent
            model.complete(MERGE, watch)
        assert len(server.requests) == 1


def test_stopping_between_two_tries():
    watch, time = Observer(), Time()

    class Stopping(Time):
        def sleep(self, seconds: float) -> None:
            super().sleep(seconds)
            watch.stop()

    time = Stopping()
    with ChatServer([refusal(503, "busy")]) as server, connected(server, time) as model:
        with pytest.raises(Stopped):
            model.complete(MERGE, watch)
        assert len(server.requests) == 1 and time.slept == pytest.approx(0.1)


SILENT = {"nothing yet": Reply(hold=threading.Event()), "signs of life": Reply(drip=0.02)}


@pytest.mark.parametrize("watch", [Observer, Onlooker], ids=["whole", "streamed"])
@pytest.mark.parametrize("reply", SILENT.values(), ids=SILENT)
def test_stopping_takes_effect_while_the_server_says_nothing(reply, watch):
    """It would have gone on for as long as anybody waits: whoever is back before did not wait for it."""
    asked, looking = threading.Event(), watch()

    def script(request: dict[str, Any]) -> Reply:
        asked.set()
        return reply

    def stop() -> None:
        assert asked.wait(PATIENCE)
        looking.stop()

    with ChatServer(script) as server, connected(server, concurrency=1, timeout=2 * PATIENCE) as model:
        stopping = threading.Thread(target=stop)
        stopping.start()
        with pytest.raises(Stopped):
            model.complete(MERGE, looking)
        stopping.join()
        assert server.hung_up.wait(PATIENCE), "the connection is closed before anything came"
        assert looking.usage == Usage(calls=1)
        server.play([BLUE])
        assert model.complete(MERGE, Observer()).query == "a blue dress", "its slot is free"


@pytest.mark.parametrize("watch", [None, Onlooker()], ids=["whole", "streamed"])
def test_signs_of_life_are_no_answer(watch):
    """Each one comes well within the read timeout; three of these are the time of the whole call."""
    time = Hurried()
    with ChatServer([Reply(drip=0.02)]) as server, connected(
            server, time, timeout=PATIENCE, concurrency=1, retries=0) as model:
        with pytest.raises(LanguageModelUnavailable, match=f"did not answer within {3 * PATIENCE:.0f} s"):
            model.complete(MERGE, watch)
        assert server.hung_up.wait(PATIENCE) and len(server.requests) == 1
        time.step = 0
        server.play([BLUE])
        assert model.complete(MERGE).query == "a blue dress"


@pytest.mark.parametrize("close", [True, False])
def test_connections_are_closed_with_the_model_or_after_it(close):
    message = {"role": "assistant", "content": BLUE.text}
    body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ended = threading.Event()

    def serve() -> None:
        connection, _ = listening.accept()
        with connection:
            connection.settimeout(PATIENCE)
            connection.recv(1_000_000)
            connection.sendall(head.encode() + body)
            while connection.recv(1_000_000):  # the rest of the request, then nothing until it is closed
                pass
            ended.set()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        model = OpenAILanguageModel(Server(f"http://127.0.0.1:{listening.getsockname()[1]}/v1", "m", retries=0))
        assert model.complete(MERGE).query == "a blue dress"
        assert not ended.is_set(), "it is kept for the next request"
        if close:
            model.close()
        del model
        gc.collect()
        assert ended.wait(PATIENCE)
        thread.join()


def test_no_more_requests_at_once_than_allowed():
    """Two are held, for a while in which a third one might come."""
    crowd, go_on = threading.Event(), threading.Event()
    with ChatServer([]) as server:
        def script(request: dict[str, Any]) -> Reply:
            if server.in_flight > 2:
                crowd.set()
            return Reply(BLUE.text, hold=go_on)

        server.play(script)
        with connected(server, concurrency=2) as model:
            threads = [threading.Thread(target=model.complete, args=(MERGE,)) for _ in range(6)]
            for thread in threads:
                thread.start()
            wait_for(lambda: server.in_flight >= 2)
            assert not crowd.wait(0.15)
            go_on.set()
            for thread in threads:
                thread.join()
        assert server.most_at_once == 2 and len(server.requests) == 6


def test_a_cache_hit_makes_no_request():
    cache, watch = DictCache(), Observer()
    task = CaptionTask(Picture.of(NOISE))
    with ChatServer([Reply('{"caption": "noise"}')]) as server, connected(server) as model:
        cached = CachedLanguageModel(model, cache)
        assert cached.complete(task, watch) == cached.complete(task, watch)
        assert len(server.requests) == 1
    assert cached.complete(task).caption == "noise"  # the server is gone
    assert watch.usage == Usage(1, 1, 120, 8, None, (model.name,))
    assert cache.puts[0]["prompt_version"] == model.conditions(task).prompt_version


def test_an_offline_build_gets_whole_answers_and_counts_them():
    cache, watch = DictCache(), Observer()
    with ChatServer([BLUE]) as server, connected(server) as model:
        cached = CachedLanguageModel(model, cache)
        cached.complete(MERGE)
        cached.complete(MergeTask("other", "x"), watch)
        cached.complete(MergeTask("third", "x"), PartWatch(TurnObserver()))
        assert all("stream" not in request for request in server.requests)
        cached.complete(MergeTask("fourth", "x"), PartWatch(Following()))
        assert server.requests[-1]["stream"] is True
    assert [put["prompt_tokens"] for put in cache.puts] == [120] * 4
    assert watch.usage == Usage(1, 0, 120, 8, None, (model.name,))


def test_a_server_that_takes_smaller_images_only_is_asked_once_for_each_question():
    def script(request: dict[str, Any]) -> Reply:
        large = max(max(size) for size in shown_sizes(request)) > 256
        return refusal(413, "Payload Too Large") if large else Reply('{"caption": "noise"}')

    cache, other = DictCache(), Picture.of(NOISE.rotate(180))
    with ChatServer(script) as server, connected(server) as model:
        cached = CachedLanguageModel(model, cache)
        first = cached.complete(CaptionTask(Picture.of(NOISE)))
        assert len(server.requests) == 2 and "256" in first.notes[0]
        for _ in range(2):
            assert cached.complete(CaptionTask(Picture.of(NOISE))) == first
        assert len(server.requests) == 2, "the second and third time are free"
        assert cached.complete(CaptionTask(other)).notes == ()
        assert [shown_sizes(request) for request in server.requests[2:]] == [[(256, 128)]], "sent small at once"
        assert cached.complete(CaptionTask(other)).caption == "noise" and len(server.requests) == 3
    assert len(cache.rows) == 2


def test_many_images_that_are_too_large_together_leave_one_alone_as_it_is():
    def script(request: dict[str, Any]) -> Reply:
        sizes = shown_sizes(request)
        if len(sizes) >= 3 and max(max(size) for size in sizes) > 256:
            return refusal(413, "Payload Too Large")
        return Reply('{"caption": "x", "intent": "x", "query": "x"}')

    picture = Picture.of(NOISE)
    with ChatServer(script) as server, connected(server) as model:
        assert model.complete(ReflectTask(picture, candidates=(picture,) * 2)).notes
        assert not model.complete(ReflectTask(picture, candidates=(picture,) * 3)).notes
        model.complete(CaptionTask(picture))
        assert [shown_sizes(request)[0] for request in server.requests] == [
            (512, 256), (256, 128), (256, 128), (512, 256)]


def test_the_key_is_nowhere(caplog):
    password, cache, texts = "pass-word-very-secret", DictCache(), []
    echo = json.dumps({"query": f"a blue dress {KEY} {password}"})
    script = [Reply(echo), Reply(echo), Reply(KEY), Reply(f'{{"{KEY}": 1}}'), refusal(400, f"{KEY} {password}"),
              refusal(401, KEY), refusal(500, KEY)]
    with ChatServer(script) as server, caplog.at_level(logging.DEBUG):
        for logger in ("openai", "httpx", "httpx2", "httpcore", "httpcore2", "cirque.language"):
            caplog.set_level(logging.DEBUG, logger)
        address = server.url.replace("http://", f"http://someone:{password}@")
        model = OpenAILanguageModel(Server(address, "m", KEY, retries=0), Time().clock)
        cached = CachedLanguageModel(model, cache)
        texts.append(repr(cached.complete(MERGE, watch := Onlooker())))
        texts.append(str(watch.partials))
        for number in range(6):
            try:
                texts.append(repr(cached.complete(MergeTask(str(number), "x"))))
            except LanguageModelError as error:
                texts += ["".join(traceback.format_exception(error)), repr(error)]
        texts += [repr(model), repr(model.server), str(cache.rows), str(cache.puts)]
        model.close()
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert "a blue dress [key] [key]" in caplog.text and "httpx2" in {record.name for record in caplog.records}
    everything = "\n".join(texts) + caplog.text
    assert KEY not in everything and password not in everything
    assert len(re.findall("HTTP 401|HTTP 500", everything)) >= 2


def test_an_address_that_may_hold_a_key_never_gets_into_the_log(caplog, monkeypatch):
    """The HTTP library logs whole addresses at INFO; that is why there are no keys in them."""
    for logger in ("", "openai", "httpx", "httpx2", "httpcore", "httpcore2", "cirque.language"):
        caplog.set_level(logging.DEBUG, logger)
    with ChatServer([BLUE]) as server:
        with pytest.raises(SettingsError, match="CIRQUE_LLM_API_KEY") as caught:
            OpenAILanguageModel(Server(f"{server.url}?api-key={KEY}&api-version=preview", "m"))
        assert KEY not in "".join(traceback.format_exception(caught.value)) and server.requests == []
        model = OpenAILanguageModel(Server(f"{server.url}?api-version=preview#{KEY}", "m", KEY), Time().clock)
        model.complete(MERGE)
        model.complete(MERGE, Onlooker())
        model.close()
    infos = [record.getMessage() for record in caplog.records if record.name.startswith("httpx")]
    assert any("api-version=preview" in line for line in infos), "it does log addresses"
    assert KEY not in caplog.text


def test_images_are_not_in_the_log(caplog):
    echo = Reply(json.dumps({"caption": "see data:image/png;base64," + "A" * 400}))
    with ChatServer([echo]) as server, connected(server) as model, caplog.at_level(logging.DEBUG):
        assert model.complete(CaptionTask(Picture.of(NOISE))).caption == "see [image]"
    assert "base64" not in caplog.text


def test_variables_meant_for_other_servers_are_not_sent(monkeypatch):
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID"):
        monkeypatch.setenv(f"OPENAI_{name}", f"sk-other-{name}")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer sk-other")
    with ChatServer([BLUE]) as server:
        for key in ("", KEY):
            model = OpenAILanguageModel(Server(server.url, "m", key))
            model.complete(MERGE)
            model.close()
        assert "sk-other" not in str(server.headers)


@pytest.fixture
def check(monkeypatch, tmp_path):
    def run(**variables: str):
        for name in Settings.model_fields:
            monkeypatch.delenv(f"CIRQUE_{name.upper()}", raising=False)
        monkeypatch.setenv("CIRQUE_HOME", str(tmp_path))
        for name, value in variables.items():
            monkeypatch.setenv(f"CIRQUE_LLM_{name}", value)
        get_settings.cache_clear()
        return CliRunner().invoke(models.app, ["check"])

    yield run
    get_settings.cache_clear()


REFLECTED = Reply('{"intent": "blue", "query": "a blue square"}')


def test_models_check(check):
    with ChatServer([BLUE, Reply('{"caption": "a red square"}'), REFLECTED]) as server:
        result = check(BASE_URL=server.url, MODEL="m", API_KEY=KEY)
        assert result.exit_code == 0, result.output
        for part in ("text and images", "a blue dress", "a red square", "6 images at once", "120 + 8 tokens",
                     "a second", "json_schema", "Kept in"):
            assert part in result.output
        assert KEY not in result.output and len(shown_sizes(server.requests[2])) == 6
        server.play([BLUE])
        result = check(BASE_URL=server.url, MODEL="m", SEES="false", PROMPT_PRICE="1", COMPLETION_PRICE="1")
        # (120 + 8) / 10⁶ = 0.000128
        assert "text only" in result.output and "cost 0.000128" in result.output and len(server.requests) == 4
        server.play([refusal(401, "no")])
        result = check(BASE_URL=server.url, MODEL="m")
        assert isinstance(result.exception, LanguageModelError) and "CIRQUE_LLM_API_KEY" in str(result.exception)


def test_what_a_check_finds_out_is_where_searches_begin(check, tmp_path):
    """A model without eyes that thinks, on a server without schemas: found out once, and not again at each start."""
    def script(request: dict[str, Any]) -> Reply:
        if "response_format" in request:
            return refusal(400, "response_format is not supported")
        if not isinstance(request["messages"][1]["content"], str):
            return refusal(400, "This model does not support image input")
        return BLUE if request["max_tokens"] > 600 else Reply("", finish="length")

    with ChatServer(script) as server:
        result = check(BASE_URL=server.url, MODEL="m")
        assert result.exit_code == 0, result.output
        for part in ("CIRQUE_LLM_SEES=false", "captions instead of images", "requested as: plain", "It thinks",
                     "4,000 tokens"):
            assert part in result.output
        before = len(server.requests)
        model = connect.connected(get_settings())
        assert not model.sees and model.answer_mode == "plain" and model.complete(MERGE).query == "a blue dress"
        assert len(server.requests) == before + 1 and server.requests[-1]["max_tokens"] == 4070
        model.close()
        other = connect.connected(get_settings().model_copy(update={"llm_model": "other"}))
        assert other.sees and other.answer_mode == "json_schema", "another model: nothing is known"
        for damage in ("{", "[]", json.dumps({f"m {server.url}": {"thinking": "much"}})):
            (tmp_path / "language-models.json").write_text(damage)
            assert connect.connected(get_settings()).answer_mode == "json_schema", "as if it had never been checked"
        assert check(BASE_URL=server.url, MODEL="m").exit_code == 0 and not connect.connected(get_settings()).sees


def test_models_check_without_a_model(check):
    result = check()
    assert "CIRQUE_LLM_BASE_URL" in str(result.exception)
