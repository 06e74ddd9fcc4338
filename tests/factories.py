"""What many tests begin with: an organisation, people with roles, a machine's token, the ticket T-4821."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.db.models.functions import Now

from accounts.models import Organisation, Person, ServiceToken
from accounts.principal import SYSTEM
from accounts.services import create_organisation, create_service_account, grant_role, issue_token
from caseflow.domain.roles import RIGHTS_OF_SERVICES, Right, Role

if TYPE_CHECKING:
    from tests.integrations.conftest import Outside

WORLD: dict[str, Any] = {
    "customers": [{"id": "U-12", "email": "u12@example.org", "language": "ru"}],
    "payments": [
        {
            "id": "PAY-31",
            "customer_id": "U-12",
            "subscription_id": "S-77",
            "amount": "990.00",
            "currency": "RUB",
            "status": "confirmed",
        }
    ],
    "subscriptions": [
        {
            "id": "S-77",
            "customer_id": "U-12",
            "plan": "basic",
            "price": "990.00",
            "currency": "RUB",
            "status": "inactive",
        }
    ],
}
CLAIM = "Деньги списались, доступ не открылся 😞"


def make_organisation(slug: str = "acme") -> Organisation:
    return create_organisation(slug=slug, name=slug.title())


def make_person(username: str, organisation: Organisation | None = None, *roles: Role | str) -> Person:
    """Without a password: tests sign in by `force_login`."""
    person = Person.objects.create_user(username=username, name=username.title(), language="en")
    for role in roles:
        assert organisation is not None
        grant_role(person=person, organisation=organisation, role=Role(role), by=SYSTEM)
    return person


def make_token(
    organisation: Organisation,
    *,
    rights: Iterable[Right] = RIGHTS_OF_SERVICES,
    name: str = "intake",
    owner: Person | None = None,
) -> str:
    """The text of a fresh token of a new service account."""
    owner = owner or make_person(f"owner-of-{name}-{organisation.slug}")
    account = create_service_account(organisation=organisation, name=name, owner=owner, rights=rights, by=SYSTEM)
    token, text = issue_token(account=account)
    # As of a machine that called a moment ago: the first call of an hour notes that, which most tests are not about.
    ServiceToken.objects.filter(pk=token.pk).update(last_used_at=Now())
    return text


def T4821(outside: Outside | None = None, **changes: Any) -> dict[str, Any]:
    """The body of the ticket; `changes` replace its fields. With `outside` the things it is about are put there."""
    if outside is not None:
        outside.ask("PUT", "/world", WORLD).raise_for_status()
    ticket = {
        "organisation": "acme",
        "process": "restore_access",
        "source": "helpdesk",
        "external_id": "T-4821",
        "source_url": "https://helpdesk.example.org/tickets/4821",
        "intake": {"customer_id": "U-12", "subscription_id": "S-77", "payment_id": "PAY-31", "claim": CLAIM},
    }
    return ticket | changes
