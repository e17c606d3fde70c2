"""Garment vocabulary: attribute groups, their values and phrases.

One table (``tables/lexicon.toml``) is shared by the caption writer of the sample gallery, the zero-shot
prompts of the built-in language model, and its rules for editing a description.
It holds *words only*. Which garment has which attribute is not stored here: that
is the sample gallery's ground truth, which retrieval must not see.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from cir_core.garments.tables import listed, table
from cir_core.support.texts import quoted

NONE = "none"


@dataclass(frozen=True)
class Value:
    """One value of an attribute group.

    ``phrases`` are ways to say it, the plainest first, all lower case. For ``colour``
    they are adjectives, for the other groups they are fragments that
    :func:`cir_core.sample.atelier.captions.full_caption` can join.
    """

    key: str
    phrases: tuple[str, ...]

    @property
    def phrase(self) -> str:
        return self.phrases[0]


@dataclass(frozen=True)
class Group:
    """An attribute group: a slot that takes exactly one value."""

    key: str
    values: tuple[Value, ...]

    def __getitem__(self, key: str) -> Value:
        for value in self.values:
            if value.key == key:
                return value
        raise KeyError(f"{self.key} has no value {quoted(key)}")

    @cached_property
    def keys(self) -> tuple[str, ...]:
        return tuple(value.key for value in self.values)


_TABLE = {name: Group(name, tuple(Value(key, listed(texts)) for key, texts in values.items()))
          for name, values in table("lexicon").items()}
CATEGORY, COLOUR = _TABLE["category"], _TABLE["colour"]
# The accent: the other colour of the pattern, or of the trim when the cloth is plain.
SECOND_COLOUR = Group("second_colour", (Value(NONE, ("no second colour",)), *COLOUR.values))
GROUPS: tuple[Group, ...] = (CATEGORY, COLOUR, SECOND_COLOUR, *list(_TABLE.values())[2:])
BY_KEY: dict[str, Group] = {group.key: group for group in GROUPS}
