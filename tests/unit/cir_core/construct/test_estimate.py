"""What a construction with the built-in model takes, by a trial: the work alone, each image captioned once."""

from __future__ import annotations

from typing import Any

import pytest

from cir_core.construct.sessions import estimate as module
from cir_core.construct.sessions.estimate import estimate, queries_left
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
    left = queries_left(construction, chosen, None, None)
    return estimate(construction, chosen, [*left] * 50, workers=1), len(left) * 50, construction


def test_waiting_is_not_work(gallery: Gallery) -> None:
    found, sessions, _ = tried(gallery, slow())
    assert found.busy_seconds is not None and found.busy_seconds > 1.5 * found.seconds
    assert found.seconds > 0 and found.sessions == sessions


def test_an_image_is_captioned_once(gallery: Gallery) -> None:
    found, _, construction = tried(gallery, slow())
    assert 0 < found.roles["caption"].calls <= sum(len(one.image_ids) for one in construction.subsets.subsets)


def test_what_the_longest_session_loaded_is_not_counted_for_all() -> None:
    assert module._usual([0.1, 9.0, 0.1, 0.1]) == pytest.approx(0.1)
    assert module._usual([3.0]) == 3.0 and module._usual([]) == 0.0
    assert module._usual([1.0, 3.0]) == 2.0
