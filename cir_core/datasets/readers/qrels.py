"""Relevance judgements: TREC's ``query 0 image grade``, M-BEIR's lines, converters' TSV with a header."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from cir_core.datasets.content import Content, Source
from cir_core.datasets.files.issues import RAISE, ValidationIssues
from cir_core.datasets.files.json_files import text_lines
from cir_core.errors import DatasetError
from cir_core.support.files import write_atomically
from cir_core.support.texts import quoted

HIGHEST = 1_000_000  # trec_eval allocates a count for every grade up to the highest
_GRADE = re.compile(r"[+-]?0*([0-9]{1,7})(\.0+)?")
_INTEGER = re.compile(r"[+-]?[0-9]+(\.0+)?")
_HEADERS = ("query_id", "query-id", "qid")
_FORM = "A line of qrels is: query 0 image grade, or with a header and tabs: query_id candidate_id score"


def read_qrels(path: Path, faults: ValidationIssues = RAISE) -> dict[str, dict[str, int]]:
    """Query id to image id to grade, in file order; formats as in :func:`qrels_lines`."""
    qrels: dict[str, dict[str, int]] = {}
    for number, query_id, image_id, grade in qrels_lines(path, faults):
        grades = qrels.setdefault(query_id, {})
        if image_id in grades:
            faults.add(path, f"line {number}", f"query {quoted(query_id)} has image {quoted(image_id)} twice",
                       "Keep one of them")
        else:
            grades[image_id] = grade
    if not qrels and not faults.count:
        faults.add(path, "", "it contains no line of qrels", _FORM)
    return qrels


def qrels_lines(path: Path, faults: ValidationIssues) -> Iterator[tuple[int, str, str, int]]:
    """Line number, query id, image id and grade of each line, streamed. Four fields (TREC), five (M-BEIR adds the
    task), or tab-separated with a header whose first name is query_id, query-id or qid."""
    separator: str | None = None
    first = True
    for number, line in text_lines(path, faults):
        if not line.strip():
            continue
        if first:
            first = False
            if line.split("\t")[0].strip().lower() in _HEADERS:
                separator = "\t"
                continue
        fields = [text.strip() for text in line.split(separator)]
        wanted = (3,) if separator else (4, 5)
        if len(fields) not in wanted or not all(fields[:3]):
            counts = " or ".join(map(str, wanted))
            faults.add(path, f"line {number}", f"it has {len(fields)} fields, not {counts}", _FORM)
            continue
        query_id, image_id, grade = fields if separator else (fields[0], fields[2], fields[3])
        found = _GRADE.fullmatch(grade)
        if found and int(found[1]) <= HIGHEST:
            yield number, query_id, image_id, int(grade.partition(".")[0])
        elif _INTEGER.fullmatch(grade):
            shown = grade if len(grade) <= 20 else f"{grade[:20]}…"
            faults.add(path, f"line {number}", f"the grade {shown} is beyond {HIGHEST:,}, the most that measures take",
                       "Write grades as small whole numbers, 0 for what is not relevant")
        else:
            faults.add(path, f"line {number}", f"the grade {quoted(grade)} is not an integer", _FORM)


def content(source: Source) -> Content:
    qrels = read_qrels(source.path, source.faults)
    grades = Counter(grade for judged in qrels.values() for grade in judged.values())
    return Content({
        "queries": len(qrels),
        "judgements": grades.total(),
        "relevant": sum(number for grade, number in grades.items() if grade > 0),
        **({f"grade {grade}": number for grade, number in sorted(grades.items())} if len(grades) > 2 else {}),
        "queries without a relevant image": sum(not any(grade > 0 for grade in one.values()) for one in qrels.values()),
    })


def write_qrels(path: Path, qrels: Mapping[str, Mapping[str, int]], *, header: bool = False) -> None:
    """Write TREC's four columns, or with ``header`` the three tab-separated ones of converted M-BEIR files."""

    def lines() -> Iterator[bytes]:
        if header:
            yield b"query_id\tcandidate_id\tscore\n"
        for query_id, grades in qrels.items():
            for image_id, grade in grades.items():
                one, other = one_word(query_id, "query"), one_word(image_id, "image")
                line = f"{one}\t{other}\t{grade}\n" if header else f"{one} 0 {other} {grade}\n"
                yield line.encode()

    write_atomically(path, lines())


def one_word(text: str, what: str) -> str:
    """``text`` if a line of TREC's files can hold it as the id of ``what``, else ``DatasetError``."""
    if len(text.split()) != 1 or text.split()[0] != text:
        raise DatasetError(f"The {what} id {quoted(text)} is empty or has white space in it, which TREC's files cannot "
                           "hold. Write another form, or rename it.")
    return text
