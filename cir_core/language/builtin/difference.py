"""f_diff by rules (CIRCLED section 3): one sentence from one garment to another."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cir_core.errors import LanguageModelError
from cir_core.garments.lexicon import NONE, describe
from cir_core.language.builtin.captions import Caption, parse_caption
from cir_core.language.builtin.phrases import PATTERN_NOUNS, SALIENCE, phrase
from cir_core.language.builtin.reading.parse import parse_edits
from cir_core.language.tasks import DifferenceAnswer

_SPOKEN = "all remaining differences were mentioned before, so one is repeated"


def difference(reference: str, target: str, history: Sequence[str] = (), attempt: int = 1) -> DifferenceAnswer:
    """The most salient change between two captions that ``history`` does not mention. ``attempt`` n returns the n-th of
    them, or the last one if there are fewer. Raises ``LanguageModelError`` when the captions show no difference."""
    old, new = parse_caption(reference), parse_caption(target)
    changes = _changes(old, new)
    if not changes:
        raise LanguageModelError("The built-in language model finds no difference between these two images. Drop this "
                                 "session, or connect a language model that sees (docs/how-to/language-models.md).")
    spoken = {group for text in history for group in _spoken(text)}
    fresh = [group for group in changes if group not in spoken]
    order = fresh + [group for group in changes if group in spoken]
    group = order[min(max(attempt, 1), len(order)) - 1]
    return DifferenceAnswer(instruction=_SAY[group](old, new), notes=(_SPOKEN,) if group in spoken else ())


def _spoken(text: str) -> set[str]:
    edits = parse_edits(text)
    groups = {"colour" if edit.group == "shade" else edit.group for edit in edits.edits}
    return groups | ({"category"} if edits.noun else set())


def _changes(old: Caption, new: Caption) -> list[str]:
    """Groups known in both that differ, the most salient first."""
    found = [group for group in SALIENCE if group in old.slots and group in new.slots
             and old.slots[group] != new.slots[group]]
    if (old.noun or new.noun) and _kind(old) and _kind(new) and _kind(old) != _kind(new):
        found.insert(0, "category")
    plain = new.slots.get("pattern") == "plain"
    if "second_colour" in found and ("pattern" in found or ("trim" in found and plain)):
        found.remove("second_colour")  # mentioned with the pattern or the trim that shows it
    return found


def _kind(caption: Caption) -> str:
    category = caption.slots.get("category")
    return phrase("category", category) if category else caption.noun


def _category(old: Caption, new: Caption) -> str:
    kind = _kind(new)
    return f"Make it {'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _pattern(old: Caption, new: Caption) -> str:
    value, second = new.slots["pattern"], new.slots.get("second_colour", NONE)
    if value == "plain":
        return "Remove the pattern"
    noun = PATTERN_NOUNS.get(value)
    if noun is None:
        return f"Make it {phrase('pattern', value)}"
    words = _singular(noun.format(colour=second if second != NONE else ""))
    return f"Add {words}" if old.slots["pattern"] == "plain" else f"Change the pattern to {words}"


def _singular(words: str) -> str:
    words = " ".join(words.split())
    return f"an {words[2:]}" if words.startswith("a ") and words[2] in "aeiou" else words


def _sleeves(old: Caption, new: Caption) -> str:
    was, value = old.slots["sleeves"], new.slots["sleeves"]
    if value == "sleeveless":
        return "Remove the straps" if was == "straps" else "Remove the sleeves"
    words = phrase("sleeves", value)
    if was == "sleeveless":
        return f"Add {words}"
    if "straps" in (was, value):
        return f"Replace the {'straps' if was == 'straps' else 'sleeves'} with {words}"
    return f"Give it {words}" if value == "elbow" else f"Make the sleeves {value}"


def _neckline(old: Caption, new: Caption) -> str:
    words = describe({"neckline": new.slots["neckline"]}).partition(" with ")[2]
    return f"Change the neckline to {words}"


def _trim(old: Caption, new: Caption) -> str:
    was, value = old.slots["trim"], new.slots["trim"]
    if value == NONE:
        return f"Remove the {phrase('trim', was)}"
    slots = {"trim": value}
    if new.slots.get("pattern") == "plain" and new.slots.get("second_colour", NONE) != NONE:
        slots |= {"pattern": "plain", "second_colour": new.slots["second_colour"]}
    words = _singular(describe(slots).partition(" with ")[2])
    return f"Add {words}" if was == NONE else f"Replace the {phrase('trim', was)} with {words}"


def _second_colour(old: Caption, new: Caption) -> str:
    value = new.slots["second_colour"]
    return f"Leave out the {old.slots['second_colour']}" if value == NONE else f"Use {value} as the second colour"


_SAY: dict[str, Callable[[Caption, Caption], str]] = {
    "category": _category, "pattern": _pattern, "sleeves": _sleeves, "neckline": _neckline, "trim": _trim,
    "second_colour": _second_colour,
    "colour": lambda old, new: f"Change the colour to {new.slots['colour']}",
    "length": lambda old, new: f"Make it {phrase('length', new.slots['length'], new.slots.get('category', 'dress'))}",
    "fit": lambda old, new: f"Give it a {phrase('fit', new.slots['fit'])}",
}
