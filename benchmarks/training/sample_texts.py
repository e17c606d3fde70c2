"""Training texts: captions, partial captions and prompts."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.training.bpe import GENERAL_WORDS
from benchmarks.training.sample_data import Codes
from cir_core.garments.lexicon import BY_KEY, CATEGORY, GROUPS, NONE
from cir_core.garments.zero_shot import prompts
from cir_core.sample.atelier.captions import partial_caption
from cir_core.sample.atelier.catalogue import Garment

_GROUP_KEYS = tuple(group.key for group in GROUPS)
#: Weights of the number of groups a partial caption mentions, one to six.
_PARTIAL_SIZES = (1, 2, 3, 4, 5, 6)
_PARTIAL_WEIGHTS = (2, 4, 4, 3, 2, 1)
_OWN_PROMPT = 0.6
_STRAY_WORD = 0.10

_STRAY = tuple(
    word
    for word in GENERAL_WORDS
    # Only words that occur in no attribute's phrases.
    if not any(word in phrase for group in GROUPS for v in group.values for phrase in v.phrases)
    and word not in {"in", "no", "not", "one", "without", "dark", "darker", "light", "lighter",
                     "bright", "brighter", "pale", "simple", "minimal", "blank", "lower", "upper"}
)


@dataclass(frozen=True)
class Partials:
    """Partial captions and the garments they match.

    ``fits`` is ``[batch, texts]``: 1.0 if the garment has every value the text mentions.
    """

    texts: list[str]
    fits: npt.NDArray[np.float32]


def write_partials(
    garments: Sequence[Garment], codes: Codes, count: int, rng: random.Random
) -> Partials:
    """``count`` partial captions of random ``garments`` (one batch; ``codes`` ``[b, groups]``)."""
    texts: list[str] = []
    fits = np.empty((len(garments), count), dtype=np.float32)
    for column in range(count):
        row = rng.randrange(len(garments))
        attributes = garments[row].attributes
        size = rng.choices(_PARTIAL_SIZES, weights=_PARTIAL_WEIGHTS)[0]
        groups = rng.sample(_GROUP_KEYS, size)
        # The caption writer does not mention an absent trim or second colour, so it does
        # not restrict which garments match the text.
        said = [key for key in groups if attributes[key] != NONE]
        text = partial_caption(attributes, groups, rng)
        if "trim" in groups and attributes["trim"] == NONE and " with " not in text:
            text += rng.choice((" with no trim", " with no details", " without trim"))
            said.append("trim")
        texts.append(with_stray_word(text, rng))
        where = [_GROUP_KEYS.index(key) for key in said]
        fits[:, column] = (codes[:, where] == codes[row, where]).all(axis=1)
    return Partials(texts, fits)


def with_stray_word(text: str, rng: random.Random) -> str:
    """``text``, sometimes with an irrelevant word inserted."""
    if rng.random() >= _STRAY_WORD:
        return text
    words = text.split()
    words.insert(rng.randint(0, len(words)), rng.choice(_STRAY))
    return " ".join(words)


@dataclass(frozen=True)
class PromptBook:
    """One prompt per category and value of some groups, with the position of each group's prompts.

    ``spans[g]`` (``g`` indexes ``GROUPS``) is ``(start, n_values)``: the prompt of value ``v`` of group ``g`` for
    category ``c`` is ``texts[start + c * n_values + v]``; the category's own prompts
    (group 0) occur there once, whatever ``c``.
    """

    texts: list[str]
    spans: dict[int, tuple[int, int]]


def write_prompts(rng: random.Random, n_groups: int = len(GROUPS)) -> PromptBook:
    """Prompts of ``n_groups`` groups in a random choice of wordings.

    Mostly the zero-shot prompts themselves, else the caption writer's words for the same value.
    """
    texts: list[str] = []
    spans: dict[int, tuple[int, int]] = {}
    for place in sorted(rng.sample(range(len(GROUPS)), n_groups)):
        group = GROUPS[place]
        spans[place] = (len(texts), len(group.keys))
        categories = CATEGORY.keys[:1] if group is CATEGORY else CATEGORY.keys
        for category in categories:
            for value in group.keys:
                texts.append(_prompt(group.key, value, category, rng))
    return PromptBook(texts, spans)


def _prompt(group: str, value: str, category: str, rng: random.Random) -> str:
    if value == NONE or rng.random() < _OWN_PROMPT:
        return rng.choice(prompts(group, value, category))
    attributes: Mapping[str, str] = {"category": category, group: value}
    named = {group} if rng.random() < 0.3 and group != "length" else {"category", group}
    if group == "second_colour" and rng.random() < 0.5:
        word = rng.choice(BY_KEY["colour"][value].phrases)
        return f"{CATEGORY[category].phrase} with {word} {rng.choice(('details', 'accents', 'trim'))}"
    return partial_caption(attributes, named, rng)
