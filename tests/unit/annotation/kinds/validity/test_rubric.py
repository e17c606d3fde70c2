"""The rubric: what it holds, and what a broken file says."""

import json
from pathlib import Path

import pytest

from annotation.kinds.validity.rubric import Example, as_page, load_rubric, newest_rubric, parse_rubric
from cir_core.errors import StudyError

TEXT = (Path(__file__).parents[5] / "assets" / "rubrics" / "circus-1.toml").read_text("utf-8")


def test_flags_have_the_keys_and_severities_of_the_protocol():
    rubric = load_rubric("circus/1")
    # CIRCUS: target before image before text before breadth; asked in the order text, image, target, breadth.
    assert [(flag.key, flag.code, flag.severity) for flag in rubric.flags] == [
        ("1", "INVALID_TEXT_QUERY", 3), ("2", "INVALID_IMAGE_QUERY", 2), ("3", "INVALID_TARGET_IMAGE", 1),
        ("4", "QUERY_TOO_BROAD", 4)]
    assert (rubric.valid.key, rubric.valid.code) == ("5", "VALIDATED")
    assert rubric.severity == ("INVALID_TARGET_IMAGE", "INVALID_IMAGE_QUERY", "INVALID_TEXT_QUERY", "QUERY_TOO_BROAD")
    codes = [(reason.code, reason.needs_note) for flag in rubric.flags for reason in flag.reasons]
    assert codes == [(f"{key}{letter}", letter == "c") for key in "123" for letter in "abc"]
    assert (rubric.unsure_after, rubric.broad_at, len(rubric.flow)) == (120, 10, 4)


def test_there_are_two_worked_examples_of_each_category():
    rubric = newest_rubric()
    for category in (*rubric.flags, rubric.valid):
        assert sum(example.verdict == category.code for example in category.examples) >= 2
    given = [(example, flag) for flag in rubric.flags for example in flag.examples if example.verdict == flag.code]
    assert all(bool(example.reasons) == bool(flag.reasons) for example, flag in given)


def test_the_primary_category_is_the_most_severe():
    rubric = newest_rubric()
    assert rubric.category(False, ["QUERY_TOO_BROAD", "INVALID_TEXT_QUERY"]) == "INVALID_TEXT_QUERY"
    assert rubric.category(False, []) == "INVALID_UNSPECIFIED"
    assert rubric.category(None, ["QUERY_TOO_BROAD"]) == "UNLABELLED"
    assert rubric.category(True, []) == "VALIDATED"


def test_texts_name_the_studys_own_number_of_images():
    page = as_page(newest_rubric(), {"broad_at": 7})
    assert page["flow"][3] == page["flags"][3]["question"]
    assert "fewer than 7 other images" in page["flow"][3] and page["flags"][3]["definition"].startswith("7 or more")
    assert "broad_at}" not in json.dumps(page)


def test_the_page_has_all_and_the_studys_own_numbers():
    page = as_page(newest_rubric(), {"unsure_after": 30, "broad_at": "ten"})
    assert (page["unsure_after"], page["broad_at"]) == (30, 10)
    first = page["flags"][0]
    assert (first["code"], first["key"], first["severity"]) == ("INVALID_TEXT_QUERY", "1", 3)
    assert first["reasons"][2] == {"key": "c", "code": "1c", "name": "Something else", "needs_note": True}
    assert set(first["examples"][0]) == set(Example.model_fields)
    assert {"intro", "flow", "valid", "about_severity", "about_unsure"} <= set(page)


@pytest.mark.parametrize(("old", "new", "said"), [
    ('severity = 4', 'severity = 2', r"flags.severity: 2 occurs twice. Give each category its own severity"),
    ('key = "5"', 'key = "4"', r"flags.key: 4 occurs twice"),
    ('code = "QUERY_TOO_BROAD"', 'code = "INVALID_TEXT_QUERY"', r"flags.code: INVALID_TEXT_QUERY occurs twice"),
    ('key = "b"', 'key = "a"', r"flags.0.reasons.key: a occurs twice. Give each reason its own letter"),
    ('key = "b"', 'key = "d"', r"flags.0.reasons.key: d is a key of the screen. Take a letter other than d, j"),
    ('key = "b"', 'key = "b"\ncode = "9b"', r"'9b' is not '1b'. Leave the code out"),
    ('needs_note = true', 'needs_note = "yes"', r"flags.0.reasons.2.needs_note: .*boolean"),
    ('broad_at = 10', 'broad_at = 0', r"broad_at: .*greater than or equal to 1.*Correct the field"),
    ('broad_at = 10', 'broad = 10', r"broad_at: Field required"),
    ('unsure_after = 120', 'unsure_after = 120\ncolour = "red"', r"colour: Extra inputs"),
    ('name = "Too broad"', 'name = ""', r"flags.3.name: "),
    ('reasons = ["1b"]', 'reasons = ["1z"]', r"examples of INVALID_TEXT_QUERY: '1z' is no reason"),
    ('verdict = "QUERY_TOO_BROAD"', 'verdict = "TOO_BROAD"', r"the verdict TOO_BROAD is no category"),
    ('verdict = "QUERY_TOO_BROAD"', 'verdict = "VALIDATED"', r"examples of QUERY_TOO_BROAD: 1 of them"),
    ('  "Do you understand what the text asks for?",\n', '', r"flow: it has 3 questions for 4 flags"),
    ('protocol = "circus/1"', 'protocol = "circus"', r"protocol: "),
    ('protocol = "circus/1"', 'protocol = ', r"is not valid TOML"),
    ('protocol = "circus/1"', 'protocol = 2026-01-01', r"protocol: "),
])
def test_a_broken_file_names_field_and_remedy(old, new, said):
    assert old in TEXT
    with pytest.raises(StudyError, match=rf"^mine.toml.*{said}"):
        parse_rubric(TEXT.replace(old, new, 1), "mine.toml")


def test_flags_stand_in_the_order_of_their_questions():
    swapped = TEXT.replace('key = "1"', 'key = "9"', 1)
    with pytest.raises(StudyError, match="not in order of their keys"):
        parse_rubric(swapped.replace('reasons = ["1a"]', "").replace('reasons = ["1b"]', ""), "mine.toml")


@pytest.mark.parametrize(("protocol", "said"), [
    ("potato/1", "no rubric 'potato/1'"), ("../circus/1", "no rubric"), ("", "no rubric"),
    ("circus/9", "no rubric 'circus/9' here, only .*'circus/1'"), ("circus/01", "no rubric"),
])
def test_an_unknown_protocol_says_which_there_is(protocol, said):
    with pytest.raises(StudyError, match=said):
        load_rubric(protocol)
