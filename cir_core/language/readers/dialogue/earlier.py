"""What a request takes from earlier turns: "the colour of the original", "as before but red", "no, I meant navy", "the
same for the sleeves", "I changed my mind about the neckline", "both", "forget the pocket".

It becomes a request that can be read alone. What there is nothing for is said, and nothing else is made of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cir_core.language.builtin.reading.vocabulary import tokenise
from cir_core.language.readers.dialogue.corrections import (
    after_act,
    both,
    corrected,
    means,
    one_of_two,
    only,
    rather,
    reversed_colours,
    same,
)
from cir_core.language.readers.dialogue.degrees import scaled
from cir_core.language.readers.dialogue.optional import only_refuses, optional, with_released
from cir_core.language.readers.dialogue.originals import at_first
from cir_core.language.readers.dialogue.phrasing import Words, after, in_words, without_lead
from cir_core.language.readers.dialogue.released import all_dropped, dropped, given_up, print_again
from cir_core.language.readers.dialogue.repairs import completed, moderate, repaired
from cir_core.language.readers.dialogue.wishes import NOTHING_EARLIER, Talk
from cir_core.language.readers.reader import TAKEN, WHOLE, Pointed
from cir_core.language.readers.scene import Scene, Unclear

_MOST_WORDS = 40   # a longer text is not about earlier turns
_BEFORE = ("as before", "like before", "same as before", "as it was before", "as it was", "like it was before",
           "same as it was before", "exactly as before", "just like before", "as in the last one", "as previously")

Reading = Callable[[Words, Talk], Pointed | None]


def resolve(text: str, scene: Scene) -> Pointed | None:
    """``text`` (English) as a request that is read alone; None where it takes nothing from earlier turns. Never
    fails."""
    words = tuple(tokenise(text))
    if not words or len(words) > _MOST_WORDS:
        return None
    try:
        return _resolved(words, scene)
    except Unclear as problem:
        return Pointed(WHOLE, scene.reference_id, (f"not understood: {problem.words} ({problem.reason})",))


def _resolved(words: Words, scene: Scene) -> Pointed | None:
    talk = Talk(words, scene)
    rest, free = optional(words, talk)
    if rest != words:
        further = _resolved(rest, scene) if rest and not only_refuses(rest, free) else None
        return with_released(further, rest, free, talk)
    if (found := repaired(words, talk)) is not None:
        return found
    if (fuller := completed(moderate(words), talk)) != words:
        return _read(Talk(fuller, scene)) or talk.taken(in_words(without_lead(fuller)))
    return _read(talk)


def _read(talk: Talk) -> Pointed | None:
    words = without_lead(talk.words)
    for reading in _FIRST:
        if (found := reading(words, talk)) is not None:
            return found
    if means(words, talk):
        return corrected(words, talk)
    for reading in (same, given_up, at_first, print_again):
        if (found := reading(words, talk)) is not None:
            return found
    return dropped(talk)


def _as_before(words: Words, talk: Talk) -> Pointed | None:
    if (rest := after(words, ("the", "exactly", "just"), _BEFORE)) is None:
        return None
    rest = without_lead(rest)
    rest = rest[1:] if rest[:1] in (("only",), ("just",), ("except",)) else rest
    text = " ".join(rest) or WHOLE
    if not talk.turns:
        return talk.pointed(text, f"not understood: as before ({NOTHING_EARLIER})")
    return talk.pointed(text, f"{TAKEN}{text}, with what was asked before")


_FIRST: Sequence[Reading] = (both, all_dropped, rather, _as_before, lambda _, talk: after_act(talk), one_of_two, only,
                            reversed_colours, scaled)
