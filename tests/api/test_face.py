"""What every answer has in common, the probes, and the description of the API."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.db import connection
from django.test import Client

from accounts.models import Organisation
from caseflow import probes
from caseflow.api.errors import RULES
from caseflow.api.messages import TEMPLATES
from caseflow.domain import errors
from tests.factories import make_person

from .conftest import CASES, Caller, browser_of, machine_of


def test_a_request_keeps_the_id_it_came_with_and_gets_one_otherwise(machine: Caller) -> None:
    given = machine.client.get(CASES, headers={"X-Request-Id": "helpdesk-4821.1"})
    forged = machine.client.get(CASES, headers={"X-Request-Id": "a b\tc; drop"})

    assert given["X-Request-Id"] == "helpdesk-4821.1"
    assert re.fullmatch(r"[0-9a-f-]{36}", forged["X-Request-Id"])


def test_an_address_of_nothing_answers_in_json_with_its_id(db: None) -> None:
    answer = Client().get("/api/v1/nothing/")

    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["request_id"] == answer["X-Request-Id"]


def test_a_failure_of_ours_tells_nothing_but_its_id(machine: Caller, opened: Any, as_owner: Any) -> None:
    case = opened()
    as_owner.execute("UPDATE cases_casekey SET wrapped = repeat('x', 60)::bytea")  # another installation's key
    machine.client.raise_request_exception = False

    answer = machine.post(case["links"]["data"], {"data": {"payment_id": "PAY-32"}})

    assert (answer.status_code, answer.json()["code"]) == (500, "server_error")
    assert answer.json()["request_id"] == answer["X-Request-Id"]
    assert "restore_access" not in answer.content.decode()
    assert machine.get(case["links"]["self"]).json()["intake_revision"] == 1


def test_a_busy_database_asks_for_the_same_request_again(acme: Organisation, opened: Any, as_owner: Any) -> None:
    case = opened()
    machine = machine_of(acme, name="second")
    with as_owner.transaction():
        as_owner.execute("SELECT 1 FROM cases_case FOR UPDATE")
        connection.cursor().execute("SET lock_timeout = '50ms'")
        answer = machine.post(case["links"]["data"], {"data": {"payment_id": "PAY-32"}})
        connection.cursor().execute("RESET lock_timeout")

    assert (answer.status_code, answer.json()["code"], answer["Retry-After"]) == (503, "unavailable", "1")
    assert machine.get(case["links"]["self"]).json()["intake_revision"] == 1


def test_answers_are_kept_by_no_cache_between(machine: Caller) -> None:
    assert machine.get(CASES)["Cache-Control"] == "no-store"


def test_the_code_is_the_same_in_every_language(machine: Caller) -> None:
    answers = [
        machine.client.get(f"{CASES}C-0000000000/", headers={"Accept-Language": language}) for language in ("ru", "en")
    ]

    assert [answer["Content-Language"] for answer in answers] == ["ru", "en"]
    assert {answer.json()["code"] for answer in answers} == {"not_found"}


def test_a_person_reads_in_the_language_they_chose(acme: Organisation, opened: Any) -> None:
    opened()
    viewer = browser_of(make_person("viewer", acme, "viewer"))

    answer = viewer.client.get(CASES, headers={"Accept-Language": "ru"})

    assert answer["Content-Language"] == "en"
    assert answer.json()["results"][0]["state_text"] == "Received"


def test_probes_tell_life_and_readiness(db: None) -> None:
    assert Client().get("/healthz").content == b"ok\n"
    ready = Client().get("/readyz")
    assert (ready.status_code, ready.json()) == (200, {"database": "ok", "migrations": "ok", "redis": "ok"})


def test_without_redis_the_process_lives_and_is_not_ready(db: None, settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    probes._redis.cache_clear()
    try:
        ready = Client().get("/readyz")
    finally:
        probes._redis.cache_clear()

    assert Client().get("/healthz").status_code == 200
    assert (ready.status_code, ready.json()) == (503, {"database": "ok", "migrations": "ok", "redis": "no answer"})


def test_the_description_is_valid_and_without_a_warning(tmp_path: Path) -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "schema.yaml"))

    text = (tmp_path / "schema.yaml").read_text()
    assert "T-4821" in text
    assert "serviceToken" in text


def test_the_page_of_the_description_needs_nobody_elses_server(db: None) -> None:
    page = Client().get("/api/docs/")

    text = page.content.decode()
    assert page.status_code == 200
    assert not re.findall(r"""(?:src|href)=["']?https?://""", text)
    # The viewer's styles only; scripts come from addresses of ours.
    assert "style-src 'self' 'unsafe-inline'" in page["Content-Security-Policy"]
    assert page["Content-Security-Policy"].count("unsafe") == 1
    assert "unsafe-inline" not in Client().get("/api/schema/")["Content-Security-Policy"]


def test_every_error_a_caller_may_meet_has_a_status_and_a_sentence_to_translate() -> None:
    inner = {"LeaseLost", "CallRefused", "BrokenProposal"}  # between workers; no request meets them
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if kind.__name__ not in inner]
    for kind in [kind for kind in kinds if issubclass(kind, errors.CaseflowError) and kind is not errors.CaseflowError]:
        assert kind in RULES
        if kind is not errors.BadInput:
            assert TEMPLATES[kind.__name__] == inspect.getdoc(kind)


def test_a_ticket_answers_the_methods_it_has_and_no_other(machine: Caller, opened: Any) -> None:
    case = opened()

    answer = machine.client.delete(case["links"]["self"])

    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
    assert "GET" in answer["Allow"]
