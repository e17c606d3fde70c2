"""What a participant must not know never reaches their browser: every byte of a preference study, on the wire."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from annotation.kinds.preference.create import create_preference_study
from annotation.kinds.preference.sources import SurveyQuery
from annotation.kinds.preference.survey.plan import SurveyLayout
from tests.fakes.patience import PATIENCE
from tests.fakes.recording_proxy import RecordingProxy
from tests.fakes.studies import rated
from tests.integration.crowd import PASSWORD, Server, add_people
from tests.web.judging import Person, all_of, stores
from tests.web.surveying import begin, past_the_check, question
from tests.web.test_blind_study import Stage, chunks_of, draw_photos, excerpt, text_of

QUESTIONS, PICTURES = 12, 40
SEED = 424_243_777           # sides, orders and pairs follow from it
METHODS = ("tapirmethod-7b", "lemurmethod", "quaggamethod-xl")
# Whatever is hidden has one of these in it. Long enough that no random token and no picture has them by chance.
MARKERS = ("tapirmethod", "lemurmethod", "quaggamethod", "axolotlphoto", "okapiquery", "narwhalkey", "zebradata",
           "gnucategory", "424243777")
KEYS = {"methods", "method", "target", "target_id", "target_ids", "reference_id", "set_ids", "image_id", "rank",
        "ranks", "score", "scores", "hidden", "first", "stratum", "seed", "set_1", "set_2", "extra", "query_id", "key"}
IDA, UGO = "Ida", "Ugo"
# Both people get every question.
LAYOUT = SurveyLayout(per_person=12, forms=2, shared_every=1, shared_by=2, reason_every=3, seed=SEED)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    home = tmp_path_factory.mktemp("blind") / "home"
    photos = draw_photos(tmp_path_factory.mktemp("axolotlphotos"))
    with stores(home) as opened:
        add_people(opened, [IDA, UGO])
        study = create_preference_study(
            opened.studies, home, "Blind", [a_query(number) for number in range(QUESTIONS)], METHODS, photos.get,
            LAYOUT, created_by="Ada Min", source={"form": "methods", "methods": list(METHODS)},
            settings={"check_every": 4}).study
        items = {one.item_id: one for one in opened.studies.items(study.study_id)}
        image_ids = {token: image.image_id for token, image in opened.studies.images(study.study_id).items()}
    server = Server(home)
    server.start()
    proxy = RecordingProxy(server.url)
    yield Stage(server, proxy, study, items, image_ids)
    proxy.close()
    server.stop()


def a_query(number: int) -> SurveyQuery:
    """Methods agree on some images; each has the target at another rank. Pictures come again in other questions."""
    photo = [f"axolotlphoto-{(number * 2 + step) % (PICTURES - 1):03d}.jpg" for step in range(9)]
    return SurveyQuery(
        key=f"narwhalkey::{number}", dataset="zebradata", query_id=f"okapiquery-{number}", category="gnucategory",
        text=text_of(number), reference_id=f"axolotlphoto-{PICTURES - 1:03d}.jpg", target_ids=(photo[2],),
        results={method: tuple(photo[2 * place:2 * place + 5]) for place, method in enumerate(METHODS)})


@pytest.mark.extended
def test_a_browser_goes_through_a_study_and_learns_nothing(stage: Stage, browser: Browser) -> None:
    ida = Person(browser, stage.proxy.url, IDA)
    held = ""
    try:
        held = go_through(ida)
    finally:
        ida.context.close()
    assert ida.complaints == []
    ask_for_everything(stage)

    seen, answers = stage.proxy.raw(), stage.proxy.answers()
    # The recording holds what it should: nothing was compressed, all kinds of answers are in it.
    assert not re.search(rb"(?i)content-encoding:", seen)
    paths = {answer.target.partition("?")[0] for answer in answers}
    assert {"/annotate", "/study/at", "/study/save", "/study/draft", "/study/overview", "/study/rubric", "/study/gate",
            "/gradio_api/info", "/gradio_api/run/next_question", "/gradio_api/run/save_rating"} <= paths
    everything = [seen, held.encode()]
    everything += [f"{answer.target}\n{answer.head}".encode() + b"\n" + answer.body for answer in answers]
    assert any(text_of(0).encode() in part for part in everything), "the texts are in it: so would the rest be"
    scripts = {answer.target for answer in answers if answer.target.startswith(("/own/", "/assets/", "/static/"))}
    for answer in answers:
        assert str(stage.server.home).encode() not in answer.body or "file=" in answer.target, answer.target
    for part in everything:
        lower = part.lower()
        for marker in MARKERS:
            assert marker.encode() not in lower, (marker, excerpt(lower, marker))
    for answer in answers:
        if answer.target.startswith("/study/") and answer.status == 200 and "json" in answer.head.lower():
            keys = set(keys_of(json.loads(answer.body)))
            assert not keys & KEYS, (answer.target, keys & KEYS)
    assert scripts, "the scripts were among what was read"

    pictures = [answer for answer in answers if answer.target.startswith("/study/image/") and answer.status == 200]
    assert len(pictures) > 10 * QUESTIONS
    for answer in pictures:
        assert re.fullmatch(r"/study/image/[0-9a-z]+/[0-9a-f]{24}-[sl]\.webp", answer.target)
        assert chunks_of(answer.body) <= {"VP8 ", "VP8L", "VP8X"}, "pixels and nothing else"


def go_through(ida: Person) -> str:
    """Every question, with everything the screen has; returns what page and browser held on the way."""
    ida.sign_in()
    page, held = ida.page, []
    page.goto(f"{ida.url}/annotate?study=Blind")
    begin(page)
    for number in range(1, QUESTIONS + 1):
        question(page, number)
        check_names(page)
        held.append(all_of(page))
        ida.press("z", "ArrowRight", "Escape", "o")
        expect(page.get_by_role("dialog")).to_be_visible()
        ida.press("Escape")
        expect(page.get_by_role("dialog")).to_be_hidden()   # a key before that would be the dialog's
        ida.press("4", "2", "ArrowLeft")
        if number % 3 == 0:
            ida.press("r")
            page.keyboard.type("better")
        ida.save()
        if number in (4, 6, 10, 12):   # after four in a form, and at its end
            expect(page.locator(".sv-check")).to_be_visible()
            held.append(all_of(page))
            past_the_check(page)
    expect(page.get_by_label("Completion code")).to_be_visible()
    page.get_by_role("button", name="Review").click()
    question(page, QUESTIONS)
    page.reload()
    question(page, QUESTIONS)
    ida.save()
    expect(page.get_by_label("Completion code")).to_be_visible()
    held += [all_of(page), json.dumps(ida.context.storage_state())]
    return "\n".join(held)


def check_names(page: Page) -> None:
    """What a screen reader says of pictures, and their addresses: a set and a place in it, nothing else."""
    for picture in page.locator("#annotate-root img").all():
        assert (picture.get_attribute("alt") or "") in ("", "Reference image")
        assert not picture.get_attribute("title")
        assert re.search(r"/study/image/\w+/[0-9a-f]{24}-[sl]\.webp$", picture.get_attribute("src") or "")
    labels = page.locator(".sv-row > *").evaluate_all("all => all.map((one) => one.getAttribute('aria-label'))")
    assert labels == [f"Shopping Mall {side}, image {place} of 5: enlarge" for side in (1, 2) for place in range(1, 6)]


def ask_for_everything(stage: Stage) -> None:
    """A curious participant with a script: the named calls, other addresses."""
    with httpx.Client(base_url=stage.proxy.url, timeout=PATIENCE) as client:
        client.post("/sign-in", json={"name": UGO, "password": PASSWORD}).raise_for_status()

        def call(name: str, *arguments: Any) -> httpx.Response:
            return client.post(f"/gradio_api/run/{name}", json={"data": list(arguments)})

        workspace = call("next_question", "Blind", "").json()["data"][0]
        assert workspace["gate"]["kind"] == "guidelines" and workspace["item"] is None
        passed = client.post("/study/gate", json={"study": "Blind", "kind": "guidelines", "token": "curious-token-0"})
        mine = passed.json()["desk"]["item"]["id"]
        assert call("save_rating", "Blind", mine, rated(), "curious-token-1", 1.5).status_code == 200
        for wrong in (rated(2, 4, "A"), rated(7, 1), rated(preferred=None), {"ratings": []}, None, 7):
            assert call("save_rating", "Blind", mine, wrong, "curious-token-2", 1.5).status_code == 500
            client.post("/study/save", json={"study": "Blind", "item": mine, "answer": wrong, "token": "curious-3"})
        for item_id in stage.items:
            call("next_question", "Blind", item_id)
            client.get("/study/at", params={"study": "Blind", "item": item_id})
        for path in (
            "/config", "/gradio_api/info", "/gradio_api/openapi.json", "/me", "/study/mine",
            "/study/rubric?study=Blind", "/study/overview?study=Blind", "/study/at?study=Blind&position=99",
            f"/study/image/{stage.study.study_id}/",
        ):
            client.get(path)
        client.post("/study/draft", json={"study": "Blind", "item": mine, "answer": rated(1, 1), "seconds": 1})
        client.post("/study/more", json={"study": "Blind"})
        # What belongs to other roles is refused.
        for path in ("/studies/all", "/studies/one?study=Blind", "/studies/quality?study=Blind",
                     "/studies/methods?study=Blind", "/studies/export?study=Blind&form=csv", "/studies"):
            assert client.get(path).status_code == 403, path
        rules = client.post("/studies/rules", json={"study": "Blind", "rules": ["irrelevant"]})
        assert rules.status_code == 403


def keys_of(value: Any) -> Iterator[str]:
    """Names of all fields, at any depth."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from keys_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner)


