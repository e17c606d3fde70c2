"""The public call ``/search`` as a program uses it, and the addresses beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError
from PIL import Image

from tests.fakes.patience import PATIENCE
from tests.web.conftest import App


@pytest.fixture(scope="module")
def client(app: App) -> Iterator[Client]:
    client = Client(app.url, verbose=False, analytics_enabled=False)
    yield client
    client.close()


@pytest.fixture(scope="module")
def some_id(app: App) -> str:
    return str(httpx.get(f"{app.url}/media/find?gallery=atelier", timeout=PATIENCE).json()["images"][0]["id"])


def test_two_turns_of_one_session(client: Client, some_id: str) -> None:
    first = client.predict(reference=some_id, text="in red", k=5, api_name="/search")
    assert set(first) == {"session_id", "turn_id", "protocol_digest", "hits", "merged_text", "notes", "usage"}
    assert "red" in first["merged_text"] and isinstance(first["notes"], list)
    # The built-in rules are no server: nothing is asked and nothing is paid.
    assert first["usage"] == {"calls": 0, "cached": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost": None}
    assert [hit["rank"] for hit in first["hits"]] == [1, 2, 3, 4, 5]
    assert some_id not in {hit["image_id"] for hit in first["hits"]}
    scores = [hit["score"] for hit in first["hits"]]
    assert scores == sorted(scores, reverse=True)

    picked = first["hits"][1]["image_id"]
    second = client.predict(
        reference=picked, text="with long sleeves", session_id=first["session_id"], k=3, api_name="/search"
    )
    assert second["session_id"] == first["session_id"]
    assert second["protocol_digest"] == first["protocol_digest"]
    assert second["turn_id"] != first["turn_id"]
    assert len(second["hits"]) == 3

    third = client.predict(text="longer", session_id=first["session_id"], api_name="/search")
    assert len(third["hits"]) == 10  # the default; the reference is that of the turn before


def test_several_references(client: Client, app: App, some_id: str) -> None:
    found = httpx.get(f"{app.url}/media/find?gallery=atelier", timeout=PATIENCE).json()["images"]
    also = [one["id"] for one in found if one["id"] != some_id][:2]
    first = client.predict(reference=some_id, text="in red", k=5, also=also, api_name="/search")
    assert not {some_id, *also} & {hit["image_id"] for hit in first["hits"]}
    taken = client.predict(reference=some_id, text="the colour of the second picture", also=also, api_name="/search")
    assert any(note.startswith("colour of picture 2: in ") for note in taken["notes"])
    [record] = httpx.get(f"{app.url}/export/{first['session_id']}.json", timeout=PATIENCE).json()
    assert record["turns"][0]["reference_image_id"] == some_id
    assert record["cirque"]["turns"][0]["further_references"] == also
    for wrong, sentence in (([some_id], "already one of the reference pictures"), (["nothing-like-it"], "No image"),
                            ([*also, "a", "b"], "at most 4 reference pictures"), ("one", "must be a list")):
        with pytest.raises(AppError, match=sentence):
            client.predict(reference=some_id, text="in red", also=wrong, api_name="/search")


def test_with_an_image(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "mine.jpg"
    Image.new("RGB", (200, 260), (30, 60, 160)).save(path)
    found = client.predict(image=handle_file(str(path)), text="with stripes", k=2, api_name="/search")
    assert len(found["hits"]) == 2


@pytest.mark.parametrize(("arguments", "sentence"), [
    ({"reference": "nothing-like-it", "text": "in red"}, "No image 'nothing-like-it' in gallery 'atelier'"),
    ({"text": "in red"}, "Give a reference"),
    ({"text": "in red", "session_id": "nosuchsession000"}, "session"),
    ({"text": "  "}, "Say what should be different"),
    ({"text": "x" * 1001}, "the limit is 1,000"),
    ({"reference": "any", "text": "in red", "k": 0}, "1 to 1000"),
    ({"reference": "any", "text": "in red", "k": 1000.5}, "k is 1000.5; it must be a whole number"),
])
def test_mistakes_come_back_as_sentences(client: Client, arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(AppError) as caught:
        client.predict(api_name="/search", **arguments)
    assert sentence in str(caught.value)


def test_a_corrupt_image(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "broken.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"\x00" * 40)
    with pytest.raises(AppError) as caught:
        client.predict(image=handle_file(str(path)), text="in red", api_name="/search")
    assert "damaged" in str(caught.value)


def test_a_thumb_is_kept_with_the_turn(app: App, client: Client, some_id: str) -> None:
    found = client.predict(reference=some_id, text="in red", k=2, api_name="/search")
    ids = {"session_id": found["session_id"], "turn_id": found["turn_id"]}
    one, two = (hit["image_id"] for hit in found["hits"])
    for image, thumb in ((one, "up"), (two, "down"), (one, "")):
        answer = client.predict(**ids, image_id=image, thumb=thumb, api_name="/thumb")
        assert answer == {**ids, "image_id": image, "thumb": thumb}
    with pytest.raises(AppError, match="Give up, down, or nothing"):
        client.predict(**ids, image_id=one, thumb="maybe", api_name="/thumb")
    [branch] = httpx.get(f"{app.url}/export/{found['session_id']}.json").json()
    [thumb] = branch["cirque"]["turns"][0]["thumbs"]
    assert (thumb["image_id"], thumb["up"], thumb["person"]) == (two, False, "person 1")


def test_what_is_public(client: Client) -> None:
    named = list(client.view_api(return_format="dict")["named_endpoints"])  # type: ignore[index]
    assert named == ["/search", "/thumb", "/next_item", "/save_judgement", "/next_question", "/save_rating",
                     "/pass_gate", "/progress"]


def test_health(app: App) -> None:
    assert httpx.get(f"{app.url}/healthz").json()["status"] == "ok"


@pytest.mark.parametrize(
    "image", ["../cirque.db", "../../cirque.db", "/etc/passwd", "upload:" + "0" * 32, "upload:../x"]
)
def test_pictures_only_by_known_id(app: App, image: str) -> None:
    for kind in ("thumb", "full"):
        answer = httpx.get(f"{app.url}/media/{kind}", params={"gallery": "atelier", "image": image})
        assert answer.status_code == 404
        assert answer.headers["Content-Type"] == "application/json"


def test_a_gallery_is_not_a_path(app: App) -> None:
    answer = httpx.get(f"{app.url}/media/find", params={"gallery": "../../etc"})
    assert answer.status_code == 404
    assert "error" in answer.json()


def test_the_home_folder_is_not_served(app: App) -> None:
    assert httpx.get(f"{app.url}/gradio_api/file={app.home / 'cirque.db'}").status_code in (403, 404)


def test_pictures_are_cached_and_typed(app: App, some_id: str) -> None:
    for kind, mime in (("thumb", "image/webp"), ("full", "image/jpeg")):
        answer = httpx.get(f"{app.url}/media/{kind}", params={"gallery": "atelier", "image": some_id})
        assert answer.headers["Content-Type"] == mime
        assert "max-age" in answer.headers["Cache-Control"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(("content", "status", "sentence"), [
    (b"not an image at all, just words", 422, "cannot be read as an image"),
    (b"", 422, "0 bytes"),
    (b"\xff\xd8\xff" + b"\x00" * (26 * 2**20), 413, "larger than 25 MB"),
])
def test_uploads_are_checked(app: App, content: bytes, status: int, sentence: str) -> None:
    answer = httpx.post(f"{app.url}/media/upload", content=content, headers={"X-File-Name": "..%2Fx.png"})
    assert answer.status_code == status
    assert sentence in answer.json()["error"]


def test_export_of_an_unknown_session(app: App) -> None:
    assert httpx.get(f"{app.url}/export/nosuchsession000.json").status_code == 404


def test_a_method_by_name_and_marks(client: Client, some_id: str) -> None:
    first = client.predict(reference=some_id, text="in red", k=8, method="slerp-soft", api_name="/search")
    plain = client.predict(reference=some_id, text="in red", k=8, method="slerp", api_name="/search")
    assert first["protocol_digest"] != plain["protocol_digest"]
    ids = [hit["image_id"] for hit in first["hits"]]
    again = {"reference": ids[0], "text": "longer", "session_id": first["session_id"], "k": 8}
    marked = client.predict(**again, more=[ids[2]], less=[ids[1]], api_name="/search")
    assert marked["session_id"] == first["session_id"]
    other = client.predict(reference=ids[0], text="longer", session_id=plain["session_id"], k=8, api_name="/search")
    assert marked["hits"] != other["hits"]

    for arguments, sentence in [
        ({**again, "method": "corr"}, "A session keeps its method"), ({**again, "method": "nothing"}, "No method"),
        ({**again, "more": [ids[1]], "less": [ids[1]]}, "both for and against"),
        ({**again, "more": ["nothing-like-it"]}, "No image"), ({**again, "less": "x"}, "must be a list"),
        ({"reference": some_id, "text": "in red", "more": [ids[2]]}, "Give the session"),
    ]:
        with pytest.raises(AppError) as caught:
            client.predict(**arguments, api_name="/search")
        assert sentence in str(caught.value)
