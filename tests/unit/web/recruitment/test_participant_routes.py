"""The way of participants without accounts: link, consent, screening, seat, work, end. Every kind of study."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from annotation.kinds.table import KINDS
from annotation.records import Decision
from annotation.recruitment.settings import settings_from
from tests.fakes.studies import flagged, make_preference_study, make_study, rated, solved, valid

AGE = {"key": "age", "text": "How old are you?", "answers": ["under 18", "18 or older"], "accepts": ["18 or older"]}
DONE = {"code": "DONE-1", "url": "https://app.prolific.com/submissions/complete?cc={code}"}
OLDER = {"agree": "yes", "q.age": "18 or older"}


@pytest.fixture
def study(store, tmp_path):
    return make_study(store, tmp_path, name="CIReVL against SEARLE", items=4, seats=2)


def invite(services, study, **settings):
    door = services.recruitment.save(study, settings_from({"open": True, "title": "Pictures", **settings}))
    return f"/take/{door.link.token}"


def begin(client, link, who="p1", fields=OLDER):
    client.get(f"{link}?PROLIFIC_PID={who}")
    return client.post(f"{link}?PROLIFIC_PID={who}", data=fields)


def work(client, link):
    """Answers everything; returns the items."""
    found = []
    while (desk := client.get(f"{link}/study/at").json())["item"]:
        found.append(desk["item"]["id"])
        sent = client.post(f"{link}/study/save", json={
            "study": "whatever", "item": desk["item"]["id"], "answer": valid(), "token": f"token-{desk['item']['id']}"})
        assert sent.status_code == 200, sent.text
    return found


def people(services, study):
    return {one.participant_id: one for one in services.recruitment.store.participants(study.study_id)}


def test_from_the_link_to_the_code(browser, services, study):
    link = invite(services, study, consent="I agree to this.", questions=[AGE], complete=DONE)
    client = browser()
    shown = client.get(f"{link}?PROLIFIC_PID=5f3a&STUDY_ID=s&SESSION_ID=x")
    assert shown.status_code == 200 and "I agree to this." in shown.text and "How old are you?" in shown.text
    refused = client.post(f"{link}?PROLIFIC_PID=5f3a", data={"q.age": "18 or older"})
    assert refused.status_code == 422 and "Tick that you agree" in refused.text
    assert client.post(f"{link}?PROLIFIC_PID=5f3a", data={"agree": "yes"}).status_code == 422
    inside = client.post(f"{link}?PROLIFIC_PID=5f3a", data=OLDER)
    assert inside.url.path == f"{link}/work" and "js/take/main.js" in inside.text
    assert client.post(f"{link}/finish").status_code == 409          # nothing is answered yet
    assert len(work(client, link)) == 2
    end = client.post(f"{link}/finish")
    assert "DONE-1" in end.text and 'href="https://app.prolific.com/submissions/complete?cc=DONE-1"' in end.text
    # Who goes back after finishing sees the same page, by link, by address, and on another device.
    for again in (client.get(f"{link}?PROLIFIC_PID=5f3a"), client.get(f"{link}/work"), client.post(f"{link}/finish"),
                  browser().get(f"{link}?PROLIFIC_PID=5f3a")):
        assert again.status_code == 200 and "DONE-1" in again.text
    known = people(services, study)["5f3a"]
    assert (known.state, known.consent, dict(known.site)) == ("finished", "I agree to this.", {
        "STUDY_ID": "s", "SESSION_ID": "x"})
    consent, finish = services.study_store.events(study.study_id)
    assert (consent.kind, consent.payload, finish.kind, finish.payload) == (
        "consent", {"text": "I agree to this."}, "finish", {"code": "DONE-1"})


def test_a_participant_gets_first_what_earlier_judges_differ_on(browser, services, store, tmp_path):
    study = make_study(store, tmp_path, items=6, seats=3, overlap=3, order="disputed")
    disputed = store.items(study.study_id)[3].item_id
    for who in ("Ada", "Bea"):
        services.studies.join(study.name, who)
        for place in services.studies.overview(study.name, who):
            differs = who == "Ada" and place.item_id == disputed
            services.studies.save(study.name, who, place.item_id, flagged("QUERY_TOO_BROAD") if differs else valid(),
                                  f"token-{place.item_id}")
    client, link = browser(), invite(services, study)
    begin(client, link)
    assert work(client, link)[0] == disputed


def test_one_seat_for_an_id_on_two_devices(browser, services, study):
    link = invite(services, study)
    phone, desk = browser(), browser()
    begin(phone, link)
    first = phone.get(f"{link}/study/at").json()["item"]["id"]
    phone.post(f"{link}/study/save", json={"study": "x", "item": first, "answer": valid(), "token": "token-000"})
    back = desk.get(f"{link}?PROLIFIC_PID=p1")
    assert back.url.path == f"{link}/work"       # no consent again, and where they left
    at = desk.get(f"{link}/study/at").json()
    assert at["progress"]["done"] == 1 and at["item"]["id"] != first
    assert [seat.annotator is not None for seat in services.study_store.seats(study.study_id)] == [True, False]


def test_the_same_id_at_the_same_moment(browser, services, study):
    """The store's unique constraint decides, as between processes."""
    link = invite(services, study)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: begin(browser(), link), range(4)))
    assert {answer.url.path for answer in answers} == {f"{link}/work"}
    assert sum(seat.annotator is not None for seat in services.study_store.seats(study.study_id)) == 1


