"""Annotator files of CIRCUS: what is read comes back, and every fault is named."""

import copy
import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from annotation.kinds.validity.circus import circus_files, read_circus_users, write_circus_users
from annotation.kinds.validity.circus.form import annotation_of, answer_of, changed, time_of
from annotation.kinds.validity.create import import_circus_study
from annotation.records import Judgement
from annotation.sources.queries import refuse
from annotation.tables import as_zip
from cir_core.datasets.files.issues import ValidationIssues
from cir_core.errors import DatasetError, StudyError, UnknownStudy
from cir_core.types.records import new_id
from tests.fakes.databases import study_store as study_store
from tests.fakes.studies import flagged, make_study, valid

FLAGS = ("INVALID_TEXT_QUERY", "INVALID_IMAGE_QUERY", "INVALID_TARGET_IMAGE", "QUERY_TOO_BROAD")


def note(validated: bool | None, *flags: str, other: str = "") -> dict[str, object]:
    return {"validated": validated, **{flag: flag in flags for flag in FLAGS}, "other": other}


def assignment(number: int, annotation: object = None, **changes: object) -> dict[str, object]:
    return {
        "assignment_id": f"cirr::{number}", "dataset": "cirr", "query_idx": number,
        "source_file_key": "cirr/aggregated_best_rank_mm_any", "source_filename": "x.json", "source_path": "a/x.json",
        "hidden_category": "unresolved", "selection_mode": "all",
        "presentation_order": number + 1, "annotation": annotation,
        "annotation_updated_at": "2026-01-02T00:00:00+00:00", **changes,
    }


def document(username: str, *assignments: object, **changes: object) -> dict[str, object]:
    assignments = tuple({"assigned_user": username, **one} if isinstance(one, dict) else one for one in assignments)
    return {
        "study_name": "s", "seed": 20260407, "generated_at": "2026-01-01T00:00:00+00:00", "username": username,
        "assignment_count": len(assignments), "assignment_ids_sha256": "ab",
        "summary": {"total_assignments": len(assignments), "completed_assignments": 1, "dataset_counts": {"cirr": 1}},
        "assignments": list(assignments), **changes,
    }


# All that the released files hold and that a stricter form would lose: several flags, none, no verdict, null and
# absent annotations and flags, notes, fields that nobody knows, times as they were written, orders with a gap.
absent = assignment(6)
del absent["annotation"], absent["annotation_updated_at"], absent["selection_mode"]
half = {"validated": False, "QUERY_TOO_BROAD": True, "seen_by": ["x", None, 1.5]}
FIRST = document(
    "annotator_01",
    assignment(0, note(False, "INVALID_TEXT_QUERY", "QUERY_TOO_BROAD", other="zwei Fälle 🙂 שלום")),
    assignment(1, note(True), annotation_updated_at="2026-01-02T10:00:00.123456Z"),
    assignment(2, note(False), annotation_updated_at=""),
    assignment(3, note(None), annotation_updated_at=None),
    assignment(4, None, annotation_updated_at=None),
    assignment(5, half, presentation_order=40, unknown={"deep": [{"er": True}]}),
    absent,
    assignment(7, {}, presentation_order=None),
    tool_version="0.3", seed=20260407,
)
SECOND = document(
    "annotator_02", assignment(8, note(True, other="ok"), presentation_order=2),
    assignment(1, {**note(False, "INVALID_TARGET_IMAGE"), "QUERY_TOO_BROAD": None}, presentation_order=1),
    source_user="somebody",
)


def saved(folder: Path, *documents: object) -> list[Path]:
    paths = []
    for number, content in enumerate(documents, 1):
        path = folder / f"annotator_{number:02}.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        paths.append(path)
    return paths


def back(files: dict[str, bytes]) -> dict[str, object]:
    return {name: json.loads(content) for name, content in files.items()}


# A round trip ---------------------------------------------------------------------------------


def test_what_is_imported_comes_back_equal_as_data(store, tmp_path):
    created = import_circus_study(store, "released", read_circus_users(saved(tmp_path, FIRST, SECOND)), created_by="me")
    files = circus_files(store, created.study)
    assert back(files) == {"annotator_01.json": FIRST, "annotator_02.json": SECOND}
    # Whether a key is absent or null counts, and == tells it; so does 1 from true, which == does not.
    assert json.loads(files["annotator_01.json"])["assignments"][0]["annotation"]["validated"] is False
    assert '"x",\n' in files["annotator_01.json"].decode() and "שלום" in files["annotator_01.json"].decode()
    assert created.counts == {"items": 9, "people": 2, "assignments": 10, "judgements": 8}
    assert created.notes == (
        "2 assignments have no annotation.", "2 annotations have no verdict.",
        "1 annotation is invalid without a flag.")


