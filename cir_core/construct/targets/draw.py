"""Of a query with several targets, which one it is rewritten for and which ones it is told apart from."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass

from cir_core.construct.targets.settings import DISTRACTORS, LEAST_TARGETS
from cir_core.datasets.readers.soft import MultiTarget


@dataclass(frozen=True)
class Drawn:
    target: str
    distractors: tuple[str, ...]


def draw(record: MultiTarget, seed: int, *, keep_reference: bool = False) -> Drawn | None:
    """One target and two others of ``record``; None if it has fewer than three.

    The draw depends on ``seed`` and on the record's own content alone, so neither its place in a file nor the order of
    its targets change it. SoFT draws from one sequence of numbers for all records. The reference, which its files list
    as a target here and there, is not drawn unless ``keep_reference``: no text turns an image into itself.
    """
    names = sorted(name for name in record.target_ids if keep_reference or name != record.reference_id)
    if len(names) < LEAST_TARGETS:
        return None
    content = [seed, record.reference_id, record.original_target_id, *record.captions, *names]
    chance = random.Random(json.dumps(content, ensure_ascii=True))
    target = chance.choice(names)
    return Drawn(target, tuple(chance.sample([name for name in names if name != target], DISTRACTORS)))
