"""From a name in a request to an object: out of sight is "not found", without the right is refused and recorded."""

from __future__ import annotations

from typing import NoReturn

from django.db import transaction

from accounts import access
from accounts.models import Organisation, Person, ServiceAccount
from accounts.principal import Principal, actor_of
from audit.services import record_organisation_event
from caseflow.domain.errors import NotFound, NotPermitted
from caseflow.domain.identifiers import PUBLIC_ID
from caseflow.domain.roles import Right
from cases.models import Case
from cases.selectors import get_case

from .errors import ServiceNeverDecides, ServiceNeverHolds, ServiceNeverRecovers


def get_organisation(principal: Principal, slug: str, right: Right) -> Organisation:
    """The organisation `slug` where `principal` holds `right`. Raises NotFound, NotPermitted.

    A machine costs no query: its token brought the organisation and the rights along a moment ago.
    """
    if isinstance(principal, ServiceAccount):
        organisation = principal.organisation
        rights = {Right(value) for value in principal.rights}
        if organisation.slug != slug:
            raise NotFound
    else:
        found = Organisation.objects.filter(slug=slug).first()
        rights = set(access.rights_in(principal, found.pk)) if found else set()
        if found is None or not rights:
            raise NotFound
        organisation = found
    if right not in rights:
        refuse(principal, organisation.pk, right, organisation=slug)
    return organisation


def get_case_for(principal: Principal, public_id: str, right: Right) -> Case:
    """The case, where `principal` holds `right`. Raises NotFound, and NotPermitted where it is in sight only."""
    try:
        return get_case(principal, public_id, right)
    except NotFound:
        case = get_case(principal, public_id, Right.SEE_CASES)
    refuse(principal, case.organisation_id, right, case=case.public_id)


def require_person(principal: Principal, proposal: str) -> Person:
    """Raises ServiceNeverDecides: the same for every proposal, so that it tells nothing of them."""
    if isinstance(principal, Person):
        return principal
    facts = {"right": Right.DECIDE.value, "proposal": proposal if PUBLIC_ID.fullmatch(proposal) else ""}
    _record(principal, principal.organisation_id, facts)
    raise ServiceNeverDecides


def require_recoverer(principal: Principal, name: str) -> Person:
    """Raises ServiceNeverRecovers: the same for every object, so that it tells nothing of them."""
    if isinstance(principal, Person):
        return principal
    facts = {"right": Right.RECOVER.value, "object": name if PUBLIC_ID.fullmatch(name) else ""}
    _record(principal, principal.organisation_id, facts)
    raise ServiceNeverRecovers


def require_holder(principal: Principal, name: str) -> Person:
    """Raises ServiceNeverHolds: the same for every case, so that it tells nothing of them."""
    if isinstance(principal, Person):
        return principal
    facts = {"right": Right.SUPPLY_DATA.value, "object": name if PUBLIC_ID.fullmatch(name) else ""}
    _record(principal, principal.organisation_id, facts)
    raise ServiceNeverHolds


def refuse(principal: Principal, organisation_id: int, right: Right, **facts: str) -> NoReturn:
    """Record the refusal in a transaction of its own, and raise NotPermitted."""
    _record(principal, organisation_id, {"right": right.value, **facts})
    raise NotPermitted(right=right.value)


def _record(principal: Principal, organisation_id: int, facts: dict[str, str]) -> None:
    with transaction.atomic():
        record_organisation_event(organisation_id, "access.refused", actor=actor_of(principal), facts=facts)
