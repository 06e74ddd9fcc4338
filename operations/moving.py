"""Moving open cases to a newer version of their process, on order and one at a time (failures C46).

A case stays in the version it was opened with until somebody moves it. It is moved only between two pieces of work and
without a plan under way: what was approved ends in the version that it was approved in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from accounts.principal import Actor
from actions.models import IN_DOUBT, Action, ActionKind, ActionStatus
from caseflow.domain.errors import BadInput
from caseflow.domain.lifecycle import CLOSED, State
from caseflow.domain.process import Process
from caseflow.statements import row_of, rows_of, run
from cases.advancing import record_event
from cases.models import Case, IntakeRevision
from cases.personal import read_texts
from cases.processes import all_processes, process_key
from cases.revisions import checked_intake
from cases.rows import CaseRow, lock_case

from .models import Repair

#: In these a plan waits for people or is on its way.
OF_A_PLAN = frozenset({State.WAITING_APPROVAL, State.EXECUTING, State.NOTIFYING})

#: Why a case is not moved, in words for the person who ordered it.
REFUSALS = {
    "plan_under_way": "A plan waits for a decision or is on its way: decide it, return it or let it end first.",
    "in_doubt": "A result is not known yet: it is found out first.",
    "at_work": "A worker has it just now: run the command again.",
    "version_missing": "The version it has is not installed here.",
    "state_missing": "The new version has no such state.",
    "history_differs": "Its history is no path in the table of the new version.",
    "approval_differs": "Something was sent under another rule of who has to approve.",
    "personal_fields_differ": "The new version keeps other fields as personal texts.",
    "reason_missing": "The new version does not know the reason for which it waits.",
    "intake_differs": "What was told about it does not fit the new version: supply data first.",
}

_TASKS = "SELECT status FROM cases_task WHERE case_id = %s AND status IN ('due', 'leased') ORDER BY id FOR UPDATE"
#: A claim whose statement began just before may read the case as it was: for it the task is not due yet.
_MOVE_TASKS = """
UPDATE cases_task SET process = %s, available_at = greatest(available_at, clock_timestamp() + interval '2 seconds')
WHERE case_id = %s AND status = 'due'
"""
_STEPS = """
SELECT DISTINCT substr(kind, 6), from_state, to_state FROM audit_auditevent
WHERE case_id = %s AND version IS NOT NULL AND kind <> 'case.opened'
"""


@dataclass(frozen=True, slots=True)
class Movable:
    """An open case of an older version, and why it may not be moved as it stands; empty where it may."""

    case: CaseRow
    refusal: str


def newer_version(slug: str, version: int) -> Process | None:
    """The installed process of that version."""
    return all_processes().get(f"{slug}:{version}")


def find_movable(
    target: Process, organisations: Sequence[int] | None, *, case: str = "", batch: int = 500
) -> Iterator[Movable]:
    """Open cases of the target's process in an older version, oldest first; reads only, a few rows of each case."""
    rows = Case.objects.filter(
        process=target.slug, process_version__lt=target.version, closed_at__isnull=True
    ).order_by("pk")
    if organisations is not None:
        rows = rows.filter(organisation__in=organisations)
    if case:
        rows = rows.filter(public_id=case)
    for one in rows.iterator(chunk_size=batch):
        row = CaseRow.of_case(one)
        yield Movable(row, refusal_of(row, target))


def move_case(case_id: int, target: Process, *, actor: Actor, repair: Repair) -> str:
    """Move one case within the caller's transaction, with one event; the refusal's code where it may not be moved.

    Case before tasks, as everywhere. A claim that was first shows its task as leased once its row is ours; a claim
    that comes later finds the new version, which only workers with that version take.
    """
    case = lock_case(case_id)
    if case.process_version >= target.version or case.state in CLOSED:
        return "moved_on"
    statuses = [status for (status,) in rows_of(_TASKS, [case.id])]
    refusal = "at_work" if "leased" in statuses else refusal_of(case, target)
    if refusal:
        return refusal
    facts: dict[str, Any] = {
        "from_version": case.process_version,
        "to_version": target.version,
        "repair": repair.pk,
        "os_account": repair.os_account,
    }
    sets = {"process_version": target.version}
    record_event(case, "repair.version_moved", actor=actor, facts=facts, sets=sets)
    run(_MOVE_TASKS, [process_key(target), case.id])
    return ""


def refusal_of(case: CaseRow, target: Process) -> str:
    """Code of why the case may not be moved as it stands, the first one; empty where it may."""
    present = newer_version(case.process, case.process_version)
    if present is None:
        return "version_missing"
    if case.state in OF_A_PLAN or case.plan_begun:
        return "plan_under_way"
    actions = Action.objects.filter(case_id=case.id)
    if case.effects_open or actions.filter(status__in=IN_DOUBT, settled_at=None).exists():
        return "in_doubt"
    if actions.filter(status=ActionStatus.PLANNED).exists() or _leased(case):
        return "at_work"
    return _difference(case, present, target)


def _leased(case: CaseRow) -> bool:
    return row_of("SELECT 1 FROM cases_task WHERE case_id = %s AND status = 'leased' LIMIT 1", [case.id]) is not None


def _difference(case: CaseRow, present: Process, target: Process) -> str:
    if case.state not in {state for row in target.table for state in (row.source, row.target)}:
        return "state_missing"
    if not _has_path(case, present, target):
        return "history_differs"
    if (present.approval is None) != (target.approval is None) and _was_sent(case):
        return "approval_differs"
    if (present.personal_intake, present.personal_facts) != (target.personal_intake, target.personal_facts):
        return "personal_fields_differ"
    if case.reason in present.endings and case.reason not in target.endings:
        return "reason_missing"
    newest = IntakeRevision.objects.filter(case_id=case.id).latest("number")
    references = {name: value["personal"] for name, value in newest.body.items() if isinstance(value, dict)}
    texts = read_texts(case.id, list(references.values()))
    try:
        checked_intake(target, newest.body | {name: texts[field] for name, field in references.items()})
    except BadInput:
        return "intake_differs"
    return ""


def _was_sent(case: CaseRow) -> bool:
    return Action.objects.filter(case_id=case.id, kind=ActionKind.EFFECT, first_sent_at__isnull=False).exists()


def _has_path(case: CaseRow, present: Process, target: Process) -> bool:
    """Invariant 3 reads a case's whole history against the table of the version that it has."""
    rows = {(row.event.value, row.source.value, row.target.value) for row in target.table}
    if rows >= {(row.event.value, row.source.value, row.target.value) for row in present.table}:
        return True
    return rows >= set(rows_of(_STEPS, [case.id]))
