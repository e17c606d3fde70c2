"""The web server: application assembly, start and shutdown. All screens in one ``gr.Blocks``."""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import logging
import os
import signal
import socket
import sys
import threading
import warnings
import webbrowser
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import gradio as gr
import uvicorn
from fastapi import APIRouter, FastAPI
from gradio.routes import templates as gradio_templates
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.types import ASGIApp
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from cir_core.errors import SettingsError
from cir_core.images.decode_budget import return_large_blocks
from cir_core.settings import Settings
from cir_core.support.process import collector_paused
from cir_core.version import __version__
from web.accounts.routes import log_routes, people_routes
from web.accounts.sign_in import me_routes, sign_in_routes
from web.analysis.routes import analysis_routes
from web.benchmarks.jobs import ConstructionJobs
from web.benchmarks.routes import benchmark_routes
from web.benchmarks.shelf import FOLDER, BenchmarkShelf
from web.http import background, json_api
from web.http.call_routes import call_routes
from web.http.calls import Call, Caller
from web.http.pages import SCREENS, SEARCH, Page
from web.http.request_ids import with_request_ids
from web.jobs.routes import job_routes
from web.limits.connections import Connections, Networks, TimeoutProtocol, most_connections
from web.limits.url_downloads import ImageFetcher, turn_off_gradios_downloads
from web.middleware.auth import AuthMiddleware, Cookies, Place, check_open, greeting
from web.middleware.gradio_calls import GradioCalls
from web.middleware.gradio_connections import GradioConnections, GradioMemory
from web.middleware.gradio_errors import Screens
from web.middleware.headers import Forwarded, SecurityHeaders, checked_root
from web.middleware.public_demo import Limits, PublicDemo
from web.middleware.request_log import RequestLog, handle_malformed_requests, templates_of
from web.middleware.shutdown import DrainMiddleware, ShutdownState
from web.ops.demo_data import DemoSweep, own_folder
from web.ops.health import health_routes
from web.ops.logging_setup import begin_logging
from web.ops.warming import Warming
from web.ops.weights import weights_routes
from web.recruitment.manage import recruitment_routes
from web.recruitment.participants import participant_routes
from web.recruitment.webhooks import sender_of
from web.search.actions.base import LONG
from web.search.api import search_call, wire_search
from web.search.media import media_routes
from web.search.routes import (
    audit_routes,
    export_routes,
    import_routes,
    judge_routes,
    live_routes,
    region_routes,
    session_routes,
    suggestion_routes,
)
from web.search.tab import build_search_tab
from web.search.thumbs import thumb_call, thumb_routes, wire_thumb
from web.services import Services, open_services
from web.studies.adjudicate import adjudicate_routes
from web.studies.annotate import study_routes
from web.studies.api import study_calls, wire_study_calls
from web.studies.manage import studies_routes
from web.studies.managing import managing_calls
from web.studies.new_study import new_study_routes
from web.studies.quality import quality_routes
from web.studies.sample import sample_routes
from web.ui.gradio_page import head, make_theme, use_own_page
from web.ui.static_files import in_module, own_routes

# Seconds: looked for so often, and removed when so old. The search call takes its image into the home folder at once.
_UPLOADS = (3600, 86400)

# Pages are compressed, which are the same for everybody. Answers to calls are not: their length would tell what is in
# them to who can choose a part of it and listens on the line.
_SENT_AS_THEY_ARE = (*DEFAULT_EXCLUDED_CONTENT_TYPES, "application/*", "text/plain", "text/csv", "text/markdown")


def calls_of(services: Services) -> list[Call]:
    """What programs may call; nothing in a public demo."""
    if services.settings.public_demo:
        return []
    return [search_call(services), thumb_call(services), *study_calls(services), *managing_calls(services)]


def build_demo(services: Services, calls: Sequence[Call] | None = None) -> Screens:
    """The app's pages over ``services``, with ``calls`` (default: all) as named ones. No model is loaded here."""
    calls = calls_of(services) if calls is None else calls
    with Screens(title="cirque", analytics_enabled=False, fill_width=True, delete_cache=_UPLOADS) as demo:
        build_search_tab(demo, services)
        if services.settings.public_demo:
            return demo
        search, thumb, *others = calls
        wire_search(search)
        wire_thumb(thumb)
        wire_study_calls([one for one in others if one.needs == "annotate"])   # others came after the plain routes
        for page in SCREENS:
            if page.path != SEARCH.path:
                demo.begin_page(page.title, page.path)
                _page_root(page)
    return demo


def _page_root(page: Page) -> None:
    """An empty element for the page's script to draw into. Its content comes from authenticated calls."""
    gr.HTML(
        "", html_template="${value}", js_on_load=in_module(page.script, "screen.mount(element)"),
        apply_default_css=False, elem_id=f"{page.name}-root", elem_classes="cq-panel",
        container=False, padding=False,
    )


