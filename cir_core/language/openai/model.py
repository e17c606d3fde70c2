"""Language model on an OpenAI-compatible server."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

from cir_core.errors import LanguageModelRefused, Stopped, UnsupportedTask
from cir_core.language.base import Observer
from cir_core.language.openai.call import Call, Clock, Reply, Request
from cir_core.language.openai.chat import Chat
from cir_core.language.openai.messages import messages, repair, schema
from cir_core.language.openai.reading import WrongForm, partial_fields, read_answer
from cir_core.language.openai.replies.failures import ImagesTooLarge, refused_images, refused_size
from cir_core.language.openai.server import Abilities, Server
from cir_core.language.prompts import Prompt, load
from cir_core.language.tasks import A, CaptionTask, Task
from cir_core.language.tasks.base import CUT_OFF
from cir_core.language.wrappers.base import Conditions
from cir_core.types.composition import Usage

SAMPLE_TEMPERATURE = 0.9   # minimum for alternative captions
_WHOLE_CALL = 3.0          # limit of all tries of one answer, in read timeouts
_SHOWN_BACK = 4000         # characters of its own answer that a model is shown for repair

_log = logging.getLogger("cirque.language")


class OpenAILanguageModel:
    """Supports every role that has a prompt. Thread-safe; at most ``server.concurrency`` requests at a time.

    Answers are requested with a JSON schema if the server supports it, and validated; an
    invalid one is sent back to the model once, with its fault, and so is one that was cut off.
    """

    def __init__(self, server: Server, clock: Clock = Clock(), known: Abilities = Abilities()) -> None:
        self.server = server
        self._chat, self._clock = Chat(server, clock, known), clock
        self._slots = threading.BoundedSemaphore(server.concurrency)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    @property
    def name(self) -> str:
        return self.server.name

    @property
    def sees(self) -> bool:
        return self.server.sees

    @property
    def answer_mode(self) -> str:
        """How JSON is requested, as far as known: json_schema, json_object or plain."""
        return self._chat.mode

    @property
    def learned(self) -> Abilities:
        """What replies have shown so far of what server and model can do."""
        return self._chat.learned

    def close(self) -> None:
        """Close the connections; the model cannot be used afterwards."""
        self._chat.close()

    def conditions(self, task: Task[Any]) -> Conditions:
        """Everything besides its inputs that the answer to ``task`` depends on."""
        prompt = _prompt(task)
        edge = self._chat.edge(self.shown(task)) if self.sees else 0
        return Conditions(prompt.version, edge, self._temperature(task))

    def complete(self, task: Task[A], watch: Observer | None = None) -> A:
        prompt = _prompt(task)
        with self._slot(watch):
            return cast(A, _Exchange(self, self._chat, task, prompt, self._call(task, watch)).answer())

    def shown(self, task: Task[Any]) -> int:
        """Number of images in the request for ``task``."""
        return sum(picture.load is not None for picture in task.pictures()) if self.sees else 0

    def request(self, task: Task[Any], prompt: Prompt, edge: int) -> Request:
        """The first request, with images of ``edge`` pixels."""
        return Request(
            messages(task, prompt, sees=self.sees, edge=edge), task.role, schema(task), prompt.max_tokens,
            self._temperature(task), task.sample if isinstance(task, CaptionTask) and task.sample else None,
        )

    def _temperature(self, task: Task[Any]) -> float:
        again = isinstance(task, CaptionTask) and task.sample > 0
        return max(self.server.temperature, SAMPLE_TEMPERATURE) if again else self.server.temperature

    def _call(self, task: Task[Any], watch: Observer | None) -> Call:
        seconds = _WHOLE_CALL * self.server.timeout
        call = Call(until=self._clock.now() + seconds, seconds=seconds)
        if watch is not None:
            shown: dict[str, Any] = {}

            def seen(text: str) -> None:
                fields = partial_fields(task, text)
                if fields and fields != shown:
                    shown.clear()
                    shown.update(fields)
                    watch.partial(task.role, fields)

            call.stopped, call.seen = lambda: watch.stopped, seen if watch.follows else None
            call.sent = lambda reply: watch.spent(self._usage(reply))
        return call

    def _usage(self, reply: Reply | None) -> Usage:
        if reply is None:
            return Usage(calls=1)
        if reply.tokens is None:
            return Usage(calls=1, models=(self.name,))
        (prompt, completion), cost = reply.tokens, None
        if self.server.prompt_price is not None and self.server.completion_price is not None:
            cost = (prompt * self.server.prompt_price + completion * self.server.completion_price) / 1e6
        return Usage(1, 0, prompt, completion, cost, (self.name,))

    @contextmanager
    def _slot(self, watch: Observer | None) -> Iterator[None]:
        while not self._slots.acquire(timeout=0.1):
            if watch is not None and watch.stopped:
                raise Stopped(f"Stopped while others were waiting for {self.name}. Search again to ask once more.")
        try:
            yield
        finally:
            self._slots.release()


@dataclass
class _Exchange:
    """One task: the request, retries with smaller images, the answer, its repair."""

    model: OpenAILanguageModel
    chat: Chat
    task: Task[Any]
    prompt: Prompt
    call: Call

    def answer(self) -> Any:
        request, reply, notes = self._first()
        found = self._read(reply)
        if isinstance(found, WrongForm) or CUT_OFF in found.notes:
            # A truncated answer is requested again with more room; the truncated one is used if that fails.
            half = None if isinstance(found, WrongForm) else found
            fault = str(found) if half is None else "it was cut off"
            room = request.max_tokens * (2 if reply.finish == "length" else 1)
            again = [*request.messages, *repair(reply.text[:_SHOWN_BACK], fault)]
            reply = self._logged(self.chat.ask(replace(request, messages=again, max_tokens=room), self.call))
            found = self._read(reply)
            if isinstance(found, WrongForm) and half is not None:
                found = half
        if isinstance(found, WrongForm):
            raise LanguageModelRefused(
                f"{self.model.server.model} answered the role '{self.task.role}' twice in a form that cannot be used; "
                f"{self.model.server.redacted(str(found))}. Try again, or connect a model that follows instructions "
                "better (CIRQUE_LLM_MODEL).")
        return found.model_copy(update={"notes": (*found.notes, *notes)})

    def _first(self) -> tuple[Request, Reply, tuple[str, ...]]:
        pictures = self.model.shown(self.task)
        edge = self.chat.edge(pictures)
        request = self.model.request(self.task, self.prompt, edge)
        said = self._too_large(request)
        if isinstance(said, Reply):
            return request, said, ()
        if not pictures:
            raise refused_size(said, self.model.server)
        half = max(1, edge // 2)
        request = self.model.request(self.task, self.prompt, half)
        again = self._too_large(request)
        if isinstance(again, Reply):
            self.chat.remember_edge(pictures, half)
            note = (f"The language model's server did not accept images of {edge} pixels; they were sent with {half} "
                    "(CIRQUE_LLM_IMAGE_EDGE)")
            return request, again, (note,)
        raise refused_images(again, self.model.server, half)

    def _too_large(self, request: Request) -> Reply | str:
        try:
            return self._logged(self.chat.ask(request, self.call))
        except ImagesTooLarge as error:
            return str(error)

    def _read(self, reply: Reply) -> Any:
        """The validated answer, or its fault."""
        try:
            return read_answer(self.task, reply.text)
        except WrongForm as error:
            return error

    def _logged(self, reply: Reply) -> Reply:
        _log.debug("%s, role %s, asked with %s, ended with %s: %s",
                   self.model.name, self.task.role, self.chat.mode, reply.finish, reply.text)
        return reply


def _prompt(task: Task[Any]) -> Prompt:
    prompt = load(task.role)
    if prompt is None:
        raise UnsupportedTask(f"There is no prompt for the role '{task.role}', so no language model can fill it.")
    return prompt
