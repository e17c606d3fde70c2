"""Scores joined by a CSV file, as spreadsheets leave it."""

import csv
import io
from dataclasses import replace

import pytest

from annotation.kinds.preference.exports import set_table
from annotation.kinds.preference.hp_fashioniq import KEPT
from annotation.kinds.preference.report.metric_reports import recall_scores
from annotation.kinds.preference.report.score_files import read_scores
from annotation.records.studies import NAME_LIMIT
from annotation.tables import to_csv
from cir_core.errors import DatasetError, StudyError
from tests.fakes.preferences import a_judgement, a_study, an_answer, an_assignment, an_item

ITEMS = [an_item(0), an_item(1)]
FULL = {("i0", 1): 0.25, ("i0", 2): -1.5, ("i1", 1): 3.0, ("i1", 2): 0.001}
ROWS = ["item,set,clip", "q0,1,0.25", "q0,2,-1.5", "q1,1,3", "q1,2,1e-3"]


def read(*lines, items=ITEMS, where="scores.csv"):
    return read_scores("\n".join(lines), items, where=where)


def refused(*lines, items=ITEMS):
    with pytest.raises(DatasetError) as error:
        read(*lines, items=items)
    return str(error.value)


def exported(items, extra, *, delimiter=",", people=("Ada",)):
    """cirque's own sets.csv with columns added, as a spreadsheet saves it again."""
    judgements = [a_judgement(item.number, person, an_answer()) for person in people for item in items]
    places = [an_assignment(item.number, 1, person) for person in people for item in items]
    rows = list(csv.reader(io.StringIO(to_csv(set_table(a_study(), items, places, judgements)).decode("utf-8-sig"))))
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\r\n")
    writer.writerow([*rows[0], *extra])
    for number, row in enumerate(rows[1:]):
        cells = [cell.upper() if cell in ("true", "false") else cell for cell in row]
        writer.writerow([*cells, *(values[number % len(values)] for values in extra.values())])
    return text.getvalue().encode("utf-8-sig")


def test_a_small_file():
    (clip,) = read(*ROWS)
    assert (clip.name, clip.scores, clip.notes) == ("clip", FULL, ())
    assert clip.description == "Column clip of scores.csv."


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_cirque_s_own_sets_csv_with_columns_added(delimiter):
    content = exported(ITEMS, {"clip": ["0.25", "-1.5", "3", "1e-3"], "red": ["TRUE", "false", "1", ""]},
                       delimiter=delimiter, people=("Ada", "Ben"))
    clip, red = read_scores(content, ITEMS, where="sets.csv")
    assert clip.scores == FULL
    assert red.scores == {("i0", 1): 1.0, ("i0", 2): 0.0, ("i1", 1): 1.0}
    assert red.notes == ("Sets to which red gives no score: 1 of 4.",)


def test_what_spreadsheets_leave():
    text = "\r\n".join(line + "," for line in ROWS) + "\r\n,,,\r\n"
    for content in (text.encode("utf-8-sig"), text.encode("utf-16"), "\ufeff" + text, f"sep=,\r\n{text}".encode()):
        assert read_scores(content, ITEMS, where="x.csv")[0].scores == FULL
    # Rows that were cut short at the end have empty cells there.
    assert read("item,set,clip,other", "q0,1,1,2", "q0,2,1", "q1,1")[1].scores == {("i0", 1): 2.0}
    # Every name in quotation marks, semicolons between them.
    assert read('"item";"set";"clip"', '"q0";"1";"0.5"')[0].scores == {("i0", 1): 0.5}


def test_the_path_stays_out_of_the_description():
    for where in ("/home/ada/my scores.csv", r"C:\Ada\my scores.csv"):
        assert read(*ROWS, where=where)[0].description == "Column clip of my scores.csv."


