"""Live audit as a plain dictionary."""

from __future__ import annotations

from cir_core.audit.live import LiveAudit
from cir_core.audit.records import CUTOFF
from web.search.presenters.results import Dict, picture

PICTURES = 5


def audit(found: LiveAudit, gallery: str, version: str) -> Dict:
    """``rows``: both inputs, text only, image only. ``ranks``: ranks of each result with text only and image only."""
    rows = [_row("This turn" if found.later_turn else "Both", found.best, (), found.target_rank, "", gallery, version)]
    for name, alone in (("Text only", found.text), ("Image only", found.image)):
        if alone is not None:
            same = f"{alone.shared} of {found.depth} shared"
            rows.append(_row(name, alone.best, found.best, alone.target_rank, same, gallery, version))
    text = found.text.ranks if found.text else {}
    return {
        "sentence": sentence(found), "rows": rows,
        "needs_both": found.finding == "both" and found.target_rank is not None,
        "later": found.later_turn, "depth": found.depth,
        "ringed": any(shown["both"] for row in rows for shown in row["pictures"]),
        "ranks": {image_id: [text.get(image_id), rank] for image_id, rank in found.image.ranks.items()},
    }


def sentence(found: LiveAudit) -> str:
    """Conclusion of the audit in one sentence."""
    return _of_target(found) if found.target_rank is not None else _of_results(found)


def _of_target(found: LiveAudit) -> str:
    lost = "" if (found.target_rank or 0) <= CUTOFF else ", but both together lose it"
    if found.finding == "either":
        return f"The text alone finds the target, and so does the image{lost}: this query does not need both inputs."
    if found.finding == "text":
        return f"The text alone already finds the target{lost}: the image is not needed."
    if found.finding == "image":
        return f"The image alone already finds the target{lost}: the text is not needed."
    if found.finding == "both":
        if found.later_turn:
            return "Neither input alone finds the target, but this turn does (earlier turns also count)."
        return "Neither input alone finds the target, but both together do: this query needs both."
    return "The target is not in the top 10 yet: not with the text, the image, or both."


def _of_results(found: LiveAudit) -> str:
    """Without a target nobody knows what the query needs: overlap is given as overlap."""
    if not found.depth:
        return "There are no results to compare."
    parts = [f"the {name} alone gives {alone.shared}" for name, alone in (("text", found.text), ("image", found.image))
             if alone is not None]
    said = f"Of these top {found.depth}, {' and '.join(parts)}."
    return f"{said} Earlier turns also count." if found.later_turn else said


def _row(name: str, best: tuple[str, ...], turn: tuple[str, ...], rank: int | None, same: str,
         gallery: str, version: str) -> Dict:
    return {
        "name": name, "same": same, "rank": None if rank is None else f"{rank:,}",
        "hit": rank is not None and rank <= CUTOFF,
        "pictures": [picture(gallery, i, version) | {"both": i in turn} for i in best[:PICTURES]],
    }
