"""The tables of ``cirque evaluate requests``. Tables of means with their bootstrap intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cir_core.evaluation.metrics.bootstrap import MeanEstimate
from cir_core.reports.records import ColumnKind, ReportTable, cells, count, percent, ranged, text
from cir_core.sample.evaluate_requests import RequestsReport, WrittenReport
from cir_core.sample.request_figures import AS_EXPECTED, EXACT, MEASURES, RequestFigures, WrittenAnswer, WrittenFigures
from cli.tables.output import Part

PERCENT = "in percent, 95 % bootstrap intervals over queries in brackets"


def measures_table(
    key: str, title: str, names: Sequence[str], rows: Sequence[tuple[str, Mapping[str, MeanEstimate], str]],
    kind: ColumnKind = "percent", note: str = "",
) -> ReportTable:
    """A row for each method: title, measures, digest of the protocol."""
    return ReportTable(
        key, title,
        (text("method", "method"), *(column for name in names for column in ranged(name, name, kind)),
         text("protocol", "protocol")),
        tuple((method, *(cell for name in names for cell in cells(measures.get(name))), digest)
              for method, measures, digest in rows), note)


def request_parts(report: RequestsReport) -> Iterator[Part]:
    """Everything but the single answers, which only the JSON file has."""
    title = (
        f"Requests ({report.requests}, and {report.sessions} sessions; digest {report.digest}), ranked against the "
        f"whole gallery without the reference. {MEASURES[0]}: share of the first five that satisfy every request so "
        f"far, over what the gallery can give; {MEASURES[1]}: attributes nobody mentioned that they share with the "
        f"reference, likewise. One turn, {PERCENT}; seed {report.seed}."
    )
    limits = report.gallery
    if limits.count:
        kinds = ", ".join(f"{kind} {value:.2f}" for kind, value in limits.nearest_by_kind.items())
        title += (f" The gallery: over the {limits.count} requests about one attribute, the nearest image that "
                  f"satisfies shares {limits.nearest:.2f} of the other 8 on average ({kinds}); "
                  f"{100 * limits.exact:.1f} % have one that shares all 8 (an exact target).")
    scores = report.scores
    if not scores:
        yield title
    else:
        yield measures_table("requests", title, MEASURES,
                             [(one.title, one.overall.measures, one.protocol.digest) for one in scores])
        if exact := scores[0].overall.exact_count:
            yield measures_table(
                "requests-exact", f"Rank of the exact target, over the {exact} requests that have one:", EXACT,
                [(one.title, one.overall.exact, one.protocol.digest) for one in scores])
        yield from _by_part("requests-by-kind", "By kind of request", [(one.title, one.by_kind) for one in scores])
        yield from _by_part("requests-by-group", "By attribute group", [(one.title, one.by_group) for one in scores])
        yield from _turns(report)
    for name, why in report.skipped.items():
        yield f"Left out {name}: {why}."


def _by_part(key: str, title: str, rows: Sequence[tuple[str, Mapping[str, RequestFigures]]]) -> Iterator[Part]:
    """One table for each measure."""
    parts = {name: f"{name} ({figures.count})" for name, figures in rows[0][1].items()}
    for measure in MEASURES[:2]:
        yield measures_table(
            f"{key}-{measure}", f"{title}, {measure}:", tuple(parts.values()),
            [(method, {shown: figures[name].measures[measure] for name, shown in parts.items()}, "")
             for method, figures in rows])


def _turns(report: RequestsReport) -> Iterator[Part]:
    turns = len(report.scores[0].turns)
    if not turns:
        return
    yield (f"Sessions of {turns} turns ({report.sessions}): the person goes on from the shown image that satisfies "
           "most requests so far. All requests so far count; one in five sessions takes one back.")
    names = [f"turn {turn}" for turn in range(1, turns + 1)]
    for measure in MEASURES:
        yield measures_table(
            f"requests-turns-{measure}", f"By turn, {measure}:", names,
            [(one.title, {name: turn.measures[measure] for name, turn in zip(names, one.turns, strict=True)
                          if turn.count}, "") for one in report.scores])
    for one in report.scores:
        if any(one.skipped):
            yield (f"{one.title}: sessions without a request that the gallery could still satisfy, by turn: "
                   f"{', '.join(map(str, one.skipped))}.")


def written_parts(report: WrittenReport, *, failures: bool = False) -> Iterator[Part]:
    """The figures by class and by turn; with ``failures`` every answer that is not as it should be."""
    yield (f"{report.file}: {report.requests} requests and {report.dialogues} dialogues (digest {report.digest}), each "
           f"asked about at most {report.references} references, {report.asked} in all, and ranked against the whole "
           f"gallery. {MEASURES[0]}: share of the first five that have what is wanted, over what the gallery can give; "
           f"{MEASURES[1]}: attributes that are not wanted otherwise and that they share with the reference, likewise; "
           f"{AS_EXPECTED}: vague requests with a choice or a note. Silent: nothing was asked, and nothing said about "
           f"it. {PERCENT[0].upper()}{PERCENT[1:]}; seed {report.seed}.")
    classes = [(one.title, [*one.by_class.items(), ("all", one.overall)]) for one in report.scores]
    if report.requests and classes:
        yield _written("requests-by-class", "Requests by class:", "class", classes)
    turns = [(one.title, [*((f"turn {number}", turn) for number, turn in enumerate(one.turns, start=1)),
                          ("all", one.dialogues)]) for one in report.scores]
    if report.dialogues and turns:
        yield _written("requests-by-turn", "Dialogues by turn, all requests in force after it:", "turn", turns)
    if failures:
        yield ReportTable(
            "requests-failed", "Not as it should be:",
            (text("method", "method"), text("class", "class"), text("where", "where"), count("turn", "turn"),
             text("reference", "reference"), text("text", "text"), percent("satisfaction", MEASURES[0]),
             text("query", "query"), text("asked", "asked"), text("said", "said")),
            tuple((scores.title, one.name, one.where, one.turn, one.reference_id, one.text, one.satisfaction, one.query,
                   "; ".join(one.asked), _said(one))
                  for scores in report.scores for one in scores.answers if one.failed))
    for one in report.without:
        yield f"Left out {one}. Ask for less there."
    for name, why in report.skipped.items():
        yield f"Left out {name}: {why}."


def _written(
    key: str, title: str, of: str, rows: Sequence[tuple[str, Sequence[tuple[str, WrittenFigures]]]]
) -> ReportTable:
    """A row for each method and class or turn."""
    names = (*MEASURES[:2], AS_EXPECTED)
    used = [name for name in names if any(name in one.measures for _, some in rows for _, one in some)]
    return ReportTable(
        key, title,
        (text("method", "method"), text(of, of), count("answers", "answers"),
         *(column for name in used for column in ranged(name, name, "percent")), count("silent", "silent")),
        tuple((method, name, one.count, *(cell for used_name in used for cell in cells(one.measures.get(used_name))),
               one.silent) for method, some in rows for name, one in some))


def _said(answer: WrittenAnswer) -> str:
    said = [*answer.notes, *(f"not understood: {word}" for word in answer.unused),
            *(f"you may mean: {choice}" for choice in answer.choices)]
    return "; ".join(said or (["silent"] if answer.silent else []))