def test_questions_are_found_by_query_id_where_it_is_unique():
    assert read("query_id,set,clip", "query-1,2,7")[0].scores == {("i1", 2): 7.0}
    twice = [an_item(0), an_item(1, query_id="query-0")]
    said = refused("query_id,set,clip", "query-0,1,7", items=twice)
    assert "line 2, column query_id: 'query-0' is the name of 2 questions of the study. Name questions in a" in said
    # Beside item it is one of sets.csv's columns.
    assert read("item,query_id,set,clip", "q0,query-0,1,7", items=twice)[0].scores == {("i0", 1): 7.0}


def test_keys_that_would_be_formulas():
    items = [replace(an_item(0), key="=x"), replace(an_item(1), key=" y ")]
    content = exported(items, {"clip": ["1", "2", "3", "4"]})
    assert b"'=x" in content
    assert set(read_scores(content, items, where="x.csv")[0].scores.values()) == {1.0, 2.0, 3.0, 4.0}
    assert read("item,set,clip", "=x,1,5", " y ,1,6", items=items)[0].scores == {("i0", 1): 5.0, ("i1", 1): 6.0}
    both = [replace(an_item(0), key="=x"), replace(an_item(1), key="'=x")]
    assert "is the name of 2 questions" in refused("item,set,clip", "'=x,1,5", items=both)


def test_rows_of_one_set_must_agree():
    same = [*ROWS, "q0,1,0.250", "q0,1,"]
    assert read(*same)[0].scores == FULL
    assert ("line 6, column clip: set 1 of 'q0' has 0.3 here and 0.25 in line 2. A metric gives a set one score"
            in refused(*ROWS, "q0,1,0.3"))


def test_lines_are_those_of_the_file():
    # The text of the first row goes over two lines; a spreadsheet's first line names the separator.
    said = refused("sep=;", "item;set;text;clip", 'q0;1;"a', 'b";1', "q0;2;c;x")
    assert "scores.csv, line 5, column clip: 'x' is not a finite number" in said


def test_all_faults_are_told_at_once():
    said = refused("item,set,clip", "q7,1,1", "q0,3,1", "q0,1,nan", "q0,2,inf", "q1,1,1e999", ",1,2", "q1,2,1,5")
    assert said.startswith("7 faults in scores.csv; nothing was created or changed.")
    for line in ("line 2, column item: the study has no question 'q7'", "line 3, column set: '3' is not a set",
                 "line 4, column clip: 'nan' is not a finite number", "line 5, column clip: 'inf'",
                 "line 6, column clip: '1e999'", "line 7, column item: the question is missing",
                 "line 8: it has 4 cells for 3 columns. Write numbers with a decimal point"):
        assert line in said


@pytest.mark.parametrize("number", ["0,42", "1.234,5", "-,5", "1,5e3"])
def test_decimal_commas_are_refused(number):
    said = refused("item;set;clip", f"q0;1;{number}")
    assert f"'{number}' is written with a comma. Write numbers with a decimal point" in said


@pytest.mark.parametrize("number", ["1_000", "٣", "WAHR", "0x10", "n/a", "1 000", "#DIV/0!"])
def test_what_is_no_number_is_refused(number):
    assert "is not a finite number. Write a number, or leave the cell empty" in refused(
        "item,set,clip", f"q0,1,{number}")


