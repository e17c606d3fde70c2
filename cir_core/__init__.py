"""cirque's core: composed image retrieval without the web app or a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cir_core.version import __version__

if TYPE_CHECKING:
    from cir_core.sessions.quick import Search, Step, open_search

__all__ = ["Search", "Step", "__version__", "open_search"]


def __getattr__(name: str) -> object:
    # Importing the package must stay cheap: the command line prints its help through it.
    if name in {"Search", "Step", "open_search"}:
        from cir_core.sessions import quick

        return getattr(quick, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
