"""What a soft filter moved in the ranking."""

from __future__ import annotations

from collections.abc import Sequence

from cir_core.types.records import Hit
from web.search.presenters.results import Captions, Dict, picture

TOP = 20        # a result that leaves these is worth a mention
MOST_GONE = 12


def moves(then: Sequence[Hit], now: Sequence[Hit], shown: int, gallery: str, version: str, captions: Captions) -> Dict:
    """What a filter did to the ranking: ``then`` is without it, both as far down as was looked."""
    before = {hit.image_id: hit.rank for hit in then}
    after = {hit.image_id: hit.rank for hit in now}
    gone = [
        picture(gallery, hit.image_id, version, captions(hit.image_id))
        | {"then": hit.rank, "now": f"{after[hit.image_id]}" if hit.image_id in after else f"beyond {len(now)}"}
        for hit in then[:TOP] if hit.image_id not in after or after[hit.image_id] > TOP
    ]
    return {
        "tiles": {hit.image_id: _move(hit.rank, before.get(hit.image_id), shown) for hit in now[:shown]},
        "gone": gone[:MOST_GONE], "more": max(0, len(gone) - MOST_GONE), "top": min(TOP, len(then)),
    }


def _move(rank: int, was: int | None, shown: int) -> Dict:
    """``was`` is the rank without the filter, None when it was further down than was looked."""
    if was == rank:
        return {"kind": "same", "text": "=", "title": f"rank {rank} without the filter too"}
    if was is None or was > shown:
        title = f"rank {was} without the filter" if was else "far down without the filter"
        return {"kind": "new", "text": "new", "title": title}
    up = was > rank
    return {"kind": "up" if up else "down", "text": f"{'↑' if up else '↓'}{abs(was - rank)}",
            "title": f"rank {was} without the filter"}
