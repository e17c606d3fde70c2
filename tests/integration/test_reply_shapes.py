"""Replies as servers of 2026 send them. Shapes and words are those of their manuals and of reports by their users."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from cir_core.errors import ImagesRefused, LanguageModelError, LanguageModelRefused, LanguageModelUnavailable
from cir_core.language.base import Observer
from cir_core.language.openai.model import OpenAILanguageModel
from cir_core.language.openai.server import Server
from cir_core.language.tasks import CaptionTask, MergeTask, Picture, Task
from tests.fakes.chat_server import ChatServer, Reply
from tests.integration.test_openai_server import MERGE, NOISE, Onlooker, Time

ANSWER = '{"query": "a blue dress"}'
LENGTH = "length"
LONG = MergeTask("a red dress", "make it blue", "scene")


def whole(message: dict[str, Any] | None, finish: str | None = "stop", **more: Any) -> Reply:
    choices = [] if message is None else [{"index": 0, "message": {"role": "assistant", **message},
                                           "finish_reason": finish}]
    return Reply(body={"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": choices, **more})


def streamed(*deltas: dict[str, Any], finish: str | None = "stop", first: Iterable[dict[str, Any]] = ()) -> Reply:
    events = [*first, *({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas),
              {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}]
    return events_of(*events)


def events_of(*events: dict[str, Any]) -> Reply:
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
    return Reply(body=body.encode(), headers={"Content-Type": "text/event-stream"})


def error(status: int, body: Any, **headers: str) -> Reply:
    return Reply(status=status, body=body, headers=headers)


def thinking(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": [{"type": "text", "text": text}]}


ANSWERS = {
    "Mistral: parts, thoughts first": whole({"content": [thinking('not {"query": "red"}'),
                                                         {"type": "text", "text": ANSWER}]}),
    "Mistral: parts in a stream": streamed(
        {"content": [thinking("let me")]}, {"content": [thinking(" see")]},
        {"content": [{"type": "text", "text": ANSWER[:9]}]}, {"content": ANSWER[9:]}),
    "vLLM, DeepSeek: thoughts beside the answer": whole({"content": ANSWER, "reasoning_content": '{"query": "red"}'}),
    "vLLM: thoughts beside the answer in a stream": streamed({"reasoning": "hm"}, {"content": ANSWER}),
    "vLLM: the answer among the thoughts": whole({"content": None, "reasoning": f"so: {ANSWER}"}),
    "vLLM: the answer among the thoughts of a stream": streamed({"reasoning_content": ANSWER[:9]},
                                                                {"reasoning_content": ANSWER[9:]}),
    "OpenRouter: details of thoughts": whole({"content": ANSWER, "reasoning_details": [
        {"type": "reasoning.text", "text": "hm"}, {"type": "reasoning.encrypted", "data": "eA=="}]}),
    "Ollama: tags left in the text": whole({"content": f'<think>{{"query": "red"}}</think>\n{ANSWER}'}),
    "SGLang: the prompt has begun the thought": whole({"content": f'not {{"query": "red"}}</think>{ANSWER}'}),
    "Magistral: brackets": whole({"content": f"[THINK]hm[/THINK]{ANSWER}"}),
    "Kimi: its own tags": whole({"content": f"◁think▷hm◁/think▷{ANSWER}"}),
    "gpt-oss: channels": whole({"content": '<|channel|>analysis<|message|>{"query": "red"}<|end|><|start|>assistant'
                                           f"<|channel|>final<|message|>{ANSWER}"}),
    "a tag that is not closed": whole({"content": f"<think>\n\n{ANSWER}"}),
    "a tag that is quoted": whole({"content": f'No "<think>" needed: {ANSWER}'}),
    "Groq: a tool call": whole({"content": None, "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "merge", "arguments": ANSWER}}]}, "tool_calls"),
    "a tool call in a stream": streamed(
        *({"tool_calls": [{"index": 0, "function": {"arguments": part}}]} for part in (ANSWER[:9], ANSWER[9:])),
        finish="tool_calls"),
    "a function call, parsed": whole({"content": "", "function_call": {"name": "x", "arguments": json.loads(ANSWER)}}),
    "a tool call in words": whole({"content": f'<tool_call>{{"name": "merge", "arguments": {ANSWER}}}</tool_call>'}),
    "a tool call in words, arguments as text": whole({"content": json.dumps({"name": "x", "parameters": ANSWER})}),
    "an object, parsed": whole({"content": json.loads(ANSWER)}),
    "a part with an object of its text": whole({"content": [{"type": "text", "text": {"value": ANSWER}}]}),
    "Azure: the filter's word on the prompt first": streamed(
        {"content": ANSWER}, first=[{"choices": [], "prompt_filter_results": [
            {"prompt_index": 0, "content_filter_results": {"hate": {"filtered": False, "severity": "safe"}}}]}]),
    "llama.cpp: the end is missing": streamed({"content": ANSWER}, finish=None),
}


@pytest.mark.parametrize("reply", ANSWERS.values(), ids=ANSWERS)
def test_it_is_an_answer(reply: Reply) -> None:
    in_pieces = reply.headers.get("Content-Type") == "text/event-stream"
    assert asked([reply], watch=Onlooker() if in_pieces else None) == ("a blue dress", 1, 0)


PASSING = {
    "OpenRouter: an error in a reply that succeeded": Reply(body={"error": {
        "code": 429, "message": "Provider returned error", "metadata": {"raw": "temporarily rate-limited upstream"}}}),
    "OpenRouter: the error of the server behind it": Reply(body={"error": {
        "code": 502, "message": "Provider returned error", "metadata": {"provider_name": "x", "raw": json.dumps(
            {"error": {"message": "slow down", "code": "429"}})}}}),
    "OpenRouter: an error in a choice": whole({"content": ""}, "error"),
    "OpenRouter: an error in a stream": events_of({"id": "1", "error": {"code": "server_error", "message": "lost it"},
                                                   "choices": [{"index": 0, "delta": {"content": ""},
                                                                "finish_reason": "error"}]}),
    "a stream that is an error": Reply(body={"error": {"code": 503, "message": "no provider"}}),
    "Groq: used up for this minute": error(413, {"error": {
        "message": "Request too large for model `m` on tokens per minute (TPM): Limit 12000, Used 11000, Requested "
                   "3000, please try again in 9s", "type": "tokens", "code": "rate_limit_exceeded"}}),
    "Groq: flex capacity": error(498, {"error": {"message": "capacity exceeded, try again"}}),
    "Anthropic: overloaded": error(529, {"type": "error", "error": {"type": "overloaded_error", "message": "x"}}),
    "Gemini: a list": error(429, [{"error": {"code": 429, "message": "You exceeded your current quota, please check "
                                             "your plan. Please retry in 9s.", "status": "RESOURCE_EXHAUSTED"}}]),
    "Gemini: the model is busy": error(503, [{"error": {"code": 503, "message": "The model is overloaded.",
                                                        "status": "UNAVAILABLE"}}]),
    "Gemini: no choices": whole(None),
    "llama.cpp: loading": error(503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}),
    "a proxy's page": error(502, b"<html>Bad Gateway</html>", **{"Content-Type": "text/html"}),
    "a router that says 400 for its server's 429": error(400, {"error": {"message": json.dumps(
        {"error": {"message": "Too many requests", "code": 429}}), "code": 400}}),
}


@pytest.mark.parametrize("name", PASSING)
def test_it_passes(name: str) -> None:
    reply, watch = PASSING[name], Onlooker() if "stream" in name else None
    pause = 9 if "9s" in json.dumps(str(reply.body)) else 0.5     # what it asks for, or the first of ours
    assert asked([reply, Reply(ANSWER)], watch=watch) == ("a blue dress", 2, pytest.approx(pause))
    with pytest.raises(LanguageModelUnavailable) as caught:
        asked([reply], watch=watch)
    assert "3 times in a row" in str(caught.value) and "BASE_URL" not in str(caught.value)


LASTING: dict[str, tuple[Reply, type[LanguageModelError], str]] = {
    "LM Studio: another address, with status 200": (Reply(body={
        "error": "Unexpected endpoint or method. (POST /chat/completions)"}), LanguageModelError, "ends in /v1"),
    "LM Studio: no model": (error(404, {"error": {"message": "No models loaded. Please load a model.", "type":
                                                  "invalid_request_error", "code": "model_not_found"}}),
                            LanguageModelError, "CIRQUE_LLM_MODEL"),
    "LM Studio: too long": (error(400, {"error": "The number of tokens to keep from the initial prompt is greater than "
                                                 "the context length (n_keep: 5000>= n_ctx: 4096)."}),
                            LanguageModelError, "longer context"),
    "llama.cpp: too long": (error(400, {"error": {"code": 400, "message": "the request exceeds the available size",
                                                  "type": "exceed_context_size_error"}}),
                            LanguageModelError, "longer context"),
    "Ollama: no such model": (error(404, {"error": {"message": "model 'm' not found, try pulling it first",
                                                    "type": "not_found_error"}}),
                              LanguageModelError, "CIRQUE_LLM_MODEL"),
    "Azure: no such deployment": (error(404, {"error": {"code": "DeploymentNotFound", "message": "The API deployment "
                                                        "for this resource does not exist."}}),
                                  LanguageModelError, "CIRQUE_LLM_MODEL"),
    "FastAPI: no such page": (error(404, {"detail": "Not Found"}), LanguageModelError, "ends in /v1"),
    "Gemini: a wrong key, with status 400": (error(400, [{"error": {
        "code": 400, "message": "API key not valid. Please pass a valid API key.", "status": "INVALID_ARGUMENT"}}]),
        LanguageModelError, "CIRQUE_LLM_API_KEY"),
    "DeepSeek: no money": (error(402, {"error": {"message": "Insufficient Balance", "type": "unknown_error"}}),
                           LanguageModelUnavailable, "no credit"),
    "OpenRouter: no money, in a reply that succeeded": (Reply(body={"error": {
        "code": 402, "message": "This request requires more credits."}}), LanguageModelUnavailable, "no credit"),
    "Groq: more than a minute's worth": (error(413, {"error": {
        "message": "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 14137, please "
                   "reduce your message size", "code": "rate_limit_exceeded"}}), LanguageModelUnavailable,
        "more than the account"),
    "Azure: the prompt is filtered": (error(400, {"error": {
        "message": "The response was filtered", "code": "content_filter", "param": "prompt", "status": 400,
        "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {"hate": {}}}}}),
        LanguageModelRefused, "content policy"),
    "OpenRouter: moderation, in a reply that succeeded": (Reply(body={"error": {
        "code": 403, "message": "Your chosen model requires moderation and your input was flagged"}}),
        LanguageModelRefused, "content policy"),
    "Azure: the answer is filtered": (whole({"content": ""}, "content_filter"), LanguageModelRefused, "declined"),
    "Gemini: the prompt is blocked": (whole(None, promptFeedback={"blockReason": "SAFETY"}), LanguageModelRefused,
                                      "declined"),
    "Gemini: the answer is blocked": (whole({"content": None}, "content_filter: PROHIBITED_CONTENT"),
                                      LanguageModelRefused, "declined"),
    "OpenAI: a refusal": (whole({"content": None, "refusal": "I cannot help with that."}), LanguageModelRefused,
                          "declined"),
    "OpenAI: a refusal as a part": (whole({"content": [{"type": "refusal", "refusal": "no"}]}), LanguageModelRefused,
                                    "declined"),
    "Mistral: a field it does not know": (error(422, {"object": "error", "message": {"detail": [
        {"type": "extra_forbidden", "msg": "Extra inputs are not permitted", "loc": ["body", "x"]}]}}),
        LanguageModelError, "Extra inputs are not permitted"),
    "a key that is none of ours": (error(400, {"error": {"message": "Invalid key 'x' in the body"}}),
                                   LanguageModelError, "refuses the request"),
    "OpenAI: no access to a model": (error(403, {"error": {
        "message": "Project `p` does not have access to model `m`", "code": "model_not_found"}}), LanguageModelError,
        "CIRQUE_LLM_MODEL"),
    "a page": (Reply(body=b"<html>hello</html>", headers={"Content-Type": "text/html"}), LanguageModelError,
               "ends in /v1"),
    "a text": (Reply(body=b'"hello"'), LanguageModelError, "ends in /v1"),
}


@pytest.mark.parametrize(("reply", "kind", "says"), LASTING.values(), ids=LASTING)
def test_it_lasts(reply: Reply, kind: type[LanguageModelError], says: str) -> None:
    time = Time()
    with pytest.raises(kind) as caught:
        asked([reply], time=time)
    assert type(caught.value) is kind and says in str(caught.value) and time.slept == 0


@pytest.mark.parametrize(("status", "body"), [
    (500, {"error": {"code": 500, "message": "image input is not supported - hint: you may need to provide the mmproj",
                     "type": "server_error"}}),
    (400, {"error": {"message": "Model does not support images. Please use a model that does."}}),
    (400, {"object": "error", "message": "m is not a multimodal model", "type": "BadRequestError", "code": 400}),
    (200, {"error": {"message": "No endpoints found that support image input", "code": 404}}),
    (422, {"detail": [{"msg": "image_url is not supported", "type": "value_error"}]}),
])
def test_a_model_that_does_not_see(status: int, body: Any) -> None:
    with pytest.raises(ImagesRefused, match="CIRQUE_LLM_SEES=false"):
        asked([error(status, body)], CaptionTask(Picture.of(NOISE)), sees=True)


def thinks_for(tokens: int, limit: str = "max_tokens", **thought: Any):
    """A model that thinks for so long, in the room for its answer."""
    def script(request: dict[str, Any]) -> Reply:
        if limit not in request:
            return error(400, {"error": {"message": f"Unsupported: use '{limit}' instead.", "param": "max_tokens"}})
        if request[limit] >= tokens:
            return whole({"content": ANSWER, **thought})
        return whole({"content": None, **thought}, LENGTH, usage={"prompt_tokens": 9, "completion_tokens": 70})
    return script


@pytest.mark.parametrize("thought", [
    {"reasoning_content": "hm " * 70}, {"reasoning": 'so {"query": "red"}'}, {"thinking": "hm"}, {},
    {"content": '<think>{"query": "a red dress"} or'}, {"content": [thinking("hm")]},
], ids=["vLLM", "a draft among the thoughts", "Ollama", "OpenAI: nothing is shown", "tags", "parts"])
def test_room_for_thinking_is_given_once_and_remembered(thought: dict[str, Any]) -> None:
    def script(request: dict[str, Any]) -> Reply:
        if request["max_tokens"] >= 650:
            return Reply(ANSWER)
        return whole({"content": None, **thought}, LENGTH, usage={"prompt_tokens": 9, "completion_tokens": 70})

    with ChatServer(script) as server, connected(server) as model:
        for _ in range(2):
            assert model.complete(MERGE).query == "a blue dress"
        assert [request["max_tokens"] for request in server.requests] == [70, 4070, 4070]


def test_room_for_thinking_under_its_newer_name() -> None:
    with ChatServer(thinks_for(650, "max_completion_tokens")) as server, connected(server) as model:
        assert model.complete(MERGE).query == "a blue dress"
        assert [request.get("max_completion_tokens") for request in server.requests] == [None, 4070]


def test_thoughts_that_never_end_are_said() -> None:
    with ChatServer(thinks_for(10**6, reasoning_content="hm")) as server, connected(server) as model:
        with pytest.raises(LanguageModelRefused, match=r"all 4,070 tokens of its answer on thinking"):
            model.complete(MERGE)
        assert len(server.requests) == 2


@pytest.mark.parametrize(("says", "room", "remembered"), [
    ("max_tokens is too large: {n}. This model supports at most 2048 completion tokens, whereas you provided {n}.",
     2048, True),
    ("`max_tokens` must be less than or equal to `2,048`, the maximum value for `max_tokens` is less than the "
     "`context_window` for this model", 2048, True),
    ("Invalid max_tokens value, the valid range of max_tokens is [1, 2048]", 2048, True),
    ("integer above maximum value, expected a value <= 2048, but got {n} instead: max_completion_tokens", 2048, True),
    ("This model's maximum context length is 4096 tokens. However, you requested 4570 tokens (500 in the messages, {n} "
     "in the completion). Please reduce the length of the messages or completion.", 3596, False),
    ("'max_tokens' or 'max_completion_tokens' is too large: {n}. This model's maximum context length is 4096 tokens "
     "and your request has 500 input tokens ({n} > 4096 - 500).", 3596, False),
    ("Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 4570 "
     "tokens: 500 tokens from the input messages and {n} tokens for the completion.", 3596, False),
])
def test_a_ceiling_that_is_named_is_kept_to(says: str, room: int, remembered: bool) -> None:
    def script(request: dict[str, Any]) -> Reply:
        if request["max_tokens"] > room:
            return error(400, {"object": "error", "message": says.format(n=request["max_tokens"]), "code": 400})
        return thinks_for(650, reasoning="hm")(request)

    with ChatServer(script) as server, connected(server) as model:
        assert model.complete(MERGE).query == "a blue dress"
        rooms = [request["max_tokens"] for request in server.requests]
        assert rooms == [70, 4070, room]
        assert model.complete(MERGE).query == "a blue dress"
        assert len(server.requests) == len(rooms) + (1 if remembered else 2)


def test_ceilings_that_sink_for_ever_are_not_followed() -> None:
    def script(request: dict[str, Any]) -> Reply:
        return error(400, {"error": {"message": f"max_tokens must be at most {request['max_tokens'] - 1}"}})

    with ChatServer(script) as server, connected(server) as model:
        with pytest.raises(LanguageModelError, match="refuses the request"):
            model.complete(MERGE)
        assert [request["max_tokens"] for request in server.requests] == [70, 69, 68]


def test_no_room_at_all_is_a_context_too_short() -> None:
    body = {"object": "error", "message": "This model's maximum context length is 512 tokens. However, you requested "
                                          "582 tokens (512 in the messages, 70 in the completion).", "code": 400}
    with pytest.raises(LanguageModelError, match="longer context"):
        asked([error(400, body)])


def asked(script: list[Reply], task: Task[Any] = MERGE, *, time: Time | None = None, watch: Observer | None = None,
          sees: bool = False) -> tuple[str, int, float]:
    """The answer, how many requests it took, and how long was waited between them."""
    time = time or Time()
    with ChatServer(script) as server, connected(server, time, sees) as model:
        answer = model.complete(task, watch)
        return answer.query, len(server.requests), time.slept


class connected:
    def __init__(self, server: ChatServer, time: Time | None = None, sees: bool = False) -> None:
        self.model = OpenAILanguageModel(Server(server.url, "m", sees=sees, retries=2), (time or Time()).clock)

    def __enter__(self) -> OpenAILanguageModel:
        return self.model

    def __exit__(self, *failure: object) -> None:
        self.model.close()
