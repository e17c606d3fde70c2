"""Tables of items: every form of file gives the same rows, and what is wrong is said with its place."""

from __future__ import annotations

import json
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotation.kinds.table import KINDS
from annotation.sources.tables import files
from annotation.sources.tables.columns import checked, guessed, said
from annotation.sources.tables.files import Table, read_table_file
from annotation.sources.tables.known import open_table
from annotation.sources.tables.rows import split_list
from cir_core.errors import DatasetError, StudyError
from tests.fakes.picture_tables import csv_of, xlsx, zipped

HEAD, ROWS = ("Query ID", "text", "ref"), [("7", "mit großem Kragen", "a.png"), ("8", "red; no belt", "b.png")]
FIELDS = KINDS["validity"].intake.fields
KNOWN = KINDS["validity"].intake.known


def read(path, known=KNOWN):
    return read_table_file(path, known)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_text_files(tmp_path, delimiter, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes("\r\n".join(delimiter.join(f'"{cell}"' for cell in row) for row in (HEAD, *ROWS)).encode(encoding))
    found = read(path)
    assert found.names == HEAD
    assert found.rows == (("line 2", ROWS[0]), ("line 3", ROWS[1]))


def test_spreadsheets_parquet_and_json(tmp_path):
    records = [dict(zip(HEAD, row, strict=True)) for row in ROWS]
    sheet = xlsx(tmp_path / "t.xlsx", [HEAD, (7.0, *ROWS[0][1:]), ROWS[1]], [("other",), ("x",)])
    pq.write_table(pa.Table.from_pylist([{**one, "Query ID": int(one["Query ID"])} for one in records]),
                   tmp_path / "t.parquet")
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, records)), "utf-8")
    for path in (sheet, tmp_path / "t.parquet", tmp_path / "t.jsonl"):
        found = read(path)
        assert found.names == HEAD, path
        assert [cells for _, cells in found.rows] == ROWS, path
    assert read(sheet).rows[0][0] == "row 2" and "'Sheet1'" in read(sheet).notes[0]


def test_lists_of_parquet_are_lists(tmp_path):
    pq.write_table(pa.table({"candidates": [["a.png", "b, c.png"]], "raw": [b"\x00"]}), tmp_path / "t.parquet")
    found = read(tmp_path / "t.parquet")
    assert found.names == ("candidates",) and split_list(found.rows[0][1][0]) == ("a.png", "b, c.png")


