"""Method comparisons as plain dictionaries. No gradio, no HTML. What metrics say of a comparison after the vote, as
plain dictionaries. No gradio, no HTML.

What a blind comparison must hide before the vote is not in the dictionary: names, texts, scores, ledgers, times and
costs would reveal methods, and so would overlap: the column that shares least is recognised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from annotation.records import MethodVote
from annotation.votes import Agreement, tally
from cir_core.methods.declared import USUAL, Method, name_of
from cir_core.methods.steps import STEPS
from cir_core.search.far_pictures import UNLIKE
from cir_core.sessions.judges import CIRQRS, K, MetricScores, preferred
from cir_core.sessions.store import Comparison, MethodColumn
from cir_core.types.composition import Usage
from cir_core.types.records import Hit
from web.search.presenters import methods as present_methods
from web.search.presenters import results
from web.search.presenters.results import Captions, Dict
from web.search.view import UiState

SHOWN = 10
LETTERS = "ABCDEF"


def columns(
    comparison: Comparison, votes: Sequence[MethodVote], annotator: str, methods: Mapping[str, Method],
    version: str, captions: Captions,
) -> Dict:
    """All data of the panel. ``votes`` are those on this comparison."""
    own = next((vote for vote in votes if vote.annotator == annotator), None)
    judged = sum(not column.problem for column in comparison.columns)
    # With fewer than two results there is nothing to vote on, so nothing to hide either.
    open_names = not comparison.blind or own is not None or judged < 2
    tops = [column.hits[:SHOWN] for column in comparison.columns]
    sides = [
        _column(i, column, comparison, tops, methods, version, captions, named=open_names)
        for i, column in enumerate(comparison.columns)
    ]
    for i, side in enumerate(sides):
        side["chosen"] = own is not None and own.chosen == comparison.columns[i].method
    return {
        "id": comparison.comparison_id, "text": comparison.modification_text or "Like the reference",
        "words": comparison.modification_text,
        "columns": sides, "blind": comparison.blind, "named": open_names, "voted": own is not None,
        "neither": own is not None and own.chosen is None, "k": SHOWN,
        "overlaps": _overlaps(tops, sides) if open_names else [],
        "votes": len(votes) if open_names else 0, "vote": own.vote_id if own else "", "who": annotator if own else "",
        "reference": results.picture(comparison.gallery, comparison.reference_id, version),
        "continued": comparison.parent_id is not None, "judged": judged,
        "marked": _marked(comparison), "unlike": UNLIKE if any(UNLIKE in c.notes for c in comparison.columns) else "",
        "away": not open_names and any(_warnings(c) for c in comparison.columns),
    }


def chooser(
    view: UiState, methods: Mapping[str, Method], votes: Sequence[MethodVote], *, cannot: str = "",
    unscored: str = "", comparison: Comparison | None = None,
) -> Dict:
    """The form that starts a comparison, filled in from ``comparison`` if given; else with the user's own method and
    two others. ``cannot`` and ``unscored`` are why some methods cannot be used."""
    own = name_of(view.method, methods)
    ticked = list(dict.fromkeys([own or USUAL, USUAL, "cirevl", "soft"]))[:3]
    if comparison is not None:
        ticked = [column.method for column in comparison.columns]
    return {
        "text": comparison.modification_text if comparison else "", "turn": view.turn_id is not None,
        "blind": comparison is not None and comparison.blind, "tally": tally_rows(votes, methods),
        "custom": own is None,
        "methods": [{"name": method.name, "title": method.title, "chosen": method.name in ticked,
                     "source": (reason := present_methods.unusable(method.settings, cannot, unscored)) or method.source,
                     "disabled": bool(reason)} for method in methods.values()],
    }


def tally_rows(votes: Sequence[MethodVote], methods: Mapping[str, Method]) -> list[Dict]:
    """Wins, losses and ties of every method over all votes."""
    return [
        {"name": _title(row.method, methods), "wins": row.wins, "losses": row.losses, "ties": row.ties}
        for row in tally(votes)
    ]


def usage_text(usage: Usage) -> str:
    """Calls, tokens and cost in one line; empty without server calls."""
    if not usage.calls and not usage.cached:
        return ""
    parts = [f"{usage.calls} call{'' if usage.calls == 1 else 's'}"] if usage.calls else []
    if usage.cached:
        parts.append(f"{usage.cached} from the cache")
    if usage.prompt_tokens or usage.completion_tokens:
        parts.append(f"{usage.prompt_tokens + usage.completion_tokens:,} tokens")
    if usage.cost is not None and usage.calls:
        parts.append(f"cost {usage.cost:.4f}")
    return ", ".join(parts)


def _column(
    place: int, column: MethodColumn, comparison: Comparison, tops: Sequence[Sequence[Hit]],
    methods: Mapping[str, Method], version: str, captions: Captions, *, named: bool,
) -> Dict:
    shown: Dict = {
        "place": place, "letter": LETTERS[place], "failed": bool(column.problem),
        "tiles": [_tile(hit, place, tops if named else (), comparison.gallery, version, captions)
                  for hit in tops[place]],
    }
    if not named:
        return shown
    composition = column.composition
    return shown | {
        "method": column.method, "title": _title(column.method, methods), "problem": column.problem,
        "caption": column.caption, "merged": column.merged_text,
        "notes": [note for note in column.notes if note not in (UNLIKE, *_warnings(column))],
        "words": [line for step in STEPS.values() for line in step.trace(composition)] if composition else [],
        "timings": results.timing_rows(column.timings_ms),
        "total": results.milliseconds(column.timings_ms.get("total", 0.0)),
        "usage": usage_text(composition.usage) if composition else "", "warnings": _warnings(column),
        "digest": column.protocol.digest,
    }


def _tile(hit: Hit, place: int, tops: Sequence[Sequence[Hit]], gallery: str, version: str, captions: Captions) -> Dict:
    """``tops`` are the results of every column, () where it must not be told what they share."""
    elsewhere = {
        LETTERS[other]: there.rank
        for other, top in enumerate(tops) if other != place for there in top if there.image_id == hit.image_id
    }
    shown = results.picture(gallery, hit.image_id, version, captions(hit.image_id))
    best = min(elsewhere.values(), default=None)
    return shown | {
        "rank": hit.rank, "only": bool(tops) and not elsewhere, "up": best is not None and hit.rank < best,
        "elsewhere": [f"{letter} {rank}" for letter, rank in elsewhere.items()],
        "alt": f"Rank {hit.rank}: {shown['alt']}",
    }


def _overlaps(tops: Sequence[Sequence[Hit]], sides: Sequence[Dict]) -> list[Dict]:
    """overlap@10 of every pair of columns with results."""
    rows = []
    for a, b in combinations(range(len(tops)), 2):
        size = max(len(tops[a]), len(tops[b]))
        if tops[a] and tops[b]:
            shared = len({hit.image_id for hit in tops[a]} & {hit.image_id for hit in tops[b]})
            same = [hit.image_id for hit in tops[a]] == [hit.image_id for hit in tops[b]]
            rows.append({"pair": f"{sides[a]['letter']} and {sides[b]['letter']}", "shared": shared, "size": size,
                         "value": f"{shared / size:.2f}", "same": same})
    return rows


def _warnings(column: MethodColumn) -> list[str]:
    """Notes that change what the column shows, e.g. that a server was unavailable; not those on the picture, which
    the columns share."""
    return [note for note in present_methods.warnings(column.notes) if note != UNLIKE]


def _marked(comparison: Comparison) -> int:
    """Number of marks used by any column."""
    marks = [column.composition.marks for column in comparison.columns if column.composition]
    return max((len(one.more_like) + len(one.less_like) for one in marks), default=0)


def _title(name: str, methods: Mapping[str, Method]) -> str:
    return methods[name].title if name in methods else name


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
