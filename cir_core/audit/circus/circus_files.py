"""Read and write one retriever's audit in CIRCUS's format.

Files from CIRCUS itself give one rank per input (the best target's); ours round-trip without loss.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, NonNegativeInt

from cir_core.audit.aggregate import label_of
from cir_core.audit.circus.circus_form import (
    OURS,
    PathIndex,
    ablation_of,
    check_same_queries,
    common_metadata,
    file_sha256,
    gallery_of,
    lines_of,
    made_with,
    sample,
    summary_of,
    write_document,
)
from cir_core.audit.circus.circus_samples import QueryFinder, Sample, read_samples
from cir_core.audit.records import (
    CUTOFF,
    TOP_K,
    VARIANTS,
    QueryAudit,
    Ranking,
    RetrieverRun,
    RunCard,
    Variant,
    pools_digest,
)
from cir_core.datasets.content import Content, Source
from cir_core.datasets.files.issues import RAISE, ValidationIssues
from cir_core.datasets.files.json_files import Record, first_value, read_object, validated
from cir_core.datasets.records import Benchmark, CaptionMode, caption_mode_of
from cir_core.support.texts import quoted

_FILE_NAME = re.compile(r"retrieval_data_.+?_task\d+_(.+)\.json")
_SWAPPED: dict[Variant, Variant] = {"multimodal": "multimodal", "text_only": "image_only", "image_only": "text_only"}


class _Problem(BaseModel):
    query_idx: NonNegativeInt
    query_id: str
    problem: str


class _Own(BaseModel):
    card: RunCard
    gallery_ids: list[str]
    problems: list[_Problem]


def write_run(path: Path, run: RetrieverRun, benchmark: Benchmark, *, whole: Benchmark | None = None) -> None:
    """``benchmark`` is the audited part, perhaps the first queries of ``whole``, in which
    ``query_idx`` counts. Raises ``DatasetError`` if the run's queries are not the benchmark's."""
    check_same_queries(benchmark, run)
    gallery, card, lines = gallery_of(benchmark, [run]), run.card, lines_of(benchmark, whole)
    samples = []
    for position, answer in enumerate(run.queries):
        if not answer.problem:
            best = {variant: answer.rankings[variant].best for variant in VARIANTS}
            category = label_of(best, 0, k=card.k, min_support=1)[2]
            samples.append(sample(benchmark, position, gallery, answer.rankings,
                                  line=lines[position], category=category, k=card.k, instruction=card.instruction))
    head = {
        "metadata": {**common_metadata(benchmark, [run], len(samples), card.k), **made_with(card)},
        "summary": summary_of(samples),
        OURS: _Own(card=card, gallery_ids=list(gallery.ids), problems=[
            _Problem(query_idx=lines[position], query_id=answer.query_id, problem=answer.problem)
            for position, answer in enumerate(run.queries) if answer.problem]).model_dump(),
    }
    write_document(path, head, gallery, samples)


def run_content(source: Source) -> Content:
    run = read_run(source.path, source.faults)
    ranked = [answer for answer in run.queries if not answer.problem]
    return Content({
        "retriever": run.card.retriever, "data set": run.card.dataset, "ablation": run.card.ablation,
        "queries": len(run.queries), "queries without ranks": len(run.queries) - len(ranked),
        **{f"in the first {run.card.k}, {variant}": sum(one.rankings[variant].best <= run.card.k for one in ranked)
           for variant in VARIANTS},
    })


def read_run(path: Path, faults: ValidationIssues = RAISE, *, benchmark: Benchmark | None = None) -> RetrieverRun:
    """Read a per-retriever file, CIRCUS's or ours.

    Args:
        benchmark: the data set it was made from. A file of CIRCUS then gets its query ids and
            image ids, is checked against its texts, and is comparable with other runs of the same data
            set; queries it lacks have a problem. Without it, files are comparable only with each other.

    Raises ``DatasetError`` with file and record unless ``faults`` collects.
    """
    document = read_object(path, faults)
    own = None
    if OURS in document:
        own = validated(_Own, document[OURS], path, f"key {quoted(OURS)}", faults)
    samples = read_samples(path, document, faults)
    if own is not None and len(own.gallery_ids) != len(document.get("gallery_paths", [])):
        faults.add(path, "key 'cirque'", "it has other images than gallery_paths", "Write the file again")
        samples = []
    if own is not None:
        return _our_run(path, own, samples, benchmark, faults)
    metadata = document.get("metadata") if isinstance(document.get("metadata"), dict) else {}
    return _foreign_run(path, metadata or {}, document, samples, benchmark, faults)


def pools_on_card(path: Path) -> str:
    """``pools_digest`` of a file written by cirque, read from its head; "" for any other file."""
    found = first_value(path, f"{OURS}.card.pools_digest")
    return found if isinstance(found, str) else ""


def _our_run(
    path: Path, own: _Own, samples: Sequence[tuple[int, Sample]], benchmark: Benchmark | None, faults: ValidationIssues,
) -> RetrieverRun:
    card = own.card
    if benchmark is not None and card.dataset_digest != benchmark.digest:
        problem = f"it was made from another copy or form of {card.dataset}"
        remedy = f"Read {benchmark.name} with the split and caption mode of the file ({card.caption_mode})"
        if card.dataset == benchmark.name and card.pools_digest != pools_digest(benchmark.pools):
            problem = f"the images that it ranks are not those that {benchmark.name} has here"
            remedy = "Name the gallery that it was made over with --gallery, or the same list of images with --pool"
        faults.add(path, "", problem, f"{remedy}; the same --limit too, if it is of the first queries only")
    answers = {problem.query_idx: QueryAudit(problem.query_id, {}, problem.problem) for problem in own.problems}
    for number, one in samples:
        ranks = one.cirque.ranks if one.cirque else {}
        if one.query_id is None or any(min(ranks.get(v) or [0]) != one.ranks.get(v) for v in VARIANTS):
            faults.add(path, f"sample {number}", "its ranks and those under 'cirque' differ", "Write the file again")
            continue
        answers[one.query_idx] = QueryAudit(one.query_id, {
            variant: Ranking(tuple(ranks[variant]), tuple(own.gallery_ids[i] for i in one.retrievals.get(variant, [])))
            for variant in VARIANTS
        })
    return RetrieverRun(card, tuple(answers[position] for position in sorted(answers)))


def _foreign_run(
    path: Path, metadata: Record, document: Record, samples: Sequence[tuple[int, Sample]],
    benchmark: Benchmark | None, faults: ValidationIssues,
) -> RetrieverRun:
    index = PathIndex(benchmark, str(metadata.get("mbeir_root") or ""))
    images = [index.find(str(image)) for image in document.get("gallery_paths", [])]
    ablation, swapped = ablation_of(metadata)
    queries = QueryFinder(benchmark)
    answers: dict[str, QueryAudit] = {}
    for number, one in samples:
        if (query_id := queries.find(path, f"sample {number}", one, faults)) is None:
            continue
        rankings: dict[Variant, Ranking] = {}
        for variant in VARIANTS:
            source = _SWAPPED[variant] if swapped else variant
            if (rank := one.ranks.get(source)) is not None:
                rankings[variant] = Ranking((rank,), tuple(images[i] for i in one.retrievals.get(source, [])))
        whole = len(rankings) == len(VARIANTS)
        problem = "" if whole else f"{path.name} lacks a rank"
        answers[query_id] = QueryAudit(query_id, rankings if whole else {}, problem)
    if benchmark is not None:
        absent = f"not in {path.name}"
        answers = {q.query_id: answers.get(q.query_id, QueryAudit(q.query_id, {}, absent)) for q in benchmark.queries}
    named = _FILE_NAME.fullmatch(path.name)
    dataset = str(metadata.get("dataset") or path.stem)
    instruction = metadata.get("query_instruction")
    card = RunCard(
        dataset=benchmark.name if benchmark else dataset,
        dataset_digest=benchmark.digest if benchmark else _digest_of(samples),
        pools_digest=_pools_of(benchmark, images),
        retriever=named[1] if named else str(metadata.get("retriever_class") or path.stem),
        identity={"file_sha256": file_sha256(path), "file_form": "circus", "variants_swapped": swapped,
                  **{key: metadata.get(key) for key in ("retriever_module", "retriever_class", "normalize")}},
        ablation=ablation,
        instruction=None if instruction is None else str(instruction),
        caption_mode=caption_mode_of(benchmark.queries) if benchmark else circus_captions(dataset),
        top_k=_positive(metadata.get("top_k"), TOP_K), k=_positive(metadata.get("k"), CUTOFF),
    )
    return RetrieverRun(card, tuple(answers.values()))


def _pools_of(benchmark: Benchmark | None, images: Sequence[str]) -> str:
    if benchmark is not None and len(benchmark.pools) == 1:
        (pool,) = benchmark.pools.values()
        if pool is not None and frozenset(pool) == frozenset(images):
            return pools_digest(benchmark.pools)
    return pools_digest({"": sorted(images)})


def _digest_of(samples: Sequence[tuple[int, Sample]]) -> str:
    lines = sorted(f"{one.query_idx}\n{one.query_text or ''}\n" for _, one in samples)
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]


def circus_captions(dataset: str) -> CaptionMode:
    """Caption mode of CIRCUS's texts, which its files do not state: it audits M-BEIR's query files."""
    return "m-beir" if dataset.casefold().startswith("fashioniq") else "single"


def _positive(value: object, otherwise: int) -> int:
    return value if isinstance(value, int) and value > 0 else otherwise
