"""Jinja templates with autoescaping (dataset texts and file names are untrusted), and stand-alone pages."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from web.http.permissions import first_page
from web.http.visitor import Visitor
from web.ui.static_files import ASSETS, ICON

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
