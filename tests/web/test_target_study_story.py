"""People mark which candidates answer a query: with the keyboard, on a phone, three of them and a killed server; then
the corrected targets are written, checked and evaluated."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from annotation.records import Item, Study
from cir_core.gallery.gallery import open_gallery
from cir_core.registry.kinds import read_benchmark
from cir_core.sample.atelier.ground_truth import read_attributes
from tests.fakes import forked
from tests.fakes.attribute_person import AttributePerson
from tests.fakes.chat_server import ChatServer
from tests.fakes.databases import environment_of
from tests.integration.crowd import Server
from tests.web.browsing import enter
from tests.web.judging import Meet, Person, a_server, all_of, answers, begin, draft_kept, history, order_of, stores
from tests.web.judging import meet as meet

EACH = 2   # queries of each of the three data sets
PEOPLE = ("Ada", "Bea", "Cleo")


@pytest.fixture(scope="module")
def truth(home: Path) -> AttributePerson:
    return AttributePerson(open_gallery("atelier", home=home), read_benchmark("sample", home / "sample"),
                           read_attributes(home / "sample", "test"))


@pytest.fixture(scope="module")
def server(home: Path, truth: AttributePerson, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Stage 1 is in its home."""
    own = tmp_path_factory.mktemp("targets") / "home"
    shutil.copytree(home, own)
    with ChatServer(truth) as chat:
        cirque(own, "construct", "multi-target", "sample", own / "sample", "--gallery", "atelier", "--limit", EACH,
               "--out", own / "one", LLM_BASE_URL=chat.url, LLM_MODEL="m", LLM_SEES="true")
    with a_server(own, [*PEOPLE, "Dan", "Eve"]) as running:
        yield running


def cirque(home: Path, *arguments: object, **settings: str) -> str:
    done = forked.run("-m", "cli.main", *map(str, arguments), environment=environment_of(
        home, **{f"CIRQUE_{name}": value for name, value in settings.items()}))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def a_study(server: Server, name: str, people: int = 1) -> tuple[Study, dict[str, Item]]:
    """A study of what stage 1 found, for so many people, and its items by id."""
    cirque(server.home, "study", "create", "targets", name, server.home / "one", "--gallery", "atelier",
           "--people", people, "--overlap", people)
    with stores(server.home) as opened:
        study = opened.studies.study(name)
        return study, {item.item_id: item for item in opened.studies.items(study.study_id)}


def query(page: Page, number: int) -> None:
    """Wait until this one is shown."""
    expect(page.locator(".st-number")).to_have_text(f"Query {number}")


def tile(page: Page, place: int) -> Locator:
    return page.locator(".tg-tile").nth(place)


def active(page: Page, place: int) -> None:
    expect(tile(page, place)).to_have_class(re.compile("active"))


def marks(page: Page) -> list[str]:
    return [str(mark) for mark in page.locator(".tg-tile").evaluate_all("all => all.map((one) => one.dataset.mark)")]


def saved(item: Item, *given: str, note: str = "") -> dict[str, Any]:
    return {"marks": dict(zip(item.shown["candidates"], given, strict=True)), "note": note}


