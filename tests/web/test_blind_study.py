"""What a judge must not know never reaches their browser: every byte of a study is read, on the wire."""

from __future__ import annotations

import itertools
import json
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from annotation.kinds.validity.create import create_validity_study
from annotation.records import Item, Study, StudyPlan
from annotation.sources.queries import StudyQuery
from tests.fakes.patience import PATIENCE
from tests.fakes.recording_proxy import RecordingProxy
from tests.fakes.studies import valid
from tests.integration.crowd import PASSWORD, Server, add_people
from tests.web.judging import TITLE, Person, all_of, item, stores

ITEMS, LISTED, PICTURES = 8, 15, 40
SEED = 424_243_777           # who gets what follows from it
FIRST_RANK, FIRST_IDX = 739_151_000, 918_273_640
# Whatever is hidden has one of these in it. Long enough that no random token and no picture has them by chance.
MARKERS = (
    "zebrafree", "quaggaval", "okapiquery", "axolotlphoto", "tapirretriever", "narwhalkey", "lemurnote",
    "73915100", "91827364", "424243777", "hidden_category", "best_retriever",
)
# Names that retrievers have in earnest. Gradio's own scripts may hold such words; nothing else may.
RETRIEVERS = ("slerp", "text-only", "image-only", "cirevl")
BUNDLE = re.compile(r"/(assets|svelte|static)/")
NAME, OTHER = "Ida", "Ugo"


@dataclass(frozen=True)
class Stage:
    server: Server
    proxy: RecordingProxy
    study: Study
    items: dict[str, Item]           # by id
    image_ids: dict[str, str]        # by token


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    home = tmp_path_factory.mktemp("blind") / "home"
    photos = draw_photos(tmp_path_factory.mktemp("axolotlphotos"))
    with stores(home) as opened:
        add_people(opened, [NAME, OTHER])
        study = create_validity_study(
            opened.studies, home, "Blind", [a_query(number) for number in range(ITEMS)], photos.get,
            StudyPlan(seats=2, overlap=1, agreement_items=2, seed=SEED), created_by="Ada Min",
            source={"form": "audit", "dataset": "quaggaval", "retrievers": ["tapirretriever-7b", *RETRIEVERS]},
        ).study
        items = {one.item_id: one for one in opened.studies.items(study.study_id)}
        image_ids = {token: image.image_id for token, image in opened.studies.images(study.study_id).items()}
    server = Server(home)
    server.start()
    proxy = RecordingProxy(server.url)
    yield Stage(server, proxy, study, items, image_ids)
    proxy.close()
    server.stop()


def a_query(number: int) -> StudyQuery:
    """The retriever found the target of every second one, first; the reference is found too. Its lists
    are equally long."""
    photo = [f"axolotlphoto-{(number * 5 + step) % PICTURES:03d}.jpg" for step in range(LISTED + 1)]
    reference, target, *others = photo
    solved = number % 2 == 0
    return StudyQuery(
        key=f"narwhalkey::{number}", dataset="quaggaval", query_idx=FIRST_IDX + number,
        query_id=f"okapiquery-{number}", hidden_category=f"zebrafree_{'solved' if solved else 'unsolved'}",
        text=text_of(number), reference_id=reference, target_id=target, target_ids=(target, others[-1]),
        panel=((target, reference, *others) if solved else (reference, *others))[:LISTED],
        trace={"ranks": {"multimodal": FIRST_RANK + number}, "other": "lemurnote", "retrievers": list(RETRIEVERS),
               "aggregation": {"best_retriever_by_modality": {"multimodal": "tapirretriever-7b"}}},
    )


def text_of(number: int) -> str:
    return f"the same but with {number + 3} buttons"


def draw_photos(folder: Path) -> dict[str, Path]:
    """Photographs that carry their own name, and more, inside the file."""
    photos = {}
    for number in range(PICTURES):
        name = f"axolotlphoto-{number:03d}.jpg"
        picture = Image.new("RGB", (120, 160), (number * 6, 255 - number * 6, number * 31 % 256))
        exif = picture.getexif()
        exif[0x010E] = f"{name}, rank {FIRST_RANK}"   # ImageDescription
        picture.save(folder / name, exif=exif, comment=b"lemurnote")
        photos[name] = folder / name
    return photos


