"""A department whose heads are told of its reports, on the engine of the other rooms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Department, Person
from accounts.principal import SYSTEM
from accounts.services import create_departments, grant_role, revoke_role
from actions.models import Action
from caseflow.domain.roles import Role
from cases.models import Case
from documents.models import Document
from operations.models import Obligation
from operations.reporting import Requested, correct_report, request_report
from tests.driving import Engine, Story, engine, simulator

__all__ = ["Bureau", "bureau", "engine", "simulator"]


@dataclass
class Bureau:
    """The sales department of Acme, three heads of it, and an operator who asks for reports."""

    engine: Engine
    department: Department
    heads: list[Person]
    period: str = "2024-10-01"

    @property
    def operator(self) -> Person:
        return self.engine.person("operator")

    def request(self, period: str = "", *, recipients: Sequence[str] | None = None, **words: Any) -> Requested:
        asked = {
            "organisation": self.engine.organisation,
            "department": "sales",
            "kind": "requests",
            "period": period or self.period,
            "principal": words.pop("principal", None) or self.operator,
            "recipients": recipients,
        }
        return request_report(**(asked | words))

    def correct(
        self, obligation: Obligation, *, person: Person | None = None, reason: str = "A row was wrong"
    ) -> Requested:
        return correct_report(obligation=obligation, reason=reason, person=person or self.operator)

    def story(self, requested: Requested) -> Story:
        case = requested.edition.case
        return Story(self.engine, case.pk, payment="", subscription="", customer="", email="")

    def run(self, requested: Requested) -> Story:
        story = self.story(requested)
        story.run()
        return story

    def take_access(self, person: Person) -> None:
        revoke_role(person=person, **self._access)

    def give_access(self, person: Person) -> None:
        grant_role(person=person, **self._access)

    @property
    def _access(self) -> dict[str, Any]:
        where = {"organisation": self.engine.organisation, "department": self.department}
        return where | {"role": Role.REPORT_READER, "by": SYSTEM}

    def letters(self) -> list[str]:
        """Whom the mail server has a letter for, one entry a letter."""
        addresses = {head.email for head in self.heads}
        effects = self.engine.outside.ask("GET", "/ledger").json()["effects"]
        return sorted(effect["subject"] for effect in effects if effect["subject"] in addresses)

    def notices(self, case: Case) -> dict[str, tuple[str, str]]:
        """Sign-in name → (status, code) of the newest notice to each person."""
        rows = Action.objects.filter(case=case, kind="notice").order_by("id")
        people = {f"addresses.p{head.pk}": head.username for head in self.heads}
        return {people[row.subject]: (row.status, row.code) for row in rows}

    def documents(self) -> int:
        return Document.objects.filter(department=self.department).count()


@pytest.fixture
def bureau(engine: Engine, settings: Any, tmp_path: Path) -> Bureau:
    store = settings.STORAGES["documents"]
    settings.STORAGES = settings.STORAGES | {
        "documents": store | {"OPTIONS": store["OPTIONS"] | {"location": tmp_path}}
    }
    (department,) = create_departments(organisation=engine.organisation, names=[("sales", "Sales")])
    bureau = Bureau(engine, department, [])
    for name in ("alpha", "beta", "gamma"):
        person = engine.person(name)
        # An address of this test alone: the mail server remembers every letter of the session.
        person.email = f"{name}-{department.pk}-{engine.organisation.pk}-{tmp_path.name}@example.org"
        person.save(update_fields=["email"])
        bureau.heads.append(person)
        bureau.give_access(person)
    return bureau
