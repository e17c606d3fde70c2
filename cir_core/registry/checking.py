"""Check a local copy of a data set: its contents, and all its faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from cir_core.datasets.content import Content, Source
from cir_core.datasets.files.image_files import ImageFolder
from cir_core.datasets.files.issues import Fault, ValidationIssues
from cir_core.datasets.records import Benchmark, CaptionMode
from cir_core.errors import CirqueError, DatasetError
from cir_core.registry.kinds import checked_kind
from cir_core.support.texts import quoted

NAMED = 20  # missing images listed by name; all are counted


@dataclass(frozen=True)
class CheckReport:
    """``faults`` may be fewer than ``fault_count``, ``missing_images`` fewer than ``missing_count``: a broken copy has
    the same fault everywhere. ``images`` is the searched root, None if images were not checked."""

    kind: str
    path: str
    counts: Mapping[str, int | float | str]
    faults: Sequence[Fault] = ()
    fault_count: int = 0
    notes: Sequence[str] = ()
    images: str | None = None
    image_count: int = 0
    missing_count: int = 0
    missing_images: Sequence[str] = ()
    content: Content | None = field(default=None, repr=False, compare=False)

    @property
    def ok(self) -> bool:
        return not self.fault_count and not self.missing_count

    def as_json(self) -> dict[str, Any]:
        """Plain JSON: the counts, each fault with file, record, problem and remedy, missing images."""
        images = None if self.images is None else {
            "root": self.images, "images": self.image_count, "missing": self.missing_count,
            "first_missing": list(self.missing_images),
        }
        return {
            "kind": self.kind, "path": self.path, "ok": self.ok, "counts": dict(self.counts),
            "fault_count": self.fault_count, "faults": [asdict(fault) for fault in self.faults],
            "notes": list(self.notes), "images": images,
        }


def check(
    kind: str, path: Path, *, images: Path | None = None, annotations: Path | None = None, pool: Path | None = None,
    split: str | None = None, caption_mode: CaptionMode | None = None,
) -> CheckReport:
    """Read everything, continue past faults, and look for the images under ``images``.

    Raises ``DatasetError`` for an unknown kind, a missing path, an option the kind does not
    support, and ``images`` for a kind that names none; never for the files' contents.
    """
    faults = ValidationIssues(collect=True)
    source = Source(path, faults, split, caption_mode, pool, annotations)
    found = checked_kind(kind, source)
    try:
        content = found.read(source)
    except CirqueError as error:  # a missing file or one of another kind ends the reading
        problem, _, remedy = str(error).rpartition(". ")
        faults.add(path, "", (problem or str(error)).removeprefix(f"{path} "), remedy or "Check the path")
        content = Content({})
    if content.benchmark is not None:
        _twice(path, content.benchmark, faults)
    if not faults.count and _is_empty(content):
        faults.add(path, "", "it contains nothing of this kind", f"Expected: {found.expects}")
    report = CheckReport(kind, str(path), content.counts, tuple(faults.found), faults.count, tuple(content.notes),
                         content=content)
    return report if images is None else _with_images(report, content, images)


def _with_images(report: CheckReport, content: Content, images: Path) -> CheckReport:
    if content.image_paths is None:
        if report.fault_count:  # nothing was read
            return report
        raise DatasetError(f"{report.kind} names no images of its own. Leave --images out.")
    missing = ImageFolder(images, content.image_paths).missing(content.image_ids)
    return CheckReport(
        report.kind, report.path, report.counts, report.faults, report.fault_count, report.notes, str(images),
        len(content.image_ids), len(missing), tuple(missing[:NAMED]), content,
    )


def _is_empty(content: Content) -> bool:
    if content.benchmark is not None:
        return not content.benchmark.queries
    return not any(number for number in content.counts.values() if not isinstance(number, str))


def _twice(path: Path, benchmark: Benchmark, faults: ValidationIssues) -> None:
    """Repeated ids that readers accept."""
    for query_id in _repeated(query.query_id for query in benchmark.queries):
        faults.add(path, f"query {quoted(query_id)}", "its id occurs more than once", "Give each query its own id")
    for name, pool in benchmark.pools.items():
        for image_id in _repeated(pool or ()):
            faults.add(path, f"pool {quoted(name)}", f"image {quoted(image_id)} occurs more than once",
                       "Keep one of them")


def _repeated(ids: Iterable[str]) -> list[str]:
    return [one for one, number in Counter(ids).items() if number > 1]