@pytest.mark.parametrize(("query", "says"), [
    ("", "Your participant id"), ("?utm=x", "Your participant id"), ("?PROLIFIC_PID=", "no participant id"),
    ("?PROLIFIC_PID=%20", "no participant id"), ("?PROLIFIC_PID=a%00b", "without spaces"),
    ("?PROLIFIC_PID=a%0Ab", "without spaces"), ("?PROLIFIC_PID=a&PROLIFIC_PID=b", "2 different ids"),
    (f"?PROLIFIC_PID={'a' * 5000}", "5,000 characters"), ("?PROLIFIC_PID={{%25PROLIFIC_PID%25}}", "did not fill it in"),
    ("?workerId=A&assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE", "preview"),
    ("?PROLIFIC_PID=%3Cscript%3Ealert(1)%3C/script%3E", "without spaces"),
])
def test_a_strange_id_gets_a_sentence_and_a_field(browser, services, study, query, says):
    link = invite(services, study)
    shown = browser().get(link + query)
    assert says in shown.text and "<script>" not in shown.text and 'name="participantId"' in shown.text
    assert not people(services, study)


def test_a_link_that_leads_nowhere(browser, services, study):
    link = invite(services, study)
    for path in ("/take/nothing-here", "/take/x", f"{link}x", "/take/%F0%9F%98%80" * 3):
        assert browser().get(f"{path}?PROLIFIC_PID=p").status_code == 404
    services.recruitment.save(study, settings_from({"open": True}), new_link=True)
    assert browser().get(f"{link}?PROLIFIC_PID=p").status_code == 404


def test_a_paused_and_a_closed_study(browser, services, store, study):
    link = invite(services, study, complete=DONE)
    client = browser()
    begin(client, link)
    invite(services, study, open=False, complete=DONE)
    shown = browser().get(f"{link}?PROLIFIC_PID=p2")
    assert shown.status_code == 409 and "not accept new participants" in shown.text and "CIReVL" not in shown.text
    assert len(work(client, link)) == 2           # who has begun goes on
    store.set_accepting(study.study_id, False)
    assert "DONE-1" in client.post(f"{link}/finish").text
    assert browser().get(f"{link}?PROLIFIC_PID=p2").status_code == 409


