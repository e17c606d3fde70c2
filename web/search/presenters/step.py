"""How a kind of step shows on the search screen, and what a person may change there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from cir_core.methods.step import Step
from cir_core.types.composition import Adjustment, Composition
from cir_core.types.records import Turn
from web.search.inputs import Data, changes_of, fields_of

Dict = dict[str, Any]
Change = Callable[[Composition, Adjustment, Data], Adjustment]


class StepPresenter:
    """Made of what the step declares: its settings in a fold over the results, to be changed there if the turn keeps
    them. A step that shows more has a presenter of its own, in a module beside this one."""

    template = "search/parts/step.html"

    def __init__(self, step: Step[Any]) -> None:
        self.step = step

    @property
    def actions(self) -> Mapping[str, Change]:
        """Further actions of the page, by name."""
        return {}

    def panel(self, stored: Turn, shown: Turn, gallery: str, version: str) -> Dict | None:
        """What ``template`` shows over the results, as ``panel``: ``shown`` is ``stored`` with the person's changes.
        None if the turn has no such step."""
        settings = self._of(shown.composition)
        if settings is None:
            return None
        return {"name": self.step.name, "title": self.step.title, "digest": self.step.summary(settings)[1],
                "fields": fields_of(self.step.section, settings)}

    def offer(self, shown: Turn) -> Dict | None:
        """One of ``actions`` that a turn without the step offers: ``act``, ``text``, ``title``."""
        return None

    def change(self, made: Composition, before: Adjustment, data: Data) -> Adjustment:
        """``before`` with what the page sent to "adjust". Raises ``SearchError`` for what cannot be."""
        stored, changes = self._of(made), changes_of(self.step.section, data)
        if stored is None or not changes:
            return before
        changed = replace(before.part(self.step.name) or stored, **changes)
        return before.with_parts({self.step.name: None if changed == stored else changed})

    def changed(self, adjustment: Adjustment) -> list[str]:
        """What of this step is changed, in words."""
        return [self.step.label] if adjustment.part(self.step.name) is not None else []

    def without(self, made: Composition, adjustment: Adjustment) -> Adjustment | None:
        """``adjustment`` under which the step does nothing, to show what it moved; None if it cannot be told."""
        return None

    def _of(self, made: Composition | None) -> Any:
        return made.part(self.step.name) if made is not None and self.step.name in self.step.keeps else None
