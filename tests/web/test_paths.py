"""Files of the machine over HTTP: the real app on a real port, asked by paths that no client library tidies."""

from __future__ import annotations

import http.client
import io
import json
import shutil
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from PIL import Image

from annotation.accounts.service import PeopleService
from cir_core.gallery.gallery import open_gallery
from storage.stores import open_stores
from tests.fakes import drawn
from tests.fakes.databases import ON_SQLITE, environment_of, settings_of
from tests.fakes.forked import start
from tests.fakes.mixed_folder import huge_png
from tests.fakes.patience import PATIENCE
from tests.fakes.people import PASSWORD
from tests.fakes.studies import make_study
from tests.web.conftest import ROOT, wait_for_address

MARKER = "marker-of-a-file-that-is-nobodys"
NAMES = ("", "Bob", "Ada")   # a stranger, an annotator, an admin


@dataclass(frozen=True)
class Place:
    host: str
    home: Path
    log: Path
    cookies: dict[str, str]
    study: str

    def ask(
        self, path: str, name: str = "", method: str = "GET", body: bytes = b"", **headers: str,
    ) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(self.host, timeout=PATIENCE)
        try:
            connection.putrequest(method, path, skip_accept_encoding=True)
            sent = {"Cookie": f"cirque={self.cookies[name]}"} if name else {}
            for key, value in (sent | headers).items():
                connection.putheader(key.replace("_", "-"), value)
            connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


