"""Chat requests to one server: adapted to its dialect, retried on failure, streamed if observed."""

from __future__ import annotations

import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from typing import Any, cast

import openai
from openai.types.chat import ChatCompletion

from cir_core.errors import LanguageModelError, LanguageModelRefused, Stopped
from cir_core.language.openai.bounded import ReplyRefused, bounded_client
from cir_core.language.openai.call import Call, Clock, Reply, Request
from cir_core.language.openai.dialect import FEATURES, FORMS, mode, refused_feature, says_nothing
from cir_core.language.openai.failures import (
    Dropped,
    Fault,
    ImagesTooLarge,
    NotChat,
    NotStream,
    explained,
    is_policy,
    is_too_large,
    out_of_time,
    passes,
    retry_after,
    words_of,
)
from cir_core.language.openai.messages import without_system
from cir_core.language.openai.reading import has_object
from cir_core.language.openai.server import Server
from cir_core.language.openai.waiting import NAP, pieces, release

_THINKING = 4000        # extra tokens for models that count their reasoning as part of the answer
# Own code: the client's max_retries knows neither refused features nor a deadline, and tenacity would need a function
# of ours for each.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0
_LONGEST_WISH = 30.0    # maximum seconds of a Retry-After to wait
_LONGEST = 100_000      # characters; a longer answer is degenerate
_SEEN_AGAIN = 128       # partial text is reported again once it has grown by 1/128


