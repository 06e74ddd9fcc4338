"""Invariant 9: audit chains verify without gaps, and end in the head that the case row carries.

The hashes are recomputed here and not by the database, row by row through a cursor of the server: a million events need
no more memory than ten.
"""

from __future__ import annotations

import json
from typing import Any

from audit.bodies import chain_hash
from audit.models import AuditEvent
from cases.models import Case

from .finding import Finding, look

CHUNK = 5_000  #: events read at a time

_COUNT = "SELECT count(*) FROM audit_auditevent WHERE case_id IS NOT NULL"

_PROBLEMS = """
WITH ends AS (
  SELECT DISTINCT ON (case_id) case_id, seq, hash FROM audit_auditevent WHERE case_id IS NOT NULL
  ORDER BY case_id, seq DESC)
SELECT c.public_id AS case, format('its row counts %%s events, its chain has %%s', c.audit_count, coalesce(e.seq, 0))
  AS problem
FROM cases_case c LEFT JOIN ends e ON e.case_id = c.id WHERE c.audit_count <> coalesce(e.seq, 0)
UNION ALL
SELECT c.public_id, 'its chain does not end in the head of its row'
FROM cases_case c JOIN ends e ON e.case_id = c.id WHERE c.audit_count = e.seq AND c.audit_head <> e.hash
UNION ALL
SELECT '', format('events of a case %%s, which does not exist', e.case_id)
FROM ends e LEFT JOIN cases_case c ON c.id = e.case_id WHERE c.id IS NULL
"""


def chains_verify() -> Finding:
    """Numbers without a gap, each hash over the one before, columns that say what the hashed body says."""
    finding = look(_COUNT, _PROBLEMS)
    columns = ("case_id", "seq", "kind", "from_state", "to_state", "version", "at_us", "body", "hash")
    events = AuditEvent.objects.filter(case_id__isnull=False).order_by("case_id", "seq").values_list(*columns)
    broken: dict[int, str] = {}
    at, number, head = 0, 0, b""
    for case_id, seq, *told, at_us, body, written in events.iterator(chunk_size=CHUNK):
        if case_id != at:
            at, number, head = case_id, 0, b""
        number += 1
        problem = _problem(seq, number, told, at_us, bytes(body), bytes(written), head)
        if problem:
            # One word per case: behind the first broken link every other one is broken, too.
            broken.setdefault(case_id, problem)
        number, head = seq, bytes(written)
    names = dict(Case.objects.filter(pk__in=list(broken)[:1000]).values_list("pk", "public_id"))
    for case_id, problem in broken.items():
        finding.add(names.get(case_id, ""), problem)
    return finding


def _problem(seq: int, number: int, told: list[Any], at_us: int, body: bytes, written: bytes, head: bytes) -> str:
    if seq != number:
        return f"event {number} is missing"
    if chain_hash(head, at_us, body) != written:
        return f"event {seq} does not follow from the one before"
    kind, from_state, to_state, version = told
    said = json.loads(body)
    if said["kind"] != kind or (said.get("from", ""), said.get("to", "")) != (from_state, to_state):
        return f"the columns of event {seq} do not say what its body says"
    if said.get("version") != version:
        return f"the version of event {seq} is not what its body says"
    return ""