def test_marking_with_the_keyboard_alone(meet: Meet, server: Server) -> None:
    study, items = a_study(server, "Alone")
    dan = meet("Dan")
    page, sent = dan.page, list[str]()
    page.on("response", lambda answer: sent.append(f"{answer.url} {answer.all_headers()}"))
    page.goto(f"{server.url}/annotate?study=Alone")
    expect(page.get_by_text(f"About {len(items)} queries for you.")).to_be_visible()
    begin(page)
    query(page, 1)
    first, second, *_ = order_of(server.home, study, "Dan")
    item = items[first]
    count = len(item.shown["candidates"])
    expect(page.locator("h1")).to_have_text(item.shown["text"])
    sources = page.locator(".tg-tile img").evaluate_all("all => all.map((one) => one.getAttribute('src'))")
    assert [re.search(r"([0-9a-f]{24})-s\.webp", source)[1] for source in sources] == item.shown["candidates"]  # type: ignore[index]
    page.wait_for_function("[...document.querySelectorAll('.tg-desk img')].every((one) => one.naturalWidth > 0)")

    boxes = [(tile(page, place).bounding_box(), tile(page, place).get_by_role("radiogroup").bounding_box())
             for place in range(count)]
    assert all(one and part and part["height"] >= 30 and part["y"] + part["height"] <= one["y"] + one["height"] + 1
               for one, part in boxes), "the marks are below the image, not cut off"

    dan.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("yes, no, unsure; then the next one")
    dan.press("Escape", "d")
    expect(page.get_by_role("dialog", name="Guidelines")).to_contain_text("Do not choose the best one")
    dan.press("d")
    expect(page.get_by_role("dialog")).to_have_count(0)

    # Letters mark and go on; arrows lead; what is missing is said.
    active(page, 0)
    dan.press("y", "n", "u")
    active(page, 3)
    dan.press("ArrowLeft", "ArrowLeft", "y")
    active(page, 3)
    assert marks(page)[:4] == ["yes", "yes", "unsure", ""]
    dan.press("Control+z")
    active(page, 1)
    assert marks(page)[:4] == ["yes", "no", "unsure", ""]
    enter(page)
    expect(page.locator(".tg-panel .cq-inline").first).to_have_text(
        f"{count - 3} images have no mark yet: yes, no or unsure.")
    active(page, 3)
    dan.press("t")
    page.keyboard.type("the text says 2 things: y or n")
    dan.press("Escape")
    held = [all_of(page)]

    # A draft survives a reload, and being elsewhere.
    with draft_kept(page):
        dan.press("y")
    page.reload()
    query(page, 1)
    expect(page.get_by_text("Draft restored")).to_be_visible()
    active(page, 4)
    assert marks(page)[:5] == ["yes", "no", "unsure", "yes", ""]
    dan.press("Shift+ArrowRight")
    query(page, 2)
    dan.press("Shift+ArrowLeft")
    query(page, 1)
    dan.press("x")
    whole = ["yes", "no", "unsure", "yes", *["no"] * (count - 4)]
    assert marks(page) == whole

    # Large; arrows lead on. The reference by a key of its own.
    dan.press("z")
    large = page.get_by_role("dialog", name="Picture")
    expect(large.get_by_role("paragraph")).to_have_text("Image 5")
    dan.press("ArrowRight")
    expect(large.get_by_role("paragraph")).to_have_text("Image 6")
    dan.press("Escape", "f")
    expect(large.get_by_role("paragraph")).to_have_text("Reference")
    dan.press("Escape")
    dan.save()
    query(page, 2)
    assert set(marks(page)) == {""}

    # Back, and revised.
    dan.press("o")
    expect(page.get_by_role("dialog", name="All queries")).to_contain_text("1 answered")
    dan.press("Home", "Enter")
    query(page, 1)
    expect(page.locator(".st-state")).to_have_text("Answered")
    assert marks(page) == whole
    tile(page, 2).get_by_role("radio", name="No").click()
    dan.save()
    query(page, 2)
    note = "the text says 2 things: y or n"
    assert answers(server.home, study) == {first: saved(item, *whole[:2], "no", *whole[3:], note=note)}
    assert [one.revision for one in history(server.home, study)] == [1, 2]

    # Nothing said where an image comes from, which one it is, or what the model says of it.
    held += [all_of(page), *sent]
    secrets = [f'"{word}' for word in ("confidence", "original", "group", "rank", "dataset")]
    for one in items.values():
        secrets += [one.hidden["original_target"], one.hidden["reference"],
                    *(each["image"] for each in one.hidden["candidates"])]
    assert [secret for secret in secrets if any(secret in one for one in held)] == []
    alt = page.locator(".tg-tile img").evaluate_all("all => all.map((one) => one.alt)")
    assert alt == [f"Image {place}, image" for place in range(1, len(items[second].shown["candidates"]) + 1)]


@pytest.mark.extended
def test_on_a_phone(meet: Meet, server: Server) -> None:
    study, items = a_study(server, "Small")
    eve = meet("Eve")
    page = eve.page
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.url}/annotate?study=Small")
    begin(page)
    query(page, 1)
    item = items[order_of(server.home, study, "Eve")[0]]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for place in range(len(item.shown["candidates"])):
        button = tile(page, place).get_by_role("radio", name="Unsure" if place % 2 else "Yes")
        box = button.bounding_box()
        assert box and min(box["width"], box["height"]) >= 40, place
        button.click()
    reference = page.locator(".tg-reference .st-frame").bounding_box()
    assert reference and 50 <= reference["y"] < 200, "the reference stays in sight, below the bar"
    with page.expect_response(re.compile("study/save")):
        page.get_by_role("button", name="Save and continue").click()
    query(page, 2)
    assert answers(server.home, study) == {item.item_id: saved(
        item, *("unsure" if place % 2 else "yes" for place in range(len(item.shown["candidates"]))))}


def said_by(person: str, item: Item, truth: AttributePerson, queries: Mapping[str, Any]) -> dict[str, Any]:
    """What is true; but each person errs on another tenth of the images, and is unsure of another."""
    given = []
    for place, each in enumerate(item.hidden["candidates"]):
        yes = bool(truth.answers(queries[item.hidden["query_id"]], [each["image"]]))
        turn = (item.number + 3 * place + 4 * PEOPLE.index(person)) % 20
        given.append("unsure" if turn == 1 else ("yes" if yes != (turn in (0, 10)) else "no"))
    return saved(item, *given)


