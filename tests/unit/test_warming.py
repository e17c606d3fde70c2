"""The models are loaded ahead of the first search; what goes wrong there stops nothing."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest
import uvicorn

from cir_core.errors import CirqueError
from web.doors import Doors
from web.server import _Server


def warm(error: Exception) -> None:
    def searcher(name: str) -> None:
        raise error

    services = SimpleNamespace(search=SimpleNamespace(searcher=searcher), settings=SimpleNamespace(gallery="x"))
    config = uvicorn.Config(lambda: None, log_config=None)
    _Server(config, "", services, Doors(), open_page=False)._warm()  # type: ignore[arg-type]


def test_anything_unforeseen_is_one_sentence(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "cirque.server"):
        warm(OSError("the disk is full"))
    said, traced = caplog.records
    assert said.levelno == logging.WARNING and said.exc_info is None
    assert "OSError: the disk is full" in said.getMessage()
    assert traced.levelno == logging.DEBUG and traced.exc_info


def test_what_the_page_says_anyway_is_not_said_twice(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "cirque.server"):
        warm(CirqueError("There is no gallery."))
    assert not caplog.records
