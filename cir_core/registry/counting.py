"""Statistics of a data set, as printed in papers, for comparison with a local copy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from cir_core.datasets.readers.hp_fashioniq import SCORES, Question
from cir_core.datasets.records import Benchmark, group_of

if TYPE_CHECKING:
    from cir_core.datasets.readers.circled import CircledSession
    from cir_core.datasets.readers.soft import FoundCandidates, MultiTarget, SingleTarget
    from cir_core.datasets.readers.soft_constraints import ConstraintCache
    from cir_core.datasets.readers.soft_scores import GroupScores
    from cir_core.evaluation.runs.records import Run

Counts = Mapping[str, int | float | str]


def benchmark_counts(benchmark: Benchmark) -> Counts:
    """Queries, images by pool, targets per query. "not listed": missing in the files."""
    queries = benchmark.queries
    counts: dict[str, int | float | str] = {"queries": len(queries)}
    by_pool = Counter(query.pool for query in queries)
    if benchmark.own_galleries:
        counts |= _of_own_galleries(benchmark)
    for name, pool in benchmark.pools.items() if not benchmark.own_galleries else ():
        label = f", {name}" if len(benchmark.pools) > 1 else ""
        if label:
            counts[f"queries{label}"] = by_pool[name]
        counts[f"images{label}"] = "not listed" if pool is None else len(pool)
    counts["reference images"] = len({query.reference_id for query in queries})
    targets = [len(query.target_ids) for query in queries if query.target_ids]
    if targets:
        counts["target images"] = len({name for query in queries for name in query.target_ids})
        counts["targets of a query, mean"] = mean(targets)
        counts["targets of a query, most"] = max(targets)
    if hidden := len(queries) - len(targets):
        counts["queries without targets"] = hidden
    if counted := sum(bool(query.subset_ids) for query in queries):
        counts["queries with a subset"] = counted
    counts["words of a text, mean"] = mean([len(query.modification_text.split()) for query in queries])
    aspects = Counter(aspect for query in queries for aspect in query.aspects)
    counts.update({f"aspect {name}": number for name, number in sorted(aspects.items())})
    return counts


def _of_own_galleries(benchmark: Benchmark) -> dict[str, int]:
    """By group: queries, and the sizes of their galleries."""
    sizes: dict[str, list[int]] = {}
    for name, pool in benchmark.pools.items():
        sizes.setdefault(group_of(name), []).append(len(pool or ()))
    counts = {"images": len({image_id for pool in benchmark.pools.values() for image_id in pool or ()})}
    for group, of in sizes.items():
        counts |= {f"queries, {group}": len(of), f"images of a query, {group}, least": min(of),
                   f"images of a query, {group}, most": max(of)}
    return counts


def hp_counts(questions: Sequence[Question]) -> Counts:
    """People, questions, scores by value, preferences; the share of shown sets that contain the target."""
    shown = [(question, one) for question in questions for one in question.sets]
    scores = Counter(one.score for _, one in shown)
    categories = Counter(question.category for question in questions)
    preferred = Counter(question.preferred for question in questions)
    return {
        "people": len({question.user for question in questions}),
        "question sets": len({(question.user, question.question_set) for question in questions}),
        "questions": len(questions),
        **{f"questions, {name}": number for name, number in sorted(categories.items())},
        "shown sets": len(shown),
        **{f"sets with score {score}": scores[score] for score in SCORES},
        "score, mean": mean([one.score for _, one in shown]),
        "set 1 preferred": preferred[1],
        "set 2 preferred": preferred[2],
        "share of sets with the target": mean([question.target_id in one.image_ids for question, one in shown]),
        "questions with equal scores": sum(one.sets[0].score == one.sets[1].score for one in questions),
        "preferences against the scores": sum(
            question.sets[question.preferred - 1].score < question.sets[2 - question.preferred].score
            for question in questions
        ),
        "questions with twice the same images": sum(
            set(one.sets[0].image_ids) == set(one.sets[1].image_ids) for one in questions
        ),
    }


def multi_target_counts(records: Sequence[MultiTarget], benchmark: Benchmark) -> Counts:
    """The file's own counts, before the reference is excluded, and then the benchmark's."""
    targets = [len(record.target_ids) for record in records]
    scores = [score for record in records for score in record.scores.values()]
    return {
        "records": len(records),
        "targets of a record, mean": mean(targets),
        "targets of a record, most": max(targets, default=0),
        "records with three targets or more": sum(number >= 3 for number in targets),
        "records without the original target": sum(one.original_target_id not in one.target_ids for one in records),
        "records with the reference as a target": sum(one.reference_id in one.target_ids for one in records),
        "confidence, least": min(scores, default=0.0),
        **benchmark_counts(benchmark),
    }


def single_target_counts(records: Sequence[SingleTarget], benchmark: Benchmark) -> Counts:
    distractors = [len(record.distractor_ids) for record in records]
    return {
        "records": len(records),
        "distractors of a record, least": min(distractors, default=0),
        "distractors of a record, most": max(distractors, default=0),
        "records that keep the original target": sum(one.target_id == one.original_target_id for one in records),
        "records whose target is the reference": sum(one.target_id == one.reference_id for one in records),
        **benchmark_counts(benchmark),
    }


def candidate_counts(records: Sequence[FoundCandidates]) -> Counts:
    found = [len(record.image_ids) for record in records]
    return {
        "queries": len(records),
        "queries with a text": sum(record.query is not None for record in records),
        "candidates of a query, least": min(found, default=0),
        "candidates of a query, most": max(found, default=0),
        "queries that found the target": sum(record.target_id in record.image_ids for record in records),
    }


def score_counts(records: Sequence[GroupScores]) -> Counts:
    scores = [score for one in records for score in one.scores.values()]
    return {
        "queries": len(records),
        "queries without candidates": sum(not one.scores for one in records),
        "confidences": len(scores),
        "confidence, mean": mean(scores),
        "queries whose target has a confidence": sum(one.target_id in one.scores for one in records),
    }


def constraint_counts(cache: ConstraintCache) -> Counts:
    entries = cache.constraints
    counts: dict[str, int | float | str] = {
        "model": cache.model or "not named",
        "queries": len(entries),
        "queries with a prescriptive text": sum(bool(entry.prescriptive) for entry in entries),
        "queries with a proscriptive text": sum(bool(entry.proscriptive) for entry in entries),
        "queries without any text": sum(not entry.prescriptive and not entry.proscriptive for entry in entries),
    }
    tokens = {"input tokens": cache.input_tokens, "output tokens": cache.output_tokens}
    return counts | {name: number for name, number in tokens.items() if number is not None}


def session_counts(sessions: Sequence[CircledSession]) -> Counts:
    lengths = [len(session.turns) for session in sessions]
    subsets = Counter(session.subset for session in sessions)
    return {
        "sessions": len(sessions),
        **({f"sessions, {name}": number for name, number in subsets.items()} if len(subsets) > 1 else {}),
        "turns": sum(lengths),
        "turns of a session, mean": mean(lengths),
        "turns of a session, most": max(lengths, default=0),
        **{f"sessions of {length} turns": number for length, number in sorted(Counter(lengths).items())},
        "targets of a session, mean": mean([len(session.target_ids) for session in sessions]),
    }


def run_counts(run: Run) -> Counts:
    counts: dict[str, int | float | str] = {"system": run.system}
    for label, rankings in (("", run.rankings), (", subset", run.subset_rankings)):
        if rankings:
            lengths = [len(ranking) for ranking in rankings.values()]
            counts[f"queries{label}"] = len(rankings)
            counts[f"images of a query{label}, least"] = min(lengths)
            counts[f"images of a query{label}, most"] = max(lengths)
    return counts


def qrels_counts(qrels: Mapping[str, Mapping[str, int]]) -> Counts:
    grades = Counter(grade for judged in qrels.values() for grade in judged.values())
    return {
        "queries": len(qrels),
        "judgements": grades.total(),
        "relevant": sum(number for grade, number in grades.items() if grade > 0),
        **({f"grade {grade}": number for grade, number in sorted(grades.items())} if len(grades) > 2 else {}),
        "queries without a relevant image": sum(not any(grade > 0 for grade in one.values()) for one in qrels.values()),
    }


def mean(numbers: Iterable[float]) -> float:
    """The mean; 0.0 of nothing, for a file without records."""
    known = list(numbers)
    return sum(known) / len(known) if known else 0.0
