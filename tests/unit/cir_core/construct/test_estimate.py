"""What a construction with the built-in model takes, by a trial: the work alone, each image captioned once."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from cir_core.construct.sessions.estimate import estimate
from cir_core.gallery.gallery import Gallery
from tests.fakes.colour_person import ColourPerson
from tests.fakes.construction import colour_construction

pytestmark = pytest.mark.sqlite   # nothing here is kept in a database


def slow() -> ColourPerson:
    """Waits as on a busy machine, and takes a processor for none of it."""
    return ColourPerson(name="built-in/slow", delay=0.02)


def tried(gallery: Gallery, language: Any) -> Any:
    construction = colour_construction(gallery, language)
    chosen = construction.subsets.chosen(())
    left = construction.wanted(chosen, None)
    return estimate(construction, chosen, [*left] * 50, workers=1), len(left) * 50, construction


def test_waiting_is_not_work(gallery: Gallery) -> None:
    found, sessions, _ = tried(gallery, slow())
    assert found.time.longest > 1.5 * found.time.expected > 0 and found.sessions == sessions


def test_an_image_is_captioned_once(gallery: Gallery) -> None:
    found, _, construction = tried(gallery, slow())
    assert 0 < found.roles["caption"].calls <= sum(len(one.image_ids) for one in construction.subsets.subsets)


def test_what_a_later_session_loads_is_not_counted_for_all(gallery: Gallery, monkeypatch: pytest.MonkeyPatch) -> None:
    """One second of work, once: in a trial of twelve sessions it would be a twelfth of a second for each of all. The
    machine does nothing else meanwhile: what has passed is what this thread has used."""
    alone = SimpleNamespace(perf_counter=time.thread_time, thread_time=time.thread_time)
    monkeypatch.setattr("cir_core.construct.sessions.estimate.time", alone)
    loads = iter([True])

    def load(task: Any) -> None:
        if task.role == "difference" and len(language.asked) > 20 and next(loads, False):
            began = time.thread_time()
            while time.thread_time() - began < 1:
                pass

    language = ColourPerson(name="built-in/loads", fail=load)
    found, sessions, _ = tried(gallery, language)
    assert not next(loads, False) and found.time.longest < sessions / 12 / 2
