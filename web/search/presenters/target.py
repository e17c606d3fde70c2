"""Find-a-target mode to plain dictionaries: ranks by turn, their plot, scores over sessions."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cir_core.evaluation.metrics.multi_turn import MultiTurnScores
from cir_core.sessions.target import TargetTrace
from web.search.presenters.results import COMPARED, Dict


def rank_plot(ranks: Sequence[int], setbacks: Sequence[int] = (), *, width: int = 320, height: int = 150) -> Dict:
    """Geometry of a rank-per-turn line: rank 1 on top, logarithmic downwards."""
    left, right, top, bottom = 40, 14, 14, 24
    decades = max(1, math.ceil(math.log10(max([10, *ranks]))))

    def y(rank: int) -> float:
        return round(top + (height - top - bottom) * math.log10(rank) / decades, 1)

    inset = 20  # keeps the first number clear of the axis
    room = width - left - right - 2 * inset

    def x(index: int) -> float:
        return round(left + inset + room * (index / (len(ranks) - 1) if len(ranks) > 1 else 0.5), 1)

    points = [{"x": x(i), "y": y(rank), "rank": rank, "turn": i + 1, "setback": i + 1 in setbacks,
               "hit": rank <= COMPARED} for i, rank in enumerate(ranks)]
    return {
        "width": width, "height": height, "left": left, "right": width - right, "points": points,
        "bottom": height - bottom, "top": top, "ten": y(10),
        "line": " ".join(f"{p['x']},{p['y']}" for p in points),
        "ticks": [{"y": y(10**d), "label": f"{10**d:,}"} for d in range(decades + 1)],
    }


def trace(found: TargetTrace) -> Dict:
    return {
        "ranks": list(found.ranks), "best": found.best, "last": found.ranks[-1] if found.ranks else None,
        "beyond": COMPARED if found.ranks and found.ranks[-1] > COMPARED else 0,
        "plot": rank_plot(found.ranks, [s.turn for s in found.setbacks]) if found.ranks else None,
        "notes": [
            *(f"Turn {s.turn} moved the target from rank {s.before:,} to {s.after:,}: a drop of more than 30, "
              "which breaks ε-consistency." for s in found.setbacks),
            *(f"Turn {r.turn} repeats turn {r.earlier} (similarity {r.similarity:.2f}, τ is 0.80)."
              for r in found.repeats),
        ],
    }


def scores(result: MultiTurnScores | None) -> Dict | None:
    if result is None:
        return None
    return {
        "sessions": result.sessions, "final": f"{result.final_recall_at_10:.2f}", "auc": f"{result.auc:.2f}",
        "note": result.note,
        "hits": [{"turn": i + 1, "value": f"{h:.2f}", "share": round(100 * h)} for i, h in
                 enumerate(result.hits_at_10)],
    }
