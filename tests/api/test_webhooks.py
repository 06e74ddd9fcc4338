"""Outside systems ring: once per event, in time and signed; what they say is looked at, never believed."""

from __future__ import annotations

import json
import time
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from accounts.models import Organisation
from accounts.principal import SYSTEM
from audit.models import AuditEvent
from audit.services import facts_of
from cases.models import Observation, Task, WebhookEvent, WebhookSource
from cases.webhook_sources import create_source, rotate_secret, set_active
from tests.driving import Engine, together
from tests.factories import make_organisation
from tests.signing import headers_of

JSON = "application/json"


class Bell:
    """An outside system that knows a secret."""

    def __init__(self, organisation: Organisation, system: str = "payments") -> None:
        self.source, self.secret = create_source(organisation=organisation, name=system, system=system, by=SYSTEM)

    def ring(
        self, subject: str = "PAY-31", *, id: str = "evt_1", at: float | None = None, secret: str = "", body: Any = None
    ) -> Any:
        told = {"type": "payment.updated", "data": {"id": subject, "status": "confirmed"}} if body is None else body
        return self.send(json.dumps(told).encode(), id=id, at=at, secret=secret)

    def send(self, body: bytes, *, id: str = "evt_1", at: float | None = None, secret: str = "") -> Any:
        headers = headers_of(secret or self.secret, id, time.time() if at is None else at, body)
        return Client().post(f"/api/v1/webhooks/{self.source.public_id}/", body, content_type=JSON, headers=headers)


@pytest.fixture
def acme(committing_database: None) -> Organisation:
    return make_organisation("acme")


@pytest.fixture
def bell(acme: Organisation) -> Bell:
    return Bell(acme)


def refusals(organisation: Organisation) -> list[str]:
    rows = AuditEvent.objects.filter(organisation_id=organisation.pk, kind="webhook.refused").order_by("id")
    return [facts_of(row.body)["facts"]["reason"] for row in rows]


def test_a_case_that_waits_for_a_payment_is_read_again_as_soon_as_the_payment_system_rings(engine: Engine) -> None:
    story = engine.open(payment={"status": "pending"})
    story.run()
    assert story.state == "WAITING_DATA"
    story.change("payments", status="confirmed")

    answer = Bell(engine.organisation).ring(story.payment)
    story.run()

    assert (answer.status_code, answer.json()) == (202, {"events": 1, "cases": 1})
    assert story.state == "WAITING_APPROVAL"
    assert story.told("webhook.received")["rung"] == ["evt_1"]


def test_what_the_payload_says_is_no_fact(engine: Engine) -> None:
    story = engine.open(payment={"status": "pending"})
    story.run()

    Bell(engine.organisation).ring(story.payment)  # it says "confirmed", and the payment system does not
    story.run()

    assert story.state == "WAITING_DATA"
    assert Observation.objects.filter(case_id=story.id, name="payment").latest("id").value["status"] == "pending"


def test_a_case_that_waits_for_a_decision_gets_fresh_facts_and_stays_where_it_is(engine: Engine) -> None:
    story = engine.proposed()
    story.change("payments", status="refunded")
    before = story.case.version

    Bell(engine.organisation).ring(story.payment)
    story.run("look")

    newest = Observation.objects.filter(case_id=story.id, name="payment").latest("id")
    assert (story.state, story.case.version, newest.value["status"]) == ("WAITING_APPROVAL", before, "refunded")


def test_a_look_that_finds_nobody_there_stops_no_case(engine: Engine) -> None:
    story = engine.proposed()
    Bell(engine.organisation).ring(story.payment)
    engine.outside.script("error_before", method="GET", times=None)
    for _ in range(12):
        story.make_due("look")
        story.run("look")
    engine.outside.ask("DELETE", "/faults")

    assert story.state == "WAITING_APPROVAL"
    assert story.task("look").status == "failed"


def test_the_subscription_system_rings_about_subscriptions_only(engine: Engine) -> None:
    story = engine.proposed()
    bell = Bell(engine.organisation, "subscriptions")

    assert bell.ring(story.payment, id="evt_1").json() == {"events": 1, "cases": 0}
    assert bell.ring(story.subscription, id="evt_2").json() == {"events": 1, "cases": 1}


