"""A home folder that the version before the modules got rooms made: it opens, and its scripts go on working.

``tests/fakes/earlier/home.tar.xz`` has that folder (a gallery, search sessions, a comparison and a vote, a validity
study with judgements, a draft and a decision, a preference study, accounts) and what that version answered to requests
about it. Texts may be worded better since; keys, numbers, ids and names may not change.
"""

from __future__ import annotations

import json
import sqlite3
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fakes.databases import environment_of
from tests.fakes.forked import run
from tests.fakes.patience import PATIENCE
from tests.integration.processes import App

pytestmark = pytest.mark.sqlite
PACKED = Path(__file__).parents[1] / "fakes" / "earlier" / "home.tar.xz"
PASSWORD = "a long enough password"
# Whose values are ids, names and states. All other strings are sentences, or differ with time.
FIXED = {"id", "item", "name", "kind", "key", "role", "study", "protocol", "session_id", "target", "text", "reference",
         "person", "why", "state", "page", "method", "parameter_name", "component"}
LOGGED = 7   # acts in the audit log of the folder
CHANGING = {"stamp", "number", "looked_at"}   # of the audit log and of reports, from which every look or sign-in counts


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("earlier")
    with tarfile.open(PACKED) as archive:
        archive.extractall(folder, filter="data")
    gallery = folder / "home" / "galleries" / "shop" / "gallery.json"
    header = json.loads(gallery.read_text("utf-8"))
    gallery.write_text(json.dumps(header | {"source": str(folder / "home" / "photos")}), "utf-8")   # it was moved
    make_recent(folder / "home" / "cirque.db")
    return folder


def make_recent(database: Path) -> None:
    """As when the answers were kept: its people had just been seen, and its invitation was valid for a year."""
    now = datetime.now(UTC).replace(tzinfo=None)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE study_seats SET seen_at = ?", [str(now)])
        connection.execute("UPDATE invitations SET expires_at = ?", [str(now + timedelta(days=365))])


@pytest.fixture(scope="module")
def url(unpacked: Path) -> Iterator[str]:
    app = App(unpacked / "home", unpacked / "log", GALLERY="shop")
    try:
        yield app.url
    finally:
        app.end()


@pytest.fixture(scope="module")
def people(url: str) -> Iterator[Mapping[str, httpx.Client]]:
    """Signed in, by name."""
    with httpx.Client(base_url=url, timeout=PATIENCE) as ada, httpx.Client(base_url=url, timeout=PATIENCE) as bob:
        found = {"ada": ada, "Bob": bob}
        for name, person in found.items():
            assert person.post("/sign-in", json={"name": name, "password": PASSWORD}).status_code == 200
        yield found


