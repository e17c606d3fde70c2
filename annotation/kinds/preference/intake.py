"""Preference studies from a table: a row for each query, with the results of each method in a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from annotation.kinds.intake import SECONDS, SEED, DesignField, Intake, NewStudy
from annotation.kinds.preference.create import create_preference_study
from annotation.kinds.preference.sources.queries import SHOWN, SurveyQuery
from annotation.kinds.preference.survey.plan import SurveyLayout, plan_survey
from annotation.sources.tables.columns import CATEGORY, DATASET, ID, REFERENCE, TARGET, TEXT, Field
from annotation.sources.tables.rows import TableRows, unique_ids
from annotation.studies.creation import Created
from cir_core.support.texts import counted

SETS = Field("sets", "Results of each method",
             ("set", "results", "result", "method", "system", "ranking", "run", "top"), pictures=True, many=True,
             least=2)


def read(rows: TableRows) -> list[SurveyQuery]:
    """A method is a column, and called as it is. Its results, best first, are without the reference; a method with too
    few of them for a query is left out of it, a query with fewer than two such methods is a fault."""
    found = []
    for row, key in unique_ids(rows):
        results = {}
        for method, images in row.lists.get("sets", {}).items():
            best = tuple(image for image in dict.fromkeys(images) if image != row["reference"])[:SHOWN]
            if len(best) == SHOWN:
                results[method] = best
        if len(results) < 2:
            have = counted(len(results), "method has", "methods have")
            rows.fault(row, f"{have} {SHOWN} images besides the reference",
                       f"Give each of at least two methods its {SHOWN} best images")
            continue
        dataset = row["dataset"] or "table"
        target = (row["target"],) if row["target"] else ()
        found.append(SurveyQuery(f"{dataset}::{key}", dataset, key, row["category"], row["text"], row["reference"],
                                 target, results))
    return found


def layout_of(design: Mapping[str, int]) -> SurveyLayout:
    return SurveyLayout(design["per_person"], design["forms"], design["shared_every"], design["shared_by"],
                        design["reason_every"], design["seed"])


def forecast(items: int, design: Mapping[str, int]) -> Any:
    """:class:`annotation.kinds.preference.survey.plan.SurveyForecast`. Raises ``StudyError``."""
    return plan_survey(items, layout_of(design), seconds_per_question=design["seconds"])


def create(new: NewStudy, queries: Sequence[SurveyQuery]) -> Created:
    methods = tuple(dict.fromkeys(method for query in queries for method in query.results))
    return create_preference_study(
        new.store, new.home, new.name, queries, methods, new.pictures, layout_of(new.design),
        created_by=new.created_by, source={**new.source, "methods": list(methods)}, settings=new.settings,
        max_megapixels=new.max_megapixels, skip_missing=new.skip_missing, progress=new.progress,
        questions=new.questions)


INTAKE = Intake(
    f"A row for each query: its text, its reference image, and for each method a column with its {SHOWN} best images, "
    "best first.",
    # A target is not shown, so its picture need not be there.
    (ID, TEXT, REFERENCE, SETS, replace(TARGET, required=False, pictures=False), CATEGORY, DATASET), read, create,
    lambda query: query.category or query.dataset,
    (DesignField("per_person", "Questions per person", 50, 1, 10_000, "At most; decides how many people are needed."),
     DesignField("forms", "Forms per person", 2, 1, 100, "Filled in one after another."),
     DesignField("shared_every", "One question in … is shared", 10, 0, 10_000, "To measure agreement. 0: none."),
     DesignField("shared_by", "People per shared question", 3, 2, 100),
     DesignField("reason_every", "Ask for a reason once in … questions", 10, 0, 10_000, "0: never."),
     replace(SECONDS, title="Seconds per question", value=40), SEED), forecast, lambda columns: True)
