"""Comparisons and votes to store."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from annotation.records import MethodVote
from cir_core.sessions.store import Comparison, MethodColumn
from cir_core.types.records import Hit, MethodSettings, Reflection, SoftFilter, new_id
from tests.fakes.turns import a_composition, a_session

METHODS = ("plain", "reflected", "filtered")


def a_column(method: str = "plain", **changes: Any) -> MethodColumn:
    card = a_session().protocol
    hits = (Hit("image-00001", 0.75, 1, (("text", 0.5), ("picked", 0.25))), Hit("ü/☃.jpg", 0.1 + 0.2, 2))
    return MethodColumn(**{
        "method": method, "protocol": card, "caption": "a blue chair", "merged_text": "a red chair",
        "notes": ("first note",), "hits": hits, "timings_ms": {"merge": 1.25, "search": 0.1},
        "composition": a_composition(), "problem": "", **changes})


def a_comparison(**changes: Any) -> Comparison:
    """Three methods: one that has everything, one with a reflection and one that could not run."""
    card = a_session().protocol
    settings = MethodSettings(reflection=Reflection(3, fusion="replace"), soft_filter=SoftFilter(0.5, "reward"))
    columns = (
        a_column("plain"),
        a_column("reflected", protocol=replace(card, method=settings, captions="ab" * 8)),
        MethodColumn("filtered", card, problem="No server answers. Start one."),
    )
    return Comparison(**{
        "comparison_id": new_id(), "gallery": "atelier", "reference_id": "image-00007",
        "modification_text": "in red", "columns": columns, "blind": True, "seed": 2**40 + 1,
        "created_at": datetime.now(UTC), "session_id": new_id(), "parent_id": new_id(), **changes})


def a_vote(comparison_id: str, **changes: Any) -> MethodVote:
    return MethodVote(**{
        "vote_id": new_id(), "comparison_id": comparison_id, "annotator": "Ödön", "shown": METHODS,
        "chosen": "reflected", "blind": True, "seconds": 0.1 + 0.2, "created_at": datetime.now(UTC), **changes})
