"""Invariant 3: a case's history is a path in its table; version = transitions = their audit events."""

from __future__ import annotations

from .finding import Finding, look, registered_tables

_COUNT = "SELECT count(*) FROM cases_case"

_PROBLEMS = """
WITH allowed AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset(%(tables)s::jsonb)
    AS a(process text, process_version int, kind text, from_state text, to_state text)),
steps AS (
  SELECT e.case_id, e.version, e.kind, e.from_state, e.to_state,
         row_number() OVER history AS place, lag(e.to_state, 1, '') OVER history AS before
  FROM audit_auditevent e WHERE e.case_id IS NOT NULL AND e.version IS NOT NULL
  WINDOW history AS (PARTITION BY e.case_id ORDER BY e.version)),
ends AS (
  SELECT case_id, count(*) AS steps, (array_agg(to_state ORDER BY version DESC))[1] AS state
  FROM audit_auditevent WHERE case_id IS NOT NULL AND version IS NOT NULL GROUP BY case_id)
SELECT c.public_id AS case, format('step %%s is version %%s', s.place, s.version) AS problem
FROM steps s JOIN cases_case c ON c.id = s.case_id WHERE s.place <> s.version
UNION ALL
SELECT c.public_id, format('version %%s starts from %%s, the one before ended in %%s', s.version, s.from_state,
                           s.before)
FROM steps s JOIN cases_case c ON c.id = s.case_id WHERE s.from_state <> s.before
UNION ALL
SELECT c.public_id, format('version %%s: %%s from %%s to %%s is not in its table', s.version, s.kind, s.from_state,
                           s.to_state)
FROM steps s JOIN cases_case c ON c.id = s.case_id
WHERE NOT CASE WHEN s.place = 1 THEN s.kind = 'case.opened' AND s.to_state = 'RECEIVED'
    ELSE EXISTS (SELECT FROM allowed a WHERE a.process = c.process AND a.process_version = c.process_version
                 AND a.kind = s.kind AND a.from_state = s.from_state AND a.to_state = s.to_state) END
UNION ALL
SELECT c.public_id, format('version %%s in %%s, but its history has %%s steps and ends in %%s',
                           c.version, c.state, coalesce(e.steps, 0), coalesce(e.state, 'nothing'))
FROM cases_case c LEFT JOIN ends e ON e.case_id = c.id
WHERE e.case_id IS NULL OR e.steps <> c.version OR e.state <> c.state
"""


def histories_are_paths() -> Finding:
    """Every step stands in the table of the very version the case was opened with."""
    return look(_COUNT, _PROBLEMS, {"tables": registered_tables()})
