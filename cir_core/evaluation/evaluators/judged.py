"""Score a run against qrels, with measures named as in ir-measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cir_core.errors import DatasetError
from cir_core.evaluation.evaluators.checks import check_list, coverage, first
from cir_core.evaluation.evaluators.records import Measure, Scores, score
from cir_core.evaluation.metrics.standard import standard_values
from cir_core.evaluation.runs.records import Run

MEASURES = ("R@10", "R@50", "nDCG@10", "RR", "AP", "P@10")
FAMILY = "measures"


def evaluate_qrels(
    qrels: Mapping[str, Mapping[str, int]], run: Run, *, measures: Sequence[str] = MEASURES,
    partial: bool = False, seed: int | None = 0,
) -> Scores:
    """Means over the queries of ``qrels``. As in trec_eval, unjudged queries of the run are
    ignored, with a note, and unjudged images are not relevant.

    Raises ``DatasetError`` for queries that the run lacks (unless ``partial``: they count as 0),
    for an image twice in one list, for measures that cannot be computed and if none is named.
    """
    if not measures:
        raise DatasetError(f"No measure is named. Name one or several, as in {','.join(MEASURES[:3])}.")
    if not qrels:
        raise DatasetError("The qrels judge no query. Check the file.")
    answered = {query_id: of for query_id, of in run.rankings.items() if query_id in qrels}
    _, notes = coverage(list(qrels), answered, run.system, partial=partial)
    if unjudged := [query_id for query_id in run.rankings if query_id not in qrels]:
        notes.append(f"{len(unjudged)} queries of the run are not in the qrels ({first(unjudged)}): left out.")
    for query_id, ranking in answered.items():
        check_list(run.system, query_id, ranking, None)
    names = list(dict.fromkeys(measures))
    values = standard_values(answered, qrels, names)
    columns = {Measure(FAMILY, name): values[:, column] for column, name in enumerate(names)}
    return score(run.system, list(qrels), columns, notes=(*notes, *run.notes), seed=seed)