def test_an_import_of_what_was_exported_is_the_same_again(store, tmp_path):
    first = import_circus_study(store, "one", read_circus_users(saved(tmp_path, FIRST, SECOND)), created_by="me")
    files = circus_files(store, first.study)
    (tmp_path / "again").mkdir()
    for name, content in files.items():
        (tmp_path / "again" / name).write_bytes(content)
    paths = sorted((tmp_path / "again").iterdir())
    second = import_circus_study(store, "two", read_circus_users(paths), created_by="me")
    assert circus_files(store, second.study) == files and as_zip(files) == as_zip(circus_files(store, second.study))
    of_first, of_second = (store.judgements(one.study.study_id) for one in (first, second))
    assert [one.token for one in of_first] == [one.token for one in of_second]
    assert {one.judgement_id for one in of_first}.isdisjoint(one.judgement_id for one in of_second)


def test_an_imported_study_is_closed_with_seats_and_answers(store, tmp_path):
    study = import_circus_study(store, "r", read_circus_users(saved(tmp_path, FIRST, SECOND)), created_by="me").study
    items = {item.key: item for item in store.items(study.study_id)}
    judgements = {(one.annotator, one.item_id): one for one in store.judgements(study.study_id)}
    assert not study.accepting and study.plan.seats == 2 and study.plan.seed == 20260407
    assert study.plan.overlap == 1 and study.plan.agreement_items == 1    # cirr::1 is with both
    assert items["cirr::1"].in_block and items["cirr::0"].stratum == "cirr::unresolved"
    answer = judgements["annotator_01", items["cirr::0"].item_id].answer
    assert answer == {
        "validated": False, "flags": ["INVALID_TEXT_QUERY", "QUERY_TOO_BROAD"], "reasons": [],
        "note": "zwei Fälle 🙂 שלום", "alternatives": [], "unsure": False, "panel_opened": False}
    assert judgements["annotator_01", items["cirr::2"].item_id].answer["flags"] == []
    assert judgements["annotator_01", items["cirr::3"].item_id].answer["validated"] is None
    at = judgements["annotator_01", items["cirr::1"].item_id].created_at
    assert at == datetime(2026, 1, 2, 10, 0, 0, 123456, UTC)
    # Where no time is given, the file's own stands for it.
    assert judgements["annotator_01", items["cirr::2"].item_id].created_at == datetime(2026, 1, 1, tzinfo=UTC)
    states = {(one.annotator, one.position): one.state for one in store.assignments(study.study_id)}
    assert [states["annotator_01", n] for n in range(8)] == ["done"] * 4 + ["open"] * 2 + ["done"] * 2
    by_position = {one.position: one.item_id for one in store.overview(study.study_id, "annotator_02")}
    assert by_position == {0: items["cirr::1"].item_id, 1: items["cirr::8"].item_id}
    token = items["cirr::0"].shown["reference"]
    assert store.images(study.study_id)[token].width == 0, "the files hold no pictures"


def test_what_was_answered_since_is_written_anew_and_the_rest_stays(store, tmp_path):
    study = import_circus_study(store, "r", read_circus_users(saved(tmp_path, FIRST, SECOND)), created_by="me").study
    store.set_accepting(study.study_id, True)
    items = {item.key: item.item_id for item in store.items(study.study_id)}
    at = datetime(2026, 3, 1, tzinfo=UTC)
    for key, answer in (("cirr::5", valid()), ("cirr::4", flagged("INVALID_IMAGE_QUERY", note="dark"))):
        store.save(Judgement(new_id(), study.study_id, items[key], "annotator_01", 0, new_id(), "circus/1", answer, 3.0,
                             at), unsure=False)
    files = back(circus_files(store, study))
    expected = copy.deepcopy(FIRST)
    revised, answered = expected["assignments"][5], expected["assignments"][4]
    # A flag that was absent and is not set stays absent; the unknown field stays.
    revised["annotation"] = {"validated": True, "QUERY_TOO_BROAD": False, "seen_by": ["x", None, 1.5]}
    revised["annotation_updated_at"] = answered["annotation_updated_at"] = at.isoformat()
    answered["annotation"] = note(False, "INVALID_IMAGE_QUERY", other="dark")
    assert files["annotator_01.json"]["assignments"] == expected["assignments"]
    # Verdicts: 0, 1, 2, 4, 5; null or none: 3, 6, 7.
    assert files["annotator_01.json"]["summary"] == {
        "total_assignments": 8, "completed_assignments": 5, "dataset_counts": {"cirr": 8}}
    assert files["annotator_01.json"]["tool_version"] == "0.3"
    assert files["annotator_02.json"] == SECOND