@pytest.mark.parametrize(("lines", "reason"), [
    ([""], "scores.csv is empty. Start from the study's sets.csv"),
    (["\n"], "scores.csv is empty"),
    (["item,clip", "q0,1"], "line 1: there is no column set among item, clip"),
    (["set;clip", "1;1"], "line 1: there is no column item among set, clip"),
    (["item,set,clip"], "it has no rows below its column names"),
    (["item,set", "q0,1"], "there is no column of scores, only cirque's columns item, set"),
    (["item,set,rating", "q0,1,4"], "there is no column of scores"),
    (["item,set,clip", "q0,1,"], "column clip: there is no number in it. Fill it, or delete the column"),
    (["item,set,clip,Clip", "q0,1,1,1"], "column 4: two columns have the name 'Clip'"),
    (["item,set,,clip", "q0,1,1,1"], "column 3: it has no name"),
    (["item,set,Recall@5", "q0,1,1"], "'Recall@5' is reserved"),
    ([f"item,set,{'x' * (NAME_LIMIT + 1)}", "q0,1,1"], "is not a valid metric name"),
    (['item,set,"a\nb"', "q0,1,1"], "is not a valid metric name"),
    (["item,set,a\u202eb", "q0,1,1"], "is not a valid metric name"),
    (["item,set,a\u2066b", "q0,1,1"], "is not a valid metric name"),
    (["item,set,clip", 'q0,1,"1'], "line 2: this is not valid CSV"),
    (["item,set,clip", 'q0,1,"1" 2'], "line 2: this is not valid CSV"),
    (['"item', "q0"], "line 1: this is not valid CSV"),
])
def test_what_a_file_lacks(lines, reason):
    assert reason in refused(*lines)


def test_what_is_no_text():
    for content, reason in ((b"item,set,clip\nq\xe9,1,1", "line 2: this is not UTF-8. In Windows-1252 .* “qé”. Save"),
                            (b"PK\x03\x04\x00\x00", "is not a text file"), (b"\xff\xfeabc", "is not UTF-8")):
        with pytest.raises(DatasetError, match=reason):
            read_scores(content, ITEMS, where="x.csv")


# --- Recall@k of the sets that people saw ----------------------------------------------------

def test_one_target_is_found_or_not():
    # The target is the first image of set 2.
    found = recall_scores([an_item(0), an_item(1, target_ids=["1-a3"])], 3)
    assert found.name == "recall@3"
    assert found.scores == {("i0", 1): 0.0, ("i0", 2): 1.0, ("i1", 1): 0.0, ("i1", 2): 0.0}
    assert recall_scores([an_item(1, target_ids=["1-a3"])], 4).scores["i1", 1] == 1.0
    assert found.notes == ()


def test_of_several_targets_it_is_the_share():
    # Set 1 holds two of the four, one of them in its first three; the empty one pads the list.
    item = an_item(target_ids=["0-a0", "0-a4", "0-b1", "elsewhere", ""])
    assert recall_scores([item], 5).scores == {("i0", 1): 0.5, ("i0", 2): 0.25}
    assert recall_scores([item], 3).scores == {("i0", 1): 0.25, ("i0", 2): 0.25}


def test_questions_without_a_target_have_no_score():
    found = recall_scores([an_item(0, target_ids=[]), an_item(1)], 5)
    assert set(found.scores) == {("i1", 1), ("i1", 2)}
    assert found.notes == ("Questions without a known target, which recall@5 leaves out: 1 of 2.",)
    none = recall_scores([an_item(0, target_ids=[]), an_item(1, target_ids=[""])], 5)
    assert (none.scores, none.notes) == ({}, ("No question has a known target, so there is no recall@5.",))
    assert recall_scores([], 5).notes == ()


def test_sets_of_fewer_images_are_said():
    found = recall_scores([an_item(0, size=4), an_item(1)], 5)
    assert found.scores["i0", 2] == 1.0
    assert found.notes == ("Questions with a set of fewer than 5 images, all of which recall@5 counts: 1.",)


def test_a_released_file_has_no_ranks():
    item = an_item(**{KEPT: {"number": 0}})
    assert recall_scores([item], 5).notes == ()
    assert recall_scores([item], 1).notes == (
        "The released file does not say how the images of a set were ranked: recall@1 takes its first 1 in the order "
        "of the file.",)


@pytest.mark.parametrize("k", [0, -1, 2.0, True])
def test_k_is_a_whole_number(k):
    with pytest.raises(StudyError, match="k of Recall@k must be a whole number from 1"):
        recall_scores([], k)
