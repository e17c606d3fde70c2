"""SoFT's multi-target pipeline by rules: two sentences, one sentence for one target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cir_core.garments.describe import describe
from cir_core.garments.lexicon import NONE
from cir_core.language.builtin.captions import Caption, parse_caption
from cir_core.language.builtin.clauses import also
from cir_core.language.builtin.phrases import SALIENCE, joined, name, phrase
from cir_core.language.builtin.wanted import Wanted, said, understand
from cir_core.language.tasks import RewriteAnswer, TwoSentencesAnswer

_AS_TYPED = "no change of an attribute was understood, so the text is used unchanged"
_SAME = "some distractors have every attribute of the target, as far as the built-in model can tell"


def two_sentences(reference: str, modification_text: str) -> TwoSentencesAnswer:
    """The change in absolute words, and what stays (empty if unknown)."""
    wanted = understand(reference, modification_text)
    if wanted.edited or wanted.edits.extras or wanted.edits.noun:
        changed = Caption(said(wanted.slots, {"category", *wanted.edited}), wanted.noun)
        text = ", ".join([changed.sentence(), *_absent(wanted), *wanted.edits.extras])
        if " with " not in text:
            text = text.replace(", without ", " without ", 1)
        modification, notes = text[0].upper() + text[1:] + ".", wanted.notes
    else:
        modification, notes = " ".join(modification_text.split()), (*wanted.notes, _AS_TYPED)
    return TwoSentencesAnswer(modification=modification, kept=_kept(wanted), notes=notes)


def _absent(wanted: Wanted) -> list[str]:
    """Removed attributes without a replacement."""
    kind = wanted.reference.slots.get("category", "dress")
    gone = {group: value for group, value in wanted.gone.items() if wanted.slots.get(group, NONE) == NONE}
    words = [f"without {describe({'trim': gone['trim']}).partition(' with ')[2]}"] if "trim" in gone else []
    return words + [
        f"not {phrase(group, value, kind)}" for group, value in gone.items()
        if group not in ("trim", "second_colour") and not (group == "category" and wanted.edits.noun)
    ]


def _kept(wanted: Wanted) -> str:
    stays = {group: wanted.slots[group] for group in wanted.kept if group != "category" and wanted.slots[group] != NONE}
    kind = wanted.slots.get("category", "dress")
    looks = [phrase(group, stays[group], kind) for group in ("fit", "length", "colour", "pattern") if group in stays]
    has = [describe({group: stays[group]}).partition(" with ")[2]
           for group in ("sleeves", "neckline", "trim") if group in stays]
    if "second_colour" in stays:
        has.append(phrase("second_colour", stays["second_colour"]))
    halves = [f"is {joined(looks)}"] if looks else []
    halves += [f"has {joined(has)}"] if has else []
    return f"It {' and '.join(halves)}." if halves else ""


def rewrite(reference: str, target: str, distractors: Sequence[str], modification_text: str) -> RewriteAnswer:
    """The request and what distinguishes the target from the distractors, as one sentence.

    One attribute that no distractor shares if there is one, the most salient first; otherwise the fewest that exclude
    every distractor. Adds nothing that the text already contains, nor anything that contradicts it.
    """
    wanted = understand(reference, modification_text)
    shown = parse_caption(target).slots
    others = [parse_caption(text).slots for text in distractors]
    absolute = {edit.group for edit in wanted.edits.edits if edit.operation in ("set", "drop")}
    # "Longer" may be repeated as "long", but something new is better.
    order = sorted(SALIENCE, key=lambda group: group in wanted.edited)
    against = [group for group in wanted.edited if group in shown and not wanted.accepts(group, shown[group])]
    notes = [f"The target's {name(group)} is not what the text asks for" for group in against]
    tells = {
        group: frozenset(place for place, slots in enumerate(others) if group in slots and slots[group] != shown[group])
        for group in order if group in shown and group not in absolute and group not in against
    }
    chosen, left = _cover(tells, len(others))
    if left:
        notes.append(_SAME)
    kind = shown.get("category", "dress")
    return RewriteAnswer(
        refined_caption=also(modification_text, [(group, shown[group]) for group in chosen], kind),
        notes=tuple(notes),
    )


def _cover(tells: Mapping[str, frozenset[int]], count: int) -> tuple[list[str], set[int]]:
    """The fewest groups that exclude every distractor, found greedily; and the distractors left."""
    left, chosen = set(range(count)), []
    while left:
        best = max(tells, key=lambda group: len(tells[group] & left), default=None)  # first of equals
        if best is None or not tells[best] & left:
            break
        chosen.append(best)
        left -= tells[best]
    return sorted(chosen, key=SALIENCE.index), left
