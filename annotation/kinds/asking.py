"""How an item of a study is put to a language model: the questions and instructions of its kind, and what of the
answers is compared with people's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.analysis.records import Scale, Selection, StudyAnswers
from annotation.analysis.selection import select
from annotation.quality.rules import Rules
from annotation.records import Item, Study
from annotation.studies.guidelines import appendix_of, text_of
from cir_core.language.tasks.forms import Form


@dataclass(frozen=True)
class ShownImage:
    """An image of an item. ``name``: what it is called in the prompt. ``small``: as people see it in a grid."""

    name: str
    token: str
    small: bool = False


@dataclass(frozen=True)
class Asked:
    """An item as a model sees it: of ``Item.shown`` alone."""

    form: Form
    texts: tuple[str, ...]
    images: tuple[ShownImage, ...]


@dataclass(frozen=True)
class ComparedQuestion:
    """``codes``: what a canonical answer says, by unit within the item, as places in ``categories``; units without an
    answer are left out. ``unit``: what one is called."""

    key: str
    label: str
    scale: Scale
    categories: Callable[[Study], tuple[str, ...]]
    codes: Callable[[Mapping[str, Any], Study], Mapping[str, int]]
    unit: str = "item"


def _selected(answers: StudyAnswers, selection: Selection, rules: Rules | None) -> StudyAnswers:
    return select(answers, selection)


@dataclass(frozen=True)
class Asking:
    """A kind of study that can be put to a language model.

    Args:
        asked: the item for somebody whose assignment has this ``extra``.
        questions: what is compared with people's answers, in a study.
        answer: what is given to the kind's ``normalize``, of the answers by field and the model's reason; ``again``:
            the form has refused an earlier one, and this is what the model stays with.
        turned: ``extra`` with the sides exchanged; None for items that look the same to everybody.
        side: of a canonical answer whether it prefers what was shown first; None for neither.
        places: units of the first question in an item, in the order in which everybody sees them, which is random.
        counted: people's answers that a report counts.
    """

    asked: Callable[[Item, Study, Mapping[str, Any]], Asked]
    answer: Callable[[Mapping[str, Any], str, Item, bool], Mapping[str, Any]]
    questions: Callable[[Study], tuple[ComparedQuestion, ...]]
    turned: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    side: Callable[[Mapping[str, Any]], bool | None] | None = None
    places: Callable[[Item], Sequence[str]] | None = None
    counted: Callable[[StudyAnswers, Selection, Rules | None], StudyAnswers] = _selected


def with_guidelines(study: Study, *parts: str) -> str:
    """Instructions: ``parts``, and the study's own guidelines with the appendix of its questions."""
    own = "\n\n".join(filter(None, (text_of(study), appendix_of(study))))
    return "\n\n".join(part.strip() for part in (*parts, f"Guidelines of this study:\n{own}" if own else "") if part)