_log = logging.getLogger("cirque.server")
_AT_THE_END = 2.0   # seconds
_TURNS = 0.001      # seconds that a thread of Python goes on while others wait: a save does not wait for searches


def create_app(settings: Settings, services: Services | None = None) -> FastAPI:
    """Build the whole application. Opens the store; loads no model."""
    if settings.mcp and importlib.util.find_spec("mcp") is None:
        raise SettingsError("CIRQUE_MCP is on, but the mcp package is missing. Install it from the checkout: "
                            ".venv/bin/pip install -e '.[mcp]'")
    services = services or open_services(settings)
    app = FastAPI(title="cirque", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.shutdown_state = shutdown_state = ShutdownState()
    shutdown_state.outdated = lambda: services.database.is_other
    app.state.warming = warming = Warming(services)
    shelf = BenchmarkShelf(settings.home / FOLDER)
    app.state.constructions = constructions = ConstructionJobs(services, shelf.root)
    services.meter.running(lambda: len(services.runs))
    services.meter.unfinished(lambda: shutdown_state.unfinished)
    images = ImageFetcher(settings.max_upload_mb, services.quota)
    offered = calls_of(services)
    caller = Caller(offered, images)
    routers: tuple[APIRouter, ...] = (
        health_routes(settings, services.database, shutdown_state, services.meter, warming), own_routes(), me_routes(),
        media_routes(services, images), export_routes(services), live_routes(services.runs),
        suggestion_routes(services), session_routes(services), region_routes(services),
    )
    if not settings.public_demo:
        routers += (
            sign_in_routes(services, Cookies(framed=bool(settings.framing_sites))), people_routes(services),
            audit_routes(services), judge_routes(services), thumb_routes(services), import_routes(services),
            study_routes(services), adjudicate_routes(services), studies_routes(services), quality_routes(services),
            sample_routes(services), new_study_routes(services), analysis_routes(services),
            benchmark_routes(services, shelf, constructions),
            participant_routes(services, Cookies(framed=bool(settings.framing_sites))), recruitment_routes(services),
            log_routes(services), weights_routes(services), call_routes(caller), job_routes(services),
        )
    for routes in routers:
        app.include_router(routes)
    sessions = GradioConnections()
    # The one that is added last stands outermost.
    limits = Limits(settings.demo_searches_per_minute)
    calls: set[int] = set()
    admit = partial(limits.admit, long=tuple(LONG)) if settings.public_demo else None
    app.add_middleware(GradioCalls, max_upload_mb=settings.max_upload_mb, quota=services.quota, sessions=sessions,
                       images=images, admit=admit, only=calls if settings.public_demo else None)
    if settings.public_demo:
        app.add_middleware(PublicDemo, people=services.people, settings=settings, limits=limits)
    else:
        app.add_middleware(AuthMiddleware, people=services.people, place=Place.of(settings))
    app.add_middleware(DrainMiddleware, shutdown_state=shutdown_state)
    app.add_middleware(RequestLog, meter=services.meter, templates=templates_of(routers))
    app.add_middleware(GZipMiddleware, compresslevel=6, exclude_content_types=_SENT_AS_THEY_ARE)
    app.add_middleware(SecurityHeaders, framing=settings.framing_sites)
    app.add_middleware(with_request_ids)
    with warnings.catch_warnings():
        # It tells everybody with several pages that they cannot have what we turn off.
        warnings.filterwarnings("ignore", "SSR mode is not supported", UserWarning)
        demo = build_demo(services, offered)
        shutdown_state.background_work = lambda: demo.unfinished
        calls.update(index for index, call in demo.fns.items() if call.fn is not None)
        # Mounted, it never counts as launched, and then Gradio takes any path of this machine for an upload.
        demo.has_launched = True
        demo.root_path = ""   # not GRADIO_ROOT_PATH: where cirque is served, web.middleware.headers says
        images.kept = demo.upload_file_set   # whose old files Gradio removes
        if settings.mcp:
            from web.mcp import McpServer  # its library is an extra

            McpServer(caller).attach(app)
        app = gr.mount_gradio_app(
            app, demo, path="/", theme=make_theme(), head=head(),
            footer_links=[], run_history=False, ssr_mode=False, pwa=False, enable_monitoring=False,
            show_error=False,   # what was not expected may name files of this machine; CirqueErrors are said anyway
            max_file_size=settings.max_upload_mb * 2**20, blocked_paths=[str(settings.home)],
            mcp_server=False,   # Gradio's calls the server at the address that a header names, and as nobody
        )
    sessions.memory = GradioMemory.of(app)
    turn_off_gradios_downloads()
    use_own_page(gradio_templates)
    handle_malformed_requests(app)
    return app


def serve(settings: Settings, *, open_page: bool = False) -> None:
    """Serve until Ctrl-C or SIGTERM; ``open_page`` opens the page in the browser.

    Raises ``SettingsError`` if the address is unavailable.
    """
    begin_logging(settings)
    return_large_blocks()
    sys.setswitchinterval(_TURNS)
    listener = _listen(settings.host, settings.port)
    with contextlib.closing(listener), contextlib.ExitStack() as opened:
        with collector_paused():
            opened.enter_context(own_folder(settings))
            services = open_services(settings)
            check_open(settings, services.people)
            app = create_app(settings, services)
        port = listener.getsockname()[1]
        host = "localhost" if settings.host in ("0.0.0.0", "::", "") else settings.host
        warming: Warming = app.state.warming
        server = _Server(server_config(app, settings), f"http://{host}:{port}", services, app.state.shutdown_state,
                         warming, app.state.constructions, open_page=open_page)
        with services.processes.serving(f"{host}:{port}"):
            server.run(sockets=[listener])
            server.webhooks.join()
    # Those who were let in have been waited for. What is saved for others is saved whole or not at all, and must not
    # hold up the end for minutes.
    end = threading.Timer(_AT_THE_END, os._exit, (0,))
    end.daemon = True
    end.start()
    services.database.close()
    if background.shutdown() or warming.loading:
        # The interpreter would wait for a report, and under a thread that loads a model it aborts.
        json_api.finish()
        os._exit(0)


def server_config(app: FastAPI, settings: Settings) -> uvicorn.Config:
    """Server configuration. The client address is the peer's, unless a trusted proxy forwards another."""
    asked: ASGIApp = app
    proxies = Networks(settings.trusted_proxies)
    if settings.trusted_proxies:
        asked = ProxyHeadersMiddleware(app, settings.trusted_proxies)   # type: ignore[arg-type, assignment]
    try:
        root = checked_root(settings.root_path)
    except ValueError as error:
        raise SettingsError(f"CIRQUE_PUBLIC_URL cannot be used: {error}.") from None
    asked = Forwarded(asked, proxies, root)   # asks who connects: outside of the other
    connections = Connections(most_connections(), proxies)
    return uvicorn.Config(asked, http=partial(TimeoutProtocol, connections),   # type: ignore[arg-type]
                          log_config=None, access_log=False, timeout_graceful_shutdown=1, proxy_headers=False,
                          server_header=False)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol by name: asyncio turns Nagle's algorithm off (40 ms for an answer) only where it stands there.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise SettingsError(
                f"Port {port} is in use, perhaps by another cirque. Use the next one: "
                f"CIRQUE_PORT={port + 1}, or any free one: CIRQUE_PORT=0."
            ) from error
        if error.errno == errno.EACCES:
            raise SettingsError(f"Port {port} needs special rights. Use one above 1023: CIRQUE_PORT=7860.") from error
        raise SettingsError(f"Cannot listen on {host}:{port}: {error.strerror}. Check CIRQUE_HOST.") from error
    return listener


