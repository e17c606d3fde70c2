"""Messages to webhooks: signature, content, further attempts."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from annotation.records import Participant, Recruitment, Study, StudyPlan, WebhookCall, event_between
from annotation.recruitment.settings import settings_from
from annotation.recruitment.webhooks import after_attempt, body_of, headers_of, secret_of
from cir_core.errors import StudyError

NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)
STUDY = Study("st", "Shops", "validity", "circus/2", StudyPlan(2, 1, 0, 7), True, {}, {}, "local", NOW)
WHO = Participant("st", "w1", "P-1", {"assignmentId": "A1"}, "finished", {"age": "over 40"}, "I agree", NOW, code="C1")
CALL = WebhookCall("c1", "st", "finished", "w1", NOW, next_at=NOW)


def test_signed_as_in_the_specification():
    """Id, time, message, key and signature are the specification's own example."""
    assert headers_of("msg_p5jXN8AQM9LWM0D4loKWxJek", datetime.fromtimestamp(1614265330, UTC), b'{"test": 2432232314}',
                      "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw") == {
        "Content-Type": "application/json", "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330", "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="}


def test_each_address_of_a_study_has_a_key_that_tells_nothing_of_the_links_secret():
    keys = {secret_of(Recruitment(study, "token", secret, {"webhook": address})) for study in ("a", "b")
            for secret in ("s", "t") for address in ("https://a.example", "https://b.example")}
    assert len(keys) == 8 and all(key.startswith("whsec_") and len(key) == 6 + 44 for key in keys)


def test_a_message_has_who_and_what_and_no_answers():
    assert json.loads(body_of(CALL, STUDY, WHO)) == {
        "type": "participant.finished", "timestamp": "2026-01-02T12:00:00+00:00", "data": {
            "study": "Shops", "study_id": "st", "participant_id": "w1", "site": {"assignmentId": "A1"}}}
    test = WebhookCall("c2", "st", "test", None, NOW)
    assert json.loads(body_of(test, STUDY, None))["type"] == "webhook.test"


def test_attempts_get_rarer_and_end_after_two_days():
    call, at, waits = CALL, NOW, []
    while call.next_at is not None:
        call = after_attempt(call, at, "Answered with status 500.")
        waits.append(call.next_at and call.next_at - at)
        at = call.next_at or at
    *before, last = waits
    assert last is None and call.attempts == 9 and before == sorted(before) and before[0] == timedelta(seconds=5)
    assert timedelta(days=1) < at - NOW < timedelta(days=2)
    assert (call.delivered_at, call.problem) == (None, "Answered with status 500.")
    assert after_attempt(CALL, NOW, "Answered with status 410.", final=True).next_at is None
    assert after_attempt(WebhookCall("c", "st", "test", None, NOW), NOW, "Not reached.").next_at is None
    done = after_attempt(after_attempt(CALL, NOW, "Not reached."), NOW, "")
    assert (done.attempts, done.next_at, done.delivered_at, done.problem) == (2, None, NOW, "")


@pytest.mark.parametrize(("before", "after", "event"), [
    ("new", "in", "begun"), ("in", "expired", "away"), ("expired", "in", "returned"), ("in", "finished", "finished"),
    ("in", "ended", "below-mark"), ("new", "screened-out", "screened-out"), ("new", "over-quota", "over-quota"),
    ("new", "new", None), ("expired", "expired", None)])
def test_what_is_told_of_a_change(before, after, event):
    assert event_between(before, after) == event


@pytest.mark.parametrize("address", ["ftp://lab.example.org", "lab.example.org/hook", "https://", "https://a b",
                                     "https://user:word@lab.example.org/", "javascript:alert(1)"])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(StudyError, match=r"webhook: .*is not a webhook's address: it has to begin"):
        settings_from({"webhook": address})