@pytest.mark.extended
def test_three_people_a_killed_server_and_the_corrected_targets(
    meet: Meet, server: Server, truth: AttributePerson, tmp_path: Path,
) -> None:
    study, items = a_study(server, "Which fit", len(PEOPLE))
    queries = {one.query_id: one for one in read_benchmark("sample", server.home / "sample").queries}
    people = {name: meet(name) for name in PEOPLE}
    acknowledged: list[tuple[str, str, dict[str, Any]]] = []
    for person in people.values():
        person.open(study)
    orders = {name: order_of(server.home, study, name) for name in PEOPLE}
    assert all(sorted(order) == sorted(items) for order in orders.values())
    for number in range(len(items)):
        for name, person in people.items():
            item = items[orders[name][number]]
            query(person.page, number + 1)
            answer = said_by(name, item, truth, queries)
            if (number, name) == (len(items) // 2, "Bea"):
                mark_and_kill(person, server, answer, number)
                stored = stored_answers(server, study)
                assert [one for one in acknowledged if stored.get(one[:2]) != one[2]] == []
            else:
                mark(person, answer)
                person.save()
            acknowledged.append((name, item.item_id, answer))
    for person in people.values():
        expect(person.page.get_by_role("heading", name="That was the last one. Thank you.")).to_be_visible()
    assert stored_answers(server, study) == {one[:2]: one[2] for one in acknowledged}
    assert all(one.revision == 1 for one in history(server.home, study))

    # The corrected targets are what SoFT's format and the evaluator take; most errors of one person are outvoted.
    cirque(server.home, "study", "export", "soft", "Which fit", "--out", tmp_path)
    written, true = 0, 0
    for path in sorted(tmp_path.glob("*_multi_target_selection.json")):
        assert "No faults" in cirque(server.home, "datasets", "check", "soft-multi-target", path)
        label = path.name.partition("_")[0]
        scored = json.loads(cirque(
            server.home, "evaluate", "soft-multi-target", "--annotations", path, "--pool",
            server.home / f"sample/image_splits/split.{label}.test.json", "--gallery", "atelier", "--methods",
            "slerp", "--no-intervals", "--json"))
        assert 0 <= scored["map_soft"]["10"] <= 1
        texts = {(one.hidden["reference"], tuple(one.hidden["captions"])): queries[one.hidden["query_id"]]
                 for one in items.values()}
        for record in json.loads(path.read_text("utf-8")):
            asked = texts[record["reference_image_name"], tuple(record["relative_captions"])]
            written += len(record["confidence_scores"])
            true += len(truth.answers(asked, list(record["confidence_scores"])))
    assert written and true / written > 0.9

    # A manager sees the counts; the report has the agreement.
    admin = meet("Ada Min")
    page = admin.page
    page.goto(f"{server.url}/studies")
    expect(page.get_by_role("listitem").filter(has_text="Which fit")).to_contain_text(f"{len(items)} queries")
    page.get_by_role("link", name="Which fit").click()
    page.get_by_role("tab", name="Analysis").click()
    table = page.get_by_role("region", name="Targets").get_by_role("table")
    expect(table).to_contain_text(f"{len(items)} of {len(items)}")
    page.get_by_role("tab", name="Files").click()
    page.get_by_text("Download", exact=True).click()
    with page.expect_download() as got:
        page.get_by_text("Corrected targets").click()
    assert got.value.suggested_filename.endswith("soft.zip")


def mark(person: Person, answer: Mapping[str, Any]) -> None:
    person.press(*(given[0] for given in answer["marks"].values()))
    assert marks(person.page) == list(answer["marks"].values())


def mark_and_kill(person: Person, server: Server, answer: Mapping[str, Any], number: int) -> None:
    """Half of the marks are a draft when the server dies; the rest and Enter come while it is away."""
    given = [mark[0] for mark in answer["marks"].values()]
    half = len(given) // 2
    with draft_kept(person.page):
        person.press(*given[:half])
    server.kill()
    person.press(*given[half:])
    enter(person.page)
    expect(person.page.get_by_text("Your answer is kept in this browser")).to_be_visible()
    query(person.page, number + 2)   # which was here already
    server.start()
    expect(person.page.get_by_text("The previous answer is saved.")).to_be_visible()


def stored_answers(server: Server, study: Study) -> dict[tuple[str, str], Mapping[str, Any]]:
    with stores(server.home) as opened:
        return {(one.annotator, one.item_id): one.answer for one in opened.studies.judgements(study.study_id)}