def test_a_browser_goes_through_a_study_and_learns_nothing(stage: Stage, browser: Browser) -> None:
    ida = Person(browser, stage.proxy.url, NAME)
    held = ""
    try:
        held = go_through(ida, stage)
    finally:
        ida.context.close()
    assert ida.complaints == []
    assert [(one.status, one.target) for one in stage.proxy.answers() if one.status >= 400] == []
    ask_for_everything(stage)

    seen, answers = stage.proxy.raw(), stage.proxy.answers()
    # The recording holds what it should: nothing was compressed, all kinds of answers are in it.
    assert not re.search(rb"(?i)content-encoding:", seen)
    paths = {answer.target.partition("?")[0] for answer in answers}
    assert {"/annotate", "/study/at", "/study/save", "/study/draft", "/study/overview", "/study/rubric", "/config",
            "/gradio_api/info", "/gradio_api/run/next_item", "/gradio_api/run/save_judgement"} <= paths
    everything = [seen, held.encode()]
    everything += [f"{answer.target}\n{answer.head}".encode() + b"\n" + answer.body for answer in answers]
    assert any(text_of(0).encode() in part for part in everything), "the texts are in it: so would the rest be"
    for part in everything:
        lower = part.lower()
        for marker in MARKERS:
            assert marker.encode() not in lower, (marker, excerpt(lower, marker))
    for name in RETRIEVERS:
        written = re.compile(rf"(?<![a-z-]){name}(?![a-z-])".encode())
        assert not written.search(held.lower().encode())
        for answer in answers:
            if not BUNDLE.match(answer.target):
                lower = answer.body.lower()
                found = written.search(lower)
                assert not found, (answer.target, found and excerpt(lower, name))
    for answer in answers:
        if "file=" not in answer.target:              # which says that this file may not be had
            assert str(stage.server.home).encode() not in answer.body, answer.target

    pictures = [answer for answer in answers if answer.target.startswith("/study/image/") and answer.status == 200]
    shown = {token for one in stage.items.values() for token in tokens_of(one)}
    assert {Path(answer.target).name[:24] for answer in pictures} <= shown
    assert len(pictures) > 2 * ITEMS
    for answer in pictures:
        assert re.fullmatch(r"/study/image/[0-9a-z]+/[0-9a-f]{24}-[sl]\.webp", answer.target)
        assert chunks_of(answer.body) <= {"VP8 ", "VP8L", "VP8X"}, "pixels and nothing else"


