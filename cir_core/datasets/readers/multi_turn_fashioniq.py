"""Multi-turn FashionIQ (Yuan and Lam 2021): single-turn pairs of FashionIQ in a chain, each for the next image.

``<category>.<split>.json`` is an array of ``{"target": [address, id], "reference": [[address, captions, id], …]}``, a
reference for each turn in their order.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from pydantic import BaseModel

from cir_core.datasets.content import Content, Source
from cir_core.datasets.files.captions import query_texts
from cir_core.datasets.files.issues import RAISE, ValidationIssues
from cir_core.datasets.files.json_files import first_byte, read_array, read_records
from cir_core.datasets.readers.circled import CircledSession, CircledSessions, CircledTurn, session_content
from cir_core.datasets.records import CaptionMode

_NAME = re.compile(r"([A-Za-z]+)\.(train|val|test)")


class _Record(BaseModel):
    target: tuple[str, str]
    reference: list[tuple[str, list[str], str]]


def is_multi_turn_fashioniq(path: Path) -> bool:
    """By the first record of the file; False for one that cannot be read."""
    if first_byte(path) != b"[":
        return False
    _, first = next(read_array(path, ValidationIssues(collect=True)), (0, {}))
    return {"target", "reference"} <= first.keys()


def read_multi_turn_fashioniq(
    path: Path, faults: ValidationIssues = RAISE, caption_mode: CaptionMode = "joined",
) -> CircledSessions:
    """Sessions in the form of CIRCLED's. The subset of a file "dress.val.json" is "fashioniq_dress_val", of another one
    its name. Texts are made of a turn's captions, as FashionIQ's are; of "separate" ones the first is taken. Raises
    ``DatasetError`` unless ``faults`` collects."""
    named = _NAME.match(path.name)
    subset = f"fashioniq_{named[1].lower()}_{named[2]}" if named else path.stem
    sessions, counts = [], Counter[str]()
    for number, record in read_records(path, _Record, faults):
        if not record.reference:
            faults.add(path, number, "it has no turns", "Check that it is a file of Multi-turn FashionIQ")
            continue
        turns = []
        for _, captions, image_id in record.reference:
            texts = query_texts(captions, caption_mode)
            turns.append(CircledTurn(image_id, texts[0] if texts else ""))
        counts["texts"] += any(not turn.text for turn in turns)
        sessions.append(CircledSession(f"{subset}_{number:04d}", subset, (record.target[1],), tuple(turns)))
    if not sessions and not faults.count:
        faults.add(path, "", "it contains no session", "Check that it is a file of Multi-turn FashionIQ")
    notes = ("Images between the first and the target are those of other queries: only the last rank can be measured.",
             *([f"{counts['texts']:,} sessions have a turn without text; they are included."] * bool(counts["texts"])))
    return CircledSessions(tuple(sessions), notes)


def content(source: Source) -> Content:
    return session_content(read_multi_turn_fashioniq(source.path, source.faults, source.caption_mode or "joined"))
