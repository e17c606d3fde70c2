"""The web app. ``python app.py`` starts it; settings are in docs/reference/settings.md."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from cir_core.errors import CirqueError
from cir_core.settings import get_settings, quiet_threads
from cir_core.support.process import collector_paused

if TYPE_CHECKING:
    import gradio as gr

    demo: gr.Blocks


def __getattr__(name: str) -> object:
    """Build ``app.demo`` on first access, so that importing this module opens nothing."""
    if name == "demo":
        from web.server import build_demo
        from web.services import open_services

        return build_demo(open_services(get_settings()))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def main() -> int:
    try:
        settings = get_settings()
        quiet_threads()
        with collector_paused():
            from web.server import serve
        serve(settings)
    except CirqueError as error:
        print(f"cirque cannot start. {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
