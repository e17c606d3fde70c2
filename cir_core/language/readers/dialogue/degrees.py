"""More or less of what the last turn asked for: "a bit less", "too much", "even more", "the opposite"."""

from __future__ import annotations

from cir_core.garments.lexicon import BY_KEY, NONE
from cir_core.language.builtin.phrases import phrase
from cir_core.language.builtin.reading.edits import Edit, beyond, step, target
from cir_core.language.readers.dialogue.phrasing import Words, phrases, without_lead, without_trail
from cir_core.language.readers.dialogue.wishes import Talk
from cir_core.language.readers.pointing import request
from cir_core.language.readers.reader import Pointed

_LESS = phrases(
    "less", "a bit less", "a little less", "slightly less", "somewhat less", "a touch less", "a tad less", "bit less",
    "less so", "less of it", "less of that", "not so much", "not that much", "not quite so much", "not as much",
    "not so extreme", "less extreme", "a bit less extreme", "not that extreme", "less drastic", "less than that",
    "a bit less than that", "tone it down", "tone it down a bit", "tone that down", "dial it back", "dial it down",
    "half of that", "half that", "half as much", "only half", "only a bit", "just a bit", "only a little",
    "just a little", "too far", "a step less", "one step less", "halfway", "half way", "half way back", "halfway back",
    "in between", "in the middle", "something in between", "somewhere in between", "somewhere in the middle",
    "something in the middle", "between the two", "between", "not quite that much", "a notch less", "a smidge less",
    "way less", "much less", "a lot less", "less please")
_TOO_MUCH = phrases(
    "too much", "a bit too much", "bit too much", "a little too much", "way too much", "far too much", "much too much",
    "thats too much", "that is too much", "that was too much", "this is too much", "its too much", "it is too much",
    "thats a bit much", "a bit much", "thats a bit too much", "that is a bit too much", "over the top", "too extreme",
    "thats too extreme", "a bit extreme", "you went too far", "that went too far", "went too far", "overdone",
    "exaggerated", "thats exaggerated", "a bit too", "a little too", "its too", "is too", "now its too much", "thats way too much", "thats much too much", "too strong")
_MORE = phrases(
    "more", "even more", "a bit more", "a little more", "slightly more", "still more", "much more", "a touch more", "a tad more",
    "bit more", "more so", "even more so", "not enough", "thats not enough", "still not enough", "not quite enough",
    "thats not quite enough", "that is not enough", "further", "go further", "even further", "a step further",
    "one step further", "a step more", "one step more", "more extreme", "a bit further", "could be more",
    "a lot more", "more than that", "even more than that", "a bit more than that", "double that", "way more", "and more",
    "more again", "again a bit more", "and again", "once more the same", "the same again", "same again")
_OPPOSITE = phrases(
    "the opposite", "opposite", "exactly the opposite", "the other way", "other way", "the other direction",
    "in the other direction", "other direction", "the reverse", "the contrary", "on the contrary", "the other extreme",
    "quite the opposite", "do the opposite", "the opposite of that", "wrong direction", "wrong way", "the wrong way",
    "the wrong direction", "thats the wrong direction", "that is the wrong direction", "i meant the opposite")
_ROUND = phrases("the other way round", "other way round", "the other way around", "other way around", "vice versa",
                 "conversely", "the reverse of that")
_SCALES = ("sleeves", "length", "fit", "neckline")
_COMPARED = {("sleeves", 1): "longer sleeves", ("sleeves", -1): "shorter sleeves", ("length", 1): "longer",
             ("length", -1): "shorter", ("fit", 1): "looser", ("fit", -1): "tighter", ("neckline", 1): "lower neck",
             ("neckline", -1): "higher neck", ("shade", 1): "darker", ("shade", -1): "lighter"}


def scaled(words: Words, talk: Talk) -> Pointed | None:
    """``words`` as a request about what the last turn asked; None where they say anything else."""
    said = without_trail(words)
    way = next((way for way, known in ((_back, _LESS), (_back, _TOO_MUCH), (_on, _MORE), (_opposite, _OPPOSITE))
                if said in known), None)
    if way is None or not talk.turns:
        return None
    edit = next((edit for edit in reversed(talk.wishes.last) if edit.operation in ("set", "step")), None)
    text = way(edit, talk) if edit else ""
    return talk.taken(text) if text else None


def without_judgement(words: Words) -> Words:
    """``words`` without "too much" before other ones: "too much, elbow was right"."""
    lead = without_lead(words)
    for known in _TOO_MUCH + _LESS + _OPPOSITE + _ROUND:
        rest = lead[len(known) :]
        if lead[: len(known)] == known and rest and rest[0] in (",", "."):
            return without_lead(rest)
    return words


def _back(edit: Edit, talk: Talk) -> str:
    """Between what there is and what there was; what there was, where nothing is between."""
    group, last = target(edit), talk.last()
    if group not in (*_SCALES, "colour") or (group == "colour" and edit.group != "shade"):
        return "" if edit.operation != "set" else _taken_back(edit, talk)
    now, then = _now(edit, talk), talk.slots(last.reference_id).get(group)
    if now is None or then is None or now == then:
        return _COMPARED[edit.group, -_sign(edit, then)]
    if group in _SCALES:
        up = _sign(Edit("set", group, now), then) > 0
        between = (beyond(group, then, 1) & beyond(group, now, -1)) if up else (
            beyond(group, then, -1) & beyond(group, now, 1))
        if named := [value for value in BY_KEY[group].keys if value in between]:
            return " or ".join(request(group, value) for value in named)
    return request(group, then)


def _on(edit: Edit, talk: Talk) -> str:
    group = target(edit)
    if edit.group not in (*_SCALES, "shade"):
        return ""
    then = talk.slots(talk.last().reference_id).get(group)
    return _COMPARED[edit.group, _sign(edit, then)]


def _opposite(edit: Edit, talk: Talk) -> str:
    """Of what there was before: after "shorter" it is longer than at first."""
    if edit.operation != "step" or edit.group not in (*_SCALES, "shade"):
        return ""
    group, sign = target(edit), -_sign(edit, None)
    then = talk.slots(talk.last().reference_id).get(group)
    nearest = step(edit.group, then, sign) if then else None
    if nearest is None or group == "colour":
        return _COMPARED[edit.group, sign]
    found = [nearest, *(value for value in BY_KEY[group].keys if value in beyond(group, then or "", sign) - {nearest})]
    return " or ".join(request(group, value) for value in found)


def _taken_back(edit: Edit, talk: Talk) -> str:
    """"Too much" of a belt or of stripes: none."""
    if edit.group in ("trim", "pattern") and edit.value not in (NONE, "plain"):
        return f"no {phrase(edit.group, edit.value)}"
    return talk.value(edit.group, talk.last()) if edit.group == "colour" else ""


def _now(edit: Edit, talk: Talk) -> str | None:
    return edit.value if edit.operation == "set" else talk.slots(talk.scene.reference_id).get(target(edit))


def _sign(edit: Edit, then: str | None) -> int:
    """Whether ``edit`` goes up or down its ladder from the value ``then``."""
    if edit.operation == "step":
        return 1 if edit.direction > 0 else -1
    if then is not None and then != edit.value:
        return 1 if edit.value in beyond(edit.group, then, 1) else -1
    return 1 if not beyond(edit.group, edit.value, 1) else -1
