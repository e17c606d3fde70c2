"""Replies of a language model's server without end, or larger than they look: dropped in bounded memory."""

from __future__ import annotations

import gzip
import json
from contextlib import ExitStack

import pytest

from cir_core.errors import LanguageModelError, LanguageModelUnavailable
from cir_core.language.builtin import BuiltinLanguageModel
from cir_core.language.openai.bounded import ReplyRefused, _Bounded
from cir_core.language.openai.model import OpenAILanguageModel
from cir_core.language.openai.server import Server
from cir_core.language.tasks import MergeTask
from cir_core.language.wrappers.availability import BreakerLanguageModel, FallbackLanguageModel
from cir_core.methods.observer import PartWatch, TurnObserver
from tests.fakes.chat_server import ChatServer, Reply
from tests.fakes.encoder import FakeEncoder
from tests.fakes.memory import grown
from tests.fakes.patience import PATIENCE

MERGE = MergeTask("a red dress", "make it blue")
COMPLETION = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
CHOICE = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": '{"query": "blue"}'}}
EVENT = b'data: {"id": "1", "choices": [{"index": 0, "delta": {"%s": "much is said here "}}]}\n\n'


class Following(TurnObserver):
    def partial(self, role, fields):
        pass


# What the server sends: (reply, whether somebody looks on, so that a stream is asked for, what is said).
FLOODS = {
    "a body": (Reply(begin=b'{"id": "', endless=b"x" * 1000), False, "larger than 1 MB"),
    "a body of blanks": (Reply(endless=b" " * 1000), False, "larger than 1 MB"),
    "an error": (Reply(status=500, begin=b'{"error": {"message": "', endless=b"x" * 1000), False, "larger than 1 MB"),
    "an error to a stream": (Reply(status=400, begin=b'{"error": "', endless=b"x" * 1000), True, "larger than 1 MB"),
    "a redirect": (Reply(status=302, headers={"Location": "/v1/other"}, endless=b"x" * 1000), False,
                   "larger than 1 MB"),
    "a stream of answers": (Reply(endless=(EVENT % b"content").replace(b" is", b" is" * 100)), True,
                            "longer than 100,000 characters"),
    "a stream of words": (Reply(endless=EVENT % b"content"), True, "longer than 100,000 characters"),
    "a stream of thoughts": (Reply(endless=EVENT % b"reasoning_content"), True, "larger than 1 MB"),
    "a stream of empty events": (Reply(endless=b"data: {}\n\n"), True, "30,000 events"),
    "a line of a stream": (Reply(begin=b"data: ", endless=b"x" * 1000), True, "larger than 1 MB"),
    "comments of a stream": (Reply(endless=b": still here\n\n"), True, "30,000 events"),
    "an event of many lines": (Reply(endless=b"data: [\n"), True, "30,000 braces, brackets and commas"),
    "a body of parts": (Reply(begin=b'{"choices": [', endless=b"{},"), False, "30,000 braces, brackets and commas"),
    "deep brackets": (Reply(endless=b"["), False, "30,000 braces, brackets and commas"),
}


def asked(server: ChatServer, watch: TurnObserver | None, **about: object) -> str:
    model = OpenAILanguageModel(Server(server.url, "m", max_reply_mb=1, **about))
    try:
        with pytest.raises(LanguageModelError) as caught:
            model.complete(MERGE, watch and PartWatch(watch))
    finally:
        model.close()
    if not isinstance(caught.value, LanguageModelUnavailable):
        assert type(caught.value) is LanguageModelError
    return str(caught.value)


@pytest.mark.parametrize("kind", [
    pytest.param(kind, marks=pytest.mark.extended if kind == "a stream of empty events" else ()) for kind in FLOODS])
def test_a_reply_without_end_is_dropped_and_not_asked_for_again(kind):
    reply, streams, said = FLOODS[kind]
    with ChatServer([reply]) as server:
        problem = asked(server, Following() if streams else None)
        assert said in problem and "sent a reply that cirque stopped reading" in problem
        assert len(server.requests) == 1
        assert server.hung_up.wait(PATIENCE)


def test_headers_without_end():
    with ChatServer([Reply(headers={f"X-{number}": "x" * 1000 for number in range(3000)})]) as server:
        assert "closed the connection" in asked(server, None, retries=0)


