"""The simulator rings as outside systems do: in order and out of it, twice, late, wrongly signed, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.urls import reverse

from accounts.principal import SYSTEM
from audit.models import AuditEvent
from cases.models import WebhookEvent
from cases.webhook_sources import create_source
from tests.driving import Engine, engine, simulator

__all__ = ["engine", "simulator"]

Listen = Callable[..., None]


@pytest.fixture
def listening(engine: Engine, live_server: Any) -> Iterator[None]:
    """Payments and subscriptions ring at the product, over HTTP, with secrets of their own."""
    listeners = []
    for system in ("payments", "subscriptions"):
        source, secret = create_source(organisation=engine.organisation, name=system, system=system, by=SYSTEM)
        url = live_server.url + reverse("api:webhook", args=[source.public_id])
        listeners.append({"system": system, "url": url, "secret": secret})
    engine.outside.ask("PUT", "/webhooks", listeners).raise_for_status()
    yield
    deliveries(engine)
    engine.outside.ask("PUT", "/webhooks", []).raise_for_status()


def deliveries(engine: Engine) -> list[dict[str, Any]]:
    """All that was rung, once the listener has answered."""
    found: list[dict[str, Any]] = engine.outside.ask("GET", "/webhooks/deliveries").json()["deliveries"]
    return found


def script(engine: Engine, kind: str, times: int = 1) -> None:
    engine.outside.ask("POST", "/webhooks/faults", {"kind": kind, "times": times}).raise_for_status()


def answers(engine: Engine, subject: str) -> list[list[int]]:
    return [one["answers"] for one in deliveries(engine) if one["subject"] == subject]


def test_a_payment_that_comes_through_moves_the_case_that_waits_for_it(engine: Engine, listening: None) -> None:
    story = engine.open(payment={"status": "pending"})
    story.run()
    assert story.state == "WAITING_DATA"

    story.change("payments", status="confirmed")
    assert answers(engine, story.payment) == [[202]]
    story.run()

    assert story.state == "WAITING_APPROVAL"


def test_our_own_effect_is_rung_back_and_does_no_harm(engine: Engine, listening: None) -> None:
    story = engine.approved()
    story.run()

    assert answers(engine, story.subscription) == [[202]]
    story.run()
    assert story.state == "COMPLETED"
    assert len(story.activations()) == 1


def test_what_comes_twice_counts_once(engine: Engine, listening: None) -> None:
    story = engine.proposed()
    script(engine, "duplicate")
    story.change("payments", status="refunded")

    assert answers(engine, story.payment) == [[202, 200]]
    assert story.history().count("webhook.received") == 1


def test_what_comes_late_or_wrongly_signed_is_refused_once_and_is_on_record(engine: Engine, listening: None) -> None:
    story = engine.proposed()
    for kind in ("late", "wrong_signature"):
        script(engine, kind)
    story.change("payments", status="refunded")
    story.change("payments", status="confirmed")

    assert answers(engine, story.payment) == [[400], [401]]
    assert "webhook.received" not in story.history()
    assert AuditEvent.objects.filter(kind="webhook.refused").count() == 2


def test_out_of_order_the_newest_truth_is_read_all_the_same(engine: Engine, listening: None) -> None:
    story = engine.open(payment={"status": "pending"})
    story.run()
    script(engine, "out_of_order")
    story.change("payments", status="failed")
    story.change("payments", status="confirmed")

    rung = [one for one in deliveries(engine) if one["subject"] == story.payment]
    stored = list(WebhookEvent.objects.filter(subject=story.payment).order_by("id").values_list("event_id", flat=True))
    story.run()

    assert stored == [rung[1]["id"], rung[0]["id"]]
    assert story.state == "WAITING_APPROVAL"


def test_a_ring_that_is_lost_only_delays(engine: Engine, listening: None) -> None:
    story = engine.open(payment={"status": "pending"})
    story.run()
    script(engine, "lost")
    story.change("payments", status="confirmed")
    story.run()
    assert (answers(engine, story.payment), story.state) == ([[]], "WAITING_DATA")

    story.run_later("recheck")
    assert story.state == "WAITING_APPROVAL"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/webhooks", {}),
        ("PUT", "/webhooks", [{"system": "planets", "url": "http://127.0.0.1:9", "secret": "whsec_AAAA"}]),
        ("PUT", "/webhooks", [{"system": "payments", "url": "file:///etc/passwd", "secret": "whsec_AAAA"}]),
        ("POST", "/webhooks/faults", {"kind": "boredom"}),
        ("POST", "/webhooks/faults", {"kind": "late", "times": 0}),
    ],
)
def test_the_back_door_of_the_bells_refuses_what_makes_no_sense(
    simulator: Any, method: str, path: str, body: object
) -> None:
    answer = simulator.ask(method, path, body)
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_request")
