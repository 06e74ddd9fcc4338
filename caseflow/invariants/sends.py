"""Invariant 6: the first send of an approved effect follows a matching decision, in time, with no pause.

The rights of the deciders at that moment are proved by `begin_call`, which checks them behind the gate; rows keep no
history of rights that a statement could compare.
"""

from __future__ import annotations

from .finding import Finding, look, unapproved_processes

_COUNT = "SELECT count(*) FROM actions_action WHERE kind = 'effect' AND first_sent_at IS NOT NULL"

_PROBLEMS = """
WITH sent AS (
  SELECT c.public_id, c.process, c.organisation_id, c.process || ':' || c.process_version AS version,
         a.id, a.proposal_id, a.position, a.kind, a.system, a.operation, a.subject, a.key, a.first_sent_at,
         p.digest, p.causers, p.needs_approval, p.valid_until, convert_from(p.snapshot, 'UTF8')::jsonb AS plan,
         encode(sha256(p.snapshot), 'hex') AS real_digest
  FROM actions_action a JOIN approvals_proposal p ON p.id = a.proposal_id JOIN cases_case c ON c.id = a.case_id
  WHERE a.first_sent_at IS NOT NULL),
effects AS (SELECT * FROM sent WHERE kind = 'effect'),
approvals AS (
  SELECT d.*, e.id AS action_id, e.public_id AS case, e.causers, e.first_sent_at, e.valid_until, e.plan
  FROM effects e JOIN approvals_decision d ON d.proposal_id = e.proposal_id AND d.kind = 'approve'
                                                  AND d.digest = e.digest),
-- Counted once for all: a look into the approvals for each effect would take the square of their number.
approved AS MATERIALIZED (
  SELECT action_id, count(*) FILTER (WHERE at <= first_sent_at) AS before,
         bool_or(decisive AND first_sent_at BETWEEN at AND execute_by) AS in_time
  FROM approvals GROUP BY action_id)
SELECT public_id AS case, format('the plan of %%s is not what was hashed', key) AS problem FROM sent
WHERE real_digest <> digest
UNION ALL
SELECT s.public_id, format('%%s is not the action its plan names', s.key) FROM sent s
WHERE NOT EXISTS (
  SELECT FROM jsonb_to_recordset(s.plan -> 'actions') AS spec(position int, id text, kind text, system text,
                                                             operation text, subject text, key text)
  WHERE spec.position = s.position AND spec.key = s.key AND spec.kind = s.kind AND spec.system = s.system
    AND spec.operation = s.operation AND spec.subject = s.subject)
UNION ALL
SELECT public_id, format('%%s was sent without an approval, which this process needs', key) FROM effects
WHERE NOT needs_approval AND NOT %(unapproved)s::jsonb ? version
UNION ALL
SELECT e.public_id, format('%%s was sent without enough approvals of its digest', e.key)
FROM effects e LEFT JOIN approved a ON a.action_id = e.id
WHERE e.needs_approval AND (e.plan #>> '{approval,quorum}')::int > coalesce(a.before, 0)
UNION ALL
SELECT e.public_id, format('%%s was not sent within the time of a deciding approval', e.key)
FROM effects e LEFT JOIN approved a ON a.action_id = e.id WHERE e.needs_approval AND a.in_time IS NOT TRUE
UNION ALL
SELECT a.case, format('decision %%s came after the proposal had expired', a.id) FROM approvals a
WHERE a.at >= a.valid_until
UNION ALL
SELECT a.case, format('decision %%s is by somebody who took part in the case', a.id) FROM approvals a
WHERE (a.plan #>> '{approval,four_eyes}')::boolean AND a.person_id = ANY(a.causers)
UNION ALL
SELECT e.public_id, format('%%s was sent although its approval was withdrawn', e.key) FROM effects e
WHERE EXISTS (SELECT FROM approvals_decision d WHERE d.proposal_id = e.proposal_id AND d.kind = 'withdraw')
UNION ALL
SELECT s.public_id, format('%%s was sent during the pause %%s of %%s %%s', s.key, p.public_id, p.kind, p.key)
FROM sent s JOIN cases_pause p ON (p.organisation_id IS NULL OR p.organisation_id = s.organisation_id)
 AND (p.kind IN ('organisation', 'all') OR p.kind = 'process' AND p.key = s.process
   OR p.kind = 'system' AND p.key = s.system)
WHERE s.first_sent_at > p.at AND s.first_sent_at < coalesce(p.ended_at, 'infinity')
  AND s.first_sent_at < coalesce(p.until, 'infinity')
"""


def sends_follow_decisions() -> Finding:
    """Quorum, digest, time, causers, withdrawals and pauses of every effect that was ever sent."""
    return look(_COUNT, _PROBLEMS, {"unapproved": unapproved_processes()})
