"""Common format of CIRCUS's per-retriever and aggregate JSON: ``{metadata, summary,
gallery_paths, samples}``, one sample per query, images as indices into ``gallery_paths``.

CIRCUS stores one rank per input, the best target's. All ranks, image ids and the run's card
are under the key ``cirque``, which its own tools ignore.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, get_args

from cir_core.audit.records import VARIANTS, Legacy, Ranking, RetrieverRun, RunCard, Variant
from cir_core.datasets.records import Benchmark
from cir_core.errors import DatasetError
from cir_core.support.files import write_atomically

OURS = "cirque"
TASK_ID = 7   # M-BEIR's number for image and text to image
_OPERATIONS = ("img_black", "text_drop_all")
_OLD_NAMES = {"image_only_zero_image": "img_black", "text_only_drop_text": "text_drop_all"}
_TAKEN_AWAY = {"black": ("img_black", "text_drop_all"), "drop": ("img_drop", "text_drop")}


@dataclass(frozen=True)
class WrittenGallery:
    """The images of one file; indices refer to ``gallery_paths``."""

    ids: tuple[str, ...]
    paths: tuple[str, ...]
    place: Mapping[str, int]


def gallery_of(benchmark: Benchmark, runs: Sequence[RetrieverRun]) -> WrittenGallery:
    """Every pool's images in order, then targets and results outside the pools (or of a pool that
    the data set does not list)."""
    ids = dict.fromkeys(image_id for pool in benchmark.pools.values() for image_id in pool or ())
    for query in benchmark.queries:
        ids.update(dict.fromkeys(query.target_ids))
    for run in runs:
        for answer in run.queries:
            for ranking in answer.rankings.values():
                ids.update(dict.fromkeys(ranking.top))
    return WrittenGallery(
        tuple(ids), tuple(image_path(benchmark, image_id) for image_id in ids),
        {image_id: place for place, image_id in enumerate(ids)},
    )


def image_path(benchmark: Benchmark, image_id: str) -> str:
    """Path of an image in releases, relative to the image root; its id if unknown."""
    return next(iter(benchmark.image_paths(image_id)), image_id)


def lines_of(benchmark: Benchmark, whole: Benchmark | None) -> Sequence[int]:
    """``query_idx`` of each query: its line in ``whole``, the benchmark as in its files."""
    whole = whole or benchmark
    line = {query.query_id: whole.line_of(position) for position, query in enumerate(whole.queries)}
    return [line[query.query_id] for query in benchmark.queries]


def full_text(text: str, instruction: str | None) -> str:
    return f"{instruction}\n{text}" if instruction else text


def sample(
    benchmark: Benchmark, position: int, gallery: WrittenGallery, rankings: Mapping[Variant, Ranking], *,
    line: int, category: Legacy, k: int, instruction: str | None,
) -> dict[str, Any]:
    """One entry of ``samples``. ``rankings`` are one retriever's, or the best ones of a pool; ``line``
    is the query's in the whole data set (:func:`lines_of`)."""
    query = benchmark.queries[position]
    paths = [image_path(benchmark, target) for target in query.target_ids]
    places = [gallery.place[target] for target in query.target_ids]
    record: dict[str, Any] = {
        "query_idx": line,
        "query_id": query.query_id,
        "query_text": query.modification_text,
        "full_text": full_text(query.modification_text, instruction),
        "query_image_path": image_path(benchmark, query.reference_id),
        "target_image_path": paths[0] if paths else None,
        "target_gallery_index": places[0] if places else None,
        "category": category,
        "ranks": {variant: rankings[variant].best for variant in VARIANTS},
        "hits_at_k": {variant: rankings[variant].best <= k for variant in VARIANTS},
        "retrievals": {variant: [gallery.place[i] for i in rankings[variant].top] for variant in VARIANTS},
        OURS: {"ranks": {variant: list(rankings[variant].ranks) for variant in VARIANTS}},
    }
    if len(paths) > 1:
        best: dict[Variant, int | None] = {}
        for variant in VARIANTS:
            ranks = rankings[variant].ranks
            # An external file may contain the best rank without naming its retriever.
            best[variant] = ranks.index(min(ranks)) if len(ranks) == len(paths) else None
        record |= {
            "canonical_target_image_path": paths[0],
            "canonical_target_gallery_index": places[0],
            "num_gt": len(paths),
            "positive_candidate_ids": list(query.target_ids),
            "positive_target_image_paths": paths,
            "positive_gallery_indices": sorted(places),
            "best_positive_image_paths": {v: None if of is None else paths[of] for v, of in best.items()},
            "best_positive_gallery_indices": {v: None if of is None else places[of] for v, of in best.items()},
        }
    return record


