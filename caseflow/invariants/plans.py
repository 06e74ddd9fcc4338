"""Invariant 15: no new proposal with effects, decision or close while an effect is REQUESTED or UNKNOWN."""

from __future__ import annotations

from .finding import Finding, look

_COUNT = "SELECT count(*) FROM cases_case"

#: An effect is in doubt from its first call until it is settled; one that is PLANNED again was provably not applied.
_PROBLEMS = """
WITH doubtful AS (
  SELECT c.id AS case_id, c.public_id, c.closed_at, a.key, a.first_sent_at AS from_at,
         CASE WHEN a.status IN ('REQUESTED', 'UNKNOWN') THEN 'infinity' ELSE a.settled_at END AS to_at
  FROM actions_action a JOIN cases_case c ON c.id = a.case_id
  WHERE a.kind = 'effect' AND a.first_sent_at IS NOT NULL AND a.status <> 'PLANNED' AND a.status <> 'CANCELLED')
SELECT d.public_id AS case, format('proposal %%s was made while %%s was in doubt', p.public_id, d.key) AS problem
FROM doubtful d JOIN approvals_proposal p ON p.case_id = d.case_id AND p.has_effects
WHERE p.at > d.from_at AND p.at < d.to_at
UNION ALL
SELECT d.public_id, format('a decision on %%s was taken while %%s was in doubt', p.public_id, d.key)
FROM doubtful d JOIN approvals_proposal p ON p.case_id = d.case_id JOIN approvals_decision s ON s.proposal_id = p.id
WHERE s.at > d.from_at AND s.at < d.to_at
UNION ALL
SELECT public_id, format('it was closed while %%s was in doubt', key) FROM doubtful
WHERE closed_at > from_at AND closed_at < to_at
UNION ALL
SELECT public_id, format('%%s effects in doubt in the state %%s', effects_open, state) FROM cases_case
WHERE effects_open > 0 AND state NOT IN ('EXECUTING', 'NEEDS_ATTENTION')
"""


def nothing_is_planned_in_doubt() -> Finding:
    """From the first call of an effect until it is settled."""
    return look(_COUNT, _PROBLEMS)
