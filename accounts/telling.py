"""Whom to tell what, once: who holds a right, who wants such mail, and what each was told already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from caseflow.domain.notices import StaffNotice as Kind
from caseflow.domain.roles import Right

from .models import OrganisationGroupRight, OrganisationPersonRight, Person, StaffNotice


@dataclass(frozen=True, slots=True)
class Wanted:
    """That one person shall be told one thing."""

    person_id: int
    organisation_id: int
    kind: Kind
    subject: str


def people_with(right: Right, organisation_ids: Iterable[int]) -> Mapping[int, frozenset[int]]:
    """Organisation → the active people who hold the right there; two queries."""
    held = {"content_object_id__in": list(organisation_ids), "permission__codename": right.value}
    rows = [
        *OrganisationPersonRight.objects.filter(**held, user__is_active=True).values_list("content_object_id", "user"),
        *OrganisationGroupRight.objects.filter(**held, group__user__is_active=True).values_list(
            "content_object_id", "group__user"
        ),
    ]
    found: dict[int, set[int]] = {}
    for organisation_id, person_id in rows:
        found.setdefault(organisation_id, set()).add(person_id)
    return {organisation_id: frozenset(people) for organisation_id, people in found.items()}


def store_wanted(wanted: Iterable[Wanted], *, at: datetime) -> int:
    """Write down what nobody was told yet, for people who have an address and want such mail; how many. Three queries.

    A row is there before its mail leaves, and there is one a person, kind and subject: nobody is told twice.
    """
    asked = list(wanted)
    people = Person.objects.filter(pk__in={one.person_id for one in asked}, is_active=True).exclude(email="")
    muted = dict(people.values_list("pk", "muted_notices"))
    told = set(
        StaffNotice.objects.filter(subject__in={one.subject for one in asked}).values_list(
            "person_id", "kind", "subject"
        )
    )
    rows = [
        StaffNotice(
            person_id=one.person_id, organisation_id=one.organisation_id, kind=one.kind, subject=one.subject, at=at
        )
        for one in asked
        if one.person_id in muted
        and one.kind.value not in muted[one.person_id]
        and (one.person_id, one.kind.value, one.subject) not in told
    ]
    StaffNotice.objects.bulk_create(rows, ignore_conflicts=True)
    return len(rows)
