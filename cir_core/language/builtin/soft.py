"""SoFT constraints by rules: what to keep, add and remove, and a caption for either side. SoFT's multi-target
pipeline by rules: two sentences, one sentence for one target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cir_core.garments.lexicon import BY_KEY, GROUPS, NONE, describe
from cir_core.language.builtin.captions import Caption, parse_caption
from cir_core.language.builtin.phrases import PATTERN_NOUNS, SALIENCE, also, joined, name, phrase
from cir_core.language.builtin.wanted import Wanted, said, understand
from cir_core.language.tasks import ConstraintsAnswer, RewriteAnswer, TwoSentencesAnswer

# Kept attributes mentioned in the prescriptive caption. All of them would give the change
# too little weight; the change alone would lose the garment.
SAID_OF_KEPT = frozenset({"category", "colour", "second_colour", "neckline", "trim"})
_NOT_A_GARMENT = ("The caption describes no garment, and the built-in model handles nothing else: the text alone must "
                  "show, and nothing is avoided. Connect a language model for other images")
_ORDER = tuple(group.key for group in GROUPS)


def constraints(caption: str, modification_text: str) -> ConstraintsAnswer:
    """Both sides of the request. Never fails; limitations are in the notes.

    ``remove`` holds values that the caption names and the text replaces or drops, and those
    the text itself rejects, whether or not the caption names them; never a guess at what an
    addition may have replaced.
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
    rejected = _rejected(wanted)
    removed = [phrase(group, value, old.get("category", kind)) for group, value in (*wanted.gone.items(), *rejected)]
    if wanted.edits.noun and wanted.reference.noun:
        removed.insert(0, wanted.reference.noun)
    return ConstraintsAnswer(
        keep=tuple(keep), add=(*add, *wanted.edits.extras), remove=(*removed, *unwanted),
        prescriptive=_prescriptive(wanted),
        proscriptive=_proscriptive(wanted, rejected, unwanted) if removed or unwanted else "",
        notes=wanted.notes,
    )


def _rejected(wanted: Wanted) -> list[tuple[str, str]]:
    """Groups and values that the text rejects and the reference does not show: "without stripes" of a plain one."""
    found = []
    for edit in wanted.edits.edits:
        group, value = edit.group, "stripes" if edit.value == "pinstripes" else edit.value
        if edit.operation != "drop" or value == NONE or value not in BY_KEY[group].keys:
            continue
        # "Green dots instead of white" speaks of either colour.
        places = ("colour", "second_colour") if group == "colour" else (group,)
        settled = {slots.get(place) for slots in (wanted.slots, wanted.gone) for place in places}
        if not {value, edit.value} & settled:
            found.append((group, value))
    return list(dict.fromkeys(found))


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


def _proscriptive(wanted: Wanted, rejected: Sequence[tuple[str, str]], unwanted: Sequence[str]) -> str:
    """What the reference shows as one text, and what the text alone rejects, each by itself."""
    old = wanted.reference
    slots = {group: value for group, value in wanted.gone.items() if group != "second_colour"}
    kind = {"category": old.slots["category"]} if "category" in old.slots else {}
    texts = [positive(kind | {group: value}, old.noun) for group, value in rejected]
    if slots or "second_colour" in wanted.gone or not texts:
        text = positive(kind | slots, old.noun)
        texts.insert(0, text if slots or "second_colour" not in wanted.gone else text + _with_second_colour(old.slots))
    return ", ".join([*texts, *unwanted])


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
