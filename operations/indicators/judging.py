"""What did not count, did not hold or was not accepted: approvals (H6), confirmed effects (H7), proposals (H8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from .scope import PLATFORM, SINCE, Scope, Window, ask, within


@dataclass(frozen=True, slots=True)
class RefusedApprovals:
    """Approvals that did not count, by the code of the refusal, and plans given up after an approval that counted."""

    by_code: Mapping[str, int]
    facts_changed: int  #: found by the re-read right before the effect
    lapsed: int  #: approved, and not sent in time or no longer permitted

    @property
    def stale(self) -> int:
        """H6: the case or its facts were no longer what the person had seen."""
        return self.by_code.get("stale_snapshot", 0)


@dataclass(frozen=True, slots=True)
class DriftCount:
    """Effects within the window that the outside no longer shows, and those of them that were news.

    `checked` and `unreadable` are of the newest run and of the platform alone, for a run knows no organisation.
    """

    effects: int
    news: int
    last_run: datetime | None
    checked: int | None = None
    unreadable: int | None = None


@dataclass(frozen=True, slots=True)
class ProposalsJudged:
    """What people said of the proposals of one proposer. `undecided` wait, expired, or were overtaken by data."""

    process: str
    proposer: str
    model: str
    prompt_version: str
    made: int
    approved: int
    rejected: int
    returned: int
    data_asked: int
    withdrawn: int

    @property
    def undecided(self) -> int:
        return self.made - self.approved - self.rejected - self.returned - self.data_asked

    @property
    def refused_share(self) -> float:
        """Of the decided ones, 0…1."""
        refused = self.rejected + self.returned + self.data_asked
        decided = refused + self.approved
        return refused / decided if decided else 0.0


@dataclass(frozen=True, slots=True)
class BrokenAnswers:
    """Answers of a proposer that the rules did not let through; each stopped its case."""

    process: str
    number: int
    newest: datetime


_REFUSED = f"""
WITH told AS (
  SELECT kind, convert_from(body, 'UTF8')::jsonb -> 'facts' AS facts FROM audit_auditevent
  WHERE kind IN ('decision.refused', 'case.facts_changed', 'case.approval_lapsed') AND at > {SINCE}
    AND {within("organisation_id")})
SELECT kind, CASE WHEN kind = 'decision.refused' THEN facts ->> 'code' ELSE '' END, count(*) FROM told
WHERE kind <> 'decision.refused' OR facts ->> 'decision' = 'approve' GROUP BY 1, 2 ORDER BY 1, 2
"""

_DRIFT = f"""
WITH run AS (SELECT * FROM operations_driftrun WHERE ended_at IS NOT NULL ORDER BY began_at DESC LIMIT 1),
found AS (
  SELECT count(DISTINCT f.action_id) AS effects, count(DISTINCT f.action_id) FILTER (WHERE f.is_new) AS news
  FROM operations_driftfinding f JOIN actions_action a ON a.id = f.action_id
  WHERE f.at > {SINCE} AND {within("a.organisation_id")})
SELECT found.effects, found.news, run.ended_at, run.checked, run.unreadable FROM found LEFT JOIN run ON true
"""

#: One decision of a proposal is decisive; a withdrawal comes on top of an approval.
_PROPOSALS = f"""
SELECT c.process, p.proposer, p.model, p.prompt_version, count(*),
       count(*) FILTER (WHERE d.kind = 'approve'), count(*) FILTER (WHERE d.kind = 'reject'),
       count(*) FILTER (WHERE d.kind = 'return'), count(*) FILTER (WHERE d.kind = 'ask_data'),
       count(*) FILTER (WHERE EXISTS (SELECT FROM approvals_decision w
                                      WHERE w.proposal_id = p.id AND w.kind = 'withdraw'))
FROM approvals_proposal p JOIN cases_case c ON c.id = p.case_id
LEFT JOIN approvals_decision d ON d.proposal_id = p.id AND d.decisive AND d.kind <> 'withdraw'
WHERE p.needs_approval AND p.at > {SINCE} AND {within("c.organisation_id")}
GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
"""

_BROKEN = f"""
SELECT c.process, count(*), max(e.at) FROM audit_auditevent e JOIN cases_case c ON c.id = e.case_id
WHERE e.to_state = 'NEEDS_ATTENTION' AND e.kind = 'case.person_needed' AND e.at > {SINCE}
  AND convert_from(e.body, 'UTF8')::jsonb -> 'facts' ? 'problem' AND {within("c.organisation_id")}
GROUP BY c.process ORDER BY c.process
"""


def count_refused_approvals(scope: Scope, window: Window) -> RefusedApprovals:
    """H6."""
    rows = ask(_REFUSED, scope, window)
    kinds = {kind: number for kind, code, number in rows if not code}
    return RefusedApprovals(
        by_code={code: number for _, code, number in rows if code},
        facts_changed=kinds.get("case.facts_changed", 0),
        lapsed=kinds.get("case.approval_lapsed", 0),
    )


def count_drift(scope: Scope, window: Window) -> DriftCount:
    """H7."""
    effects, news, last_run, checked, unreadable = ask(_DRIFT, scope, window)[0]
    if scope != PLATFORM:
        return DriftCount(effects, news, last_run)
    return DriftCount(effects, news, last_run, checked, unreadable)


def measure_proposals(scope: Scope, window: Window) -> list[ProposalsJudged]:
    """H8: by people."""
    return [ProposalsJudged(*row) for row in ask(_PROPOSALS, scope, window)]


def count_broken_answers(scope: Scope, window: Window) -> list[BrokenAnswers]:
    """H8: by the rules."""
    return [BrokenAnswers(*row) for row in ask(_BROKEN, scope, window)]
