"""Validity studies: whether a query is a well-formed composed image query, and if not, why (CIRCUS).

The canonical answer::

    {"validated": true | false | null, "flags": […], "reasons": ["1a", …], "note": "…",
     "alternatives": [tokens of the panel], "unsure": false, "panel_opened": false}

``flags`` are in order of severity, the other lists sorted, each entry once. ``validated`` true has
no flags and reasons. ``unsure`` leaves the item to an adjudicator: ``validated`` is then null, and flags are
only a hint. Answers of released files may also be false without any flag, or null.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from annotation.kinds.validity.rubric import Rubric, as_page, rubric_of
from annotation.records import Item, Study, Why
from annotation.studies.input_limits import NOTE_LIMIT
from annotation.studies.kinds import NOTHING, NormalizedAnswer, PlainKind, draft_text, text_of
from cir_core.errors import IncompleteJudgement
from cir_core.support.texts import printable, shortened

FIELDS = ("validated", "flags", "reasons", "note", "alternatives", "unsure", "panel_opened")
_LISTS = ("flags", "reasons", "alternatives")
_SWITCHES = ("unsure", "panel_opened")


class Validity(PlainKind):
    """:class:`annotation.studies.kinds.StudyKind` of validity studies. The rubric is that of the study's protocol."""

    sticky_fields = ("panel_opened",)   # the panel has been seen once it was opened
    usual_needs = ("unsure", "tie", "split")

    def normalize(
        self, answer: object, item: Item, study: Study, *, extra: Mapping[str, Any] = NOTHING
    ) -> NormalizedAnswer:
        """The canonical answer. Raises ``IncompleteJudgement``. Missing fields are empty. ``validated`` may be null
        with flags, which imply it. An unsure answer has no verdict, and needs no sub-reason and no note."""
        rubric = rubric_of(study)
        fields = _typed(answer)
        flags = _known("flags", fields["flags"], rubric.severity)
        reasons = _known("reasons", fields["reasons"], _reason_codes(rubric))
        flags, reasons = _asked(flags, reasons, rubric)
        _check_reasons(reasons, flags, rubric)
        unsure, validated, note = fields["unsure"], fields["validated"], text_of(fields["note"], "note")
        if unsure:
            _check_no_verdict(validated)
        else:
            _check_verdict(validated, flags, rubric)
            _check_complete(flags, reasons, note, rubric)
            if says := rubric.contradiction(flags | reasons):
                raise IncompleteJudgement(says)
            validated = not flags
        return NormalizedAnswer({
            "validated": validated, "flags": list(rubric.by_severity(flags)), "reasons": sorted(reasons), "note": note,
            "alternatives": sorted(_of_panel(fields["alternatives"], item)), "unsure": unsure,
            "panel_opened": fields["panel_opened"],
        }, unsure)

    def draft(
        self, answer: object, item: Item, study: Study, *, extra: Mapping[str, Any] = NOTHING
    ) -> Mapping[str, Any]:
        """The storable parts of an unfinished, possibly contradictory answer. Raises ``IncompleteJudgement`` for a
        note that cannot be stored."""
        rubric = rubric_of(study)
        given = answer if isinstance(answer, Mapping) else {}
        lists = {name: {value for value in of if isinstance(value, str)} if isinstance(of := given.get(name), list)
                 else set() for name in _LISTS}
        validated = given.get("validated")
        return {
            "validated": validated if isinstance(validated, bool) else None,
            "flags": list(rubric.by_severity(lists["flags"])),
            "reasons": sorted(lists["reasons"] & _reason_codes(rubric)),
            "note": draft_text(given, "note"),
            "alternatives": sorted(lists["alternatives"] & _panel(item)),
            **{name: given.get(name) is True for name in _SWITCHES},
        }

    def page(self, study: Study) -> Mapping[str, Any]:
        """The rubric, the study's own ``unsure_after`` and ``broad_at``, and ``note_limit``."""
        return as_page(rubric_of(study), study.settings) | {"note_limit": NOTE_LIMIT}

    def score(self, answer: Mapping[str, Any], expected: Mapping[str, Any]) -> float:
        """1 for the same verdict with a flag in common, a half for the same verdict with other flags."""
        if answer.get("validated") is None or answer["validated"] != expected.get("validated"):
            return 0.0
        flags, wanted = set(answer.get("flags", ())), set(expected.get("flags", ()))
        return 1.0 if flags & wanted or not wanted or not flags else 0.5

    def pattern(self, answer: Mapping[str, Any]) -> object:
        return answer.get("validated"), tuple(answer.get("flags", ())), tuple(answer.get("reasons", ()))

    def contradicts(self, answer: Mapping[str, Any], study: Study) -> bool | None:
        """Valid, with as many images marked as equally good as make a query too broad."""
        broad = study.settings.get("broad_at")
        if not answer.get("validated") or not isinstance(broad, int):
            return None
        return len(answer.get("alternatives", ())) >= broad

    def disputes(self, answers: Sequence[Mapping[str, Any]], study: Study) -> Collection[Why]:
        """:func:`disputes`."""
        return disputes(answers, rubric_of(study))

    def told(
        self, answer: Mapping[str, Any], item: Item, study: Study, *, extra: Mapping[str, Any] = NOTHING,
    ) -> str:
        rubric = rubric_of(study)
        if answer.get("validated"):
            return rubric.valid.name
        flags = [rubric.flag(code) for code in rubric.by_severity(answer.get("flags", ()))]
        reasons = [found[1].name for code in answer.get("reasons", ()) if (found := rubric.reason(code))]
        words = ", ".join(flag.name for flag in flags if flag) or ("Unsure" if answer.get("unsure") else "Not valid")
        return f"{words} ({', '.join(reasons)})" if reasons else words


