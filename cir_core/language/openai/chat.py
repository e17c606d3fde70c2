"""Chat requests to one server: adapted to its dialect, retried on failure, streamed if observed."""

from __future__ import annotations

import json
import logging
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from typing import Any, cast

import openai

from cir_core.errors import LanguageModelError, LanguageModelRefused, Stopped
from cir_core.language.openai.bounded import ReplyRefused, bounded_client
from cir_core.language.openai.call import (
    FEATURES,
    FORMS,
    NAP,
    Call,
    Clock,
    Reply,
    Request,
    mode,
    pieces,
    refused_feature,
    release,
    says_nothing,
)
from cir_core.language.openai.messages import without_system
from cir_core.language.openai.reading import has_object, spoken
from cir_core.language.openai.replies.complaints import (
    PASSING,
    Complained,
    Complaint,
    Dropped,
    Fault,
    Kind,
    NoAnswer,
    NotChat,
    NotStream,
    complaint_of,
    error_in,
)
from cir_core.language.openai.replies.contents import Said, said_in
from cir_core.language.openai.replies.failures import ImagesTooLarge, explained, out_of_time
from cir_core.language.openai.server import Abilities, Server

_log = logging.getLogger("cirque.language")
_THINKING = 4000        # extra tokens for models that count their reasoning as part of the answer
_LEAST_ROOM = 16        # tokens in which no answer fits
_CEILINGS = 2           # kept to within one call: the model's own, and what its context leaves beside the prompt
# Own code: the client's max_retries knows neither refused features nor a deadline, and tenacity would need a function
# of ours for each.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0
_LONGEST_WISH = 30.0    # maximum seconds of a Retry-After to wait
_LONGEST = 100_000      # characters; a longer answer is degenerate
_SEEN_AGAIN = 128       # partial text is reported again once it has grown by 1/128


