"""Recruitment for studies of every kind: links, and the way of participants without accounts."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from annotation.quality.dealing import with_gold
from annotation.records import (
    LOCAL,
    OpenAssignments,
    Participant,
    Reassign,
    Reassignment,
    Recruitment,
    Study,
    name_key,
    same_person,
)
from annotation.recruitment.ids import Arrival
from annotation.recruitment.settings import (
    Ending,
    EndingName,
    Settings,
    checked_answers,
    has_place,
    is_accepted,
    settings_from,
)
from annotation.recruitment.store import RecruitmentStore
from annotation.studies.assignment import idle_first, open_by_seat
from annotation.studies.completion import new_secret, person_code
from annotation.studies.creation import is_imported
from annotation.studies.kinds import StudyKind
from annotation.studies.service import StudyService
from annotation.studies.store import StudyStore
from cir_core.errors import StudyClosed, StudyError

_MARK = 32   # hex digits of a cookie's signature


class UnknownLink(StudyError):
    """There is no study with this link."""


@dataclass(frozen=True)
class Door:
    """A study behind its link."""

    study: Study
    link: Recruitment
    settings: Settings

    @property
    def title(self) -> str:
        """What participants call the study."""
        return self.settings.title or self.study.name

    @property
    def idle(self) -> timedelta:
        """After this long without activity, a seat is free for somebody else."""
        return timedelta(minutes=self.settings.minutes or 60 * self.study.plan.lease_hours)


class RecruitmentService:
    """Thread-safe service. All methods raise ``CirqueError``."""

    def __init__(
        self, store: RecruitmentStore, study_store: StudyStore, studies: StudyService, kinds: Mapping[str, StudyKind],
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.store, self._study_store, self._studies, self._kinds = store, study_store, studies, kinds
        self._clock = clock

    # --- for those who run a study -----------------------------------------------------------------

    def of_study(self, study: Study) -> Door:
        """The study's link, with the defaults if it has none yet: its token is empty then."""
        found = self.store.recruitment(study.study_id) or Recruitment(study.study_id, "", "", {})
        return Door(study, found, settings_from(found.settings))

    def save(self, study: Study, settings: Settings, *, by: str = LOCAL, new_link: bool = False) -> Door:
        """Save settings; the first time the link is made. ``new_link``: the link so far leads nowhere from now on.
        Raises ``StudyError`` for an imported study, in which there is nothing to judge."""
        if is_imported(study):
            raise StudyError(f"{study.name} was imported with its answers, so there is nothing to judge in it.")
        before = self.store.recruitment(study.study_id)
        token = before.token if before and not new_link else secrets.token_urlsafe(12)
        saved = self.store.save(Recruitment(study.study_id, token, before.secret if before else new_secret(),
                                            settings.model_dump(mode="json")), by=by)
        return Door(study, saved, settings)

    # --- for participants ----------------------------------------------------------------------------

    def door(self, token: str) -> Door:
        """Raises ``UnknownLink``."""
        found = self.store.by_token(token) if 8 <= len(token) <= 64 and token.isascii() else None
        if found is None:
            raise UnknownLink("There is no study at this link. Check that the link is complete, or ask the "
                              "people who sent it for a new one.")
        return Door(self._study_store.study(found.study_id), found, settings_from(found.settings))

    def arrive(self, door: Door, who: Arrival) -> Participant:
        """The participant with this id, who is added if they are new. Raises ``StudyClosed`` for somebody new if
        nobody is let in."""
        known = self.store.participant(door.study.study_id, who.participant_id)
        if known is not None:
            return known
        self._check_open(door)
        return self.store.enter(Participant(
            door.study.study_id, who.participant_id, f"P-{secrets.token_hex(5).upper()}", who.site, "new", {}, "",
            self._clock()))

    def agree(self, door: Door, who: Participant, given: Mapping[str, str], *, agreed: bool) -> Participant:
        """Consent and screening answers of somebody new; those who pass take a seat. Raises ``StudyError`` for what
        is missing."""
        if who.state != "new":
            return self.enter(door, who)
        self._check_open(door)
        settings = door.settings
        if settings.consent and not agreed:
            raise StudyError("Tick that you agree, or close the page if you do not want to take part.")
        answers = checked_answers(settings, given)
        accepted = is_accepted(settings, answers)
        who = self.store.answered(replace(
            who, answers=answers, consent=settings.consent, state="new" if accepted else "screened-out",
            code="" if accepted else settings.screened_out.code))
        return self.enter(door, who)

    def is_ready(self, door: Door, who: Participant) -> bool:
        """Whether nothing has to be asked before a seat is taken."""
        settings = door.settings
        return who.state != "new" or (
            (not settings.consent or who.consent == settings.consent)
            and all(who.answers.get(one.key) in one.answers for one in settings.questions))

    def enter(self, door: Door, who: Participant) -> Participant:
        """Take a seat, or come back to it. Raises ``StudyClosed``."""
        if who.state not in ("new", "expired"):
            return who
        self._check_open(door)
        kind = self._kinds[door.study.kind]
        planned = door.study.plan.seats
        return self.store.seat(
            door.study.study_id, who.participant_id, self._clock(), door.idle,
            with_gold(from_idle(kind.reassign), kind.dealt_extra),
            lambda everybody, one: has_place(door.settings, planned, everybody, one), door.settings.over_quota.code,
            self._studies.first_items(door.study))

    def finish(self, door: Door, who: Participant) -> Participant:
        """The end, once everything is answered; the same code again for who has finished. Those for whom the study has
        ended below the mark get an end and a code of their own. Raises ``StudyError`` while something is left."""
        if who.state in ("finished", "ended"):
            return who
        who = self.enter(door, who)
        workspace = self._studies.workspace(door.study.study_id, who.annotator)
        code = door.settings.complete.code or person_code(door.link.secret, door.study.study_id, who.annotator)
        if early := self._studies.has_ended(workspace.study, who.annotator):
            code = door.settings.below_mark.code
        elif workspace.survey is not None:
            gate = workspace.survey.gate
            if gate is None and workspace.item is None and who.state == "in":   # further work, if there is any
                return self.enter(door, self.store.finish(
                    door.study.study_id, who.participant_id, self._clock(), "", short=True))
            if gate is None or gate["kind"] != "finished":
                raise StudyError("Some items have no answer yet. Go back to the study and answer them; then finish.")
            code = door.settings.complete.code or gate["code"] or code
        return self.store.finish(door.study.study_id, who.participant_id, self._clock(), code, early=early)

    # --- cookies ---------------------------------------------------------------------------------------

    def cookie(self, door: Door, who: Participant) -> str:
        """A value by which this browser is the participant, in this study alone."""
        return f"{who.annotator}.{_mark(door.link, who.annotator)}"

    def by_cookie(self, door: Door, value: str) -> Participant | None:
        """None for a cookie that is missing, forged, or of another study."""
        annotator, _, mark = value.partition(".")
        if not annotator or not mark.isascii() or not hmac.compare_digest(mark, _mark(door.link, annotator)):
            return None
        return self.store.by_annotator(door.study.study_id, annotator)

    def _check_open(self, door: Door) -> None:
        if not door.study.accepting or not door.settings.open:
            raise StudyClosed("This study does not accept new participants at the moment. If you have begun, your "
                              "answers are saved: open the same link again later, or write to the people who "
                              "run the study.")