def go_through(ida: Person, stage: Stage) -> str:
    """Every item, with everything the screen has; returns what page and browser held on the way."""
    ida.sign_in()
    page, held = ida.open(stage.study), []
    total = ITEMS // 2 + 1                            # her half of six items, and the block of two
    for number in range(1, total + 1):
        item(page, number)
        ida.press("p")
        expect(page.get_by_role("listbox")).to_be_visible()
        ida.press(" ", "ArrowRight", " ", "z")        # two that fit as well; a large view
        ida.press("Escape", "Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        ida.press("d", "Escape", "o")
        expect(page.get_by_role("dialog")).to_be_visible()
        ida.press("Escape", "z", "z")
        check_names(page)
        held.append(all_of(page))
        ida.press("1", "b")
        ida.save()
    expect(page.get_by_role("heading", name="That was the last one")).to_be_visible()
    page.keyboard.press("ArrowLeft")                  # back to one that is answered
    item(page, total)
    page.reload()
    expect(page.locator(TITLE).or_(page.get_by_role("heading", name="That was the last one"))).to_be_visible()
    held += [all_of(page), json.dumps(ida.context.storage_state())]
    return "\n".join(held)


def check_names(page: Page) -> None:
    """What a screen reader says of pictures, and their addresses."""
    neutral = re.compile(r"|Reference image|Target image|Reference|Target|Retrieved image \d+( of \d+)?")
    for picture in page.locator("#annotate-root img").all():
        assert neutral.fullmatch(picture.get_attribute("alt") or ""), picture.get_attribute("alt")
        assert not picture.get_attribute("title")
        assert re.search(r"/study/image/\w+/[0-9a-f]{24}-[sl]\.webp$", picture.get_attribute("src") or "")


def ask_for_everything(stage: Stage) -> None:
    """A curious judge with a script: the named calls, other people's items, every other address."""
    with httpx.Client(base_url=stage.proxy.url, timeout=PATIENCE) as client:
        client.post("/sign-in", json={"name": OTHER, "password": PASSWORD}).raise_for_status()

        def call(name: str, *arguments: Any) -> httpx.Response:
            return client.post(f"/gradio_api/run/{name}", json={"data": list(arguments)})

        workspace = call("next_item", "Blind", "").json()["data"][0]
        mine = workspace["item"]["id"]
        saved = call("save_judgement", "Blind", mine, valid(), "curious-token-1", 1.5)
        assert saved.json()["data"][0]["saved"]["revision"] == 1
        assert call("progress", "Blind").json()["data"][0]["done"] == 1
        token = workspace["item"]["target"]["token"]
        for wrong in (valid(alternatives=[token]), valid(validated=False), {"flags": ["NO_SUCH"]}, None, 7):
            assert call("save_judgement", "Blind", mine, wrong, "curious-token-2", 1.5).status_code == 500
        for item_id in stage.items:
            call("next_item", "Blind", item_id)
        for path in (
            "/config", "/gradio_api/info", "/gradio_api/openapi.json", "/me", "/healthz", "/study/mine",
            "/study/rubric?study=Blind", "/study/overview?study=Blind", "/study/at?study=Blind&position=99",
            "/study/at?study=Nothing", f"/study/image/{stage.study.study_id}/", "/annotate?__theme=dark",
        ):
            client.get(path)
        client.post("/study/draft", json={"study": "Blind", "item": mine, "answer": valid(), "seconds": 1})
        client.post("/study/more", json={"study": "Blind"})
        # What belongs to other roles is refused.
        for path in ("/studies/all", "/studies/one?study=Blind", "/studies/export?study=Blind&form=csv",
                     "/adjudicate/queue?study=Blind", f"/adjudicate/case?study=Blind&item={mine}", "/people",
                     "/studies", "/adjudicate"):
            assert client.get(path).status_code == 403, path
        for path in (f"/studies/{stage.study.study_id}", f"/gradio_api/file={stage.server.home}/cirque.db",
                     f"/study/image/{stage.study.study_id}/..%2f..%2fcirque.db"):
            assert client.get(path).status_code in (401, 403, 404), path
        assert client.post("/gradio_api/upload", files={"files": b"not a judgement"}).status_code == 403


def test_panels_tell_nothing_by_their_order(stage: Stage) -> None:
    first_found = []
    for one in stage.items.values():
        panel = [stage.image_ids[token] for token in one.shown["panel"]]
        retrieved, own = one.hidden["panel"], {one.hidden["reference_id"], one.hidden["target_id"]}
        found = [image_id for image_id in retrieved if image_id not in own][:LISTED - 2]
        assert sorted(panel) == sorted(found), "all have as many as the query that has fewest, two of them its own"
        assert len(panel) == LISTED - 2
        assert panel != found and panel != found[::-1]
        assert not {one.shown["reference"], one.shown["target"]} & set(one.shown["panel"])
        first_found.append(panel.index(found[0]))
    assert len(set(first_found)) > 2, "the best one stands at no fixed place"
    # Nor do names follow the order of retrieval.
    for one in stage.items.values():
        shown = {stage.image_ids[token]: token for token in one.shown["panel"]}
        by_rank = [shown[image_id] for image_id in one.hidden["panel"] if image_id in shown]
        assert by_rank not in (sorted(by_rank), sorted(by_rank, reverse=True))


def test_a_persons_order_does_not_follow_the_source(stage: Stage) -> None:
    """Sources are often sorted by category. Here two categories take turns."""
    with stores(stage.server.home) as opened:
        places = sorted(opened.studies.assignments(stage.study.study_id), key=lambda place: place.position)
    of_seats = [[stage.items[place.item_id] for place in places if place.seat == seat] for seat in (1, 2)]
    categories = []
    for mine in of_seats:
        assert len(mine) == ITEMS // 2 + 1
        numbers = [one.number for one in mine]
        assert numbers not in (sorted(numbers), sorted(numbers, reverse=True))
        solved = [one.hidden["hidden_category"] == "zebrafree_solved" for one in mine]
        assert solved not in (sorted(solved), sorted(solved, reverse=True)), "neither category comes first"
        assert any(one == after for one, after in itertools.pairwise(solved)), "nor do they take turns"
        categories.append(solved)
    assert categories[0] != categories[1], "nor is it known by its position"
    ids = [one.item_id for one in sorted(stage.items.values(), key=lambda one: one.number)]
    assert ids not in (sorted(ids), sorted(ids, reverse=True))


def tokens_of(one: Item) -> Iterator[str]:
    return itertools.chain((one.shown["reference"], one.shown["target"]), one.shown["panel"])


def chunks_of(webp: bytes) -> set[str]:
    """Names of the parts of a WebP file: metadata would be EXIF or XMP."""
    assert webp[:4] == b"RIFF" and webp[8:12] == b"WEBP"
    names, start = set(), 12
    while start + 8 <= len(webp):
        name, size = webp[start:start + 4].decode("ascii"), struct.unpack("<I", webp[start + 4:start + 8])[0]
        names.add(name)
        start += 8 + size + size % 2
    return names


def excerpt(text: bytes, marker: str) -> str:
    at = text.index(marker.encode())
    return text[max(0, at - 120):at + 120].decode("utf-8", "replace")
