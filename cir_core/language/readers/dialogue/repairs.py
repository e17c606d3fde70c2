"""Texts that mend themselves ("without the bow, no wait, keep it"), and adjectives without their noun ("elbow was
right", "square it"), which the wishes before complete."""

from __future__ import annotations

from collections.abc import Sequence

from cir_core.language.builtin.reading.edits import Edits, target
from cir_core.language.builtin.reading.parse import parse_edits
from cir_core.language.readers.dialogue.degrees import without_judgement
from cir_core.language.readers.dialogue.phrasing import (
    LEAD,
    THE,
    Words,
    clauses,
    edits_in,
    groups,
    in_words,
    moved,
    part_of,
    spoken,
    without_lead,
    without_trail,
)
from cir_core.language.readers.dialogue.released import restored
from cir_core.language.readers.dialogue.wishes import Talk
from cir_core.language.readers.reader import WHOLE, Pointed

_REPAIRS = spoken("repair")
_GIVEN_UP = frozenset({"never mind", "no never mind", "actually never mind", "no forget it", "no forget that"})
_RESTORE = spoken("restore")
_KEEP = (*_RESTORE, *spoken("keep"))
_TURNING = frozenset({"no", "nope", "wait", "actually", "oh", "hmm", "hm", "nah", "sorry", "oops", "well"})
_ENDS = frozenset({"actually", "after", "all", "please", "now", "then", "again", "too", "though", "for", "me"})
_WAS = frozenset({"was", "were", "is", "are", "looked", "looks", "suited", "suits", "felt", "feels", "works", "worked",
                  "did", "would", "do", "will"})
_BEST = frozenset({"better", "best", "nicer", "prettier", "cuter", "lovelier", "cooler", "smarter", "sweeter",
                   "classier",
                   "right", "fine", "good", "ok", "okay", "perfect", "great", "nice", "lovely", "alright", "flattering",
                   "neater", "fancier", "enough", "fitting", "well", "favourite", "winner", "correct"})
_PRAISE = _WAS | _BEST | frozenset({
    "it", "then", "instead", "be", "just", "yes", "one", "after", "all", "please", "again", "actually", "more", "much",
    "a", "lot", "way", "though", "tbh", "really", "my", "the", "to", "honest", "before", "even", "me", "on", "for",
    "i", "think", "quite", "so", "still", "too"})
_BEFORE_IT = LEAD | THE | frozenset({"make", "try", "go", "with", "for", "in", "to", "it", "rather", "maybe", "perhaps",
                                     "just", "a", "an", "lets", "more", "only"})
_NOUNS = {"sleeves": "sleeves", "neckline": "neck", "length": "length", "fit": "fit"}
_BEGINNING = frozenset({"no", "wait", "actually", "scratch", "oh"})
_NO_REPAIR = frozenset({"what", "that", "as", "by", "which", "how"})   # "what i mean is"
_OF_HEMS = frozenset({"length", "knee", "knees", "mini", "midi", "maxi", "ankle", "ankles", "floor"})
_TOO = spoken("too_adjective")
_GOES = spoken("goes")
_NOT_TOO = spoken("moderation")
_THEM = frozenset({"them", "they", "theyre", "those", "these"})
_MOST_OF_THEM = 6
_MOST = 3          # words of what is completed
_MOST_WORDS = 14   # of a text in which it is


def repaired(words: Words, talk: Talk) -> Pointed | None:
    """A text that takes back what it has said: only what follows counts. A last turn that took something away is
    taken back by "no wait, keep it" alone."""
    known = _KEEP if _TURNING.intersection(words[: len(words) - len(without_lead(words))]) else _RESTORE
    kept = _rest_of_keeping(without_lead(words), known)
    if kept is not None and talk.turns and (text := restored(talk.wishes.last, talk)):
        return talk.taken(in_words([text, *([",", *kept] if kept else [])]))
    place, length = _repair(words)
    if not length:
        return None
    first, said = without_trail(words[:place]), in_words(words[place : place + length])
    then = without_lead(words[place + length :])
    asked = edits_in(in_words(first))
    if not asked:
        return None
    if not then and said in _GIVEN_UP | {"no leave it"}:
        return talk.taken(WHOLE)
    if (kept := _rest_of_keeping(then)) is not None:
        text = restored(asked, talk) or WHOLE
        return talk.taken(in_words([text, *([",", *kept] if kept else [])]))
    other, *more = clauses(then) or [()]
    part = part_of(without_lead(other))
    takes_away = all(edit.operation == "drop" for edit in asked)
    if part is not None and (takes_away or not part.is_thing) and (of_part := moved(asked, part)):
        rest = in_words([word for one in more for word in one])
        return talk.taken(f"{of_part} {rest}".replace(" ,", ",").strip())
    now = groups(edits_in(in_words(then)))
    if not now:
        return None
    left = [one for one in clauses(first) if (of := groups(edits_in(in_words(one)))) and not of & now]
    if len(left) == len(clauses(first)):
        left = left[:-1]   # another wish in the place of the last one
    return talk.taken(in_words([word for one in left for word in one] + ([","] if left else []) + [*then]))


def _repair(words: Words) -> tuple[int, int]:
    """Where a text begins anew, after its first words, and with how many words; 0 of them where it does not."""
    for place in range(1, len(words)):
        for known in _REPAIRS:
            end = place + len(known)
            begins = words[place - 1] in (",", ".", "but") or known[0] in _BEGINNING or (
                known == ("i", "mean") and words[place - 1] not in _NO_REPAIR)
            whole = len(known) > 1 or words[end : end + 1] in ((",",), (".",)) or known in (("wait",), ("nah",))
            if begins and whole and words[place:end] == known and _is_apart(words, place, known):
                return place, len(known)
    return 0, 0