def packed(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of the audit log, what is in the folder: the sign-ins that asked for these answers came after it."""
    if not answer["path"].startswith("/log/"):
        return answer
    return answer | {"body": {"acts": [act for act in answer["body"]["acts"] if act["number"] <= LOGGED]}}


# What sections name otherwise, or say once, since; the numbers of "report" are compared whole.
ELSEWHERE = {
    "code", "answers", "alpha_items", "fleiss_items", "signature", "one", "other", "count", "n", "ties", "metric-tests",
    "Mean Cohen’s κ of two people", "All people exactly the same", "Two people the same, mean over pairs",
}


def as_read(report: Mapping[str, Any]) -> Mapping[str, Any]:
    """A report with the key numbers and cells of its sections by what they are called, in whatever order and however
    figures draw them."""
    def named(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
        return {name: value for name, value in pairs if name not in ELSEWHERE}

    return report | {"sections": named((section["key"], {
        "headlines": named((one["label"], one) for one in section["headlines"]),
        "tables": {table["key"]: [named(zip((column["key"] for column in table["columns"]), row, strict=True))
                                  for row in table["rows"]] for table in section["tables"]},
    }) for section in report["sections"])}


RENAMED = {"hs-fashioniq/1": "hs-fashioniq-reworded/1", "circled/1": "circled-reworded/1"}
"""The texts of its preference and session studies, whose wording stays: schemas 0008 and 0011 gave it other names."""


def differences(before: Any, now: Any, at: str = "", key: str = "") -> Iterator[str]:
    if before is None and ("ci95" in at or key.endswith(("low", "high"))):
        return     # of a share of 0 or 100 %, which has an interval since
    if isinstance(before, dict):
        if not isinstance(now, dict):
            yield f"{at} was an object"
            return
        for name, value in before.items():
            if name not in now:
                yield f"{at}/{name} is gone"
            else:
                # Of a report's tables, "key" is the name for scripts, and "name" the heading that people read.
                yield from differences(value, now[name], f"{at}/{name}", "heading" if "/columns/" in at else name)
    elif isinstance(before, list):
        if not isinstance(now, list) or len(now) < len(before):
            yield f"{at} was a list of {len(before)}"
            return
        for place, (one, other) in enumerate(zip(before, now, strict=False)):
            yield from differences(one, other, f"{at}/{place}", key)
    elif isinstance(before, str):
        if not isinstance(now, str) or (key in FIXED and RENAMED.get(before, before) != now):
            yield f"{at} was {before!r} and is {now!r}"
    elif key not in CHANGING and (
            now != pytest.approx(before) if isinstance(before, float) else now != before):
        yield f"{at} was {before!r} and is {now!r}"


@pytest.fixture(scope="module")
def answers(unpacked: Path, people: Mapping[str, httpx.Client]) -> list[tuple[dict[str, Any], httpx.Response]]:
    """Those of the earlier version and of this one, before anything is changed."""
    return [(one, people[one["person"]].get(one["path"]))
            for one in json.loads((unpacked / "answers.json").read_text("utf-8"))]


def test_answers_have_the_same_keys_and_values(answers: list[tuple[dict[str, Any], httpx.Response]]) -> None:
    wrong = []
    for one, answer in answers:
        place = f"{one['person']} {one['path']}"
        if answer.status_code != one["status"] or answer.headers["content-type"].split(";")[0] != one["type"]:
            wrong.append(f"{place}: {answer.status_code}, {answer.headers['content-type']}")
        elif "json" in one["type"]:
            now = packed(one | {"body": answer.json()})["body"]
            if one["path"] == "/me":    # without the screens that came since
                now["pages"] = [page for page in now["pages"] if page["page"] not in ("benchmarks", "jobs")]
            elif one["path"].startswith("/analysis/scores/choices"):    # nor the methods
                known = {method["name"] for method in one["body"]["methods"]}
                now["methods"] = [method for method in now["methods"] if method["name"] in known]
            then = packed(one)["body"]
            if one["path"].startswith("/adjudicate/queue"):   # why is told after an own answer, or decision
                then["counts"].pop("tie")
                assert [case.pop("why") for case in then["cases"] if not case["decided"]] == ["tie"]
                assert [case["why"] for case in now["cases"] if not case["decided"]] == [None]
            if one["path"].startswith("/analysis/report?") and "sections" in then:
                then, now = as_read(then), as_read(now)
            wrong += differences(then, now, place)
        elif one["body"] is not None and answer.text != one["body"]:
            wrong.append(f"{place}: another text")
    assert len(answers) > 30 and not wrong, "\n".join(wrong)


def test_its_gallery_is_searched_once_indexed_again_and_an_item_judged(
    unpacked: Path, people: Mapping[str, httpx.Client], answers: list[tuple[dict[str, Any], httpx.Response]],
) -> None:
    ada, bob = people["ada"], people["Bob"]
    [exported] = [one for one, _ in answers if one["path"].startswith("/export/")]
    session = exported["path"].removeprefix("/export/").removesuffix(".json")
    asked = {"data": ["white-40", None, "in blue", session, 3, "", [], []]}
    # The bundled encoder has other weights by now. What to do is said. Vectors of old turns are of another space.
    refused = ada.post("/gradio_api/run/search", json=asked).json()["error"]
    assert refused.endswith("cirque index photos --name shop --encoder atelier"), refused
    indexed = run("-m", "cli.main", "index", "photos", "--name", "shop", "--encoder", "atelier",
                  environment=environment_of(unpacked / "home"), folder=unpacked / "home")
    assert indexed.returncode == 0, indexed.stderr
    refused = ada.post("/gradio_api/run/search", json=asked).json()["error"]
    assert session and refused.endswith("Start a new session."), refused
    asked["data"][3] = ""
    found = ada.post("/gradio_api/run/search", json=asked)
    assert found.status_code == 200, found.text
    turn = found.json()["data"][0]
    assert turn["session_id"] != session and len(turn["hits"]) == 3
    assert ada.get("/" + turn["hits"][0]["picture"]).headers["content-type"].startswith("image/")
    workspace = bob.get("/study/at", params={"study": "Validity"}).json()
    assert workspace["item"] is not None and workspace["draft"]["answer"]["note"] == "a draft"
    saved = bob.post("/study/save", json={
        "study": "Validity", "item": workspace["item"]["id"], "answer": workspace["draft"]["answer"],
        "token": "a-token-of-today"})
    assert saved.status_code == 200 and saved.json()["saved"]["revision"] == 1
