"""Finding a case by any name that people or machines have for it. Nothing out of sight is ever found."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from accounts import access
from accounts.principal import Principal
from caseflow.domain.errors import BadInput
from caseflow.domain.identifiers import normalise_external_id
from caseflow.domain.roles import Right

from .models import Case, Observation


def find_cases(principal: Principal, name: str) -> QuerySet[Case]:
    """Cases in sight whose public id, ticket or subject `name` is, or whose ticket begins with it; one query."""
    cases = access.visible(Case.objects.select_related("organisation"), principal, Right.SEE_CASES)
    try:
        ticket = normalise_external_id(name)
    except BadInput:
        return cases.none()
    named = Q(public_id=ticket.upper()) | Q(external_id_normal__startswith=ticket) | Q(subject=ticket)
    return cases.filter(named).order_by("external_id_normal", "pk")


def find_cases_by_reading(principal: Principal, call_id: str) -> QuerySet[Case]:
    """Cases in sight for which a fact was read in the request `call_id`; one query."""
    read = Observation.objects.filter(call_id=call_id).values("case")
    cases = access.visible(Case.objects.select_related("organisation"), principal, Right.SEE_CASES)
    return cases.filter(pk__in=read).order_by("pk")


def is_name_of(case: Case, name: str) -> bool:
    """Whether `name` is the whole public id or ticket, not only the beginning of one, and no mere subject."""
    try:
        ticket = normalise_external_id(name)
    except BadInput:
        return False
    return ticket.upper() == case.public_id or ticket == case.external_id_normal
