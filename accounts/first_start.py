"""What a new installation needs before anybody can sign in: an organisation, its first admin, a machine that may
open cases. Every step looks first whether it was taken before, so running it again makes nothing new."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from django.db import transaction

from caseflow.domain.roles import Right, Role

from .gate import hold_exclusive
from .models import Organisation, Person, ServiceAccount, ServiceToken
from .principal import Actor
from .services import create_organisation, create_service_account, grant_role, issue_token, revoke_token

BOOTSTRAP = Actor("system", None, "bootstrap")
INTAKE = "intake"  #: the name of the service account that opens cases
INTAKE_RIGHTS = (Right.OPEN_CASE, Right.SUPPLY_DATA, Right.SEE_CASES)
PASSWORD_SIZE = 15  #: random bytes of a generated password


@dataclass(frozen=True, slots=True)
class FirstStart:
    """What is there now. `password` and `token` are texts shown once, None where nothing was made."""

    organisation: Organisation
    organisation_is_new: bool
    admin: Person
    admin_is_new: bool
    password: str | None
    account: ServiceAccount
    token: str | None


@transaction.atomic
def set_up(
    *,
    slug: str,
    name: str,
    admin: str,
    password: str | None,
    language: str = "ru",
    time_zone: str = "Europe/Moscow",
    new_token: bool = False,
) -> FirstStart:
    """Without `password` one is generated. A person who exists keeps theirs. `new_token` replaces the older tokens."""
    # Also the queue of two set-ups at once: the second finds what the first has made.
    hold_exclusive()
    organisation, organisation_is_new = find_or_create_organisation(
        slug=slug, name=name, language=language, time_zone=time_zone
    )
    person = Person.objects.filter(username=admin).first()
    shown = None
    admin_is_new = person is None
    if person is None:
        shown = None if password else secrets.token_urlsafe(PASSWORD_SIZE)
        # Only the first one runs the installation (Django admin); a superuser still has no business right.
        is_first = not Person.objects.filter(is_superuser=True).exists()
        person = Person.objects.create_user(
            username=admin,
            password=password or shown,
            language=language,
            time_zone=time_zone,
            is_staff=is_first,
            is_superuser=is_first,
        )
    grant_role(person=person, organisation=organisation, role=Role.ORG_ADMIN, by=BOOTSTRAP)
    account, token = find_or_create_intake(organisation=organisation, owner=person, new_token=new_token)
    return FirstStart(organisation, organisation_is_new, person, admin_is_new, shown, account, token)


def find_or_create_organisation(*, slug: str, name: str, language: str, time_zone: str) -> tuple[Organisation, bool]:
    """The organisation, and whether it is new."""
    found = Organisation.objects.filter(slug=slug).first()
    if found:
        return found, False
    return create_organisation(slug=slug, name=name, language=language, time_zone=time_zone, by=BOOTSTRAP), True


def find_or_create_intake(
    *, organisation: Organisation, owner: Person, new_token: bool
) -> tuple[ServiceAccount, str | None]:
    """The account that opens cases, and the text of a token if one was made."""
    account = ServiceAccount.objects.filter(organisation=organisation, name=INTAKE).first()
    is_new = account is None
    if account is None:
        account = create_service_account(
            organisation=organisation, name=INTAKE, owner=owner, rights=INTAKE_RIGHTS, by=BOOTSTRAP
        )
    if not (is_new or new_token):
        return account, None
    # Nobody knows the text of the older ones any more, or should not: alive they would only be a risk.
    for old in ServiceToken.objects.filter(account=account, revoked_at=None).select_related("account"):
        revoke_token(token=old, by=BOOTSTRAP)
    _token, text = issue_token(account=account, by=BOOTSTRAP)
    return account, text
