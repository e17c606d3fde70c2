"""Records to plain dictionaries for the templates. No gradio, no HTML, no services."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from cir_core.encoders.specs import BUNDLED
from cir_core.methods.guidance import Tick
from cir_core.methods.steps import ranked_with
from cir_core.search.protocol import card_to_dict
from cir_core.sessions.store import SessionSummary
from cir_core.types.composition import Cut, Marks
from cir_core.types.records import UPLOAD_PREFIX, EncoderIdentity, Hit, ProtocolCard, SearchSession, Turn
from web.search.presenters.methods import method_rows, usage

Dict = dict[str, Any]
Captions = Callable[[str], str | None]

COMPARED = 10
EXCLUDE_NAMES = {
    "reference": "Hide the current reference", "history": "Hide every reference so far",
    "none": "Show everything (CIRCLED)",
}
_LEFT_OUT = {"none": "nothing", "reference": "the reference", "history": "all references"}
STAGES = {
    "encode image": "Encode image", "caption": "Caption", "merge": "Merge", "compose": "Compose",
    "encode text": "Encode text", "reflect": "Reflect", "constraints": "Constraints",
    "encode constraints": "Encode them", "marks": "Read marks", "relevance": "Relevance",
    "search": "Search", "total": "Total",
}
_BUNDLED_KNOWS = "The sample's encoder knows drawn garments only. Photos need another encoder."
_FOREIGN = ("This gallery was indexed with the sample's encoder, which knows drawn garments only, and {share} of its "
            "pictures show something else. They get no captions, attributes or ticks, and results may have little to "
            "do with the words.")
_MOST_TICKS = 3   # under a picture, each with its name
_ALL_IN_LINE, _LAST_TURNS = 4, 3   # a branch of more turns than the first shows as many as the second


def media_url(kind: str, gallery: str, image_id: str, version: str = "") -> str:
    """URL of an image, relative to the page. ``kind`` is ``thumb`` or ``full``."""
    return f"media/{kind}?{_media_query(gallery, image_id, version)}"


@lru_cache(4096)   # a page of results asks for 120
def _media_query(gallery: str, image_id: str, version: str) -> str:
    return urlencode({"gallery": gallery, "image": image_id} | ({"v": version} if version else {}))


def picture(gallery: str, image_id: str, version: str, caption: str | None = None) -> Dict:
    upload = image_id.startswith(UPLOAD_PREFIX)
    return {
        "id": image_id, "thumb": media_url("thumb", gallery, image_id, version),
        "full": media_url("full", gallery, image_id, version), "upload": upload,
        "name": "your picture" if upload else image_id,
        "alt": caption or ("Your picture" if upload else f"Image {image_id}"),
    }


def reference_picture(
    gallery: str, image_id: str, version: str, cuts: Sequence[Cut] = (), caption: str | None = None
) -> Dict:
    """A reference; one that was cut out says of what."""
    shown = picture(gallery, image_id, version, caption)
    source = next((cut.source_id for cut in reversed(cuts) if cut.image_id == image_id), None)
    if source is None:
        return shown
    name = f"cut from {'your picture' if source.startswith(UPLOAD_PREFIX) else source}"
    return shown | {"name": name, "alt": name[0].upper() + name[1:]}


def score_text(score: float) -> str:
    return f"{score:.3f}".replace("-", "−")


def _brief(ticks: Sequence[tuple[str, Tick]]) -> list[tuple[str, Tick]]:
    """Of many requests the number that is seen, and those that are not, by name. Words in another language are left to
    the chips."""
    by_name: list[tuple[str, Tick]] = [(label.partition(" (")[0], seen) for label, seen in ticks]
    missing = [one for one in by_name if one[1] != "yes"]
    if len(by_name) <= _MOST_TICKS or len(missing) == len(by_name):
        return by_name
    return [(f"{len(by_name) - len(missing)} of {len(by_name)}", "yes"), *missing]


def tile(
    hit: Hit, gallery: str, version: str, caption: str | None = None, ticks: Sequence[tuple[str, Tick]] = (),
    shown_ticks: Collection[str] = (),
) -> Dict:
    """``ticks``: what was asked, and whether the encoder sees it. Those of ``shown_ticks``, which tell the results
    apart, and crosses are shown."""
    shown = picture(gallery, hit.image_id, version, caption)
    return shown | {
        "rank": hit.rank, "score": score_text(hit.score), "raw_score": hit.score,
        "parts": [[name, value] for name, value in hit.parts], "ticks": list(ticks),
        "shown_ticks": _brief([one for one in ticks if one[0] in shown_ticks or one[1] == "no"]),
        "alt": f"Rank {hit.rank}: {shown['alt']}",
    }


def knows(encoder: EncoderIdentity, foreign: float = 0.0) -> str:
    """What a person should know of the encoder before they upload a picture; "" if nothing. ``foreign``: the share of
    the gallery that it does not know."""
    if foreign >= 0.02:
        return _FOREIGN.format(share="most" if foreign > 0.5 else f"about {foreign:.0%}")
    return _BUNDLED_KNOWS if encoder.spec == BUNDLED else ""


def strip(session: SearchSession, branch_id: str, turn_id: str, version: str, max_turns: int) -> Dict:
    """Turns of one branch, and the branch tree if there are several branches. Of a long branch the last turns are in
    the line, or the viewed one and those after it; ``folds`` names the places of the others."""
    tip = session.tip_of(branch_id)
    path = session.path_to(tip.turn_id) if tip else ()
    viewed = next((turn.number for turn in path if turn.turn_id == turn_id), len(path) if turn_id else 0)
    begin, end = _in_line(len(path), viewed)
    return {
        "session": session.session_id, "branch": branch_id, "viewed": viewed, "length": len(path),
        "long": max_turns if len(path) > max_turns else 0,
        "folds": [{"name": "earlier", "begin": 0, "end": begin}, {"name": "", "begin": begin, "end": end},
                  {"name": "later", "begin": end, "end": len(path)}],
        "turns": [
            {
                "id": turn.turn_id, "number": turn.number, "text": turn.modification_text or "(image only)",
                "merged": turn.merged_text, "current": turn.turn_id == turn_id, "later": turn.number > viewed,
                "reference": picture(session.gallery, turn.reference_id, version),
                "further": [picture(session.gallery, image_id, version) for image_id in turn.further],
                "top": [picture(session.gallery, hit.image_id, version) for hit in turn.hits[:3]],
            }
            for turn in path
        ],
        "branches": (rows := branch_rows(session, branch_id, turn_id)),
        "branch_name": next((row["name"] for row in rows if row["current"]), ""),
    }


def _in_line(length: int, viewed: int) -> tuple[int, int]:
    """Places of the turns that are not folded: ``viewed`` counts from 1."""
    if length <= _ALL_IN_LINE:
        return 0, length
    begin = max(0, min(length - _LAST_TURNS, viewed - 1))
    return begin, begin + _LAST_TURNS


def branch_name(session: SearchSession, branch_id: str) -> str:
    branch = next(item for item in session.branches if item.branch_id == branch_id)
    return branch.name or f"Branch {branch.number}"


def branch_rows(session: SearchSession, branch_id: str, turn_id: str) -> list[Dict]:
    """One row per branch, with turns at their depth so that forks align."""
    rows = []
    for branch in session.branches:
        own = [turn for turn in session.turns if turn.branch_id == branch.branch_id]
        if own:
            rows.append({
                "id": branch.branch_id, "number": branch.number,
                "name": branch.name or f"Branch {branch.number}", "named": branch.name,
                "current": branch.branch_id == branch_id, "forked": own[0].number - 1 if own[0].parent_id else 0,
                "dots": [
                    {"id": turn.turn_id, "number": turn.number, "text": turn.modification_text or "(image only)",
                     "current": turn.turn_id == turn_id}
                    for turn in own
                ],
            })
    return rows if len(rows) > 1 else []


def timings(turn: Turn) -> list[Dict]:
    return timing_rows(turn.timings_ms)


def timing_rows(timings_ms: Mapping[str, float]) -> list[Dict]:
    """Stages in execution order; ``share`` is the percentage of the whole turn."""
    total = timings_ms.get("total") or sum(timings_ms.values()) or 1.0
    order = list(STAGES)
    stages = sorted(timings_ms.items(), key=lambda item: order.index(item[0]) if item[0] in order else 99)
    return [
        {"name": STAGES.get(name, name), "ms": milliseconds(ms), "share": round(min(100.0, 100 * ms / total), 1),
         "total": name == "total"}
        for name, ms in stages
    ]


def milliseconds(ms: float) -> str:
    return f"{ms:.1f} ms" if ms < 10 else f"{ms:.0f} ms" if ms < 10_000 else f"{ms / 1000:.1f} s"


def protocol_rows(card: ProtocolCard) -> list[tuple[str, str]]:
    return [
        ("Gallery", f"{card.gallery}, {card.gallery_size:,} images" + (f", {card.split}" if card.split else "")),
        ("Gallery digest", card.gallery_digest),
        ("Encoder", f"{card.encoder.spec}, revision {card.encoder.revision}, {card.encoder.dim} dim"),
        ("Language model", card.language_model),
        *([("Answered in its place", ", ".join(card.stand_ins))] if card.stand_ins else []),
        *method_rows(card.method),
        *([("Relevance model", f"revision {card.relevance}")] if card.relevance else []),
        *([("Index", card.index)] if card.index else []),
        ("Left out", _LEFT_OUT[card.method.exclude]),
        ("Captions", card.caption_mode + (f", optimised {card.captions}" if card.captions else "")),
        ("Ties", card.tie_rule),
        ("Seed", "none" if card.seed is None else str(card.seed)),
        ("cirque", card.version),
    ]


def wording(stored: Turn, shown: Turn, base: str) -> list[Dict]:
    """Caption and query of a turn, which can be edited; [] for one whose query was not made from a caption."""
    if base != "cirevl" or not shown.merged_text or shown.composition is None:
        return []
    before = shown.composition.edited
    return [
        {"name": name, "title": title, "text": text, "label": label,
         "edited": before is not None and text != was}
        for name, title, label, text, was in (
            ("caption", "Reference", "Caption of the reference", shown.caption, before.caption if before else ""),
            ("query", "Query", "Query used", shown.merged_text, before.merged_text if before else ""),
        ) if text
    ]


def how_found(session: SearchSession, turn: Turn, version: str = "") -> Dict:
    card, made = session.protocol, turn.composition
    if made is not None and turn.protocol_digest != card.digest:  # kept from changes to another turn
        card = replace(card, method=ranked_with(card.method, made), digest=turn.protocol_digest,
                       stand_ins=made.usage.stand_ins)
    return {
        "caption": turn.caption, "text": turn.modification_text, "merged": turn.merged_text,
        "notes": list(turn.notes), "timings": timings(turn), "digest": card.digest,
        "rows": [*protocol_rows(card), *_references(turn), *_edited(turn)], "card": card_to_dict(card),
        "excluded": len(turn.excluded_ids),
        "number": turn.number, "base": session.method.base, "session": session.session_id, "turn": turn.turn_id,
        "target_shown": "yes" if session.target_live or session.target_revealed else "",
        "rounds": [one.query for one in made.rounds if one.query] if made else [],
        "edited": made.edited if made else None, "read_as": made.read_as if made else "",
        "marks": _marks(made.marks, session.gallery, version) if made else None,
        "usage": usage(made.usage, card.language_model) if made else None,
    }


def _edited(turn: Turn) -> list[tuple[str, str]]:
    """What a person wrote instead of the language model."""
    before = turn.composition.edited if turn.composition else None
    if before is None:
        return []
    pairs = (("caption", turn.caption, before.caption), ("query", turn.merged_text, before.merged_text))
    return [("Edited by a person", " and ".join(name for name, now, then in pairs if now != then) or "nothing")]


def _references(turn: Turn) -> list[tuple[str, str]]:
    """How several references were used, and what cut-out ones were cut from."""
    rows = []
    if turn.further:
        rows.append(("References", f"{1 + len(turn.further)} pictures: the mean of their vectors, and what their "
                                   "captions share"))
    for cut in turn.composition.cuts if turn.composition else ():
        left, top, width, height = (round(100 * one) for one in cut.region)
        source = "your picture" if cut.source_id.startswith(UPLOAD_PREFIX) else cut.source_id
        rows.append(("Cut out", f"{width} × {height} % of {source}, {left} % from the left, {top} % from the top"))
    return rows


def _marks(marks: Marks, gallery: str, version: str) -> Dict | None:
    if not marks:
        return None
    return {"more": [picture(gallery, image_id, version) for image_id in marks.more_like],
            "less": [picture(gallery, image_id, version) for image_id in marks.less_like]}


def comparison(session: SearchSession, left: str, right: str, version: str, captions: Captions) -> Dict:
    """Top ten of two branches and their overlap."""
    tips = [tip for branch in (left, right) if (tip := session.tip_of(branch)) is not None]
    tops = [tip.hits[:COMPARED] for tip in tips]
    sets = [{hit.image_id for hit in top} for top in tops]
    shared = len(sets[0] & sets[1])
    columns = []
    for tip, branch_id, top, other in zip(tips, (left, right), tops, (tops[1], tops[0]), strict=True):
        places = {hit.image_id: hit.rank for hit in other}
        columns.append({
            "branch": branch_id, "name": branch_name(session, branch_id), "turn": tip.number,
            "text": tip.modification_text, "merged": tip.merged_text,
            "tiles": [
                tile(hit, session.gallery, version, captions(hit.image_id))
                | {"only": hit.image_id not in places, "there": places.get(hit.image_id)}
                for hit in top
            ],
        })
    size = max((len(top) for top in tops), default=0)
    return {"columns": columns, "shared": shared, "size": size, "k": COMPARED,
            "overlap": f"{shared / size:.2f}" if size else "–",
            "branches": [{"id": b.branch_id, "name": b.name or f"Branch {b.number}"} for b in session.branches
                         if session.tip_of(b.branch_id)],
            "left": left, "right": right}


def summary(item: SessionSummary, version: str, current: str | None) -> Dict:
    kind = "" if not item.has_target else "target found" if item.target_revealed else "target open"
    return {
        "id": item.session_id, "title": item.title or item.last_text or "No turn yet", "named": item.title,
        "gallery": item.gallery, "kind": kind, "turns": item.turns, "branches": item.branches,
        "current": item.session_id == current, "when": f"{item.updated_at:%d %b, %H:%M}",
        "picture": picture(item.gallery, item.first_reference_id, version) if item.first_reference_id else None,
    }
