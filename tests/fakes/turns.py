"""Sessions and turns to store, drawn from a seed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np

from cir_core.ids import new_id
from cir_core.types import (
    Branch,
    EncoderIdentity,
    Hit,
    MethodSettings,
    ProtocolCard,
    SearchSession,
    Turn,
)

PARTS = ("merged text", "picked image", "images not picked", "turn before")


def a_session(**changes: Any) -> SearchSession:
    method = MethodSettings(alpha=0.1, exclude="history")
    card = ProtocolCard(
        gallery="atelier", gallery_size=240, gallery_digest="0123456789abcdef", split="all",
        encoder=EncoderIdentity("atelier", "fedcba9876543210", 64), language_model="rules", method=method,
        caption_mode="single", tie_rule="score, then gallery order", seed=None, version="0.1",
        digest="00ff" * 4,
    )
    return SearchSession(**{"session_id": new_id(), "gallery": "atelier", "method": method, "protocol": card,
                            **changes})


def turn_maker(
    session_id: str, parent_id: str | None, /, *, n_hits: int = 3, seed: int = 0, **changes: Any
) -> Callable[[Branch, int], Turn]:
    """A ``make`` for ``add_turn``; ``changes`` replace fields of the turn."""
    rng = np.random.default_rng(seed)
    vector = rng.standard_normal(64).astype(np.float32)
    vector /= np.linalg.norm(vector)
    drawn = rng.standard_normal((n_hits, len(PARTS)))
    ranked = tuple(
        Hit(f"image-{i:05}", float(row.sum()), i + 1, tuple(zip(PARTS, map(float, row), strict=True)))
        for i, row in enumerate(drawn))

    def make(branch: Branch, number: int) -> Turn:
        return Turn(**{
            "turn_id": new_id(), "session_id": session_id, "branch_id": branch.branch_id,
            "parent_id": parent_id, "number": number, "reference_id": "image-00007",
            "modification_text": "in red", "caption": "a blue chair", "merged_text": "a red chair",
            "notes": ("first note",), "vector": vector, "hits": ranked, "excluded_ids": ("image-00007",),
            "target_rank": None, "timings_ms": {"merge": 1.25, "search": 0.1}, "protocol_digest": "00ff" * 4,
            "created_at": datetime.now(UTC), **changes})

    return make
