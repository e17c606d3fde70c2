"""Whether searches that wait for a language model hold up those who judge."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from benchmarks.driver import Timings, drive
from benchmarks.soak_app import App
from benchmarks.soak_people import Annotator, Client, Searcher

_METHOD = "cirevl"       # asks a language model for every query
_GIVE_UP = "600"         # seconds that the app would wait: longer than anybody measures here


@dataclass(frozen=True)
class Waiting:
    """Saves of all annotators: alone (before and after), and while ``searches`` were waiting. None: not measured."""

    searches: int = 0
    without: Timings | None = None
    waiting: Timings | None = None


class SilentServer:
    """Takes every connection and never answers; ``asked`` is how many it holds."""

    def __init__(self) -> None:
        self._held: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> str:
        """Its address, as a setting of the app."""
        self._server = await asyncio.start_server(self._hold, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    @property
    def asked(self) -> int:
        return len(self._held)

    async def stop(self) -> None:
        """Hang up on everybody."""
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
    """A silent server, and the settings under which the app asks it."""
    server = SilentServer()
    address = await server.start()
    try:
        yield server, {"CIRQUE_LLM_BASE_URL": address, "CIRQUE_LLM_MODEL": "silent", "CIRQUE_LLM_RETRIES": "0",
                       "CIRQUE_LLM_TIMEOUT": _GIVE_UP}
    finally:
        await server.stop()


async def while_searches_wait(app: App, people: Sequence[Client], seconds: float) -> Waiting:
    """Annotators save flat out for ``seconds`` alone, as long while every searcher waits, and as long alone again.
    The app must not run yet."""
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
    # The server is away now: built-in rules answer, and the searches end.
    await asyncio.gather(*begun)
    for searcher in searchers:
        searcher.held_up = False
    await drive([person.act_once for person in annotators], seconds, without)
    return Waiting(len(searchers), without, waiting)


async def begin_searches(searchers: Sequence[Searcher], server: SilentServer) -> list[asyncio.Task[None]]:
    """A search of every one of ``searchers``, once the first of them wait for the server."""
    for searcher in searchers:
        searcher.method, searcher.held_up = _METHOD, True
        searcher.begin_session()
    begun = [asyncio.create_task(searcher.act_once()) for searcher in searchers]
    for _ in range(1200):
        if server.asked:
            break
        await asyncio.sleep(0.05)
    await asyncio.sleep(1.0)      # the others come to their language model, too
    return begun