@pytest.mark.parametrize("streams", [False, True])
def test_a_compressed_reply_is_not_asked_for_and_not_decompressed(streams):
    bomb = gzip.compress(json.dumps({**COMPLETION, "choices": [CHOICE], "more": "x" * 2**26}).encode())
    assert len(bomb) < 2**17
    with ChatServer([Reply(body=bomb, headers={"Content-Encoding": "gzip"})]) as server:
        assert "compressed" in asked(server, Following() if streams else None)
        assert server.headers[0]["accept-encoding"] == "identity"


def test_deep_brackets_below_the_bound_are_a_fault_like_any_other():
    for content in (b"[" * 20_000, b'{"choices": ' + b"[" * 20_000 + b"]" * 20_000 + b"}"):
        with ChatServer([Reply(body=content)]) as server:
            assert "did not return a chat completion" in asked(server, None)


def test_what_a_server_says_at_length_is_not_looked_through_whole():
    """Patterns for its words are tried on the beginning."""
    with ChatServer([Reply(status=400, body={"error": {"message": "image " * 100_000}})]) as server:
        assert "refuses the request (HTTP 400): image image" in asked(server, None)


def test_a_reply_up_to_the_bound_is_read():
    content = {**COMPLETION, "choices": [CHOICE], "more": "x" * (2**20 - 1000)}
    assert len(json.dumps(content)) < 2**20
    with ChatServer([Reply(body=content)]) as server:
        model = OpenAILanguageModel(Server(server.url, "m", max_reply_mb=1))
        assert model.complete(MERGE).query == "blue"
        model.close()


def test_the_built_in_model_goes_on_with_a_note_and_the_server_is_left_alone():
    with ChatServer([FLOODS["a body"][0]]) as server:
        inner = OpenAILanguageModel(Server(server.url, "m", max_reply_mb=1))
        model = FallbackLanguageModel(BreakerLanguageModel(inner), BuiltinLanguageModel(FakeEncoder()))
        first, second = model.complete(MERGE), model.complete(MERGE)
        inner.close()
        assert "its reply is larger than 1 MB (CIRQUE_LLM_MAX_REPLY_MB)" in first.notes[-1]
        assert second.notes == first.notes and "not asked again for 30 s" in second.notes[-1]
        assert len(server.requests) == 1


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_events_are_counted_one_by_one_however_they_are_cut(end, size):
    """100,000 parts in all, 100 in each event; and 100,000 in one event of many lines."""
    apart = (b"data: " + b"{" * 50 + end + b"data: " + b"," * 50 + end + end) * 1000
    bounded = _Bounded(None, 2**30, events=True)   # type: ignore[arg-type]
    for start in range(0, len(apart), size):
        bounded._count(apart[start:start + size])
    together = (b"data: " + b"," * 50 + end) * 2000
    with pytest.raises(ReplyRefused):
        for start in range(0, len(together), size):
            bounded._count(together[start:start + size])


_ASKING = """
    import sys
    from cir_core.errors import LanguageModelError
    from cir_core.language.openai.model import OpenAILanguageModel
    from cir_core.language.openai.server import Server
    from cir_core.language.tasks import MergeTask
    from cir_core.methods.observer import PartWatch, TurnObserver

    class Following(TurnObserver):
        def partial(self, role, fields): pass

    def ask(url, streams=""):
        model = OpenAILanguageModel(Server(url, "m", retries=0))
        try:
            return str(model.complete(MergeTask("a red dress", "make it blue"),
                                      PartWatch(Following()) if streams else None))
        except LanguageModelError as error:
            return str(error)

    ask("http://127.0.0.1:9/v1", "")   # what is loaded once
    print(json.dumps([measure(lambda: ask(*one.split())) for one in sys.argv[1:]]))
"""


@pytest.mark.extended
def test_memory_for_an_endless_reply_is_a_few_times_the_bound():
    """Of 400 MB that are sent, 4 are read at most; they are held as pieces, put together, decoded and parsed."""
    with ExitStack() as open_servers:
        servers = {kind: open_servers.enter_context(ChatServer([reply])) for kind, (reply, _, _) in FLOODS.items()}
        found = grown(_ASKING, *(f"{server.url} {'streams' if FLOODS[kind][1] else ''}"
                                 for kind, server in servers.items()))
    for kind, (said, megabytes) in zip(FLOODS, found, strict=True):
        assert "sent a reply that cirque stopped reading" in said and megabytes < 100, (kind, said, megabytes)
