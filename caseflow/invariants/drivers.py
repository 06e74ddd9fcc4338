"""Invariant 2: every open case is driven by something, and no work for it is there twice."""

from __future__ import annotations

from .finding import Finding, look

_COUNT = "SELECT count(*) FROM cases_case WHERE closed_at IS NULL"

#: A task of an earlier version drives nothing: claim will close it. In NEEDS_ATTENTION it is a person's turn; a wait
#: in WAITING_DATA and WAITING_APPROVAL is dated by the task that ends it.
_PROBLEMS = """
SELECT c.public_id AS case, 'nothing drives it in ' || c.state || ', version ' || c.version AS problem FROM cases_case c
WHERE c.closed_at IS NULL AND c.state <> 'NEEDS_ATTENTION'
  AND NOT EXISTS (SELECT FROM cases_task t
                  WHERE t.case_id = c.id AND t.generation = c.version AND t.status IN ('due', 'leased'))
UNION ALL
SELECT c.public_id, 'it needs attention and no reason is given' FROM cases_case c
WHERE c.state = 'NEEDS_ATTENTION' AND c.reason = ''
UNION ALL
SELECT c.public_id, format('%%s live tasks for %%s %%s', count(*), t.stage, t.subject)
FROM cases_task t JOIN cases_case c ON c.id = t.case_id AND c.version = t.generation
WHERE t.status IN ('due', 'leased') GROUP BY c.public_id, t.stage, t.subject HAVING count(*) > 1
UNION ALL
SELECT c.public_id, format('task %%s is for version %%s, which did not come yet', t.id, t.generation)
FROM cases_task t JOIN cases_case c ON c.id = t.case_id WHERE t.generation > c.version
"""


def open_cases_are_driven() -> Finding:
    """A due or future task or a live lease of the present version, or an open attention item."""
    return look(_COUNT, _PROBLEMS)
