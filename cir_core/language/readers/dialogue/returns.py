"""The earlier turn that a text wants to see again, named by its wishes: "back to the buttons one", "where it was only
navy", "as it was before the belt"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from cir_core.garments.tables import table
from cir_core.language.acts import STRENGTH, Act, read_act
from cir_core.language.builtin.reading.edits import Edit, target
from cir_core.language.builtin.reading.foreign import translate
from cir_core.language.builtin.reading.parse import parse_edits
from cir_core.language.builtin.reading.reader import read
from cir_core.language.builtin.reading.vocabulary import tokenise
from cir_core.language.readers.dialogue.phrasing import Words, groups, spoken, without_lead, without_trail
from cir_core.language.readers.dialogue.wishes import Wishes
from cir_core.types.records import Turn

_MOST_WORDS = 16
_MOST_READ = 120   # characters
_BETTER_ONES = re.compile(r"(?:\w+ ){0,2}?(the [\w -]{3,30} ones?) (?:was|were|looked) (?:much |so much |far |way )?"
                          r"(?:better|nicer|prettier|best)", re.IGNORECASE)
_WISHING = re.compile(r"\b(?:want|need|please|prefer|give|show|make|rather|can i|could i|may i|let['’]?s)\b",
                      re.IGNORECASE)
_OF_THAT = re.compile(r"\b(?:put|bring|give|turn|change) (?:it|that|them|those)\b", re.IGNORECASE)   # named before
_ASKED = frozenset({"value", "step", "part", "noun", "covering"})   # kinds of words about garments
_SHOWN = re.compile(r" (?:that )?(?:you|we|i) (?:showed|had|saw|gave|found)(?: me| us)?"
                    r"(?: first| before| earlier| at first)?$")
_CLAUSE = re.compile(r"[,.;!?\n…]+| and (?=start|begin|go|take|show)")
_ASKING = frozenset({"lets", "let", "us", "can", "could", "would", "you", "we", "i", "want", "to", "like", "id",
                     "please", "kindly",
                     "just", "think", "rather", "maybe", "should", "ok", "yeah", "and", "then", "now"})
_BACK = spoken("back_to")
_WHERE = spoken("when_it_was")
_BEFORE = spoken("before")
_ONES = frozenset({"one", "ones", "version", "versions", "result", "results", "suggestions", "suggestion", "turn",
                   "step",
                   "search", "picture", "pictures", "option", "options", "variant"})
_ONLY = frozenset({"only", "just", "still", "simply", "plainly", "the", "a", "an", "all"})
_BETTER = frozenset({"more", "better", "most", "best"})
_LIKED = spoken("liked")


def returning(text: str, turns: Sequence[Turn]) -> Act | None:
    """The act that shows again the one of ``turns`` (of a branch, the last is shown) that the whole of ``text`` means
    by what it asked for; None where it means none. Never fails."""
    words = without_lead(tuple(tokenise(translate(text).text)))
    if len(turns) < 2 or not 2 <= len(words) <= _MOST_WORDS or "," in words or "but" in words:
        return None
    wishes = Wishes(turns)
    if (rest := _after(words, _LIKED)) is not None:
        return _liked(without_trail(rest), wishes)
    said = without_trail(_SHOWN.sub("", " ".join(words)).split())
    back = _after(_without(said, _ASKING), _BACK)
    named = _without(said if back is None else back, frozenset())
    if (rest := _after(named, _BEFORE)) is not None and (edits := _named(rest)):
        return _shown(_first(edits, wishes) - 1)
    if back is None:
        return None
    if (rest := _after(back, _WHERE)) is not None:
        return _shown(_latest(_named(rest), wishes, only=bool({"only", "just", "all"}.intersection(back))))
    if back[1:2] == ("first",):   # "the first blue ones", also where all since are blue
        asked = _of_one((back[0], *back[2:]))
        return _shown(_first(asked, wishes, latest=False) or -1) if asked else None
    return _shown(_latest(_of_one(back), wishes))


def act_after_talk(text: str, turns: Sequence[Turn]) -> Act | None:
    """The act that the last clauses of ``text`` ask for, after others that ask for nothing, or find fault with what is
    undone: "this leads nowhere, start from scratch", "a wedding cake! Undo that". Never fails."""
    found: list[Act] = []
    clauses = [one for one in _CLAUSE.split(text[:_MOST_READ + 1]) if one.strip()]
    undoes = any((act := read_act(one)) is not None and act.kind in ("undo", "start over") and not _OF_THAT.search(one)
                 for one in clauses[:_MOST_WORDS])
    for clause in clauses if len(text) <= _MOST_READ else ():
        better = _BETTER_ONES.fullmatch(clause.strip())
        act = read_act(clause) or returning(f"back to {better[1]}" if better else clause, turns)
        if act is not None and (act.kind != "others" or len(clause.split()) > 1):   # "no" alone begins much
            found.append(act)
            continue
        if read_act(f"undo, {clause}") is not None:
            continue   # "quickly"
        asks = any(item.kind in _ASKED for item in read(clause)[0]) or not _wishes().isdisjoint(tokenise(clause))
        if found or ((asks or parse_edits(clause).edits) and (not undoes or _WISHING.search(clause))):
            return None
    return max(found, key=lambda act: (STRENGTH[act.kind], act.number)) if found and len(clauses) > 1 else None


@cache
def _wishes() -> frozenset[str]:
    """Words of vague wishes: "for a wedding, show me others" asks for more than others."""
    return frozenset(word for words in table("wishes")["words"].values() for word in words.split())


def _liked(words: Words, wishes: Wishes) -> Act | None:
    """"I liked the orange one more": where nothing else was asked since."""
    while words and words[-1] in _BETTER:
        words = words[:-1]
    edits = _of_one(words)
    place = _latest(edits, wishes)
    now, then = wishes.holding(len(wishes.turns)), wishes.holding(max(place, 0))
    changed = {group for group in {*now, *then} if now.get(group) != then.get(group)}
    return _shown(place) if edits and changed <= groups(edits) else None


def _of_one(words: Words) -> tuple[Edit, ...]:
    """What "the red one" and "the version with a belt" name; () where no picture or turn is meant."""
    if not words or words[0] not in ("the", "that", "those", "my", "our"):
        return ()
    edits = _named(tuple(word for word in words if word not in _ONES))
    return edits if _ONES.intersection(words) or len(edits) > 1 else ()   # "the grey crew necks"


def _named(words: Words) -> tuple[Edit, ...]:
    """The values that ``words`` name, and nothing else."""
    read = parse_edits(" ".join(_without(words, _ONLY)))
    plain = all(edit.operation in ("set", "drop") and edit.group != "category" for edit in read.edits)
    return read.edits if plain and not read.unused and not read.noun else ()


def _latest(edits: Sequence[Edit], wishes: Wishes, *, only: bool = False) -> int:
    """The number of the last turn before the one shown after which ``edits`` held, alone where ``only``; -1 if there is
    none, or they still hold."""
    def held(number: int) -> bool:
        holding = wishes.holding(number)
        return all(_answers(holding.get(target(edit)), edit) for edit in edits) and (
            not only or holding.keys() <= groups(edits))

    if not edits or held(len(wishes.turns)):
        return -1
    return next((number for number in range(len(wishes.turns) - 1, 0, -1) if held(number)), -1)


def _answers(holding: Edit | None, edit: Edit) -> bool:
    if holding is None or holding.operation != edit.operation:
        return False
    return edit.value in (holding.value, *holding.either)


def _first(edits: Sequence[Edit], wishes: Wishes, *, latest: bool = True) -> int:
    """The turn that asked for ``edits``, the last one that did, or the first; 0 if none did."""
    def asked(number: int) -> bool:
        return all(any(_answers(one, edit) and target(one) == target(edit) for one in wishes.edits[number - 1])
                   for edit in edits)

    numbers = range(1, len(wishes.turns) + 1)
    return next((number for number in (reversed(numbers) if latest else numbers) if asked(number)), 0)


def _shown(number: int) -> Act | None:
    if number < 0:
        return None
    return Act("turn", number) if number else Act("start over")


def _without(words: Words, small: frozenset[str]) -> Words:
    start = 0
    while start < len(words) and words[start] in small:
        start += 1
    return words[start:]


def _after(words: Words, known: Sequence[Words]) -> Words | None:
    return next((words[len(one) :] for one in known if words[: len(one)] == one and len(words) > len(one)), None)
