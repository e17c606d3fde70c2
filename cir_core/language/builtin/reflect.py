"""CoRR by rules: count attributes of the candidates, and request those that most lack.

A query that repeats the whole description moves nowhere new. This one names the category of garment, what the text
asked for, and those other attributes that at most half of the candidates have; fused with the previous query, which
still contains the rest, it moves the search towards what is missing. On its own it would lose the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cir_core.garments.lexicon import NONE
from cir_core.language.builtin.captions import Caption, parse_caption
from cir_core.language.builtin.phrases import joined, name, phrase
from cir_core.language.builtin.wanted import Wanted, said, understand
from cir_core.language.tasks import ReflectAnswer

Counts = Mapping[str, tuple[int, int]]  # group: number of candidates that satisfy it, number that mention it

_STRATEGY = "Says what the text asks for and what at most half of the candidates show, and leaves out the rest."
_NOTHING_WRONG = "Most candidates show everything that is wanted, so the whole description is requested again."
_AGAIN = "That was asked before and something is still missing, so other attributes are selected."


def reflect(
    reference: str, modification_text: str, candidates: Sequence[str], previous_query: str | None = None
) -> ReflectAnswer:
    """Check the ``candidates`` (captions of garments, best first) against the request, and refine the query.

    ``reference`` is the caption of the reference. Only these texts are used: a candidate shows what its caption says.
    """
    wanted = understand(reference, modification_text)
    shown = [parse_caption(text).slots for text in candidates]
    counts = {group: _count(wanted, group, shown) for group in (*wanted.edited, *wanted.kept)}
    missing = [group for group, (met, known) in counts.items() if known and 2 * met <= known]
    query, strategy = _query(wanted, missing, previous_query)
    return ReflectAnswer(
        intent=_intent(wanted),
        satisfied=tuple(_satisfied(wanted, group, counts[group]) for group in counts
                        if counts[group][1] and group not in missing),
        problems=(*(_problem(wanted, group, counts[group]) for group in missing), *_still_there(wanted, shown)),
        strategy=strategy, query=query, notes=wanted.notes,
    )


def _count(wanted: Wanted, group: str, shown: Sequence[Mapping[str, str]]) -> tuple[int, int]:
    values = [slots[group] for slots in shown if group in slots]
    return sum(wanted.accepts(group, value) for value in values), len(values)


def _intent(wanted: Wanted) -> str:
    changes = [_words(wanted, group) for group in wanted.edited] + list(wanted.edits.extras)
    if wanted.edits.noun:
        changes.insert(0, wanted.edits.noun)
    kept = [_words(wanted, group) for group in wanted.kept if wanted.slots[group] != NONE]
    text = f"The person wants {joined(changes)}" if changes else "The person wants the garment as it is"
    return f"{text}; {joined(kept)} may stay." if kept else f"{text}."


def _words(wanted: Wanted, group: str) -> str:
    value = wanted.slots.get(group)
    if value is None:
        gone = wanted.gone.get(group)
        return f"another {name(group)} than {phrase(group, gone)}" if gone else f"another {name(group)}"
    return phrase(group, value, wanted.slots.get("category", "dress"))


def _satisfied(wanted: Wanted, group: str, count: tuple[int, int]) -> str:
    return f"{count[0]} of {count[1]}: {_words(wanted, group)}"


def _problem(wanted: Wanted, group: str, count: tuple[int, int]) -> str:
    met, known = count
    words = _words(wanted, group)
    if met:
        return f"only {met} of {known}: {words}"
    if group in wanted.kept:
        return f"none of {known}: {words}; asked too strictly, or the reference's caption is wrong there"
    return f"none of {known}: {words}"


def _still_there(wanted: Wanted, shown: Sequence[Mapping[str, str]]) -> list[str]:
    found = []
    for group, value in wanted.gone.items():
        values = [slots[group] for slots in shown if group in slots]
        still = values.count(value)
        if still and 2 * still >= len(values) and group in wanted.edited:
            words = phrase(group, value, wanted.slots.get("category", "dress"))
            found.append(f"{still} of {len(values)} still: {words}")
    return found


def _query(wanted: Wanted, missing: Sequence[str], previous: str | None) -> tuple[str, str]:
    whole = Caption(dict(wanted.slots), wanted.noun, (*wanted.reference.extras, *wanted.edits.extras)).sentence()
    if not missing:
        return whole, _NOTHING_WRONG
    first = _say(wanted, {*wanted.edited, *missing})
    if previous is None or first != previous:
        return first, _STRATEGY
    others = (_say(wanted, set(missing)), whole)
    return next((query for query in others if query != previous), whole), _AGAIN


def _say(wanted: Wanted, groups: set[str]) -> str:
    return Caption(said(wanted.slots, {*groups, "category"}), wanted.noun, wanted.edits.extras).sentence()
