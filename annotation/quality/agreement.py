"""How far judges agree on each item, by their kind's score of one answer by another."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

from annotation.quality.care import Score
from annotation.records import Judgement, by_item


def agreement(answers: Sequence[Mapping[str, Any]], score: Score) -> float | None:
    """Mean score of two judges' answers by each other, from 0 to 1; None for fewer than two answers. Equal answers are
    scored once: hundreds of people may have answered an item."""
    if len(answers) < 2:
        return None
    texts = [json.dumps(answer, sort_keys=True, default=str) for answer in answers]
    times, one_of = Counter(texts), dict(zip(texts, answers, strict=True))
    total = sum(times[text] * (times[text] - 1) / 2 * score(one_of[text], one_of[text]) for text in times)
    total += sum(times[one] * times[other] * (score(one_of[one], one_of[other]) + score(one_of[other], one_of[one])) / 2
                 for one, other in combinations(times, 2))
    return total / (len(answers) * (len(answers) - 1) / 2)


def disputed(judgements: Iterable[Judgement], score: Score) -> list[str]:
    """Ids of the items on which judges differ, or are unsure: the least agreement first."""
    found = {item_id: agreement([one.answer for one in given], score) for item_id, given in by_item(judgements).items()}
    differing = {item_id: value for item_id, value in found.items() if value is not None and value < 1}
    return sorted(differing, key=lambda item_id: (differing[item_id], item_id))
