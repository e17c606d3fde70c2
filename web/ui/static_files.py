"""cirque's own scripts, styles and translations, ``assets/js/**.js``, ``assets/css/*.css`` and
``assets/languages/*.json``, at versioned URLs. Jinja templates
with autoescaping (dataset texts and file names are untrusted), and stand-alone pages.

The version is a hash of the contents, so browsers may cache files forever. They are sent compressed. ``plotly.js``
comes from the plotly package; it is large, so it is read on first use.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from cir_core.settings import Settings
from cir_core.version import __version__
from web.http.json_api import in_thread
from web.http.pages import first_page
from web.http.visitor import Visitor

ASSETS = Path(__file__).resolve().parents[2] / "assets"
_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".json": "application/json"}
_PLOTLY = "plotly.js"
# The page's icon, as its address: browsers look for /favicon.ico at the root of the host where a page names none.
ICON = "data:image/svg+xml," + quote(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 28 28"><circle cx="14" cy="14" r="10.5" fill="none" '
    'stroke="#8a8274" stroke-width="3"/><circle cx="21.4" cy="6.6" r="4.2" fill="#cf4a20"/></svg>', safe="/:=")


@lru_cache(maxsize=1)
def _files() -> dict[str, Response]:
    """Prepared responses by path. All files are read once, so that a page never mixes two versions."""
    paths = sorted([*(ASSETS / "css").glob("*.css"), *(ASSETS / "js").rglob("*.js"),
                    *(ASSETS / "languages").glob("*.json")])
    return {path.relative_to(ASSETS).as_posix(): Response(path.read_bytes(), media_type=_TYPES[path.suffix])
            for path in paths}


@lru_cache(maxsize=1)
def own_version() -> str:
    digest = sha256(version("plotly").encode())
    for name, file in _files().items():
        digest.update(f"{name}\0{len(file.body)}\0".encode() + bytes(file.body))
    return f"{__version__}-{digest.hexdigest()[:12]}"


def asset_url(path: str) -> str:
    """URL of ``js/annotate/main.js`` or ``css/study.css``, relative to a page at the app's root, so that it works under
    a root path."""
    if path not in _files() and path != _PLOTLY:
        raise KeyError(f"assets/{path} is not a script or style of cirque's")
    return f"own/{own_version()}/{path}"


_IMPORTED = re.compile(r'^(?:import|export)[\s\w{},*$]*"(\.\.?/[^"]+)";', re.MULTILINE)


@cache
def modules_of(path: str) -> tuple[str, ...]:
    """The script at ``path`` and all that it imports at once, itself first: what a browser can fetch together, instead
    of learning of each file from the one before."""
    found = [path]
    for one in found:   # which grows
        source = bytes(_files()[one].body).decode("utf-8")
        there = (normpath(str(PurePosixPath(one).parent / name)) for name in _IMPORTED.findall(source))
        found += [name for name in dict.fromkeys(there) if name not in found]
    return tuple(found)


def in_module(path: str, call: str) -> str:
    """JavaScript for Gradio to run: a promise of ``call``, made with the module at ``path`` as ``screen``.

    Resolved against the page: a bare import() would start from the folder of Gradio's own script.
    """
    return f"import(new URL('{asset_url(path)}', document.baseURI).href).then((screen) => {call})"


def own_routes() -> APIRouter:
    routes = APIRouter()
    routes.add_route("/own/{version}/{path:path}", own_file, ["GET"], include_in_schema=False)
    return routes


async def own_file(request: Request) -> Response:
    """The file of the path parameters ``version`` and ``path``."""
    path = request.path_params["path"]
    file = await in_thread(_plotly) if path == _PLOTLY else _files().get(path)
    if file is None:
        return JSONResponse({"problem": "No such file.", "kind": "unknown"}, 404, {"Cache-Control": "no-store"})
    # A page that was open during an upgrade still asks under the old version.
    current = request.path_params["version"] == own_version()
    headers = {"Cache-Control": "public, max-age=31536000, immutable" if current else "no-cache",
               "X-Content-Type-Options": "nosniff", "Vary": "Accept-Encoding"}
    body = bytes(file.body) if path == _PLOTLY else _compressed(path)
    if _takes_gzip(request.headers.get("accept-encoding", "")):
        headers["Content-Encoding"] = "gzip"
    else:
        body = gzip.decompress(body)
    return Response(body, media_type=file.media_type, headers=headers)


@cache
def _compressed(path: str) -> bytes:
    return gzip.compress(bytes(_files()[path].body), mtime=0)


@lru_cache(maxsize=1)
def _plotly() -> Response:
    """plotly.js with a compressed body, as nearly all clients accept that."""
    content = files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()
    return Response(gzip.compress(content, mtime=0), media_type=_TYPES[".js"])


def _takes_gzip(accepted: str) -> bool:
    weights = (part.strip().lower().split(";") for part in accepted.split(","))
    return any(name.strip() in ("gzip", "*") and not any(
        one.replace(" ", "").strip("0.") == "q=" for one in rest) for name, *rest in weights)


def handed_over(path: Path, media_type: str, headers: Mapping[str, str], settings: Settings) -> Response | None:
    """The picture at ``path``, which the visitor may have, to be sent by nginx: it is told where the file lies in its
    internal location of the home folder (``CIRQUE_ACCEL_REDIRECT``). None where there is no such location, or the file
    is elsewhere or gone. nginx takes over the type and how long browsers keep it; the location adds other headers."""
    if not settings.accel_redirect:
        return None
    try:
        inside = path.resolve(strict=True).relative_to(settings.home.resolve())
    except (ValueError, OSError):
        return None
    if not inside.parts or inside.parts[0] not in _HANDED_OVER:
        return None
    return Response(media_type=media_type, headers={
        **headers, "X-Accel-Redirect": settings.accel_redirect + quote(inside.as_posix())})


_HANDED_OVER = ("galleries", "studies")   # of the folders of pictures: uploads only cirque's own user may read
FRESH = {"Cache-Control": "no-store"}
# "same-origin": an invitation's secret is in the address of its page, and stays here.
OWN_PAGE = {
    **FRESH, "Referrer-Policy": "same-origin", "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; "
                               "form-action 'self'; base-uri 'none'",
}
_FOLDER = Path(__file__).parents[1] / "templates"


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )
    # Not Jinja's own: that one marks its output as safe for scripts, this goes into attributes.
    environment.filters["json"] = lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return environment


def fill(template: str, **context: Any) -> str:
    """Render the template to HTML."""
    return _environment().get_template(template).render(**context)


def page(template: str, **context: Any) -> str:
    """A standalone page with inline style."""
    return fill(template, style=_style(), icon=ICON, **context)


def notice(
    problem: str, visitor: Visitor | None, root: str = "", *, title: str = "Not here", again: str | None = None,
    by_itself: bool = False,
) -> str:
    """A page with an error message and a link: to ``again`` if given ("" for this URL), where the page may reload
    ``by_itself``."""
    return page("pages/notice_page.html", problem=problem, visitor=visitor, root=root, title=title, again=again,
                by_itself=by_itself, first=first_page(visitor.may) if visitor is not None else "/")


@lru_cache(maxsize=1)
def _style() -> str:
    return (ASSETS / "css" / "sign-in.css").read_text("utf-8")