def test_screened_out_and_over_quota_have_ends_of_their_own(browser, services, study):
    link = invite(services, study, questions=[AGE], people=1,
                  screened_out={"text": "Not for you.", "code": "OUT", "url": "https://x.org/out?p={id}"},
                  over_quota={"code": "FULL", "url": "https://x.org/full"})
    young = begin(browser(), link, "p1", {"q.age": "under 18"})
    assert "Not for you." in young.text and "OUT" in young.text and "https://x.org/out?p=p1" in young.text
    changed = begin(browser(), link, "p1", OLDER)      # answering again changes nothing
    assert "Not for you." in changed.text
    assert begin(browser(), link, "p2").url.path == f"{link}/work"
    late = begin(browser(), link, "p3")
    assert "no place left" in late.text and "FULL" in late.text and "https://x.org/full" in late.text
    assert {one: who.state for one, who in people(services, study).items()} == {
        "p1": "screened-out", "p2": "in", "p3": "over-quota"}


def test_a_seat_is_free_again_after_the_time_limit(browser, services, study):
    link = invite(services, study, minutes=30, complete=DONE, over_quota={"code": "FULL"})
    here, away = browser(), browser()
    begin(here, link, "p1")
    begin(away, link, "p2")
    one = away.get(f"{link}/study/at").json()["item"]["id"]
    away.post(f"{link}/study/save", json={"study": "", "item": one, "answer": valid(), "token": "token-away"})
    now = services.recruitment._clock()
    services.recruitment._clock = lambda: now + timedelta(minutes=20)
    assert "no place left" in begin(browser(), link, "p3").text
    here.get(f"{link}/study/at")
    later = now + timedelta(minutes=31)
    services.recruitment._clock = services.studies._clock = lambda: later
    third = browser()
    services.study_store.workspace(study.study_id, people(services, study)["p1"].annotator, at=later)   # still at it
    assert begin(third, link, "p4").url.path == f"{link}/work"
    assert {one: who.state for one, who in people(services, study).items()} == {
        "p1": "in", "p2": "expired", "p3": "over-quota", "p4": "in"}
    assert len(work(third, link)) == 1 and len(work(here, link)) == 2
    # The answer of who was away is kept, and the place is gone.
    back = away.get(f"{link}?PROLIFIC_PID=p2")
    assert "away for too long" in back.text and "FULL" in back.text
    assert people(services, study)["p2"].code == "FULL"       # as shown: who pays is asked about it
    assert len(services.study_store.judgements(study.study_id)) == 4


def test_who_comes_back_in_time_goes_on(browser, services, study):
    link = invite(services, study, minutes=30, people=3)
    first, second = browser(), browser()
    begin(first, link, "p1")                        # takes a seat, answers nothing
    later = services.recruitment._clock() + timedelta(minutes=31)
    services.recruitment._clock = services.studies._clock = lambda: later
    begin(second, link, "p2")                       # p1 expires; its seat is the lowest free one
    assert people(services, study)["p1"].state == "expired"
    assert first.get(f"{link}?PROLIFIC_PID=p1").url.path == f"{link}/work"
    assert len(work(first, link)) == 2 and len(work(second, link)) == 2
    assert [event.kind for event in services.study_store.events(study.study_id)] == []
    counts = services.study_store.counts(study.study_id)
    assert (counts["done"], counts["assignments"]) == (4, 4)


def rate(client, link, most=99):
    """Answers at most so many questions of a preference study, gates too, until there is none; what is there then."""
    for turn in range(60):
        desk = client.get(f"{link}/study/at").json()
        if desk["gate"] and desk["gate"]["kind"] != "finished":
            sent = client.post(f"{link}/study/gate", json={
                "study": "", "token": f"gate-token-{turn}", **solved(desk["gate"])})
        elif desk["item"] and most:
            most -= 1
            sent = client.post(f"{link}/study/save", json={
                "study": "", "item": desk["item"]["id"], "answer": rated(), "token": f"save-{desk['item']['id']}"})
        else:
            return desk
        assert sent.status_code == 200, sent.text


