"""A finished turn whose caption or query a person edited: what follows from the words is asked again."""

from __future__ import annotations

from typing import Any

from cir_core.errors import SearchError
from cir_core.language.tasks import CaptionAnswer
from cir_core.methods.base_query import words_of
from cir_core.methods.observer import PartWatch, StageTimer, TurnObserver
from cir_core.methods.references import Reference
from cir_core.methods.step import GalleryView, StepTurn
from cir_core.methods.steps import ranked_with, steps_of
from cir_core.search.adjusting import TurnResult
from cir_core.search.searcher import Searcher
from cir_core.support.texts import clean_text
from cir_core.types.composition import Usage, Wording
from cir_core.types.methods import MethodSettings

Parts = dict[str, Any]


def reworded(
    searcher: Searcher, found: TurnResult, reference: Reference, text: str, method: MethodSettings, *,
    number: int = 1, caption: str = "", query: str = "", watch: TurnObserver | None = None,
) -> tuple[Wording, Parts, Usage]:
    """The texts of ``found``, turn ``number`` with the modification ``text``, if it has another ``caption``, from which
    the query is made anew, or another ``query``; the parts of an adjustment that go with them; and the language model's
    usage.

    Raises:
        SearchError: both are empty, one is too long, the method makes no query from a caption.
        LanguageModelError: the query cannot be made.
    """
    caption, query = clean_text(caption, required=False), clean_text(query, required=False)
    if not (caption or query):
        raise SearchError("The text is empty. Write what the picture shows, or press Escape to keep the old text.")
    if method.base != "cirevl" or not found.merged_text:
        raise SearchError("This turn's query was not made from a caption. Search again with other words instead.")
    stages = StageTimer(PartWatch(watch or TurnObserver()))
    merged, said = query, caption or found.caption
    if not query:
        merged = words_of(text, method, language=searcher.language, caption=CaptionAnswer(caption=said),
                          domain=searcher.domain, stages=stages).merged
    gallery = GalleryView(lambda vector, k: searcher.index.search(vector, k), searcher.features_of, searcher.picture_of,
                      searcher.stored_captions, searcher.captions_problem)
    turn = StepTurn(reference, text, said, merged, gallery, searcher.encoder, searcher.language, searcher.domain,
                    stages, number, current=found.composition)
    parts: Parts = {}
    for step, settings in steps_of(ranked_with(method, found.composition)):
        parts |= step.reread(settings, turn, found.merged_text if query else "")
    return Wording(said, merged), parts, stages.watch.usage
