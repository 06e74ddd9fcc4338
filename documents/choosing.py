"""Which cases a data set holds: a department's, as they stood at one moment. History tells, so it can be told again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django.db import connection

from caseflow.domain.canonical import canonical_bytes
from cases.processes import all_processes

from .obliged import Obliged

FORMAT = 1  #: of a data set's lines
PORTION = 2_000  #: rows fetched at once

#: Everything that was open at some moment of the period, with the state that the audit trail shows at its end.
_CASES = """
SELECT c.public_id, c.external_id, c.subject, c.process, stood.to_state, c.created_at,
       CASE WHEN c.closed_at < %(end)s THEN c.closed_at END, CASE WHEN c.closed_at < %(end)s THEN c.outcome ELSE '' END
FROM cases_case c CROSS JOIN LATERAL (
  SELECT e.to_state FROM audit_auditevent e
  WHERE e.case_id = c.id AND e.version IS NOT NULL AND e.at < %(end)s ORDER BY e.version DESC LIMIT 1) stood
WHERE c.department_id = %(department)s AND c.created_at < %(end)s AND (c.closed_at IS NULL OR c.closed_at >= %(start)s)
  AND c.process <> ALL(%(about_data)s)
ORDER BY c.created_at, c.id
"""


def lines_of(obliged: Obliged) -> Iterator[bytes]:
    """The data set as canonical JSON Lines: what it is about, then one line for each case, oldest first."""
    start, end = obliged.start, obliged.end
    yield _line(
        {
            "format": FORMAT,
            "organisation": obliged.organisation.name,
            "department": obliged.department.name,
            "kind": obliged.kind,
            "period": obliged.period.text,
            "start": moment(start),
            "end": moment(end),
            "zone": obliged.told["zone"],
            "language": obliged.told["language"],
        }
    )
    asked: dict[str, Any] = {"department": obliged.department.pk, "start": start, "end": end}
    asked["about_data"] = _about_data()
    # A cursor of the server: rows are held there, not here, and no transaction stays open.
    with connection.chunked_cursor() as cursor:
        cursor.execute(_CASES, asked)
        while rows := cursor.fetchmany(PORTION):
            for row in rows:
                yield _line(_case(row, end))


def _case(row: tuple[Any, ...], end: datetime) -> dict[str, Any]:
    public_id, external_id, subject, process, state, opened, closed, outcome = row
    return {
        "case": public_id,
        "ticket": external_id,
        "subject": subject,
        "process": process,
        "state": state,
        "outcome": outcome,
        "opened": moment(opened),
        "closed": moment(closed) if closed else None,
        "age": int(((closed or end) - opened).total_seconds()),
    }


def moment(value: datetime) -> str:
    """ISO in UTC, whole seconds, so that text compares like time: 2026-10-01T21:00:00Z."""
    return value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _line(value: dict[str, Any]) -> bytes:
    return canonical_bytes(value) + b"\n"


def _about_data() -> list[str]:
    """Processes whose cases are themselves about data sets: a summary does not count its own making."""
    return sorted(
        {
            process.slug
            for process in all_processes().values()
            if any(source.system == "documents.data" for source in process.facts)
        }
    )
