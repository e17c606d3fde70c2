"""Input checks of all stores before a write."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime

import numpy as np

from annotation.records import MethodVote
from cir_core.errors import SearchError, StudyError
from cir_core.sessions.store import Comparison
from cir_core.support.texts import can_be_stored
from cir_core.types.composition import Composition
from cir_core.types.records import Thumb, Turn
from storage.mapping.rows import vectors_of

NAME_LIMIT = 80
_DIRECTION_MARKS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_JOINER = "\u200d"  # within an emoji; at the end it would join what follows the name


def clean_name(text: str) -> str:
    """A title or branch name for one line: no control characters, at most 80 characters. Bidirectional control marks
    are removed too; they would reverse the text that follows."""
    kept = "".join(" " if char.isspace() else char for char in text
                   if char.isspace() or (unicodedata.category(char) not in ("Cc", "Cs")
                                         and char not in _DIRECTION_MARKS))
    return " ".join(kept.split())[:NAME_LIMIT].rstrip(" " + _JOINER)


def check_turn(turn: Turn) -> None:
    """Refuse text that a database cannot store; any other value it cannot store exactly is a programming error."""
    if turn.vector.dtype != np.float32 or turn.vector.ndim != 1:
        raise ValueError(f"a turn's vector is a row of float32, not {turn.vector.dtype}{turn.vector.shape}")
    _check_time(turn.created_at)
    _check_texts((turn.modification_text, turn.caption, turn.merged_text, *turn.notes))
    _check_composition(turn.composition)


def check_comparison(comparison: Comparison) -> None:
    """Refuse text that a database cannot store; any other value it cannot store exactly is a programming error."""
    _check_time(comparison.created_at)
    _check_texts((comparison.modification_text,))
    for column in comparison.columns:
        _check_texts((column.method, column.caption, column.merged_text, column.problem, *column.notes))
        _check_composition(column.composition)


def check_vote(vote: MethodVote) -> None:
    _check_time(vote.created_at)
    _check_texts(_texts_in(vote))


def check_thumb(thumb: Thumb) -> None:
    _check_time(thumb.created_at)
    _check_texts(_texts_in(thumb))


def check_study_texts(*values: object) -> None:
    """Refuse text that a database cannot store, at any depth of records and JSON. Raises ``StudyError``."""
    if not all(can_be_stored(text) for value in values for text in _texts_in(value)):
        raise StudyError("The text contains characters that cannot be stored. Type it again instead of pasting it.")


def _check_time(moment: datetime) -> None:
    if moment.tzinfo is None:
        raise ValueError("a created_at without a time zone cannot be stored")


def _check_texts(texts: Iterable[str]) -> None:
    if not all(map(can_be_stored, texts)):
        raise SearchError("The text contains characters that cannot be stored. Type it again instead of pasting it.")


def _check_composition(composition: Composition | None) -> None:
    if composition is None:
        return
    shape = composition.base.shape
    for vector in vectors_of(composition):
        if vector.dtype != np.float32 or vector.ndim != 1 or vector.shape != shape:
            raise ValueError("a composition's vectors are rows of float32 as long as its base, not "
                             f"{vector.dtype}{vector.shape}")
    _check_texts(_texts_in(composition))


def _texts_in(value: object) -> Iterator[str]:
    """All strings in a record, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from _texts_in(part)
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _texts_in(key)
            yield from _texts_in(part)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _texts_in(getattr(value, field.name))
