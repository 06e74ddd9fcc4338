"""The people of the demo: two organisations that must never see each other, and a sign-in for every role."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.hashers import make_password
from django.db import transaction

from caseflow.domain.roles import Role

from .first_start import BOOTSTRAP, find_or_create_intake, find_or_create_organisation
from .gate import hold_exclusive
from .models import Department, Organisation, Person
from .platform import grant_platform
from .services import create_departments, grant_roles


@dataclass(frozen=True, slots=True)
class DemoPerson:
    organisation: str
    username: str
    name: str
    role: Role
    department: str = ""  #: of a report reader

    @property
    def password(self) -> str:
        return password_of(self.username)


ORGANISATIONS = {"acme": ("Акме", "ru", "Europe/Moscow"), "globex": ("Globex", "en", "Europe/London")}
DEPARTMENTS = {"acme": [("sales", "Отдел продаж"), ("support", "Поддержка")]}
PEOPLE = [
    DemoPerson("acme", "operator", "Оператор", Role.OPERATOR),
    DemoPerson("acme", "approver", "Согласующий 1", Role.APPROVER),
    DemoPerson("acme", "approver2", "Согласующий 2", Role.APPROVER),
    DemoPerson("acme", "recoverer", "Оператор восстановления", Role.RECOVERER),
    DemoPerson("acme", "viewer", "Наблюдатель", Role.VIEWER),
    DemoPerson("acme", "auditor", "Аудитор", Role.AUDITOR),
    DemoPerson("acme", "admin", "Администратор", Role.ORG_ADMIN),
    DemoPerson("acme", "reader", "Читатель сводок", Role.REPORT_READER, "sales"),
    DemoPerson("globex", "globex-operator", "Operator", Role.OPERATOR),
    DemoPerson("globex", "globex-approver", "Approver", Role.APPROVER),
]
WATCHER = "platform"  #: stands above both organisations and sees no case of theirs
ADMIN = "admin"  #: owns the service account and runs the installation in Django admin


@transaction.atomic
def set_up_demo(*, new_token: bool = False) -> dict[str, Any]:
    """Makes what is missing. Gives `organisations`, `sign_ins` with their passwords, and a `token` if made now."""
    hold_exclusive()
    organisations = {
        slug: find_or_create_organisation(slug=slug, name=name, language=language, time_zone=zone)[0]
        for slug, (name, language, zone) in ORGANISATIONS.items()
    }
    departments = _find_or_create_departments(organisations)
    people = _find_or_create_people(organisations)
    for (slug, department), grants in _grants(people).items():
        place = departments[slug, department] if department else None
        grant_roles(organisation=organisations[slug], grants=grants, department=place, by=BOOTSTRAP)
    grant_platform(person=_find_or_create_watcher(), by=BOOTSTRAP, reason="demo")
    _account, token = find_or_create_intake(
        organisation=organisations["acme"], owner=people[ADMIN], new_token=new_token
    )
    return {
        "organisations": [{"slug": one.slug, "name": one.name} for one in organisations.values()],
        "sign_ins": [
            {
                "username": one.username,
                "password": one.password,
                "roles": [one.role.value],
                "organisation": one.organisation,
                "name": one.name,
            }
            for one in PEOPLE
        ]
        + [
            {
                "username": WATCHER,
                "password": password_of(WATCHER),
                "roles": ["platform_operator"],
                "organisation": "",
                "name": "Оператор платформы",
            }
        ],
        "token": token,
    }


def password_of(username: str) -> str:
    return f"demo-{username}-2026"


def _grants(people: dict[str, Person]) -> dict[tuple[str, str], list[tuple[Person, Role]]]:
    """(organisation, department or "") → who gets what there."""
    grants: dict[tuple[str, str], list[tuple[Person, Role]]] = {}
    for one in PEOPLE:
        grants.setdefault((one.organisation, one.department), []).append((people[one.username], one.role))
    return grants


def _find_or_create_departments(organisations: dict[str, Organisation]) -> dict[tuple[str, str], Department]:
    """(organisation, department) → the department."""
    found: dict[tuple[str, str], Department] = {}
    for slug, wanted in DEPARTMENTS.items():
        organisation = organisations[slug]
        there = {one.slug: one for one in Department.objects.filter(organisation=organisation)}
        missing = [department for department in wanted if department[0] not in there]
        if missing:
            made = create_departments(organisation=organisation, names=missing, by=BOOTSTRAP)
            there |= {one.slug: one for one in made}
        found |= {(slug, name): department for name, department in there.items()}
    return found


def _find_or_create_watcher() -> Person:
    found = Person.objects.filter(username=WATCHER).first()
    return found or Person.objects.create_user(WATCHER, password=password_of(WATCHER), name="Оператор платформы")


def _find_or_create_people(organisations: dict[str, Organisation]) -> dict[str, Person]:
    usernames = [one.username for one in PEOPLE]
    people = {person.username: person for person in Person.objects.filter(username__in=usernames)}
    new = [
        Person(
            username=one.username,
            name=one.name,
            email=f"{one.username}@example.org",
            password=make_password(one.password),
            language=organisations[one.organisation].language,
            time_zone=organisations[one.organisation].time_zone,
            is_staff=one.username == ADMIN,
            is_superuser=one.username == ADMIN,
        )
        for one in PEOPLE
        if one.username not in people
    ]
    return people | {person.username: person for person in Person.objects.bulk_create(new)}
