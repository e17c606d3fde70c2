"""More or less of what the last turn asked for: "a bit less", "too much", "even more", "the opposite"."""

from __future__ import annotations

from cir_core.garments.lexicon import BY_KEY, NONE
from cir_core.language.builtin.phrases import phrase
from cir_core.language.builtin.reading.edits import Edit, Edits, apply_edits, beyond, step, target
from cir_core.language.readers.dialogue.phrasing import Words, spoken, without_lead, without_trail
from cir_core.language.readers.dialogue.wishes import Talk
from cir_core.language.readers.pointing import request
from cir_core.language.readers.reader import Pointed

_LESS = spoken("less")
_TOO_MUCH = spoken("too_much")
_MORE = spoken("more")
_OPPOSITE = spoken("opposite")
_ROUND = spoken("other_way_round")
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
    """The value between the present and the earlier one; the earlier one where there is none."""
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
    group, before = target(edit), talk.slots(talk.last().reference_id)
    now = edit.value if edit.operation == "set" else talk.slots(talk.scene.reference_id).get(group)
    return now if now != before.get(group) else apply_edits(before, Edits((edit,))).get(group)


def _sign(edit: Edit, then: str | None) -> int:
    """Whether ``edit`` goes up or down its ladder from the value ``then``."""
    if edit.operation == "step":
        return 1 if edit.direction > 0 else -1
    if then is not None and then != edit.value:
        return 1 if edit.value in beyond(edit.group, then, 1) else -1
    return 1 if not beyond(edit.group, edit.value, 1) else -1
