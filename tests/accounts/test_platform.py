"""The role above organisations: granted by a command, recorded, and without any case."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts import access
from accounts.models import Organisation, Person, PlatformOperator
from accounts.principal import SYSTEM
from accounts.services import create_service_account
from audit.models import AuditEvent
from audit.services import PLATFORM, facts_of
from caseflow.domain.errors import NotPermitted
from caseflow.domain.roles import Right, Role

pytestmark = pytest.mark.usefixtures("database")
Make = Callable[..., Any]


def grant(*arguments: str) -> str:
    out = io.StringIO()
    call_command("grant_platform", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_grants_once_and_records_who_asked_under_which_account(a_person: Make) -> None:
    watcher = a_person("watcher")

    grant("watcher", "--reason", "on duty")
    grant("watcher", "--reason", "on duty")

    assert access.is_platform_operator(watcher)
    access.require_platform(watcher)
    event = AuditEvent.objects.get(organisation_id=PLATFORM)
    told = facts_of(event.body)
    assert event.kind == "platform.granted"
    assert told["actor"]["name"] == "grant_platform"
    assert (told["facts"]["person"], told["facts"]["reason"]) == (watcher.pk, "on duty")
    assert told["facts"]["os_account"]


def test_what_was_granted_can_be_taken_again(a_person: Make) -> None:
    watcher = a_person("watcher")
    grant("watcher", "--reason", "on duty")

    grant("watcher", "--reason", "off duty", "--revoke")

    assert not access.is_platform_operator(watcher)
    with pytest.raises(NotPermitted) as refusal:
        access.require_platform(watcher)
    assert refusal.value.params == {"right": "operate_platform"}
    assert list(AuditEvent.objects.order_by("id").values_list("kind", flat=True)) == [
        "platform.granted",
        "platform.revoked",
    ]


def test_a_platform_operator_has_no_right_in_any_organisation(acme: Organisation, a_person: Make) -> None:
    watcher = a_person("watcher")
    grant("watcher", "--reason", "on duty")

    assert access.rights_in(watcher, acme.pk) == frozenset()
    assert not any(access.organisations_with(watcher, right).exists() for right in Right)


def test_no_role_no_superuser_and_no_machine_is_a_platform_operator(acme: Organisation, a_person: Make) -> None:
    people = [a_person(role.value, acme, role) for role in Role]
    people.append(Person.objects.create_superuser(username="root"))
    machine = create_service_account(organisation=acme, name="m", owner=people[0], rights=[Right.OPEN_CASE], by=SYSTEM)
    PlatformOperator.objects.create(person=people[0])  # with the key of the machine, too, whichever it is

    assert not any(access.is_platform_operator(person) for person in people[1:])
    assert not access.is_platform_operator(machine)


def test_a_dismissed_platform_operator_is_none_at_once(a_person: Make) -> None:
    watcher = a_person("watcher")
    grant("watcher", "--reason", "on duty")
    Person.objects.filter(pk=watcher.pk).update(is_active=False)

    assert not access.is_platform_operator(watcher)


@pytest.mark.parametrize("arguments", [("nobody", "--reason", "x"), ("watcher", "--reason", " "), ("watcher",)])
def test_a_wrong_call_grants_nothing(a_person: Make, arguments: tuple[str, ...]) -> None:
    a_person("watcher")

    with pytest.raises(CommandError):
        grant(*arguments)

    assert not PlatformOperator.objects.exists()
