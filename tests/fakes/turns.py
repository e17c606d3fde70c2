"""Sessions, turns and compositions to store, drawn from a seed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np

from cir_core.types.composition import Composition, Constraints, Cut, Marks, ReflectionRound, Usage, Wording
from cir_core.types.records import (
    EncoderIdentity,
    Hit,
    MethodSettings,
    ProtocolCard,
    SearchSession,
    SoftFilter,
    Turn,
    Vector,
    new_id,
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


def a_turn(session_id: str, parent_id: str | None, /, *, n_hits: int = 3, seed: int = 0, **changes: Any) -> Turn:
    """Without a position, as for ``add_turn``; ``changes`` replace fields."""
    rng = np.random.default_rng(seed)
    vector = rng.standard_normal(64).astype(np.float32)
    vector /= np.linalg.norm(vector)
    drawn = rng.standard_normal((n_hits, len(PARTS)))
    ranked = tuple(
        Hit(f"image-{i:05}", float(row.sum()), i + 1, tuple(zip(PARTS, map(float, row), strict=True)))
        for i, row in enumerate(drawn))
    return Turn(**{
        "turn_id": new_id(), "session_id": session_id, "branch_id": "", "parent_id": parent_id, "number": 0,
        "reference_id": "image-00007", "modification_text": "in red", "caption": "a blue chair",
        "merged_text": "a red chair", "notes": ("first note",), "vector": vector, "hits": ranked,
        "excluded_ids": ("image-00007",), "target_rank": None, "timings_ms": {"merge": 1.25, "search": 0.1},
        "protocol_digest": "00ff" * 4, "created_at": datetime.now(UTC), **changes})


def a_composition(*, dim: int = 64, seed: int = 0, **changes: Any) -> Composition:
    """One in which no field has its default; ``changes`` replace fields."""
    drawn = np.random.default_rng(seed).standard_normal((6, dim)).astype(np.float32)
    base, *rest = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    rounds = (
        ReflectionRound(
            1, "a red chair with arms", intent="a red chair", satisfied=("red",), problems=("no arms",),
            strategy="name the arms", looked_at=("image-00001", "image-00002"), pictures=1,
            notes=("one picture could not be read",), edited=True, milliseconds=812.5, vector=rest[3]),
        ReflectionRound(2, "", vector=None),
        ReflectionRound(3, "", looked_at=("image-00003",), vector=rest[4]),
    )
    return Composition(**{
        "base": base, "terms": tuple(zip(PARTS[:3], rest[:3], strict=True)), "rounds": rounds,
        "marks": Marks(("image-00004",), ("image-00005", "image-00006")),
        "constraints": Constraints(("legs",), ("arms",), ("cushion",), ("a red chair",), ("a blue chair",), True),
        "soft_filter": SoftFilter(0.6, "penalty"),
        "usage": Usage(2, 1, 930, 61, 0.1 + 0.2, ("small/1", "large/2"), ("small/1",)),
        "edited": Wording("a blue chair", "a red chair"), "read_as": "in red", "further": ("image-00008",),
        "cuts": (Cut("image-00007", "image-00001", (0.1, 0.2, 0.5, 0.25)),), **changes})


def vectors_of(composition: Composition) -> list[Vector | None]:
    """All of them; they do not take part in ``==``."""
    return [composition.base, *(vector for _, vector in composition.terms),
            *(one.vector for one in composition.rounds)]


def same_composition(one: Composition | None, other: Composition | None) -> bool:
    """Whether they are equal, their vectors bit for bit."""
    if one is None or other is None:
        return one is other
    pairs = list(zip(vectors_of(one), vectors_of(other), strict=True))
    names = [tuple(name for name, _ in composition.terms) for composition in (one, other)]
    return one == other and names[0] == names[1] and all(
        a is b if a is None or b is None else (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
        for a, b in pairs)
