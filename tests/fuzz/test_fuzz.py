"""A small run of ``make fuzz``: it tries every target, and finds nothing."""

from __future__ import annotations

import io
import json
import math
import os
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import strategies as st
from PIL import Image

from tests.fakes.patience import wait_for
from tests.fuzz import outcome as outcomes
from tests.fuzz import watch
from tests.fuzz.inputs import spoilt_bytes, spoilt_file
from tests.fuzz.long_texts import PAIRS, long_text
from tests.fuzz.outcome import Bad, Target, attempt_all
from tests.fuzz.pictures import bombs, real_pictures
from tests.fuzz.run import as_markdown, fuzz

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no alarm signals")


@pytest.mark.parametrize(("inputs", "long"), [(60, False), pytest.param(700, True, marks=pytest.mark.extended)])
def test_nothing_crashes_hangs_or_tells_of_internals(tmp_path: Path, inputs: int, long: bool) -> None:
    fuzzed = fuzz(tmp_path, inputs, minutes=math.inf, seed=2, long=long)
    assert fuzzed.problems == []
    assert fuzzed.inputs >= inputs
    tried = {outcome.name for outcome in fuzzed.outcomes if outcome.inputs}
    # One of each kind; the whole list is the app's own.
    assert tried >= {"POST /study/save", "GET /analysis/report", "POST /media/upload", "named call /search",
                     "named call /save_rating", "actions of the search screen", "pictures, decoded",
                     "file: datasets check fashioniq", "file: CIRCUS annotators, imported", "file: scores of sets",
                     "file: an audit's folder, for a study", "Gradio's own addresses"}
    if long:
        saves = next(outcome for outcome in fuzzed.outcomes if outcome.name == "POST /study/draft")
        assert saves.ends["200"] and len(saves.ends) > 1, "some inputs get all the way, others are refused"
        assert {"long texts, addresses", "long texts, named calls", "long texts, actions of the search screen"} <= tried
    table = as_markdown(fuzzed)
    assert "| named calls |" in table and "The slowest /healthz, asked all the time" in table
    assert fuzzed.slowest_health.seconds > 0


def target(attempt: object, inputs: st.SearchStrategy[object], deadline: float = 5.0) -> Target:
    return Target("a target", inputs, attempt, deadline=deadline)  # type: ignore[arg-type]


def test_what_must_not_be_is_found_and_the_rest_goes_on() -> None:
    def attempt(number: int) -> str:
        if number == 3:
            raise KeyError(number)
        if number == 5:
            raise Bad("five is bad")
        return "even" if number % 2 == 0 else "odd"

    outcome = attempt_all(target(attempt, st.integers(0, 9)), 200)
    assert sorted(what.partition(" ")[0] for what in outcome.findings) == ["KeyError:", "five"]
    assert outcome.findings["five is bad"] == ["5"] * len(outcome.findings["five is bad"])
    assert set(outcome.ends) == {"even", "odd"}
    assert sum(outcome.ends.values()) < outcome.inputs


def test_what_takes_too_long_is_found() -> None:
    def attempt(slow: bool) -> str:
        while slow:
            pass
        return "done"

    outcome = attempt_all(target(attempt, st.booleans(), deadline=0.2), 2)
    assert list(outcome.findings) == ["no end after 0.2 s of CPU"] and outcome.ends == {"done": 1}
    assert outcome.slowest > 0.15


def test_what_waits_without_an_end_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcomes, "PATIENCE", 0.2)
    outcome = attempt_all(target(lambda _: threading.Event().wait() or "", st.just(0)), 1)
    assert list(outcome.findings) == ["it waits without an end"] and not outcome.ends


class Health(BaseHTTPRequestHandler):
    """``/healthz`` of an app that :data:`held` holds up."""

    protocol_version = "HTTP/1.1"
    held = threading.Event()

    def do_GET(self) -> None:
        while self.held.is_set():
            time.sleep(0.01)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


class Told:
    """In place of the process that watches: it says what it is to say, in turn, in seconds."""

    def __init__(self, *seconds: float) -> None:
        self.stdin = io.StringIO()
        self.stdout = io.StringIO("".join(json.dumps({"seconds": one, "cpu": 0.0}) + "\n" for one in seconds))


def test_what_holds_up_everybody_else_each_time_is_found() -> None:
    fast, slow, rest = 0.01, 2 * watch.SLOWEST, [0.01] * 3
    watched = watch.Watch(Told(          # before each input and after it
        fast, fast,
        fast, slow, *rest, fast,         # not slow when it comes again
        fast, slow, slow, *rest, slow, *rest, slow,
    ))  # type: ignore[arg-type]
    outcome = attempt_all(watched.over(target(lambda _: "done", st.integers(), deadline=60.0)), 3)
    assert list(outcome.findings) == [f"/healthz takes more than {watch.SLOWEST:g} s beside it"]
    assert outcome.ends == {"done": 2} and watched.passed == 1
    assert watched.slowest.seconds == slow and watched.slowest.beside == "a target"


def test_the_watch_tells_how_long_an_answer_takes_also_before_it_has_come() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Health) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with watch.watching(f"http://127.0.0.1:{server.server_port}", os.getpid()) as watched:
            wait_for(lambda: watched.look().seconds)
            Health.held.set()
            wait_for(lambda: watched.look().seconds > 0.4)
            Health.held.clear()
            wait_for(lambda: 0 < watched.look("an answer").seconds < 0.4)
        server.shutdown()
    assert watched.slowest.seconds > 0.4


@pytest.mark.parametrize("pair", PAIRS)
def test_long_texts_are_as_long_as_they_are_said_to_be(pair: str) -> None:
    for size in (1_000, 1_000_000):
        assert size - 12 <= len(json.dumps(long_text(pair, size))) <= size + 2
    assert 15_000 - 12 <= len(quote(long_text(pair, 15_000, escaped=True), errors="replace")) <= 15_000


def drawn(inputs: st.SearchStrategy[bytes], count: int = 100) -> Iterator[bytes]:
    found: list[bytes] = []
    attempt_all(target(lambda content: found.append(content) or "", inputs), count)
    return iter(found)


@pytest.mark.parametrize("good", [b'{"a": [1, {"b": "c"}]}', b'{"n": 1}\n{"n": 2}', b"a,b\n1,2\n3,4"])
def test_files_are_spoilt_in_many_ways(good: bytes) -> None:
    spoilt = set(drawn(spoilt_file(good)))
    assert len(spoilt) > 60
    assert len([one for one in spoilt if one != good]) >= len(spoilt) - 1


def test_spoilt_bytes_are_not_the_good_ones() -> None:
    good = real_pictures()["JPEG"]
    assert sum(one != good for one in drawn(spoilt_bytes(good))) > 80


def test_pictures_are_of_all_the_kinds_there_are() -> None:
    found = {name: Image.open(io.BytesIO(content)) for name, content in real_pictures().items()}
    kinds = {"JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP", "AVIF", "HEIF"}
    assert {picture.format for picture in found.values()} == kinds
    assert found["JPEG, CMYK"].mode == "CMYK" and found["PNG, 16 bit"].mode == "I;16"
    assert all(getattr(found[f"{kind}, animated"], "n_frames", 1) == 3 for kind in ("PNG", "WebP", "GIF"))
    assert found["JPEG, EXIF"].getexif()[0x0112] == 6
    assert all(len(content) < 100_000 for content in bombs().values()), "bombs are small"
