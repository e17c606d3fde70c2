"""Two processes on one database behind nginx: whichever a request lands on, nothing is lost."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest

from cir_core.settings import Settings
from storage.stores import open_stores
from tests.fakes.databases import settings_of
from tests.fakes.patience import PATIENCE, wait_for
from tests.fakes.studies import make_study
from tests.integration.crowd import PASSWORD, add_people, an_answer
from tests.integration.processes import App
from tests.integration.proxies import ACCESS_LOG, HOST, as_documented, in_turn, sent_again

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nginx")
STUDY, ITEMS = "Two processes", 24


@dataclass(frozen=True)
class Site:
    url: str
    apps: tuple[App, App]
    settings: Settings

    @property
    def addresses(self) -> tuple[str, str]:
        one, other = (app.url.removeprefix("http://") for app in self.apps)
        return one, other


@contextmanager
def two_processes(folder: Path, plain: int = 1) -> Iterator[Site]:
    """``plain`` of them with nothing in common with the other, hashes' seeds neither: not forked from the same."""
    settings = settings_of(folder)
    stores = open_stores(settings)
    add_people(stores, ["Judge"])
    make_study(stores.studies, folder, name=STUDY, items=ITEMS, seats=1, panel=4, edge=16)
    stores.close()
    shared = {"TRUSTED_PROXIES": "127.0.0.1", "LOG": "json", "LOG_LEVEL": "info", "METRICS": "1",
              "METRICS_TOKEN": "count them"}
    one, other = (App(folder, folder / f"app-{number}.log", plainly=number <= plain, **shared) for number in (1, 2))
    site = Site("", (one, other), settings)
    try:
        with in_turn(folder, site.addresses) as url:
            yield replace(site, url=url)
    finally:
        one.end()
        other.end()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with two_processes(tmp_path_factory.mktemp("two")) as running:
        yield running


@dataclass(frozen=True)
class Judged:
    """What was acknowledged, by token, and where each request landed."""

    acknowledged: Mapping[str, tuple[str, object]]
    landed: Sequence[str]


@pytest.fixture(scope="module")
def judged(site: Site) -> Judged:
    """A person has judged a whole study, each request of theirs on another process than the one before."""
    landed = []
    acknowledged: dict[str, tuple[str, object]] = {}
    with httpx.Client(base_url=site.url, timeout=PATIENCE) as person:
        def call(method: str, path: str, **sent: object) -> httpx.Response:
            answer = person.request(method, path, **sent)  # type: ignore[arg-type]
            landed.append(answer.headers["x-landed-on"])
            assert answer.headers["x-request-id"] == answer.headers["x-request-id-sent"], "nginx is trusted"
            return answer.raise_for_status()

        call("POST", "/sign-in", json={"name": "Judge", "password": PASSWORD})
        workspace = call("POST", "/study/join", json={"study": STUDY}).json()
        while (item := workspace["item"]) is not None:
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
            workspace = saved["desk"]
        assert call("GET", "/study/overview", params={"study": STUDY}).status_code == 200
        call("POST", "/sign-out", json={})
    return Judged(acknowledged, landed)


def test_a_person_judges_and_lands_on_either(site: Site, judged: Judged) -> None:
    assert len(judged.acknowledged) == ITEMS
    assert all(judged.landed.count(where) > len(judged.landed) / 3 for where in site.addresses)
    stores = open_stores(site.settings)
    study = stores.studies.study(STUDY)
    stored = stores.studies.judgements(study.study_id, history=True)
    stores.close()
    assert {it.token: (it.item_id, dict(it.answer)) for it in stored} == judged.acknowledged
    assert len(stored) == ITEMS and {(it.revision, it.annotator) for it in stored} == {(1, "Judge")}
    assert all("Traceback" not in app.said for app in site.apps)


def test_each_has_its_own_numbers(site: Site, judged: Judged) -> None:
    def saved(app: App) -> int:
        headers = {"Authorization": "Bearer count them"}
        found = re.search(r'cirque_judgements_saved_total\{protocol="circus/1"\} (\d+)',
                          httpx.get(f"{app.url}/metrics", headers=headers, timeout=PATIENCE).text)
        return int(found[1]) if found else 0

    numbers = [saved(app) for app in site.apps]
    assert sum(numbers) == len(judged.acknowledged) and min(numbers) > 0