class _Server(uvicorn.Server):
    """uvicorn with a start-up line, and without re-raising the signal that stopped it."""

    def __init__(
        self, config: uvicorn.Config, address: str, services: Services, shutdown_state: ShutdownState, warming: Warming,
        constructions: ConstructionJobs, *, open_page: bool,
    ) -> None:
        super().__init__(config)
        self._shutdown_state = shutdown_state
        self._address, self._open_page = address, open_page
        self._services, self._warming, self._constructions = services, warming, constructions
        self._sweep, self.webhooks = DemoSweep(services), sender_of(services)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        print(f"cirque is at {self._address}   (Ctrl-C stops it)", flush=True)
        if public := self._services.settings.public_url:
            print(f"Others open it at {public}/", flush=True)
        if said := greeting(self._services.people, demo=self._services.settings.public_demo):
            print(said, flush=True)
        if self._open_page:
            threading.Thread(target=webbrowser.open, args=(self._address,), daemon=True).start()
        self._warming.start()
        self._sweep.start()
        if not self._services.settings.public_demo:
            self.webhooks.start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # The server still listens: who comes now is told to come again.
        self._warming.stop()
        self._sweep.stop()
        self.webhooks.stop()
        self._constructions.shutdown()
        patience = self._services.settings.grace_seconds
        if not await self._shutdown_state.close(patience, lambda: self.force_exit):
            _log.warning("%s request(s) and %s accepted call(s) were cut off after the %g seconds of "
                         "CIRQUE_GRACE_SECONDS.", self._shutdown_state.inside, self._shutdown_state.background_work(),
                         patience)
        # Every open page holds an endless stream. Hung up on, the streams end by themselves;
        # waited for, they would be cancelled after the grace period with a traceback each.
        for connection in list(self.server_state.connections):
            if (transport := getattr(connection, "transport", None)) is not None:
                transport.close()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        handled: tuple[Any, ...] = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in handled}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
