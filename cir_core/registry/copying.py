"""Copies of a data set's files in the form in which they were released."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from cir_core.datasets.readers import circled, hp_fashioniq, qrels, soft, soft_constraints, soft_scores
from cir_core.evaluation.runs import trec

Copy = Callable[[Path, Path], Sequence[str]]
"""Reads the first path, writes the second, and gives notes. Raises ``DatasetError`` at the first fault."""

_Content = TypeVar("_Content")


def _copy(
    read: Callable[[Path], _Content], write: Callable[[Path, _Content], None],
    notes: Callable[[_Content], Sequence[str]] = lambda content: (),
) -> Copy:
    def copied(path: Path, out: Path) -> Sequence[str]:
        content = read(path)
        write(out, content)
        return notes(content)

    return copied


def _write_constraints(out: Path, cache: soft_constraints.ConstraintCache) -> None:
    soft_constraints.write_constraints(
        out, cache.constraints, model=cache.model, input_tokens=cache.input_tokens, output_tokens=cache.output_tokens)


copy_sessions = _copy(circled.read_sessions, circled.write_sessions, lambda sessions: sessions.notes)
copy_multi_target = _copy(soft.read_multi_target, soft.write_multi_target)
copy_single_target = _copy(soft.read_single_target, soft.write_single_target)
copy_candidates = _copy(soft.read_candidates, soft.write_candidates)
copy_scores = _copy(soft_scores.read_scores, soft_scores.write_scores)
copy_constraints = _copy(soft_constraints.read_constraints, _write_constraints)
copy_questions = _copy(hp_fashioniq.read_questions, hp_fashioniq.write_questions)
copy_run = _copy(trec.read_trec_run, trec.write_trec_run, lambda run: run.notes)
copy_qrels = _copy(qrels.read_qrels, qrels.write_qrels)
