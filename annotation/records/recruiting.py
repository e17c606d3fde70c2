"""Records of recruitment: the link of a study for participants without accounts, and who came by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

ParticipantState = Literal["new", "in", "expired", "finished", "ended", "screened-out", "over-quota"]
"""``new``: consent or screening is pending. ``expired``: no activity for longer than the time limit, and the open work
was released. ``ended``: finished early, for training or gold items were answered below the mark."""
Payment = Literal["open", "approved", "rejected"]
HOLDS_A_PLACE: frozenset[ParticipantState] = frozenset({"in", "finished"})


@dataclass(frozen=True)
class Recruitment:
    """One per study. ``settings``: JSON of :class:`annotation.recruitment.settings.Settings`."""

    study_id: str
    token: str                                # in the link
    secret: str = field(repr=False)           # for cookies and completion codes; never leaves the server
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class Participant:
    """Somebody who came by a study's link. Judgements carry ``annotator``, never ``participant_id``."""

    study_id: str
    participant_id: str                       # as the recruiting site gave it; unique in the study
    annotator: str                            # opaque
    site: Mapping[str, str]                   # the site's other parameters: "SESSION_ID", "assignmentId"
    state: ParticipantState
    answers: Mapping[str, str]                # to the screening questions, by key
    consent: str                              # the text that was accepted; "" before, or if none was asked
    entered_at: datetime
    seated_at: datetime | None = None
    finished_at: datetime | None = None
    code: str = ""                            # that was shown at the end
    payment: Payment = "open"
    reason: str = ""                          # of the payment decision


@dataclass(frozen=True)
class PaymentDecision:
    participant_id: str
    payment: Payment
    reason: str = ""


WebhookEvent = Literal["begun", "away", "returned", "finished", "below-mark", "screened-out", "over-quota", "test"]
_EVENTS: Mapping[ParticipantState, WebhookEvent] = {
    "in": "begun", "expired": "away", "finished": "finished", "ended": "below-mark", "screened-out": "screened-out",
    "over-quota": "over-quota"}


@dataclass(frozen=True)
class WebhookCall:
    """A message to the webhook of a study. It is over when ``next_at`` is None: delivered, or given up."""

    call_id: str
    study_id: str
    event: WebhookEvent
    participant_id: str | None                # None for a test
    created_at: datetime
    attempts: int = 0
    next_at: datetime | None = None
    delivered_at: datetime | None = None
    problem: str = ""                         # of the latest attempt


def event_between(before: ParticipantState, after: ParticipantState) -> WebhookEvent | None:
    """The event that webhooks are notified of when a participant's state changes; None: no event."""
    if before == after:
        return None
    return "returned" if (before, after) == ("expired", "in") else _EVENTS.get(after)


HasPlace = Callable[[Sequence[Participant], Participant], bool]
"""Whether there is a place for one more, given all participants of the study. Pure; called in the transaction that
takes the seat."""
