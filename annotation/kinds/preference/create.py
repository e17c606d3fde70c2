"""Create a preference study from queries and methods' results: method pairs, image snapshots and assignments."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from annotation.kinds.creation import without_images
from annotation.kinds.preference.method_pairs import DrawnPairs, Pair, draw_pairs
from annotation.kinds.preference.sources import SurveyQuery
from annotation.kinds.preference.survey.flow import SECRET
from annotation.kinds.preference.survey.plan import SurveyLayout, plan_survey, survey_places
from annotation.kinds.preference.survey.settings import checked_settings
from annotation.kinds.preference.survey.texts import choose_survey
from annotation.records import Item, Study, StudyImage, StudyPlan
from annotation.studies.completion import new_secret
from annotation.studies.creation import Created, Progress, check_name, cleared
from annotation.studies.guidelines import with_appendix
from annotation.studies.image_snapshots import FindPicture, Freezer, freezing
from annotation.studies.protocols import OwnFile
from annotation.studies.store import StudyStore
from cir_core.errors import StudyError
from cir_core.support.texts import quoted
from cir_core.types.records import new_id


@dataclass(frozen=True)
class DrawnQuestion:
    """A query with the two methods whose sets meet in it, in the order they are stored."""

    query: SurveyQuery
    methods: Pair

    @property
    def stratum(self) -> str:
        return "|".join(sorted(self.methods))

    @property
    def sets(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Image ids of the two sets, best first."""
        one, other = self.methods
        return self.query.results[one], self.query.results[other]

    @property
    def image_ids(self) -> tuple[str, ...]:
        return (self.query.reference_id, *self.sets[0], *self.sets[1])


def make_questions(
    queries: Sequence[SurveyQuery], methods: Sequence[str], seed: int
) -> tuple[list[DrawnQuestion], DrawnPairs]:
    """One question of each query for which two methods found different images, in their order. Raises ``StudyError``
    for fewer than two methods, duplicate query keys, and if no question is left."""
    key, times = Counter(query.key for query in queries).most_common(1)[0] if queries else ("", 0)
    if times > 1:
        raise StudyError(f"{times} queries have the key {quoted(key)}. Every query needs its own.")
    drawn = draw_pairs({query.key: query.results for query in queries}, methods, seed)
    questions = [DrawnQuestion(query, drawn.methods[query.key]) for query in queries if query.key in drawn.methods]
    if not questions:
        raise StudyError("There is no question to ask: no query has different images from two methods. Choose "
                         "other methods, or more queries.")
    return questions, drawn


def create_preference_study(
    store: StudyStore, home: Path, name: str, queries: Sequence[SurveyQuery], methods: Sequence[str],
    find_picture: FindPicture, layout: SurveyLayout, *, created_by: str, source: Mapping[str, Any],
    settings: Mapping[str, Any] | None = None, max_megapixels: float = 64.0, skip_missing: bool = False,
    progress: Progress | None = None, questions: OwnFile | None = None,
) -> Created:
    """Create a study that asks which of two methods' sets is better, with image snapshots in ``home``.

    Every use of an image has its own URL, so that URLs reveal neither methods nor repeated images; the images of
    a set are shuffled, because the order of retrieval reveals ranks. A question needs all its images: questions
    that lack one are listed in an error, or with ``skip_missing`` left out and counted, and method pairs are
    drawn again for the rest.

    Raises ``StudyError`` for a taken name, a broken survey, and invalid settings or layout, before any work is done;
    ``StorageError`` for a full disk.

    Args:
        methods: all methods to compare.
        settings: override :data:`annotation.kinds.preference.survey.texts.SETTINGS`; ``layout`` overrides both.
        progress: processed images, and their total.
        questions: the survey; None: HS-FashionIQ's.

    ``Created.counts``: items, pictures, dropped (missing image), skipped (no two methods with different
    images), places (assignments), people, shared.
    """
    name = check_name(store, name)
    survey, own = choose_survey(questions, store.studies)
    checked = checked_settings(settings or {}, survey)
    # A bad layout is refused before the work.
    plan_survey(len(make_questions(queries, methods, layout.seed)[0]), layout)
    study_id = new_id()
    with cleared(store, home), freezing(home, study_id) as freezer:
        asked, drawn, dropped = _freeze(
            queries, methods, layout.seed, find_picture, freezer, max_megapixels, skip_missing, progress)
        items, images = _items(study_id, asked, freezer, layout.seed)
        places = survey_places(items, layout)
        freezer.keep_only(())
        freezer.finish()
        forecast = plan_survey(len(items), layout)
        kept_settings: dict[str, Any] = {**checked, **layout.settings(len(items)), SECRET: new_secret(), **own}
        plan = StudyPlan(forecast.people, 1, 0, layout.seed, kept_settings["lease_hours"])
        study = Study(study_id, name, "preference", survey.protocol, plan, True, kept_settings,
                      {**source, "pairs": {"|".join(pair): count for pair, count in drawn.counts.items()}},
                      created_by, datetime.now(UTC))
        study = with_appendix(home, study, questions, max_megapixels=max_megapixels)
        store.create(study, items, images, places)
    skipped = len(drawn.identical) + len(drawn.lacking)
    counts = {"items": len(items), "pictures": len({image.image_id for image in images}), "dropped": dropped,
              "skipped": skipped, "places": len(places), "people": forecast.people, "shared": forecast.shared}
    notes = pair_notes(drawn)
    if dropped:
        notes.append(f"Queries left out because an image is missing or cannot be read: {dropped:,}.")
    return Created(study, counts, tuple(notes))