def test_the_same_event_twice_rings_once(engine: Engine) -> None:
    story = engine.proposed()
    bell = Bell(engine.organisation)

    answers = [bell.ring(story.payment).status_code for _ in range(3)]

    assert answers == [202, 200, 200]
    assert WebhookEvent.objects.count() == 1
    assert story.history().count("webhook.received") == 1
    assert Task.objects.filter(case_id=story.id, stage="look").count() == 1


def test_the_same_event_at_the_same_instant_rings_once(engine: Engine) -> None:
    story = engine.proposed()
    bell = Bell(engine.organisation)

    answers = together(*[lambda: bell.ring(story.payment).status_code for _ in range(8)])

    assert sorted(answers) == [200] * 7 + [202]
    assert story.history().count("webhook.received") == 1


def test_an_event_that_stands_twice_in_one_batch_rings_once(engine: Engine) -> None:
    story = engine.proposed()
    event = {"id": "evt_7", "type": "payment.updated", "data": {"id": story.payment}}
    bell = Bell(engine.organisation)

    first = bell.ring(body=[event, event, event | {"id": "evt_8"}], id="msg_1")
    again = bell.ring(story.payment, id="evt_7")

    assert (first.json(), again.status_code) == ({"events": 2, "cases": 1}, 200)
    assert story.told("webhook.received")["rung"] == ["evt_7", "evt_8"]


def test_two_sources_may_use_the_same_event_id(engine: Engine) -> None:
    payments, subscriptions = Bell(engine.organisation), Bell(engine.organisation, "subscriptions")
    assert [payments.ring().status_code, subscriptions.ring().status_code] == [202, 202]


def test_a_ring_about_a_closed_case_is_recorded_moves_nothing_and_is_told_on_its_page(engine: Engine) -> None:
    story = engine.open(subscription={"status": "active"})
    story.run()
    assert story.state == "CLOSED_NO_CHANGE", story.standing
    before = story.case.version
    viewer = Client()
    viewer.force_login(engine.person("viewer"), backend="django.contrib.auth.backends.ModelBackend")
    address = f"/console/cases/{story.case.public_id}/"
    quiet = viewer.get(address, headers={"Accept-Language": "en"}).content.decode()

    answer = Bell(engine.organisation).ring(story.payment)

    assert answer.status_code == 202
    assert (story.state, story.case.version, story.history()[-1]) == (
        "CLOSED_NO_CHANGE",
        before,
        "webhook.after_close",
    )
    assert not Task.objects.filter(case_id=story.id, status="due").exists()
    told = viewer.get(address).content.decode()
    assert ("data-rung" in quiet, "data-rung" in told) == (False, True)


def test_another_organisations_cases_hear_nothing(engine: Engine) -> None:
    story = engine.proposed()
    other = Bell(make_organisation("other"))

    assert other.ring(story.payment).json() == {"events": 1, "cases": 0}
    assert "webhook.received" not in story.history()


def test_a_wrong_signature_is_refused_and_on_record(acme: Organisation, bell: Bell) -> None:
    stranger = Bell(make_organisation("other"))

    answer = bell.ring(secret=stranger.secret)

    assert (answer.status_code, answer.json()["code"]) == (401, "webhook_refused")
    assert answer["Content-Type"] == "application/problem+json"
    assert refusals(acme) == ["bad_signature"]
    assert not WebhookEvent.objects.exists()


def test_a_late_and_an_early_one_are_refused_and_on_record(acme: Organisation, bell: Bell) -> None:
    answers = [bell.ring(at=time.time() + away) for away in (-301, 310)]

    assert [(one.status_code, one.json()["code"]) for one in answers] == [(400, "webhook_late")] * 2
    assert refusals(acme) == ["too_old", "too_new"]
    assert bell.ring().status_code == 202  # the same event, sent again in time


def test_a_flood_of_wrong_signatures_does_not_fill_the_history(acme: Organisation, bell: Bell, settings: Any) -> None:
    settings.CASEFLOW_LIMITS = settings.CASEFLOW_LIMITS | {"webhook_refusal": (3, 3600)}
    for _ in range(9):
        assert bell.ring(secret="whsec_" + "A" * 32).status_code == 401
    assert refusals(acme) == ["bad_signature"] * 3


