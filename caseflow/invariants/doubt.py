"""Invariant 8: UNKNOWN never becomes refused or repeated without evidence, or a key that is honoured and alive."""

from __future__ import annotations

from .finding import Finding, look, registered_systems

_COUNT = "SELECT count(*) FROM actions_externalcall WHERE kind = 'perform'"

_PROBLEMS = """
WITH systems AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset(%(systems)s::jsonb) AS s(system text, honours boolean, life float8)),
calls AS (
  SELECT c.public_id, a.key, a.system, a.first_sent_at, e.*, lag(e.id) OVER sent AS before_id,
         lag(e.outcome) OVER sent AS before, lag(e.ended_at) OVER sent AS before_ended
  FROM actions_externalcall e JOIN actions_action a ON a.id = e.action_id JOIN cases_case c ON c.id = a.case_id
  WHERE e.kind = 'perform' WINDOW sent AS (PARTITION BY e.action_id ORDER BY e.id)),
repeats AS (
  SELECT calls.*, EXISTS (SELECT FROM actions_externalcall l
    WHERE l.action_id = calls.action_id AND l.kind = 'lookup' AND l.outcome = 'not_applied'
      AND l.id > calls.before_id AND l.id < calls.id) AS evidence
  FROM calls WHERE before_id IS NOT NULL),
last AS (
  SELECT DISTINCT ON (a.id) c.public_id, a.id, a.key, a.status, e.id AS call, e.outcome
  FROM actions_action a JOIN cases_case c ON c.id = a.case_id JOIN actions_externalcall e ON e.action_id = a.id
  WHERE e.kind = 'perform' ORDER BY a.id, e.id DESC)
SELECT public_id AS case, format('%%s was sent again after the answer "%%s"', key, before) AS problem FROM repeats
WHERE before IN ('confirmed', 'refused')
UNION ALL
SELECT public_id, format('%%s was sent again in doubt, without a look-up that says "not applied"', key) FROM repeats
WHERE before NOT IN ('confirmed', 'refused', 'not_applied') AND NOT evidence
UNION ALL
SELECT public_id, format('%%s was sent again while the call before was still running', key) FROM repeats
WHERE before_ended IS NULL
UNION ALL
SELECT public_id, format('%%s was sent again although %%s does not honour keys', key, r.system) FROM repeats r
LEFT JOIN systems s ON s.system = r.system WHERE before <> 'not_applied' AND s.honours IS NOT TRUE
UNION ALL
SELECT public_id, format('%%s was sent again when its key was no longer alive', key) FROM repeats r
JOIN systems s ON s.system = r.system
WHERE before <> 'not_applied' AND s.honours AND r.begun_at > r.first_sent_at + s.life * interval '1 second'
UNION ALL
SELECT public_id, format('%%s is refused, and its last call says "%%s"', key, outcome) FROM last l
WHERE status = 'REFUSED' AND outcome NOT IN ('refused', 'not_applied') AND NOT EXISTS (
  SELECT FROM actions_externalcall e
  WHERE e.action_id = l.id AND e.kind = 'lookup' AND e.outcome = 'not_applied' AND e.id > l.call)
  AND NOT EXISTS (SELECT FROM operations_recovery r WHERE r.action_id = l.id AND r.status = 'done'
                    AND r.kind = 'result_by_hand' AND r.result = 'not_done')
UNION ALL
SELECT public_id, format('%%s is %%s although a call of it began', key, status) FROM last
WHERE status IN ('PLANNED', 'CANCELLED') AND outcome NOT IN ('not_applied', 'refused')
  AND NOT EXISTS (SELECT FROM actions_externalcall e WHERE e.action_id = last.id AND e.kind = 'lookup'
                    AND e.outcome = 'not_applied' AND e.id > last.call)
UNION ALL
SELECT c.public_id, format('%%s has calls under a first moment that is not the first call''s', a.key)
FROM actions_action a JOIN cases_case c ON c.id = a.case_id
LEFT JOIN LATERAL (SELECT min(begun_at) AS at FROM actions_externalcall e
                   WHERE e.action_id = a.id AND e.kind = 'perform') f ON true
WHERE a.first_sent_at IS DISTINCT FROM f.at
"""


def doubt_needs_evidence() -> Finding:
    """Every repeat and every refusal rests on what a system said."""
    return look(_COUNT, _PROBLEMS, {"systems": registered_systems()})
