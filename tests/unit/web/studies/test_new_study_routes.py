"""A study made on the screen: files come in, a kind is proposed, the first items are shown, and it is created."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient

from annotation.kinds.table import KINDS
from annotation.studies.copying import duplicate_study
from annotation.studies.guidelines import nodes_of, study_nodes, text_of
from annotation.studies.protocols import newest_text, own_text
from storage.studies.store import SqlStudyStore
from tests.fakes.databases import study_store as study_store
from tests.fakes.picture_tables import png, zipped
from tests.fakes.target_studies import OWN_MARKS
from web.studies import new_study
from web.studies.uploads import ABANDONED, MOST_DRAFTS

NAMES = ("a.png", "b.png", "c.png", "d.png", "e.png", "f.png", "g.png")
QUERIES = "text,reference,target\n" + "".join(f"make it {n},a.png,{name}\n" for n, name in enumerate(NAMES[1:]))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def services(store: SqlStudyStore, home: Path) -> Any:
    return SimpleNamespace(study_store=store, search=SimpleNamespace(sessions=lambda *_: ()), settings=SimpleNamespace(
        home=home, uploads=home / "uploads", max_study_upload_mb=1, max_image_megapixels=64.0, seed=7))


@pytest.fixture
def page(new_study_as) -> TestClient:
    return new_study_as()


def begin(page: TestClient) -> str:
    return page.post("/studies/new/begin", json={}).json()["draft"]


def send(page: TestClient, draft: str, part: str, name: str, content: bytes):
    return page.post(f"/studies/new/file?draft={draft}&part={part}", content=content, headers={"X-File-Name": name})


def filled(page: TestClient, table: str = QUERIES, file: str = "queries.csv") -> str:
    draft = begin(page)
    assert send(page, draft, "table", file, table.encode()).status_code == 200
    for number, name in enumerate(NAMES):
        assert send(page, draft, "pictures", f"photos/{name}", png((40 * number, 90, 160))).status_code == 200
    return draft


def asked(draft: str, columns: dict[str, list[str]], kind: str = "validity", **more: object) -> dict[str, object]:
    return {"draft": draft, "kind": kind, "columns": columns, **more}


COLUMNS = {"text": ["text"], "reference": ["reference"], "target": ["target"]}
TABLES = {
    "validity": QUERIES,
    "sessions": "session,turn,text,reference,target\ns,1,redder,a.png,c.png\ns,2,longer,b.png,c.png\n",
    "preference": "id,text,reference,results ours,results theirs\n" + "".join(
        f"{n},make it {n},a.png,b.png|c.png|d.png|e.png|f.png,c.png|d.png|e.png|f.png|g.png\n"
        for n in range(4)),
    "targets": "id,text,reference,candidates\n1,redder,a.png,b.png|c.png\n2,longer,b.png,d.png|e.png\n",
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_of_each_kind_is_recognised_shown_and_created(
    page: TestClient, store: SqlStudyStore, kind: str,
) -> None:
    draft = filled(page, TABLES[kind])
    table = page.get(f"/studies/new/table?draft={draft}").json()
    assert table["kind"] == kind and table["head"][0][0] == "line 2"
    columns = table["columns"][kind]
    answer = page.post("/studies/new/look", json=asked(draft, columns, kind))
    look = answer.json()
    assert answer.status_code == 200, look
    assert len(look["desks"]) == min(3, look["items"])
    assert all(desk["item"] for desk in look["desks"]) and look["forecast"]["hours_total"] > 0
    address = re.search(r"studies/new/image/[^\"]+", answer.text)
    assert address and page.get(f"/{address[0]}").content[8:12] == b"WEBP"
    assert not store.studies()                                       # nothing is stored by looking
    made = page.post("/studies/new/create", json=asked(
        draft, columns, kind, name=f"Of {kind}", guidelines="*Look*", open=True))
    assert made.status_code == 200, made.text
    study = store.study(f"Of {kind}")
    assert (study.kind, study.accepting, study.created_by) == (kind, True, "Olga")
    assert study.plan.seed == 7                                      # as the command line has it
    assert text_of(study) == "*Look*" and KINDS[kind].answers.page(study)
    assert page.get(f"/studies/new/files?draft={draft}").status_code == 400   # the files are gone


def test_closed_with_guidelines_whose_pictures_it_keeps(page: TestClient, store: SqlStudyStore, home: Path) -> None:
    draft = filled(page)
    send(page, draft, "guidelines", "good.png", png((1, 2, 3)))
    text = "# Look\n\n![Good](good.png)"
    nodes = page.post("/studies/new/guide", json={"draft": draft, "text": text}).json()["nodes"]
    source = nodes[1]["children"][0]["src"]
    assert page.get(f"/{source}").content[8:12] == b"WEBP"
    missing = page.post("/studies/new/create", json=asked(
        draft, COLUMNS, name="One", guidelines="![No](no.png)", open=True))
    assert missing.status_code == 400 and "no.png is unavailable" in missing.json()["problem"]
    assert not store.studies()
    made = page.post("/studies/new/create", json=asked(draft, COLUMNS, name="One", guidelines=text, open=False))
    assert made.status_code == 200, made.text
    study = store.study("One")
    assert not study.accepting and text_of(study) == text
    token = study.settings["own_guidelines"]["pictures"]["good.png"]
    assert (home / "studies" / study.study_id / f"{token}-l.webp").is_file()


def test_what_is_wrong_is_said_with_its_place_and_without_options_of_the_command_line(page: TestClient) -> None:
    draft = filled(page, QUERIES + ",a.png,b.png\n")
    problem = page.post("/studies/new/look", json=asked(draft, COLUMNS)).json()["problem"]
    assert "queries.csv" in problem and "line 8, column text" in problem and "empty" in problem
    send(page, draft, "table", "queries.csv", b"text,reference,target\nx,a.png,nowhere.png\n")
    problem = page.post("/studies/new/look", json=asked(draft, COLUMNS)).json()["problem"]
    assert "nowhere.png is not there" in problem and "line 2, target" in problem and "--" not in problem
    problem = page.post("/studies/new/look", json=asked(draft, {"text": ["text"]})).json()["problem"]
    assert "no column for reference" in problem and "--" not in problem
    impossible = page.post("/studies/new/plan", json={"kind": "validity", "items": 5, "design": {"overlap": 9}}).json()
    assert "overlap of 9" in impossible["problem"]


def test_a_file_of_questions_is_checked_shown_stored_and_found_again(page: TestClient, store: SqlStudyStore) -> None:
    draft = filled(page, TABLES["targets"])
    columns = page.get(f"/studies/new/table?draft={draft}").json()["columns"]["targets"]
    first = page.get("/studies/new/questions?kind=targets").json()["text"]
    assert first == newest_text("marks", "soft-targets")

    def checked(text: str) -> dict[str, Any]:
        return page.post("/studies/new/check", json={"kind": "targets", "text": text}).json()

    assert [one["mark"] for one in checked("")["page"]["choices"]] == ["yes", "no", "unsure"], "cirque's own"
    fault = checked(OWN_MARKS.replace('key = "k"', 'key = "z"'))
    assert fault["line"] == 14 and "z is a key of the screen" in fault["problem"]
    assert checked(OWN_MARKS + "title = = 3\n")["line"] == OWN_MARKS.count("\n") + 1
    assert "NUL" in checked(OWN_MARKS + "# \0")["problem"] and "262,144 characters" in checked("#" * 300_000)["problem"]
    assert [one["name"] for one in checked(OWN_MARKS)["page"]["choices"]] == ["leave it", "take it"]
    assert not store.studies()

    broken = page.post("/studies/new/create", json=asked(draft, columns, "targets", name="One", questions="protocol ="))
    assert broken.status_code == 400 and "questions.toml is not valid TOML" in broken.json()["problem"]
    assert not store.studies()
    made = page.post("/studies/new/create", json=asked(draft, columns, "targets", name="One", questions=OWN_MARKS))
    assert made.status_code == 200, made.text
    assert (store.study("One").protocol, own_text(store.study("One"))) == ("my-lab/1", OWN_MARKS)

    kinds = page.get("/studies/new/choices").json()["kinds"]
    offered = {one["kind"]: (one["protocol"], one["earlier"]) for one in kinds}
    assert offered["targets"] == ("soft-targets/1", [{"study": "One", "protocol": "my-lab/1"}])
    assert offered["validity"] == ("circus/1", [])
    assert page.get("/studies/new/questions?study=One").json()["text"] == OWN_MARKS
    assert "my-lab/2" in checked(OWN_MARKS.replace("take it", "have it"))["problem"]


@pytest.mark.parametrize("kind", TABLES)
def test_the_appendix_of_own_questions_is_read_with_the_guidelines(page, store, home, kind) -> None:
    draft = filled(page, TABLES[kind])
    columns = page.get(f"/studies/new/table?draft={draft}").json()["columns"][kind]
    first = page.get(f"/studies/new/questions?kind={kind}").json()["text"]
    text = re.sub("(?m)^protocol = .*$", 'protocol = "mine/1"\nappendix = "Like *this*: ![Good](good.png)"', first)

    def checked() -> dict[str, Any]:
        return page.post("/studies/new/check", json={"kind": kind, "text": text, "draft": draft}).json()

    assert "'good.png', which is not there" in checked()["problem"]
    sent = asked(draft, columns, kind, name="One", questions=text, guidelines="First.")
    assert "good.png" in page.post("/studies/new/create", json=sent).json()["problem"] and not store.studies()
    send(page, draft, "guidelines", "good.png", png((1, 2, 3)))
    assert page.get("/" + checked()["page"]["own_guidelines"][0]["children"][3]["src"]).content[8:12] == b"WEBP"
    assert page.post("/studies/new/create", json=sent).status_code == 200
    study = store.study("One")
    said, like = study_nodes(study, lambda study_id, token: f"{study_id}/{token}-l.webp")
    assert said["children"] == ["First."] and like["children"][1] == {"tag": "em", "children": ["this"]}
    assert (home / "studies" / like["children"][3]["src"]).is_file()
    place, items = store.assignments(study.study_id)[0], {one.item_id: one for one in store.items(study.study_id)}
    assert "Like *this*" in KINDS[kind].asking.asked(items[place.item_id], study, place.extra).form.instructions
    copy = duplicate_study(store, home, study, "Two")
    assert (home / "studies" / copy.study_id / Path(like["children"][3]["src"]).name).is_file()


def test_questions_are_for_those_who_manage(new_study_as) -> None:
    reader = new_study_as("annotator", "Ann")
    assert reader.get("/studies/new/questions?kind=targets").status_code == 403
    assert reader.post("/studies/new/check", json={"kind": "targets", "text": ""}).status_code == 403


def test_a_new_table_replaces_the_one_before_and_a_zip_is_as_good_as_files(page: TestClient, tmp_path: Path) -> None:
    draft = begin(page)
    send(page, draft, "table", "first.csv", b"x,y\n1,2\n")
    send(page, draft, "table", "second.csv", QUERIES.encode())
    archive = zipped(tmp_path / "all.zip", {name: png() for name in NAMES})
    files = send(page, draft, "pictures", "all.zip", archive.read_bytes()).json()
    assert [one["name"] for one in files["table"]] == ["second.csv"]
    assert page.post("/studies/new/look", json=asked(draft, COLUMNS)).json()["items"] == 6
    files = page.post("/studies/new/drop", json={"draft": draft, "part": "pictures"}).json()
    assert files["pictures"] == []
    assert "no pictures" in page.post("/studies/new/look", json=asked(draft, COLUMNS)).json()["problem"]


def test_uploads_are_bounded_and_nothing_of_one_that_is_too_large_stays(page: TestClient, home: Path) -> None:
    draft = begin(page)
    assert send(page, draft, "pictures", "a.png", b"x" * 700_000).status_code == 200
    refused = send(page, draft, "pictures", "b.png", b"x" * 700_000)
    assert refused.status_code == 413 and "too large" in refused.json()["problem"]
    kept = [path.name for path in (home / "new-studies" / draft).rglob("*") if path.is_file()]
    assert sorted(kept) == ["a.png", "owner.txt"]
    assert send(page, draft, "pictures", "a.png", b"x" * 1_000_000).status_code == 200   # in its own place


@pytest.mark.parametrize("name", ["../../out.png", "/etc/out.png", "..\\..\\out.png", "a/../../out.png"])
def test_a_files_name_leads_nowhere_else(page: TestClient, home: Path, name: str) -> None:
    draft = begin(page)
    assert send(page, draft, "pictures", name, png()).status_code == 200
    assert all((home / "new-studies" / draft) in path.parents for path in home.rglob("out.png"))


def test_every_file_that_comes_is_seen_and_counted(page: TestClient) -> None:
    draft = begin(page)
    assert send(page, draft, "table", "owner.txt", b"text\na\n").json()["table"] == [{"name": "owner.txt", "bytes": 7}]
    assert page.get(f"/studies/new/table?draft={draft}").json()["rows"] == 1
    for name in ("x/.a.png", ".git/a.png"):
        assert send(page, draft, "pictures", name, b"x").status_code == 400
    send(page, draft, "pictures", "x/a.png", b"x")
    dropped = page.post("/studies/new/drop", json={"draft": draft, "part": "pictures", "name": "x"})
    assert dropped.status_code == 200 and len(dropped.json()["pictures"]) == 1   # a folder is no file


def test_a_plan_of_more_items_than_a_table_has_is_refused(page: TestClient) -> None:
    sent = {"kind": "validity", "items": 10**30, "design": {}}
    assert "from 1 to" in page.post("/studies/new/plan", json=sent).json()["problem"]


@pytest.mark.parametrize("name", ["", "..", "a\0b.png", "x" * 300, "c:evil.png"])
def test_a_name_that_is_none_is_refused(page: TestClient, name: str) -> None:
    from urllib.parse import quote
    assert send(page, begin(page), "pictures", quote(name), png()).status_code == 400


def test_a_draft_is_of_one_person_and_an_abandoned_one_is_removed(new_study_as, home: Path) -> None:
    olga, ben, reader = new_study_as(), new_study_as(name="Ben"), new_study_as("annotator", "Ann")
    draft = begin(olga)
    for stranger, status in ((ben, 400), (reader, 403)):
        assert stranger.get(f"/studies/new/files?draft={draft}").status_code == status
        assert send(stranger, draft, "table", "a.csv", b"x").status_code == status
    assert ben.get("/studies/new/files?draft=../../x").status_code == 400
    for _ in range(MOST_DRAFTS):
        newest = begin(olga)
    assert olga.get(f"/studies/new/files?draft={newest}").status_code == 200
    assert len(list((home / "new-studies").iterdir())) == MOST_DRAFTS
    owner = home / "new-studies" / newest / "owner.txt"
    os.utime(owner, (0, owner.stat().st_mtime - ABANDONED - 60))
    begin(ben)
    assert not owner.exists()


def test_markdown_is_elements_and_never_html() -> None:
    text = ('<script>alert(1)</script> <b onclick="x">b</b>\n\n[bad](javascript:alert(1)) [rel](/people) '
            '[ok](https://e.org) ![p](in%20it.png) ![q](https://e.org/x.png)')
    first, second = nodes_of(text, lambda name: "here" if name == "in it.png" else None)
    assert "".join(first["children"]) == '<script>alert(1)</script> <b onclick="x">b</b>'
    elements = [one for one in second["children"] if isinstance(one, dict)]
    assert elements == [{"tag": "a", "href": "https://e.org", "children": ["ok"]},
                        {"tag": "img", "src": "here", "alt": "p"}]


@pytest.mark.parametrize("text", ["*a " * 2000 + "a* " * 2000, "x" * 60_000])
def test_guidelines_that_nobody_could_be_shown_are_refused(page: TestClient, text: str) -> None:
    answer = page.post("/studies/new/guide", json={"draft": begin(page), "text": text})
    assert answer.status_code == 400 and "guidelines" in answer.json()["problem"]


def test_pictures_of_the_latest_look_stay_though_an_earlier_call_ends_later(
    page: TestClient, monkeypatch: pytest.MonkeyPatch,
) -> None:
    draft, inner, real = filled(page), [], new_study.open_pictures

    def slow(*given: Any) -> Any:
        if not inner:
            inner.append(None)
            inner[0] = page.post("/studies/new/look", json=asked(draft, COLUMNS)).json()
        return real(*given)

    monkeypatch.setattr(new_study, "open_pictures", slow)
    page.post("/studies/new/look", json=asked(draft, COLUMNS))
    picture = re.search(r"studies/new/image/[^\"']+", str(inner[0]["desks"]))
    assert picture and page.get(f"/{picture[0]}").status_code == 200


# --- judgements that were made elsewhere -----------------------------------------------------------


def annotator_file(person: str, *valid: bool, **more: object) -> bytes:
    return json.dumps({"username": person, "assignments": [
        {"assignment_id": f"cirr::{number}", "dataset": "cirr", "query_idx": number, "hidden_category": "unresolved",
         "annotation": {"validated": one, "QUERY_TOO_BROAD": not one, **more}} for number, one in enumerate(valid)],
    }).encode()


def of_survey(score: str = "4") -> bytes:
    def path_of(name: str) -> str:
        return f"/-/image_data/dress/{name}.jpg"

    sets = [{"img_path": [path_of(f"{side}{place}") for place in range(5)], "user_score": score} for side in "AB"]
    return json.dumps({"user_1": {"question_set_1": {
        "ref_img_paths": [path_of("R")], "targ_img_paths": [path_of("A0")], "sentences": ["is red"],
        "retrieved_set1": sets[:1], "retrieved_set2": sets[1:], "preferred set": ["2"]}}}).encode()


def judged(page: TestClient, **files: bytes) -> str:
    draft = begin(page)
    for name, content in files.items():
        assert send(page, draft, "judgements", f"{name}.json", content).status_code == 200
    return draft


@pytest.mark.parametrize(("files", "kind", "people", "judgements"), [
    ({"ann": annotator_file("Ann", True, False), "bob": annotator_file("Bob", True)}, "validity", 2, 3),
    ({"hpfiq": of_survey()}, "preference", 1, 1),
])
def test_judgements_made_elsewhere_are_a_closed_study(page, store, files, kind, people, judgements) -> None:
    draft = judged(page, **files)
    found = page.get(f"/studies/new/judgements?draft={draft}").json()
    assert (found["people"], found["judgements"]) == (people, judgements) and not store.studies()
    made = page.post("/studies/new/import", json={"draft": draft, "name": " Released "})
    assert made.status_code == 200 and made.json() == {**found, "name": "Released"}
    study = store.study("Released")
    assert (study.kind, study.accepting, study.created_by) == (kind, False, "Olga")
    assert len(store.judgements(study.study_id)) == judgements
    assert page.get(f"/studies/new/files?draft={draft}").status_code == 400   # the files are gone
    again = page.post("/studies/new/import", json={"draft": judged(page, **files), "name": "released"})
    assert again.status_code == 400 and "already taken" in again.json()["problem"]


@pytest.mark.parametrize(("files", "problem"), [
    ({}, "no files of judgements yet"),
    ({"cut": annotator_file("Ann", True)[:40]}, r"^cut\.json: it is not valid JSON"),
    ({"list": b"[1]"}, "^list.json contains no judgements"),
    ({"benchmark": b'{"samples": []}'}, "^benchmark.json contains no judgements.*CIRCUS.*HP-FashionIQ"),
    ({"ann": annotator_file("Ann", True, BLURRED=True)}, r"One fault in ann\.json.*\n  ann\.json.*BLURRED"),
    ({"a": annotator_file("Ann", True), "b": annotator_file("ann", True)}, r"in the files.*\n  b\.json.*as is a\.json"),
    ({"one": of_survey("6")}, r"in one\.json.*\n  one\.json.*score"),
    ({"one": of_survey(), "two": of_survey()}, "Remove the others"),
])
def test_files_that_cannot_be_imported_say_why_and_store_nothing(page, store, home, files, problem) -> None:
    draft = judged(page, **files)
    for answer in (page.get(f"/studies/new/judgements?draft={draft}"),
                   page.post("/studies/new/import", json={"draft": draft, "name": "Released"})):
        assert answer.status_code == 400 and re.search(problem, said := answer.json()["problem"], re.DOTALL)
        assert str(home) not in said
    assert not store.studies() and len(page.get(f"/studies/new/files?draft={draft}").json()["judgements"]) == len(files)


@pytest.mark.parametrize("content", [annotator_file("Ann", True), of_survey()])
def test_judgements_in_place_of_a_table_are_recognised(page, content) -> None:
    draft = begin(page)
    send(page, draft, "table", "ann.json", content)
    assert re.search("^ann.json contains judgements in the form of .*“Import judgements”",
                     page.get(f"/studies/new/table?draft={draft}").json()["problem"])


def test_only_who_manages_studies_imports(new_study_as) -> None:
    draft = judged(new_study_as("researcher"), ann=annotator_file("Ann", True))
    for client in (new_study_as("analyst"), new_study_as("researcher", "Ben")):
        assert client.get(f"/studies/new/judgements?draft={draft}").status_code in (400, 403)
        assert client.post("/studies/new/import", json={"draft": draft, "name": "X"}).status_code in (400, 403)