def primary(answer: Mapping[str, Any], rubric: Rubric) -> str:
    """Primary category of a canonical answer: "VALIDATED", its most severe flag, "INVALID_UNSPECIFIED" if invalid
    without a flag, "UNLABELLED" without a verdict (unsure, or never answered)."""
    return rubric.category(answer.get("validated"), answer.get("flags", ()))


def signature(answer: Mapping[str, Any], rubric: Rubric) -> tuple[str, ...] | None:
    """All categories of a canonical answer, to compare two annotators. Flags in order of severity, or the primary
    category without flags; None without a verdict."""
    if (validated := answer.get("validated")) is None:
        return None
    flags = () if validated else rubric.by_severity(answer.get("flags", ()))
    return flags or (rubric.category(validated, ()),)


def disputes(answers: Sequence[Mapping[str, Any]], rubric: Rubric) -> list[Why]:
    """How canonical answers to an item differ: as many for valid as for invalid ("tie"), verdicts on both sides
    ("split"), or all invalid with different flags ("flags"); and "unsure"."""
    found: list[Why] = ["unsure"] if any(answer.get("unsure") for answer in answers) else []
    signatures = [given for answer in answers if (given := signature(answer, rubric)) is not None]
    valid = signatures.count((rubric.valid.code,))
    if 0 < valid < len(signatures):
        found.append("tie" if valid * 2 == len(signatures) else "split")
    elif len(set(signatures)) > 1:
        found.append("flags")
    return found


def _typed(answer: object) -> dict[str, Any]:
    """Type-checked fields; lists without duplicates, in the given order."""
    if not isinstance(answer, Mapping):
        raise IncompleteJudgement(f"A judgement is an object with {_listed(FIELDS)}, not {_kind(answer)}.")
    if unknown := [name for name in answer if name not in FIELDS]:
        raise IncompleteJudgement(f"A judgement has no field {_shown(unknown[0])}. Its fields are {_listed(FIELDS)}.")
    fields: dict[str, Any] = {
        "validated": _checked(answer, "validated", None, lambda value: isinstance(value, bool), "true, false or null"),
        "note": _checked(answer, "note", "", lambda value: isinstance(value, str), "a text"),
    }
    for name in _SWITCHES:
        fields[name] = _checked(answer, name, False, lambda value: isinstance(value, bool), "true or false")
    for name in _LISTS:
        fields[name] = list(dict.fromkeys(_checked(answer, name, (), _is_texts, "a list of texts")))
    return fields


