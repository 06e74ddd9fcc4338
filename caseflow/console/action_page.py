"""One action: its system's contract, every try and request, the read-back, and what the approval was bound to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.translation import gettext

from accounts import access
from accounts.models import Person
from actions.desk import list_tries
from actions.models import Action, ActionKind, ExternalCall
from approvals.models import Decision
from approvals.selectors import find_deciding_approval
from approvals.snapshots import ActionSpec, actions_of, opened
from caseflow.domain.canonical import digest_of
from caseflow.domain.process import value_at
from caseflow.domain.roles import Right
from cases.models import Attempt, Task
from cases.observing import newest_observations
from cases.selectors import find_next_task, masked
from operations.drift_selectors import list_findings_of
from operations.models import DriftFinding

from . import vocabulary, words
from .actions_page import subject_text
from .doubt import Contract, Doubt, contract_of, doubt_about
from .history import Change


@dataclass(frozen=True, slots=True)
class Call:
    """One request to the system; `took` is None while it has not ended."""

    kind: str
    call_id: str
    worker: str
    begun_at: datetime
    took: timedelta | None
    answer: str
    code: str


@dataclass(frozen=True, slots=True)
class Try:
    """One try at a task about this action."""

    stage: str
    number: int
    worker: str
    begun_at: datetime
    took: timedelta | None
    outcome: str
    error: str


@dataclass(frozen=True, slots=True)
class ReadBack:
    """One value that the plan promises, beside what was read last; `after` says it was read after the request."""

    label: str
    promised: str
    read: str
    read_at: datetime | None
    holds: bool
    after: bool


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that has to agree, and whether it does."""

    label: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Drifted:
    """A difference that a comparison found after the confirmation."""

    at: datetime
    run: int
    changes: Sequence[Change]


@dataclass(frozen=True, slots=True)
class ActionPage:
    """The whole page."""

    action: Action
    status: words.Shown
    operation: str
    system: str
    subject: str
    how: str
    doubt: Doubt | None
    contract: Contract | None
    calls: Sequence[Call]
    tries: Sequence[Try]
    read_backs: Sequence[ReadBack]
    approval: Decision | None
    checks: Sequence[Check]
    drifted: Sequence[Drifted]
    undone_by: Sequence[Action]
    next_task: Task | None
    may_recover: bool

    @property
    def matches(self) -> bool:
        return all(check.holds for check in self.checks)


def gather(action: Action, person: Person) -> ActionPage:
    """Seven queries for an action with its calls, however often it was tried."""
    calls = list(action.calls.all())
    specs = actions_of(opened(action.proposal.snapshot))
    spec = next((one for one in specs if one.id == action.public_id), None)
    contract = contract_of(action, calls)
    approval = find_deciding_approval(action.proposal)
    task = find_next_task(action.case_id, action.public_id)
    return ActionPage(
        action=action,
        status=words.action_word(action.status),
        operation=vocabulary.operation_label(action.system, action.operation),
        system=vocabulary.system_label(action.system),
        subject=subject_text(action),
        how=str(words.CONFIRMED_BY.get(action.confirmed_by, "")),
        doubt=doubt_about(action, calls, contract, task),
        contract=contract,
        calls=[_call(call) for call in calls],
        tries=[_try(attempt) for attempt in list_tries(action)],
        read_backs=_read_backs(action, spec),
        approval=approval,
        checks=_checks(action, spec, approval),
        drifted=[drifted(finding) for finding in list_findings_of(action)],
        undone_by=list(action.undone_by.order_by("pk")),
        next_task=task,
        may_recover=access.has_right(person, action.organisation_id, Right.RECOVER),
    )


def drifted(finding: DriftFinding) -> Drifted:
    return Drifted(finding.at, finding.run_id, changes_since(finding.differences))


def changes_since(differences: dict[str, dict[str, object]]) -> list[Change]:
    """Path → {"confirmed", "now"}, as a comparison stores it; personal values stay hidden."""
    return [
        Change(
            vocabulary.path_label(path),
            vocabulary.value_text(path, masked(pair.get("confirmed"))),
            vocabulary.value_text(path, masked(pair.get("now"))),
        )
        for path, pair in differences.items()
    ]


def _call(call: ExternalCall) -> Call:
    return Call(
        kind=str(words.CALL_KINDS.get(call.kind, call.kind)),
        call_id=call.call_id,
        worker=call.worker,
        begun_at=call.begun_at,
        took=call.ended_at - call.begun_at if call.ended_at else None,
        answer=str(words.CALL_OUTCOMES.get(call.outcome, call.outcome)) if call.ended_at else gettext("not ended"),
        code=call.code,
    )


def _try(attempt: Attempt) -> Try:
    stage = attempt.task.stage
    return Try(
        stage=str(words.STAGES.get(stage, stage)),
        number=attempt.number,
        worker=attempt.worker,
        begun_at=attempt.begun_at,
        took=attempt.ended_at - attempt.begun_at if attempt.ended_at else None,
        outcome=words.attempt_outcome(attempt.outcome) if attempt.ended_at else gettext("not ended"),
        error=attempt.error,
    )


def _read_backs(action: Action, spec: ActionSpec | None) -> list[ReadBack]:
    """What must be seen before anybody says "done"; a message has nothing that could be read back."""
    if spec is None or not spec.confirms:
        return []
    newest = {row.name: row for row in newest_observations(action.case_id)}
    values = {name: row.value for name, row in newest.items()}
    found = []
    for path, promised in spec.confirms.items():
        row, read = newest.get(path.partition(".")[0]), value_at(values, path)
        sent = action.first_sent_at
        found.append(
            ReadBack(
                label=vocabulary.path_label(path),
                promised=vocabulary.value_text(path, masked(promised)),
                read=vocabulary.value_text(path, masked(read)),
                read_at=row.observed_at if row else None,
                holds=read == promised,
                after=row is not None and sent is not None and row.observed_at > sent,
            )
        )
    return found


def _checks(action: Action, spec: ActionSpec | None, approval: Decision | None) -> list[Check]:
    """What `begin_call` checked before the request, looked at again now."""
    proposal = action.proposal
    row = (action.system, action.operation, action.subject, action.key)
    planned = (spec.system, spec.operation, spec.subject, spec.key) if spec else None
    found = [
        Check(
            gettext("The plan's bytes still give its digest"), digest_of(bytes(proposal.snapshot)) == proposal.digest
        ),
        Check(gettext("System, operation, subject and key are those of the plan"), row == planned),
    ]
    if proposal.needs_approval:
        found.append(
            Check(
                gettext("The approval names this very digest"),
                approval is not None and approval.digest == proposal.digest,
            )
        )
    # A message that follows the change is bound by no such time (design §3).
    if action.kind == ActionKind.EFFECT and action.first_sent_at and approval and approval.execute_by:
        within = action.first_sent_at <= approval.execute_by
        found.append(Check(gettext("The first request left within the time that the approval allows"), within))
    return found
