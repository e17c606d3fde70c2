"""Validity items for a language model: the rubric that people read, as one text, and its answers as a form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.kinds.asking import Asked, Asking, ComparedQuestion, ShownImage, with_guidelines
from annotation.kinds.validity.answers import primary
from annotation.kinds.validity.rubric import UNLABELLED, Rubric, as_page, rubric_of
from annotation.records import Item, Study
from cir_core.language.tasks.forms import Form, FormField


def asked(item: Item, study: Study, extra: Mapping[str, Any]) -> Asked:
    """Reference, target and panel, as people see them; the panel's order is shuffled for all alike."""
    rubric, panel = rubric_of(study), item.shown.get("panel", ())
    names = tuple(f"panel {number}" for number in range(1, len(panel) + 1))
    reasons = [reason for flag in rubric.flags for reason in flag.reasons]
    noted = ", ".join(reason.code for reason in reasons if reason.needs_note)
    fields = [
        FormField("flags", "choices", "Every category that applies, by its code. None: the query is valid.",
                  tuple(flag.code for flag in rubric.flags)),
        *([FormField("reasons", "choices", "Of each flag that has reasons at least one, by its code.",
                     tuple(reason.code for reason in reasons))] if reasons else ()),
        FormField("note", "text", f"In a few words; needed for {noted}, else it may be empty." if noted else
                  "A remark in a few words; may be empty."),
        *([FormField("alternatives", "choices", "Images of the panel that fit as well as the target.", names)]
          if names else ()),
        FormField("unsure", "yes", "True only if you cannot tell, and leave the item to an adjudicator."),
    ]
    return Asked(
        Form(instructions(rubric, study), tuple(fields)), (str(item.shown["text"]),),
        (ShownImage("the reference image", item.shown["reference"]),
         ShownImage("the target image", item.shown["target"]),
         *(ShownImage(name, token, small=True) for name, token in zip(names, panel, strict=True))))


def instructions(rubric: Rubric, study: Study) -> str:
    page = as_page(rubric, study.settings)
    flags = [_category(flag) for flag in (*page["flags"], page["valid"])]
    flow = "\n".join(f"{number}. {question}" for number, question in enumerate(page["flow"], 1))
    return with_guidelines(study, page["intro"], flow, *flags, page["about_severity"], page["about_unsure"])


def _category(of: Mapping[str, Any]) -> str:
    lines = [f"{of['code']}, {of['name']}: {of['definition']}"]
    lines += [f"  Reason {one['code']}: {one['name']}" for one in of.get("reasons", ())]
    lines += [f"  Example. Reference: {one['reference']} Text: {one['text']}. Target: {one['target']} It is "
              f"{' '.join((one['verdict'], *one['reasons']))}: {one['because']}" for one in of["examples"]]
    return "\n".join(lines)


def answer(given: Mapping[str, Any], reason: str, item: Item, again: bool) -> Mapping[str, Any]:
    panel = item.shown.get("panel", ())
    fits = [panel[int(name.removeprefix("panel ")) - 1] for name in given.get("alternatives", ())]
    validated = None if given["unsure"] else not given["flags"]
    return {"validated": validated, "flags": given["flags"], "reasons": given.get("reasons", []), "note": given["note"],
            "alternatives": fits, "unsure": given["unsure"], "panel_opened": bool(panel)}


def _categories(study: Study) -> tuple[str, ...]:
    rubric = rubric_of(study)
    return (rubric.valid.name, *(flag.name for flag in rubric.flags), "Not valid, without a flag")


def _category_code(given: Mapping[str, Any], study: Study) -> Mapping[str, int]:
    rubric = rubric_of(study)
    code, codes = primary(given, rubric), (rubric.valid.code, *(flag.code for flag in rubric.flags))
    if code == UNLABELLED:
        return {}
    return {"": codes.index(code) if code in codes else len(codes)}


ASKING = Asking(
    asked, answer,
    lambda study: (
        ComparedQuestion("binary", "Valid or not", "nominal", lambda study: ("not valid", "valid"),
                         lambda given, study: {} if given.get("validated") is None else {"": int(given["validated"])}),
        ComparedQuestion("category", "Main category", "nominal", _categories, _category_code)))
