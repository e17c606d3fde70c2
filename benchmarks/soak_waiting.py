"""Whether searches that wait for a language model slow down annotators."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from benchmarks.driver import Timings, drive
from benchmarks.soak_app import App
from benchmarks.soak_people import Annotator, Client, Searcher

_METHOD = "cirevl"       # calls a language model for every query
_GIVE_UP = "600"         # timeout of the app in seconds: longer than any measurement


@dataclass(frozen=True)
class Waiting:
    """Saves of all annotators: alone (before and after), and while ``searches`` were waiting. None: not measured."""

    searches: int = 0
    without: Timings | None = None
    waiting: Timings | None = None


class SilentServer:
    """Accepts every connection and never responds; ``asked`` counts them."""

    def __init__(self) -> None:
        self._held: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> str:
        """Start; returns its address, as a setting of the app."""
        self._server = await asyncio.start_server(self._hold, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    @property
    def asked(self) -> int:
        return len(self._held)

    async def stop(self) -> None:
        """Close all connections."""
        if self._server is not None:
            self._server.close()
            for writer in list(self._held):
                writer.close()

    async def _hold(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._held.add(writer)
        try:
            while await reader.read(65536):
                pass
        except ConnectionError:
            pass
        finally:
            self._held.discard(writer)
            writer.close()


@asynccontextmanager
async def silent_server() -> AsyncIterator[tuple[SilentServer, dict[str, str]]]:
    """A silent server, with the settings for the app to use it."""
    server = SilentServer()
    address = await server.start()
    try:
        yield server, {"CIRQUE_LLM_BASE_URL": address, "CIRQUE_LLM_MODEL": "silent", "CIRQUE_LLM_RETRIES": "0",
                       "CIRQUE_LLM_TIMEOUT": _GIVE_UP}
    finally:
        await server.stop()


async def while_searches_wait(app: App, people: Sequence[Client], seconds: float) -> Waiting:
    """Annotators save without pause for ``seconds`` alone, as long while every searcher waits, and as long alone
    again. The app must not be running yet."""
    annotators = [person for person in people if isinstance(person, Annotator)]
    searchers = [person for person in people if isinstance(person, Searcher)]
    without, waiting = Timings(len(annotators)), Timings(len(annotators))
    async with silent_server() as (server, settings):
        await app.start(**settings)
        await drive([person.act_once for person in annotators], 1.0, Timings(len(annotators)))   # warms up
        await drive([person.act_once for person in annotators], seconds, without)
        begun = await begin_searches(searchers, server)
        await drive([person.act_once for person in annotators], seconds, waiting)
        if any(search.done() for search in begun) or not server.asked:
            raise RuntimeError("The searches did not wait: they ended, or never asked the language model.")
    # The server is gone now: built-in rules answer, and the searches end.
    await asyncio.gather(*begun)
    for searcher in searchers:
        searcher.held_up = False
    await drive([person.act_once for person in annotators], seconds, without)
    return Waiting(len(searchers), without, waiting)


async def begin_searches(searchers: Sequence[Searcher], server: SilentServer) -> list[asyncio.Task[None]]:
    """Start a search by each of ``searchers``; returns once the first of them wait for the server."""
    for searcher in searchers:
        searcher.method, searcher.held_up = _METHOD, True
        searcher.begin_session()
    begun = [asyncio.create_task(searcher.act_once()) for searcher in searchers]
    for _ in range(1200):
        if server.asked:
            break
        await asyncio.sleep(0.05)
    await asyncio.sleep(1.0)      # for the others to reach their language model
    return begun

