"""Validation of the settings of a preference study."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from annotation.kinds.preference.survey.texts import LONGEST_NAME, SETTINGS, Survey, newest_survey
from cir_core.errors import StudyError
from cir_core.support.texts import can_be_stored, quoted

LONGEST_TEXT = 20_000      # of consent and guidelines
LONGEST_PREFIX = 20
CHECKS = ("sum", "instruction", "none")
_YEAR = 8760               # hours


def checked_settings(settings: Mapping[str, Any], survey: Survey | None = None) -> dict[str, Any]:
    """``settings`` merged over :data:`annotation.kinds.preference.survey.texts.SETTINGS`. Raises ``StudyError`` for the
    first invalid one. ``survey``: names the sets where the settings do not; None: the newest of cirque's."""
    if unknown := sorted(set(settings) - set(SETTINGS)):
        raise StudyError(f"A preference study has no setting {quoted(unknown[0])}. There are: {', '.join(SETTINGS)}.")
    found = {**SETTINGS, **settings}
    for name, (holds, what) in _RULES.items():
        if not holds(found[name]):
            raise StudyError(f"{name} is {quoted(str(found[name]))}. {what}.")
    first, second = (str(name).strip() for name in found["set_names"] or (survey or newest_survey()).set_names)
    if first.casefold() == second.casefold():
        raise StudyError(f"Both sets are called {quoted(first)}. Give them different names.")
    return {**found, "set_names": [first, second], "consent": found["consent"].strip()}


def _names(value: object) -> bool:
    return (isinstance(value, list | tuple) and len(value) == 2
            and all(isinstance(name, str) and name.strip() and name.isprintable() and len(name.strip()) <= LONGEST_NAME
                    for name in value))


def _text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_TEXT and can_be_stored(value)


def _hours(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= _YEAR


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_RULES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "set_names": (lambda value: value is None or _names(value),
                  f"Give the two sets a name each, on one line, of at most {LONGEST_NAME} characters"),
    "allow_tie": (lambda value: isinstance(value, bool), "It must be true or false"),
    "consent": (_text, f"It must be a text of at most {LONGEST_TEXT:,} characters, or empty"),
    "check": (lambda value: value in CHECKS, f"It must be one of {', '.join(CHECKS)}"),
    "check_every": (_whole, "It must be a number of questions, or 0 for no checks"),
    "lease_hours": (_hours, f"It must be a number of hours above 0, at most {_YEAR:,}"),
    "guidelines": (lambda value: value is None or _text(value),
                   f"They must be a text of at most {LONGEST_TEXT:,} characters, or null for cirque's own"),
    "completion_prefix": (
        lambda value: isinstance(value, str) and len(value) <= LONGEST_PREFIX and (not value or value.isprintable()),
        f"It must be at most {LONGEST_PREFIX} characters on one line"),
    "exclude": (lambda value: isinstance(value, Mapping), "It must be an object of rules"),
}