class Chat:
    """A model on a server. Thread-safe; features the server refuses are remembered.

    A stop or timeout takes effect within :data:`~cir_core.language.openai.waiting.NAP`
    seconds, whatever the server is doing; the connection is then closed.
    """

    def __init__(self, server: Server, clock: Clock = Clock()) -> None:
        self._server, self._clock = server, clock
        self._refused: frozenset[str] = frozenset()
        self._edges: dict[int, int] = {}  # number of images in a request to their maximum longer edge
        # Given explicitly: the client would otherwise take keys and headers from variables meant for other servers.
        self._client = openai.AsyncOpenAI(
            api_key=server.key or "none", admin_api_key="", base_url=server.url, default_query=server.query,
            max_retries=0, http_client=bounded_client(round(server.max_reply_mb * 2**20)),
        )
        self._headers = {
            "Authorization": server.authorization or openai.Omit(), "Accept-Encoding": "identity",
            "OpenAI-Organization": openai.Omit(), "OpenAI-Project": openai.Omit(),
        }
        weakref.finalize(self, release, self._client.close, wait=False).atexit = False

    @property
    def mode(self) -> str:
        return mode(self._refused)

    def edge(self, pictures: int) -> int:
        """Known limit in pixels on the longer edge of each of ``pictures`` images in a request."""
        known = [edge for count, edge in self._edges.items() if count <= pictures]
        return min(known, default=self._server.image_edge)

    def remember_edge(self, pictures: int, edge: int) -> None:
        """Record that the server rejects larger images in requests with as many or more."""
        self._edges = {**self._edges, pictures: edge}

    def close(self) -> None:
        release(self._client.close, wait=True)

    def ask(self, request: Request, call: Call) -> Reply:
        """The reply to ``request``.

        Raises:
            TooLarge: the server wants smaller images.
            LanguageModelUnavailable, LanguageModelError, Stopped: as ``LanguageModel.complete``.
        """
        refused, named, tries = self._refused, frozenset[str](), 0
        while True:
            self._still(call)
            result = self._once(request, refused, call)
            if isinstance(result, Reply):
                self._refused |= named
                if result.declined:
                    raise LanguageModelRefused(f"{self._server.name} declined to answer. Word the request "
                                               "differently, or take another image.")
                return result
            if is_policy(result):
                raise explained(result, self._server, tries)
            if is_too_large(result):
                raise ImagesTooLarge(words_of(result))
            feature = refused_feature(result, self._used(request, refused, call))
            if feature:
                refused, named = refused | {feature}, named | {feature}
                continue
            if says_nothing(result) and not refused.issuperset(FORMS):
                refused |= set(FORMS)
                continue
            tries += 1
            if not passes(result) or tries > self._server.retries:
                raise explained(result, self._server, tries)
            self._pause(result, tries, call)

    def _once(self, request: Request, refused: frozenset[str], call: Call) -> Reply | Fault:
        """One request. Returns its fault, so that our errors do not have it as their cause."""
        try:
            reply = self._streamed(request, refused, call) if self._streams(refused, call) else \
                self._whole(request, refused, call)
        except (openai.APIError, Dropped, NotChat, ReplyRefused) as error:
            if isinstance(error.__cause__, ReplyRefused):   # the library's own errors hide it
                error = error.__cause__
            if type(error.__cause__).__name__ not in ("ConnectError", "ConnectTimeout"):
                call.sent(None)
            return error
        except LanguageModelError:
            call.sent(None)
            raise
        call.sent(reply)
        return reply

    def _streams(self, refused: frozenset[str], call: Call) -> bool:
        return call.seen is not None and "stream" not in refused

    def _used(self, request: Request, refused: frozenset[str], call: Call) -> set[str]:
        unused = {"json_object"} if "json_schema" not in refused else set()
        if not self._streams(refused, call):
            unused |= {"stream", "usage"}
        if request.seed is None:
            unused.add("seed")
        return FEATURES.keys() - refused - unused

    def _whole(self, request: Request, refused: frozenset[str], call: Call) -> Reply:
        with closing(pieces(self._completion(request, refused, call), lambda: self._still(call))) as replies:
            [completion] = replies
        if not isinstance(completion, ChatCompletion) or not completion.choices:
            raise NotChat("no choices in the reply")
        choice = completion.choices[0]
        if choice.message is None:
            raise NotChat("no message in the reply")
        text = (choice.message.content or "")[:_LONGEST]
        return self._reply(text, choice.message.refusal, choice.finish_reason, completion.usage)

    def _streamed(self, request: Request, refused: frozenset[str], call: Call) -> Reply:
        text, refusal, finish, usage, shown = "", "", None, None, 0
        seen = cast(Callable[[str], None], call.seen)
        with closing(pieces(self._chunks(request, refused, call), lambda: self._still(call))) as chunks:
            for chunk in chunks:
                usage = getattr(chunk, "usage", None) or usage
                for choice in getattr(chunk, "choices", None) or ():
                    finish = choice.finish_reason or finish
                    refusal += getattr(choice.delta, "refusal", None) or ""
                    piece = getattr(choice.delta, "content", None)
                    text += piece or ""
                # Parsing the whole text for every token of a long one would take minutes.
                if len(text) > shown + shown // _SEEN_AGAIN:
                    shown = len(text)
                    seen(self._server.redacted(text))
                if len(text) > _LONGEST:
                    break
        if len(text) > shown:
            seen(self._server.redacted(text))
        if finish is None and len(text) > _LONGEST and not has_object(text):
            raise ReplyRefused(f"its answer is longer than {_LONGEST:,} characters")
        # If a server ends its replies by closing the connection, a break looks like an end.
        if finish is None and not refusal and not has_object(text):
            raise Dropped("the stream ended before the answer did")
        return self._reply(text, refusal, finish, usage)

    async def _completion(self, request: Request, refused: frozenset[str], call: Call) -> AsyncIterator[Any]:
        yield await self._create(request, refused, call)

    async def _chunks(self, request: Request, refused: frozenset[str], call: Call) -> AsyncIterator[Any]:
        """The chunks of a stream. Raises ``Dropped`` for an interrupted one."""
        extra: dict[str, Any] = {"stream": True}
        if "usage" not in refused:
            extra["stream_options"] = {"include_usage": True}
        async with await self._create(request, refused, call, **extra) as stream:
            if "text/event-stream" not in stream.response.headers.get("content-type", ""):
                raise NotStream("a whole reply where a stream was asked for")
            try:
                async for chunk in stream:
                    yield chunk
            except (ValueError, RecursionError):
                raise Dropped("the stream was cut through") from None

    async def _create(self, request: Request, refused: frozenset[str], call: Call, **extra: Any) -> Any:
        server, left = self._server, max(0.05, call.until - self._clock.now())
        body: dict[str, Any] = {"model": server.model, "messages": list(request.messages), **extra}
        if "system" in refused:
            body["messages"] = without_system(request.messages)
        if "max_tokens" in refused:
            body["max_completion_tokens"] = request.max_tokens + _THINKING
        else:
            body["max_tokens"] = request.max_tokens
        if "temperature" not in refused:
            body["temperature"] = request.temperature
        if request.seed is not None and "seed" not in refused:
            body["seed"] = request.seed
        if mode(refused) == "json_schema":
            form = {"name": request.role, "schema": request.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        elif mode(refused) == "json_object":
            body["response_format"] = {"type": "json_object"}
        timeout = openai.Timeout(min(server.timeout, left), connect=min(server.connect_timeout, left))
        create = cast(Callable[..., Any], self._client.chat.completions.create)
        try:
            return await create(**body, extra_headers=self._headers, timeout=timeout)
        except (ValueError, RecursionError) as error:  # a body declared as JSON that is not
            raise NotChat(type(error).__name__) from None

    def _reply(self, text: str, refusal: str | None, finish: str | None, usage: Any) -> Reply:
        prompt, completion = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
        tokens = (prompt, completion) if isinstance(prompt, int) and isinstance(completion, int) else None
        return Reply(self._server.redacted(text), finish, tokens, bool(refusal) or finish == "content_filter")

    def _still(self, call: Call) -> None:
        if call.stopped():
            raise Stopped(f"Stopped before {self._server.name} had answered. Search again to ask anew.")
        if self._clock.now() >= call.until:
            raise out_of_time(None, self._server, call.seconds)

    def _pause(self, error: Fault, tries: int, call: Call) -> None:
        """Exponential backoff with jitter, or the server's Retry-After."""
        wish = retry_after(error)
        seconds = min(_FIRST_PAUSE * 2 ** (tries - 1), _LONGEST_PAUSE) * (0.75 + 0.5 * self._clock.jitter())
        if wish is not None:
            seconds = max(min(wish, _LONGEST_WISH), 0.0)
        if self._clock.now() + seconds >= call.until:
            raise out_of_time(error, self._server, call.seconds)
        while seconds > 0:
            self._still(call)
            nap = min(seconds, NAP)
            self._clock.sleep(nap)
            seconds -= nap
