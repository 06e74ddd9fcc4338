"""The guard columns of a case equal the rows they stand for (design §4); lower rooms trust them."""

from __future__ import annotations

from .finding import Finding, look

_COUNT = "SELECT count(*) FROM cases_case"

#: The plan that `plan_begun` speaks of is the newest one that was approved or needed no approval.
_PROBLEMS = """
WITH counted AS (
  SELECT case_id, count(*) FILTER (WHERE status IN ('REQUESTED', 'UNKNOWN')) AS open,
         count(*) FILTER (WHERE status = 'CONFIRMED') AS done
  FROM actions_action WHERE kind = 'effect' GROUP BY case_id),
standing AS (
  SELECT DISTINCT ON (p.case_id) p.case_id, p.id FROM approvals_proposal p
  WHERE p.has_effects AND (NOT p.needs_approval OR EXISTS (
    SELECT FROM approvals_decision d WHERE d.proposal_id = p.id AND d.decisive AND d.kind = 'approve'))
  ORDER BY p.case_id, p.number DESC),
begun AS (
  SELECT s.case_id FROM standing s
  WHERE EXISTS (SELECT FROM actions_action a JOIN actions_externalcall e ON e.action_id = a.id
                WHERE a.proposal_id = s.id AND a.kind = 'effect' AND e.kind = 'perform'))
SELECT c.public_id AS case, format('effects_open is %%s, the rows say %%s', c.effects_open, coalesce(n.open, 0))
  AS problem
FROM cases_case c LEFT JOIN counted n ON n.case_id = c.id WHERE c.effects_open <> coalesce(n.open, 0)
UNION ALL
SELECT c.public_id, format('effects_done is %%s, the rows say %%s', c.effects_done, coalesce(n.done, 0))
FROM cases_case c LEFT JOIN counted n ON n.case_id = c.id WHERE c.effects_done <> coalesce(n.done, 0)
UNION ALL
SELECT c.public_id, format('plan_begun is %%s, the calls say %%s', c.plan_begun, b.case_id IS NOT NULL)
FROM cases_case c LEFT JOIN begun b ON b.case_id = c.id WHERE c.plan_begun <> (b.case_id IS NOT NULL)
"""


def guard_columns_equal_rows() -> Finding:
    """effects_open, effects_done and plan_begun."""
    return look(_COUNT, _PROBLEMS)