class Chat:
    """A model on a server. Thread-safe; features the server refuses are remembered.

    A stop or timeout takes effect within :data:`~cir_core.language.openai.call.NAP`
    seconds, whatever the server is doing; the connection is then closed.
    """

    def __init__(self, server: Server, clock: Clock = Clock(), known: Abilities = Abilities()) -> None:
        self._server, self._clock = server, clock
        self._refused = frozenset(name for name in known.refused if name in FEATURES)
        self._edges: dict[int, int] = {}  # number of images in a request to their maximum longer edge
        self._reached = False             # whether anything ever came from there
        self._thinking, self._ceiling = known.thinking, known.ceiling
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

    @property
    def learned(self) -> Abilities:
        """What replies have shown so far."""
        return Abilities(tuple(sorted(self._refused)), self._thinking, self._ceiling, self._server.sees)

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
        most, ceilings = self._ceiling, 0
        while True:
            self._still(call)
            result = self._once(request, refused, most, call)
            if isinstance(result, Reply):
                self._refused |= named
                if result.declined:
                    raise LanguageModelRefused(f"{self._server.name} declined to answer. Word the request "
                                               "differently, or take another image.")
                if result.thought_only and not self._thinking and self._room(request, refused, most) != most:
                    self._thinking = _THINKING
                    continue
                if result.thought_only:
                    raise LanguageModelRefused(
                        f"{self._server.name} spent all {self._room(request, refused, most):,} tokens of its answer on "
                        "thinking. Let it think less, or not at all (a setting of the server), or connect another "
                        "model (CIRQUE_LLM_MODEL).")
                return result
            complaint = complaint_of(result)
            if complaint.kind is Kind.TOO_LARGE:
                raise ImagesTooLarge(complaint.words)
            feature = refused_feature(complaint, self._used(request, refused, call))
            if feature:
                refused, named = refused | {feature}, named | {feature}
                continue
            if says_nothing(complaint) and not refused.issuperset(FORMS):
                refused |= set(FORMS)
                continue
            lower = self._lower(complaint, self._room(request, refused, most))
            if lower is not None and ceilings < _CEILINGS:
                most, ceilings = lower, ceilings + 1
                continue
            tries += 1
            if complaint.kind not in PASSING or tries > self._retries(result):
                # Which server it was is for administrators; its words may repeat what a person wrote.
                _log.warning("No answer from %s: %s%s", self._server.host, complaint.kind.value,
                             f", HTTP {complaint.status}" if complaint.status else "")
                raise explained(result, complaint, self._server, tries)
            self._pause(result, complaint, tries, call)

    def _retries(self, error: Fault) -> int:
        """Further tries after ``error``. An address that has never answered is probably wrong, so the user is told
        at once."""
        unreached = {"ConnectError": 1, "ConnectTimeout": 0}.get(type(error.__cause__).__name__)
        return self._server.retries if self._reached or unreached is None else min(unreached, self._server.retries)

    def _room(self, request: Request, refused: frozenset[str], most: int | None) -> int:
        """Tokens of an answer that are asked for."""
        thinking = max(self._thinking, _THINKING if "max_tokens" in refused else 0)
        return min(request.max_tokens + thinking, most or 2**31)

    def _lower(self, complaint: Complaint, room: int) -> int | None:
        """The room that the server names as possible, where that is less than ``room``; None if there is no such."""
        ceiling = complaint.ceiling if complaint.kind is Kind.CEILING else None
        if ceiling is None or not _LEAST_ROOM <= ceiling < room:
            return None
        if not complaint.of_prompt:
            self._ceiling = ceiling
        return ceiling

    def _once(self, request: Request, refused: frozenset[str], most: int | None, call: Call) -> Reply | Fault:
        """One request. Returns its fault, so that our errors do not have it as their cause."""
        try:
            reply = self._streamed(request, refused, most, call) if self._streams(refused, call) else \
                self._whole(request, refused, most, call)
        except (openai.APIError, Dropped, NotChat, NoAnswer, Complained, ReplyRefused) as error:
            if isinstance(error.__cause__, ReplyRefused):   # the library's own errors hide it
                error = error.__cause__
            if type(error.__cause__).__name__ not in ("ConnectError", "ConnectTimeout"):
                self._reached = True
                call.sent(None)
            return error
        except LanguageModelError:
            call.sent(None)
            raise
        self._reached = True
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

    def _whole(self, request: Request, refused: frozenset[str], most: int | None, call: Call) -> Reply:
        with closing(pieces(self._completion(request, refused, most, call), lambda: self._still(call))) as replies:
            [completion] = replies
        return self._reply(said_in(_plain(completion)))

    def _streamed(self, request: Request, refused: frozenset[str], most: int | None, call: Call) -> Reply:
        said, shown = Said(), 0
        seen = cast(Callable[[str], None], call.seen)
        with closing(pieces(self._chunks(request, refused, most, call), lambda: self._still(call))) as chunks:
            for chunk in chunks:
                said += said_in(_plain(chunk), piece=True)
                # Parsing the whole text for every token of a long one would take minutes.
                if len(said.text) > shown + shown // _SEEN_AGAIN:
                    shown = len(said.text)
                    seen(self._server.redacted(said.text))
                if len(said.text) > _LONGEST:
                    break
        if len(said.text) > shown:
            seen(self._server.redacted(said.text))
        ends = said.finish is not None or has_object(said.text)
        if not ends and len(said.text) > _LONGEST:
            raise ReplyRefused(f"its answer is longer than {_LONGEST:,} characters")
        # If a server ends its replies by closing the connection, a break looks like an end.
        if not ends and not said.refused:
            raise Dropped("the stream ended before the answer did")
        return self._reply(said)

    async def _completion(
        self, request: Request, refused: frozenset[str], most: int | None, call: Call,
    ) -> AsyncIterator[Any]:
        yield await self._create(request, refused, most, call)

    async def _chunks(
        self, request: Request, refused: frozenset[str], most: int | None, call: Call,
    ) -> AsyncIterator[Any]:
        """The chunks of a stream. Raises ``Dropped`` for an interrupted one."""
        extra: dict[str, Any] = {"stream": True}
        if "usage" not in refused:
            extra["stream_options"] = {"include_usage": True}
        async with await self._create(request, refused, most, call, **extra) as stream:
            if "text/event-stream" not in stream.response.headers.get("content-type", ""):
                raise await _instead_of_a_stream(stream.response)
            try:
                async for chunk in stream:
                    yield chunk
            except (ValueError, RecursionError):
                raise Dropped("the stream was interrupted") from None

    async def _create(
        self, request: Request, refused: frozenset[str], most: int | None, call: Call, **extra: Any,
    ) -> Any:
        server, left = self._server, max(0.05, call.until - self._clock.now())
        body: dict[str, Any] = {"model": server.model, "messages": list(request.messages), **extra}
        if "system" in refused:
            body["messages"] = without_system(request.messages)
        room = "max_completion_tokens" if "max_tokens" in refused else "max_tokens"
        body[room] = self._room(request, refused, most)
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

    def _reply(self, said: Said) -> Reply:
        text, cut_off = said.text[:_LONGEST], said.finish == "length"
        if not text.strip():
            text = said.arguments[:_LONGEST]
        answered = bool(spoken(text, ended=not cut_off).strip())
        if not answered and not cut_off and has_object(said.thought):
            text = said.thought[:_LONGEST]     # a server that takes all of a reply for thoughts
        # Servers that keep thoughts to themselves tell of them by what they count.
        thought_only = cut_off and not answered and bool(said.thought or text or said.tokens)
        return Reply(self._server.redacted(text), said.finish, said.tokens, said.refused, thought_only)

    def _still(self, call: Call) -> None:
        if call.stopped():
            raise Stopped(f"Stopped before {self._server.name} had answered. Search again to ask once more.")
        if self._clock.now() >= call.until:
            raise out_of_time(None, self._server, call.seconds)

    def _pause(self, error: Fault, complaint: Complaint, tries: int, call: Call) -> None:
        """Exponential backoff with jitter, or the server's Retry-After."""
        wish = complaint.wait
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


def _plain(reply: Any) -> object:
    """``reply`` as the server sent it: the client's models do not check what is in them."""
    return reply.to_dict(warnings=False) if isinstance(reply, openai.BaseModel) else reply


async def _instead_of_a_stream(response: Any) -> Complained | NotStream:
    try:
        whole = json.loads(await response.aread())
    except (ValueError, RecursionError):
        whole = None
    error = error_in(whole) if isinstance(whole, dict) else None
    return Complained(error, response.headers.get("retry-after")) if error else NotStream(
        "a whole reply where a stream was asked for")
