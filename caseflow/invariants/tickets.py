"""Invariant 1: every accepted ticket has exactly one case per (organisation, source, normalised external id)."""

from __future__ import annotations

from caseflow.domain.errors import BadInput
from caseflow.domain.identifiers import normalise_external_id
from cases.models import Case

from .finding import Finding, look

CHUNK = 5_000  #: cases read at a time

_COUNT = "SELECT count(*) FROM cases_case"

_PROBLEMS = """
SELECT min(public_id) AS case, 'several cases of one ticket: ' || string_agg(public_id, ', ' ORDER BY id) AS problem
FROM cases_case GROUP BY organisation_id, source, external_id_normal HAVING count(*) > 1
UNION ALL
SELECT c.public_id, 'what was told first is not kept' FROM cases_case c
WHERE NOT EXISTS (SELECT FROM cases_intakerevision r WHERE r.case_id = c.id AND r.number = 1)
UNION ALL
SELECT c.public_id, 'its history does not begin with the ticket' FROM cases_case c
WHERE NOT EXISTS (SELECT FROM audit_auditevent e WHERE e.case_id = c.id AND e.seq = 1 AND e.kind = 'case.opened')
"""


def one_case_per_ticket() -> Finding:
    """The spelling is recomputed: two spellings of one id would slip past the database's unique constraint."""
    finding = look(_COUNT, _PROBLEMS)
    rows = Case.objects.order_by().values_list("public_id", "external_id", "external_id_normal")
    for name, told, normal in rows.iterator(chunk_size=CHUNK):
        if _normal(told) != normal:
            finding.add(name, "its external id is not stored in the one spelling")
    return finding


def _normal(external_id: str) -> str:
    try:
        return normalise_external_id(external_id)
    except BadInput:
        return ""
