"""Target studies from a table: a row for each query with its candidates, or for each candidate of a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from annotation.kinds.intake import PLAN, SECONDS, Intake, NewStudy, plan_of
from annotation.kinds.marks.create import create_target_study
from annotation.sources.tables.columns import CATEGORY, ID, REFERENCE, TARGET, TEXT, Field
from annotation.sources.tables.rows import TableRows
from annotation.sources.targets import TargetQuery
from annotation.studies.creation import Created
from cir_core.construct.targets.provenance import Candidate, QueryCandidates
from cir_core.construct.targets.settings import THRESHOLD
from cir_core.support.texts import quoted

CANDIDATES = Field("candidates", "Candidate images",
                   ("candidate", "choices", "options", "results", "retrieved", "hits"), pictures=True, many=True)


def read(rows: TableRows) -> list[TargetQuery]:
    """Rows with one id are one query, and have the same text and reference. Candidates have no confidence; the target,
    if there is one, is a candidate too."""
    found: dict[str, tuple[str, TargetQuery]] = {}
    for row in rows.rows:
        key = row["id"] or str(row.number + 1)
        candidates = tuple(Candidate(image, ()) for image in row.all_of("candidates"))
        where, known = found.get(key, ("", None))
        if known is None:
            query = QueryCandidates(key, row["reference"], row["target"], (row["text"],), row["text"], (), {},
                                    candidates)
            found[key] = row.where, TargetQuery(row["category"] or "table", query)
        elif (known.found.text, known.found.reference) != (row["text"], row["reference"]):
            rows.fault(row, f"the id {quoted(key)} has another text or reference in {where}",
                       "Give each query its own id; the rows of one query have the same text and reference")
        else:
            images = {one.image: one for one in (*known.found.candidates, *candidates)}
            found[key] = where, replace(known, found=replace(known.found, candidates=tuple(images.values())))
    return [query for _, query in found.values()]


def create(new: NewStudy, queries: Sequence[TargetQuery]) -> Created:
    return create_target_study(
        new.store, new.home, new.name, queries, new.pictures, plan_of(new.design),
        threshold=float(new.source.get("threshold", THRESHOLD)),
        created_by=new.created_by, source=new.source, max_megapixels=new.max_megapixels, progress=new.progress,
        questions=new.questions)


INTAKE = Intake(
    "A row for each query: its text, its reference image and its candidates, as a list or in columns of their own; or "
    "a row for each candidate, with the query's id.",
    (ID, TEXT, REFERENCE, CANDIDATES, replace(TARGET, required=False), CATEGORY), read, create,
    lambda query: query.label, tuple(replace(one, value=90) if one is SECONDS else one for one in PLAN),
    tells=lambda columns: True)
