"""Rounds of reflection to plain dictionaries, while they run and afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cir_core.errors import SearchError
from cir_core.support.texts import clean_text
from cir_core.types.composition import Adjustment, Composition, ReflectionRound
from cir_core.types.records import Turn
from web.http.long_actions import Progress
from web.search.inputs import Data
from web.search.presenters.results import Captions, Dict, media_url, milliseconds, tile
from web.search.presenters.step import StepPresenter

SHOWN_LIVE = 12  # of the best so far

_COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_STAGES = {
    "encode image": "Encoding your image…", "caption": "Captioning the reference…",
    "merge": "Applying your request to the caption…", "compose": "Composing image and text…",
    "encode text": "Encoding the query…", "constraints": "Deriving what must and must not show…",
    "encode constraints": "Ranking the gallery…", "search": "Ranking the gallery…",
}


def progress(shown: Progress, gallery: str, version: str, captions: Captions) -> Dict:
    """A run that is still going on."""
    number, writing = len(shown.rounds) + 1, None
    if shown.stage == "reflect" and shown.hits:
        pictures = [_small(gallery, hit.image_id, version) for hit in shown.hits[: shown.looks_at]]
        writing = _partial(shown.partial or {}) | {
            "number": number, "pictures": pictures, "read": len(shown.hits), "edited": False, "notes": [], "time": "",
        }
    return {
        "run": shown.run_id, "text": shown.text or "Like the reference", "seconds": f"{shown.seconds:.0f} s",
        "stage": _stage(shown), "stopping": shown.stopping, "done": shown.done, "total": shown.total,
        "round": f"Round {number} of {shown.planned}" if shown.planned and shown.stage == "reflect" else "",
        "rounds": [round_card(one, gallery, version) for one in shown.rounds],
        "writing": writing,
        "tiles": [tile(hit, gallery, version, captions(hit.image_id)) for hit in shown.hits[:SHOWN_LIVE]],
    }


def _stage(shown: Progress) -> str:
    if shown.stopping:
        return "Stopping…"
    if shown.total:
        return f"{shown.done} of {shown.total} methods done"
    if shown.stage == "reflect":
        count = _COUNTS[shown.looks_at] if shown.looks_at < len(_COUNTS) else str(shown.looks_at)
        return f"Examining the top {count}…"
    return _STAGES.get(shown.stage, "Searching…")


def _partial(fields: Mapping[str, Any]) -> Dict:
    """The answer so far. It comes from a language model, piece by piece: nothing is certain."""
    return {
        "intent": _text(fields.get("intent")), "satisfied": _texts(fields.get("satisfied")),
        "problems": _texts(fields.get("problems")),
        "strategy": _text(fields.get("strategy") or fields.get("reasoning")), "query": _text(fields.get("query")),
    }


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str) and text] if isinstance(value, list | tuple) else []


def round_card(one: ReflectionRound, gallery: str, version: str) -> Dict:
    return {
        "number": one.number, "intent": one.intent, "satisfied": list(one.satisfied), "problems": list(one.problems),
        "strategy": one.strategy, "query": one.query, "edited": one.edited, "notes": list(one.notes),
        "time": _time(one.milliseconds),
        "pictures": [_small(gallery, image_id, version) for image_id in one.looked_at[: one.pictures]],
        "read": len(one.looked_at),
    }


def _time(ms: float) -> str:
    return "" if not ms else milliseconds(ms) if ms < 1000 else f"{ms / 1000:.1f} s"


def _small(gallery: str, image_id: str, version: str) -> Dict:
    return {"thumb": media_url("thumb", gallery, image_id, version),
            "full": media_url("full", gallery, image_id, version), "id": image_id}


class ReflectionPresenter(StepPresenter):
    template = "search/parts/reflection.html"

    def panel(self, stored: Turn, shown: Turn, gallery: str, version: str) -> Dict | None:
        return reflection(stored, shown, gallery, version)

    def change(self, made: Composition, before: Adjustment, data: Data) -> Adjustment:
        """Takes ``rounds``, how many count, and ``rewritten``, another query of the last of them."""
        return _reflected(made, before, data) if "rounds" in data else before

    def changed(self, adjustment: Adjustment) -> list[str]:
        return ["reflection"] if adjustment.rounds is not None or adjustment.rewritten is not None else []


def _reflected(made: Composition, before: Adjustment, data: Data) -> Adjustment:
    count = data["rounds"]
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= len(made.rounds):
        raise SearchError("The page is out of date. Reload it.")
    rewritten = None
    if count and isinstance(data.get("rewritten"), str):
        rewritten = clean_text(data["rewritten"], required=False) or None
        if rewritten == made.rounds[count - 1].query:
            rewritten = None
    return replace(before, rounds=None if count == len(made.rounds) else count, rewritten=rewritten)


def reflection(stored: Turn, shown: Turn, gallery: str, version: str) -> Dict | None:
    """The rounds of a turn: ``shown`` is what counts of ``stored`` after a person's changes."""
    if stored.composition is None or not stored.composition.rounds or shown.composition is None:
        return None
    counting: Sequence[ReflectionRound] = shown.composition.rounds
    cards = []
    for i, one in enumerate(stored.composition.rounds):
        counts = i < len(counting)
        card = round_card(counting[i] if counts else one, gallery, version)
        cards.append(card | {"counts": counts, "last": i == len(counting) - 1})
    last = counting[-1].query if counting else shown.merged_text
    return {"cards": cards, "count": len(counting), "all": len(cards), "base": stored.merged_text,
            "query": last or "the mean of the top images"}