@pytest.mark.parametrize(("content", "words"), [
    (b"", "is empty. Copy"), (b"text,ref\n", "no row below"), (b"\n\n", "is empty"),
    (b"text,ref,text\na,b,c\n", "two columns 'text'"), (b"text,ref\na,b,c\n", "line 2: it has 3 cells"),
    (b'text,ref\n"a,b\n', "line 2: this is not valid CSV"), (b"text,ref\nsch\xf6n,b\n", "line 2: this is not UTF-8"),
    (b'[{"text": "a"},\n {"text" "b"}]', "line 2, column 10: this is not valid JSON"), (b'["a"]', "not an object"),
    (b"PAR1 and so on", "cannot be read as Parquet"), (b"PK\x03\x04half", "is an archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "cannot be read as a spreadsheet"),
])
def test_what_cannot_be_read(tmp_path, content, words):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(DatasetError) as caught:
        read(path)
    assert words in str(caught.value) and "Error" not in str(caught.value)


def test_limits(tmp_path, monkeypatch):
    path, sheet = csv_of(tmp_path / "t.csv", ("text",), ("a",), ("b",)), xlsx(tmp_path / "t.xlsx", [("text",), ("a",)])
    monkeypatch.setattr(files, "MOST_ROWS", 1)
    with pytest.raises(DatasetError, match="2 rows, and a study may have 1"):
        read(path)
    monkeypatch.setattr(files, "MOST_UNPACKED", 100)
    with pytest.raises(DatasetError, match="unpacks to more"):
        read(sheet)
    monkeypatch.setattr(files, "MOST_BYTES", 1)
    with pytest.raises(DatasetError, match="Divide it"):
        read(path)
    with pytest.raises(DatasetError, match="Check the path"):
        read(tmp_path / "none.csv")


def test_a_cell_far_away_makes_no_table_of_all_the_cells_between(tmp_path):
    """The last row and column that there are: 17 thousand million cells, a process of 400 GB."""
    path, far = xlsx(tmp_path / "t.xlsx", [("text",), ("a",)]), tmp_path / "far.xlsx"
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(far, "w") as made:
        for entry in archive.infolist():
            content = archive.read(entry)
            made.writestr(entry, content.replace(b"</sheetData>", b"".join((
                b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>', b"</sheetData>")))
                if "worksheets/" in entry.filename else content)
    with pytest.raises(DatasetError, match="Delete all rows below the table"):
        read(far)


def test_a_damaged_spreadsheet_and_a_zip_of_pictures(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook")
    with pytest.raises(DatasetError, match="cannot be read as a spreadsheet"):
        read(tmp_path / "t.xlsx")
    with pytest.raises(DatasetError, match="is an archive, not a table"):
        read(zipped(tmp_path / "p.zip", {"a.png": b"x"}))


@pytest.mark.parametrize(("kind", "names", "found"), [
    ("validity", ["Reference Image", "Target", "Caption", "Category", "other"],
     {"text": ("Caption",), "reference": ("Reference Image",), "target": ("Target",), "category": ("Category",)}),
    ("validity", ["candidate", "target", "captions"],
     {"text": ("captions",), "reference": ("candidate",), "target": ("target",)}),
    ("targets", ["qid", "text", "ref", "candidate 1", "candidate_2", "candidate10"],
     {"id": ("qid",), "text": ("text",), "reference": ("ref",),
      "candidates": ("candidate 1", "candidate_2", "candidate10")}),
    ("preference", ["text", "reference", "results slerp", "results: CIReVL", "target"],
     {"text": ("text",), "reference": ("reference",), "sets": ("results slerp", "results: CIReVL"),
      "target": ("target",)}),
    ("preference", ["text", "reference", "setting", "Set A", "Set B"],
     {"text": ("text",), "reference": ("reference",), "sets": ("Set A", "Set B")}),
    ("sessions", ["session_id", "turn", "reference", "text", "target", "system"],
     {"session": ("session_id",), "turn": ("turn",), "text": ("text",), "reference": ("reference",),
      "target": ("target",), "source": ("system",)}),
])
def test_columns_are_guessed_by_their_names(kind, names, found):
    assert guessed(names, KINDS[kind].intake.fields) == found


def test_columns_that_are_said():
    table = Table("t.csv", ("q", "r+s", "t", "text"), ())
    assert said("reference=r+s, target=t", table, FIELDS) == {
        "text": ("text",), "reference": ("r+s",), "target": ("t",)}
    assert said("text=q,reference=r+s,target=t", table, FIELDS)["text"] == ("q",)
    for text, words in (("reference", "does not name a column"), ("refrence=t", "no field 'refrence'"),
                        ("reference=u", "no column 'u'. It has: q"), ("reference=t,target=t", "is assigned twice"),
                        ("reference=t", "no column for target"), ("reference=q+t", "takes one column")):
        with pytest.raises(StudyError, match=words):
            said(text, table, FIELDS)
    with pytest.raises(StudyError, match="at least 2 columns of sets"):
        checked({"text": ("q",), "reference": ("t",), "sets": ("text",)}, table, KINDS["preference"].intake.fields)


@pytest.mark.parametrize(("cell", "parts"), [
    ("a.png", ("a.png",)), ("a, b.png|c.png", ("a, b.png", "c.png")), ("a; b ;", ("a", "b")), ("a,b", ("a", "b")),
    ('["a", 7, ""]', ("a", "7")), ("[a, b", ("[a", "b")), ("", ()), ('"a.png"\n"b.png"', ("a.png", "b.png")),
])
def test_lists_in_a_cell(cell, parts):
    assert split_list(cell) == parts


def test_files_of_data_sets_are_recognised(tmp_path):
    """Expected: the triples as the files have them, pictures under the data set's own paths."""
    write = {
        "fashioniq.json": [{"candidate": "B01", "target": "B02", "captions": ["is red", "has a belt"]}],
        "cirr.json": [{"pairid": 3, "reference": "dev-1", "target_hard": "dev-2", "target_soft": {"dev-2": 1.0},
                       "caption": "red", "img_set": {"id": 1, "members": ["dev-1", "dev-2", "d3", "d4", "d5", "d6"],
                                                     "reference_rank": 0, "target_rank": 1}}],
        "circo.json": [{"reference_img_id": 21, "target_img_id": 33, "gt_img_ids": [33], "relative_caption": "red",
                        "shared_concept": "x", "id": 0, "semantic_aspects": []}],
    }
    titles = {"fashioniq.json": "FashionIQ", "cirr.json": "CIRR", "circo.json": "CIRCO"}
    for name, records in write.items():
        (tmp_path / name).write_text(json.dumps(records), "utf-8")
        found = open_table(tmp_path / name, KNOWN)
        assert found.notes[0] == f"{name} is a file of {titles[name]}."
        columns = checked(guessed(found.names, FIELDS), found, FIELDS)
        row = dict(zip(found.names, found.rows[0][1], strict=True))
        shown = [row[columns[field][0]] for field in ("text", "reference", "target")]
        assert shown == {"fashioniq.json": ['["is red", "has a belt"]', "B01", "B02"],
                         "cirr.json": ["red", "dev/dev-1.png", "dev/dev-2.png"],
                         "circo.json": ["red", shown[1], shown[2]]}[name]
        assert name != "circo.json" or (shown[1].endswith("000000000021.jpg") and shown[2].endswith("000000000033.jpg"))
    (tmp_path / "broken.json").write_text('{"samples": [], "gallery_paths": []}', "utf-8")
    with pytest.raises(DatasetError, match=r"broken\.json is a file of CIRCUS, but cannot be read as one"):
        open_table(tmp_path / "broken.json", KNOWN)
