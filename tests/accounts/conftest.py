"""Organisations and people for the tests of this room."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from accounts.models import Organisation, Person
from accounts.principal import SYSTEM
from accounts.services import create_organisation, grant_role
from caseflow.domain.roles import Role


@pytest.fixture
def an_organisation(database: None) -> Callable[..., Organisation]:
    def make(slug: str = "acme") -> Organisation:
        return create_organisation(slug=slug, name=slug.title())

    return make


@pytest.fixture
def a_person(database: None) -> Callable[..., Person]:
    def make(username: str, organisation: Organisation | None = None, role: Role | None = None) -> Person:
        person = Person.objects.create_user(username=username, name=username.title())
        if organisation and role:
            grant_role(person=person, organisation=organisation, role=role, by=SYSTEM)
        return person

    return make


@pytest.fixture
def acme(an_organisation: Callable[..., Organisation]) -> Organisation:
    return an_organisation("acme")
