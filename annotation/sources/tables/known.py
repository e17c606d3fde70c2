"""Tables, and files of data sets that are recognised by their fields and read as tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from annotation.sources.circus import read_circus
from annotation.sources.tables.files import Table, read_table_file
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.files.json_files import read_document
from cir_core.datasets.readers import circo, cirr, mbeir
from cir_core.datasets.records import Benchmark
from cir_core.errors import CirqueError, DatasetError

_NAMES = ("id", "text", "reference", "target", "dataset")


@dataclass(frozen=True)
class Form:
    """A data set's form. ``fields``: which every record has. ``read``: the table in a file of it."""

    title: str
    fields: frozenset[str]
    read: Callable[[Path, Table], Table]


def open_table(path: Path, known: Sequence[str] = ()) -> Table:
    """The table in a file; of a data set's file the queries that have a target, with a note. Raises ``DatasetError``
    (see :func:`annotation.sources.tables.files.read_table_file`)."""
    table = read_table_file(path, known)
    if not table.json:
        return table
    if len(table.rows) == 1:
        _refuse_judgements(path)
    form = next((form for form in FORMS if form.fields <= set(table.names)), None)
    if form is None:
        return table
    try:
        found = form.read(path, table)
    except CirqueError as error:
        raise DatasetError(f"{path.name} is a file of {form.title}, but cannot be read as one. {error}") from error
    return replace(found, notes=(f"{path.name} is a file of {form.title}.", *found.notes))


def _refuse_judgements(path: Path) -> None:
    try:
        form = judgements_form(path)
    except DatasetError:   # a table all the same
        return
    if form:
        raise DatasetError(f"{path.name} contains judgements in the form of {form}. Import them instead: “Import "
                           "judgements” on the page Studies, or cirque study import.")


def judgements_form(path: Path) -> str | None:
    """"CIRCUS" for an annotator file, "HP-FashionIQ" for one of its survey, by the fields of the JSON file; None for
    another file. Raises ``DatasetError`` for a file that is not JSON."""
    found = read_document(path, ValidationIssues())
    if not isinstance(found, dict):
        return None
    if found.keys() >= {"username", "assignments"}:
        return "CIRCUS"
    sets = [one for of in found.values() if isinstance(of, dict) for one in of.values()]
    return "HP-FashionIQ" if any(isinstance(one, dict) and "preferred set" in one for one in sets) else None


def _fashioniq(path: Path, table: Table) -> Table:
    names = {"candidate": "reference", "captions": "text"}
    return replace(table, names=tuple(names.get(name, name) for name in table.names))


def _benchmark(read: Callable[[Path], Benchmark]) -> Callable[[Path, Table], Table]:
    def converted(path: Path, table: Table) -> Table:
        benchmark = read(path)
        dataset = benchmark.dataset or benchmark.kind

        def path_of(image: str) -> str:
            return next(iter(benchmark.image_paths(image)), image)

        rows = [
            (f"record {benchmark.line_of(at)}", (
                query.query_id, query.modification_text, path_of(query.reference_id), path_of(query.target_ids[0]),
                dataset))
            for at, query in enumerate(benchmark.queries) if query.target_ids]
        if not rows:
            raise DatasetError("Its queries have no targets, which a test split hides. Use another split.")
        return Table(path.name, _NAMES, tuple(rows))
    return converted


def _circus(path: Path, table: Table) -> Table:
    source = read_circus(path)
    rows = tuple((f"sample {at}", (
        str(query.query_idx), query.text, query.reference_id, query.target_id, query.dataset, query.hidden_category,
        json.dumps(query.panel, ensure_ascii=False))) for at, query in enumerate(source.queries))
    return Table(path.name, (*_NAMES, "category", "panel"), rows, source.notes)


FORMS = (
    Form("FashionIQ", frozenset({"candidate", "captions"}), _fashioniq),
    Form("CIRR", frozenset({"pairid", "reference", "caption", "img_set"}),
         _benchmark(lambda path: cirr.read_benchmark(path, split=None if path.name.startswith("cap.") else "val"))),
    Form("CIRCO", frozenset({"reference_img_id", "relative_caption"}),
         _benchmark(lambda path: circo.read_benchmark(path, split=None if path.stem in ("val", "test") else "val"))),
    Form("M-BEIR", frozenset({"qid", "query_img_path", "pos_cand_list"}),
         _benchmark(lambda path: mbeir.read_benchmark(path, split=None))),
    Form("CIRCUS", frozenset({"samples", "gallery_paths"}), _circus),
)
"""In the order in which they are looked for."""
