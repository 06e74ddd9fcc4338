"""Setting up machines and doorbells in the console."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from accounts.models import Organisation, Person, ServiceAccount, ServiceToken
from accounts.principal import SYSTEM
from accounts.services import create_service_account, issue_token
from audit.models import AuditEvent
from audit.services import facts_of
from caseflow.domain.roles import Right, Role
from cases.models import WebhookSource
from tests.console.conftest import Desk
from tests.factories import make_organisation, make_person

TOKEN = re.compile(r"cf_[a-z0-9]{8}_[A-Za-z0-9_-]{43}")
SECRET = re.compile(r"whsec_[A-Za-z0-9+/]{43}=")
PAGE = "/console/admin/machines/acme/"


@pytest.fixture
def acme(database: None) -> Organisation:
    return make_organisation("acme")


@pytest.fixture
def owner(acme: Organisation) -> Person:
    return make_person("owner", acme, Role.OPERATOR)


@pytest.fixture
def admin(acme: Organisation) -> Desk:
    return Desk(make_person("admin", acme, Role.ORG_ADMIN), "en")


@pytest.fixture
def machine(acme: Organisation, owner: Person) -> ServiceAccount:
    return create_service_account(organisation=acme, name="intake", owner=owner, rights=[Right.OPEN_CASE], by=SYSTEM)


def good(token: str) -> bool:
    return bool(Client().get("/api/v1/cases/", headers={"Authorization": f"Bearer {token}"}).status_code == 200)


def events(*kinds: str) -> list[tuple[str, dict[str, Any]]]:
    rows = AuditEvent.objects.filter(kind__in=kinds).order_by("id")
    return [(row.kind, facts_of(row.body)["facts"]) for row in rows]


def test_a_new_machine_gets_a_token_that_is_shown_once_and_is_good(admin: Desk, owner: Person) -> None:
    fields = {"name": "help desk", "owner": owner.pk, "rights": ["open_case", "see_cases"], "life": "90"}
    page = admin.post(f"{PAGE}new/", fields, follow=False)
    [text] = set(TOKEN.findall(page.html))
    account, token = ServiceAccount.objects.get(), ServiceToken.objects.get()

    assert good(text) and text not in admin.get(PAGE).html
    assert (account.owner, account.rights) == (owner, ["open_case", "see_cases"])
    assert token.expires_at is not None and token.expires_at - token.created_at < timedelta(days=90, minutes=1)
    assert "no-store" in page.response["Cache-Control"]
    assert [kind for kind, _ in events("service_account.created", "token.issued")] == [
        "service_account.created",
        "token.issued",
    ]
    assert text[12:] not in repr(events("service_account.created", "token.issued"))


def test_a_machine_may_only_be_given_what_machines_may(admin: Desk, owner: Person) -> None:
    for right in ("decide_proposal", "order_recovery", "authorise_recovery", "administer_organisation"):
        fields = {"name": "clever", "owner": owner.pk, "rights": [right], "life": "90"}
        admin.post(f"{PAGE}new/", fields, status=400)
    assert not ServiceAccount.objects.exists()


def test_the_owner_is_somebody_of_the_organisation(admin: Desk) -> None:
    stranger = make_person("stranger", make_organisation("other"), Role.OPERATOR)
    fields = {"name": "help desk", "owner": stranger.pk, "rights": ["open_case"], "life": "90"}
    admin.post(f"{PAGE}new/", fields, status=400)
    assert not ServiceAccount.objects.exists()


def test_a_name_is_used_once(admin: Desk, owner: Person, machine: ServiceAccount) -> None:
    fields = {"name": "intake", "owner": owner.pk, "rights": ["open_case"], "life": "90"}
    assert "This name is used already." in admin.post(f"{PAGE}new/", fields, status=400).text


def test_a_rotation_lets_the_old_token_go_on_for_a_while_and_no_longer(
    admin: Desk, machine: ServiceAccount, as_owner: Any
) -> None:
    machine.rights = ["see_cases"]
    machine.save()
    old, old_text = issue_token(account=machine)

    page = admin.post(f"{PAGE}{machine.public_id}/token/", {"life": "365", "overlap": "1"}, follow=False)
    [new_text] = set(TOKEN.findall(page.html))
    both = (good(old_text), good(new_text))
    old.refresh_from_db()
    ServiceToken.objects.filter(pk=old.pk).update(expires_at=old.created_at)

    assert both == (True, True)
    assert old.expires_at is not None and timedelta(hours=23) < old.expires_at - old.created_at < timedelta(hours=25)
    assert (good(old_text), good(new_text)) == (False, True)
    assert events("token.rotated") == [("token.rotated", {"account": machine.pk, "overlap": 86400})]


def test_a_rotation_never_lets_a_token_live_longer(admin: Desk, machine: ServiceAccount) -> None:
    token, _ = issue_token(account=machine)
    ServiceToken.objects.filter(pk=token.pk).update(expires_at=token.created_at + timedelta(minutes=5))
    admin.post(f"{PAGE}{machine.public_id}/token/", {"life": "365", "overlap": "7"}, follow=False)
    assert ServiceToken.objects.get(pk=token.pk).expires_at == token.created_at + timedelta(minutes=5)


def test_a_revoked_token_is_refused_at_once(admin: Desk, machine: ServiceAccount) -> None:
    machine.rights = ["see_cases"]
    machine.save()
    token, text = issue_token(account=machine)
    address = f"{PAGE}{machine.public_id}/revoke/{token.prefix}/"
    before = good(text)

    assert "cannot be undone" in admin.get(address).text and good(text)  # asking changes nothing
    admin.post(address)

    assert (before, good(text)) == (True, False)
    assert [kind for kind, _ in events("token.revoked")] == ["token.revoked"]


def test_a_machine_that_is_switched_off_is_refused_until_it_is_on_again(admin: Desk, machine: ServiceAccount) -> None:
    machine.rights = ["see_cases"]
    machine.save()
    _token, text = issue_token(account=machine)
    found = []
    for on in ("0", "1"):
        admin.post(f"{PAGE}{machine.public_id}/switch/", {"on": on})
        found.append(good(text))

    assert found == [False, True]
    assert [kind for kind, _ in events("service_account.switched_off", "service_account.switched_on")] == [
        "service_account.switched_off",
        "service_account.switched_on",
    ]


def test_a_new_owner_is_on_record_with_the_former_one(
    admin: Desk, acme: Organisation, owner: Person, machine: ServiceAccount
) -> None:
    other = make_person("other", acme, Role.VIEWER)
    admin.post(f"{PAGE}{machine.public_id}/owner/", {"owner": other.pk})
    assert events("service_account.owner_changed") == [
        ("service_account.owner_changed", {"account": machine.pk, "owner": other.pk, "former": owner.pk})
    ]


def test_a_doorbell_is_set_up_rotated_and_switched_off(admin: Desk) -> None:
    page = admin.post("/console/admin/doorbells/acme/new/", {"name": "billing", "system": "payments"}, follow=False)
    [first] = set(SECRET.findall(page.html))
    source = WebhookSource.objects.get()
    rotated = admin.post(f"/console/admin/doorbells/acme/{source.public_id}/secret/", {"overlap": "1"}, follow=False)
    [second] = set(SECRET.findall(rotated.html))
    admin.post(f"/console/admin/doorbells/acme/{source.public_id}/switch/", {"on": "0"})
    source.refresh_from_db()
    shown = admin.get(PAGE).html

    assert f"/api/v1/webhooks/{source.public_id}/" in page.html
    assert first != second and first not in shown and second not in shown
    assert not source.is_active
    assert [kind for kind, _ in events("webhook_source.created", "webhook_source.rotated")] == [
        "webhook_source.created",
        "webhook_source.rotated",
    ]


ADDRESSES: list[tuple[str, Callable[[Any, Any], str]]] = [
    ("GET", lambda machine, source: PAGE),
    ("POST", lambda machine, source: f"{PAGE}new/"),
    ("POST", lambda machine, source: f"{PAGE}{machine.public_id}/token/"),
    ("POST", lambda machine, source: f"{PAGE}{machine.public_id}/owner/"),
    ("POST", lambda machine, source: f"{PAGE}{machine.public_id}/switch/"),
    ("POST", lambda machine, source: f"{PAGE}{machine.public_id}/revoke/{machine.tokens.get().prefix}/"),
    ("POST", lambda machine, source: "/console/admin/doorbells/acme/new/"),
    ("POST", lambda machine, source: f"/console/admin/doorbells/acme/{source.public_id}/secret/"),
    ("POST", lambda machine, source: f"/console/admin/doorbells/acme/{source.public_id}/switch/"),
]


def test_only_an_administrator_of_this_organisation_sets_machines_up(
    acme: Organisation, machine: ServiceAccount
) -> None:
    from cases.webhook_sources import create_source

    issue_token(account=machine)
    source, _ = create_source(organisation=acme, name="billing", system="payments", by=SYSTEM)
    here = Desk(make_person("operator", acme, Role.OPERATOR), "en")
    elsewhere = Desk(make_person("foreign", make_organisation("other"), Role.ORG_ADMIN), "en")
    before = AuditEvent.objects.filter(kind__startswith="token.").count()

    for method, address in ADDRESSES:
        path = address(machine, source)
        statuses = [getattr(desk.client, method.lower())(path).status_code for desk in (here, elsewhere)]
        assert statuses == [403, 404], path
    assert AuditEvent.objects.filter(kind__startswith="token.").count() == before


def test_an_administrator_does_not_reach_another_organisations_machine_through_their_own(
    admin: Desk, machine: ServiceAccount
) -> None:
    other = make_organisation("other")
    foreign = create_service_account(
        organisation=other, name="theirs", owner=make_person("their", other, Role.VIEWER), rights=[], by=SYSTEM
    )
    for rest in ("token/", "owner/"):
        admin.get(f"{PAGE}{foreign.public_id}/{rest}", status=404)
        admin.get(f"{PAGE}{machine.public_id}/{rest}")
