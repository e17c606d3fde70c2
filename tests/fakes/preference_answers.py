"""All that a preference report is made of, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from annotation.analysis.records import StudyAnswers
from annotation.kinds.table import KINDS
from annotation.records import Item, Judgement, Study, StudyEvent
from tests.fakes.preferences import a_study, an_assignment, seats_of


def answers_of(
    items: Sequence[Item], judgements: Sequence[Judgement], *, people: Sequence[str] = ("Ada", "Bea", "Cleo"),
    checks: Sequence[StudyEvent] = (), study: Study | None = None, **changes: Any,
) -> StudyAnswers:
    """Seats by ``people``; a place for each judgement. ``changes``: of the study."""
    seat = {name: number for number, name in enumerate(people, 1)}
    places = [an_assignment(int(one.item_id[1:]), seat[one.annotator], one.annotator) for one in judgements]
    return StudyAnswers(replace(study or a_study(), **changes), tuple(items), tuple(seats_of(*people)), tuple(places),
                        tuple(judgements), checks=tuple(checks), groups=KINDS["preference"].groups)
