"""Gradio's page names cirque's icon, and nothing at the root of the host: cirque may be served below a path."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from jinja2 import BaseLoader, Environment
from starlette.templating import Jinja2Templates

from web.ui.static_files import ICON

if TYPE_CHECKING:
    _Source = tuple[str, str | None, Callable[[], bool] | None]

_PAGE = "frontend/index.html"
_MANIFEST = re.compile(r'<link rel="manifest"[^<>]*>')   # of an app to be installed, which cirque's is not


class OwnPage(BaseLoader):
    """The templates of ``loader`` with the page's head as cirque has it. Its ``head`` would come too late, by a script:
    browsers have looked for /favicon.ico by then."""

    def __init__(self, loader: BaseLoader) -> None:
        self._loader = loader

    def get_source(self, environment: Environment, template: str) -> _Source:
        source, path, is_fresh = self._loader.get_source(environment, template)
        if template == _PAGE:
            source = _MANIFEST.sub("", source).replace("<head>", f'<head><link rel="icon" href="{ICON}">', 1)
        return source, path, is_fresh


def use_own_page(templates: Jinja2Templates) -> None:
    """From now on ``templates``, which are Gradio's, have that page."""
    loader = templates.env.loader
    assert loader is not None
    if not isinstance(loader, OwnPage):
        templates.env.loader = OwnPage(loader)
        if templates.env.cache is not None:
            templates.env.cache.clear()
