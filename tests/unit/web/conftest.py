"""One event loop for all clients that are not entered: each request of theirs would make one, in its own thread."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from anyio.from_thread import start_blocking_portal
from starlette.testclient import TestClient


@pytest.fixture(scope="session", autouse=True)
def one_loop() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch, start_blocking_portal() as portal:
        patch.setattr(TestClient, "portal", portal)
        yield
