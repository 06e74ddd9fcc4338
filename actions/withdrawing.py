"""Taking a decision back before its first call began: the same plan is proposed again (design §5)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from django.db import connection, transaction

from accounts import access
from accounts.models import Person
from accounts.principal import actor_of_person
from approvals.deciders import look_again
from approvals.models import Decision, Proposal
from approvals.refusing import record_refusal
from approvals.snapshots import opened, with_new_ids
from approvals.storing import next_number, store_proposal
from caseflow.domain.errors import NotDecidable, NotPermitted, NotYourDecision, TooLateToWithdraw
from caseflow.domain.lifecycle import Event, State
from caseflow.domain.roles import Right
from cases.advancing import advance_case
from cases.bell import ring_after_commit
from cases.models import IntakeRevision
from cases.publishing import NewTask, publish
from cases.rows import CaseRow, database_now, lock_case
from cases.settling import started_by

from .models import Action
from .storing import cancel_planned

#: The fence grows, so that a worker that holds the task can settle nothing and begin no call.
_CANCEL_TASKS = """
WITH t AS MATERIALIZED (SELECT clock_timestamp() AS at),
gone AS (UPDATE cases_task
         SET status = 'cancelled', fence = fence + 1, ended_at = t.at, leased_until = NULL, rung_at = NULL
         FROM t WHERE case_id = %s AND stage = 'execute' AND status IN ('due', 'leased') RETURNING id, attempt)
UPDATE cases_attempt a SET ended_at = t.at, outcome = 'cancelled' FROM gone, t
WHERE a.task_id = gone.id AND a.number = gone.attempt AND a.ended_at IS NULL
"""


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The plan as it is proposed now."""

    proposal: Proposal
    case: CaseRow


def withdraw(*, proposal: Proposal, person: Person) -> Withdrawn:
    """Take an approval back. Raises NotPermitted, NotDecidable, and TooLateToWithdraw(action, at) once a call began."""
    try:
        with transaction.atomic():
            return _withdraw(proposal, person)
    except (NotPermitted, NotYourDecision, NotDecidable, TooLateToWithdraw) as error:
        record_refusal(proposal, person, {"decision": "withdraw", "code": error.code})
        raise


def _withdraw(proposal: Proposal, person: Person) -> Withdrawn:
    case = lock_case(proposal.case_id)
    now = database_now()
    access.require(person, case.organisation_id, Right.DECIDE)
    counted = Decision.objects.filter(proposal=proposal, person=person, kind=Decision.Kind.APPROVE).exists()
    if not counted:
        raise NotYourDecision
    if case.plan_begun:
        raise _too_late(proposal)
    newest = Proposal.objects.filter(case_id=case.id, has_effects=True).order_by("-number").first()
    if case.state is not State.EXECUTING or newest is None or newest.pk != proposal.pk:
        raise NotDecidable(state=case.state.value)
    with connection.cursor() as cursor:
        cursor.execute(_CANCEL_TASKS, [case.id])
    cancel_planned(case.id)
    Decision.objects.create(
        proposal=proposal,
        person=person,
        kind=Decision.Kind.WITHDRAW,
        digest=proposal.digest,
        case_version=case.version,
        decisive=True,
        at=now,
    )
    again = _propose_again(case, proposal, now)
    facts = {"proposal": proposal.public_id, "proposed_again": again.public_id, "digest": again.digest}
    transition = case.definition.table.get(case.state, Event.WITHDRAWN)
    written = advance_case(case, Event.WITHDRAWN, actor=actor_of_person(person), facts=facts)
    expire = NewTask("expire", subject=again.public_id, at=again.valid_until)
    publish(written.case, started_by(transition.starts, [expire]))
    if set(again.causers) != set(proposal.causers):
        # Who supplied data under way decides no more: perhaps too few are left.
        look_again(case.organisation_id)
    ring_after_commit()
    return Withdrawn(again, written.case)


def _propose_again(case: CaseRow, proposal: Proposal, now: datetime) -> Proposal:
    """The same plan and `valid_until` with new action ids. Withdrawing makes nobody a causer; telling data does."""
    revisions = IntakeRevision.objects.filter(case_id=case.id, told_by_person__isnull=False)
    told = revisions.values_list("told_by_person", flat=True)
    return store_proposal(
        case,
        snapshot=with_new_ids(opened(proposal.snapshot), number=next_number(case.id)),
        causers=sorted({*proposal.causers, *filter(None, told)}),
        valid_until=proposal.valid_until,
        versions={
            "proposer": proposal.proposer,
            "rule_version": proposal.rule_version,
            "schema_version": proposal.schema_version,
            "prompt_version": proposal.prompt_version,
            "model": proposal.model,
        },
        at=now,
        repeats=proposal,
    )


def _too_late(proposal: Proposal) -> TooLateToWithdraw:
    began = Action.objects.filter(proposal=proposal, first_sent_at__isnull=False).order_by("first_sent_at").first()
    at = began.first_sent_at if began and began.first_sent_at else datetime.now(UTC)
    return TooLateToWithdraw(action=began.public_id if began else "", at=at.isoformat())