def test_a_preference_study_ends_with_the_same_page(browser, services, store, tmp_path):
    study = make_preference_study(store, tmp_path, questions=4, per_person=4, shared_by=2)
    link = invite(services, study, complete={"code": "P1"})
    client = browser()
    begin(client, link)
    assert rate(client, link)["gate"]["kind"] == "finished"
    assert "P1" in client.post(f"{link}/finish").text


@pytest.mark.parametrize("how", ["away", "released", "with gold"])
def test_who_comes_back_to_work_that_others_have_got(browser, services, store, ada, tmp_path, how):
    """A survey has no code for fewer questions than planned: it ends, or goes on with other people's, and never with a
    page on which nothing can be done."""
    study = make_preference_study(store, tmp_path, questions=16, per_person=4, forms=1, settings={"check": "none"})
    if how == "with gold":
        last = next(one.item_id for one in store.assignments(study.study_id) if one.seat == 3)
        item = next(one for one in store.items(study.study_id) if one.item_id == last)
        right = KINDS["preference"].answers.normalize(rated(), item, study, extra={"first": 1}).answer
        store.decide(Decision("d1", study.study_id, last, "Judith", 0, "decided-1", right, "", datetime.now(UTC)))
        assert ada.post("/studies/gold", json={"study": study.name}).status_code == 200
    link = invite(services, study, minutes=30, people=9, over_quota={"code": "FULL"})
    slow = browser()
    begin(slow, link, "p1")
    before = rate(slow, link, 1)["progress"]
    if how == "released":
        store.release(study.study_id, people(services, study)["p1"].annotator)
    later = services.recruitment._clock() + timedelta(minutes=1 if how == "released" else 31)
    services.recruitment._clock = services.studies._clock = lambda: later
    clients = {f"p{number}": browser() for number in range(2, 6)}
    for who, client in clients.items():    # three free seats, and then what was released
        begin(client, link, who)
    for who in ("p2", "p3"):
        rate(clients[who], link)
        assert re.search("<code>[0-9A-F]{8}<", clients[who].post(f"{link}/finish").text)
    assert rate(clients["p5"], link, 0)["progress"]["total"] == before["total"] - 1
    shown = slow.post(f"{link}/finish") if how == "released" else slow.get(f"{link}?PROLIFIC_PID=p1")
    assert "away for too long" in shown.text and "FULL" in shown.text
    assert (people(services, study)["p1"].state, people(services, study)["p1"].code) == ("expired", "FULL")
    # Once p4 has left, there is work again, and a code at its end.
    much_later = later + timedelta(minutes=31)
    services.recruitment._clock = services.studies._clock = lambda: much_later
    assert slow.get(f"{link}?PROLIFIC_PID=p1").url.path == f"{link}/work"
    rate(slow, link)
    assert re.search("<code>[0-9A-F]{8}<", slow.post(f"{link}/finish").text)
    assert people(services, study)["p1"].state == "finished"


def test_without_a_fixed_code_everybody_has_their_own(browser, services, study):
    link = invite(services, study)
    codes = []
    for who in ("p1", "p2"):
        client = browser()
        begin(client, link, who)
        work(client, link)
        codes.append(re.search(r"<code>(\w+)</code>", client.post(f"{link}/finish").text)[1])
        assert re.search(r"<code>(\w+)</code>", client.get(link).text)[1] == codes[-1]
    assert codes[0] != codes[1] and all(len(code) == 8 for code in codes)


