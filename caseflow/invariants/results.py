"""Invariant 5: COMPLETED means that each effect is confirmed, or the outcome says otherwise."""

from __future__ import annotations

from .finding import Finding, look

CLOCKS = "5 seconds"  #: how far a worker's clock, which dates readings, may be from the database's

_COUNT = "SELECT count(*) FROM cases_case WHERE state = 'COMPLETED'"

_PROBLEMS = f"""
WITH planned AS (
  SELECT c.public_id, c.outcome, spec.id, spec.kind, a.status
  FROM cases_case c
  JOIN LATERAL (SELECT p.id, p.snapshot FROM approvals_proposal p
                WHERE p.case_id = c.id AND p.has_effects ORDER BY p.number DESC LIMIT 1) p ON true
  CROSS JOIN LATERAL jsonb_to_recordset(convert_from(p.snapshot, 'UTF8')::jsonb -> 'actions')
    AS spec(id text, kind text)
  LEFT JOIN actions_action a ON a.proposal_id = p.id AND a.public_id = spec.id
  WHERE c.state = 'COMPLETED' AND c.outcome IN ('done', 'partial')),
resent AS (
  SELECT spec.repeats, a.public_id, a.status FROM approvals_proposal p
  CROSS JOIN LATERAL jsonb_to_recordset(convert_from(p.snapshot, 'UTF8')::jsonb -> 'actions')
    AS spec(id text, repeats text)
  JOIN actions_action a ON a.proposal_id = p.id AND a.public_id = spec.id WHERE spec.repeats <> ''),
repeated AS (
  WITH RECURSIVE sent(id, again, status) AS (
    SELECT repeats, public_id, status FROM resent
    UNION SELECT sent.id, r.public_id, r.status FROM sent JOIN resent r ON r.repeats = sent.again)
  SELECT id FROM sent WHERE status = 'CONFIRMED'),
confirmed AS (
  SELECT c.public_id, c.id AS case_id, a.id, a.public_id AS action, a.kind, a.confirmed_by, a.first_sent_at,
         EXISTS (SELECT FROM actions_externalcall e
                 WHERE e.action_id = a.id AND e.kind IN ('perform', 'lookup') AND e.outcome = 'confirmed') AS answered,
         EXISTS (SELECT FROM actions_externalcall e WHERE e.action_id = a.id AND e.kind = 'perform') AS sent
  FROM actions_action a JOIN cases_case c ON c.id = a.case_id WHERE a.status = 'CONFIRMED'),
wanted AS (
  SELECT f.public_id, f.case_id, f.action, f.first_sent_at, split_part(want.key, '.', 1) AS fact,
         (string_to_array(want.key, '.'))[2:] AS path, want.value
  FROM confirmed f JOIN actions_action a ON a.id = f.id JOIN approvals_proposal p ON p.id = a.proposal_id
  CROSS JOIN LATERAL jsonb_to_recordset(convert_from(p.snapshot, 'UTF8')::jsonb -> 'actions')
    AS spec(id text, confirms jsonb)
  CROSS JOIN LATERAL jsonb_each(spec.confirms) AS want
  WHERE spec.id = f.action AND f.kind = 'effect' AND f.confirmed_by IN ('read', 'lookup'))
SELECT public_id AS case, format('COMPLETED %%s with %%s %%s %%s', outcome, kind, id, coalesce(status, 'never sent'))
  AS problem
FROM planned WHERE status IS DISTINCT FROM 'CONFIRMED' AND (kind = 'effect' OR outcome = 'done')
  AND NOT (kind = 'notice' AND id IN (SELECT id FROM repeated))
UNION ALL
SELECT public_id, format('COMPLETED with the outcome "%%s"', outcome)
FROM cases_case WHERE state = 'COMPLETED' AND outcome NOT IN ('done', 'partial', 'by_hand', 'undone')
UNION ALL
SELECT public_id, format('CLOSED_NO_CHANGE with the outcome "%%s"', outcome)
FROM cases_case WHERE state = 'CLOSED_NO_CHANGE' AND outcome NOT IN ('no_change', 'undone')
UNION ALL
SELECT public_id, format('an outcome, "%%s", before its end', outcome)
FROM cases_case WHERE closed_at IS NULL AND outcome <> ''
UNION ALL
SELECT public_id, format('%%s is confirmed and nobody says how', action) FROM confirmed
WHERE confirmed_by NOT IN ('read', 'receipt', 'lookup', 'hand')
   OR kind = 'effect' AND confirmed_by = 'receipt' AND NOT answered
   OR kind = 'notice' AND confirmed_by <> 'hand' AND NOT answered
   OR confirmed_by = 'lookup' AND NOT answered OR confirmed_by = 'read' AND NOT sent
UNION ALL
SELECT public_id, format('%%s is confirmed by hand, and no two people signed it', action) FROM confirmed f
WHERE confirmed_by = 'hand' AND NOT EXISTS (
  SELECT FROM operations_recovery r WHERE r.action_id = f.id AND r.kind = 'result_by_hand' AND r.status = 'done'
    AND r.result = 'done' AND r.authorised_by_id <> r.asked_by_id AND r.evidence_field <> '')
UNION ALL
SELECT c.public_id, 'finished by hand, and no two people signed it' FROM cases_case c
WHERE c.outcome = 'by_hand' AND NOT EXISTS (
  SELECT FROM operations_recovery r WHERE r.case_id = c.id AND r.kind = 'finish_by_hand' AND r.status = 'done'
    AND r.authorised_by_id <> r.asked_by_id AND r.evidence_field <> '')
UNION ALL
SELECT public_id, format('no later reading shows what %%s did', action) FROM wanted w
WHERE NOT EXISTS (SELECT FROM cases_observation o
                  WHERE o.case_id = w.case_id AND o.name = w.fact AND o.value #> w.path = w.value
                    AND o.observed_at >= w.first_sent_at - interval '{CLOCKS}')
"""


def results_are_confirmed() -> Finding:
    """By an own call with a later read or receipt, by look-up, or by hand; an unconfirmed notice is `partial`."""
    return look(_COUNT, _PROBLEMS)
