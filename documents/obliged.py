"""What an obligation's case was told: the one place that finds out what a subject stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from accounts.models import Department, Organisation
from caseflow.domain.errors import BadInput
from caseflow.domain.identifiers import normalise_external_id
from caseflow.domain.periods import Period
from caseflow.processes.department_report import SOURCE
from cases.models import Case, IntakeRevision


@dataclass(frozen=True, slots=True)
class Obliged:
    """An edition of an obligation: `subject` names it everywhere, `told` is the newest intake of its case."""

    case_id: int
    subject: str
    organisation: Organisation
    department: Department
    told: Mapping[str, Any]

    @property
    def kind(self) -> str:
        return str(self.told["kind"])

    @property
    def period(self) -> Period:
        return Period.parse(self.told["period"])

    @property
    def edition(self) -> int:
        return int(self.told["edition"])

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.told["zone"])

    @property
    def start(self) -> datetime:
        return self.period.start(self.zone)

    @property
    def end(self) -> datetime:
        """The first moment after it, which is the moment that the data show."""
        return self.period.end(self.zone)


def find_obliged(subject: str) -> Obliged | None:
    """Two queries. `subject` is `<organisation>/<department>/<kind>/<period>`, with `/r<edition>` after the first."""
    try:
        normal = normalise_external_id(subject)
    except BadInput:
        return None
    case = (
        Case.objects.select_related("organisation", "department")
        .filter(organisation__slug=subject.partition("/")[0], source=SOURCE, external_id_normal=normal)
        .first()
    )
    if case is None or case.department is None:
        return None
    told = IntakeRevision.objects.filter(case=case).order_by("-number").values_list("body", flat=True)[0]
    return Obliged(case.pk, subject, case.organisation, case.department, told)
