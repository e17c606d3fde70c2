"""Sends messages to webhooks of studies, in a thread of its own."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import httpx

from annotation.records import Study, WebhookCall
from annotation.recruitment.service import RecruitmentService
from annotation.recruitment.webhooks import WebhookStore, after_attempt, body_of, headers_of, secret_of
from annotation.studies.store import StudyStore
from cir_core.errors import CirqueError, StorageError, StudyError, UnknownStudy
from cir_core.support.downloads import Validate, public_address
from cir_core.types.records import new_id
from web.http.public_errors import public_message
from web.services import Services

_log = logging.getLogger("cirque.webhooks")
_EVERY = 3.0          # seconds between looks
_SECONDS = 15.0       # for an answer
_TAKEN = timedelta(minutes=1)   # if this process ends, another one tries then
_AT_ONCE, _OF_A_STUDY = 16, 4   # messages: a receiver that is slow delays those of other studies by one attempt
_GONE = 410
_TESTS, _WINDOW, _LOOKED_AT = 5, timedelta(minutes=1), 50   # of a study, by people who press the button
_USUAL_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class _Message:
    address: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class _Failed:
    """``final``: another attempt would fail too."""

    problem: str
    final: bool = False


class WebhookSender:
    """Sends what is due. ``hosts``: receivers in networks of one's own, as ``HOST``, ``HOST:PORT`` or ``HOST:*``;
    ``validate`` returns a public address of any other host, or raises ``ValueError``; ``seconds`` for an answer.
    Thread-safe."""

    def __init__(self, recruitment: RecruitmentService, studies: StudyStore, calls: WebhookStore,
                 hosts: Collection[str] = (), validate: Validate = public_address, seconds: float = _SECONDS) -> None:
        self._recruitment, self._studies, self._calls = recruitment, studies, calls
        self._hosts, self._validate, self._seconds = frozenset(map(str.lower, hosts)), validate, seconds
        self._over, self._thread = threading.Event(), threading.Thread(target=self._run, name="cirque-webhooks",
                                                                       daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """No further attempt is begun."""
        self._over.set()

    def join(self) -> None:
        """Wait briefly for attempts that have begun, after :meth:`stop`."""
        if self._thread.is_alive():
            self._thread.join(1)

    def _run(self) -> None:
        said = ""
        while not self._over.wait(_EVERY):
            try:
                while self.send_due() and not self._over.is_set():
                    pass
                said = ""
            except CirqueError as error:   # the database is away: looked at again
                if repr(error) != said:
                    said = repr(error)
                    _log.warning("Messages to webhooks cannot be sent yet (%s).", error)
            except Exception:
                if self._over.is_set():   # the interpreter is ending
                    return
                _log.exception("Messages to webhooks cannot be sent.")

    def send_due(self) -> int:
        """Send what is due, some at a time; returns how many were tried. Raises ``StorageError``; what had been taken
        is tried again later."""
        due = self._calls.take_due(datetime.now(UTC), _TAKEN, _AT_ONCE, _OF_A_STUDY)
        self._send(due)
        return len(due)

    def test(self, study: Study) -> None:
        """Send a test at once, and store its outcome. Raises ``StorageError``, and ``StudyError`` after several within
        a minute: a receiver is somebody else's."""
        now = datetime.now(UTC)
        recent = self._calls.recent(study.study_id, _LOOKED_AT)
        if sum(one.event == "test" and one.created_at > now - _WINDOW for one in recent) >= _TESTS:
            raise StudyError(f"{_TESTS} tests were sent within a minute. Wait a minute, then send another one.")
        call = WebhookCall(new_id(), study.study_id, "test", None, now, next_at=now + _TAKEN)
        self._calls.add(call)
        self._send([call])

    def _send(self, calls: Sequence[WebhookCall]) -> None:
        """The database is read before, and written after, any receiver is waited for."""
        if not calls:
            return
        messages = [self._message(call) for call in calls]
        ends = asyncio.run(self._post_all(messages))
        now = datetime.now(UTC)
        self._calls.tried([(call, after_attempt(call, now, end.problem, final=end.final) if end else after_attempt(
            call, now, "")) for call, end in zip(calls, ends, strict=True)])

    def _message(self, call: WebhookCall) -> _Message | _Failed:
        try:
            door = self._recruitment.of_study(self._studies.study(call.study_id))
        except UnknownStudy:
            return _Failed("The study was removed.", final=True)
        except StorageError:
            raise
        except CirqueError as error:
            return _Failed(f"The study's settings are damaged: {public_message(error)}")
        if not door.settings.webhook:
            return _Failed("The study has no webhook any more.", final=True)
        who = call.participant_id and self._recruitment.store.participant(call.study_id, call.participant_id)
        body = body_of(call, door.study, who or None)
        return _Message(door.settings.webhook, dict(headers_of(
            call.call_id, datetime.now(UTC), body, secret_of(door.link))), body)

    async def _post_all(self, messages: Sequence[_Message | _Failed]) -> Sequence[_Failed | None]:
        return await asyncio.gather(*map(self._post, messages))

    async def _post(self, message: _Message | _Failed) -> _Failed | None:
        if isinstance(message, _Failed):
            return message
        try:
            async with asyncio.timeout(self._seconds):
                url = httpx.URL(message.address)
                to = await self._place_of(url)
                if isinstance(to, _Failed):
                    return to
                async with (
                    httpx.AsyncClient(trust_env=False, timeout=self._seconds) as client,
                    client.stream(
                        "POST", to, content=message.body, follow_redirects=False,
                        headers={**message.headers, "Host": url.netloc.decode("ascii")},
                        extensions={"sni_hostname": url.raw_host.decode("ascii")}) as answer,
                ):
                    status = answer.status_code
        except TimeoutError:
            return _Failed(f"No answer within {self._seconds:g} seconds.")
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            return _Failed(f"Not reached ({type(error).__name__}).")
        return None if 200 <= status < 300 else _Failed(f"Answered with status {status}.", status == _GONE)

    async def _place_of(self, url: httpx.URL) -> httpx.URL | _Failed:
        """``url`` at the address that was found to be public, and at no other; or itself, if its host is listed."""
        host, port = url.raw_host.decode("ascii").lower(), url.port or _USUAL_PORTS[url.scheme]
        name = f"[{host}]" if ":" in host else host
        if not self._hosts.isdisjoint({f"{name}:*", f"{name}:{port}", *(
                {name} if port in _USUAL_PORTS.values() else ())}):
            return url
        if url.scheme != "https":
            return _Failed(f"Use https. Plain http is only for hosts listed in CIRQUE_WEBHOOK_HOSTS, as {name}:{port}.")
        try:
            return url.copy_with(host=await self._validate(host))
        except ValueError as error:
            why = f"{error}."   # by cirque's own look-up: the host, and nothing of this machine
            return _Failed(why if why.endswith("is not known.") else f"{why} Receivers in your own network are listed "
                           f"in CIRQUE_WEBHOOK_HOSTS, as {name}:{port}.")


def sender_of(services: Services) -> WebhookSender:
    return WebhookSender(services.recruitment, services.study_store, services.webhooks,
                         services.settings.webhook_receivers)
