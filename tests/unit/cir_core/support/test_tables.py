"""A table is read whatever program saved it, and what cannot be read is said with line and remedy."""

from __future__ import annotations

import json
import re
import tomllib

import pytest

from cir_core.errors import DatasetError
from cir_core.support.tables import in_words, read_table
from cir_core.support.toml_files import load_toml

WANTED = (("id",), ("path", "file name"))
HEAD, ROWS = ["id", "path", "caption"], [["1", "a.png", "ein großes Hemd, rot"], ["2", "b.png", 'a "blue" shirt']]
QUOTED = "id,path,caption\n1,a.png,\"ein großes Hemd, rot\""
RECORDS = [dict(zip(HEAD, row, strict=True)) for row in ROWS]


def read(content: bytes | str, wanted=WANTED, known=("caption",)):
    names, rows = read_table(content, "t.csv", wanted, "Name them", known)
    return names, list(rows)


def refused(content: bytes | str) -> str:
    with pytest.raises(DatasetError) as caught:
        read(content)
    message = str(caught.value)
    assert "codec" not in message and "Expecting" not in message and "expected" not in message, "no words of Python's"
    return message


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_separators_encodings_and_line_ends(delimiter, encoding, ends):
    lines = [delimiter.join(f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in row) for row in (HEAD, *ROWS)]
    names, rows = read(ends.join(lines).encode(encoding))
    assert names == HEAD and [cells for _, cells in rows][-2:] == ROWS and rows[-1][0] == 3


@pytest.mark.parametrize("text", [
    json.dumps(RECORDS), json.dumps(RECORDS, indent=2), "\n".join(map(json.dumps, RECORDS)),
    "\n\n" + "\r\n".join(map(json.dumps, RECORDS)) + "\n", " ".join(json.dumps(one, indent=1) for one in RECORDS),
])
def test_json_arrays_and_lines(text):
    names, rows = read(text)
    assert names == HEAD and [cells for _, cells in rows] == ROWS


def test_lines_of_json_are_those_of_the_file():
    assert [line for line, _ in read(json.dumps(RECORDS, indent=2))[1]] == [2, 7]
    assert [line for line, _ in read("\n" + "\n\n".join(map(json.dumps, RECORDS)))[1]] == [2, 4]


def test_values_of_json_as_cells():
    records = [{"id": 7, "path": "a", "caption": None}, {"id": "8", "path": "b", "more": [1, "ä"], "yes": True}]
    assert read(json.dumps(records)) == (["id", "path", "caption", "more", "yes"], [
        (1, ["7", "a", "", "", ""]), (1, ["8", "b", "", '[1, "ä"]', "true"])])


@pytest.mark.parametrize("names", ["ID,Path,Caption", " id , PATH,caption", "Id,File_Name,CAPTION",
                                   "ID,file-name,caption", "id,File  Name,caption"])
def test_names_of_columns_however_they_are_spelt(names):
    assert read(f"{names}\n1,a,x\n")[0] in (HEAD, ["id", "file name", "caption"])


def test_a_name_that_is_there_as_it_should_be_is_not_had_twice():
    assert read("ID,id,path\n1,2,a\n")[0] == ["ID", "id", "path"]
    assert read("ID,Id,path\n1,2,a\n")[0] == ["id", "Id", "path"]


def test_a_cell_may_be_long():
    long = "word " * 60_000
    for text in (f'id,path,caption\n1,a,"{long}"\n', json.dumps([{"id": "1", "path": "a", "caption": long}])):
        assert read(text)[1][0][1][2] == long


@pytest.mark.parametrize(("content", "says"), [
    (QUOTED.encode("cp1252"), "t.csv, line 2: this is not UTF-8. In Windows-1252 it would be “großes”. Save it as"),
    (b"id,path\n1,\x81\x8d\n", "t.csv, line 2: this is not UTF-8. Save it as"),
    (b"id,path\n1,\0\n", "is not a text file"),
    ("", "t.csv is empty. Name them."),
    ("id,photo\n", "line 1: there is no column path among id, photo. Name them."),
    ('id,path\n1,"a\n', "line 2: this is not valid CSV, a quotation mark is never closed. Check"),
    ('id,path\n1,"a"b\n', "line 2: this is not valid CSV, there is text between a closing quotation mark and the end"),
    ("[]", "there is no column id"),
    ('[{"id": "1", "path": "a"}', "the list is not closed"),
    ('[{"id": "1", "path": "a"}]\n{"id"', "line 2: “{\"id\"” follows the end of the list"),
    ('[{"id": "1" "path": "a"}]', "line 1, column 13: this is not valid JSON, a comma or a closing bracket is missing"),
    ('{"id": "1", "path": "a"}\n{"id": "2, "path": "b"}', "line 2, column 13: this is not valid JSON, a comma or"),
    ('{"id": "1", "path": "a"}\n{id: "2"}', "line 2, column 2: this is not valid JSON, a name in double quotes"),
    ('{"id": "1", "path": "a"}\n[1]', "line 2: this is not an object like"),
    ('{"id": "1", "path": "a"', "a comma or a closing bracket is missing"),
    ('{"id": ' + "[" * 100_000, "nested too deeply"),
])
def test_what_cannot_be_read_is_said_with_line_and_remedy(content, says):
    assert re.search(re.escape(says), refused(content))


def test_a_fault_of_a_kind_that_is_not_known_is_said_without_the_words_of_python():
    assert in_words("iterator should return strings") == "it cannot be read"


# --- TOML that would stop the reader ---------------------------------------------------------

def test_what_is_usual_is_read():
    assert load_toml('[a]\nb = [1, { c = "d" }]\n') == {"a": {"b": [1, {"c": "d"}]}}


@pytest.mark.parametrize(("text", "said"), [
    ("a = " + "[" * 4000, "nested more than 50 levels"), ("a = " + "{a=" * 3000, "nested more than 50 levels"),
    ("a." * 60 + "a = 1", "nested more than 50 levels"), ("[" + "a." * 4000 + "a]", "nested more than 50 levels"),
    ("a." * 100_000 + "a = 1", "line 1 has more than 10,000 characters"), ("a=1\n" * 300_000, "262,144 characters"),
    ("a = " + "9" * 5000, "4300 digits"), ("a = ", "Invalid value"),
])
def test_what_is_not_is_refused_in_words(text, said, monkeypatch):
    read, genuine = [], tomllib.loads
    monkeypatch.setattr(tomllib, "loads", lambda text: read.append(text) or genuine(text))
    with pytest.raises(ValueError, match=said):
        load_toml(text)
    # What tomllib is given it reads within a second: the time it takes is quadratic in the length of a line.
    assert all(len(one) < 2**19 and max(map(len, one.splitlines())) <= 10_000 for one in read)
