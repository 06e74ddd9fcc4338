"""What an invariant found, and the one way in which each asks: a set-based statement that gives (case, problem)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db import connection

from cases.processes import all_processes
from cases.stages import all_stages
from integrations.registry import list_adapters

SHOWN = 20  #: violations that are named; all are counted


@dataclass(frozen=True, slots=True)
class Violation:
    """The case's public id, '' where no case is known, and what is wrong."""

    case: str
    problem: str


@dataclass(slots=True)
class Finding:
    """How many rows an invariant looked at and what it found."""

    checked: int
    violations: int = 0
    shown: list[Violation] = field(default_factory=list)
    skipped: str = ""  #: why it was not asked

    def add(self, case: str, problem: str) -> None:
        self.violations += 1
        if len(self.shown) < SHOWN:
            self.shown.append(Violation(case, problem))

    def join(self, other: Finding) -> Finding:
        """This finding with the violations of `other`, which looked at the same rows."""
        self.violations += other.violations
        self.shown = (self.shown + other.shown)[:SHOWN]
        return self


def look(count: str, violations: str, parameters: Mapping[str, Any] | None = None) -> Finding:
    """`count` counts what is checked, `violations` selects (case, problem); both are SQL with named parameters."""
    with connection.cursor() as cursor:
        cursor.execute(count, parameters or {})
        (checked,) = cursor.fetchone()
        statement = f"SELECT count(*) OVER (), found.* FROM ({violations}) found ORDER BY 2, 3 LIMIT {SHOWN}"
        cursor.execute(statement, parameters or {})
        rows: Sequence[Any] = cursor.fetchall()
    shown = [Violation(case or "", problem) for _, case, problem in rows]
    return Finding(checked, rows[0][0] if rows else 0, shown)


def registered_tables() -> str:
    """Every row of every registered process's table, as JSON for `jsonb_to_recordset`."""
    rows = [
        {
            "process": process.slug,
            "process_version": process.version,
            "kind": f"case.{row.event}",
            "from_state": row.source.value,
            "to_state": row.target.value,
        }
        for process in all_processes().values()
        for row in process.table
    ]
    return json.dumps(rows)


def registered_stages() -> str:
    """The limits of each stage in each process, as JSON; the key '' is for tasks of the platform itself."""
    rows = []
    for stage in all_stages().values():
        policies = {key: process.retry.get(stage.name, stage.policy) for key, process in all_processes().items()}
        for key, policy in {"": stage.policy, **policies}.items():
            rows.append(
                {
                    "stage": stage.name,
                    "process": key,
                    "tries": policy.limit,
                    "losses": policy.infrastructure_limit,
                    "carries": stage.carries,
                }
            )
    return json.dumps(rows)


def registered_systems() -> str:
    """Which systems honour keys and for how many seconds, as JSON."""
    return json.dumps(
        [
            {"system": name, "honours": adapter.honours_keys, "life": adapter.key_life / timedelta(seconds=1)}
            for name, adapter in list_adapters().items()
        ]
    )


def unapproved_processes() -> str:
    """The processes that need no approval, as a JSON list of 'slug:version'."""
    return json.dumps([key for key, process in all_processes().items() if process.approval is None])
