"""Current layout of a preference study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from annotation.kinds.preference.survey.texts import SETTINGS, load_survey, set_names
from annotation.records import Assignment, Study

_SHOWN = ("set_names", "per_person", "form_size", "shared_every", "shared_by", "check", "check_every", "reason_every",
          "allow_tie", "consent")


@dataclass(frozen=True)
class SurveyOverview:
    """``shared`` questions go to up to ``shared_by`` people, others to one. ``per_person`` and ``forms`` are maxima.
    ``check`` is "none" without checks."""

    questions: int
    people: int
    shared: int
    shared_by: int
    per_person: int
    forms: int
    form_size: int
    check: str
    check_every: int   # questions, and at the end of a form


def survey_overview(study: Study, assignments: Iterable[Assignment]) -> SurveyOverview:
    """The layout, with reassigned work counted at its new seat."""
    places = [one for one in assignments if one.state != "handed_on"]
    people = Counter(one.item_id for one in places)
    several = [count for count in people.values() if count > 1]
    of_seats = Counter(one.seat for one in places)
    of_forms = Counter((one.seat, one.extra.get("form") or 1) for one in places)
    every = int(study.settings.get("check_every", SETTINGS["check_every"]))
    check = str(study.settings.get("check", SETTINGS["check"])) if every else "none"
    return SurveyOverview(
        len(people), len(of_seats), len(several), max(several, default=1), max(of_seats.values(), default=0),
        max((form for _, form in of_forms), default=0), max(of_forms.values(), default=0), check, every)


def settings_shown(study: Study) -> dict[str, Any]:
    """The settings that screens name, as plain JSON; of the consent only whether there is one."""
    of = {**SETTINGS, **study.settings, "consent": bool(study.settings.get("consent")),
          "set_names": list(set_names(load_survey(study.protocol), study.settings))}
    return {name: of.get(name) for name in _SHOWN}
