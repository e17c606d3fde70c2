"""What metrics say of a comparison after the vote, as plain dictionaries. No gradio, no HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotation.records import MethodVote
from annotation.votes import Agreement
from cir_core.sessions.comparisons import Comparison
from cir_core.sessions.judges import CIRQRS, K, MetricScores, preferred
from web.search.presenters.columns import LETTERS
from web.search.presenters.results import Dict


def judges(
    comparison: Comparison, own: MethodVote, found: Sequence[MetricScores], agreed: Mapping[str, Agreement]
) -> Dict:
    """``own``: the person's vote; ``agreed``: by metric, over the person's votes so far."""
    letters = {column.method: LETTERS[place] for place, column in enumerate(comparison.columns)}
    chosen = letters.get(own.chosen) if own.chosen is not None else None
    return {
        "letters": [letters[method] for method in letters if any(method in one.scores for one in found)],
        "yours": chosen or "no difference",
        "rows": [_row(one, letters, chosen, agreed[one.metric]) for one in found],
        "own": [{"metric": one.metric, "letters": " and ".join(letters[method] for method in letters
                                                                if method in one.own)} for one in found if one.own],
    }


def _row(one: MetricScores, letters: Mapping[str, str], chosen: str | None, agreed: Agreement) -> Dict:
    best = [letters[method] for method in letters if method in preferred(one.scores)]
    alike = len(best) == len(one.scores)
    decimals = 3 if one.metric == CIRQRS else 0
    return {
        "metric": f"{one.metric}@{K}",
        "scores": [{"text": f"{one.scores[method]:z.{decimals}f}".replace("-", "−"), "best": letters[method] in best and
                    not alike} for method in letters if method in one.scores],
        "says": "no difference" if alike else " and ".join(best),
        "as_you": chosen is not None and best == [chosen] and not alike,
        "agreed": agreed.agreed, "n": agreed.n, "tied": agreed.tied,
    }
