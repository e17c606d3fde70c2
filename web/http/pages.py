"""Table of all screens: path, title, permission, script, in menu order. Required capabilities by URL path. Pure.

Routing, access control, the first page after sign-in and the browser's menu (through ``/me``) all read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.types import Scope

from annotation.accounts.roles import Capability


@dataclass(frozen=True)
class Page:
    """``needs``: any of these capabilities grants access. ``script``: the ES module under ``assets`` whose ``mount``
    draws the screen into an empty element or, on the search screen, enhances Gradio's panels."""

    path: str
    title: str
    needs: frozenset[Capability]
    script: str

    @property
    def name(self) -> str:
        return self.path.strip("/") or "search"


SEARCH = Page("/", "Search", frozenset({"search"}), "js/search/main.js")
SCREENS = (
    SEARCH,
    Page("/annotate", "Annotate", frozenset({"annotate"}), "js/annotate/main.js"),
    Page("/adjudicate", "Adjudicate", frozenset({"adjudicate"}), "js/adjudicate/main.js"),
    Page("/studies", "Studies", frozenset({"manage", "results"}), "js/studies/main.js"),
    Page("/analysis", "Analysis", frozenset({"results"}), "js/analysis/main.js"),
    Page("/benchmarks", "Benchmarks", frozenset({"manage", "results"}), "js/benchmarks/main.js"),
    Page("/jobs", "Jobs", frozenset({"manage"}), "js/jobs/main.js"),
    Page("/people", "People", frozenset({"people"}), "js/admin/people.js"),
    Page("/log", "Log", frozenset({"people"}), "js/admin/log.js"),
)


def pages_for(may: frozenset[Capability]) -> list[dict[str, str]]:
    """Menu for these capabilities, as JSON. Paths are relative to the app's root."""
    return [{"page": page.name, "title": page.title, "path": page.path[1:]} for page in SCREENS if page.needs & may]


_SEARCH: frozenset[Capability] = frozenset({"search"})
_JUDGING: frozenset[Capability] = frozenset({"annotate", "adjudicate", "manage", "results"})

PAGES: Mapping[str, frozenset[Capability]] = {page.path: page.needs for page in SCREENS}
"""The screens, in the order in which a person's first one is looked for."""

# By the first part of the path. What is in none of these is not served, whatever routes there are: a library may
# bring new ones. Of Gradio, what draws pages and carries calls needs a sign-in only, for its events check for
# themselves; files are taken for the search call alone, and none are given.
_CALLS: Mapping[str, frozenset[Capability]] = {
    **dict.fromkeys(("media", "export", "import", "audit", "judges", "runs", "session", "thumbs", "weights"), _SEARCH),
    **{path[1:]: needs for path, needs in PAGES.items() if path != "/"},
    "study": frozenset({"annotate"}),
    "api": frozenset({"search", "annotate"}),   # each call asks for its own besides
}
_ANYBODY = frozenset({"me", "config", "theme.css", "assets", "static", "svelte", "robots.txt", "favicon.ico"})
_GRADIO = "gradio_api"
_GRADIO_CALLS = frozenset({"queue", "run", "api", "call", "cancel", "reset", "heartbeat", "info", "openapi.json",
                           "startup-events", "theme.css", "app_id", "user", "token", "login_check", "mcp"})
_GRADIO_FILES = frozenset({"upload", "upload_progress"})
CHECKS = frozenset({"/healthz", "/readyz", "/metrics"})   # asked by machines, under whatever name they know
# A browser asks for the manifest without cookies.
_OPEN = CHECKS | frozenset({"/sign-in", "/sign-out", "/login", "/favicon.ico", "/manifest.json"})

OWN_PARTS = frozenset({*_CALLS, *_ANYBODY, _GRADIO, *(path[1:] for path in _OPEN), "own", "join", "take", "docs",
                       "mcp"})
"""First parts of cirque's own paths. A path below which cirque is served begins with none of them: where a proxy takes
that path off, nobody could tell what is left from a request that still has it."""

# All that a visitor of a public demo reaches: what the search screen asks for. Of paths that end with a slash, also
# what is below; a call of it is one of those two that the screen makes (web.middleware.gradio_calls).
_DEMO: Mapping[str, frozenset[str]] = {
    "GET": frozenset({
        "/", "/me", "/healthz", "/readyz", "/favicon.ico", "/manifest.json", "/robots.txt", "/config", "/theme.css",
        "/own/", "/assets/", "/static/", "/svelte/", "/media/thumb", "/media/full", "/media/find",
        "/media/suggestions", "/export/", "/session/", "/gradio_api/heartbeat/", "/gradio_api/queue/data",
        "/gradio_api/startup-events", "/gradio_api/theme.css",
    }),
    "POST": frozenset({"/media/upload", "/media/region", "/runs/", "/gradio_api/queue/join"}),
}


def plain(path: str) -> str:
    """The path without a trailing slash or repeated leading ones."""
    return "/" + path.strip("/")


def path_of(scope: Scope) -> str:
    """Path relative to the app's root."""
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    return path[len(root):] or "/" if root and path.startswith(root + "/") else path


def is_open(path: str) -> bool:
    """Whether the path is public."""
    match path.split("/"):
        case ["", "join", secret]:
            return bool(secret)
        case ["", "take", token, *_]:   # of a study, for participants, who have cookies of their own
            return bool(token)
        case ["", "own", _, *_]:
            return True
    return plain(path) in _OPEN


def is_served(path: str) -> bool:
    """Whether the path can exist. Paths with "..", "." or backslashes cannot."""
    if "\\" in path or "\0" in path or any(part in (".", "..") for part in path.split("/")):
        return False
    first, *rest = plain(path)[1:].split("/")
    if first == _GRADIO:
        return bool(rest) and rest[0] in _GRADIO_CALLS | _GRADIO_FILES
    return first == "" or first in _CALLS or first in _ANYBODY or is_open(path)


def needed(path: str) -> frozenset[Capability]:
    """Capabilities of which any one grants access; empty: none required."""
    path = plain(path)
    if path == "/study/image" or path.startswith("/study/image/"):
        return _JUDGING
    first, *rest = path[1:].split("/")
    if first == _GRADIO:
        return frozenset() if rest and rest[0] in _GRADIO_CALLS else _SEARCH
    return PAGES["/"] if path == "/" else _CALLS.get(first, frozenset())


def first_page(may: frozenset[Capability]) -> str:
    """The user's first page after sign-in."""
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


def in_demo(method: str, path: str) -> bool:
    """Whether a visitor of a public demo reaches ``path``."""
    allowed = _DEMO.get("GET" if method == "HEAD" else method, frozenset())
    if not is_served(path):
        return False
    return path in allowed or any(one.endswith("/") and one != "/" and path.startswith(one) for one in allowed)
