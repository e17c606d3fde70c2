"""Acts in words that no table has, by the classifier of :mod:`cir_core.language.intents`: "my husband preferred it a
moment ago", "is this really all there is". What the text names decides whether it can be meant, and which turn."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from cir_core.garments.tables import table
from cir_core.language.acts import Act
from cir_core.language.builtin.reading.attitudes import things
from cir_core.language.builtin.reading.edits import Edit, target
from cir_core.language.builtin.reading.foreign import translate
from cir_core.language.builtin.reading.parse import parse_edits
from cir_core.language.builtin.reading.reader import read
from cir_core.language.builtin.reading.vocabulary import tokenise
from cir_core.language.intents import THING, classifier, of_acts
from cir_core.language.readers.dialogue.earlier import resolve
from cir_core.language.readers.dialogue.wishes import Wishes
from cir_core.language.readers.scene import Scene
from cir_core.types.records import Turn

#: Probability of an act from which it is taken: where the rules make nothing of the text; something, but not of all of
#: it; where what they read does not fit to the act; and where they find an earlier turn in it.
ALONE, BESIDE, AGAINST, FOUND = 0.5, 0.6, 0.9, 0.95
_FEWEST_WORDS, _MOST_WORDS = 3, 60   # shorter commands are in the tables
_BACK = ("undo", "start over", "earlier")   # those that show an earlier turn
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_TURN = ("one|turn|step|search|result|suggestion|answer|try|attempt|round|set|batch|lot|page|idea|request|time|version"
         "|option|pick|choice|list|look|thing|change|move|message|go")
_NTH = re.compile(rf"\b({'|'.join(_ORDINALS)}|[1-9](?:st|nd|rd|th)) (?:\w+ )?(?:{_TURN})e?s?\b")
_NAMED = re.compile(rf"\b(?:turn|step|search|round|number|request|answer) (?:number |no )?"
                    rf"([1-9]|{'|'.join(_NUMBERS)})\b")
_AGO = re.compile(rf"\b({'|'.join(_NUMBERS)}|couple of|couple|few|[1-9]) (?:{_TURN})e?s? "
                  r"(?:ago|earlier|back|before)\b")
_STEPS = re.compile(rf"\b({'|'.join(_NUMBERS[1:])}|couple of|couple|[2-9]) (?:{_TURN})e?s?\b")
_TWICE = re.compile(r"\btwice\b")
_BACK_BY = re.compile(rf"\b({'|'.join(_NUMBERS[1:])}|couple|few|[2-9]) (?:\w+ )?(?:back|before (?:this|that))\b")
_WENT_WRONG = re.compile(r"\b(?:mistake|wrong|stupid|silly|cancel|regret|error|shouldnt have|bad idea)\b")
_START = re.compile(r"\b(?:first|start|beginning|originally|initially|outset)\b")
_ALL = re.compile(r"\b(?:everything|outset|beginning|anew|wipe (?:the|my) slate|slate clean|square one|from scratch"
                  r"|blank|all of it|when (?:i|we) (?:opened|came|arrived|started|began))\b")
# Not the picture.
_ASKED = re.compile(r"\bfirst (?:\w+ ){1,3}(?:asked|wanted|said|searched|typed|requested|told)\b")
_LIKING = re.compile(r"\b(?:liked?|prefer(?:red)?|loved?)\b")   # no command
_ONLY = re.compile(r"\b(?:only|just|merely|nothing but|all (?:i|id|ive|we|wed))\b")

# Wishes, unlike "back to the yellow one": "back to yellow", "back to turn 2, but longer".
_WISHED = re.compile(rf"\bback to (?:{THING}|(?:turn|step|search) \w+ ,)|(?:^|[.,] ){THING} again\b")

Pair = tuple[str, str]


def intended(text: str, turns: Sequence[Turn]) -> Act | None:
    """The act that ``text`` most probably asks for after ``turns`` (of a branch, the last is shown); None for a
    request, for talk, and where there are no turns. Never fails."""
    said = translate(text).text
    words, places = things(said)
    plain = " ".join(words)
    if not turns or not _FEWEST_WORDS <= len(words) <= _MOST_WORDS or _WISHED.search(plain):
        return None
    likely = classifier("acts").probabilities(of_acts(words))
    wishes, named = Wishes(turns), [pair for pair in places if pair[0] != "category"]
    back = sum(likely[kind] for kind in _BACK)
    if likely["others"] > max(back, likely["wish"], likely["talk"]):
        return Act("others") if likely["others"] >= _least("others", text, said, named, wishes) else None
    if back < max(ALONE, likely["wish"], likely["talk"]):
        return None
    kind = max(_BACK, key=lambda one: likely[one])
    numbered = kind != "start over" or _ASKED.search(plain) or _NAMED.search(plain)
    if numbered and back >= _least("earlier", text, said, named, wishes):
        number = _turn(plain, named, wishes)
        sure = FOUND if _LIKING.search(plain) else AGAINST
        if number is not None and (back >= sure or not named or _differs_in(number, named, wishes)):
            return Act("turn", number) if number else Act("start over")
    if kind == "earlier" or _NTH.search(plain):
        if named or back < AGAINST or _NTH.search(plain):
            return None
        kind = "undo"   # "show me the earlier ones"
    if back < _least(kind, text, said, named, wishes):
        return None
    return Act("start over") if kind == "start over" or _ALL.search(plain) else Act("undo", _steps(plain))


def _least(kind: str, text: str, said: str, named: Sequence[Pair], wishes: Wishes) -> float:
    """The probability that is needed of ``kind``; over 1 where the text names a part, of which the readers of dialogues
    know more, and for an undo of what the last turn did not ask for: "I liked the stripes, put them back"."""
    of_part = any(not value for _, value in named)
    fits = kind == "earlier" or _fits(kind, named, wishes)
    if (of_part and kind not in ("undo", "earlier")) or (kind == "undo" and not fits):
        return 2.0
    kinds = {item.kind for item in read(said)[0]}
    understood = resolve(said, _scene(wishes.turns)) is not None
    if _ALL.search(said.lower()) and kind == "start over":
        return BESIDE if parse_edits(text).edits else ALONE
    if understood:
        return FOUND
    if (kind == "earlier" and of_part) or not fits:
        return AGAINST
    if kind == "others" and not _vague().isdisjoint(tokenise(said)):
        return AGAINST   # "it is for a wedding, show me others" asks for more than others
    if "keep" in kinds or ("pointer" in kinds and kind in ("others", "start over")):
        return AGAINST   # "keep the rest as it was", "more like the third picture"
    edits = parse_edits(text)
    if kind == "earlier" or not edits.edits:
        return BESIDE if kind == "earlier" else ALONE
    return BESIDE if edits.unused else AGAINST   # "the other way round"


@cache
def _vague() -> frozenset[str]:
    """Words of vague wishes."""
    return frozenset(word for words in table("wishes")["words"].values() for word in words.split())


def _scene(turns: Sequence[Turn]) -> Scene:
    captions = {turn.reference_id: turn.caption for turn in turns}
    return Scene(turns, turns[-1].reference_id, lambda image_ids: [captions.get(one, "") for one in image_ids])


def _fits(kind: str, named: Sequence[Pair], wishes: Wishes) -> bool:
    """Whether what a text names can be what the act is about: all of it was asked for, for an undo in the last turn."""
    edits: Sequence[Edit] = wishes.last if kind == "undo" else [edit for some in wishes.edits for edit in some]
    return {pair for edit in edits for pair in (*_pairs(edit), (target(edit), ""))}.issuperset(named)


def _pairs(edit: Edit) -> list[Pair]:
    return [(edit.group, one) for one in (edit.value, *edit.either)]


def _steps(text: str) -> int:
    found = _STEPS.search(text) or _BACK_BY.search(text)
    return _number(found[1]) if found else 2 if _TWICE.search(text) else 1


def _number(word: str) -> int:
    for words in (_NUMBERS, _ORDINALS):
        if word in words:
            return words.index(word) + 1
    return int(word[0]) if word[0].isdigit() else 3 if word == "few" else 2


def _turn(text: str, named: Sequence[Pair], wishes: Wishes) -> int | None:
    """The number of the turn before the last one that the text means, by its number or by what it ``named``; 0 for the
    beginning."""
    shown = len(wishes.turns)
    number: int | None = None
    if found := _NTH.search(text) or _NAMED.search(text):
        number = _number(found[1]) - bool(_WENT_WRONG.search(text))   # "my third request was a mistake"
    elif found := _AGO.search(text):
        number = shown - _number(found[1])
    elif named:
        number = _by_wishes(text, named, wishes)
    return number if number is not None and 0 <= number < shown else None


def _by_wishes(text: str, named: Sequence[Pair], wishes: Wishes) -> int | None:
    """By values that were asked for or refused; a part stands for what was asked of it."""
    shown = len(wishes.turns)
    parts = {group for group, value in named if not value}
    asked = [{pair for edit in edits if edit.operation != "drop" or target(edit) in parts for pair in (*_pairs(edit), *(
        [(target(edit), "")] if target(edit) in parts else []))} for edits in wishes.edits]
    if THING in text.partition("before ")[2].partition(".")[0]:
        first = next((at for at in range(shown, 0, -1) if asked[at - 1].intersection(named)), None)
        return None if first is None else first - 1
    holding = [wishes.holding(number) for number in range(shown + 1)]
    had = _had(holding, named, refused=False)
    if not any(had):
        had = _had(holding, named, refused=True)   # "when I'd only said no flowers"
    if _ONLY.search(text):
        alone = [number for number in range(1, shown) if had[number] and len(holding[number]) == had[number]]
        return alone[0] if alone else None
    best = max(had[1:shown], default=0)
    earliest = _START.search(text)
    if not best or (had[shown] >= best and not earliest):
        return None
    numbers = [number for number in range(1, shown) if had[number] == best]
    return numbers[0] if earliest else numbers[-1]


def _differs_in(number: int, named: Sequence[Pair], wishes: Wishes) -> bool:
    """Whether what was asked since the turn ``number`` is of the attributes that are ``named`` alone, so that nothing
    else is lost."""
    now, then = wishes.holding(len(wishes.turns)), wishes.holding(number)
    return {group for group in {*now, *then} if now.get(group) != then.get(group)} <= {group for group, _ in named}


def _had(holding: Sequence[Mapping[str, Edit]], named: Sequence[Pair], *, refused: bool) -> list[int]:
    """How many of the values ``named`` hold after each number of turns."""
    return [len({pair for edit in held.values() if (edit.operation == "drop") is refused for pair in _pairs(edit)}
                .intersection(named)) for held in holding]
