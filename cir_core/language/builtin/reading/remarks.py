"""Notes on words of which nothing, or not everything, was made."""

from __future__ import annotations

from collections.abc import Sequence

_MOST = 12  # words in a note
_MOST_SHOWN = 300  # characters of a text

NOTHING = "no change recognised in your text"
AS_IT_IS = "nothing to change: the description already says that"
FOREIGN = ("the built-in language model reads English only, and words of German, French, Spanish, Italian, Portuguese, "
           "Dutch, Polish, Japanese and Chinese: write the request in one of these, or connect a language model "
           "(docs/language-models.md), which is asked to translate")


def used_as_typed(words: Sequence[str]) -> str:
    """The words that were added to the query as they are."""
    return f"used as typed: {_listed(words)}"


def left_out(words: Sequence[str]) -> str:
    """The words of a long text that were not added to the query."""
    return f"left out: {_listed(words)}"


def pointed(words: Sequence[str]) -> str:
    """References to results, which the words alone do not resolve."""
    return f"not understood: {_listed(words)} (select the image that is meant, and describe the change)"


def _listed(words: Sequence[str]) -> str:
    once = list(dict.fromkeys(words))
    more = f" and {len(once) - _MOST} more" if len(once) > _MOST else ""
    return ", ".join(once[:_MOST]) + more


def in_english(text: str) -> str:
    """What a text in another language was read as."""
    return f"read in English as: {text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + ' …'}"