def pair_notes(drawn: DrawnPairs) -> list[str]:
    """Notes on queries without a question, with reasons."""
    notes = []
    if drawn.ruled_out:
        notes.append("Two methods with the same images for a query are not compared on it (pairs: "
                     f"{drawn.ruled_out:,}; queries left out because they have no other pair: "
                     f"{len(drawn.identical):,}).")
    if drawn.lacking:
        notes.append(f"Queries left out because fewer than two methods have a set for them: {len(drawn.lacking):,}.")
    counts = drawn.counts.values()
    if max(counts) - min(counts) > 1:
        notes.append(f"Pairs of methods are compared in {min(counts):,} to {max(counts):,} questions: the results "
                     "allow no better balance.")
    return notes


def _freeze(
    queries: Sequence[SurveyQuery], methods: Sequence[str], seed: int, find: FindPicture, freezer: Freezer,
    max_megapixels: float, skip_missing: bool, progress: Progress | None,
) -> tuple[list[DrawnQuestion], DrawnPairs, int]:
    """Questions whose pictures are all there. Whenever some lack one, pairs are drawn anew without them, for what
    is left must be as even as if they had never been."""
    left = list(queries)
    while True:
        questions, drawn = make_questions(left, methods, seed)
        # Not in the order of retrieval, which file times would reveal.
        wanted = sorted({image_id for question in questions for image_id in question.image_ids})
        refused = freezer.freeze(wanted, find, max_megapixels=max_megapixels, progress=progress).refused
        lacking = {question.query.key for question in questions if not refused.keys().isdisjoint(question.image_ids)}
        if not lacking:
            return questions, drawn, len(queries) - len(left)
        if not skip_missing or len(lacking) == len(questions):
            raise without_images(
                len(questions), len(questions) - len(lacking), "questions cannot be asked, because they lack an image",
                [f"  {question.query.key}, {what}: {image_id} {refused[image_id]}"
                 for question in questions if question.query.key in lacking
                 for what, image_ids in (("reference", (question.query.reference_id,)),
                                         *zip(("first set", "second set"), question.sets, strict=True))
                 for image_id in image_ids if image_id in refused])
        left = [query for query in left if query.key not in lacking]


def _items(
    study_id: str, questions: Sequence[DrawnQuestion], freezer: Freezer, seed: int
) -> tuple[list[Item], list[StudyImage]]:
    items, images = [], []

    def token(image_id: str, *place: object) -> str:
        images.append(freezer.under_another_name(image_id, "/".join(map(str, place))))
        return images[-1].token

    for number, question in enumerate(questions):
        query, item_id = question.query, new_id()
        sets = []
        for which, image_ids in enumerate(question.sets):
            order = list(image_ids)
            # The order of retrieval reveals ranks, and a seeded shuffle could be reversed.
            random.SystemRandom().shuffle(order)
            sets.append([token(image_id, item_id, which, place) for place, image_id in enumerate(order)])
        shown = {"text": query.text, "reference": token(query.reference_id, item_id, "reference"), "sets": sets}
        items.append(Item(item_id, study_id, number, query.key, question.stratum, False, shown, {
            "dataset": query.dataset, "query_id": query.query_id, "category": query.category,
            "reference_id": query.reference_id, "target_id": next(iter(query.target_ids), ""),
            "target_ids": list(query.target_ids), "methods": list(question.methods),
            "set_ids": [list(image_ids) for image_ids in question.sets], "seed": seed}))
    return items, images
