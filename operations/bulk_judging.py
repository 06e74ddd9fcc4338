"""Which cases of a list a bulk would order something for, and why not for the others: in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from accounts import access
from accounts.models import Person
from actions.models import Action, ActionKind, ActionStatus
from approvals.models import Proposal
from caseflow.domain.bulk import RECOVERIES, RIGHTS, BulkKind, Skip, why_skipped
from caseflow.domain.errors import ProcessNotInstalled
from caseflow.domain.lifecycle import CLOSED, State
from caseflow.domain.recovery import Doubt, Standing
from caseflow.domain.roles import Right
from cases.models import Case, IntakeRevision
from cases.rows import CaseRow, database_now


@dataclass(frozen=True, slots=True)
class Judged:
    """One case as it was seen; `skip` is None where it will have its turn."""

    case: Case
    skip: Skip | None
    action: Action | None = None
    proposal: Proposal | None = None


def judge(kind: BulkKind, person: Person, cases: Sequence[Case], *, to: Person | None = None) -> list[Judged]:
    """In the order of `cases`; five queries at most. The turn of each case asks for everything again."""
    permitted = _permitted(RIGHTS[kind], person)
    if kind is BulkKind.HAND_OVER and to is not None:
        theirs = _permitted([Right.SUPPLY_DATA], to)
        return [Judged(case, _not_handed_over(case, permitted, theirs)) for case in cases]
    if kind is BulkKind.ASK_DATA:
        return _judge_questions(person, cases, permitted)
    actions = _in_doubt(cases) if kind is BulkKind.RECONCILE else {}
    return [_judge_recovery(kind, case, actions.get(case.pk), permitted) for case in cases]


def _permitted(rights: Sequence[Right], person: Person) -> set[int]:
    """Organisations where the person holds all of these rights; a query each."""
    found = [set(access.organisations_with(person, right).values_list("pk", flat=True)) for right in rights]
    return set.intersection(*found)


def _not_handed_over(case: Case, permitted: set[int], theirs: set[int]) -> Skip | None:
    if case.organisation_id not in permitted:
        return Skip.NOT_PERMITTED
    if State(case.state) in CLOSED:
        return Skip.CLOSED
    return None if case.organisation_id in theirs else Skip.NOT_THEIRS


def _judge_recovery(kind: BulkKind, case: Case, action: Action | None, permitted: set[int]) -> Judged:
    if case.organisation_id not in permitted:
        return Judged(case, Skip.NOT_PERMITTED)
    row = CaseRow.of_case(case)
    try:
        table = row.definition.table
    except ProcessNotInstalled:
        return Judged(case, Skip.NO_PROCESS)
    standing = Standing(row.state, row.plan_begun, row.effects_open, row.effects_done, doubt=_doubt(action))
    skip = why_skipped(RECOVERIES[kind], standing, table)
    return Judged(case, skip, action=action if skip is None else None)


def _doubt(action: Action | None) -> Doubt | None:
    # What look-ups said matters to no kind that is ordered for many.
    if action is None:
        return None
    return Doubt(action.public_id, action.status, denied=False, denied_for_good=False, key_lives=False,
                 cannot_land=False)  # fmt: skip


def _in_doubt(cases: Sequence[Case]) -> dict[int, Action]:
    """The newest effect in doubt of each case; one query."""
    rows = Action.objects.filter(
        case__in=[case.pk for case in cases],
        kind=ActionKind.EFFECT,
        status__in=[ActionStatus.REQUESTED, ActionStatus.UNKNOWN],
    )
    return {row.case_id: row for row in rows.order_by("case_id", "-pk").distinct("case_id")}


def _judge_questions(person: Person, cases: Sequence[Case], permitted: set[int]) -> list[Judged]:
    waiting = [case.pk for case in cases if case.state == State.WAITING_APPROVAL]
    newest = Proposal.objects.filter(case__in=waiting, has_effects=True).order_by("case_id", "-number")
    proposals = {row.case_id: row for row in newest.distinct("case_id").defer("snapshot")}
    told = IntakeRevision.objects.filter(case__in=waiting, told_by_person=person.pk).values_list("case_id", flat=True)
    causes, now = set(told), database_now()

    def reason(case: Case, proposal: Proposal | None) -> Skip | None:
        if case.organisation_id not in permitted:
            return Skip.NOT_PERMITTED
        if State(case.state) in CLOSED:
            return Skip.CLOSED
        if proposal is None or not proposal.needs_approval:
            return Skip.NOT_WAITING
        if proposal.valid_until is not None and proposal.valid_until <= now:
            return Skip.EXPIRED
        return Skip.CAUSER if case.pk in causes or person.pk in proposal.causers else None

    return [_with_proposal(case, proposals, reason(case, proposals.get(case.pk))) for case in cases]


def _with_proposal(case: Case, proposals: Mapping[int, Proposal], skip: Skip | None) -> Judged:
    return Judged(case, skip, proposal=proposals.get(case.pk) if skip is None else None)
