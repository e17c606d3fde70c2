"""JSON that is nested deeper than any data set: refused where it stands, by every way of reading."""

import json
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cir_core.audit.circus.circus_files import read_run as read_audit
from cir_core.audit.circus.traces import read_validated
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.datasets.files.json_depth import BLOCK, DEEPEST, DepthLimited, LongNumber, TooDeep, is_too_deep
from cir_core.datasets.files.json_files import first_value, read_array, read_document, read_lines
from cir_core.datasets.records import Benchmark
from cir_core.errors import DatasetError
from cir_core.evaluation.runs.files import read_run

DEEP = "[" * 100_000


def saved(folder: Path, text: str, name: str = "a.json") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def nested(depth: int) -> str:
    """Arrays and objects by turns, the innermost empty."""
    text = ""
    for level in range(depth):
        text = f"[{text}]" if level % 2 == 0 else f'{{"a": {text}}}'
    return text


@pytest.mark.parametrize("ends", ["", "]" * 100_000])
def test_an_array_gives_its_records_up_to_the_deep_one(tmp_path, ends):
    records = ", ".join(json.dumps({"number": number}) for number in range(3))
    path = saved(tmp_path, f'[{records}, {{"a": {DEEP}{ends}')
    faults = ValidationIssues(collect=True)
    assert [record for _, record in read_array(path, faults)] == [{"number": number} for number in range(3)]
    assert [fault.record for fault in faults.found] == ["record 3"]
    # Its own array and object are two levels, so the 99th bracket is one too many.
    assert f"nested too deep: more than 100 arrays and objects in each other at byte {len(records) + 107}" in str(
        faults.found[0])


def test_a_hundred_levels_are_read_and_one_more_is_not(tmp_path):
    assert list(read_array(saved(tmp_path, f'[{{"a": {nested(98)}}}]'), ValidationIssues()))
    assert read_document(saved(tmp_path, nested(100)), ValidationIssues()) is not None
    assert list(read_lines(saved(tmp_path, f'{{"a": {nested(99)}}}'), ValidationIssues()))
    with pytest.raises(DatasetError, match="record 0: it is nested too deep"):
        list(read_array(saved(tmp_path, f'[{{"a": {nested(99)}}}]'), ValidationIssues()))
    with pytest.raises(DatasetError, match="nested too deep"):
        read_document(saved(tmp_path, nested(101)), ValidationIssues())
    with pytest.raises(DatasetError, match="line 2: it is nested too deep"):
        list(read_lines(saved(tmp_path, f'{{"a": {nested(99)}}}\n{{"a": {nested(100)}}}'), ValidationIssues()))


@pytest.mark.parametrize("read", [
    lambda path: read_document(path, ValidationIssues()), lambda path: list(read_lines(path, ValidationIssues())),
    read_run, read_audit,
    lambda path: first_value(path, "later"),
    lambda path: list(read_array(path, ValidationIssues(), key="a")),
])
@pytest.mark.parametrize("ends", ["", "]" * 100_000 + "}"])
def test_every_way_of_reading_an_object(tmp_path, read, ends):
    with pytest.raises(DatasetError, match=r"a\.json.* nested too deep"):
        read(saved(tmp_path, f'{{"a": {DEEP}{ends}'))


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_an_audit_s_queries(tmp_path, name):
    with pytest.raises(DatasetError, match="nested too deep"):
        read_validated(saved(tmp_path, f'{{"a": {DEEP}', name), Benchmark("cirr", "val", (), {}, lambda one: (one,)))


def test_brackets_in_texts_are_no_levels(tmp_path):
    record = {"text": '[{"' * 200 + "\\", "more": ["\\\\[", '\\"[', "é[" * 90]}
    path = saved(tmp_path, json.dumps([record] * 3_000))  # over several blocks
    assert path.stat().st_size > 4 * BLOCK
    assert [one for _, one in read_array(path, ValidationIssues())] == [record] * 3_000
    assert not is_too_deep(json.dumps(record))
    closers = '"' + "]" * 500 + '", ['  # which do not undo what stands outside
    with pytest.raises(DatasetError, match="nested too deep"):
        read_document(saved(tmp_path, "[" + closers * 100 + "]" * 101), ValidationIssues())


def depth(value: object) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


TEXTS = st.text(alphabet='[]{}"\\né,', max_size=6)
VALUES = st.recursive(TEXTS | st.integers(), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
    TEXTS, inner, max_size=3), max_leaves=12)


@given(VALUES, st.integers(95, 100), st.integers(1, 9), st.booleans())
def test_it_is_the_depth_however_the_file_is_cut(value, around, size, ascii_only):
    content = ("[" * around + json.dumps(value, ensure_ascii=ascii_only) + "]" * around).encode()
    source = DepthLimited(BytesIO(content))
    read = b""
    try:
        while block := source.read(size):
            read += block
    except TooDeep as error:
        assert around + depth(value) > DEEPEST and len(read) == error.offset and content[error.offset] in b"[{"
    else:
        assert around + depth(value) <= DEEPEST and read == content


@pytest.mark.parametrize("digits", [1000, 1001, 5000])
@pytest.mark.parametrize("before", [0, BLOCK - 500, BLOCK - 1])
def test_a_number_of_many_digits_is_told_before_a_parser_meets_it(digits, before):
    """At 4,301 digits and more ijson's own parser ends the process."""
    source = DepthLimited(BytesIO(b" " * before + b'{"a": ' + b"9" * digits + b"}"))
    if digits <= 1000:
        assert len(source.read()) == before + digits + 7
        return
    with pytest.raises(LongNumber, match="more than 1,000 digits in a row near byte"):
        source.read()


def test_a_file_with_such_a_number_is_refused_in_words(tmp_path):
    path, faults = tmp_path / "a.json", ValidationIssues(collect=True)
    path.write_text('[{"a": 1}, {"a": ' + "9" * 5000 + "}]")
    assert list(read_array(path, faults)) == []
    assert read_document(path, faults) is None
    assert len(faults.found) == 2
    assert all("more than 1,000 digits in a row" in fault.problem for fault in faults.found)
