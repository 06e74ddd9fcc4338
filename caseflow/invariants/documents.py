"""Invariant 11: one current document per obligation; at most one confirmed notice per document, recipient, channel."""

from __future__ import annotations

from .finding import Finding, look

_COUNT = "SELECT count(*) FROM documents_document"

#: A document names its action by the key; the store is the only system whose effects lie in this database.
_PROBLEMS = """
SELECT coalesce(min(c.public_id), '') AS case, 'several current documents of one obligation: '
       || string_agg(d.public_id, ', ' ORDER BY d.id) AS problem
FROM (SELECT *, max(edition) OVER (PARTITION BY organisation_id, department_id, kind, period) AS newest
      FROM documents_document) d
LEFT JOIN actions_action a ON a.key = d.action_key LEFT JOIN cases_case c ON c.id = a.case_id
WHERE d.edition = d.newest
GROUP BY d.organisation_id, d.department_id, d.kind, d.period HAVING count(*) > 1
UNION ALL
SELECT coalesce(c.public_id, ''), 'no action made the document ' || d.public_id || ', or one that was refused'
FROM documents_document d
LEFT JOIN actions_action a ON a.key = d.action_key AND a.status <> 'CANCELLED' AND a.status <> 'REFUSED'
LEFT JOIN cases_case c ON c.id = a.case_id
WHERE a.id IS NULL
UNION ALL
SELECT c.public_id, 'action ' || a.public_id || ' is confirmed, but there is no document of it'
FROM actions_action a JOIN cases_case c ON c.id = a.case_id
WHERE a.system = 'documents.store' AND a.status = 'CONFIRMED' AND a.confirmed_by <> 'hand'
  AND NOT EXISTS (SELECT FROM documents_document d WHERE d.action_key = a.key)
UNION ALL
SELECT min(c.public_id), 'several confirmed notices of the document ' || d.public_id || ' to one recipient: '
       || string_agg(a.public_id, ', ' ORDER BY a.id)
FROM documents_document d
JOIN cases_case c ON c.organisation_id = d.organisation_id AND c.external_id_normal = d.subject
JOIN actions_action a ON a.case_id = c.id AND a.kind = 'notice' AND a.status = 'CONFIRMED'
GROUP BY d.id, d.public_id, a.system, a.subject HAVING count(*) > 1
"""


def one_current_document() -> Finding:
    """The database holds the first by a constraint; that the rest fits is told by action and notice."""
    return look(_COUNT, _PROBLEMS)
