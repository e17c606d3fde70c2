"""What a browser is told of an error: the sentence, and no place on the server."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import pytest

from cir_core.errors import DecodingBusy, GalleryError, QuotaExceeded, StorageError, nothing_saved
from web.http.json_api import refused
from web.http.public_errors import MAX_SENTENCE, public_message, retry_after, status_of
from web.limits.gradio_limits import TooManyRequests

WEB = Path(__file__).parents[4] / "web"


@pytest.mark.parametrize(("full", "shown"), [
    ("The database /srv/cirque/cirque.db has no room left on its disk.",
     "The database cirque.db has no room left on its disk."),
    ("Cannot write 'C:\\Users\\ada\\cirque\\cirque.db'.", "Cannot write 'cirque.db'."),
    ("The image cannot be stored in /home/ada/.local/share/cirque/uploads: No space left on device.",
     "The image cannot be stored in uploads: No space left on device."),
    ("“/a/b/c.png” and (/d/e) are not there.", "“/a/b/c.png” and (e) are not there."),   # what somebody wrote stays
    # Nothing of these is a place on the server.
    ("Use “and/or”, 1/2, docs/how-to/galleries.md or http://localhost:8000/v1/models.",) * 2,
    ("No image 'dress/B01' in gallery 'demo' (240 images). Check the id.",) * 2,
    ("Open the page /annotate and try again.",) * 2,
])
def test_places_on_the_server_are_cut_to_their_last_part(full: str, shown: str) -> None:
    assert public_message(GalleryError(full)) == shown


def test_what_cannot_be_stored_is_logged_in_full_and_browsers_are_told_something_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    full = "The database /srv/cirque.db has no room left on its disk. Free some space, then try again."
    with caplog.at_level(logging.WARNING, "cirque.storage"):
        public_message(GalleryError("Not for the log: /srv/x/y"))
        shown = [public_message(StorageError(full, "The disk is full.")), public_message(StorageError(full))]
    assert [record.getMessage() for record in caplog.records] == [full] * 2
    assert shown == ["The disk is full.", nothing_saved()] and "Tell the operator of this cirque" in nothing_saved()


def test_a_status_tells_a_full_disk_from_a_wrong_request() -> None:
    assert (status_of(StorageError("x"), 404), status_of(GalleryError("x"), 404)) == (503, 404)


def test_every_screen_and_route_says_it_this_way() -> None:
    """``str(error)`` has the server's paths in it. Where one error becomes another, it is said later."""
    rest = {path.name for path in WEB.rglob("*.py") if "str(error)" in path.read_text("utf-8")}
    assert rest == {"public_errors.py", "routes.py"}


@pytest.mark.parametrize(("full", "shown"), [
    ("Cannot reach postgresql+psycopg://ada:se@cret/2@db.example:5432/cirque?sslmode=require now.",
     "Cannot reach cirque?sslmode=require now."),
    ("Cannot reach 'postgresql://ada:secret@db.example'.", "Cannot reach ''."),
    ("At +x://a@b/c and mysql://u:p@h/d.", "At c and d."),
    ("See http://localhost:8000/v1/a@b and a@b.example.", "See http://localhost:8000/v1/a@b and a@b.example."),
    ("A “quotation of “ two /srv/x/y” here.", "A “quotation of “ two /srv/x/y” here."),
])
def test_credentials_of_addresses_are_left_out(full: str, shown: str) -> None:
    assert public_message(GalleryError(full)) == shown


@pytest.mark.parametrize("secret", [
    "postgresql://ada:secret@db.example/cirque", "/srv/secret/folder/cirque.db", "“/srv/secret” /srv/secret/a/b",
])
def test_a_sentence_is_cut_and_no_half_of_an_address_or_a_path_is_left(secret: str) -> None:
    for before in range(MAX_SENTENCE - len(secret) - 3, MAX_SENTENCE + 3):
        begins = ("word " * before)[:before - 1] + " "
        shown = public_message(GalleryError(f"{begins}{secret} and more. " + "x" * 50))
        assert "secret" not in shown.replace("“/srv/secret”", ""), shown[-100:]
        assert len(shown) <= MAX_SENTENCE + 2 and shown.endswith(" …")
    assert public_message(GalleryError("a+" * 500_000)) == " …"


@pytest.mark.parametrize("piece", ["a+", "/a", "a ", "“a", "://", "a@", "a://b@", " \t", "“”"])
def test_twice_the_sentence_takes_no_more_than_twice_the_time(
    piece: str, monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The cap on its input aside."""
    monkeypatch.setattr("web.http.public_errors.MAX_SENTENCE", 10**9)

    def seconds(size: int) -> float:
        text = GalleryError(piece * (size // len(piece)))
        best = 10.0
        for _ in range(3):
            began = time.thread_time()
            public_message(text)
            best = min(best, time.thread_time() - began)
        return best

    assert seconds(200_000) < 4 * max(seconds(100_000), 0.005)


def test_what_may_be_tried_again_says_when() -> None:
    busy, many = DecodingBusy(), TooManyRequests("Too many.", 30)
    wait = str(busy.seconds)
    assert (status_of(busy, 400), status_of(QuotaExceeded("x"), 400), status_of(many, 400)) == (503, 429, 429)
    assert retry_after(busy) == {"Retry-After": wait} and retry_after(many) == {"Retry-After": "30"}
    assert retry_after(GalleryError("x")) == {}
    answer = refused(busy)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, wait)