# A study of our own -----------------------------------------------------------------------------


def test_a_study_made_here_has_the_same_form_and_can_be_imported(store, tmp_path):
    study = make_study(store, tmp_path, name="own", items=3, seats=2, overlap=2, agreement_items=0)
    at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    for name in ("Ada", "ada/:B"):
        store.join(study.study_id, name, at, lambda work: ())
    order = [one.item_id for one in store.overview(study.study_id, "Ada")]
    answers = (flagged("INVALID_TEXT_QUERY", "QUERY_TOO_BROAD", reasons=("1a",), note="?"), valid(validated=None,
               unsure=True, flags=["QUERY_TOO_BROAD"]))
    for item_id, answer in zip(order, answers, strict=False):
        store.save(Judgement(new_id(), study.study_id, item_id, "Ada", 0, new_id(), "circus/1", answer, 3.0, at),
                   unsure=answer["unsure"])
    files = circus_files(store, study)
    assert list(files) == ["Ada.json", "ada__B.json"]
    ada = json.loads(files["Ada.json"])
    assert list(ada) == ["study_name", "seed", "generated_at", "username", "assignment_count", "assignment_ids_sha256",
                         "summary", "assignments"]
    keys = {item.item_id: item.key for item in store.items(study.study_id)}
    ids = [keys[item_id] for item_id in order]
    assert [one["assignment_id"] for one in ada["assignments"]] == ids
    assert [one["presentation_order"] for one in ada["assignments"]] == [1, 2, 3]
    assert ada["assignment_ids_sha256"] == hashlib.sha256("\n".join(ids).encode()).hexdigest()
    assert ada["generated_at"] == at.isoformat() and ada["summary"] == {
        "total_assignments": 3, "completed_assignments": 1, "dataset_counts": {"sample": 3}}
    first, unsure, unanswered = (one["annotation"] for one in ada["assignments"])
    assert first == note(False, "INVALID_TEXT_QUERY", "QUERY_TOO_BROAD", other="?")
    assert unsure == note(None, "QUERY_TOO_BROAD") and unanswered == note(None)
    assert ada["assignments"][2]["annotation_updated_at"] is None
    assert b"1a" not in files["Ada.json"].split(b'"assignments"')[1], "sub-reasons have no place in the form"
    paths = saved(tmp_path, *(json.loads(content) for content in files.values()))
    again = import_circus_study(store, "again", read_circus_users(paths), created_by="me").study
    assert list(back(circus_files(store, again)).values()) == list(back(files).values())


def test_people_whose_names_make_one_file_name_get_two(store, tmp_path):
    study = make_study(store, tmp_path, items=2, seats=2, overlap=2)
    seats = [replace(seat, annotator=name) for seat, name in
             zip(store.seats(study.study_id), ("a/b", "a:b"), strict=True)]
    files = write_circus_users(study, store.items(study.study_id), seats, store.assignments(study.study_id), [])
    assert list(files) == ["a_b.json", "a_b-2.json"]


def test_before_anybody_has_joined_there_is_nothing_to_write(store, tmp_path):
    with pytest.raises(StudyError, match="Nobody has joined"):
        circus_files(store, make_study(store, tmp_path))


# Faults -----------------------------------------------------------------------------------------


def without(record: dict[str, object], name: str) -> dict[str, object]:
    return {key: value for key, value in record.items() if key != name}


