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


HasPlace = Callable[[Sequence[Participant], Participant], bool]
"""Whether there is a place for one more, given all participants of the study. Pure; called in the transaction that
takes the seat."""