def test_no_address_is_used_twice(stage: Stage) -> None:
    """The same picture has another address in every question, in either set: none tells who found it."""
    tokens = Counter(token for one in stage.items.values()
                     for token in (one.shown["reference"], *(token for each in one.shown["sets"] for token in each)))
    assert set(tokens.values()) == {1} and len(tokens) == QUESTIONS * 11
    pictures = Counter(stage.image_ids[token] for token in tokens)
    assert max(pictures.values()) >= QUESTIONS, "the pictures themselves do come again"
    folder = stage.server.home / "studies" / stage.study.study_id
    assert {path.name[:24] for path in Path(folder).glob("*.webp")} == set(tokens)


def test_neither_order_nor_addresses_follow_the_ranking(stage: Stage) -> None:
    as_ranked = by_name = 0
    for one in stage.items.values():
        for shown, ranked in zip(one.shown["sets"], one.hidden["set_ids"], strict=True):
            ids = [stage.image_ids[token] for token in shown]
            assert sorted(ids) == sorted(ranked)
            as_ranked += ids == ranked
            by_name += [token for _, token in sorted(zip(map(ranked.index, ids), shown, strict=True))] == sorted(shown)
    # Of 24 sets, each is in order by chance once in 120: six of them in one of 25 million runs, three in one of 970.
    # If either followed the ranking, all 24 would be.
    assert as_ranked <= 5 and by_name <= 5


def test_each_method_stands_on_either_side(stage: Stage) -> None:
    """For each person too: half of their questions, one more or less."""
    with stores(stage.server.home) as opened:
        assignments = opened.studies.assignments(stage.study.study_id)
    for seat in {one.seat for one in assignments}:
        firsts = [sorted(methods := stage.items[one.item_id].hidden["methods"]).index(methods[one.extra["first"] - 1])
                  for one in assignments if one.seat == seat]
        assert abs(2 * sum(firsts) - len(firsts)) <= 1
