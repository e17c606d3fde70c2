"""Report of searches: how satisfied people are with the first results, by their thumbs.

Satisfaction is the share of "this is what I asked for" among the thumbs on the first results of the turns. Thumbs of
one session are alike, so the interval is that of the bootstrap over whole sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from annotation.analysis.planning import AS_NOW, DrawnStudies, planned
from annotation.analysis.records import Estimate, Precision
from annotation.analysis.statistics.bootstrap import LEAST_UNITS, share_with_interval, weights
from annotation.analysis.statistics.matrix import Values
from cir_core.language.readers.classes import CLASSES
from cir_core.reports.records import ReportTable, cells, count, ranged, share, text
from cir_core.sessions.judged import FIRST, JudgedTurn
from cir_core.support.texts import counted

WIDTH = 0.1      # of an interval of ± 5 points, which the report plans for
_WHAT = "sessions"


@dataclass(frozen=True)
class SearchFigures:
    """Figures of some turns. ``satisfaction.n`` counts thumbs; ``results`` are the first of each turn. Turns and
    sessions are judged where one of these results has a thumb."""

    satisfaction: Estimate
    results_judged: int
    results: int
    turns_judged: int
    turns: int
    sessions_judged: int
    sessions: int

    @property
    def coverage(self) -> float | None:
        return self.results_judged / self.results if self.results else None


@dataclass(frozen=True)
class SearchReport:
    """``by_turn``, ``by_request`` and ``by_method``: figures of each turn number, class of requests and method;
    ``by_all``: of each combination of the three. ``notes``: what is to be done first, or how much more; and what was
    left out."""

    overall: SearchFigures
    by_turn: Mapping[int, SearchFigures]
    by_request: Mapping[str, SearchFigures]
    by_method: Mapping[str, SearchFigures]
    by_all: Mapping[tuple[int, str, str], SearchFigures]
    notes: tuple[str, ...]
    draws: int
    seed: int


def search_report(turns: Iterable[JudgedTurn], *, draws: int = 1000, seed: int = 20261121) -> SearchReport:
    """The figures of ``turns``, judged or not. ``draws`` 0: without intervals."""
    found = list(turns)
    overall = _figures(found, draws, seed)

    def by(key: Callable[[JudgedTurn], Any], order: Callable[[Any], Any]) -> dict[Any, SearchFigures]:
        groups: dict[Any, list[JudgedTurn]] = {}
        for one in found:
            groups.setdefault(key(one), []).append(one)
        return {name: _figures(groups[name], draws, seed) for name in sorted(groups, key=order)}

    return SearchReport(
        overall, by(lambda one: one.number, int), by(lambda one: one.request, CLASSES.index),
        by(lambda one: one.method, str),
        by(lambda one: (one.number, one.request, one.method), lambda key: (key[0], CLASSES.index(key[1]), key[2])),
        _notes(found, overall, draws, seed), draws, seed)


def _figures(turns: Sequence[JudgedTurn], draws: int, seed: int) -> SearchFigures:
    judged = [one for one in turns if one.judged]
    sums = _by_session(judged)
    up, n = (int(total) for total in sums.sum(axis=0))
    found = Estimate(up / n, n, count=up) if n else Estimate(None, 0, reason="no judgements", count=0)
    if n and draws:
        if len(sums) < LEAST_UNITS:   # so few clusters give an interval that is far too narrow
            found = replace(found, reason=f"no interval: {counted(len(sums), 'session')} of the {LEAST_UNITS} it needs")
        else:
            drawn = np.concatenate([_rate(weight @ sums) for weight in weights(len(sums), draws, seed)])
            found = share_with_interval(found, drawn, len(sums), _WHAT)
    return SearchFigures(
        found, sum(one.judged for one in turns), sum(one.shown for one in turns), len(judged), len(turns), len(sums),
        len({one.session_id for one in turns}))


def _by_session(judged: Sequence[JudgedTurn]) -> Values:
    """``[sessions, 2]``: thumbs up, and all of them."""
    rows: dict[str, list[int]] = {}
    for one in judged:
        row = rows.setdefault(one.session_id, [0, 0])
        row[0] += one.up
        row[1] += one.up + one.down
    return np.array(list(rows.values()), dtype=np.float64).reshape(-1, 2)


def _rate(sums: Values) -> Values:
    """``[draws, 2]`` to ``[draws]``. Every session has a thumb, so no draw is without."""
    rates: Values = sums[:, 0] / sums[:, 1]
    return rates


def _notes(turns: Sequence[JudgedTurn], overall: SearchFigures, draws: int, seed: int) -> tuple[str, ...]:
    if not turns:
        return ("There is no search to report on. Search first (cirque serve), then judge results with the thumbs "
                "under them.",)
    notes = []
    if not overall.satisfaction.n:
        notes.append(f"Nobody has judged one of the first {FIRST} results of a turn yet ({counted(len(turns), 'turn')} "
                     f"in {counted(overall.sessions, 'session')}). Open a session on the search screen and press "
                     "the thumbs under its results, or y and n on the selected one.")
    else:
        notes += _how_many_more(turns, overall, draws, seed)
    if beyond := sum(one.beyond for one in turns):
        notes.append(f"{counted(beyond, 'judgement')} of results beyond the first {FIRST} "
                     f"{'does' if beyond == 1 else 'do'} not count here.")
    return tuple(notes)


def _how_many_more(turns: Sequence[JudgedTurn], overall: SearchFigures, draws: int, seed: int) -> list[str]:
    """How many more sessions an interval of :data:`WIDTH` needs; nothing where it is that narrow."""
    found, have = overall.satisfaction, overall.sessions_judged
    goal = f"an interval of ± {100 * WIDTH / 2:g} points"
    if have < LEAST_UNITS:
        return [f"{counted(have, 'session')} with judgements {'is' if have == 1 else 'are'} too few to generalise "
                f"from: judge the first {FIRST} results of turns in at least {LEAST_UNITS - have} more."]
    if not draws:
        return []
    if found.low is None or found.high is None:
        return [f"There is no interval yet ({found.reason}): judge results in more sessions."]
    rows, often = np.unique(_by_session([one for one in turns if one.judged]), axis=0, return_counts=True)
    drawn = DrawnStudies(often, lambda counts: _rate(counts @ rows), seed)
    plan = planned(Precision("satisfaction", _WHAT, have, None, WIDTH, None, (), AS_NOW), drawn.width,
                   found.high - found.low)
    if plan.needed is None:
        return [f"For {goal} judge results in many more sessions: {plan.reason}."]
    if plan.needed <= have:
        return []
    return [f"For {goal} judge results in about {counted(plan.needed - have, 'more session')}, {AS_NOW}."]


def search_tables(report: SearchReport) -> tuple[ReportTable, ...]:
    """One for all turns, one each by turn, class of requests and method, and one of their combinations."""
    note = (f"Satisfaction: share of thumbs on the first {FIRST} results of a turn that say “this is what I "
            "asked for”; 95 % bootstrap intervals over sessions. Covered: of these results, those with a thumb.")
    tables = (
        ("searches", "All searches", (), {(): report.overall}),
        ("searches-turn", "By turn", (count("turn", "turn"),), {(key,): one for key, one in report.by_turn.items()}),
        ("searches-request", "By class of the request, as it was understood", (text("request", "request"),),
         {(key,): one for key, one in report.by_request.items()}),
        ("searches-method", "By method", (text("method", "method"),),
         {(key,): one for key, one in report.by_method.items()}),
        ("searches-each", "By turn, class of the request and method",
         (count("turn", "turn"), text("request", "request"), text("method", "method")), report.by_all),
    )
    figures = (*ranged("satisfaction", "satisfaction", "share"), count("judgements", "judgements"),
               share("coverage", "covered"), count("turns_judged", "turns judged"), count("turns", "turns"),
               count("sessions_judged", "sessions judged"), count("sessions", "sessions"), text("note", ""))
    return tuple(
        ReportTable(key, title, (*columns, *figures),
                    tuple((*name, *_row(one)) for name, one in rows.items()), note if key == "searches-each" else "",
                    empty="No turns.")
        for key, title, columns, rows in tables)


def _row(one: SearchFigures) -> tuple[Any, ...]:
    found = one.satisfaction
    return (*cells(found), found.n, one.coverage, one.turns_judged, one.turns, one.sessions_judged, one.sessions,
            found.reason)


def search_json(report: SearchReport) -> dict[str, Any]:
    """The report as plain values; what is not known is null, with the reason."""
    def plain(one: SearchFigures) -> dict[str, Any]:
        found = one.satisfaction
        return {"satisfaction": found.value, "low": found.low, "high": found.high, "judgements": found.n,
                "up": found.count, "reason": found.reason, "coverage": one.coverage,
                **{name: value for name, value in asdict(one).items() if name != "satisfaction"}}

    return {
        "first": FIRST, "overall": plain(report.overall),
        "by_turn": [{"turn": key, **plain(one)} for key, one in report.by_turn.items()],
        "by_request": [{"request": key, **plain(one)} for key, one in report.by_request.items()],
        "by_method": [{"method": key, **plain(one)} for key, one in report.by_method.items()],
        "by_turn_request_and_method": [
            {"turn": turn, "request": request, "method": method, **plain(one)}
            for (turn, request, method), one in report.by_all.items()],
        "notes": list(report.notes), "draws": report.draws, "seed": report.seed,
    }