@pytest.mark.parametrize("kind", ["validity", "preference"])
def test_below_the_mark_the_study_ends_with_a_code_of_its_own(browser, services, store, ada, tmp_path, kind):
    study, right, wrong = (
        (make_study(store, tmp_path, items=16, seats=2), valid(), flagged("QUERY_TOO_BROAD")) if kind == "validity" else
        (make_preference_study(store, tmp_path, questions=16, per_person=8, forms=1, settings={"check": "none"}),
         rated(4, 4, "A"), rated(4, 4, "B")))
    gold = next(one.item_id for one in store.assignments(study.study_id) if one.seat == 2)
    item = next(one for one in store.items(study.study_id) if one.item_id == gold)
    decided = KINDS[study.kind].answers.normalize(right, item, study, extra={"first": 1}).answer
    store.decide(Decision("d1", study.study_id, gold, "Judith", 0, "decided-1", decided, "", datetime.now(UTC)))
    made = ada.post("/studies/gold", json={"study": study.name, "care": {"mark": 0.9, "least": 1, "below": "end"}})
    assert made.status_code == 200, made.text
    link = invite(services, study, people=1, complete={"code": "DONE"},
                  below_mark={"code": "BELOW", "url": "https://x.org/below?p={id}"})
    client = browser()
    begin(client, link)
    first_of = {one.item_id: one.extra.get("first", 1)
                for one in store.overview(study.study_id, people(services, study)["p1"].annotator)}
    for turn in range(30):
        desk = client.get(f"{link}/study/at").json()
        if desk.get("gate") and desk["gate"]["kind"] != "finished":
            client.post(f"{link}/study/gate", json={"study": "", "token": f"gate-{turn:04}", **solved(desk["gate"])})
        elif desk["item"]:
            client.post(f"{link}/study/save", json={
                "study": "", "item": desk["item"]["id"], "token": f"save-{turn:04}",
                "answer": wrong if first_of[desk["item"]["id"]] == 1 else right})
        else:
            break
    assert desk["progress"]["done"] == desk["progress"]["total"] and (desk.get("gate") or {}).get("code") is None
    assert begin(browser(), link, "p2").url.path == link             # its place is taken until the end is confirmed
    for end in (client.post(f"{link}/finish"), client.get(f"{link}?PROLIFIC_PID=p1")):
        assert "BELOW" in end.text and "DONE" not in end.text and 'href="https://x.org/below?p=p1"' in end.text
    assert people(services, study)["p1"].state == "ended"
    assert begin(browser(), link, "p3").url.path == f"{link}/work"   # somebody else takes it


# --- what participants may not -----------------------------------------------------------------------

def test_a_participants_cookie_opens_nothing_else(browser, services, store, study, tmp_path):
    other = make_study(store, tmp_path, name="Another", items=2, seats=1)
    link, elsewhere = invite(services, study), invite(services, other)
    client = browser()
    begin(client, link)
    (cookie,) = client.cookies.jar
    assert cookie.path == link
    for path in ("/study/mine", "/studies/all", "/me", "/study/at?study=Another",
                 f"/studies/recruitment?study={study.name}"):
        assert client.get(path).status_code == 401, path
    assert client.get(f"{link}/study/mine").status_code == 404
    # Sent by hand, it is still nobody elsewhere: neither signed in, nor in another study.
    forced = {"cookie": f"cirque={cookie.value}; cirque-participant={cookie.value}"}
    assert browser().get("/study/mine", headers=forced).status_code == 401
    assert browser().get(f"{elsewhere}/study/at", headers=forced).status_code == 403
    for forged in (cookie.value[:-1], cookie.value.partition(".")[0] + ".", "", "é", "a.b.c"):
        assert browser().get(f"{link}/study/at", headers={
            "cookie": f"cirque-participant={forged}".encode("latin-1")}).status_code == 403
    # Whatever study a call names, it is the link's.
    assert client.get(f"{link}/study/at?study=Another").json()["study"]["id"] == study.study_id
    item = store.items(other.study_id)[0]
    sent = client.post(f"{link}/study/save", json={
        "study": other.study_id, "item": item.item_id, "answer": valid(), "token": "token-other"})
    assert sent.status_code == 404 and not store.judgements(other.study_id)
    (image, *_) = (one for one in store.images(other.study_id).values() if one.width)
    assert client.get(f"{link}/study/image/{other.study_id}/{image.token}-s.webp").status_code == 404