def _checked(answer: Mapping[str, Any], name: str, empty: Any, fits: Callable[[Any], bool], wanted: str) -> Any:
    if (value := answer.get(name)) is None:
        return empty
    if not fits(value):
        raise IncompleteJudgement(f"“{name}” must be {wanted}, not {_kind(value)}.")
    return value


def _is_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)


def _known(field: str, codes: Iterable[str], known: Collection[str]) -> frozenset[str]:
    for code in codes:
        if code not in known:
            raise IncompleteJudgement(f"{_shown(code)} is not one of the rubric's {field}: {_listed(sorted(known))}.")
    return frozenset(codes)


def _asked(
    flags: frozenset[str], reasons: frozenset[str], rubric: Rubric
) -> tuple[frozenset[str], frozenset[str]]:
    """Without the flags that are not asked beside the others, and their reasons."""
    asked = rubric.asked(flags)
    left = {reason.code for flag in rubric.flags if flag.code in flags - asked for reason in flag.reasons}
    return asked, reasons - left


def _of_panel(tokens: Iterable[str], item: Item) -> frozenset[str]:
    panel = _panel(item)
    for token in tokens:
        if token not in panel:
            raise IncompleteJudgement(f"The image {_shown(token)}, marked as equally good, is not in this item's panel."
                                      " Reload the item and mark it again.")
    return frozenset(tokens)


def _check_reasons(reasons: Iterable[str], flags: Collection[str], rubric: Rubric) -> None:
    for code in sorted(reasons):
        found = rubric.reason(code)
        if found and found[0].code not in flags:
            raise IncompleteJudgement(f"The reason {code} “{found[1].name}” belongs to {_named(found[0].code, rubric)},"
                                      " which is not set. Set that flag, or remove the reason.")


def _check_verdict(validated: bool | None, flags: Collection[str], rubric: Rubric) -> None:
    if validated and flags:
        first = _named(rubric.by_severity(flags)[0], rubric)
        raise IncompleteJudgement(f"It is marked as valid and flagged as {first}. Remove one of the two.")
    if validated is None and not flags:
        raise IncompleteJudgement(f"Nothing is chosen yet. Set a flag or “{rubric.valid.name}”, or leave the item to an"
                                  " adjudicator with “unsure”.")
    if validated is False and not flags:
        raise IncompleteJudgement("It is marked as not valid, but no flag says why. Set at least one.")


def _check_no_verdict(validated: bool | None) -> None:
    if validated is not None:
        verdict = "valid" if validated else "not valid"
        raise IncompleteJudgement(f"It is marked as {verdict} and left to an adjudicator as well. Remove “unsure”, or"
                                  " leave the verdict open; flags may stay as a hint.")


def _check_complete(flags: Collection[str], reasons: Collection[str], note: str, rubric: Rubric) -> None:
    """In the order in which the questions are asked."""
    for flag in rubric.flags:
        if flag.code not in flags or not flag.reasons:
            continue
        given = [reason for reason in flag.reasons if reason.code in reasons]
        if not given:
            choices = "; ".join(f"{reason.code} {reason.name}" for reason in flag.reasons)
            raise IncompleteJudgement(f"{_named(flag.code, rubric)} needs a reason. Choose at least one: {choices}.")
        if not note and (unsaid := next((reason for reason in given if reason.needs_note), None)):
            raise IncompleteJudgement(f"{unsaid.code} “{unsaid.name}” needs a note. Say in a few words what it is.")


def _panel(item: Item) -> frozenset[str]:
    return frozenset(item.shown.get("panel", ()))


def _reason_codes(rubric: Rubric) -> frozenset[str]:
    return frozenset(reason.code for flag in rubric.flags for reason in flag.reasons)


def _named(code: str, rubric: Rubric) -> str:
    flag = rubric.flag(code)
    return f"“{flag.name}” ({code})" if flag else code


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "nothing"}
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "a number"
    return next((name for kind, name in names.items() if isinstance(value, kind)), "something else")


def _shown(value: object) -> str:
    return f"“{printable(shortened(value, 40))}”"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
