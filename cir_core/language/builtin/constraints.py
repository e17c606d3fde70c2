"""SoFT constraints by rules: what to keep, add and remove, and a caption for either side."""

from __future__ import annotations

from collections.abc import Mapping

from cir_core.garments.describe import describe
from cir_core.garments.lexicon import GROUPS, NONE
from cir_core.language.builtin.captions import Caption
from cir_core.language.builtin.phrases import PATTERN_NOUNS, phrase
from cir_core.language.builtin.wanted import Wanted, understand
from cir_core.language.tasks import ConstraintsAnswer

# Kept attributes mentioned in the prescriptive caption. All of them would give the change
# too little weight; the change alone would lose the garment.
SAID_OF_KEPT = frozenset({"category", "colour", "second_colour", "neckline", "trim"})
_NOT_A_GARMENT = ("The caption describes no garment, and the built-in model handles nothing else: the text alone must "
                  "show, and nothing is avoided. Connect a language model for other images")
_ORDER = tuple(group.key for group in GROUPS)


def constraints(caption: str, modification_text: str) -> ConstraintsAnswer:
    """Both sides of the request. Never fails; limitations are in the notes.

    ``remove`` holds values that the caption names and the text replaces or drops, and those
    the text itself rejects; never a guess at what an addition may have replaced.
    """
    text = " ".join(modification_text.split())
    wanted = understand(caption, text)
    if not wanted.reference.is_garment:
        return ConstraintsAnswer(prescriptive=text, proscriptive="", notes=(_NOT_A_GARMENT,))
    old, new = wanted.reference.slots, wanted.slots
    kind = new.get("category", "dress")
    valued = [group for group in _ORDER if new.get(group, NONE) != NONE]
    keep = [phrase(group, new[group], kind) for group in valued if old.get(group) == new[group]]
    add = [phrase(group, new[group], kind) for group in valued if old.get(group) != new[group]]
    if wanted.noun and "category" not in new:
        (add if wanted.edits.noun else keep).insert(0, wanted.noun)
    unwanted = _unwanted(wanted)
    keep += [extra for extra in wanted.reference.extras if extra not in unwanted]
    removed = [phrase(group, value, old.get("category", kind)) for group, value in wanted.gone.items()]
    if wanted.edits.noun and wanted.reference.noun:
        removed.insert(0, wanted.reference.noun)
    return ConstraintsAnswer(
        keep=tuple(keep), add=(*add, *wanted.edits.extras), remove=(*removed, *unwanted),
        prescriptive=_prescriptive(wanted), proscriptive=_proscriptive(wanted, unwanted) if removed or unwanted else "",
        notes=wanted.notes,
    )


def _unwanted(wanted: Wanted) -> list[str]:
    """The caption's own words for what should be removed, or else the text's."""
    found: list[str] = []
    for words in wanted.edits.unwanted:
        named = [extra for extra in wanted.reference.extras if set(words.split()) & set(extra.split())]
        found += named or [f"with {words}"]
    return list(dict.fromkeys(found))


def _prescriptive(wanted: Wanted) -> str:
    new = {group for group, value in wanted.slots.items() if wanted.reference.slots.get(group) != value}
    slots = {group: value for group, value in wanted.slots.items() if group in {*SAID_OF_KEPT, *wanted.edited, *new}}
    if wanted.slots.get("pattern") == "plain" and slots.get("second_colour", NONE) != NONE:
        slots["pattern"] = "plain"  # otherwise the trim's colour would become the cloth's
    return Caption(slots, wanted.noun, wanted.edits.extras).sentence()


def _proscriptive(wanted: Wanted, unwanted: list[str]) -> str:
    old = wanted.reference
    slots = {group: value for group, value in wanted.gone.items() if group != "second_colour"}
    kind = {"category": old.slots["category"]} if "category" in old.slots else {}
    text = positive(kind | slots, old.noun)
    if not slots and "second_colour" in wanted.gone:
        text += _with_second_colour(old.slots)
    return ", ".join([text, *unwanted])


def positive(slots: Mapping[str, str], noun: str = "") -> str:
    """The description without negations: encoders read "no sleeves" as sleeves."""
    if slots.get("sleeves") != "sleeveless":
        return Caption(dict(slots), noun).sentence()
    bare = Caption({group: value for group, value in slots.items() if group != "sleeves"}, noun).sentence()
    words, comma, details = bare.partition(" with ")
    before, _, last = words.rpartition(" ")
    before = f"{before} sleeveless" if before not in ("a", "an") else "a sleeveless"
    return f"{before} {last}{comma}{details}"


def _with_second_colour(slots: Mapping[str, str]) -> str:
    colour = slots["second_colour"]
    if slots.get("pattern") == "plain" and slots.get("trim", NONE) != NONE:
        described = describe({"pattern": "plain", "trim": slots["trim"], "second_colour": colour})
        return " with " + described.partition(" with ")[2]
    noun = PATTERN_NOUNS.get(slots.get("pattern", ""))
    return f" with {noun.format(colour=colour)}" if noun else f" with {colour} as the second colour"