def test_a_participants_calls_must_say_that_they_are_json(browser, services, study):
    """So a form of another site cannot send them."""
    link = invite(services, study)
    client = browser()
    begin(client, link)
    for call in ("save", "gate", "draft"):
        refused = client.post(f"{link}/study/{call}", content=b'{"study": "x"}', headers={"Content-Type": "text/plain"})
        assert refused.status_code == 400 and "application/json" in refused.json()["problem"], call


def test_nothing_hidden_reaches_a_participant(browser, services, store, tmp_path):
    """Everything that a browser receives on the whole way, of two studies: the name, hidden fields, the other study."""
    secrets = {"hidden_category": "SECRETCATEGORY", "query_id": "SECRETQUERY", "dataset": "SECRETDATA"}
    study = make_study(store, tmp_path, name="CIReVL against SEARLE", items=2, seats=1, hidden=secrets)
    make_study(store, tmp_path, name="OTHERSTUDY", items=2, seats=1)
    link = invite(services, study, questions=[AGE], consent="I agree.", complete=DONE, screened_out={"code": "OUT"},
                  over_quota={"code": "FULL"}, quotas=[{"where": {"age": "18 or older"}, "most": 77}])
    client, heard = browser(), []
    client.event_hooks["response"] = [lambda answer: heard.append(
        answer.read().decode("utf-8", "replace") + json.dumps(dict(answer.headers)))]
    begin(client, link, "PID-OF-THIS-PERSON")
    for path in ("me", "study/at", "study/rubric", "study/overview", "study/at?item=nothing", "study/at?position=0"):
        client.get(f"{link}/{path}")
    client.post(f"{link}/study/save", json={"study": "x", "item": "y", "answer": {}, "token": "bad"})
    work(client, link)
    client.post(f"{link}/finish")
    everything = "\n".join(heard)
    for secret in (*secrets.values(), "CIReVL", "OTHERSTUDY", "OUT", "FULL", "accepts", '"most"',
                   services.recruitment.store.recruitment(study.study_id).secret,
                   *(image.image_id for image in store.images(study.study_id).values())):
        assert secret not in everything, secret
    assert "DONE-1" in everything


def test_an_account_does_not_become_a_participant_by_looking(browser, services, study, ada):
    """The sign-in and the participant are two people in one browser."""
    link = invite(services, study)
    begin(ada, link)
    assert ada.get("/me").json()["name"] == "Ada"
    assert ada.get(f"{link}/me").json()["name"].startswith("P-")


# --- for who runs the study --------------------------------------------------------------------------

def test_settings_payment_and_files(browser, services, study, ada):
    nothing = ada.get(f"/studies/recruitment?study={study.study_id}").json()
    assert (nothing["path"], nothing["participants"], nothing["planned"]) == ("", [], 2)
    bad = ada.post("/studies/recruit", json={"study": study.name, "settings": {"complete": {"url": "prolific"}}})
    assert bad.status_code == 400 and "is not a redirect address" in bad.json()["problem"]
    made = ada.post("/studies/recruit", json={"study": study.name, "settings": {"open": True, "complete": DONE}}).json()
    link = "/" + made["path"]
    again = ada.post("/studies/recruit", json={"study": study.name, "settings": made["settings"]}).json()
    assert again["path"] == made["path"]
    for who in ("p1", "p2"):
        client = browser()
        begin(client, link, who)
        work(client, link)
        client.post(f"{link}/finish")
    refused = ada.post("/studies/pay", json={
        "study": study.name, "participants": ["p1", "nobody"], "payment": "approved"})
    assert refused.status_code == 400 and people(services, study)["p1"].payment == "open"     # all or none
    ada.post("/studies/pay", json={"study": study.name, "participants": ["p1"], "payment": "approved"})
    paid = ada.post("/studies/pay", json={
        "study": study.name, "participants": ["p2"], "payment": "rejected", "reason": "Always the same answer."}).json()
    assert [(one["id"], one["payment"], one["reason"], one["done"], one["total"]) for one in paid["participants"]] == [
        ("p1", "approved", "", 2, 2), ("p2", "rejected", "Always the same answer.", 2, 2)]
    assert ada.get(f"/studies/participants?study={study.study_id}&form=ids").content == b"p1\n"
    assert "Always the same answer." in ada.get(f"/studies/participants?study={study.study_id}&form=table").text


