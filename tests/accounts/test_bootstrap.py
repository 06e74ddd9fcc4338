"""The first start of an installation, and of the demo."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.test import APIRequestFactory

from accounts import access
from accounts.models import Organisation, Person, ServiceToken
from accounts.tokens import ServiceTokenAuthentication
from audit.models import AuditEvent
from caseflow.domain.roles import Right

pytestmark = pytest.mark.usefixtures("database")


def bootstrap(*arguments: str) -> dict[str, Any]:
    out = io.StringIO()
    call_command("bootstrap", *arguments, stdout=out)
    return json.loads(out.getvalue())


ACME = ("--organisation", "acme", "--name", "Акме", "--admin", "boss", "--json")


def test_it_makes_an_organisation_an_admin_and_a_token_that_work() -> None:
    made = bootstrap(*ACME)

    acme = Organisation.objects.get(slug="acme")
    boss = Person.objects.get(username="boss")
    assert boss.check_password(made["password"])
    assert access.rights_in(boss, acme.pk) == {Right.SEE_CASES, Right.ADMINISTER}
    request = APIRequestFactory().get("/", headers={"Authorization": f"Bearer {made['token']}"})
    user, _token = ServiceTokenAuthentication().authenticate(request)
    assert access.rights_in(user.account, acme.pk) == {Right.OPEN_CASE, Right.SUPPLY_DATA, Right.SEE_CASES}


def test_a_second_run_makes_nothing_new_and_shows_no_secret() -> None:
    bootstrap(*ACME)
    before = (Person.objects.get().password, ServiceToken.objects.get().pk, AuditEvent.objects.count())

    again = bootstrap(*ACME)

    assert (again["organisation_is_new"], again["admin_is_new"]) == (False, False)
    assert (again["password"], again["token"]) == (None, None)
    assert (Person.objects.get().password, ServiceToken.objects.get().pk, AuditEvent.objects.count()) == before


def test_a_new_token_replaces_the_old_one() -> None:
    old = bootstrap(*ACME)["token"]
    new = bootstrap(*ACME, "--new-token")["token"]

    authentication = ServiceTokenAuthentication()
    assert authentication.authenticate(APIRequestFactory().get("/", headers={"Authorization": f"Bearer {new}"}))
    with pytest.raises(AuthenticationFailed):
        authentication.authenticate(APIRequestFactory().get("/", headers={"Authorization": f"Bearer {old}"}))


def test_only_the_first_admin_of_an_installation_runs_django_admin() -> None:
    bootstrap(*ACME)
    bootstrap("--organisation", "globex", "--admin", "other", "--json")

    assert [person.username for person in Person.objects.filter(is_superuser=True)] == ["boss"]


def test_a_password_comes_from_standard_input_and_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("a-password-of-their-own-7\n"))

    made = bootstrap(*ACME, "--password-stdin")

    assert made["password"] is None
    assert Person.objects.get().check_password("a-password-of-their-own-7")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--organisation", "acme"),
        ("--organisation", "a b", "--admin", "boss"),
        ("--organisation", "acme", "--admin", "bo ss"),
        ("--organisation", "acme", "--admin", "boss", "--time-zone", "Mars/Base"),
        ("--organisation", "acme", "--admin", "boss", "--time-zone", "../../etc"),
    ],
)
def test_a_wrong_call_is_refused_with_exit_code_2_and_makes_nothing(arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError) as refusal:
        bootstrap(*arguments)

    assert refusal.value.returncode == 2
    assert not Organisation.objects.exists()
    assert not Person.objects.exists()


def test_the_demo_needs_to_be_asked_for_twice(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.DEBUG = False
    monkeypatch.delenv("CASEFLOW_DEMO", raising=False)

    with pytest.raises(CommandError) as refusal:
        bootstrap("--demo")

    assert refusal.value.returncode == 2
    assert not Person.objects.exists()


def test_the_demo_has_a_working_sign_in_for_every_role_and_keeps_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASEFLOW_DEMO", "1")

    first, second = bootstrap("--demo"), bootstrap("--demo")

    assert first["token"] and second["token"] is None
    assert first["sign_ins"] == second["sign_ins"]
    for sign_in in first["sign_ins"]:
        person = Person.objects.get(username=sign_in["username"])
        assert person.check_password(sign_in["password"])
        seen = [one.slug for one in access.organisations_with(person, Right.SEE_CASES)]
        match sign_in["roles"]:
            case ["report_reader"]:
                assert (seen, access.rights_anywhere(person)) == ([], {"open_documents"})
            case ["platform_operator"]:
                assert (seen, access.rights_anywhere(person)) == ([], {"operate_platform"})
            case _:
                assert seen == [sign_in["organisation"]]
