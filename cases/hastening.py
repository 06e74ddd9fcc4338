"""Making planned work due now. The caller holds the case; whoever works on the task already is left alone."""

from __future__ import annotations

from typing import Any

from django.db import connection

from .rows import CaseRow

#: Not waited for: a claim holds the task first and may want the case next.
_HASTEN = """
WITH mine AS (
  SELECT id FROM cases_task WHERE case_id = %(case)s AND stage = %(stage)s AND subject = %(subject)s
    AND generation = %(generation)s AND status = 'due' FOR UPDATE SKIP LOCKED)
UPDATE cases_task SET available_at = least(available_at, clock_timestamp()), rung_at = NULL
WHERE id IN (SELECT id FROM mine)
"""
_LIVE = """
SELECT EXISTS (SELECT FROM cases_task WHERE case_id = %(case)s AND stage = %(stage)s AND subject = %(subject)s
                 AND generation = %(generation)s AND status IN ('due', 'leased'))
"""


def hasten(case: CaseRow, stage: str, subject: str) -> bool:
    """Whether such a task lives in the present version; a due one need not wait any longer."""
    about: dict[str, Any] = {"case": case.id, "stage": stage, "subject": subject, "generation": case.version}
    with connection.cursor() as cursor:
        cursor.execute(_HASTEN, about)
        cursor.execute(_LIVE, about)
        (lives,) = cursor.fetchone()
    return bool(lives)