def test_both_count_wrong_passwords_together(site: Site) -> None:
    """Five are free, not five at each; and each visitor counts, not the proxy."""
    def enter(password: str, address: str) -> int:
        return httpx.post(f"{site.url}/sign-in", json={"name": "Ada Min", "password": password},
                          headers={"X-Forwarded-For": address}, timeout=PATIENCE).status_code

    # nginx appends 127.0.0.1, which is trusted; so what stands before it is whose request it is.
    assert [enter("wrong horse", "203.0.113.7") for _ in range(6)] == [401] * 5 + [429]
    assert enter("wrong horse", "203.0.113.8") == 401


@pytest.fixture
def documented(site: Site, tmp_path: Path) -> Iterator[str]:
    with as_documented(tmp_path, *site.addresses) as url:
        yield url


def test_what_the_files_of_the_docs_send_again_needs_a_token(site: Site) -> None:
    with httpx.Client(base_url=site.url, timeout=PATIENCE) as admin:
        admin.post("/sign-in", json={"name": "Ada Min", "password": PASSWORD}).raise_for_status()
        assert "/study/save" in sent_again()
        for path in sent_again():
            refused = admin.post(path, json={})
            problem = refused.json()["problem"]
            assert refused.status_code == 400 and problem.startswith("Missing in this call: "), path
            assert "token" in problem, path


def test_the_files_of_the_docs_keep_a_browser_with_one_process_and_its_cookie_on_https(documented: str) -> None:
    landed = set()
    for _ in range(20):   # all on one side by chance: one of half a million runs
        if len(landed) == 2:
            break
        with httpx.Client(base_url=documented, verify=False, headers={"Host": HOST}, timeout=PATIENCE) as person:
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


def test_the_files_of_the_docs_log_no_secret_and_pass_on_no_host_of_a_visitor(
    documented: str, tmp_path: Path,
) -> None:
    with httpx.Client(base_url=documented, verify=False, headers={"Host": HOST}, timeout=PATIENCE) as person:
        entered = person.post("/sign-in?next=/s3cr3t", json={"name": "Judge", "password": PASSWORD})
        person.headers["Cookie"] = entered.headers["set-cookie"].partition(";")[0]
        person.post("/runs/s3cr3t/stop")
        for path in ("/?session=s3cr3t", "/join/s3cr3t", "/gradio_api/queue/data?session_hash=s3cr3t",
                     "/gradio_api/call/search/s3cr3t", "/gradio_api/call/v2/search/s3cr3t", "/study/mine"):
            person.get(path, headers={"Referer": f"https://{HOST}/?session=s3cr3t"})
        config = person.get("/config", headers={"X-Forwarded-Host": "evil.example"})
        assert config.json()["root"] == f"https://{HOST}"
    lines = (tmp_path / ACCESS_LOG).read_text().splitlines()
    assert [line.split('"')[1] for line in lines] == [
        "POST /sign-in HTTP/1.1", "POST /runs/... HTTP/1.1", "GET / HTTP/1.1", "GET /gradio_api/queue/data HTTP/1.1",
        "GET /gradio_api/call/... HTTP/1.1", "GET /gradio_api/call/... HTTP/1.1", "GET /study/mine HTTP/1.1",
        "GET /config HTTP/1.1"]
    assert "s3cr3t" not in "".join(lines)


@pytest.mark.extended
def test_one_is_stopped_and_the_other_answers(tmp_path: Path) -> None:
    """Behind nginx as it is documented: pages and saves of everybody, whichever process they stay with."""
    with two_processes(tmp_path, 0) as site, ExitStack() as open_things:
        (tmp_path / "documented").mkdir()
        url = open_things.enter_context(as_documented(tmp_path / "documented", *site.addresses))
        people = [open_things.enter_context(httpx.Client(
            base_url=url, verify=False, headers={"Host": HOST, "Cookie": f"__Host-cirque=nobody-{number}"},
            timeout=PATIENCE))
            for number in range(16)]
        landed = {person.get("/sign-in").headers["x-landed-on"] for person in people}
        assert landed == set(site.addresses)
        first, other = site.apps
        first.terminate()

        def all_are_answered() -> None:
            for person in people:
                assert person.get("/sign-in").status_code == 200
                assert person.post("/study/save", json={}).status_code == 401   # of nobody, and not 502 or 503

        wait_for(lambda: all_are_answered() or first.process.poll() is not None, pause=0)
        assert first.process.returncode == 0
        assert {person.get("/readyz").headers["x-landed-on"].split(", ")[-1] for person in people} == {
            other.url.removeprefix("http://")}
        assert {person.get("/readyz").status_code for person in people} == {200}
