"""The case row as stages and services see it: a small immutable reading, never saved back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from caseflow.domain.lifecycle import State
from caseflow.domain.process import Process
from caseflow.statements import Values, row_of, rows_of

from .models import Case
from .processes import get_process

#: Columns of a reading, in the order of the fields of CaseRow.
COLUMNS = (
    "id",
    "public_id",
    "organisation_id",
    "external_id",
    "process",
    "process_version",
    "subject",
    "state",
    "version",
    "reason",
    "ending",
    "wait_until",
    "plan_begun",
    "effects_open",
    "effects_done",
    "returns",
)
_STATE = COLUMNS.index("state")
SELECTED = ", ".join(f"c.{column}" for column in COLUMNS)

_LOCK = f"SELECT {SELECTED} FROM cases_case c WHERE c.id = %s FOR NO KEY UPDATE"


@dataclass(frozen=True, slots=True)
class CaseRow:
    """What was true of a case when it was read, or locked."""

    id: int
    public_id: str
    organisation_id: int
    external_id: str
    process: str
    process_version: int
    subject: str
    state: State
    version: int
    reason: str
    ending: str
    wait_until: datetime | None
    plan_begun: bool
    effects_open: int
    effects_done: int
    returns: int

    @classmethod
    def of(cls, values: Sequence[Any]) -> CaseRow:
        row = list(values)
        row[_STATE] = State(row[_STATE])
        return cls(*row)

    @classmethod
    def of_case(cls, case: Case) -> CaseRow:
        return cls.of([getattr(case, column) for column in COLUMNS])

    @property
    def definition(self) -> Process:
        """The process of this case, in the version it was opened with."""
        return get_process(self.process, self.process_version)

    @property
    def process_key(self) -> str:
        return f"{self.process}:{self.process_version}"


def locking(case_id: int) -> tuple[str, Values]:
    """What locks the case until the end of the transaction and tells its columns, to be sent with others."""
    return _LOCK, [case_id]


def lock_case(case_id: int) -> CaseRow:
    """The case, locked until the end of the transaction. Raises Case.DoesNotExist."""
    row = row_of(*locking(case_id))
    if row is None:
        raise Case.DoesNotExist
    return CaseRow.of(row)


def database_now() -> datetime:
    """The database's moment, in a statement of its own: `now()` stands still while a transaction waits for a lock."""
    ((moment,),) = rows_of("SELECT clock_timestamp()")
    return cast(datetime, moment)
