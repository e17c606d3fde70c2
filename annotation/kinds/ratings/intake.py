"""Session studies from a table: a row for each turn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from annotation.kinds.intake import PLAN, SECONDS, Intake, NewStudy, plan_of
from annotation.kinds.ratings.create import create_session_study
from annotation.sources.tables.columns import REFERENCE, TARGET, TEXT, Field
from annotation.sources.tables.rows import Row, TableRows
from annotation.studies.creation import Created
from cir_core.construct.judging.sample import SampledSession
from cir_core.datasets.readers.circled import CircledSession, CircledTurn
from cir_core.support.texts import quoted

SESSION = Field("session", "Session", ("session_id", "dialog", "dialog_id", "dialogue", "conversation", "id"))
TURN = Field("turn", "Turn", ("turn_number", "turn_id", "round", "step"), required=False)
SOURCE = Field("source", "Source", ("system", "method", "origin"), required=False)
SUBSET = Field("subset", "Subset", ("dataset", "data_set", "category", "split"), required=False)


def read(rows: TableRows) -> list[SampledSession]:
    """Sessions in the order of their first rows; turns by number if the table has numbers, else in its order. The
    target may be in any or all of a session's rows."""
    sessions: dict[str, list[Row]] = {}
    for row in rows.rows:
        sessions.setdefault(row["session"], []).append(row)
    found = []
    for key, turns in sessions.items():
        targets = list(dict.fromkeys(filter(None, (row["target"] for row in turns))))
        if len(targets) != 1:
            rows.fault(turns[0], f"the session {quoted(key)} has " + (
                f"{len(targets)} targets" if targets else "no target"), "Give all its rows the same target")
        numbers = [row["turn"] for row in turns]
        if any(numbers):
            wrong = next((row for row in turns if not re.fullmatch(r"\d{1,6}", row["turn"])), None)
            repeated = next((row for at, row in enumerate(turns) if row["turn"] in numbers[:at]), None)
            if bad := wrong or repeated:
                rows.fault(bad, f"the turn {quoted(bad['turn'])} of the session {quoted(key)} is "
                           + ("not a whole number" if wrong else "there twice"), "Number its turns 1, 2, 3, …")
                continue
            turns.sort(key=lambda row: int(row["turn"]))
        session = CircledSession(key, turns[0]["subset"] or "table", tuple(targets),
                                 tuple(CircledTurn(row["reference"], row["text"]) for row in turns))
        found.append(SampledSession(turns[0]["source"] or "table", session))
    return found


def create(new: NewStudy, sampled: Sequence[SampledSession]) -> Created:
    return create_session_study(
        new.store, new.home, new.name, sampled, {"": new.pictures}, plan_of(new.design), created_by=new.created_by,
        source=new.source, max_megapixels=new.max_megapixels, progress=new.progress,
        questions=new.questions)


INTAKE = Intake(
    "A row for each turn of a session: the session's id, the turn's reference image and text, the session's target.",
    (SESSION, TURN, TEXT, replace(REFERENCE, names=tuple(one for one in REFERENCE.names if one != "source")),
     replace(TARGET, required=False), SOURCE, SUBSET), read, create,
    lambda one: f"{one.source}::{one.session.subset}",
    tuple(replace(one, value=120) if one is SECONDS else one for one in PLAN),
    # An id alone is that of a query.
    tells=lambda columns: "turn" in columns or columns["session"] != ("id",))
