"""Two processes on one database behind nginx: whichever a request lands on, nothing is lost."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from cir_core.settings import Settings
from storage.stores import open_stores
from tests.fakes.databases import settings_of
from tests.fakes.studies import make_study
from tests.integration.crowd import PASSWORD, add_people, an_answer
from tests.integration.processes import ROOT, App, free_port, nginx, wait_until_answers

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="nginx")]
STUDY, ITEMS = "Two processes", 60

# As docs/nginx.conf, with nothing sticky: requests of one person take turns.
CONF = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx-error.log warn;
events {{ worker_connections 256; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  upstream cirque {{ {servers} keepalive 16; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://cirque;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Request-ID $request_id;
      proxy_next_upstream error http_503 non_idempotent;
      add_header X-Request-ID-Sent $request_id always;
      add_header X-Landed-On $upstream_addr always;
    }}
  }}
}}
"""


@dataclass(frozen=True)
class Site:
    url: str
    apps: tuple[App, App]
    settings: Settings


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("two")
    settings = settings_of(folder)
    stores = open_stores(settings)
    add_people(stores, ["Judge"])
    make_study(stores.studies, folder, name=STUDY, items=ITEMS, seats=1, panel=4, edge=16)
    stores.close()
    shared = {"TRUSTED_PROXIES": "127.0.0.1", "LOG": "json", "LOG_LEVEL": "info", "METRICS": "1",
              "METRICS_TOKEN": "count them"}
    one, other = (App(folder, folder / f"app-{number}.log", **shared) for number in (1, 2))
    proxy = None
    try:
        port = free_port()
        servers = " ".join(f"server {app.url.removeprefix('http://')} max_fails=0;" for app in (one, other))
        (folder / "nginx.conf").write_text(CONF.format(folder=folder, port=port, servers=servers))
        with (folder / "nginx.log").open("w") as log:
            proxy = subprocess.Popen([nginx(), "-c", str(folder / "nginx.conf"), "-p", str(folder)],
                                     stdout=log, stderr=subprocess.STDOUT)
        wait_until_answers(f"http://127.0.0.1:{port}/healthz", proxy)
        yield Site(f"http://127.0.0.1:{port}", (one, other), settings)
    finally:
        if proxy is not None:
            proxy.terminate()
            proxy.wait(30)
        one.end()
        other.end()


def test_a_person_judges_and_lands_on_either(site: Site) -> None:
    landed = []
    with httpx.Client(base_url=site.url, timeout=60) as person:
        def call(method: str, path: str, **sent: object) -> httpx.Response:
            answer = person.request(method, path, **sent)  # type: ignore[arg-type]
            landed.append(answer.headers["x-landed-on"])
            assert answer.headers["x-request-id"] == answer.headers["x-request-id-sent"], "nginx is trusted"
            return answer.raise_for_status()

        call("POST", "/sign-in", json={"name": "Judge", "password": PASSWORD})
        desk = call("POST", "/study/join", json={"study": STUDY}).json()
        acknowledged = {}
        while (item := desk["item"]) is not None:
            position = item["position"]
            sent = {"study": STUDY, "item": item["id"], "answer": an_answer(position), "token": f"token-{position:04d}",
                    "seconds": 1.0, "seen_revision": 0}
            call("POST", "/study/draft", json={name: sent[name] for name in ("study", "item", "answer", "seconds")})
            if position % 2:   # or nginx's turns would send every save to the same one
                call("GET", "/" + item["reference"]["small"].lstrip("/"))
            saved = call("POST", "/study/save", json=sent).json()
            assert saved["saved"]["revision"] == 1 and saved["saved"]["repeated"] is False
            # The same press again, which lands on the other one.
            again = call("POST", "/study/save", json=sent).json()["saved"]
            assert (again["revision"], again["repeated"]) == (1, True)
            acknowledged[sent["token"]] = (item["id"], an_answer(position))
            desk = saved["desk"]
        assert call("GET", "/study/overview", params={"study": STUDY}).status_code == 200
        call("POST", "/sign-out", json={})
    assert len(acknowledged) == ITEMS
    both = {app.url.removeprefix("http://") for app in site.apps}
    assert {where: landed.count(where) for where in both if landed.count(where) > len(landed) / 3}.keys() == both
    stores = open_stores(site.settings)
    study = stores.studies.study(STUDY)
    stored = stores.studies.judgements(study.study_id, history=True)
    stores.close()
    assert {it.token: (it.item_id, dict(it.answer)) for it in stored} == acknowledged
    assert len(stored) == ITEMS and {(it.revision, it.annotator) for it in stored} == {(1, "Judge")}
    assert all("Traceback" not in app.said for app in site.apps)


