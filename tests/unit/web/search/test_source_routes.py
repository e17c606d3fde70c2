"""Pictures of a gallery whose images lie in an archive: small ones, large ones, and one that is away."""

import io
import tarfile
from types import SimpleNamespace

import pytest
from fastapi import FastAPI
from PIL import Image
from starlette.testclient import TestClient

from cir_core.gallery.indexing import index_folder, index_source
from cir_core.gallery.sources.opening import open_source
from cir_core.images.uploads import UploadFolder, is_upload
from cir_core.sessions.pool import SearcherPool
from cir_core.sessions.service import SearchService
from tests.fakes.encoder import FakeEncoder
from tests.fakes.language import ReplayingLanguageModel
from tests.fakes.store import InMemorySessionStore
from web.search.actions.references import set_reference
from web.search.media import media_routes
from web.search.view import UiState

FORMS = {"a.png": "PNG", "b.tif": "TIFF"}


@pytest.fixture
def shown(tmp_path):
    archive = tmp_path / "shard.tar"
    with tarfile.open(archive, "w") as tar:
        for name, form in FORMS.items():
            content = io.BytesIO()
            Image.new("RGB", (600, 300), "red").save(content, form)
            member = tarfile.TarInfo(name)
            member.size = len(content.getvalue())
            content.seek(0)
            tar.addfile(member, content)
    home = tmp_path / "home"
    index_source(open_source(str(archive)), name="g", encoder=FakeEncoder(), home=home)
    pool = SearcherPool(home, lambda _: ReplayingLanguageModel({}), lambda _: FakeEncoder())
    search = SearchService(pool, InMemorySessionStore(), UploadFolder(home / "uploads", max_megapixels=4))
    app = FastAPI()
    settings = SimpleNamespace(max_image_megapixels=64, accel_redirect="", home=home)
    app.include_router(media_routes(SimpleNamespace(search=search, settings=settings), None))
    with TestClient(app) as client:
        yield SimpleNamespace(client=client, archive=archive, search=search, settings=settings)


def size_of(answer):
    assert answer.status_code == 200, answer.text
    with Image.open(io.BytesIO(answer.content)) as image:
        return answer.headers["content-type"], image.size


def test_the_page_shows_pictures_out_of_an_archive(shown):
    assert size_of(shown.client.get("/media/thumb?gallery=g&image=a")) == ("image/webp", (320, 160))
    assert size_of(shown.client.get("/media/full?gallery=g&image=a")) == ("image/png", (600, 300))
    assert size_of(shown.client.get("/media/full?gallery=g&image=b")) == ("image/jpeg", (600, 300))
    assert is_upload(shown.search.cut_out("g", "a", [0.1, 0.1, 0.5, 0.5]))


def test_nginx_is_told_which_picture_of_a_gallery_to_send(shown):
    shown.settings.accel_redirect = "/cirque-home/"
    told = shown.client.get("/media/thumb?gallery=g&image=a")
    assert told.content == b"" and told.headers["content-type"] == "image/webp"
    inside = told.headers["x-accel-redirect"]
    assert inside.startswith("/cirque-home/galleries/g/")
    assert (shown.settings.home / inside.removeprefix("/cirque-home/")).is_file()


def test_a_browser_keeps_for_good_what_cannot_become_another_picture(shown, tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    Image.new("RGB", (60, 30), "red").save(folder / "a.png")
    index_folder(folder, name="files", encoder=FakeEncoder(), home=shown.settings.home)
    for gallery, size, for_good in (("g", "thumb", True), ("g", "full", True), ("files", "thumb", True),
                                    ("files", "full", False)):
        version = shown.search.gallery(gallery).digest[:8]
        answer = shown.client.get(f"/media/{size}?gallery={gallery}&image=a&v={version}")
        assert answer.status_code == 200, answer.text
        assert ("immutable" in answer.headers["cache-control"]) is for_good, (gallery, size)


def test_without_its_archive_the_small_picture_is_there_and_the_large_one_says_why(shown):
    shown.archive.unlink()
    assert size_of(shown.client.get("/media/thumb?gallery=g&image=a")) == ("image/webp", (320, 160))
    answer = shown.client.get("/media/full?gallery=g&image=a")
    assert (answer.status_code, answer.json()) == (404, {
        "error": "a.png cannot be read: shard.tar is missing."})
    assert answer.headers["cache-control"] == "no-store"
    # To choose it as a reference reads no original.
    assert set_reference(shown.search, UiState(gallery="g"), {"image": "a"}).reference_id == "a"
