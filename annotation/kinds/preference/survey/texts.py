"""What people read in a preference study, as it is written in ``assets/surveys``.

A survey's name and version are a study's ``protocol``: a version that people have answered is never
changed, another wording is another version, in a file beside it (:mod:`annotation.studies.protocols`). A study may
have a file of its own, and its own names of the two sets, guidelines and a text of consent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from annotation.records import Study
from annotation.studies.protocols import (
    OwnFile,
    Part,
    Protocol,
    Text,
    asked_by,
    chosen,
    load_protocol,
    newest_protocol,
    own_text,
    parse_toml,
)

HS_FASHIONIQ = "hs-fashioniq"
"""The survey of new preference studies, by its name."""
REWORDED = "hs-fashioniq-reworded/1"
"""The survey of studies made with earlier versions of cirque, which called it hs-fashioniq/1."""
_OTHER_NOUN = "system"
"""What sets come from in a study that has its own names of them."""
SETTINGS: Mapping[str, Any] = {
    "set_names": None,                 # of what stands first and second; None: the survey's
    "allow_tie": False,
    "consent": "",                     # "": nothing is asked
    "check": "sum",                    # sum, instruction or none
    "check_every": 5,                  # answered questions
    "reason_every": 10,                # questions; 0: reasons are not asked
    "form_size": 25,
    "lease_hours": 3,                  # after which an abandoned form is given out again
    "shared_every": 10,                # one question in so many goes to several people; 0: none
    "shared_by": 3,
    "guidelines": None,                # own ones, paragraphs with a blank line between
    "completion_prefix": "",
    "exclude": {},                     # rules of annotation.quality.rules
}
"""What a preference study may set (``Study.settings``), with what holds where it does not."""

LONGEST_NAME = 40          # of a set, as on buttons
_FOLDER = Path(__file__).resolve().parents[4] / "assets" / "surveys"


class Guideline(Part):
    text: Text
    when: Literal["always", "ties", "no ties", "reasons", "checks", "sums", "instructions"] = "always"


class Questions(Part):
    rating: Text
    preferred: Text
    tie: Text
    irrelevant: Text | None = None           # to image or text; or two questions:
    irrelevant_image: Text | None = None
    irrelevant_text: Text | None = None
    reason: Text

    @model_validator(mode="after")
    def _one_or_two(self) -> Questions:
        given = [name is not None for name in (self.irrelevant, self.irrelevant_image, self.irrelevant_text)]
        if given not in ([True, False, False], [False, True, True]):
            raise ValueError("ask either irrelevant, or irrelevant_image and irrelevant_text")
        return self


class Help(Part):
    """More on a question, beside it; "": nothing."""

    rating: str = ""
    preferred: str = ""
    irrelevant: str = ""
    reason: str = ""


class Labels(Part):
    """What stands over the reference image and the text."""

    image: Text
    text: Text


class Survey(Protocol):
    set_names: tuple[Text, Text]      # where a study has none of its own
    noun: Text = "set"                # what the sets come from, in studies that have none
    labels: Labels | None = None
    intro: Text
    scale: tuple[Text, ...]           # what 1 to 5 mean
    guidelines: tuple[Guideline, ...] = Field(min_length=1)
    questions: Questions
    help: Help = Help()

    @field_validator("set_names")
    @classmethod
    def _fit(cls, names: tuple[str, str]) -> tuple[str, str]:
        if any(not name.isprintable() or len(name) > LONGEST_NAME for name in names):
            raise ValueError(f"write each name on one line, in at most {LONGEST_NAME} characters: buttons show it")
        return names

    @field_validator("scale")
    @classmethod
    def _five(cls, scale: tuple[str, ...]) -> tuple[str, ...]:
        if len(scale) != 5:
            raise ValueError(f"it has {len(scale)} points, and sets are rated from 1 to 5, as reports and "
                             "HP-FashionIQ's format count them: describe each of the five")
        return scale

    @property
    def marks(self) -> Mapping[str, str]:
        """The questions on irrelevant results, by what they are irrelevant to: "either", or "image" and "text"."""
        asked = {"either": self.questions.irrelevant, "image": self.questions.irrelevant_image,
                 "text": self.questions.irrelevant_text}
        return {to: text for to, text in asked.items() if text is not None}


def load_survey(protocol: str) -> Survey:
    """The survey of a study's protocol. Raises ``StudyError`` for one that cirque does not have, or is broken."""
    return _load(_FOLDER, protocol)


