"""Which addresses need what. Pure: paths in, capabilities out."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from annotation.roles import Capability

_SEARCH: frozenset[Capability] = frozenset({"search"})
_JUDGING: frozenset[Capability] = frozenset({"annotate", "adjudicate", "manage", "results"})
_STUDIES: frozenset[Capability] = frozenset({"manage", "results"})
_RESULTS: frozenset[Capability] = frozenset({"results"})

PAGES: Mapping[str, frozenset[Capability]] = {
    "/": _SEARCH, "/annotate": frozenset({"annotate"}), "/studies": _STUDIES, "/analysis": _RESULTS,
    "/adjudicate": frozenset({"adjudicate"}), "/people": frozenset({"people"}),
    "/log": frozenset({"people"}),
}
"""The screens, in the order in which a person's first one is looked for."""

# By the first part of the path. What Gradio serves itself needs a sign-in only; its events check for
# themselves. Below "gradio_api" that is true of what carries calls and draws pages; the rest of it takes
# and gives files, which the search screen alone has.
_CALLS: Mapping[str, frozenset[Capability]] = {
    **dict.fromkeys(("media", "export", "audit", "runs"), _SEARCH),
    **{path[1:]: needs for path, needs in PAGES.items() if path != "/"},
    "study": frozenset({"annotate"}),
}
_GRADIO = "gradio_api"
_GRADIO_CALLS = frozenset({"queue", "run", "api", "call", "cancel", "reset", "heartbeat", "info", "openapi.json",
                           "startup-events", "theme.css", "app_id", "user", "token", "login_check"})
# A browser asks for the manifest without cookies.
_OPEN = frozenset({"/healthz", "/sign-in", "/sign-out", "/login", "/favicon.ico", "/manifest.json"})
_OPEN_BELOW = ("/join/", "/own/")


def plain(path: str) -> str:
    """Without a slash at the end, or several at the beginning."""
    return "/" + path.strip("/")


def is_open(path: str) -> bool:
    """Whether strangers may come here."""
    return plain(path) in _OPEN or path.startswith(_OPEN_BELOW)


def needed(path: str) -> frozenset[Capability]:
    """Any one of these is enough; none are needed where this is empty."""
    path = plain(path)
    if path == "/study/image" or path.startswith("/study/image/"):
        return _JUDGING
    first, *rest = path[1:].split("/")
    if first == _GRADIO:
        return frozenset() if rest and rest[0] in _GRADIO_CALLS else _SEARCH
    return PAGES["/"] if path == "/" else _CALLS.get(first, frozenset())


def first_page(may: frozenset[Capability]) -> str:
    """Where a person begins."""
    return next((path for path, needs in PAGES.items() if needs & may), "/")


def after_sign_in(wanted: str, may: frozenset[Capability]) -> str:
    """``wanted`` if it is a path of this site that the person may open, else their first page.

    Only what begins with one slash stays on this site: browsers take "//host" and "/\\host" for
    another one, and drop tabs and line ends before they look.
    """
    unsafe = (not wanted.startswith("/") or wanted.startswith("//") or "\\" in wanted
              or any(ord(character) <= 32 or ord(character) == 127 for character in wanted))
    if unsafe:
        return first_page(may)
    path = urlsplit(wanted).path
    needs = needed(path)
    return wanted if not is_open(path) and (not needs or needs & may) else first_page(may)