def _is_apart(words: Words, place: int, known: Words) -> bool:
    """"No" before a wish may be its negation: "in red, no no stripes"; "wait" may be a verb."""
    return known != ("wait",) or words[place - 1] in (",", ".")


def _rest_of_keeping(words: Words, keeping: Sequence[Words] = _KEEP) -> Words | None:
    """What follows "keep it" in ``words``; None if they say anything else first."""
    for known in keeping:
        if words[: len(known)] == known:
            rest = words[len(known) :]
            while rest and rest[0] in _ENDS:
                rest = rest[1:]
            if not rest or rest[0] in (",", ".", "but", "and"):
                return without_lead(rest)
    return None


def completed(words: Words, talk: Talk) -> Words:
    """``words`` with the noun that an adjective lacks: after "long sleeves" an "elbow was right" is about sleeves."""
    words = without_judgement(words)
    if not talk.turns or len(words) > _MOST_WORDS:
        return words
    said: list[str] = []
    for clause in clauses(words):
        lead = [word for word in clause[:1] if word in (",", ".", "but")]
        said += [*lead, *_completed(clause[len(lead) :], words, talk)]
    return tuple(said) if without_lead(said) else words


def _completed(clause: Words, words: Words, talk: Talk) -> Sequence[str]:
    if of_sleeves := _of_sleeves(clause, talk):
        return of_sleeves
    if (gone := _gone(clause)):
        return gone
    if liked := next((one for one in spoken("liked_with") if clause[: len(one)] == one), None):
        return clause[len(liked) - 1 :]   # "I liked it better with the belt"
    bare = list(clause)
    while bare and bare[0] in _BEFORE_IT:
        bare.pop(0)
    praised = len(bare)
    while bare and bare[-1] in _PRAISE:
        bare.pop()
    if _OF_HEMS.intersection(clause) and (whole := parse_edits(in_words(clause))).edits and not whole.unused:
        return clause   # "knee is fine"
    if clause[:1] in (("no",), ("without",)) or clause[:2] == ("not", "even"):
        denied = clause[: len(clause) - praised + len(bare)]
        return ("no", *denied[2:]) if denied[0] == "not" else denied   # "no belt is fine"
    corrects = praised > len(bare) or (bool(clause) and clause[0] in LEAD)
    if not bare or len(bare) > _MOST:
        return clause
    read = parse_edits(" ".join(bare))
    if not (corrects or read.unused) or any(note.startswith("not understood") for note in read.notes):
        return clause
    recent = [*groups(edits_in(in_words(words))), *talk.wishes.recent()]
    how = clause[len(clause) - praised + len(bare) :] if praised > len(bare) else ()
    if read.edits:
        of_length = [edit for edit in read.edits if (edit.operation, edit.group) == ("set", "length")]
        if not (corrects and len(read.edits) == 1 and of_length and talk.wishes.recent()[:1] == ["sleeves"]
                and not _OF_HEMS.intersection(bare)):
            better = _is_wish(read) and how[:1] and how[0] in _WAS and _BEST.intersection(how)
            return bare if better else clause   # "the dots were cuter"
        recent = ["sleeves"]   # "long was right", after "short sleeves"
    for group in recent:
        text = f"{' '.join(bare)} {_NOUNS.get(group, '')}".strip()
        found = parse_edits(text)
        if group in _NOUNS and len(found.edits) == 1 and not found.unused and (
                (found.edits[0].operation, found.edits[0].group) == ("set", group)):
            return text.split()
    return clause


def _is_wish(read: Edits) -> bool:
    return not read.unused and all(edit.operation == "set" and edit.group != "category" for edit in read.edits)


def _of_sleeves(clause: Words, talk: Talk) -> Sequence[str]:
    """"Make them shorter", and "not so long", "too short" where the last turn asked for sleeves alone; () for anything
    else."""
    said = without_lead(without_trail(clause))
    plural = len(said) <= _MOST_OF_THEM and _THEM.intersection(said) and not _OF_HEMS.intersection(said)
    if plural and {target(edit) for edit in edits_in(in_words(said))} == {"length"}:
        return [word for one in said for word in (("the", "sleeves") if one in _THEM else (one,))]
    said = said[1:] if said[:1] in (("its",), ("thats",), ("theyre",)) else said
    adjective = said[-1:] in (("long",), ("short",)) and said[:-1] in _TOO
    return ("sleeves", *said) if adjective and groups(talk.wishes.last) == {"sleeves"} else ()


def moderate(words: Words) -> Words:
    """``words`` without "but not too short", which says how far another wish goes."""
    for place in range(1, len(words) - 2):
        known = next((one for one in _NOT_TOO if words[place : place + len(one)] == one), ())
        end = place + len(known) + 1
        if known and words[end : end + 1] in ((), (",",), (".",)) and _steps(words[:place]):
            return (*words[:place], *words[end:])
    return words


def _steps(words: Words) -> bool:
    edits = edits_in(in_words(words))
    return bool(edits) and edits[-1].operation == "step"


def _gone(clause: Words) -> Sequence[str]:
    """"The bow goes" as "without the bow", "checks in" as "with checks"; () for anything else."""
    said = without_trail(without_lead(clause))
    ending = next((one for one in (*_GOES, ("in",)) if said[-len(one) :] == one and len(said) > len(one)), ())
    named = said[: len(said) - len(ending)] if ending else ()
    if not named or len(named) > _MOST or not _is_wish(parse_edits(" ".join(named))):
        return ()
    return ["with" if ending == ("in",) else "without", *named]