def common_metadata(benchmark: Benchmark, runs: Sequence[RetrieverRun], samples: int, k: int) -> dict[str, Any]:
    card = runs[0].card
    text, image = _TAKEN_AWAY.get(card.ablation, (card.ablation, card.ablation))
    return {
        "dataset": benchmark.dataset or benchmark.name, "task_id": TASK_ID,
        "k": k, "top_k": min(run.card.top_k for run in runs),
        "normalize": _normalize(runs), "multi_positive": any(len(query.target_ids) > 1 for query in benchmark.queries),
        "query_instruction": next((r.card.instruction for r in runs if r.card.instruction is not None), None),
        "text_only_attack_json": None, "text_only_attack_name": text, "text_only_attack_sig": text,
        "image_only_attack_json": None, "image_only_attack_name": image, "image_only_attack_sig": image,
        "total_queries": samples,
    }


def made_with(card: RunCard) -> dict[str, Any]:
    """Metadata on the retriever's code for a per-retriever file. For external ranks, that of
    their own file; null if that has none."""
    form = card.identity.get("file_form")
    if form == "circus":
        return {key: card.identity.get(key) for key in ("retriever_module", "retriever_class", "normalize")}
    module, normalize = (None, None) if form else (OURS, True)
    return {"retriever_module": module, "retriever_class": card.retriever, "normalize": normalize}


def _normalize(runs: Sequence[RetrieverRun]) -> bool | None:
    """Whether rows were normalised; null if unknown for any, or if the retrievers differ."""
    first, *others = (made_with(run.card)["normalize"] for run in runs)
    return first if isinstance(first, bool) and all(other is first for other in others) else None


def summary_of(samples: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The common part of a file's summary; recall in percent with two decimals as in CIRCUS."""
    counted = Counter(one["category"] for one in samples)
    recalls = {
        variant: round(100 * sum(s["hits_at_k"][variant] for s in samples) / len(samples), 2) if samples else 0.0
        for variant in VARIANTS
    }
    return {"counts": {category: counted[category] for category in get_args(Legacy)}, "recall_at_k": recalls}


def check_same_queries(benchmark: Benchmark, run: RetrieverRun) -> None:
    if [query.query_id for query in benchmark.queries] != [answer.query_id for answer in run.queries]:
        raise DatasetError(f"The run of {run.card.retriever} does not have the queries of {benchmark.name}, in their "
                           "order. Write it with the data set it was made from.")


def write_document(path: Path, head: Mapping[str, Any], gallery: WrittenGallery, samples: Iterable[Any]) -> None:
    """Deterministic; one image and one sample per line."""
    blocks = [f'"{name}": {as_json(value)}' for name, value in head.items()]
    blocks.append(_lines("gallery_paths", gallery.paths))
    blocks.append(_lines("samples", samples))
    write_atomically(path, ("{\n" + ",\n".join(blocks) + "\n}\n").encode())


def as_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)


def ablation_of(metadata: Mapping[str, Any]) -> tuple[str, bool]:
    """How a file's inputs were ablated, and whether its two unimodal columns are swapped.

    Decided by the operation: ``img_black`` leaves the text, ``text_drop_all`` the image. CIRCUS's configuration files
    are named after the input they remove, so a name alone is misleading; it is used only if no operation is given.
    """
    text, image = (_operation(metadata, f"{variant}_attack") for variant in ("text_only", "image_only"))
    if (text, image) == ("img_black", "text_drop_all"):
        return "black", False
    if (text, image) == ("text_drop_all", "img_black"):
        return "black", True
    signatures = [str(metadata.get(f"{v}_attack_sig") or "unknown") for v in ("text_only", "image_only")]
    ours = next((name for name, pair in _TAKEN_AWAY.items() if list(pair) == signatures), None)
    return ours or (signatures[0] if signatures[0] == signatures[1] else " | ".join(signatures)), False


class PathIndex:
    """Map paths of other machines to a data set's image ids, by their longest common suffix."""

    def __init__(self, benchmark: Benchmark | None, root: str = "") -> None:
        self._root = root.rstrip("/") + "/" if root else ""
        self._ids: dict[str, str] = {}
        for image_id in benchmark.image_ids if benchmark else ():
            for path in (*benchmark.image_paths(image_id), image_id) if benchmark else ():
                self._ids.setdefault(path, image_id)

    def find(self, path: str) -> str:
        """The id, or the path relative to the file's own root if no image matches."""
        parts = PurePosixPath(path.replace("\\", "/")).parts
        for start in range(len(parts)):
            if (found := self._ids.get("/".join(parts[start:]))) is not None:
                return found
        return path.removeprefix(self._root)


def file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _operation(metadata: Mapping[str, Any], prefix: str) -> str | None:
    texts = [as_json(metadata.get(f"{prefix}_{key}")) for key in ("sig", "json", "name")]
    for wanted in (dict(zip(_OPERATIONS, _OPERATIONS, strict=True)), _OLD_NAMES):
        for text in texts:
            if found := next((operation for name, operation in wanted.items() if name in text), None):
                return found
    return None


def _lines(name: str, records: Iterable[Any]) -> str:
    lines = ",\n".join(map(as_json, records))
    return f'"{name}": [\n{lines}\n]' if lines else f'"{name}": []'
