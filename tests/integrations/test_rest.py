"""An outside system by description alone: its facts are those of a programmed one, and a mistake is named where it is.

The contract of its writes is kept in `test_contract`, beside the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.core import checks
from pytest_django import Settings

from caseflow.domain.outcomes import Confirmed, FaultKind, ReadFailed, Refused, Unknown
from integrations.payments import Payments
from integrations.rest import RestSystem
from integrations.rest_config import BadConfiguration, config_of, read_file
from integrations.subscriptions import Subscriptions
from tests.integrations.between import Between, between
from tests.integrations.conftest import DEADLINE, DESCRIBED, Outside, described


@pytest.fixture
def line() -> Iterator[Between]:
    with between() as found:
        yield found


def test_a_described_system_reads_the_facts_of_a_programmed_one(
    outside: Outside, payments: Payments, subscriptions: Subscriptions, described_subscriptions: RestSystem
) -> None:
    payment, subscription = outside.new_payment(), outside.new_subscription()
    with closing(described("payments", outside.url)) as told:
        for subject in (payment, "missing", "../customers/cus_1"):
            facts = told.read("payment", subject, call_id="call-1")
            assert facts == payments.read("payment", subject, call_id="call-2")
        assert told.read("customer", "nobody", call_id="call-3") == {"status": "unknown"}
        with pytest.raises(ReadFailed) as failed:
            told.read("subscription", subscription, call_id="call-4")
    assert failed.value.code == "not_readable"
    # A wrong address answers 404, too; only the system's own word makes that a fact.
    with closing(described("payments", f"{outside.url}/elsewhere")) as lost, pytest.raises(ReadFailed):
        lost.read("payment", payment, call_id="call-7")
    facts = described_subscriptions.read("subscription", subscription, call_id="call-5")
    assert facts == subscriptions.read("subscription", subscription, call_id="call-6")


def test_an_effect_by_a_template_is_one_effect_and_goes_back(
    outside: Outside, described_subscriptions: RestSystem, key: str
) -> None:
    subject = outside.new_subscription(status="active")
    request = {"payment_id": "pay_1", "customer_id": "cus_1"}
    outcome = described_subscriptions.perform("deactivate", subject, request, key=key, call_id="call-1")
    assert isinstance(outcome, Confirmed)
    assert [effect["id"] for effect in outside.effects(key)] == [outcome.external_id]
    empty = described_subscriptions.perform("deactivate", subject, {}, key=key, call_id="call-2")
    assert empty == Refused("bad_subject", "the request has no request.payment_id", FaultKind.INVALID_DATA)
    active = outside.new_subscription(status="active")
    refused = described_subscriptions.perform("activate", active, request, key=f"{key}-2", call_id="call-3")
    assert refused == Refused("already_active", "it answered 409")


def test_who_we_are_comes_from_the_environment_and_goes_with_every_request(
    line: Between, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    table = _table(line.url, auth={"header": "X-Api-Key", "prefix": "", "env": "DESK_TOKEN"})
    monkeypatch.delenv("DESK_TOKEN", raising=False)
    with pytest.raises(ValueError, match=r"desk\.auth\.env: the environment has no DESK_TOKEN"):
        RestSystem(name="desk", table=table)
    monkeypatch.setenv("DESK_TOKEN", "a-secret")
    with closing(RestSystem(name="desk", table=table, deadline=DEADLINE)) as desk:
        assert "a-secret" not in repr(desk)
        line.answer(200, {"status": "open"})
        assert desk.read("ticket", "T-4821", call_id="call-1") == {"status": "open"}
        line.answer(200, {"ok": True})
        assert desk.perform("tell", "T-4821", {"text": "…"}, key=key, call_id="call-2") == Confirmed(
            "", {"replayed": False}
        )
    assert [one.headers["x-api-key"] for one in line.asked] == ["a-secret", "a-secret"]


def test_an_answer_that_is_about_something_else_is_doubt(line: Between, key: str) -> None:
    with closing(RestSystem(name="desk", table=_table(line.url), deadline=DEADLINE)) as desk:
        for answer in ({"ok": False}, {"ok": 1}, {}, b"<html>"):
            line.answer(200, answer)
            assert isinstance(desk.perform("tell", "T-4821", {}, key=key, call_id="call-1"), Unknown)
        # Nobody said that this system takes nothing before it answers so.
        line.answer(503, {}, Retry_After="7")
        assert isinstance(desk.perform("tell", "T-4821", {}, key=key, call_id="call-2"), Unknown)
        line.answer(409, {"code": "already_active"})
        assert isinstance(desk.perform("tell", "T-4821", {}, key=key, call_id="call-3"), Unknown)
        line.answer(404, {"detail": "not here"})
        with pytest.raises(ReadFailed):
            desk.read("ticket", "T-4821", call_id="call-4")


def test_a_request_without_what_its_own_answer_would_be_compared_with_does_not_leave(line: Between, key: str) -> None:
    tell = {"path": "/tickets/{subject}/lines", "body": {}, "expect": {"author": "{request.author}"}}
    with closing(RestSystem(name="desk", table=_table(line.url, perform={"tell": tell}), deadline=DEADLINE)) as desk:
        refused = desk.perform("tell", "T-4821", {}, key=key, call_id="call-1")
        assert refused == Refused("bad_subject", "the request has no request.author", FaultKind.INVALID_DATA)
        assert line.asked == []
        line.answer(200, {"author": "Caseflow"})
        assert isinstance(desk.perform("tell", "T-4821", {"author": "Caseflow"}, key=key, call_id="call-2"), Confirmed)


def test_a_word_that_is_none_of_the_described_ones_is_no_fact_even_where_it_may_be_missing(line: Between) -> None:
    status = {"from": "state", "one_of": ["active", "inactive"], "optional": True}
    table = _table(line.url, read={"ticket": {"path": "/tickets/{subject}", "facts": {"status": status}}})
    with closing(RestSystem(name="desk", table=table, deadline=DEADLINE)) as desk:
        for said, fact in (({"state": "active"}, "active"), ({"state": ""}, None), ({}, None)):
            line.answer(200, said)
            assert desk.read("ticket", "T-4821", call_id="call-1") == {"status": fact}
        line.answer(200, {"state": "suspended"})
        with pytest.raises(ReadFailed) as failed:
            desk.read("ticket", "T-4821", call_id="call-2")
        assert failed.value.code == "bad_answer"


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"base_url": "ftp://desk"}, "desk.base_url"),
        ({"owner": {"team": "Desk"}}, "desk.owner.contact"),
        ({"timeout": 3}, "desk.timeout"),
        ({"keys": {"life": 10}}, "keys.life ends before settles_after"),
        ({"perform": {"tell": {"path": "/tickets/{ticket}"}}}, "desk.perform.tell.path"),
        ({"perform": {"tell": {"path": "/tickets/{subject}", "body": {"a": ["{subjekt}"]}}}}, "{subjekt}"),
        ({"read": {"ticket": {"path": "/t/../{subject}", "facts": {}}}}, "desk.read.ticket.path"),
        ({"read": {"ticket": {"path": "/t", "facts": {"s": {"from": "s", "as": "date"}}}}}, "read.ticket.facts.s.as"),
        ({"outcomes": [{"status": 200, "means": "refused"}]}, "desk.outcomes.0.status"),
        ({"lookup": {"path": "/o/{key}", "expect": {}, "absent": {"code": "no"}}}, "desk.lookup.expect"),
        ({"lookup": {"path": "/o/{subject}", "expect": {"a": "b"}, "absent": {"code": "no"}}}, "desk.lookup.path"),
    ],
)
def test_a_mistake_is_named_with_its_place(change: dict[str, Any], place: str) -> None:
    with pytest.raises(BadConfiguration) as wrong:
        config_of(_table("https://desk.example.org") | change, file="rest.toml", system="desk")
    assert place in str(wrong.value) and "rest.toml" in str(wrong.value)


def test_a_file_that_cannot_be_read_says_where(tmp_path: Path) -> None:
    broken = tmp_path / "rest.toml"
    broken.write_text("[desk]\nbase_url = \n")
    with pytest.raises(BadConfiguration, match="line 2"):
        read_file(str(broken))
    broken.write_text('desk = "https://desk.example.org"\n')
    with pytest.raises(BadConfiguration, match="wrong at desk"):
        read_file(str(broken))
    with pytest.raises(BadConfiguration):
        read_file(str(tmp_path / "missing.json"))
    assert set(read_file(str(DESCRIBED))) == {"payments", "subscriptions"}


def test_the_check_names_a_wrong_description_and_a_host_that_is_not_listed(settings: Settings) -> None:
    table = _table("https://desk.example.org")
    settings.ADAPTERS = {**settings.ADAPTERS, "desk": "integrations.rest.RestSystem"}
    settings.CASEFLOW_OUTGOING_HOSTS = ["desk.example.org"]
    for change, said in (({"timeout": 3}, "rest.toml is wrong at desk.timeout"), ({}, "")):
        settings.ADAPTER_OPTIONS = {"desk": {"name": "desk", "table": table | change, "file": "rest.toml"}}
        messages = [str(message) for message in checks.run_checks(tags=["caseflow"]) if "desk" in str(message)]
        assert bool(messages) == bool(said) and all(said in message for message in messages)
    settings.CASEFLOW_OUTGOING_HOSTS = []
    assert any("desk.example.org" in str(message) for message in checks.run_checks(tags=["caseflow"]))


def _table(url: str, **more: Any) -> dict[str, Any]:
    ticket = {"path": "/tickets/{subject}", "facts": {"status": "status"}}
    tell = {"path": "/tickets/{subject}/lines", "body": {"from": "{key}"}, "expect": {"ok": True}}
    owner = {"team": "Desk", "contact": "desk@example.org"}
    return {"base_url": url, "owner": owner, "read": {"ticket": ticket}, "perform": {"tell": tell}, **more}
