"""Small benchmarks and audit runs written down as ranks."""

from collections.abc import Mapping, Sequence

from cir_core.audit.records import VARIANTS, QueryAudit, Ranking, RetrieverRun, RunCard, pools_digest
from cir_core.datasets.records import Benchmark, BenchmarkQuery, caption_mode_of

IMAGES = 1_000
Ranks = int | tuple[int, ...]


def image(number: int) -> str:
    return f"i{number:03}"


def benchmark(queries: int = 4, *, targets: int = 1) -> Benchmark:
    """Query n is "make it blue, n", its reference image n and its targets n + 1, n + 2, …"""
    return Benchmark(
        "tiny", "val",
        tuple(BenchmarkQuery(f"q{n}", image(n), f"make it blue, {n}",
                             tuple(image(n + 1 + t) for t in range(targets))) for n in range(queries)),
        {"": tuple(map(image, range(IMAGES)))},
        lambda image_id: (f"pictures/{image_id}.jpg",),
    )


def run(
    of: Benchmark, retriever: str, ranks: Sequence[tuple[Ranks, Ranks, Ranks] | str], *,
    top: Mapping[int, Sequence[str]] | None = None, **card: object,
) -> RetrieverRun:
    """``ranks``: for each query those under both, text, image, or a problem; ``top``: by position,
    the multimodal results."""
    facts: dict[str, object] = {
        "dataset": of.name, "dataset_digest": of.digest, "pools_digest": pools_digest(of.pools),
        "retriever": retriever, "identity": {"method": retriever}, "ablation": "black", "instruction": None,
        "caption_mode": caption_mode_of(of.queries), **card,
    }
    answers = []
    for position, (query, found) in enumerate(zip(of.queries, ranks, strict=True)):
        if isinstance(found, str):
            answers.append(QueryAudit(query.query_id, {}, found))
            continue
        several = [(rank,) if isinstance(rank, int) else rank for rank in found]
        shown = [tuple((top or {}).get(position, ())), (), ()]
        answers.append(QueryAudit(query.query_id, {
            variant: Ranking(of_variant, images)
            for variant, of_variant, images in zip(VARIANTS, several, shown, strict=True)
        }))
    return RetrieverRun(RunCard(**facts), tuple(answers))
