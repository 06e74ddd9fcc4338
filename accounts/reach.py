"""Who holds which right where, as SQL: by a grant of one's own or by a role.

It stands in nearly every statement of both faces, so it is written out and kept: putting it together from parts took
longer than asking it. `is_active` is asked of the database: the object at hand may be older than the dismissal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import Permission
from django.db import connection
from django.db.models.expressions import RawSQL

from caseflow.domain.roles import PLATFORM, Right

from .models import (
    DepartmentGroupRight,
    DepartmentPersonRight,
    OrganisationGroupRight,
    OrganisationPersonRight,
    Person,
    PlatformOperator,
)


@dataclass(frozen=True, slots=True)
class Reach:
    """What a person may do, and where; read once for a page. `anywhere` also counts departments and PLATFORM."""

    anywhere: frozenset[str]
    organisations: Mapping[str, tuple[int, ...]]  #: right → keys of the organisations that give it, in order

    def where(self, right: Right) -> tuple[int, ...]:
        return self.organisations.get(right.value, ())


def _held(direct: Any, by_role: Any) -> str:
    """(place, codename) of one person, whose key is asked for twice."""
    people, permissions = Person._meta.db_table, Permission._meta.db_table
    members = Person.groups.through._meta.db_table
    return f"""
SELECT d.content_object_id AS place, p.codename FROM {direct._meta.db_table} d
  JOIN {people} u ON u.id = d.user_id AND u.is_active JOIN {permissions} p ON p.id = d.permission_id
  WHERE d.user_id = %s
UNION ALL
SELECT r.content_object_id, p.codename FROM {members} m
  JOIN {people} u ON u.id = m.person_id AND u.is_active JOIN {by_role._meta.db_table} r ON r.group_id = m.group_id
  JOIN {permissions} p ON p.id = r.permission_id
  WHERE m.person_id = %s"""


_IN_ORGANISATIONS = _held(OrganisationPersonRight, OrganisationGroupRight)
_IN_DEPARTMENTS = _held(DepartmentPersonRight, DepartmentGroupRight)
# As an array: otherwise the planner, which thinks that it is one place, asks all of this again for row after row.
# A page costs the server half as much.
_PLACES = "SELECT unnest(ARRAY(SELECT place FROM ({held}) held WHERE codename = %s))"
_ORGANISATIONS = _PLACES.format(held=_IN_ORGANISATIONS)
_DEPARTMENTS = _PLACES.format(held=_IN_DEPARTMENTS)
_RIGHTS = f"SELECT DISTINCT codename FROM ({_IN_ORGANISATIONS}) held WHERE place = %s"
_REACH = f"""
SELECT codename, array_agg(DISTINCT place ORDER BY place) FROM ({_IN_ORGANISATIONS}) held GROUP BY codename
UNION ALL SELECT DISTINCT codename, '{{}}'::bigint[] FROM ({_IN_DEPARTMENTS}) held
UNION ALL SELECT '{PLATFORM}', '{{}}' FROM {PlatformOperator._meta.db_table} o
  JOIN {Person._meta.db_table} u ON u.id = o.person_id AND u.is_active WHERE o.person_id = %s"""


def organisations_of(person: Person, right: Right) -> RawSQL:
    """Keys of the organisations that give the right, for `…__in`."""
    return RawSQL(_ORGANISATIONS, [person.pk, person.pk, right.value])  # noqa: S611  # every value is a parameter


def departments_of(person: Person, right: Right) -> RawSQL:
    return RawSQL(_DEPARTMENTS, [person.pk, person.pk, right.value])  # noqa: S611


def rights_at(person: Person, organisation_id: int) -> frozenset[str]:
    """Codenames; Django's own (add, change, …) stand among them. One query."""
    return frozenset(codename for (codename,) in _ask(_RIGHTS, person.pk, person.pk, organisation_id))


def reach_of(person: Person) -> Reach:
    """Every right of `person` with the organisations that give it; one query."""
    key = person.pk
    rows = _ask(_REACH, key, key, key, key, key)
    places = {codename: tuple(found) for codename, found in rows if found}
    return Reach(frozenset(codename for codename, _ in rows), places)


def _ask(statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return list(cursor.fetchall())
