"""Aspects of the wanted garment by rules: every attribute group with the values that satisfy it. Vague wishes and
the concrete requests that may be meant: "more formal", "for summer"."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from cir_core.garments.lexicon import CATEGORY, GROUPS, NONE, SECOND_COLOUR, Group
from cir_core.garments.tables import table
from cir_core.garments.zero_shot import prompts
from cir_core.language.builtin.captions import Caption
from cir_core.language.builtin.phrases import phrase
from cir_core.language.builtin.reading.edits import Edits, apply_edits, target
from cir_core.language.builtin.reading.foreign import translate
from cir_core.language.builtin.reading.ordering import Piece, typed
from cir_core.language.builtin.reading.parse import interpret, parse_edits
from cir_core.language.builtin.reading.reader import CHATTY, read
from cir_core.language.builtin.reading.vocabulary import tokenise
from cir_core.language.builtin.wanted import Wanted, understand
from cir_core.language.tasks import AspectAnswer, AspectsAnswer

_MOST = 4
_BETWEEN = ("and", "but", ",", ".")
_DANGLING = (*_BETWEEN, "or", "with", "for")   # at the end of what is left


@cache
def _wishes() -> dict[str, str]:
    """Word to wish."""
    return {word: wish for wish, words in table("wishes")["words"].items() for word in words.split()}


@cache
def _small(*kinds: str) -> frozenset[str]:
    return frozenset(word for kind in kinds for word in table("wishes")[kind].split())



def choices(reference: Caption, modification_text: str) -> tuple[str, ...]:
    """Texts in the place of ``modification_text``, each with one concrete reading of its first vague wish that would
    change ``reference``; () if there is none."""
    if not reference.is_garment:
        return ()
    modification_text = translate(modification_text).text
    edits = parse_edits(modification_text)
    if edits.pieces:
        return _of_the_whole(reference, edits)
    words = tokenise(modification_text)
    of_word, wishes = _wishes(), table("wishes")
    if len(words) > CHATTY or not any(word in of_word for word in words):
        return ()
    unused = {word.replace("a-line", "aline") for word in _words((*edits.unused, *edits.unwanted))}
    wished = [place for place, word in enumerate(words) if word in of_word and word in unused
              and not _small("material").intersection(words[place + 1 : place + 2])]
    if not wished:
        return ()
    place = wished[0]
    wish: str | None = of_word[words[place]]
    start, end = _around(words, place)
    if _small("colours").intersection(words[place + 1 : end]):
        wish = wishes["of_colours"].get(wish, wish)
    if _small("less") & set(words[start:place]):
        wish = wishes["opposites"].get(wish or "")
    spans = [_around(words, at) for at in wished]
    left = [word for at, word in enumerate(words) if not any(start <= at < end for start, end in spans)]
    small = {*_DANGLING, "of", *_small("before", "around")}
    rest = _understood(left, _words((*unused, edits.noun)) - small)
    if rest is None:
        return ()
    said = _groups(rest)
    found = [reading for reading in wishes["meant"].get(wish or "", ()) if not said & _groups(reading)
             and apply_edits(reference.slots, parse_edits(reading)) != reference.slots]
    return tuple(f"{rest}, {reading}" if rest else reading for reading in found[:_MOST])


def _of_the_whole(reference: Caption, edits: Edits) -> tuple[str, ...]:
    """What may be had in the place of a piece in another colour or pattern: "blue sleeves"."""
    items, _ = read(edits.pieces[0])
    colour = next((item.value_of("colour") for item in items if item.value_of("colour")), None)
    pattern = next((item.text for item in items if item.value_of("pattern")), None)
    found = [f"{colour} {pattern}" if colour else pattern] if pattern else []
    found += [f"with {colour} contrast trim", f"colour block with {colour}", f"all in {colour}"] if colour else []
    found += [] if colour else ["with contrast trim"]
    rest = _trimmed(list(edits.rest))
    texts = (f"{rest}, {one}" if rest else one for one in found)
    return tuple(text for text in texts if apply_edits(reference.slots, parse_edits(text)) != reference.slots)[:_MOST]


def _around(words: Sequence[str], place: int) -> tuple[int, int]:
    """From where to where the wish at ``place`` goes, with its small words."""
    start, end = place, place + 1
    while start and words[start - 1] in _small("before"):
        start -= 1
    while end < len(words) and words[end] in _small("after"):
        end += 1
    return start, end


def _groups(text: str) -> set[str]:
    return {target(edit) for edit in parse_edits(text).edits}


def _words(texts: Sequence[str]) -> set[str]:
    return {word for text in texts for word in text.split()}


def _understood(words: Sequence[str], unused: set[str]) -> str | None:
    """What is left of the text besides the wish, without the ``unused`` words, of which nothing was made; None if
    that would be another request."""
    clauses: list[list[str]] = [[]]
    for word in words:
        if word in _BETWEEN:
            clauses += [[word], []]
        elif word not in unused:
            clauses[-1].append(word)
        elif clauses[-1][-1:] and clauses[-1][-1] in ("a", "an", "the"):
            clauses[-1].pop()
    if not unused & set(words):
        return _trimmed(list(words))
    kept: list[str] = []
    for place in range(0, len(clauses), 2):
        clause = _trimmed(clauses[place])
        if clause and not parse_edits(clause).is_empty:
            kept += [*(clauses[place - 1] if kept else ()), clause]
    rest = " ".join(kept).replace(" ,", ",").replace(" .", ".")
    asked = parse_edits(" ".join(words))
    return rest if parse_edits(rest).edits == asked.edits and not unused & set(tokenise(rest)) else None


def _trimmed(words: list[str]) -> str:
    """What is left of the text besides the wish, without the small words at its ends."""
    if all(word in _small("before", "after", "around") for word in words):
        return ""
    start, end = 0, len(words)
    while words[start] in (*_BETWEEN, "or"):
        start += 1
    while words[end - 1] in _DANGLING:
        end -= 1
    return " ".join(words[start:end]).replace(" ,", ",").replace(" .", ".")


_LONGEST = 80   # label
_DENIALS = frozenset({"not", "without", "not any", "nor"})
_AS_SECOND = " as the second colour"
_OWNER = {"second_colour": "colour"}   # whose words it shares


def aspects(caption: str, modification_text: str) -> AspectsAnswer:
    """Groups that the text mentions, and those it leaves with the value in ``caption``. Of a text in another language
    the labels have its words, too: "red (rot)"."""
    wanted = understand(caption, modification_text)
    said = translate(modification_text).pieces
    category = wanted.slots.get("category") or wanted.reference.kind or _other_category(wanted)
    found = [_aspect(group, wanted, category) for group in GROUPS] if category else []
    return AspectsAnswer(
        aspects=tuple(_as_typed(one, wanted, said) for one in found if one), notes=wanted.notes,
        unused=tuple(dict.fromkeys(_typed(words, said) for words in _unused(wanted))),
        choices=choices(wanted.reference, modification_text),
    )


def _unused(wanted: Wanted) -> tuple[str, ...]:
    """Words that were left, another kind of thing, and what is to be removed that the reference does not have."""
    there = {word for extra in wanted.reference.extras for word in extra.split()}
    missing = (words for words in wanted.edits.unwanted if not there & set(words.split()))
    return tuple(dict.fromkeys((*wanted.edits.unused, *filter(None, [wanted.edits.noun]), *missing)))


def _as_typed(one: AspectAnswer, wanted: Wanted, said: Sequence[Piece]) -> AspectAnswer:
    """``one`` with the words of another language that ask for it."""
    group = one.name.replace(" ", "_")
    value = wanted.slots.get(group)
    exact: list[Piece] = []
    near: list[Piece] = []
    before: Piece | None = None
    for piece in said if one.asked else ():
        edits = interpret(piece.english).edits
        words = [before, piece] if before and before.english in _DENIALS else [piece]
        if any(edit.value == value and edit.group in (group, _OWNER.get(group)) for edit in edits):
            exact += words
        elif any(target(edit) == group for edit in edits):
            near += words
        before = piece
    label = f"{one.label} ({typed(exact or near)})"
    return one.model_copy(update={"label": label}) if (exact or near) and len(label) <= _LONGEST else one


def _typed(words: str, said: Sequence[Piece]) -> str:
    """``words`` of which nothing was made, in the language in which they are typed."""
    for piece in said:
        if words and (piece.english == words or piece.english.endswith(f" {words}")):
            return piece.typed
    return words


def _other_category(wanted: Wanted) -> str | None:
    """A category to speak of where only the reference's was rejected ("no dress"), or a thing is asked for that is
    none of them ("a blue jumper")."""
    if wanted.noun:
        return wanted.reference.slots.get("category")
    unwanted = "category" in wanted.gone
    return next((key for key in CATEGORY.keys if wanted.accepts("category", key)), None) if unwanted else None


def _aspect(group: Group, wanted: Wanted, category: str) -> AspectAnswer | None:
    # What went because something else came, such as the second colour with the pattern, is neither asked nor kept.
    asked = group.key in wanted.edited or (group.key in wanted.gone and group.key not in wanted.slots)
    if (not asked and group.key not in wanted.kept) or (group is CATEGORY and wanted.noun):
        return None
    fitting = [value for value in group.keys
               if (wanted.accepts(group.key, value) if asked else value == wanted.slots[group.key])]
    near = _near(group, wanted, fitting) if asked else []
    others = [*near, *(value for value in group.keys if value not in (*fitting, *near))]
    if not fitting or not others:
        return None
    if group.key in wanted.slots:
        label = _named(group, wanted, category)
    elif group.key in wanted.gone:
        label = f"not {phrase(group.key, wanted.gone[group.key], category)}"
    else:
        label = f"some {group.key.replace('_', ' ')}"   # there was none
    return AspectAnswer(
        name=group.key.replace("_", " "), label=label, asked=asked, held=not asked and group.key in _held(wanted),
        needed=not asked and group.key in _needed(wanted),
        wanted=_captions(group, fitting, category), others=_captions(group, others, category),
        near=len(near),
    )


def _near(group: Group, wanted: Wanted, fitting: Sequence[str]) -> list[str]:
    """Values that nearly satisfy: thin straps, where no sleeves are wanted; and any but what is to be gone, where
    nothing was named in its place: "without the flowers" is plain, and rather dots than flowers."""
    if fitting == ["sleeveless"]:
        return ["straps"]
    edits = wanted.edits.of(group.key)
    if group.key not in ("pattern", "trim") or not edits or any(edit.operation != "drop" for edit in edits):
        return []
    gone = {*(edit.value for edit in edits), wanted.gone.get(group.key)}
    return [] if "" in gone else [value for value in group.keys if value not in fitting and value not in gone]


def _held(wanted: Wanted) -> frozenset[str]:
    """Groups that stay beside a part which is named: a pink belt on this red, not on any other colour; and on this
    plain one, whose second colour is that of the belt alone. "Keep this but long": what is
    seen first of a garment."""
    edits = wanted.edits
    if edits.whole:
        return frozenset({"category", "colour", "pattern"})
    if edits.pieces:
        return frozenset({"colour", "pattern"})
    second = edits.of("second_colour")
    if any(edit.operation == "swap" for edit in edits.edits) or any(not edit.of_trim for edit in second):
        return frozenset({"colour", "pattern"})
    return frozenset({"colour", "trim", "pattern"} if second else ())


def _needed(wanted: Wanted) -> frozenset[str]:
    """Groups that stay and without which what is asked would be another thing: a second colour is that of the buttons
    on plain cloth alone; "the same dots on white" are dots of this colour."""
    edits = wanted.edits
    if any(edit.of_trim for edit in edits.of("second_colour")):
        return frozenset({"trim", "pattern"} if wanted.slots.get("pattern") == "plain" else {"trim"})
    kept = any(edit.operation == "keep" and edit.group in ("pattern", "trim") for edit in edits.edits)
    shown = wanted.slots.get("second_colour", NONE) != NONE
    return frozenset({"second_colour"} if kept and shown and edits.of("colour") else ())


def _named(group: Group, wanted: Wanted, category: str) -> str:
    """The values that are asked for; of many, what they are measured by: "brighter than black"."""
    named = dict.fromkeys([wanted.slots[group.key], *wanted.alternatives(group.key)])
    if len(named) > _MOST:
        sets = (edit for edit in wanted.edits.of(group.key) if edit.operation == "set")
        measure = next((edit.words for edit in sets if edit.words), "")
        if measure:
            return measure
    label = " or ".join(phrase(group.key, value, category) for value in list(named)[:_MOST])
    if group is SECOND_COLOUR:
        label = label.replace(_AS_SECOND, "", label.count(_AS_SECOND) - 1)   # "red or white as the second colour"
    return f"{label} or others" if len(named) > _MOST else label


def _captions(group: Group, values: Sequence[str], category: str) -> tuple[str, ...]:
    """Lengths are named in each category's words: a tunic is a long top, and nearer to a knee-length dress than to a
    long one."""
    categories = CATEGORY.keys if group.key == "length" else (category,)
    return tuple(prompts(group.key, value, one)[0] for one in categories for value in values)
