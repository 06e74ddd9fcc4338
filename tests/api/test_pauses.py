"""Pauses over the API: list, set, show, end; who may, and what is refused."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Organisation
from accounts.platform import grant_platform
from accounts.principal import SYSTEM
from audit.models import AuditEvent
from audit.services import PLATFORM
from cases.models import Pause
from tests.factories import make_organisation, make_person

from .conftest import Caller, browser_of, machine_of

PAUSES = "/api/v1/pauses/"
BODY: dict[str, Any] = {
    "kind": "process",
    "name": "restore_access",
    "organisation": "acme",
    "reason": "The payment service shows wrong amounts.",
}


@pytest.fixture
def operator(acme: Organisation) -> Caller:
    return browser_of(make_person("operator", acme, "operator"))


@pytest.fixture
def keeper(acme: Organisation) -> Caller:
    person = make_person("keeper")
    grant_platform(person=person, by=SYSTEM, reason="on duty")
    return browser_of(person)


def test_a_process_is_paused_shown_and_resumed(operator: Caller) -> None:
    until = (timezone.now() + timedelta(hours=1)).isoformat()
    answer = operator.post(PAUSES, BODY | {"until": until})
    assert answer.status_code == 201, answer.content
    paused = answer.json()
    assert answer["Location"] == paused["links"]["self"]
    assert operator.post(PAUSES, BODY | {"until": until}).status_code == 200
    shown = operator.get(paused["links"]["self"]).json()
    assert shown == paused
    assert {name: shown[name] for name in BODY} == BODY
    assert (shown["by"], shown["ended_at"], shown["ended_by"]) == ("Operator", None, None)
    assert [one["id"] for one in operator.get(PAUSES, live="true").json()["results"]] == [paused["id"]]

    ended = operator.post(paused["links"]["end"], {"reason": "It is over."})
    assert (ended.status_code, ended.json()["ended_by"]) == (200, "Operator")
    assert operator.post(paused["links"]["end"], {"reason": "It is over."}).json() == ended.json()
    assert operator.get(PAUSES, live="true").json() == {"results": [], "next": None}
    assert [one["id"] for one in operator.get(PAUSES).json()["results"]] == [paused["id"]]


def test_a_platform_operator_pauses_systems_organisations_and_everything(keeper: Caller) -> None:
    make_organisation("globex")
    asked = [
        {"kind": "system", "name": "mail"},
        {"kind": "system", "name": "mail", "organisation": "globex"},
        {"kind": "organisation", "organisation": "globex"},
        {"kind": "process", "name": "restore_access"},
        {"kind": "all"},
    ]
    for one in asked:
        assert keeper.post(PAUSES, one | {"reason": "an incident"}).status_code == 201
    page = keeper.get(PAUSES, limit=2).json()
    assert [one["kind"] for one in page["results"]] == ["all", "process"]
    rest = keeper.client.get(page["next"]).json()
    assert [one["organisation"] for one in rest["results"]] == ["globex", "globex"]


@pytest.mark.parametrize(
    ("change", "path", "code"),
    [
        ({"kind": "planet"}, "$.kind", "unknown_kind"),
        ({"name": "restore"}, "$.name", "unknown_process"),
        ({"kind": "system", "name": "nothing"}, "$.name", "unknown_system"),
        ({"reason": ""}, "$.reason", "empty"),
        ({"until": "tomorrow"}, "$.until", "wrong_format"),
        ({"until": "2026-03-02T09:00:00"}, "$.until", "wrong_format"),
        ({"until": "0001-01-01T00:00:00+14:00"}, "$.until", "wrong_format"),
        ({"until": "2001-03-02T09:00:00Z"}, "$.until", "past"),
        ({"until": "9999-12-31T23:59:59Z"}, "$.until", "too_far"),
        ({"by": "Somebody"}, "$.by", "unknown_field"),
    ],
)
def test_nonsense_is_a_400_that_says_where(change: dict[str, Any], path: str, code: str, operator: Caller) -> None:
    answer = operator.post(PAUSES, BODY | change)
    assert (answer.status_code, answer.json()["path"], answer.json()["code"]) == (400, path, code)
    assert not Pause.objects.exists()


def test_who_may_not_pause_gets_a_403_that_is_on_record(acme: Organisation, keeper: Caller) -> None:
    viewer = browser_of(make_person("viewer", acme, "viewer"))
    assert viewer.post(PAUSES, BODY).status_code == 403
    assert viewer.post(PAUSES, {"kind": "all", "reason": "an incident"}).status_code == 403
    assert AuditEvent.objects.filter(organisation_id=acme.pk, kind="access.refused").count() == 1
    assert AuditEvent.objects.filter(organisation_id=PLATFORM, kind="access.refused").count() == 1
    standing = keeper.post(PAUSES, BODY).json()
    assert viewer.get(standing["links"]["self"]).status_code == 200
    assert viewer.post(standing["links"]["end"], {"reason": "It is over."}).status_code == 403
    assert Pause.objects.get().ended_at is None


def test_a_machine_looks_at_pauses_and_sets_none(acme: Organisation, machine: Caller, keeper: Caller) -> None:
    standing = keeper.post(PAUSES, BODY).json()
    assert [one["id"] for one in machine.get(PAUSES).json()["results"]] == [standing["id"]]
    assert machine.post(PAUSES, BODY).status_code == 403
    assert machine.post(standing["links"]["end"], {"reason": "It is over."}).status_code == 403
    assert AuditEvent.objects.filter(organisation_id=acme.pk, kind="access.refused").count() == 2


def test_a_pause_of_another_organisation_is_the_same_as_none(operator: Caller, keeper: Caller) -> None:
    other = make_organisation("globex")
    hidden = keeper.post(PAUSES, BODY | {"organisation": "globex"}).json()
    stranger, theirs = machine_of(other), browser_of(make_person("other", other, "operator"))
    assert stranger.get(hidden["links"]["self"]).status_code == theirs.get(hidden["links"]["self"]).status_code == 200
    missing = hidden["id"][:2] + "0" * 10
    for path in ("{}", "{}/end"):
        answers = [
            operator.post(f"{PAUSES}{path.format(name)}/", {"reason": "x"})
            if "end" in path
            else operator.get(f"{PAUSES}{path.format(name)}/")
            for name in (hidden["id"], missing)
        ]
        assert [one.status_code for one in answers] == [404, 404]
        assert answers[0].json() | {"request_id": ""} == answers[1].json() | {"request_id": ""}
    assert operator.get(PAUSES).json()["results"] == []
    assert operator.post(PAUSES, BODY | {"organisation": "globex"}).status_code == 404
    assert operator.post(PAUSES, BODY | {"organisation": "nobody"}).status_code == 404
