"""Protocol of the store of recruitment. Implemented by ``storage``."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from annotation.records import LOCAL, HasPlace, Participant, PaymentDecision, Reassign, Recruitment


class RecruitmentStore(Protocol):
    """All methods raise ``StorageError``; writes are durable when they return. An unknown ``study_id`` raises
    ``UnknownStudy``, an unknown participant ``StudyError``."""

    def recruitment(self, study_id: str) -> Recruitment | None:
        """None if the study has no link yet."""

    def by_token(self, token: str) -> Recruitment | None: ...

    def save(self, recruitment: Recruitment, *, by: str = LOCAL) -> Recruitment:
        """Save settings and token; a stored secret stays. Returns what is stored."""

    def participants(self, study_id: str) -> Sequence[Participant]:
        """In order of arrival."""

    def participant(self, study_id: str, participant_id: str) -> Participant | None: ...

    def by_annotator(self, study_id: str, annotator: str) -> Participant | None: ...

    def enter(self, participant: Participant) -> Participant:
        """Add somebody new; who is there already is returned as stored, also when two processes add them at once."""

    def answered(self, participant: Participant) -> Participant:
        """Save consent, screening answers, state and code of somebody who is new."""

    def seat(
        self, study_id: str, participant_id: str, at: datetime, idle: timedelta, reassign: Reassign,
        has_place: HasPlace, full_code: str = "", first: Sequence[str] = (),
    ) -> Participant:
        """A seat for somebody new or expired, unless there is no place or no work: then they get ``full_code``, and
        who is new is over quota. Before that, participants without activity for longer than ``idle`` expire, and their
        open work is released. Of new work, the items ``first`` come first. One transaction, in which the study is
        locked. Raises ``StudyClosed``."""

    def finish(
        self, study_id: str, participant_id: str, at: datetime, code: str, *, early: bool = False,
        short: bool = False,
    ) -> Participant:
        """Record the end, once; ``early``: below the mark; ``short``: too few answers, for others got the rest, so that
        they have expired. Raises ``StudyError`` while there is open work."""

    def pay(self, study_id: str, decisions: Sequence[PaymentDecision], *, by: str = LOCAL) -> int:
        """Save payment decisions, all or none; returns how many."""
