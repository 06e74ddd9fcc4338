"""A case explained from the application alone: where it stands and why, what was proposed, decided and really done.

Words are in the language that is active; personal texts stay hidden. A fixed number of queries, whatever happened.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext

from accounts.principal import Principal
from actions.models import Action
from actions.selectors import Entry, list_actions, timeline
from approvals.models import Decision, Proposal
from approvals.selectors import list_proposals
from caseflow.console import vocabulary, words
from caseflow.console.account import TELLING, account_of
from caseflow.console.pauses import PauseShown, shown
from caseflow.domain import recovery_words
from cases.models import Case, Task
from cases.models.task import LIVE
from cases.observing import newest_observations
from cases.selectors import CaseFilter, find_newest_event, get_case, get_intake, list_cases, masked
from cases.wording import event_text
from operations.models import Recovery
from operations.pauses import pauses_of_case, unsettled_systems
from operations.selectors import list_recoveries

#: The error text of these may hold anything the program had at hand, so only the code is told.
UNTOLD = frozenset({"internal_error"})


def find_cases(principal: Principal, name: str, organisation: str = "") -> list[Case]:
    """The cases in sight called `name`, a public id or a ticket's own id; more than one where two systems use it.

    Raises NotFound for a public id that is out of sight, and BadInput for a name that no ticket can have.
    """
    if name[:2] == "C-":
        found = get_case(principal, name)
        return [found] if organisation in ("", found.organisation.slug) else []
    return list(list_cases(principal, CaseFilter(organisation=organisation, external_id=name)))


def explain(case: Case) -> dict[str, Any]:
    """Everything as JSON values; moments are UTC ISO strings."""
    history, intake = timeline(case.pk), get_intake(case.pk)
    plan = Proposal.objects.filter(case=case, has_effects=True).order_by("-number").first()
    actions, tasks, pauses = list(list_actions(case.pk)), _live_tasks(case), _pauses(case, plan)
    account = account_of(
        case,
        actions=actions,
        tasks=tasks,
        plan=plan,
        told=find_newest_event(case.pk, TELLING),
        paused=bool(pauses),
    )
    return {
        "case": case.public_id,
        "external_id": case.external_id,
        "source": case.source,
        "source_url": case.source_url,
        "organisation": case.organisation.slug,
        "department": case.department.slug if case.department else "",
        "process": case.process,
        "process_version": case.process_version,
        "title": words.process_title(case.process, case.process_version),
        "subject": case.subject,
        "state": _word(words.state_word(case.state)),
        "version": case.version,
        "since": _at(case.state_since),
        "opened_at": _at(case.created_at),
        "closed_at": _at(case.closed_at),
        "reason": _word(words.reason_of(case)) if case.reason else None,
        "ending": _ending(case),
        "outcome": {"code": case.outcome, "says": str(words.OUTCOMES[case.outcome])} if case.outcome else None,
        "wait_until": _at(case.wait_until),
        "account": {"cause": account.cause, "truth": account.truth, "next": account.next},
        "pauses": [_pause(pause) for pause in pauses],
        "effects_open": case.effects_open,
        "effects_done": case.effects_done,
        "told": dict(intake.body),
        "facts": [_fact(row, intake.erased) for row in newest_observations(case.pk)],
        "proposals": [_proposal(case, proposal) for proposal in list_proposals(case.pk)],
        "actions": [_action(action) for action in actions],
        "recoveries": [_recovery(row) for row in list_recoveries(case.pk)],
        "planned": [_task(task) for task in tasks],
        "timeline": [_entry(entry) for entry in history.entries],
        "timeline_complete": history.complete,
    }


def _pauses(case: Case, plan: Proposal | None) -> list[PauseShown]:
    """What an open case waits for besides its own work."""
    if case.closed_at is not None:
        return []
    return shown(pauses_of_case(case, unsettled_systems(plan, Action.objects.filter(case=case))))


def _pause(pause: PauseShown) -> dict[str, Any]:
    return {
        "id": pause.public_id,
        "says": pause.title,
        "reason": pause.reason,
        "by": pause.by,
        "since": _at(pause.at),
        "until": _at(pause.until),
    }


def _live_tasks(case: Case) -> list[Task]:
    """What is still to be done; tasks of an earlier version of the case are dropped by the engine."""
    rows = Task.objects.filter(case=case, status__in=LIVE, generation=case.version)
    return list(rows.order_by("available_at", "id"))


def _ending(case: Case) -> dict[str, str] | None:
    if not case.ending:
        return None
    return {"code": case.ending, "says": words.ending_sentence(case.process, case.process_version, case.ending)}


def _fact(row: Any, erased: bool) -> dict[str, Any]:
    return {
        "name": row.name,
        "label": vocabulary.fact_label(row.name),
        "system": row.source,
        "observed_at": _at(row.observed_at),
        "call": row.call_id,
        "value": masked(row.value, erased=erased),
    }


def _proposal(case: Case, proposal: Proposal) -> dict[str, Any]:
    return {
        "id": proposal.public_id,
        "number": proposal.number,
        "at": _at(proposal.at),
        "decision": proposal.decision,
        "says": words.ending_sentence(case.process, case.process_version, proposal.decision),
        "request": words.request_sentence(case.process, case.process_version, proposal.decision, case.subject)
        if proposal.has_effects
        else "",
        "needs_approval": proposal.needs_approval,
        "valid_until": _at(proposal.valid_until),
        "digest": proposal.digest,
        "repeats": proposal.repeats.public_id if proposal.repeats else "",
        "decisions": [_decision(decision) for decision in proposal.decisions.all()],
    }


def _decision(decision: Decision) -> dict[str, Any]:
    return {
        "kind": decision.kind,
        "says": str(words.DECISIONS[decision.kind]),
        "person": decision.person.get_full_name(),
        "at": _at(decision.at),
        "decisive": decision.decisive,
        "next": decision.next,
        "has_reason": bool(decision.reason_field),
        "undo_until": _at(decision.undo_until),
        "execute_by": _at(decision.execute_by),
    }


def _action(action: Action) -> dict[str, Any]:
    return {
        "id": action.public_id,
        "proposal": action.proposal.public_id,
        "kind": action.kind,
        "system": action.system,
        "operation": action.operation,
        "says": vocabulary.operation_label(action.system, action.operation),
        "subject": action.subject,
        "key": action.key,
        "status": _word(words.action_word(action.status)),
        "confirmed_by": str(words.CONFIRMED_BY.get(action.confirmed_by, "")),
        "code": action.code,
        "external_id": action.external_id,
        "first_sent_at": _at(action.first_sent_at),
        "settled_at": _at(action.settled_at),
        "calls": [_call(call) for call in action.calls.all()],
    }


def _recovery(row: Recovery) -> dict[str, Any]:
    """An order by a person; its reason and written evidence are personal text and stay hidden."""
    return {
        "id": row.public_id,
        "kind": row.kind,
        "says": gettext(recovery_words.KINDS[row.kind]),
        "status": row.status,
        "came_of_it": gettext(recovery_words.STATUSES[row.status]),
        "action": row.action.public_id if row.action else "",
        "action_status": row.action_status,
        "result": row.result,
        "asked_by": row.asked_by.get_full_name(),
        "asked_at": _at(row.asked_at),
        "authorised_by": row.authorised_by.get_full_name() if row.authorised_by else "",
        "authorised_at": _at(row.authorised_at),
        "evidence_call": row.evidence_call,
        "has_evidence": bool(row.evidence_field or row.evidence_call),
        "case_version": row.case_version,
        "stage": row.stage,
        "outcome": row.outcome,
        "version_after": row.version_after,
    }


def _call(call: Any) -> dict[str, Any]:
    return {
        "call": call.call_id,
        "kind": call.kind,
        "says": str(words.CALL_KINDS.get(call.kind, call.kind)),
        "begun_at": _at(call.begun_at),
        "ended_at": _at(call.ended_at),
        "outcome": call.outcome,
        "answer": str(words.CALL_OUTCOMES.get(call.outcome, call.outcome)),
        "code": call.code,
        "message": call.message,
    }


def _task(task: Task) -> dict[str, Any]:
    return {
        "stage": task.stage,
        "says": str(words.STAGES.get(task.stage, task.stage)),
        "subject": task.subject,
        "status": task.status,
        "due_at": _at(task.available_at),
        "attempts": task.attempt,
        "last_error": task.last_error,
        "last_error_text": "" if task.last_error in UNTOLD else task.last_error_text,
    }


def _entry(entry: Entry) -> dict[str, Any]:
    line: dict[str, Any] = {"at": _at(entry.at), "type": entry.type}
    if entry.event is not None:
        event = entry.event
        return line | {
            "number": event.seq,
            "kind": event.kind,
            "says": event_text(event.kind, event.facts),
            "by": words.actor_text(event.actor_kind, event.actor_name),
            "actor": {"kind": event.actor_kind, "name": event.actor_name},
            "from": event.from_state,
            "to": event.to_state,
            "version": event.version,
            "facts": dict(event.facts),
        }
    if entry.attempt is not None:
        attempt = entry.attempt
        stage = attempt.task.stage
        return line | {
            "stage": stage,
            "says": str(words.STAGES.get(stage, stage)),
            "number": attempt.number,
            "worker": attempt.worker,
            "ended_at": _at(attempt.ended_at),
            "outcome": attempt.outcome,
            "came_of_it": words.attempt_outcome(attempt.outcome),
            "error": attempt.error,
            "error_text": "" if attempt.error in UNTOLD else attempt.error_text,
        }
    return line | _call(entry.call) | {"action": entry.call.action.public_id if entry.call else ""}


def _word(shown: words.Shown) -> dict[str, str]:
    return {"code": shown.code, "label": shown.label, "help": shown.help}


def _at(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds") if moment else None


def changes_of(facts: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """(path, then, now) of an event that tells of changed facts."""
    changed = facts.get("changed") or facts.get("differences") or {}
    return [(path, pair.get("then"), pair.get("now")) for path, pair in changed.items()]
