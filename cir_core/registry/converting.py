"""Convert a data set's files to another format, or rewrite them in their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cir_core.datasets.mbeir_writing import write_mbeir
from cir_core.datasets.readers.qrels import write_qrels
from cir_core.datasets.records import Benchmark, CaptionMode
from cir_core.errors import DatasetError
from cir_core.registry.kinds import find_kind, read_benchmark
from cir_core.support.texts import quoted


@dataclass(frozen=True)
class Converted:
    """``written`` are the files; ``notes`` are remarks on their source."""

    written: Sequence[Path]
    notes: Sequence[str] = ()


def forms_of(kind: str) -> tuple[str, ...]:
    """Formats that files of ``kind`` can be converted to. Raises ``DatasetError`` for an unknown kind."""
    found = find_kind(kind)
    return tuple(dict.fromkeys((*((kind,) if found.copy else ()), *(_OF_BENCHMARKS if found.is_benchmark else ()))))


def convert(
    kind: str, path: Path, form: str, out: Path, *, split: str | None = None, caption_mode: CaptionMode | None = None,
    pool: Path | None = None,
) -> Converted:
    """Write the contents of ``path`` to ``out`` in ``form``: a file, or a folder for "mbeir".

    A form of the kind's own name rewrites the released format; CIRCLED's raw sessions become public ones. Existing
    files at ``out`` are replaced. Raises ``DatasetError`` for a form that the kind does not support, at the first fault
    of the files, for an option without effect, and if ``out`` cannot be written or contains the source.
    """
    if form not in (forms := forms_of(kind)):
        can = f"It can be written as: {', '.join(forms)}." if forms else "Its files have no other form."
        raise DatasetError(f"{kind} cannot be written as {quoted(form)}. {can}")
    if not path.exists():
        raise DatasetError(f"{path} is missing. Check the path.")
    if any(_would_replace(out.resolve(), given.resolve(), form) for given in (path, pool) if given is not None):
        raise DatasetError(f"{out} contains the input, which would be overwritten. Choose another place.")
    try:
        if (copy := find_kind(kind).copy) is None or form != kind:
            benchmark = read_benchmark(kind, path, split=split, caption_mode=caption_mode, pool=pool)
            return Converted(_OF_BENCHMARKS[form](out, benchmark), benchmark.notes)
        for name, value in (("split", split), ("caption mode", caption_mode), ("pool", pool)):
            if value is not None:
                raise DatasetError(f"{kind} in its own form takes no {name}. Leave it out.")
        return Converted((out,), copy(path, out))
    except OSError as error:
        raise DatasetError(f"{out} cannot be written: {error.strerror}. Choose another place.") from error


def _would_replace(out: Path, given: Path, form: str) -> bool:
    within = out.exists() and given in out.parents
    return out == given or within or (form == "mbeir" and out in given.parents)


def _write_targets(out: Path, benchmark: Benchmark) -> tuple[Path, ...]:
    """Every target with grade 1. Qrels have no line for a query without a target."""
    if not any(query.target_ids for query in benchmark.queries):
        raise DatasetError(f"{benchmark.name} hides its targets, and qrels consist of targets. Use another split.")
    write_qrels(out, {query.query_id: dict.fromkeys(query.target_ids, 1) for query in benchmark.queries})
    return (out,)


_OF_BENCHMARKS: Mapping[str, Callable[[Path, Benchmark], Sequence[Path]]] = {
    "mbeir": write_mbeir,
    "trec-qrels": _write_targets,
}
