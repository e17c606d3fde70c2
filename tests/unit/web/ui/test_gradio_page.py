"""The page that Gradio serves, before any script runs: what it has browsers ask for is relative to the page."""

from __future__ import annotations

import re

from gradio.routes import templates
from jinja2 import DictLoader
from starlette.templating import Jinja2Templates

from web.ui.gradio_page import use_own_page
from web.ui.static_files import ICON


def test_nothing_is_asked_for_at_the_root_of_the_host() -> None:
    use_own_page(templates)
    assert templates.env.loader is not None
    page = templates.env.loader.get_source(templates.env, "frontend/index.html")[0]
    assert f'<link rel="icon" href="{ICON}">' in page
    named = re.findall(r"""(?:href|src)=["']?(/[^"'>]*)""", page)
    assert named == []


def test_it_is_done_once_and_other_templates_are_as_they_were() -> None:
    mine = Jinja2Templates(env=None, directory="/nowhere")
    mine.env.loader = DictLoader({"frontend/index.html": "<head></head>", "other": "<head>"})
    for _ in range(2):
        use_own_page(mine)
    assert mine.env.get_template("frontend/index.html").render().count("icon") == 1
    assert mine.env.get_template("other").render() == "<head>"
