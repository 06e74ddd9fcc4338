"""Who acts in generated cases: in each organisation a machine, an operator, two approvers and a recoverer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg

from accounts.models import Organisation, Person, ServiceAccount
from accounts.principal import SYSTEM, Actor, actor_of_person, actor_of_service
from accounts.services import create_organisation, create_service_account, grant_role
from caseflow.domain.roles import Right, Role
from operations.models import DriftRun

#: Of two languages; those of the demo are used where they exist.
ORGANISATIONS = {"acme": ("Акме", "ru"), "globex": ("Globex", "en"), "sever": ("Север", "ru")}
#: Of a hundred cases.
SHARES = {"acme": 60, "globex": 30, "sever": 10}

#: username → role
PEOPLE = {
    "operator": Role.OPERATOR,
    "approver-1": Role.APPROVER,
    "approver-2": Role.APPROVER,
    "recoverer": Role.RECOVERER,
}


@dataclass(frozen=True, slots=True)
class Cast:
    """The people of one organisation."""

    organisation_id: int
    slug: str
    language: str
    machine: Actor
    operator: Actor
    approvers: tuple[Actor, Actor]
    recoverer: Actor


def find_or_make_casts() -> list[Cast]:
    """Whoever is missing is created by the services that create everybody."""
    return [_cast(slug, name, language) for slug, (name, language) in ORGANISATIONS.items()]


def make_drift_run(connection: psycopg.Connection[Any], at: Any) -> int:
    """The comparison that found what generated findings say, ended at `at`."""
    row = connection.execute(
        "INSERT INTO operations_driftrun (scope, began_at, ended_at, checked, differing, unreadable, cursor)"
        " VALUES (%s, %s::timestamptz - interval '20 seconds', %s, 0, 0, 0, 0) RETURNING id",
        [DriftRun.Scope.DAY, at, at],
    ).fetchone()
    assert row is not None
    return int(row[0])


def end_drift_run(connection: psycopg.Connection[Any], run: int) -> None:
    """What it looked at: every confirmed effect of its day."""
    connection.execute(
        "UPDATE operations_driftrun r SET"
        " differing = (SELECT count(*) FROM operations_driftfinding WHERE run_id = r.id),"
        " checked = (SELECT count(*) FROM actions_action WHERE kind = 'effect' AND status = 'CONFIRMED')"
        " WHERE id = %s",
        [run],
    )


def _cast(slug: str, name: str, language: str) -> Cast:
    organisation = Organisation.objects.filter(slug=slug).first()
    if organisation is None:
        organisation = create_organisation(slug=slug, name=name, language=language)
    people = {username: _person(organisation, username, role) for username, role in PEOPLE.items()}
    account = ServiceAccount.objects.filter(organisation=organisation, name="generated").first()
    if account is None:
        account = create_service_account(
            organisation=organisation, name="generated", owner=people["operator"], rights=[Right.OPEN_CASE], by=SYSTEM
        )
    actors = {username: actor_of_person(person) for username, person in people.items()}
    return Cast(
        organisation.pk,
        slug,
        language,
        actor_of_service(account),
        actors["operator"],
        (actors["approver-1"], actors["approver-2"]),
        actors["recoverer"],
    )


def _person(organisation: Organisation, username: str, role: Role) -> Person:
    full = f"{organisation.slug}-generated-{username}"
    person = Person.objects.filter(username=full).first()
    if person is None:
        person = Person.objects.create_user(
            username=full, name=f"{organisation.name} {username}", language=organisation.language
        )
        grant_role(person=person, organisation=organisation, role=role, by=SYSTEM)
    return person