def given_by(store: RecruitmentStore) -> Callable[[str, str], bool]:
    """Whether a study, by its id, is given to a person: an account, or a participant of the study."""
    def is_given(study_id: str, annotator: str) -> bool:
        found = store.recruitment(study_id)
        accounts = None if found is None else found.settings.get("accounts")
        return (accounts is None or any(same_person(one, annotator) for one in accounts)
                or store.by_annotator(study_id, annotator) is not None)

    return is_given


def from_idle(reassign: Reassign) -> Reassign:
    """``reassign`` without work of people who are at it: a paid participant keeps what they were given."""
    def policy(work: OpenAssignments) -> list[Reassignment]:
        idle = set(idle_first(work, open_by_seat(work)))
        return list(reassign(replace(work, open=tuple(one for one in work.open if one.seat in idle))))

    return policy


def _mark(link: Recruitment, annotator: str) -> str:
    text = f"participant/{link.study_id}/{name_key(annotator)}"
    return hmac.new(link.secret.encode(), text.encode(), hashlib.sha256).hexdigest()[:_MARK]


def ending_of(door: Door, who: Participant) -> tuple[EndingName, Ending]:
    """Which end somebody has come to."""
    names: dict[str, EndingName] = {"finished": "complete", "screened-out": "screened_out", "ended": "below_mark"}
    name = names.get(who.state, "over_quota")
    found: Any = getattr(door.settings, name)
    return name, found