def test_both_count_wrong_passwords_together(site: Site) -> None:
    """Five are free, not five at each; and each visitor counts, not the proxy."""
    def enter(password: str, address: str) -> int:
        return httpx.post(f"{site.url}/sign-in", json={"name": "Ada Min", "password": password},
                          headers={"X-Forwarded-For": address}, timeout=60).status_code

    # nginx appends 127.0.0.1, which is trusted; so what stands before it is whose request it is.
    assert [enter("wrong horse", "203.0.113.7") for _ in range(6)] == [401] * 5 + [429]
    assert enter("wrong horse", "203.0.113.8") == 401


def test_each_has_its_own_numbers(site: Site) -> None:
    def saved(app: App) -> int:
        headers = {"Authorization": "Bearer count them"}
        found = re.search(r'cirque_judgements_saved_total\{protocol="circus/1"\} (\d+)',
                          httpx.get(f"{app.url}/metrics", headers=headers).text)
        return int(found[1]) if found else 0

    numbers = [saved(app) for app in site.apps]
    assert sum(numbers) == ITEMS and min(numbers) > 0


@pytest.fixture
def as_documented(site: Site, tmp_path: Path) -> Iterator[str]:
    """The address of nginx with the files of the docs, in which only ports and places are others."""
    key, certificate, port, plain = tmp_path / "key", tmp_path / "certificate", free_port(), free_port()
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=cirque.example.org",
                    "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    proxy, conf = ((ROOT / "docs" / name).read_text("utf-8") for name in ("nginx-proxy.conf", "nginx.conf"))
    (tmp_path / "proxy").write_text(proxy + "add_header X-Landed-On $upstream_addr always;")
    for documented, here in (
        ("/etc/nginx/cirque-proxy.conf", tmp_path / "proxy"), ("/etc/ssl/certs/cirque.pem", certificate),
        ("/etc/ssl/private/cirque.key", key), ("127.0.0.1:7860", site.apps[0].url.removeprefix("http://")),
        ("127.0.0.1:7861", site.apps[1].url.removeprefix("http://")), ("listen 80;", f"listen 127.0.0.1:{plain};"),
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"), ("max_fails=1", "max_fails=0"),
    ):
        assert documented in conf, documented
        conf = conf.replace(documented, str(here))
    written = CONF.format(folder=tmp_path, port=0, servers="")
    (tmp_path / "nginx.conf").write_text(written[:written.index("upstream")] + conf + "}")
    running = subprocess.Popen([nginx(), "-c", str(tmp_path / "nginx.conf"), "-p", str(tmp_path)])
    try:
        wait_until_answers(f"http://127.0.0.1:{plain}/", running)
        yield f"https://127.0.0.1:{port}"
    finally:
        running.terminate()
        running.wait(30)


def test_the_files_of_the_docs_keep_a_browser_with_one_process_and_its_cookie_on_https(as_documented: str) -> None:
    landed = set()
    for _ in range(20):   # all on one side by chance: one of half a million runs
        if len(landed) == 2:
            break
        with httpx.Client(base_url=as_documented, verify=False, headers={"Host": "cirque.example.org"}) as person:
            entered = person.post("/sign-in", json={"name": "Judge", "password": PASSWORD})
            assert entered.status_code == 200
            cookie = entered.headers["set-cookie"]
            assert cookie.startswith("__Host-cirque=") and "; Secure" in cookie and "; HttpOnly" in cookie
            person.headers["Cookie"] = cookie.partition(";")[0]   # the host's name is not that of the address
            answers = [person.get("/study/mine") for _ in range(6)]
            assert {answer.status_code for answer in answers} == {200}
            assert len({answer.headers["x-landed-on"] for answer in answers}) == 1
            landed.add(answers[0].headers["x-landed-on"])
            assert person.get("/metrics").status_code == 404
    assert len(landed) == 2


def test_one_is_stopped_and_the_other_answers(site: Site) -> None:
    first, _ = site.apps
    first.terminate()
    until = time.monotonic() + 30
    while first.process.poll() is None:
        assert httpx.get(f"{site.url}/sign-in", timeout=60).status_code == 200
        assert time.monotonic() < until
    assert first.process.returncode == 0
    assert httpx.get(f"{site.url}/readyz", timeout=60).status_code == 200
