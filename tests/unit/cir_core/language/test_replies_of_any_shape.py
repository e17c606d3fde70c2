"""Whatever JSON a server sends, it is an answer, or a fault that is explained; never a crash."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cir_core.errors import LanguageModelError
from cir_core.language.openai.replies.complaints import Complained, Kind, NoAnswer, NotChat, complaint_of
from cir_core.language.openai.replies.contents import Said, said_in
from cir_core.language.openai.replies.failures import explained
from cir_core.language.openai.server import Server

SERVER = Server("http://localhost:1/v1", "m", "sk-secret-secret")
WORDS = st.sampled_from((
    "", "stop", "length", "text", "thinking", "refusal", "error", "429", "500", "content_filter", "{", "\ud800",
    '{"error": {"code": 429}}', "max_tokens must be at most 9", "try again in 1.5s", "per min: limit , requested ,",
    "a" * 50))
NAMES = st.sampled_from([
    "choices", "message", "delta", "content", "text", "type", "thinking", "reasoning_content", "reasoning_details",
    "refusal", "tool_calls", "function", "function_call", "arguments", "finish_reason", "usage", "prompt_tokens",
    "completion_tokens", "error", "code", "status", "param", "metadata", "raw", "innererror", "detail", "msg",
    "value", "filtered", "content_filter_results", "promptFeedback", "prompt_filter_results", "blockReason",
    "object"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 999) | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=12)


def choices(inner: Any) -> Any:
    return st.fixed_dictionaries({"choices": st.lists(st.dictionaries(NAMES, inner, max_size=4), max_size=2)},
                                 optional={"usage": inner, "error": inner})


@settings(max_examples=400, deadline=None, derandomize=True)
@given(JSON | choices(JSON), st.booleans())
def test_what_a_reply_says(reply: object, piece: bool) -> None:
    try:
        said = said_in(reply, piece=piece)
    except (Complained, NoAnswer, NotChat) as fault:
        complaint = complaint_of(fault)
        assert isinstance(complaint.kind, Kind) and isinstance(complaint.ceiling, int | None)
        assert isinstance(explained(fault, complaint, SERVER, 2), LanguageModelError)
        return
    whole = said + Said("x")
    assert all(isinstance(part, str) for part in (whole.text, whole.thought, whole.arguments))
    assert whole.text.endswith("x") and isinstance(whole.refused, bool) and isinstance(whole.finish, str | None)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(JSON)
def test_what_an_error_means(body: object) -> None:
    fault = Complained(body, "soon")
    complaint = complaint_of(fault)
    assert isinstance(complaint.words, str) and (complaint.wait is None or complaint.wait >= 0)
    assert "sk-secret" not in str(explained(fault, complaint, SERVER, 1))