def test_only_who_manages_studies_sees_ids(browser, services, study, ada):
    services.people.add("Ben", "long enough", "annotator")
    services.people.add("Cleo", "long enough", "analyst")
    for name in ("Ben", "Cleo"):
        client = browser()
        client.post("/sign-in", json={"name": name, "password": "long enough"})
        for path in ("recruitment", "participants"):
            assert client.get(f"/studies/{path}?study={study.study_id}").status_code == 403


def test_a_test_run_leaves_nothing_behind(browser, services, store, study, ada, tmp_path):
    link = invite(services, study, questions=[AGE], consent="I agree.",
                  quotas=[{"where": {"age": "18 or older"}, "most": 0}])
    before = (store.studies(), store.counts(study.study_id), sorted((tmp_path / "studies").iterdir()))
    path = "/" + ada.post("/studies/test", json={"study": study.name}).json()["path"]
    assert path != link and store.studies() == before[0]           # in no list
    client = browser()
    begin(client, path, "me")
    assert len(work(client, path)) == 2
    picture = client.get(f"{path}/study/at?position=0").json()["item"]["reference"]["small"]
    assert client.get(f"{path}/{picture}").status_code == 200
    end = client.post(f"{path}/finish")
    assert "test run" in end.text
    assert (store.studies(), store.counts(study.study_id), sorted((tmp_path / "studies").iterdir())) == before
    assert not people(services, study) and client.get(path).status_code == 404
    # One that was begun and left is replaced, or ended.
    first = ada.post("/studies/test", json={"study": study.name}).json()["path"]
    second = ada.post("/studies/test", json={"study": study.name}).json()["path"]
    assert first != second and browser().get(f"/{first}").status_code == 404
    assert ada.post("/studies/test-end", json={"study": study.name}).json() == {"ended": True}
    assert ada.post("/studies/test-end", json={"study": study.name}).json() == {"ended": False}
    assert sorted((tmp_path / "studies").iterdir()) == before[2]


def test_a_study_that_is_given_to_some_accounts(browser, services, store, study, tmp_path):
    make_study(store, tmp_path, name="For all", items=2, seats=1)
    clients = {}
    for name in ("Ben", "Cleo"):
        services.people.add(name, "long enough", "annotator")
        clients[name] = browser()
        clients[name].post("/sign-in", json={"name": name, "password": "long enough"})

    def listed(name):
        return {one["name"] for one in clients[name].get("/study/mine").json()["studies"]}

    assert listed("Ben") == listed("Cleo") == {study.name, "For all"}      # as before: everybody
    link = invite(services, study, accounts=["ben"])
    assert (listed("Ben"), listed("Cleo")) == ({study.name, "For all"}, {"For all"})
    asked = clients["Cleo"].get("/study/at", params={"study": study.name})
    taken = clients["Cleo"].post("/study/join", json={"study": study.name})
    assert asked.status_code == taken.status_code == 404 and study.name not in asked.text + taken.text
    assert clients["Ben"].post("/study/join", json={"study": study.name}).json()["joined"]
    invite(services, study, accounts=[])
    assert study.name in listed("Ben")                      # whoever has begun goes on
    assert begin(clients["Cleo"], link).url.path == f"{link}/work"     # by the link, everybody


def test_a_removed_study_takes_its_participants_along(browser, services, store, study):
    link = invite(services, study)
    begin(browser(), link)
    store.remove(study.study_id)
    assert browser().get(f"{link}?PROLIFIC_PID=p1").status_code == 404
    assert replace(study) not in store.studies()
