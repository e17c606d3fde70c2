"""Messages of a study to a receiver that listens: what is told, repeated, refused, and listed on the page."""

from __future__ import annotations

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from annotation.recruitment.settings import settings_from
from annotation.recruitment.trial import begin_test
from annotation.recruitment.webhooks import after_attempt, secret_of
from cir_core.errors import StudyError, UnknownStudy
from storage.accounts.audit_log import SqlAuditLog
from storage.engine.database import writing
from storage.mapping import tables
from storage.studies.webhooks import SqlWebhookStore
from tests.fakes.studies import make_study
from tests.fakes.webhook_receiver import Receiver
from tests.unit.web.recruitment.test_participant_routes import AGE, OLDER, begin, work
from web.recruitment.webhooks import WebhookSender


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture
def study(store, tmp_path):
    return make_study(store, tmp_path, name="CIReVL against SEARLE", items=4, seats=2)


@pytest.fixture
def calls(services):
    return services.webhooks


@pytest.fixture
def sender(services, store, calls):
    return WebhookSender(services.recruitment, store, calls, ["127.0.0.1:*"])


def invite(services, study, address, **settings):
    door = services.recruitment.save(study, settings_from({"open": True, "webhook": address, **settings}))
    return door, f"/take/{door.link.token}"


def send(sender):
    """In a thread of its own, as in the product: a browser's test may have left an event loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(sender.send_due).result()


def retry(calls, study):
    """Make all that wait due now."""
    calls.again(study.study_id, datetime.now(UTC))


def test_begun_finished_screened_out_and_over_quota(browser, services, study, receiver, sender, calls):
    door, link = invite(services, study, receiver.address, questions=[AGE], people=1)
    client = browser()
    begin(client, link, "p1")
    begin(browser(), link, "p2", {"agree": "yes", "q.age": "under 18"})
    begin(browser(), link, "p3", OLDER)
    work(client, link)
    client.post(f"{link}/finish")
    client.post(f"{link}/finish")                      # again changes nothing, and tells nothing
    assert receiver.got == [] and calls.undelivered(study.study_id) == 4     # nobody waited for the receiver
    assert send(sender) == 4 and send(sender) == 0
    assert sorted((one.content["data"]["participant_id"], one.content["type"]) for one in receiver.got) == [
        ("p1", "participant.begun"), ("p1", "participant.finished"), ("p2", "participant.screened-out"),
        ("p3", "participant.over-quota")]
    assert all(one.is_signed(secret_of(door.link)) for one in receiver.got)
    assert calls.undelivered(study.study_id) == 0
    assert len({one.headers["webhook-id"] for one in receiver.got}) == 4


def test_who_stays_away_and_comes_back(browser, services, study, receiver, sender):
    _, link = invite(services, study, receiver.address, minutes=30)
    begin(browser(), link, "p1")
    now = services.recruitment._clock()
    services.recruitment._clock = services.studies._clock = lambda: now + timedelta(minutes=31)
    begin(browser(), link, "p2")
    begin(browser(), link, "p1")
    send(sender)
    assert sorted(one.content["type"] for one in receiver.got) == [
        "participant.away", "participant.begun", "participant.begun", "participant.returned"]


def test_a_failure_is_repeated_with_the_same_id(browser, services, study, receiver, sender, calls):
    _, link = invite(services, study, receiver.address)
    begin(browser(), link, "p1")
    receiver.status = [500, 302, 200]
    for problem in ("Answered with status 500.", "Answered with status 302."):
        send(sender)
        (call,) = calls.recent(study.study_id, 9)
        assert (call.problem, call.delivered_at) == (problem, None) and call.next_at > datetime.now(UTC)
        retry(calls, study)
    send(sender)
    (call,) = calls.recent(study.study_id, 9)
    assert call.delivered_at and call.next_at is None
    assert [one.path for one in receiver.got] == 3 * ["/hook"]                # a redirect is not followed
    assert len({one.headers["webhook-id"] for one in receiver.got}) == 1


def test_gone_is_gone(browser, services, study, receiver, sender, calls):
    _, link = invite(services, study, receiver.address)
    begin(browser(), link, "p1")
    receiver.status = [410]
    send(sender)
    assert calls.recent(study.study_id, 9)[0].next_at is None and calls.undelivered(study.study_id) == 1


def test_two_processes_send_each_message_once_and_a_killed_ones_later(browser, services, study, receiver, calls):
    _, link = invite(services, study, receiver.address)
    begin(browser(), link, "p1")
    now, taken = datetime.now(UTC), timedelta(minutes=1)
    (killed,) = calls.take_due(now, taken, 9, 9)
    assert SqlWebhookStore(calls.engine).take_due(now, taken, 9, 9) == ()
    (call,) = calls.take_due(now + timedelta(minutes=2), taken, 9, 9)
    calls.tried([(call, after_attempt(call, now, ""))])
    calls.tried([(killed, after_attempt(killed, now, "No answer within 15 seconds."))])   # it only seemed to be
    assert (calls.recent(study.study_id, 9)[0].problem, calls.undelivered(study.study_id)) == ("", 0)


def test_a_study_with_many_messages_does_not_hold_up_another(browser, services, study, store, tmp_path, calls):
    other = make_study(store, tmp_path, name="Another", items=4, seats=2)
    _, link = invite(services, study, "https://lab.example.org/", questions=[AGE])
    for number in range(9):
        begin(browser(), link, f"p{number}", {"agree": "yes", "q.age": "under 18"})
    begin(browser(), invite(services, other, "https://lab.example.org/")[1], "p1")
    taken = calls.take_due(datetime.now(UTC), timedelta(minutes=1), 8, 4)
    assert sorted(call.study_id == study.study_id for call in taken) == [False, True, True, True, True]


def test_an_address_inside_the_own_network_needs_the_setting(browser, services, study, store, receiver, calls):
    _, link = invite(services, study, receiver.address)
    begin(browser(), link, "p1")
    place = receiver.address.split("/")[2]
    secure = receiver.address.replace("http", "https")
    for address, hosts, says in (
        (receiver.address, (), f"Use https. Plain http is only for hosts listed in CIRQUE_WEBHOOK_HOSTS, as {place}."),
        (receiver.address, ("localhost:*", "127.0.0.1", "127.0.0.1:1"), "Use https."),
        (secure, (), f"127.0.0.1 has no public address. Receivers in your own network are listed in "
                     f"CIRQUE_WEBHOOK_HOSTS, as {place}."),
        (secure.replace("127.0.0.1", "[::1]"), (), "::1 has no public address"),
        (secure.replace("127.0.0.1", "nowhere.invalid"), (), "nowhere.invalid is not known.")):
        invite(services, study, address)
        retry(calls, study)
        send(WebhookSender(services.recruitment, store, calls, hosts))
        assert calls.recent(study.study_id, 9)[0].problem.startswith(says)
    assert receiver.got == []
    invite(services, study, receiver.address)
    retry(calls, study)
    send(WebhookSender(services.recruitment, store, calls, (place,)))
    assert len(receiver.got) == 1 and receiver.got[0].headers["Host"] == place


def test_a_public_receiver_is_asked_at_the_address_that_was_checked(
    browser, services, study, store, receiver, calls,
):
    """The connection goes there, whatever the name leads to by then; it speaks no TLS, so it is not accepted."""
    asked = []

    async def validate(host):
        asked.append(host)
        return "127.0.0.1"

    port = receiver.address.split("/")[2].partition(":")[2]
    begin(browser(), invite(services, study, f"https://lab.example.org:{port}/hook")[1], "p1")
    send(WebhookSender(services.recruitment, store, calls, (), validate))
    assert calls.recent(study.study_id, 9)[0].problem == "Not reached (ConnectError)." and asked == ["lab.example.org"]


def test_a_study_with_damaged_settings_keeps_no_other_from_its_messages(
    browser, services, study, store, tmp_path, receiver, sender, calls,
):
    other = make_study(store, tmp_path, name="Another", items=4, seats=2)
    for one in (study, other):
        begin(browser(), invite(services, one, receiver.address)[1], "p1")
    with writing(store.engine) as connection:
        recruited = tables.recruitments
        connection.execute(update(recruited).where(recruited.c.study_id == study.study_id).values(
            settings={"webhook": receiver.address, "people": "many"}))
    send(sender)
    assert [one.content["data"]["study"] for one in receiver.got] == ["Another"]
    assert calls.undelivered(other.study_id) == 0
    (call,) = calls.recent(study.study_id, 9)
    assert call.problem.startswith("The study's settings are damaged: people") and call.attempts == 1


def test_a_receiver_that_is_away(browser, services, study, receiver, sender, calls):
    _, link = invite(services, study, receiver.address)
    receiver.close()
    assert begin(browser(), link, "p1").url.path == f"{link}/work"            # the participant does not notice
    send(sender)
    assert calls.recent(study.study_id, 9)[0].problem == "Not reached (ConnectError)."


def test_a_receiver_that_never_answers(browser, services, study, store, calls):
    with socket.create_server(("127.0.0.1", 0)) as silent:      # connections are taken by the system, and never read
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        begin(browser(), invite(services, study, address)[1], "p1")
        send(WebhookSender(services.recruitment, store, calls, ["127.0.0.1:*"], seconds=0.2))
    assert calls.recent(study.study_id, 9)[0].problem == "No answer within 0.2 seconds."


def test_no_webhook_no_messages(browser, services, study, receiver, sender, calls):
    _, link = invite(services, study, "")
    begin(browser(), link, "p1")
    assert calls.recent(study.study_id, 9) == ()
    invite(services, study, receiver.address)
    begin(browser(), link, "p2")
    invite(services, study, "")                                               # taken away before it was sent
    send(sender)
    assert receiver.got == [] and "no webhook any more" in calls.recent(study.study_id, 9)[0].problem


def test_tests_are_limited_by_the_minute(services, study, store, sender, receiver, calls):
    invite(services, study, receiver.address)
    with ThreadPoolExecutor(1) as thread:
        for _ in range(5):
            thread.submit(sender.test, study).result()
        with pytest.raises(StudyError, match="Wait a minute"):
            thread.submit(sender.test, study).result()
        with writing(store.engine) as connection:   # a minute later
            connection.execute(update(tables.webhook_calls).values(
                created_at=datetime.now(UTC) - timedelta(seconds=61)))
        thread.submit(sender.test, study).result()
    assert [one.event for one in calls.recent(study.study_id, 9)] == ["test"] * 6


def test_the_log_has_the_receiver_and_nothing_that_may_be_secret(services, study, store):
    invite(services, study, "https://lab.example.org/hooks/secret?key=secret")
    newest = SqlAuditLog(store.engine).acts(limit=1)[0].act
    assert (newest.kind, newest.details) == ("study.recruiting", {"open": True, "webhook": "lab.example.org"})


def test_a_test_run_as_a_participant_tells_nobody(browser, services, store, study, tmp_path, receiver, sender):
    invite(services, study, receiver.address)
    door = begin_test(store, services.recruitment, tmp_path, study)
    begin(browser(), f"/take/{door.link.token}", "test")
    assert send(sender) == 0


def test_messages_go_with_their_study(browser, services, store, study, receiver, sender):
    _, link = invite(services, study, receiver.address)
    begin(browser(), link, "p1")
    store.remove(study.study_id)
    assert send(sender) == 0 and receiver.got == []
    with pytest.raises(UnknownStudy):
        store.study(study.study_id)


def test_the_page_of_who_manages_has_key_messages_test_and_again(ada, services, study, receiver, calls):
    shown = ada.get("/studies/recruitment", params={"study": study.name}).json()
    assert shown["webhook"] is None
    refused = ada.post("/studies/webhook-test", json={"study": study.name})
    assert refused.status_code == 400 and "has no webhook. Enter its address" in refused.text
    saved = ada.post("/studies/recruit", json={"study": study.name, "settings": {
        **shown["settings"], "webhook": receiver.address}}).json()
    door = services.recruitment.of_study(study)
    assert saved["webhook"] == {"secret": secret_of(door.link), "undelivered": 0, "calls": []}
    assert door.link.secret not in json.dumps(saved)
    receiver.status = [503, 200]
    for problem, delivered in (("Answered with status 503.", False), ("", True)):
        listed = ada.post("/studies/webhook-test", json={"study": study.name}).json()["webhook"]
        newest = listed["calls"][0]
        assert (newest["event"], newest["problem"], bool(newest["delivered_at"])) == ("test", problem, delivered)
    assert listed["undelivered"] == 0                                         # failed tests are not repeated
    ada.post("/studies/recruit", json={"study": study.name, "settings": {**saved["settings"], "open": True}})
    receiver.status = [410, 200]
    door = services.recruitment.of_study(study)
    begin(ada, f"/take/{door.link.token}", "p1")
    sender = WebhookSender(services.recruitment, services.study_store, calls, ["127.0.0.1:*"])
    send(sender)
    assert ada.get("/studies/recruitment", params={"study": study.name}).json()["webhook"]["undelivered"] == 1
    ada.post("/studies/webhook-again", json={"study": study.name})
    send(sender)
    assert ada.get("/studies/recruitment", params={"study": study.name}).json()["webhook"]["undelivered"] == 0
