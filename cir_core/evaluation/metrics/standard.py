"""Standard IR measures (R@k, Success@k, RR, nDCG@k, AP@k, P@k), computed by ir-measures.

Names are those of ir-measures: "R@10", "nDCG@10", "RR", "AP(rel=2)@100". Its providers sort by score again, read scores
as 32-bit floats and break ties by id; they are given the length of the list less the position, integers that strictly
decrease. So a run is measured in its own order.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cir_core.errors import DatasetError
from cir_core.evaluation.metrics.bootstrap import Values
from cir_core.support.texts import quoted

_ALL = "R, Success, P, RR, nDCG, AP, Rprec, Bpref, infAP, IPrec, SetP, SetR, SetF, SetAP, Judged"
_FORM = "R@10, nDCG@10, RR or AP(rel=2)@100"
_AT_ONCE = 4096  # queries whose scores are in memory at a time
_NAME = re.compile(r"(?P<name>\w+)(?P<options>\(.*\))?(?:@(?P<at>\d+(?:\.\d+)?))?")


def standard_values(
    rankings: Mapping[str, Sequence[str]], qrels: Mapping[str, Mapping[str, int]], names: Sequence[str]
) -> Values:
    """``[queries, measures]``: queries in the order of ``qrels``, measures in that of ``names``.

    A query without a ranking, or with an empty one, has 0 everywhere. Raises ``DatasetError``
    for a measure that ir-measures does not support or cannot compute here.
    """
    provider = _provider()
    measures = [_measure(name, provider) for name in names]
    columns: dict[Any, list[int]] = {}  # ir-measures treats two spellings of one measure as one
    for column, measure in enumerate(measures):
        columns.setdefault(measure, []).append(column)
    values = np.zeros((len(qrels), len(names)))
    ids = list(qrels)
    for start in range(0, len(ids), _AT_ONCE):
        rows = {query_id: row for row, query_id in enumerate(ids[start:start + _AT_ONCE], start)}
        run = {
            query_id: {image_id: float(len(ranking) - place) for place, image_id in enumerate(ranking)}
            for query_id in rows if (ranking := rankings.get(query_id))
        }
        # A relevance under 0 (junk, in some TREC tracks) is not relevant; trec_eval fails below -1.
        judged = {one: {image_id: max(0, of) for image_id, of in qrels[one].items()} for one in run}
        if run:
            for metric in provider.iter_calc(list(columns), judged, run):
                values[rows[metric.query_id], columns[metric.measure]] = metric.value
    return values


def _provider() -> Any:
    """ir-measures' providers that are Python or linked to it; others start external programs (perl)."""
    import ir_measures

    fallback: Any = ir_measures.providers.FallbackProvider
    return fallback([ir_measures.pytrec_eval, ir_measures.msmarco, ir_measures.judged])


def _measure(name: str, provider: Any) -> Any:
    """Parse a measure name. (ir-measures' own parser needs what Python 3.14 removed.)"""
    import ir_measures

    parts = _NAME.fullmatch(name.strip())
    known = ir_measures.measures.registry
    if parts is None or parts["name"] not in known:
        raise DatasetError(f"No measure {quoted(name)}. Known measures are {_ALL}, with @k where one has a cutoff.")
    try:
        measure = known[parts["name"]](**_options(parts["options"] or "()"))
        if parts["at"]:
            measure = measure @ (float(parts["at"]) if "." in parts["at"] else int(parts["at"]))
        if not provider.supports(measure):
            raise ValueError("it is not among those computed here")
        if measure.params.get("cutoff") == 0:  # trec_eval aborts the whole process over it
            raise ValueError("cutoffs start at 1")
    except AssertionError as error:
        problem = "lacks its cutoff or has options that it does not know"
        raise DatasetError(f"The measure {quoted(name)} {problem}. Write it as in {_FORM}.") from error
    except (TypeError, ValueError) as error:
        raise DatasetError(f"The measure {quoted(name)} cannot be used: {error}. Write it as in {_FORM}.") from error
    if not isinstance(measure.aggregator(), ir_measures.MeanAgg):
        raise DatasetError(f"{name} is a count, not a mean over queries. Leave it out.")
    return measure


def _options(written: str) -> dict[str, Any]:
    """``(rel=2, judged_only=True)`` as a dictionary. Raises ``ValueError``."""
    try:
        call = ast.parse(f"f{written}", mode="eval").body
    except SyntaxError as error:
        raise ValueError(str(error)) from error
    if not isinstance(call, ast.Call) or call.args:
        raise ValueError("options have names")
    return {str(option.arg): ast.literal_eval(option.value) for option in call.keywords}
