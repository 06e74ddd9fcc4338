"""A department with tickets, an obligation of it for a closed day, and a store of its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from accounts.models import Department, Organisation
from accounts.principal import SYSTEM
from accounts.services import create_departments, create_organisation
from caseflow.domain.canonical import canonical_bytes
from caseflow.domain.outcomes import Outcome
from caseflow.processes.department_report import SOURCE
from cases.intake import open_case
from cases.models import Case
from documents.adapter import ReportStore
from documents.data import DataSets
from documents.datasets import store_lines
from documents.storage import FolderStorage, document_store
from tests.factories import T4821

DAY = "2026-10-01"
ABOUT: dict[str, Any] = {
    "format": 1,
    "organisation": "Акме",
    "department": "Продажи",
    "kind": "requests",
    "period": DAY,
    "start": "2026-09-30T21:00:00Z",
    "end": "2026-10-01T21:00:00Z",
    "zone": "Europe/Moscow",
    "language": "ru",
}
ROW: dict[str, Any] = {
    "case": "C-0000000001",
    "ticket": "T-1",
    "subject": "S-77",
    "process": "restore_access",
    "state": "COMPLETED",
    "outcome": "done",
    "opened": "2026-10-01T10:00:00Z",
    "closed": "2026-10-01T12:00:00Z",
    "age": 7200,
}


@pytest.fixture(autouse=True)
def store(tmp_path: Path, settings: Any) -> Iterator[FolderStorage]:
    """Of this test alone."""
    folder = tmp_path / "store"
    told = {**settings.STORAGES["documents"], "OPTIONS": {"location": folder}}
    settings.STORAGES = {**settings.STORAGES, "documents": told}
    yield document_store()
    shutil.rmtree(folder, ignore_errors=True)


@dataclass
class Sales:
    """The department, its obligation, and the two systems as the engine meets them."""

    organisation: Organisation
    department: Department
    subject: str

    def ticket(self, external_id: str, **changes: Any) -> Case:
        told = T4821(external_id=external_id, **changes)
        told.pop("organisation")
        opened = open_case(organisation=self.organisation, actor=SYSTEM, department_id=self.department.pk, **told)
        return opened.case

    def oblige(self, edition: int = 1, period: str = DAY) -> str:
        """A case that owes the edition; its subject."""
        base = f"{self.organisation.slug}/{self.department.slug}/requests/{period}"
        subject = base if edition == 1 else f"{base}/r{edition}"
        open_case(
            organisation=self.organisation,
            process="department_report",
            source=SOURCE,
            external_id=subject,
            intake={
                "obligation": subject,
                "department": self.department.slug,
                "kind": "requests",
                "period": period,
                "edition": edition,
                "zone": "Europe/Moscow",
                "language": "ru",
                "recipients": [1],
            },
            actor=SYSTEM,
            department_id=self.department.pk,
            from_outside=False,
        )
        return subject

    def choose(self, subject: str = "") -> dict[str, Any]:
        return dict(DataSets().read("data_set", subject or self.subject, call_id="call"))

    def data_of(self, *tickets: str, **changes: Any) -> str:
        """The digest of a stored data set with a row for each of these names."""
        lines = [ABOUT | changes, *(ROW | {"ticket": ticket} for ticket in tickets)]
        placed, _ = store_lines(document_store(), (canonical_bytes(line) + b"\n" for line in lines), about=())
        return placed.sha256

    def make(self, key: str, *, subject: str = "", **request: Any) -> Outcome:
        subject = subject or self.subject
        if "data_set" not in request:
            request["data_set"] = self.data_of("T-1", "T-2")
        asked = {"formats": ["csv"], **request}
        return ReportStore().perform("make_report", subject, asked, key=key, call_id="call")

    def document(self, subject: str = "") -> dict[str, Any]:
        return dict(ReportStore().read("document", subject or self.subject, call_id="call"))


@pytest.fixture
def sales(database: None) -> Sales:
    return _sales()


@pytest.fixture
def committed_sales(committing_database: None) -> Sales:
    """The same where several connections see it."""
    return _sales()


def _sales() -> Sales:
    organisation = create_organisation(slug="acme", name="Акме")
    (department,) = create_departments(organisation=organisation, names=[("sales", "Продажи")])
    made = Sales(organisation, department, "")
    made.subject = made.oblige()
    return made
