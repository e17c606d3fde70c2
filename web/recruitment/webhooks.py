"""Sends messages to webhooks of studies, in a thread of its own."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import httpx
import safehttpx

from annotation.records import Study, WebhookCall
from annotation.recruitment.service import RecruitmentService
from annotation.recruitment.webhooks import WebhookStore, after_attempt, body_of, headers_of, secret_of
from annotation.studies.store import StudyStore
from cir_core.errors import CirqueError, UnknownStudy
from cir_core.support.downloads import Validate, public_address
from cir_core.types.records import new_id
from web.services import Services

_log = logging.getLogger("cirque.webhooks")
_EVERY = 3.0          # seconds between looks
_SECONDS = 15.0       # for an answer
_TAKEN = timedelta(seconds=2 * _SECONDS)   # if this process ends, another one tries then
_AT_ONCE = 16
_GONE = 410


class WebhookSender:
    """Sends what is due. ``hosts``: names of receivers in networks of one's own; ``validate`` returns a public address
    of any other host, or raises ``ValueError``. Thread-safe."""

    def __init__(self, recruitment: RecruitmentService, studies: StudyStore, calls: WebhookStore,
                 hosts: Sequence[str] = (), validate: Validate = public_address) -> None:
        self._recruitment, self._studies, self._calls, self._validate = recruitment, studies, calls, validate
        self._hosts = frozenset(host.lower() for host in hosts)
        self._over = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._run, name="cirque-webhooks", daemon=True).start()

    def stop(self) -> None:
        """No further attempt is begun."""
        self._over.set()

    def _run(self) -> None:
        while not self._over.wait(_EVERY):
            try:
                while self.send_due() == _AT_ONCE and not self._over.is_set():
                    pass
            except CirqueError as error:   # the database is away: looked at again
                _log.warning("Messages to webhooks cannot be sent yet (%s).", error)
            except Exception:
                _log.exception("Messages to webhooks cannot be sent.")

    def send_due(self) -> int:
        """Send what is due, some at a time; returns how many were tried. Raises ``StorageError``, and ``StudyError`` for
        a study whose settings are damaged; the messages of others are sent."""
        now = datetime.now(UTC)
        due = self._calls.take_due(now, now + _TAKEN, _AT_ONCE)
        if due:
            asyncio.run(self._send_all(due))
        return len(due)

    def test(self, study: Study) -> WebhookCall:
        """Send a test at once; returns its outcome. Raises ``StorageError``."""
        call = WebhookCall(new_id(), study.study_id, "test", None, datetime.now(UTC))
        self._calls.add(call)
        return asyncio.run(self._send(call))

    async def _send_all(self, calls: Sequence[WebhookCall]) -> None:
        ends = await asyncio.gather(*map(self._send, calls), return_exceptions=True)
        for error in ends:   # after all others were sent
            if isinstance(error, BaseException):
                raise error

    async def _send(self, call: WebhookCall) -> WebhookCall:
        try:
            door = self._recruitment.of_study(self._studies.study(call.study_id))
        except UnknownStudy:   # deleted just now, with its messages
            return call
        address = door.settings.webhook
        if not address:
            tried = after_attempt(call, datetime.now(UTC), "The study has no webhook any more.", final=True)
        else:
            who = call.participant_id and self._recruitment.store.participant(call.study_id, call.participant_id)
            body = body_of(call, door.study, who or None)
            headers = headers_of(call.call_id, datetime.now(UTC), body, secret_of(door.link))
            problem, final = await self._post(address, body, dict(headers))
            tried = after_attempt(call, datetime.now(UTC), problem, final=final)
        self._calls.tried(tried)
        return tried

    async def _post(self, address: str, body: bytes, headers: dict[str, str]) -> tuple[str, bool]:
        """What went wrong ("": nothing), and whether it would again."""
        try:
            async with asyncio.timeout(_SECONDS):
                host = httpx.URL(address).host
                transport = (httpx.AsyncHTTPTransport() if host.lower() in self._hosts
                             else safehttpx.AsyncSecureTransport(await self._validate(host)))
                async with (
                    httpx.AsyncClient(transport=transport, trust_env=False, timeout=_SECONDS) as client,
                    client.stream("POST", address, content=body, headers=headers, follow_redirects=False) as answer,
                ):
                    status = answer.status_code
        except TimeoutError:
            return f"No answer within {_SECONDS:g} seconds.", False
        except ValueError as error:
            return f"{error}. Receivers in your own network are listed in CIRQUE_WEBHOOK_HOSTS.", False
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            return f"Not reached ({type(error).__name__}).", False
        return ("" if 200 <= status < 300 else f"Answered with status {status}."), status == _GONE


def sender_of(services: Services) -> WebhookSender:
    return WebhookSender(services.recruitment, services.study_store, services.webhooks,
                         services.settings.webhook_receivers)
