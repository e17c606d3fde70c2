"""The tables of ``cirque evaluate requests``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table

from cir_core.sample.evaluate_requests import RequestScores, RequestsReport
from cir_core.sample.request_figures import EXACT, MEASURES, RequestFigures
from cli.console import out
from cli.tables.measures import PERCENT, measures_table, percent


def print_requests(report: RequestsReport) -> None:
    """Print everything but the single answers, which only the JSON file has."""
    out.print(
        f"\nRequests ({report.requests}, and {report.sessions} sessions; digest {report.digest}), ranked against the "
        f"whole gallery without the reference. {MEASURES[0]}: share of the first five that satisfy every request so "
        f"far, over what the gallery can give; {MEASURES[1]}: attributes nobody mentioned that they share with the "
        f"reference, likewise. One turn, {PERCENT}; seed {report.seed}."
    )
    limits = report.gallery
    if limits.count:
        kinds = ", ".join(f"{kind} {value:.2f}" for kind, value in limits.nearest_by_kind.items())
        out.print(f"The gallery: over the {limits.count} requests about one attribute, the nearest image that "
                  f"satisfies shares {limits.nearest:.2f} of the other 8 in the mean ({kinds}); "
                  f"{100 * limits.exact:.1f} % have one that shares all 8 (an exact target).")
    scores = report.scores
    if scores:
        out.print(measures_table(MEASURES, [(one.title, one.overall.measures, one.protocol.digest) for one in scores]))
        _print_exact(scores)
        _print_parts("By kind of request", [(one.title, one.by_kind) for one in scores])
        _print_parts("By attribute group", [(one.title, one.by_group) for one in scores])
        _print_turns(report)
    for name, why in report.skipped.items():
        out.print(f"Left out {name}: {why}.")


def _print_exact(scores: Sequence[RequestScores]) -> None:
    count = scores[0].overall.exact_count
    if count:
        out.print(f"Rank of the exact target, over the {count} requests that have one:")
        out.print(measures_table(EXACT, [(one.title, one.overall.exact, one.protocol.digest) for one in scores]))


def _print_parts(title: str, rows: Sequence[tuple[str, Mapping[str, RequestFigures]]]) -> None:
    """One table for each measure, in whole percent."""
    parts = {name: figures.count for name, figures in rows[0][1].items()}
    for measure in MEASURES[:2]:
        out.print(f"{title}, {measure}:")
        table = Table("method", box=None)
        for name, count in parts.items():
            table.add_column(f"{name} ({count})", overflow="fold")
        for method, figures in rows:
            table.add_row(method, *(percent(figures[name].measures[measure], 0) for name in parts))
        out.print(table)


def _print_turns(report: RequestsReport) -> None:
    turns = len(report.scores[0].turns)
    if not turns:
        return
    out.print(f"Sessions of {turns} turns ({report.sessions}): the person goes on from the shown image that satisfies "
              "most requests so far. All requests so far count; one in five sessions takes one back.")
    for measure in MEASURES:
        out.print(f"By turn, {measure}:")
        table = Table("method", *(f"turn {turn}" for turn in range(1, turns + 1)), box=None)
        for one in report.scores:
            table.add_row(one.title, *(percent(turn.measures[measure], 1) if turn.count else "–" for turn in one.turns))
        out.print(table)
    for one in report.scores:
        if any(one.skipped):
            out.print(f"{one.title}: sessions without a request that the gallery could still satisfy, by turn: "
                      f"{', '.join(map(str, one.skipped))}.")
