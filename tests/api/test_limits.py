"""Who asks too often is told when to come back: 429 in problem details."""

from __future__ import annotations

from typing import Any

import pytest

from accounts import limits
from accounts.models import Organisation
from tests.factories import T4821, make_person

from .conftest import CASES, Caller, browser_of, machine_of


@pytest.fixture(autouse=True)
def _two_an_hour(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_silent_until", 0.0)
    settings.CASEFLOW_LIMITS = {"intake": (2, 3600), "search": (2, 3600)}


def test_a_machine_that_opens_too_many_cases_is_refused_with_the_time_to_wait(machine: Caller) -> None:
    answers = [machine.post(CASES, T4821(external_id=f"T-{number}")) for number in range(3)]

    assert [one.status_code for one in answers] == [201, 201, 429]
    assert answers[-1]["Content-Type"] == "application/problem+json"
    assert answers[-1].json()["code"] == "too_many_requests"
    assert 3590 <= int(answers[-1]["Retry-After"]) == answers[-1].json()["wait"] <= 3600
    assert machine.get(CASES).json()["results"][0]["external_id"] == "T-1"


def test_another_machine_of_the_same_organisation_is_counted_apart(acme: Organisation, machine: Caller) -> None:
    for number in range(3):
        machine.post(CASES, T4821(external_id=f"T-{number}"))
    other = machine_of(acme, name="second")
    assert other.post(CASES, T4821(external_id="T-9")).status_code == 201


def test_searching_is_limited_for_people_too_and_reading_one_case_is_not(acme: Organisation, opened: Any) -> None:
    case = opened()
    viewer = browser_of(make_person("viewer", acme, "viewer"))

    assert [viewer.get(CASES).status_code for _ in range(3)] == [200, 200, 429]
    assert [viewer.get(case["links"]["self"]).status_code for _ in range(4)] == [200] * 4


def test_the_refusal_speaks_the_callers_language_and_keeps_its_code(machine: Caller) -> None:
    for _ in range(2):
        machine.get(CASES)
    answers = [machine.client.get(CASES, headers={"Accept-Language": language}) for language in ("ru", "en")]
    assert {one.json()["code"] for one in answers} == {"too_many_requests"}
    assert ["Слишком много" in one.json()["detail"] for one in answers] == [True, False]


def test_where_redis_is_away_the_work_goes_on(machine: Caller, settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    answers = [machine.post(CASES, T4821(external_id=f"T-{number}")).status_code for number in range(4)]
    assert answers == [201] * 4
