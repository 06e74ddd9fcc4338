"""The simulator itself: what it promises to the tests that lean on it."""

from __future__ import annotations

import signal
import sqlite3
from contextlib import closing

import httpx2
import pytest

from tests.integrations.conftest import Outside


def test_the_ledger_survives_kill_9(own_outside: Outside) -> None:
    subject = own_outside.new_subscription()
    first = own_outside.ask("POST", f"/subscriptions/{subject}/activate", {"a": 1}, Idempotency_Key="k-1")
    own_outside.kill()
    own_outside.start()
    again = own_outside.ask("POST", f"/subscriptions/{subject}/activate", {"a": 1}, Idempotency_Key="k-1")
    assert again.json() == first.json()
    assert again.headers["Idempotent-Replayed"] == "true"
    assert len(own_outside.effects("k-1")) == 1
    with closing(sqlite3.connect(own_outside.ledger)) as file:
        assert file.execute("SELECT count(*) FROM effects WHERE key = 'k-1'").fetchone() == (1,)


def test_it_ends_calmly_when_interrupted(own_outside: Outside) -> None:
    own_outside.process.send_signal(signal.SIGINT)
    assert own_outside.process.wait(10) == 0


def test_down_means_refused_and_then_the_same_port_again(own_outside: Outside) -> None:
    own_outside.go_down(0.5)
    with pytest.raises(httpx2.ConnectError, match="refused"):
        httpx2.get(f"{own_outside.url}/healthz", trust_env=False)
    own_outside.wait_until_up()


def test_a_request_waiting_when_the_system_goes_down_is_never_applied(own_outside: Outside) -> None:
    subject = own_outside.new_subscription()
    own_outside.script("delay", seconds=1)
    url = f"{own_outside.url}/subscriptions/{subject}/activate"
    with pytest.raises(httpx2.TimeoutException):
        httpx2.post(url, json={}, headers={"Idempotency-Key": "k-1"}, timeout=0.3, trust_env=False)
    own_outside.go_down(0)
    own_outside.kill()
    own_outside.start()
    assert own_outside.effects("k-1") == []
    assert [row["status"] for row in own_outside.requests("k-1")] == [None]


def test_a_stale_read_shows_what_was_true_before(outside: Outside) -> None:
    subject = outside.new_subscription()
    outside.ask("POST", f"/subscriptions/{subject}/activate", {}, Idempotency_Key=f"k-{subject}").raise_for_status()
    for fault in ({}, {"seconds": 60}):
        outside.script("stale_read", method="GET", path=f"/subscriptions/{subject}", **fault)
        assert outside.ask("GET", f"/subscriptions/{subject}").json()["status"] == "inactive"
        assert outside.ask("GET", f"/subscriptions/{subject}").json()["status"] == "active"


def test_a_key_past_its_life_is_a_new_key(tmp_path_factory: pytest.TempPathFactory) -> None:
    from simulator.keys import Keys
    from simulator.ledger import Ledger
    from simulator.mail import send_message
    from simulator.wire import Request

    ledger = Ledger(str(tmp_path_factory.mktemp("life") / "ledger.sqlite3"))
    message = {"to": "person@example.org", "subject": "s", "text": "t"}
    request = Request("POST", ("mail", "messages"), {}, message, "k-1", "call-1")
    look = Request("GET", ("operations", "k-1"), {}, None, "", "call-2")
    assert send_message(ledger, Keys(ledger, life=60), request).headers == {}
    assert Keys(ledger, life=60).operation(look).status == 200
    assert Keys(ledger, life=0).operation(look).status == 404
    assert send_message(ledger, Keys(ledger, life=0), request).headers == {}
    assert len(ledger.list_effects()) == 2
    ledger.close()


def test_a_fault_can_be_aimed_at_one_subject_and_taken_back(outside: Outside) -> None:
    order = {"match": {"subject": "pay_9"}, "fault": {"kind": "error_before", "status": 500}, "times": None}
    id = outside.ask("POST", "/faults", order).json()["id"]
    assert outside.ask("GET", "/payments/pay_8").status_code == 404
    assert outside.ask("GET", "/payments/pay_9").status_code == 500
    assert outside.ask("GET", "/faults").json()["faults"][0]["hits"] == 1
    assert outside.ask("DELETE", f"/faults/{id}").status_code == 200
    assert outside.ask("GET", "/payments/pay_9").status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/faults", {"fault": {"kind": "refuse"}}),
        ("POST", "/faults", {"fault": {"kind": "delay"}, "times": 0}),
        ("POST", "/faults", []),
        ("POST", "/down", {"seconds": -1}),
        ("PUT", "/world", {"planets": []}),
        ("PUT", "/world", {"payments": [{"id": 1}]}),
        ("PATCH", "/payments/pay_1", {"id": "other"}),
    ],
)
def test_the_back_door_refuses_what_makes_no_sense(outside: Outside, method: str, path: str, body: object) -> None:
    answer = outside.ask(method, path, body)
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_request")


def test_a_write_without_a_key_is_refused(outside: Outside) -> None:
    subject = outside.new_subscription()
    assert outside.ask("POST", f"/subscriptions/{subject}/activate", {}).json() == {"code": "key_required"}


def test_a_fault_may_meet_only_a_share_of_the_requests(outside: Outside) -> None:
    subject = outside.new_subscription()
    path = f"/subscriptions/{subject}"
    order = {"match": {"method": "GET", "path": path}, "fault": {"kind": "error_before"}, "times": None, "share": 0.2}
    assert outside.ask("POST", "/faults", order).status_code == 201
    statuses = [outside.ask("GET", path).status_code for _ in range(200)]
    assert 10 <= statuses.count(500) <= 80
    assert statuses.count(200) == 200 - statuses.count(500)
