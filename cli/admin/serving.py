"""``cirque demo`` and ``cirque serve``."""

from __future__ import annotations

import sys

from cir_core.settings import get_settings
from cir_core.support.process import collector_paused
from cli.console import err, open_encoder, progress_bar
from cli.galleries.galleries import index_bar


def demo() -> None:
    """Open the search page on the sample gallery, drawn the first time."""
    prepare_sample()
    settings = get_settings()
    # A person at a desktop gets the page; a server, a pipe or a terminal over SSH the address.
    _serve(open_page=settings.has_display and sys.stdout.isatty())


def serve() -> None:
    """Serve the web app (CIRQUE_HOST, CIRQUE_PORT)."""
    _serve(open_page=False)


def _serve(*, open_page: bool) -> None:
    settings = get_settings()
    with collector_paused():
        from web.server import serve as serve_web
    serve_web(settings, open_page=open_page)


def prepare_sample() -> None:
    """Draw and index the sample gallery, with progress, unless it exists."""
    from cir_core.sample.gallery import ensure_sample, is_outdated, is_ready

    home = get_settings().home
    if is_ready(home):
        return
    if is_outdated(home):
        err.print("The sample gallery has other garments since this version. Sessions over the earlier ones can be "
                  "read, without their pictures; studies have pictures of their own.")
    err.print(f"Preparing the sample gallery in {home} (once, about two minutes) ...")
    with progress_bar("Drawing garments") as drawing, index_bar("Indexing") as indexing:
        ensure_sample(home, open_encoder("atelier"), drawing=drawing, indexing=indexing)