def newest_survey() -> Survey:
    """What a new study is made with; a study that is there has its own."""
    return load_survey(newest_protocol(_FOLDER, HS_FASHIONIQ))


def survey_of(study: Study) -> Survey:
    """What ``study`` asks: a file of its own, or one of cirque's."""
    return asked_by(study, load_survey, parse_survey)


def choose_survey(own: OwnFile | None, others: Callable[[], Iterable[Study]]) -> tuple[Survey, dict[str, str]]:
    """:func:`annotation.studies.protocols.chosen`."""
    return chosen(_FOLDER, own, newest_survey, parse_survey, others)


@lru_cache
def _load(folder: Path, protocol: str) -> Survey:
    return load_protocol(folder, protocol, "survey", parse_survey)


@lru_cache
def parse_survey(text: str, where: str) -> Survey:
    """A survey from its TOML. ``where`` names the file in the ``StudyError`` for what is wrong in it."""
    return parse_toml(Survey, text, where)


def as_page(survey: Survey, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The survey as plain JSON for the screen, with what the study has set; keys as in :data:`SETTINGS`, and::

        {"protocol", "intro", "scale": [{"value": 1, "name"}, …], "guidelines": [paragraphs],
         "labels": {"image", "text"} or None, "help": {"rating", "preferred", "irrelevant", "reason"},
         "questions": {"ratings": [of the first, of the second], "preferred", "tie", "reason",
                       "marks": [{"to": "either" or "image" or "text", "text"}]}}

    Questions on irrelevance stand in ``marks``, and under their own names too.
    """
    of = {name: settings.get(name, default) for name, default in SETTINGS.items()}
    names = set_names(survey, settings)
    asked = survey.questions
    return {
        "protocol": survey.protocol, "intro": _filled(survey.intro, survey, settings), "set_names": list(names),
        "scale": [{"value": value, "name": name} for value, name in enumerate(survey.scale, 1)],
        "guidelines": _paragraphs(of["guidelines"]) or _lines(survey, of),
        "labels": survey.labels.model_dump() if survey.labels else None, "help": survey.help.model_dump(),
        "questions": {
            "ratings": [asked.rating.replace("{set}", name) for name in names],
            **asked.model_dump(exclude={"rating"}, exclude_none=True),
            "preferred": preference_question(survey, settings),
            "marks": [{"to": to, "text": text} for to, text in survey.marks.items()]},
        **{name: of[name] for name in ("allow_tie", "consent", "check", "check_every", "reason_every", "form_size")},
    }


def in_words(study: Study) -> str:
    """What a study's own survey asks, in a sentence for reports; "" for one of cirque's."""
    if own_text(study) is None:
        return ""
    survey = survey_of(study)
    one = survey.questions.rating.replace("{set}", set_names(survey, study.settings)[0])
    preferred = preference_question(survey, study.settings)
    return (f"The survey is {survey.protocol}: “{one}”, from 1, “{survey.scale[0]}”, to 5, “{survey.scale[-1]}”; "
            f"“{preferred}”.")


def set_names(survey: Survey, settings: Mapping[str, Any]) -> tuple[str, str]:
    """What the set that stands first and the one that stands second are called in the study."""
    first, second = settings.get("set_names") or survey.set_names
    return str(first), str(second)


def preference_question(survey: Survey, settings: Mapping[str, Any]) -> str:
    """The question which of the two sets is preferred."""
    return _filled(survey.questions.preferred, survey, settings)


def _lines(survey: Survey, of: Mapping[str, Any]) -> list[str]:
    check = of["check"] if of["check_every"] else "none"
    shown = {"always": True, "ties": bool(of["allow_tie"]), "no ties": not of["allow_tie"],
             "reasons": bool(of["reason_every"]), "checks": check != "none", "sums": check == "sum",
             "instructions": check == "instruction"}
    return [_filled(line.text, survey, of) for line in survey.guidelines if shown[line.when]]


def _filled(text: str, survey: Survey, settings: Mapping[str, Any]) -> str:
    first, second = names = set_names(survey, settings)
    noun = survey.noun if names == survey.set_names else _OTHER_NOUN
    return text.replace("{first}", first).replace("{second}", second).replace("{noun}", noun)


def _paragraphs(text: object) -> list[str]:
    if not isinstance(text, str):
        return []
    return [part.strip() for part in re.split(r"\n\s*\n", text.replace("\r\n", "\n")) if part.strip()]