@pytest.mark.parametrize(("content", "where", "says"), [
    ("{", "", "not valid JSON"),
    ("[]", "", "does not contain a JSON object"),
    (without(FIRST, "username"), "", "'username' is missing"),
    (document(" ", assignment(0)), "", "'username' is empty"),
    (document("a", assignments={}), "", "'assignments' cannot be used"),
    (document("a"), "", "no assignment in any file"),
    (document("a", "x"), "assignment 0", "not an object"),
    (document("a", without(assignment(0), "assignment_id")), "assignment 0", "'assignment_id' is missing"),
    (document("a", assignment(0, assignment_id="")), "assignment 0", "'assignment_id' cannot be used"),
    (document("a", assignment(0, query_idx="0")), "assignment 0 (cirr::0)", "'query_idx' cannot be used"),
    (document("a", assignment(0, query_idx=True)), "assignment 0 (cirr::0)", "'query_idx' cannot be used"),
    (document("a", assignment(0, [])), "assignment 0 (cirr::0)", "'annotation' cannot be used"),
    (document("a", assignment(0, note("yes"))), "assignment 0 (cirr::0)", "'annotation.validated' cannot be used"),
    (document("a", assignment(0, note(1))), "assignment 0 (cirr::0)", "'annotation.validated' cannot be used"),
    (document("a", assignment(0, note(True, other=3))), "assignment 0 (cirr::0)", "'annotation.other' cannot be used"),
    (document("a", assignment(0, {"QUERY_TOO_BROAD": "true"})), "assignment 0 (cirr::0)",
     "'annotation.QUERY_TOO_BROAD' cannot be used"),
    (document("a", assignment(0, {**note(False), "QUERY_TO_BROAD": True})), "assignment 0 (cirr::0)",
     "'QUERY_TO_BROAD' is not a flag of CIRCUS"),
    *((document("a", assignment(0, {**note(False), name: value})), "assignment 0 (cirr::0)",
       f"{name!r} is not a flag of CIRCUS") for name, value in (
        ("invalid_text_query", True), ("Query_too_broad", True), ("query too broad", None), ("Invalid-Image-Query", 1),
        ("invalid_txt_query", "x"), ("unusable", True), ("unusable", False), ("Validated", "no"), ("OTHER ", "lost"))),
    (document("a", assignment(0, note(True), assigned_user="b")), "assignment 0 (cirr::0)",
     "it is assigned to 'b', but the file is of 'a'"),
    (document("a", assignment(0, assigned_user=1)), "assignment 0 (cirr::0)", "'assigned_user' cannot be used"),
    (document("a", assignment(0), assignment(0, assignment_id="again")), "assignment 1 (again)",
     "its query 0 of cirr is also that of assignment 0 (cirr::0)"),
    (document("a", assignment(0), assignment(1), assignment(0)), "assignment 2 (cirr::0)",
     "it is a duplicate of assignment 0"),
    (document("a", assignment(0, annotation_updated_at=7)), "assignment 0 (cirr::0)",
     "'annotation_updated_at' cannot be used"),
    *((document("a", assignment(0, note(True), annotation_updated_at=text)), "assignment 0 (cirr::0)",
       f"'annotation_updated_at' is '{text}', which is not a time")
      for text in ("yesterday", "2026-13-01T00:00:00", " ", "1767312000")),
    *((document("a", assignment(643, note(True), assignment_id=name, query_idx=999)), f"assignment 0 ({name})",
       "it is query 999, but its id says 643") for name in ("x::643", "cirr::643", "a::b::00643", "a::999::643")),
    (document("a", assignment(0, note(True, other="a\0b"))), "assignment 0 (cirr::0)", "a NUL"),
    (json.dumps(document("a", assignment(0, {"x": "HERE"}))).replace('"HERE"', '"\\ud800"'), "assignment 0 (cirr::0)",
     "a lone surrogate"),
    (json.dumps(document("a", assignment(0), extra="HERE")).replace('"HERE"', "1e999"), "", "a non-finite number"),
    (json.dumps(document("a", assignment(0))).replace('"dataset": "cirr"', '"dataset": "a", "dataset": "b"', 1),
     "key 'dataset'", "occurs twice"),
])
def test_a_fault_is_named_with_file_and_record(tmp_path, content, where, says):
    [path] = saved(tmp_path, content)
    faults = ValidationIssues(collect=True)
    read_circus_users([path], faults)
    assert [fault.record for fault in faults.found] == [where] and says in faults.found[0].problem
    assert faults.found[0].file == str(path) and faults.found[0].remedy
    with pytest.raises(DatasetError, match=r"annotator_01\.json"):
        read_circus_users([path])


