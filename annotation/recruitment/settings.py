"""Settings of a study's recruitment, from TOML or JSON: consent, screening questions, quotas, time limit, endings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal
from urllib.parse import quote, urlsplit

from pydantic import Field, ValidationError, field_validator, model_validator

from annotation.records import HOLDS_A_PLACE, Participant
from annotation.recruitment.ids import ID_PARAMETERS, PARAMETER
from annotation.studies.protocols import Part, fault_of
from cir_core.errors import StudyError
from cir_core.support.texts import can_be_stored, quoted, shortened
from cir_core.support.toml_files import load_toml

_LINE, _TEXT, _ADDRESS = 300, 20_000, 2000
Line = Annotated[str, Field(max_length=_LINE)]
Prose = Annotated[str, Field(max_length=_TEXT)]
EndingName = Literal["complete", "screened_out", "over_quota", "below_mark"]
_SAID: Mapping[EndingName, str] = {
    "complete": "Thank you. Your answers are saved.",
    "screened_out": "Thank you for your interest. This study is for people with other answers, so it ends here.",
    "over_quota": "Thank you for your interest. There is no place left in this study.",
    "below_mark": "Thank you for your time. The study ends here for you. Your answers are saved.",
}


class Ending(Part):
    """What somebody sees at an end of the study. ``code``: the same for everybody; "" for a code of their own where
    the study is completed, else none. ``url`` may have ``{id}`` and ``{code}``."""

    text: Prose = ""
    code: Annotated[str, Field(max_length=60)] = ""
    url: str = ""

    @field_validator("code")
    @classmethod
    def _one_line(cls, code: str) -> str:
        if code and not code.isprintable():
            raise ValueError("a code is one line")
        return code.strip()

    @field_validator("url")
    @classmethod
    def _is_web_address(cls, url: str) -> str:
        return checked_address(url) if url.strip() else ""

    def address(self, participant_id: str, code: str) -> str:
        """The redirect address; "" without one."""
        return self.url.replace("{id}", quote(participant_id, safe="")).replace("{code}", quote(code, safe=""))


class Question(Part):
    """A screening question with one answer. ``accepts``: answers with which somebody may take part; none: all."""

    key: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
    text: Annotated[str, Field(min_length=1, max_length=_LINE)]
    answers: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=_LINE)], ...],
                       Field(min_length=2, max_length=50)]
    accepts: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _accepts_its_own(self) -> Question:
        if len(set(self.answers)) != len(self.answers):
            raise ValueError(f"question {self.key} has an answer twice")
        if unknown := [one for one in self.accepts if one not in self.answers]:
            raise ValueError(f"question {self.key} accepts {quoted(unknown[0])}, which is not one of its answers")
        return self


class Quota(Part):
    """At most so many people with these answers."""

    where: Annotated[Mapping[str, str], Field(min_length=1)]
    most: Annotated[int, Field(ge=0, le=1_000_000)]


class Settings(Part):
    """``open``: whether the link lets new people in. ``title``: what participants see instead of the study's name.
    ``people`` 0: as many as the study has planned. ``minutes`` 0: as long as the study's lease. ``accounts``: names of
    the accounts that see the study; None: all. ``webhook``: address that is notified; "": none."""

    open: bool = False
    title: Line = ""
    parameter: str = ""
    consent: Prose = ""
    questions: Annotated[tuple[Question, ...], Field(max_length=20)] = ()
    quotas: Annotated[tuple[Quota, ...], Field(max_length=200)] = ()
    people: Annotated[int, Field(ge=0, le=100_000)] = 0
    minutes: Annotated[int, Field(ge=0, le=525_600)] = 0
    accounts: Annotated[tuple[Line, ...], Field(max_length=10_000)] | None = None
    webhook: str = ""
    complete: Ending = Ending()
    screened_out: Ending = Ending()
    over_quota: Ending = Ending()
    below_mark: Ending = Ending()

    @field_validator("parameter")
    @classmethod
    def _is_name(cls, name: str) -> str:
        if name and not PARAMETER.fullmatch(name):
            raise ValueError("a parameter is a letter, then letters, digits, - and _; leave it empty for "
                             + ", ".join(ID_PARAMETERS))
        return name

    @field_validator("webhook")
    @classmethod
    def _is_webhook(cls, url: str) -> str:
        return checked_address(url, "a webhook's address") if url.strip() else ""

    @model_validator(mode="after")
    def _quotas_name_answers(self) -> Settings:
        answers = {question.key: question.answers for question in self.questions}
        if len(answers) != len(self.questions):
            raise ValueError("two questions have the same key")
        for quota in self.quotas:
            for key, answer in quota.where.items():
                if answer not in answers.get(key, ()):
                    raise ValueError(f"a quota is for {quoted(key)} = {quoted(answer)}, and no question has that "
                                     "answer")
        return self

    def said(self, name: EndingName) -> str:
        """The text of an ending."""
        ending: Ending = getattr(self, name)
        return ending.text or _SAID[name]


def checked_address(url: str, what: str = "a redirect address") -> str:
    """Raises ``ValueError`` for what is no http or https address."""
    tidy = url.strip(" ")
    try:
        parts = urlsplit(tidy)
        fine = bool(parts.scheme in ("http", "https") and parts.hostname and parts.username is None and parts.port != 0)
    except ValueError:
        fine = False
    if not fine or len(tidy) > _ADDRESS or any(one <= " " or one in '"<>\\\x7f' for one in tidy):
        raise ValueError(f"{quoted(shortened(url, 80))} is not {what}: it has to begin with https:// "
                         f"or http://, and have no spaces and at most {_ADDRESS:,} characters")
    return tidy


def settings_from(content: Mapping[str, Any]) -> Settings:
    """Raises ``StudyError`` that names the field and what is wrong with it."""
    try:
        found = Settings.model_validate_json(json.dumps(content, default=str))
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise StudyError(f"{where + ': ' if where else ''}{fault_of(error)}. Nothing was changed.") from error
    if not can_be_stored(found.model_dump_json()) or "\\u0000" in found.model_dump_json():
        raise StudyError("The settings contain characters that cannot be stored. Type them again instead of pasting "
                         "them.")
    return found


def settings_from_toml(text: str, where: str) -> Settings:
    """Raises ``StudyError``."""
    try:
        content = load_toml(text)
    except ValueError as error:
        raise StudyError(f"{where} is not valid TOML: {error}. Correct the file.") from error
    try:
        return settings_from(content)
    except StudyError as error:
        raise StudyError(f"{where}, {error}") from error


def is_accepted(settings: Settings, answers: Mapping[str, str]) -> bool:
    """Whether these answers let somebody take part."""
    return all(not question.accepts or answers.get(question.key) in question.accepts
               for question in settings.questions)


def checked_answers(settings: Settings, given: Mapping[str, str]) -> dict[str, str]:
    """One answer to each question. Raises ``StudyError`` for a missing or unknown one."""
    found = {}
    for question in settings.questions:
        if (answer := given.get(question.key)) not in question.answers:
            raise StudyError(f"Choose an answer to: {question.text}")
        found[question.key] = answer
    return found


def has_place(settings: Settings, planned: int, participants: Sequence[Participant], one: Participant) -> bool:
    """Whether one more fits into the number of people and every quota. ``planned``: seats of the study's plan. Only
    people who hold a place count, not those whose time limit has passed."""
    others = [each for each in participants
              if each.state in HOLDS_A_PLACE and each.participant_id != one.participant_id]
    if len(others) >= (settings.people or planned):
        return False
    return all(sum(_matches(each, quota) for each in others) < quota.most
               for quota in settings.quotas if _matches(one, quota))


def _matches(participant: Participant, quota: Quota) -> bool:
    return all(participant.answers.get(key) == answer for key, answer in quota.where.items())
