"""Methods in words: for the rail, the settings, the protocol card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from cir_core.errors import RULES_CAN
from cir_core.gallery.integrity import DAMAGE_NOTE
from cir_core.language.readers.reader import TAKEN
from cir_core.methods.declared import USUAL, Method, builtin_methods, name_of
from cir_core.methods.relevance import needs_relevance
from cir_core.methods.steps import STEPS, steps_of
from cir_core.search.far_pictures import UNLIKE
from cir_core.search.suggestions import Scarce
from cir_core.search.usual import UNREAD
from cir_core.types.composition import Usage
from cir_core.types.methods import MethodSettings, method_to_dict

Dict = dict[str, Any]

BASES = {
    "cirevl": "CIReVL", "text-only": "Text only", "image-only": "Image only", "slerp": "Slerp",
    "joint": "Joint encoder",
}
BASES_AT_LENGTH = {
    "cirevl": "CIReVL: caption, merge, encode", "text-only": "Text only", "image-only": "Image only",
    "slerp": "Slerp of image and text", "joint": "Composing encoder",
}
HISTORIES = {
    "feedback": "eq. 9, picked and marked images", "latest": "the latest turn only",
    "average": "the average of the turns", "weighted": "the turns, weighted towards later ones",
}


def method_title(settings: MethodSettings, methods: Mapping[str, Method]) -> str:
    name = name_of(settings, methods)
    return methods[name].title if name else "Custom"


def method_line(settings: MethodSettings, methods: Mapping[str, Method]) -> str:
    """The method in one line, e.g. for the button that opens the settings."""
    title = method_title(settings, methods)
    start = f"Custom: {_steps(settings)}" if title == "Custom" else title
    return " · ".join([start, *_numbers(settings)])


def _steps(settings: MethodSettings) -> str:
    steps = [BASES[settings.base]]
    steps += [step.label_of(own) for step, own in steps_of(settings)]
    return " + ".join(steps)


def _numbers(settings: MethodSettings) -> list[str]:
    found = []
    if settings.base == "slerp":
        found.append(f"text {settings.text_weight:g}")
    if settings.history == "feedback":
        found.append(f"α {settings.alpha:g} · β {settings.beta:g} · γ {settings.gamma:g}")
    elif settings.history == "weighted":
        found.append(f"decay {settings.decay:g}")
    return found + [figure for step, own in steps_of(settings) if (figure := step.figure(own))]


def method_rows(settings: MethodSettings) -> list[tuple[str, str]]:
    """What a protocol card says of the method."""
    base = BASES_AT_LENGTH[settings.base]
    rows = [("Method", f"{base}, text {settings.text_weight:g}" if settings.base == "slerp" else base)]
    if settings.history == "feedback":
        rows.append(("Feedback", f"α {settings.alpha:g}, β {settings.beta:g}, γ {settings.gamma:g}, "
                                 f"K {settings.feedback_depth}"))
    else:
        decay = f" (decay {settings.decay:g})" if settings.history == "weighted" else ""
        rows.append(("History", HISTORIES[settings.history] + decay))
    return rows + [step.summary(own) for step, own in steps_of(settings)]


def unusable(method: MethodSettings, cannot: str, unscored: str) -> str:
    """Why a method cannot be used here, or "". ``cannot``: why the encoder cannot compose, ``unscored``: why there is
    no relevance model."""
    if method.base == "joint" and cannot:
        return cannot
    return unscored if needs_relevance(method) else ""


def choices(
    settings: MethodSettings, methods: Mapping[str, Method], cannot: str = "", unscored: str = ""
) -> list[Dict]:
    """The methods of the settings drawer in their groups; ``cannot`` and ``unscored`` as of :func:`unusable`."""
    current = name_of(settings, methods)
    rows = [{
        "name": method.name, "title": method.title, "source": method.source, "group": _group(method),
        "chosen": method.name == current, "settings": method_to_dict(method.settings, whole=True),
        "reason": unusable(method.settings, cannot, unscored),
    } for method in methods.values()]
    usual, *others = dict.fromkeys((_group(methods[USUAL]), *(step.label for step in reversed(STEPS.values()))))
    titles = (usual, "Base methods", "History", *others, "Yours")
    groups = [{"title": title, "methods": [row for row in rows if row["group"] == title]} for title in titles]
    if current is None:
        groups.insert(0, {"title": "In use", "methods": [{
            "name": "custom", "title": "Custom", "source": method_line(settings, methods).removeprefix("Custom: "),
            "chosen": True, "settings": method_to_dict(settings, whole=True), "reason": "",
        }]})
    return [group for group in groups if group["methods"]]


def _group(method: Method) -> str:
    if method.name not in _own():
        return "Yours"
    if (first := next(steps_of(method.settings), None)) is not None:
        return first[0].label
    return "Base methods" if method.settings.history == "feedback" else "History"


@lru_cache(maxsize=1)
def _own() -> frozenset[str]:
    return frozenset(builtin_methods())


def usage(used: Usage, language_model: str) -> Dict:
    """What language models did for a turn, ready to be shown."""
    asked = bool(used.calls or used.cached)
    return {
        "asked": asked, "calls": used.calls, "cached": used.cached, "model": language_model,
        "prompt": f"{used.prompt_tokens:,}", "answer": f"{used.completion_tokens:,}",
        "tokens": used.prompt_tokens + used.completion_tokens > 0,
        "cost": "" if used.cost is None else f"{used.cost:.4f}".rstrip("0").rstrip(".") or "0",
        "models": [name for name in used.models if name != language_model],
        "rules": not asked and language_model.startswith("built-in"),
    }


_WARNINGS = (
    UNLIKE, UNREAD, DAMAGE_NOTE, "the built-in language model answered instead", "stopped after",
    "there are no constraints to filter by", "the marks were not used", "this session began with",
    "the built-in language model reads English", "not understood: ", "reference: ",
    TAKEN,
)


def warnings(notes: Sequence[str]) -> list[str]:
    """Notes that the person must not miss: what was asked for was not done, or not by whom.
    Of each kind the first: an unavailable server is unavailable for every role."""
    found: dict[str, str] = {}
    for note in notes:
        kind = next((kind for kind in _WARNINGS if note.startswith(kind)), "")
        if not kind and note.startswith("round ") and "failed" in note:
            kind = "round"
        if not kind and note.endswith(RULES_CAN):   # a part of the turn that a language model refused
            kind = "refused"
        if kind:
            found.setdefault(kind, note)
    return list(found.values())


def scarce_notes(found: Sequence[Scarce], size: int) -> list[str]:
    """``size``: images of the gallery."""
    return [f"{'Few images show it' if one.seen else 'Perhaps the gallery has none'}: "
            f"the encoder sees “{one.label}” in {one.seen or 'none'} of its {size:,} images" for one in found]