def test_every_fault_of_all_files_is_listed_at_once_and_nothing_is_made(store, tmp_path):
    broken = document("ANNOTATOR_02 ", assignment(1, note(3, other=4)),
                      assignment(1, query_idx=2, presentation_order=[]))
    paths = [*saved(tmp_path, FIRST, SECOND, broken), tmp_path / "gone.json", tmp_path]
    faults = ValidationIssues(collect=True)
    read_circus_users(paths, faults)
    assert [(Path(fault.file).name, fault.record) for fault in faults.found] == [
        ("annotator_03.json", ""), *[("annotator_03.json", "assignment 0 (cirr::1)")] * 2,
        *[("annotator_03.json", "assignment 1 (cirr::1)")] * 2, ("gone.json", ""), (tmp_path.name, "")]
    assert "as is" in faults.found[0].problem and "'presentation_order'" in faults.found[4].problem
    with pytest.raises(DatasetError, match="7 faults in the files; nothing was created or changed"):
        refuse(faults, "the files")
    assert store.studies() == ()


def test_one_assignment_is_one_query_in_all_files(tmp_path):
    paths = saved(tmp_path, FIRST, document("b", assignment(1, query_idx=2)))
    with pytest.raises(DatasetError, match=r"it is query 2 of cirr, and in .*annotator_01\.json query 1 of cirr"):
        read_circus_users(paths)


def test_one_assignment_has_one_category_in_all_files(tmp_path):
    paths = saved(tmp_path, FIRST, document("b", assignment(1, hidden_category="composition_required")))
    with pytest.raises(DatasetError, match=r"category 'composition_required', and in .*_01\.json of .*'unresolved'"):
        read_circus_users(paths)


def test_a_category_that_one_file_does_not_name_is_that_of_the_others(store, tmp_path):
    silent = document("b", assignment(1, hidden_category=None), without(assignment(0), "hidden_category"))
    created = import_circus_study(store, "r", read_circus_users(saved(tmp_path, silent, FIRST)), created_by="me")
    assert {item.stratum for item in store.items(created.study.study_id)} == {"cirr::unresolved"}


def test_what_is_no_contradiction_is_kept(tmp_path):
    content = document("Ada", assignment(0, {**note(True), "validated_by": "x", "comment": "y", "rounds": 2}),
                       assignment(1, dataset="circo"), assignment(2, assigned_user=" ADA"),
                       assignment(3, assigned_user=None), assignment(4, assignment_id="cirr::004"),
                       *(assignment(n, assignment_id=name) for n, name in (
                           (5, "6"), (7, "::8"), (9, "x:10"), (11, "12::a"))),
                       *(assignment(n, annotation_updated_at=text) for n, text in
                         ((13, "2026-01-02"), (14, "2026-01-02 10:00:00Z"), (15, "20260102T100000+0130"))))
    [file] = read_circus_users(saved(tmp_path, content)).files
    assert [dict(one.raw) for one in file.assignments] == content["assignments"]


def test_a_name_that_is_taken_is_refused(store, tmp_path):
    imported = read_circus_users(saved(tmp_path, FIRST))
    import_circus_study(store, "Released", imported, created_by="me")
    with pytest.raises(StudyError, match="already"):
        import_circus_study(store, "released ", imported, created_by="me")
    with pytest.raises(UnknownStudy):
        store.study("other")


# The form -----------------------------------------------------------------------------------------


def test_flags_are_a_set_in_order_of_severity():
    answer = answer_of(note(False, "QUERY_TOO_BROAD", "INVALID_TEXT_QUERY", "INVALID_TARGET_IMAGE"))
    assert answer["flags"] == ["INVALID_TARGET_IMAGE", "INVALID_TEXT_QUERY", "QUERY_TOO_BROAD"]
    assert annotation_of(answer) == note(False, "QUERY_TOO_BROAD", "INVALID_TEXT_QUERY", "INVALID_TARGET_IMAGE")
    assert changed({"validated": False}, answer_of({"validated": False})) == {"validated": False}
    assert changed({}, valid(note="x")) == {"validated": True, "other": "x"}


def test_moments_have_a_zone_or_are_utc():
    assert time_of("2026-01-02T03:00:00+02:00") == time_of("2026-01-02T01:00:00") == datetime(2026, 1, 2, 1, tzinfo=UTC)
    assert time_of("soon") is None and time_of(None) is None and time_of("0001-01-01T00:00:00+14:00") is None
