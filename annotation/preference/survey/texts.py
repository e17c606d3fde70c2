"""What people read in a preference study, as it is written in ``assets/surveys``.

A survey's name and version are a study's ``protocol``: a version that people have answered is never
changed, another wording is another version, in a file beside it (:mod:`annotation.studies.protocols`). A study may
have its own names of the two sets, its own guidelines and a text of consent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from annotation.studies.protocols import Part, Protocol, Text, load_protocol, newest_protocol, parse_toml

HS_FASHIONIQ = "hs-fashioniq"
"""The survey of preference studies, by its name."""
SETTINGS: Mapping[str, Any] = {
    "set_names": ["Set A", "Set B"],   # of what stands first and second
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
    "exclude": {},                     # rules of annotation.preference.exclusion
}
"""What a preference study may set (``Study.settings``), with what holds where it does not."""

_FOLDER = Path(__file__).resolve().parents[3] / "assets" / "surveys"


class Guideline(Part):
    text: Text
    when: Literal["always", "ties", "no ties", "reasons", "checks"] = "always"


class Questions(Part):
    rating: Text
    preferred: Text
    tie: Text
    irrelevant_image: Text
    irrelevant_text: Text
    reason: Text


class Survey(Protocol):
    intro: Text
    scale: tuple[Text, ...] = Field(min_length=5, max_length=5)   # what 1 to 5 mean
    guidelines: tuple[Guideline, ...] = Field(min_length=1)
    questions: Questions


def load_survey(protocol: str) -> Survey:
    """The survey of a study's protocol. Raises ``StudyError`` for one that cirque does not have, or is broken."""
    return _load(_FOLDER, protocol)


def newest_survey() -> Survey:
    """What a new study is made with; a study that is there has its own."""
    return load_survey(newest_protocol(_FOLDER, HS_FASHIONIQ))


@lru_cache
def _load(folder: Path, protocol: str) -> Survey:
    return load_protocol(folder, protocol, "survey", parse_survey)


def parse_survey(text: str, where: str) -> Survey:
    """A survey from its TOML. ``where`` names the file in the ``StudyError`` for what is wrong in it."""
    return parse_toml(Survey, text, where)


def as_page(survey: Survey, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The survey as plain JSON for the screen, with what the study has set; keys as in :data:`SETTINGS`, and::

        {"protocol", "intro", "scale": [{"value": 1, "name"}, …], "guidelines": [paragraphs],
         "questions": {"ratings": [of the first, of the second], "preferred", "tie", "irrelevant_image",
                       "irrelevant_text", "reason"}}
    """
    of = {name: settings.get(name, default) for name, default in SETTINGS.items()}
    names = set_names(settings)
    words = survey.questions.model_dump(exclude={"rating"})
    return {
        "protocol": survey.protocol, "intro": _named(survey.intro, names), "set_names": list(names),
        "scale": [{"value": value, "name": name} for value, name in enumerate(survey.scale, 1)],
        "guidelines": _paragraphs(of["guidelines"]) or _lines(survey, of, names),
        "questions": {"ratings": [survey.questions.rating.replace("{set}", name) for name in names], **words},
        **{name: of[name] for name in ("allow_tie", "consent", "check", "check_every", "reason_every", "form_size")},
    }


def set_names(settings: Mapping[str, Any]) -> tuple[str, str]:
    """What the set that stands first and the one that stands second are called in the study."""
    first, second = settings.get("set_names") or SETTINGS["set_names"]
    return str(first), str(second)


def _lines(survey: Survey, of: Mapping[str, Any], names: tuple[str, str]) -> list[str]:
    shown = {"always": True, "ties": bool(of["allow_tie"]), "no ties": not of["allow_tie"],
             "reasons": bool(of["reason_every"]), "checks": of["check"] != "none" and bool(of["check_every"])}
    return [_named(line.text, names) for line in survey.guidelines if shown[line.when]]


def _named(text: str, names: tuple[str, str]) -> str:
    return text.replace("{first}", names[0]).replace("{second}", names[1])


def _paragraphs(text: object) -> list[str]:
    if not isinstance(text, str):
        return []
    return [part.strip() for part in re.split(r"\n\s*\n", text.replace("\r\n", "\n")) if part.strip()]
