"""The page that Gradio serves, before any script runs: what it has browsers ask for is relative to the page."""

from __future__ import annotations

import gzip
import re
from importlib.resources import files

import pytest
from fastapi import FastAPI
from gradio.routes import templates
from jinja2 import DictLoader
from starlette.templating import Jinja2Templates
from starlette.testclient import TestClient

from web.ui import static_files
from web.ui.gradio_page import use_own_page
from web.ui.static_files import ASSETS, ICON, asset_url, modules_of, own_routes, own_version


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


def test_a_screens_scripts_are_named_before_one_imports_the_other() -> None:
    search, annotate = modules_of("js/search/main.js"), modules_of("js/annotate/main.js")
    assert search[0] == "js/search/main.js" and len(set(search)) == len(search)
    assert {"js/search/results/marks.js", "js/shared/rest.js"} <= set(search), "also what an imported one imports"
    assert "js/annotate/survey/main.js" not in annotate, "imported when it is needed"
    for path in search:
        for name in re.findall(r'from "([^"]+)";', (ASSETS / path).read_text("utf-8")):
            assert (ASSETS / path).parent.joinpath(name).resolve().relative_to(ASSETS).as_posix() in search
    use_own_page(templates)
    assert templates.env.loader is not None
    page = templates.env.loader.get_source(templates.env, "frontend/index.html")[0]
    assert all(f'"{path}"' in page for path in (*search, *annotate))


# --- plotly's own script, beside cirque's own ------------------------------------------------

@pytest.fixture
def client() -> TestClient:
    app = FastAPI()
    app.include_router(own_routes())
    return TestClient(app)


def test_it_is_the_package_s_own_to_the_byte(client: TestClient) -> None:
    content = files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()
    packed = client.get(asset_url("plotly.js"), headers={"Accept-Encoding": "gzip, deflate, br"})
    plain = client.get(asset_url("plotly.js"), headers={"Accept-Encoding": "identity"})
    assert packed.content == plain.content == content
    assert packed.headers["content-encoding"] == "gzip" and "content-encoding" not in plain.headers
    assert int(packed.headers["content-length"]) < len(content) / 2
    for answer in (packed, plain):
        assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["vary"] == "Accept-Encoding" and answer.headers["x-content-type-options"] == "nosniff"


def test_under_an_old_version_it_is_not_kept(client: TestClient) -> None:
    assert client.get("own/0.0-old/plotly.js").headers["cache-control"] == "no-cache"
    assert client.get(f"own/{own_version()}/plotly.min.js").status_code == 404


def test_another_plotly_has_another_address(monkeypatch: pytest.MonkeyPatch) -> None:
    before = asset_url("plotly.js")
    assert before == f"own/{own_version()}/plotly.js"
    monkeypatch.setattr(static_files, "version", lambda package: "99.0")
    assert own_version.__wrapped__() != own_version()


@pytest.mark.parametrize("path", ["plotly.js", "js/search/main.js"])
@pytest.mark.parametrize(("accepted", "packed"), [
    ("gzip", True), ("br, GZIP;q=0.5", True), ("*", True), ("", False), ("br", False), ("gzip;q=0", False),
    ("gzip; q=0.0, br", False), ("xgzip", False),
])
def test_who_takes_it_compressed(client: TestClient, path: str, accepted: str, packed: bool) -> None:
    with client.stream("GET", asset_url(path), headers={"Accept-Encoding": accepted}) as answer:
        assert (answer.headers.get("content-encoding") == "gzip") is packed
        assert (next(answer.iter_raw())[:2] == gzip.compress(b"")[:2]) is packed
