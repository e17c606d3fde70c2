"""Gradio's page and the theme of all screens: paper and ink in light mode, deep neutral in dark, one accent.

Own panels are styled by ``assets/css/app.css``; this theme gives Gradio's components the same colours. System fonts
only: pages load nothing from other hosts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import gradio as gr
from jinja2 import BaseLoader, Environment
from starlette.templating import Jinja2Templates

from web.http.pages import SCREENS
from web.ui.static_files import ASSETS, ICON, asset_url, modules_of

if TYPE_CHECKING:
    _Source = tuple[str, str | None, Callable[[], bool] | None]

_PAGE = "frontend/index.html"
_MANIFEST = re.compile(r'<link rel="manifest"[^<>]*>')   # of an app to be installed, which cirque's is not
_STYLES = ("app", "methods", "columns", "audit", "layouts")

_SANS = ("system-ui", "-apple-system", "Segoe UI", "Roboto", "Helvetica Neue", "Liberation Sans", "sans-serif")
_MONO = ("ui-monospace", "SF Mono", "Menlo", "Consolas", "Liberation Mono", "monospace")


def make_theme() -> gr.themes.Base:
    """The theme; dark values apply under the ``dark`` class that Gradio sets on the body."""
    accent = gr.themes.Color(
        name="vermilion", c50="#fdf3ee", c100="#fae2d6", c200="#f4c3ae", c300="#ec9d7e", c400="#e3704a",
        c500="#cf4a20", c600="#b4390f", c700="#932e0d", c800="#74260f", c900="#5c2110", c950="#330f05",
    )
    return gr.themes.Base(primary_hue=accent, neutral_hue="stone", font=_SANS, font_mono=_MONO).set(
        body_background_fill="#f6f3ec", body_background_fill_dark="#131312",
        body_text_color="#1f1b16", body_text_color_dark="#ece8df",
        body_text_color_subdued="#6a6356", body_text_color_subdued_dark="#a09a8d",
        background_fill_primary="#fffdf8", background_fill_primary_dark="#1b1b19",
        background_fill_secondary="#f6f3ec", background_fill_secondary_dark="#131312",
        block_background_fill="#fffdf8", block_background_fill_dark="#1b1b19",
        border_color_primary="#e1dace", border_color_primary_dark="#31302c",
        input_background_fill="#fffdf8", input_background_fill_dark="#131312",
        button_primary_background_fill="#b4390f", button_primary_background_fill_dark="#ff8a63",
        button_primary_background_fill_hover="#932e0d", button_primary_background_fill_hover_dark="#ffa384",
        button_primary_text_color="#fffdf8", button_primary_text_color_dark="#220b03",
        block_shadow="none", block_shadow_dark="none",
    )


def head() -> str:
    """Inline style of the search screen, available before any panel without a second request, and the page's script,
    fetched while Gradio starts.

    The style is inline instead of in Gradio's ``css_paths``, which prefix every selector with Gradio's container: rules
    for the body or for dialogs would be lost.
    """
    styles = "\n".join((ASSETS / "css" / f"{name}.css").read_text("utf-8") for name in _STYLES)
    scripts = json.dumps({page.path[1:]: asset_url(page.script) for page in SCREENS})
    early = (f"const scripts = {scripts}; const page = location.pathname.replace(/\\/$/, '').split('/').pop();"
             "import(new URL(scripts[page] ?? scripts[''], document.baseURI).href);")
    return (
        '<meta name="color-scheme" content="light dark">'
        '<meta name="description" content="Search with an image and a few words, turn by turn.">'
        f'<style>{styles}</style><script type="module">{early}</script>'
    )


def preload() -> str:
    """A script that has the browser fetch the screen's scripts beside Gradio's. They run once Gradio has begun."""
    base = asset_url(SCREENS[0].script).removesuffix(SCREENS[0].script)
    modules = json.dumps({page.path[1:]: modules_of(page.script) for page in SCREENS}, separators=(",", ":"))
    return (
        f"<script>const modules = {modules}, page = location.pathname.replace(/\\/$/, '').split('/').pop();"
        "for (const path of modules[page] ?? modules['']) document.head.append("
        "Object.assign(document.createElement('link'), { rel: 'modulepreload', "
        f"href: new URL('{base}' + path, document.baseURI) }}));</script>"
    )


class OwnPage(BaseLoader):
    """The templates of ``loader`` with the page's head as cirque has it. Its ``head`` would come too late, by a script:
    browsers have looked for /favicon.ico by then, and would fetch one script after the other."""

    def __init__(self, loader: BaseLoader) -> None:
        self._loader = loader

    def get_source(self, environment: Environment, template: str) -> _Source:
        source, path, is_fresh = self._loader.get_source(environment, template)
        if template == _PAGE:
            own = f'<head><link rel="icon" href="{ICON}">{{% raw %}}{preload()}{{% endraw %}}'
            source = _MANIFEST.sub("", source).replace("<head>", own, 1)
        return source, path, is_fresh


def use_own_page(templates: Jinja2Templates) -> None:
    """From now on ``templates``, which are Gradio's, have that page."""
    loader = templates.env.loader
    assert loader is not None
    if not isinstance(loader, OwnPage):
        templates.env.loader = OwnPage(loader)
        if templates.env.cache is not None:
            templates.env.cache.clear()
