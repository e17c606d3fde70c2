"""Webhooks: messages about participants, signed as the Standard Webhooks specification says (standardwebhooks.com).

A message is delivered at least once. Its id is the same at each attempt, so that a receiver can leave out repeats.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Protocol

from annotation.records import Participant, Recruitment, Study, WebhookCall

_WAITS = tuple(timedelta(seconds=each) for each in (5, 60, 300, 1800, 7200, 18_000, 36_000, 86_400))
_PREFIX = "whsec_"


class WebhookStore(Protocol):
    """All methods raise ``StorageError``; writes are durable when they return."""

    def add(self, call: WebhookCall) -> None: ...

    def recent(self, study_id: str, most: int) -> Sequence[WebhookCall]:
        """The newest first."""

    def undelivered(self, study_id: str) -> int:
        """How many wait or were given up; tests do not count."""

    def take_due(self, at: datetime, taken: timedelta, most: int, each: int) -> Sequence[WebhookCall]:
        """At most so many messages that are due, and ``each`` of a study, for this caller alone for the time ``taken``,
        which their ``next_at`` tells. Several processes may ask at once."""

    def tried(self, outcomes: Sequence[tuple[WebhookCall, WebhookCall]]) -> None:
        """Save messages after an attempt, given as they were taken and as they are now; nothing of one that another
        process has taken since."""

    def again(self, study_id: str, at: datetime) -> None:
        """Make all undelivered messages due. Tests are left out."""


def secret_of(link: Recruitment) -> str:
    """The key that receivers check signatures with: another one for another address."""
    what = f"webhook/{link.study_id}/{link.settings.get('webhook', '')}"
    derived = hmac.new(link.secret.encode(), what.encode(), hashlib.sha256).digest()
    return _PREFIX + base64.b64encode(derived).decode()


def body_of(call: WebhookCall, study: Study, who: Participant | None) -> bytes:
    """The message. The same at each attempt, but for the study's name if that was changed. Nothing in it leads from an
    id to the name in judgements."""
    data: dict[str, object] = {"study": study.name, "study_id": study.study_id}
    if who is not None:
        data |= {"participant_id": who.participant_id, "site": dict(who.site)}
    return json.dumps({"type": "webhook.test" if call.event == "test" else f"participant.{call.event}",
                       "timestamp": call.created_at.isoformat(), "data": data}, ensure_ascii=False).encode()


def headers_of(call_id: str, at: datetime, body: bytes, secret: str) -> Mapping[str, str]:
    """Id, time and signature: HMAC-SHA256 over ``id.time.body`` with the key behind the prefix of ``secret``."""
    seconds = str(int(at.timestamp()))
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    signature = hmac.new(key, b".".join((call_id.encode(), seconds.encode(), body)), hashlib.sha256).digest()
    return {"Content-Type": "application/json", "webhook-id": call_id, "webhook-timestamp": seconds,
            "webhook-signature": "v1," + base64.b64encode(signature).decode()}


def after_attempt(call: WebhookCall, at: datetime, problem: str, *, final: bool = False) -> WebhookCall:
    """The message after an attempt at that time. ``problem``: "" if it was delivered; ``final``: another attempt would
    fail too. Nine attempts are made within two days."""
    attempts = call.attempts + 1
    if not problem:
        return replace(call, attempts=attempts, next_at=None, delivered_at=at, problem="")
    over = final or call.event == "test" or attempts > len(_WAITS)
    return replace(call, attempts=attempts, next_at=None if over else at + _WAITS[attempts - 1], problem=problem)
