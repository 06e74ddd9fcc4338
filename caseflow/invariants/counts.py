"""Counts of what ended equal the rows that ended; every list and indicator that tells of closed cases rests on them."""

from __future__ import annotations

from .finding import Finding, look

_COUNT = """
SELECT (SELECT count(*) FROM cases_case WHERE closed_at IS NOT NULL)
     + (SELECT count(*) FROM actions_action WHERE status IN ('CANCELLED', 'CONFIRMED', 'REFUSED'))
"""

_PROBLEMS = """
WITH counted AS (
  SELECT what, organisation_id, about, kind, state, sum(number)::bigint AS number, min(oldest) AS oldest FROM (
    SELECT what, organisation_id, about, kind, state, number, oldest FROM cases_endedcount
    UNION ALL SELECT what, organisation_id, about, kind, state, 1, since FROM cases_ended) both_of_them
  GROUP BY 1, 2, 3, 4, 5),
ended AS (
  SELECT 'case' AS what, organisation_id, process AS about, '' AS kind, state, count(*) AS number,
         min(state_since) AS oldest, max(id) AS newest
  FROM cases_case WHERE closed_at IS NOT NULL GROUP BY organisation_id, process, state
  UNION ALL
  SELECT 'action', organisation_id, system, kind, status, count(*), min(coalesce(first_sent_at, created_at)),
         max(case_id)
  FROM actions_action WHERE status IN ('CANCELLED', 'CONFIRMED', 'REFUSED')
  GROUP BY organisation_id, system, kind, status)
SELECT coalesce(n.public_id, '') AS case,
       format('%%s %%s of %%s %%s (organisation %%s): %%s are counted, the rows say %%s',
  w.what, w.state, w.about, w.kind, w.organisation_id, w.counted, w.rows) AS problem
FROM (
  SELECT what, organisation_id, about, kind, state, coalesce(c.number, 0) AS counted, coalesce(e.number, 0) AS rows,
         e.newest
  FROM counted c FULL JOIN ended e USING (what, organisation_id, about, kind, state)
  WHERE c.number IS DISTINCT FROM e.number OR c.oldest IS DISTINCT FROM e.oldest) w
LEFT JOIN cases_case n ON n.id = w.newest AND w.rows = 1 AND w.counted = 0
"""


def counts_equal_rows() -> Finding:
    """Closed cases and settled actions, by organisation, process or system, kind, and state.

    Sums name no case, but one that is the only one and is not counted.
    """
    return look(_COUNT, _PROBLEMS)