def test_nobody_learns_whether_a_source_exists(acme: Organisation, bell: Bell) -> None:
    wrong = bell.ring(secret="whsec_" + "A" * 32)
    address = "/api/v1/webhooks/W-0000000000/"
    unknown = Client().post(address, b"{}", content_type=JSON, headers=headers_of(bell.secret, "e", time.time(), b"{}"))
    set_active(source=bell.source, is_active=False, by=SYSTEM)
    off = bell.ring()
    bare = Client().post(address, b"{}", content_type=JSON)

    kept = {(one.status_code, one.content, one["WWW-Authenticate"]) for one in (wrong, unknown, off, bare)}
    assert len(kept) == 1


def test_while_a_secret_is_rotated_both_are_good_and_then_only_the_new_one(bell: Bell, as_owner: Any) -> None:
    new = rotate_secret(source=bell.source, overlap=timedelta(days=1), by=SYSTEM)
    both = [bell.ring(id="evt_1").status_code, bell.ring(id="evt_2", secret=new).status_code]
    as_owner.execute("UPDATE cases_webhooksecret SET expires_at = now() WHERE expires_at IS NOT NULL")

    assert both == [202, 202]
    assert [bell.ring(id="evt_3").status_code, bell.ring(id="evt_4", secret=new).status_code] == [401, 202]


def test_a_rotation_never_lets_an_old_secret_live_longer(bell: Bell) -> None:
    rotate_secret(source=bell.source, overlap=timedelta(0), by=SYSTEM)
    rotate_secret(source=bell.source, overlap=timedelta(days=30), by=SYSTEM)
    assert bell.ring().status_code == 401


def test_the_database_holds_no_secret_in_clear_text_and_no_payload(acme: Organisation, bell: Bell) -> None:
    import base64

    secret = base64.b64decode(bell.secret.removeprefix("whsec_"))
    bell.ring(body={"type": "payment.updated", "data": {"id": "PAY-31", "card": "4111-canary"}})

    assert all(secret not in bytes(row.wrapped) for row in bell.source.secrets.all())
    kept = repr(list(WebhookEvent.objects.values())) + repr([bytes(row.body) for row in AuditEvent.objects.all()])
    assert "4111-canary" not in kept


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "not_json"),
        (b"\xff", "not_utf8"),
        (b"[]x", "not_json"),
        (b'"text"', "wrong_type"),
        (b"{}", "wrong_type"),
        (b'{"type": "x", "data": {}}', "missing"),
        (b'{"type": "x", "data": {"id": 1}}', "missing"),
        (b'{"data": {"id": "PAY-1"}}', "missing"),
        (b'{"type": "x", "type": "y", "data": {"id": "PAY-1"}}', "duplicate_key"),
        (b'[{"type": "x", "data": {"id": "PAY-1"}}]', "missing"),
        (b'[{"id": "a b", "type": "x", "data": {"id": "PAY-1"}}]', "wrong_format"),
        (b"[" * 5000 + b"]" * 5000, "too_deep"),
    ],
)
def test_a_signed_body_that_names_no_object_is_refused_with_its_place(bell: Bell, body: bytes, code: str) -> None:
    answer = bell.send(body)
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert not WebhookEvent.objects.exists()


def test_a_body_too_long_is_not_even_read_for_its_signature(acme: Organisation, bell: Bell) -> None:
    answer = bell.send(b" " * (64 * 1024 + 1), secret="whsec_" + "A" * 32)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert refusals(acme) == []


def test_an_empty_batch_does_nothing(bell: Bell) -> None:
    assert bell.ring(body=[]).json() == {"events": 0, "cases": 0}


def test_who_rings_too_often_is_told_when_to_come_back(bell: Bell, settings: Any) -> None:
    settings.CASEFLOW_LIMITS = settings.CASEFLOW_LIMITS | {"webhook": (2, 3600)}
    answers = [bell.ring(id=f"evt_{number}") for number in range(3)]

    assert [one.status_code for one in answers] == [202, 202, 429]
    assert 3500 < int(answers[-1]["Retry-After"]) <= 3600
    assert WebhookSource.objects.get().events.count() == 2