@pytest.fixture(scope="module")
def place(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("paths")
    own = folder / "home"
    shutil.copytree(home, own)
    drawn.read_own_images(own)
    (own / ".env").write_text(MARKER)
    # Where the tests run on a server there is no such file; one that somebody left is no less secret.
    if not ON_SQLITE:
        with closing(sqlite3.connect(own / "cirque.db")) as left:
            left.execute("CREATE TABLE kept (secret TEXT)")
    stores = open_stores(settings_of(own))
    people = PeopleService(stores.people)
    people.add("Ada", PASSWORD, "admin")
    people.add("Bob", PASSWORD, "annotator")
    study = make_study(stores.studies, own)
    stores.close()
    log = folder / "app.log"
    environment = environment_of(own, CIRQUE_PORT="0", CIRQUE_HOST="127.0.0.1", CIRQUE_MAX_UPLOAD_MB="1",
                                 GRADIO_TEMP_DIR=str(folder / "gradio"))
    with log.open("w") as stream:
        process = start("app.py", environment=environment, output=stream)
    try:
        host = urlsplit(wait_for_address(process, log)).netloc
        cookies = {name: people.sign_in(name, PASSWORD) for name in NAMES if name}
        yield Place(host, own, log, cookies, study.study_id)
    finally:
        process.terminate()
        process.wait(30)


def files_of(home: Path) -> list[str]:
    return [str(home / "cirque.db"), str(home / ".env"), str(ROOT / "app.py"), "/etc/passwd"]


def is_a_file_of_the_machine(content: bytes) -> bool:
    return any(mark in content for mark in (
        MARKER.encode(), b"SQLite format 3", b"root:x:0", b"def main() -> int"))


def test_the_marks_are_what_the_files_hold(place: Place) -> None:
    assert all(is_a_file_of_the_machine(Path(file).read_bytes()) for file in files_of(place.home))


def climbing(file: str) -> list[str]:
    """Ways to write ``/…/file`` below a folder."""
    up = "../" * 12 + file.lstrip("/")
    return [up, quote(up, safe=""), up.replace("..", "%2e%2e"), up.replace("/", "%2f"), up.replace("../", "..%5c"),
            up.replace("..", "%252e%252e"), f"%00{file}", f"/{file}", quote(file, safe="")]


BELOW = ("/", "/own/1/", "/assets/", "/static/", "/svelte/", "/join/", "/media/", "/export/", "/study/image/STUDY/",
         "/gradio_api/file=", "/gradio_api/file/", "/gradio_api/static/", "/gradio_api/proxy=file://",
         "/gradio_api/proxy=http://127.0.0.1/", "/gradio_api/custom_component/1/client/component/", "/pwa_icon/",
         "/gradio_api/upload/", "/gradio_api/stream/1/1/1/")


@pytest.mark.parametrize("name", [*(pytest.param(name, marks=pytest.mark.extended) for name in NAMES[:2]), NAMES[2]])
def test_no_path_leads_to_a_file_of_the_machine(place: Place, name: str) -> None:
    for file in files_of(place.home):
        for below in BELOW:
            for path in climbing(file):
                status, content = place.ask(below.replace("STUDY", place.study) + path, name)
                assert not is_a_file_of_the_machine(content), (below, path)
                # The start page is no file; a stranger is led to the sign-in or told to go there.
                assert status in (303, 400, 401, 403, 404, 405, 422), (below, path, status)


@pytest.mark.parametrize("path", ["cirque.db", "cirque.db-wal", ".env", "uploads", "galleries", "galleries/atelier",
                                  ".git/config", "app.py", "home/cirque.db"])
def test_nothing_of_the_home_folder_by_its_name(place: Place, path: str) -> None:
    for name in NAMES:
        assert place.ask(f"/{path}", name)[0] == (404 if name else 401)


@pytest.mark.parametrize("query", ["gallery=../../&image=cirque.db", "gallery=atelier&image=../../../../cirque.db",
                                   "gallery=atelier&image=%2Fetc%2Fpasswd", "gallery=..&image=x", "gallery=&image=",
                                   "gallery=atelier&image=up-../../cirque", "gallery=atelier&image=%00"])
def test_an_image_is_an_id_and_no_path(place: Place, query: str) -> None:
    for kind in ("thumb", "full"):
        status, content = place.ask(f"/media/{kind}?{query}", "Ada")
        assert status == 404 and json.loads(content)["error"]
        assert str(place.home).encode() not in content
        assert place.ask(f"/media/{kind}?{query}", "Bob")[0] == 403


def test_a_link_put_in_place_of_a_gallerys_image_leads_nowhere(place: Place) -> None:
    """Whoever may write in a folder of images cannot have other files of the machine shown."""
    gallery = open_gallery("atelier", home=place.home)
    assert gallery.path_of(gallery.ids[0]).is_relative_to(place.home.resolve()), "no other test reads these images"
    targets = (place.home / "cirque.db", place.home / ".env", Path("/etc/passwd"))
    for image_id, target in zip(gallery.ids[:3], targets, strict=True):
        image, address = gallery.path_of(image_id), f"/media/full?gallery=atelier&image={quote(image_id)}"
        held = image.read_bytes()
        assert place.ask(address, "Ada") == (200, held)
        image.unlink()
        image.symlink_to(target)
        try:
            status, content = place.ask(address, "Ada")
            assert status == 404 and not is_a_file_of_the_machine(content)
        finally:
            image.unlink()
            image.write_bytes(held)


# --- uploads --------------------------------------------------------------------------------------


def multipart(content: bytes, file_name: str) -> tuple[bytes, str]:
    edge = uuid.uuid4().hex
    head = (f'--{edge}\r\nContent-Disposition: form-data; name="files"; filename="{file_name}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n")
    return head.encode() + content + f"\r\n--{edge}--\r\n".encode(), f"multipart/form-data; boundary={edge}"


def picture(width: int, height: int) -> bytes:
    content = io.BytesIO()
    Image.new("1", (width, height)).save(content, "PNG")
    return content.getvalue()


def test_what_was_uploaded_is_given_to_nobody(place: Place) -> None:
    body, kind = multipart(b"<script>alert(1)</script>", "x.html")
    status, content = place.ask("/gradio_api/upload", "Ada", "POST", body, Content_Type=kind)
    assert status == 200
    (kept,) = json.loads(content)
    for name in NAMES:
        for way in ("file=", "file/"):
            assert place.ask(f"/gradio_api/{way}{quote(kept)}", name)[0] == (404 if name else 401)
    assert place.ask("/gradio_api/upload", "Bob", "POST", body, Content_Type=kind)[0] == 403
    assert place.ask("/gradio_api/upload", "", "POST", body, Content_Type=kind)[0] == 401


@pytest.mark.parametrize("file_name", ["../../../../cirque.db", "..%2f..%2fcirque.db", "/etc/cron.d/x", "a\x00.png"])
def test_an_uploads_name_leads_nowhere(place: Place, file_name: str) -> None:
    before = (place.home / "cirque.db").read_bytes()[:16]
    body, kind = multipart(picture(3, 3), file_name)
    place.ask("/gradio_api/upload", "Ada", "POST", body, Content_Type=kind)
    place.ask("/media/upload", "Ada", "POST", picture(3, 3), X_File_Name=quote(file_name))
    assert (place.home / "cirque.db").read_bytes()[:16] == before == b"SQLite format 3\0"
    assert not Path("/etc/cron.d/x").exists()


def test_uploads_are_limited_in_size_pixels_and_type(place: Place) -> None:
    large = b"\x89PNG\r\n\x1a\n" + bytes(1_200_000)   # the limit is 1 MB here
    status, content = place.ask("/media/upload", "Ada", "POST", large)
    assert status == 413 and b"larger than 1 MB" in content
    body, kind = multipart(large, "x.png")
    assert place.ask("/gradio_api/upload", "Ada", "POST", body, Content_Type=kind)[0] == 413
    bomb = huge_png(30_000, 30_000)
    status, content = place.ask("/media/upload", "Ada", "POST", bomb)
    assert status == 422 and b"900 megapixels; the limit is" in content
    status, content = place.ask("/media/upload", "Ada", "POST", b"<svg xmlns='http://www.w3.org/2000/svg'/>")
    assert status == 422 and b"is an SVG drawing" in content
    status, content = place.ask("/media/upload", "Ada", "POST", b"no picture at all")
    assert status == 422 and b"cannot be read as an image" in content


def test_the_log_of_the_server_holds_no_secret(place: Place) -> None:
    text = place.log.read_text()
    assert PASSWORD not in text and MARKER not in text
    assert not any(secret in text for secret in place.cookies.values())
