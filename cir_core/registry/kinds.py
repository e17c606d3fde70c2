"""The kinds of files that cirque reads, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.readers import circo, cirr, fashioniq, lasco, mbeir
from cir_core.datasets.records import Benchmark, CaptionMode
from cir_core.errors import DatasetError

# The top of this package: its readers of runs and audits import those packages when they are called,
# since both read their own files through the modules below here. They never import the registry.
from cir_core.registry import audit_contents, contents
from cir_core.registry.contents import Content, Reader, Source, of_benchmark
from cir_core.sample import benchmark as sample
from cir_core.support.texts import quoted

Option = Literal["split", "caption_mode", "pool", "annotations"]


@dataclass(frozen=True)
class Kind:
    """``expects`` says what PATH is; ``options`` what else its reader takes. ``is_benchmark``: it has
    queries that can be ranked."""

    name: str
    title: str
    expects: str
    read: Reader
    options: tuple[Option, ...] = ()
    is_benchmark: bool = False


def _benchmark(read: Callable[..., Benchmark], *options: Option) -> dict[str, Any]:
    """A benchmark's reader, which also takes ``faults`` and ``options``."""

    def content(source: Source) -> Content:
        given = {option: getattr(source, option) for option in options}
        return of_benchmark(read(source.path, faults=source.faults, **given))

    return {"read": content, "options": options, "is_benchmark": True}


_ALL = (
    Kind("sample", "the sample gallery's own benchmark", "the folder it was drawn to (default: cirque's own)",
         **_benchmark(sample.read_benchmark, "split", "caption_mode")),
    Kind("fashioniq", "FashionIQ", "the folder with captions/ and image_splits/",
         **_benchmark(fashioniq.read_benchmark, "split", "caption_mode")),
    Kind("cirr", "CIRR", "the folder with captions/ and image_splits/, or a cap.rc2 file",
         **_benchmark(cirr.read_benchmark, "split", "caption_mode")),
    Kind("circo", "CIRCO", "the folder with annotations/, or val.json or test.json",
         **_benchmark(circo.read_benchmark, "split", "caption_mode")),
    Kind("lasco", "LaSCo", "the folder, or a lasco_<split>.json", **_benchmark(lasco.read_benchmark, "split")),
    Kind("mbeir", "anything in M-BEIR's form", "the folder with query/ and cand_pool/, or a query JSONL",
         **_benchmark(mbeir.read_benchmark, "split", "pool")),
    Kind("circled", "CIRCLED's sessions; as a benchmark, their first turns", "a JSON file, public or raw form",
         contents.circled, is_benchmark=True),
    Kind("soft-multi-target", "SoFT's multi-target queries", "the JSON file; the gallery's split file as --pool",
         contents.soft_multi_target, ("split", "caption_mode", "pool"), is_benchmark=True),
    Kind("soft-single-target", "SoFT's rewritten queries", "the JSON file; the gallery's split file as --pool",
         contents.soft_single_target, ("split", "pool"), is_benchmark=True),
    Kind("soft-candidates", "SoFT's candidates", "a by_caption_query, by_joined_query or by_tg_img JSON file",
         contents.soft_candidates),
    Kind("soft-constraints", "SoFT's constraint cache", "a <data set>_const_<model>.json", contents.soft_constraints),
    Kind("hp-fashioniq", "HP-FashionIQ: people's scores of retrieved sets", "hpfiq.json", contents.hp_fashioniq),
    Kind("trec-run", "a TREC run", "lines: query Q0 image rank score tag", contents.trec_run),
    Kind("trec-qrels", "relevance judgements", "TREC lines, or tabs with a header", contents.trec_qrels),
    Kind("circo-submission", "a submission to CIRCO's server", "its JSON file; CIRCO as --annotations",
         contents.circo_submission, ("split", "annotations")),
    Kind("cirr-submission", "a submission to CIRR's server", "its JSON file or their folder; CIRR as --annotations",
         contents.cirr_submission, ("split", "annotations")),
    Kind("circus-audit", "a shortcut audit in CIRCUS's form", "the JSON file of one retriever, or of their aggregate",
         audit_contents.circus_audit),
    Kind("circus-traces", "queries of a shortcut audit, validated or shortcut-free", "a JSONL file of traces",
         audit_contents.circus_traces),
)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _ALL}


def find_kind(name: str) -> Kind:
    """Raises ``DatasetError`` naming those that there are."""
    if name not in KINDS:
        raise DatasetError(f"There is no kind of data set {quoted(name)}. There are: {', '.join(KINDS)}.")
    return KINDS[name]


def checked_kind(name: str, source: Source) -> Kind:
    """The kind that reads ``source``. Raises ``DatasetError`` for an unknown kind, an option that it
    does not take, and a path that is not there."""
    kind = find_kind(name)
    for option in get_args(Option):
        if getattr(source, option) is not None and option not in kind.options:
            raise DatasetError(f"{name} takes no {option.replace('_', ' ')}. Leave it out.")
    for path in (source.path, source.pool, source.annotations):
        if path is not None and not path.exists():
            raise DatasetError(f"{path} is missing. Check the path.")
    return kind


def read_benchmark(
    kind: str, path: Path, *, split: str | None = None, caption_mode: CaptionMode | None = None,
    pool: Path | None = None, faults: ValidationIssues | None = None,
) -> Benchmark:
    """The data set at ``path`` as queries and pools.

    ``pool`` lists the gallery for kinds whose files do not. Raises ``DatasetError`` as
    :func:`checked_kind` does, for a kind without queries to rank, and at the first fault unless
    ``faults`` collects.
    """
    source = Source(path, ValidationIssues() if faults is None else faults, split, caption_mode, pool)
    found = checked_kind(kind, source)
    if not found.is_benchmark:
        names = ", ".join(name for name, one in KINDS.items() if one.is_benchmark)
        raise DatasetError(f"{kind} has no queries that could be ranked. Benchmarks are: {names}.")
    benchmark = found.read(source).benchmark
    assert benchmark is not None, kind
    if not benchmark.queries and not source.faults.count:
        raise DatasetError(f"{path} holds no query of {kind}. Expected: {found.expects}.")
    return benchmark
