"""A case in three sentences: why it stands where it stands, what is true outside, and what comes next (F1, F4).

Its page and `explain_case` say the same words. What "is true" is only what was read back, or that nobody knows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext

from actions.models import Action, ActionKind, ActionStatus, ExternalCall
from approvals.models import Proposal
from caseflow.domain.advice import STEPS, advice_for
from caseflow.domain.lifecycle import CLOSED, State
from cases.models import Case, Task
from cases.models.task import TaskStatus
from cases.selectors import Happened

from . import vocabulary, words
from .model_words import problem_text
from .moments import moment_text

#: Events that may be the cause of where a case stands; the newest of them tells. A new plan ends what was before.
TELLING = (
    "case.exhausted",
    "case.facts_changed",
    "case.person_needed",
    "case.approval_lapsed",
    "case.quorum_reached",
    "decision.refused",
    "case.effect_refused",
    "case.effect_unknown",
)


@dataclass(frozen=True, slots=True)
class Account:
    """Each of the three is one or two sentences in the reader's language; `cause` is empty where nothing went wrong."""

    cause: str
    truth: str
    next: str


def account_of(
    case: Case,
    *,
    actions: Sequence[Action],
    tasks: Sequence[Task],
    plan: Proposal | None,
    told: Happened | None,
    paused: bool = False,
) -> Account:
    """`actions` are the rows of the case, `tasks` what is still to be done, `plan` the newest one with effects, `told`
    the newest of its TELLING events. No query."""
    return Account(
        cause=" ".join(_cause(case, actions, tasks, told)),
        truth=" ".join(_truth(actions)),
        next=" ".join(_next(case, actions, tasks, plan, told, paused)),
    )


def _cause(case: Case, actions: Sequence[Action], tasks: Sequence[Task], told: Happened | None) -> list[str]:
    found = [*_doubts(actions), *_lost_workers(tasks)]
    if told is not None:
        found += _told(case, told)
    if case.state == State.NEEDS_ATTENTION and case.reason:
        found.append(_sentence(words.reason_of(case).label))
    return found


def _doubts(actions: Sequence[Action]) -> list[str]:
    """Requests whose answer was lost on the way, or with the worker that waited for it."""
    found = []
    for action in actions:
        if action.status != ActionStatus.UNKNOWN:
            continue
        said = {"system": vocabulary.system_label(action.system), "action": action.public_id}
        requests = [call for call in action.calls.all() if call.kind == ExternalCall.Kind.PERFORM]
        if requests and requests[-1].ended_at is None:
            found.append(gettext("The worker that sent request %(action)s stopped before it kept an answer.") % said)
        else:
            found.append(gettext("The answer to request %(action)s was lost: %(system)s gave none.") % said)
    return found


def _lost_workers(tasks: Sequence[Task]) -> list[str]:
    """Workers that stopped in the middle, and those that fell silent and may have."""
    found = []
    for task in tasks:
        step = {"step": str(words.STAGES.get(task.stage, task.stage))}
        if _is_silent(task):
            found.append(gettext("The worker at the step “%(step)s” fell silent in the middle of it.") % step)
        elif task.lost:
            found.append(gettext("A worker stopped in the middle of the step “%(step)s”.") % step)
    return found


def _is_silent(task: Task) -> bool:
    return task.status == TaskStatus.LEASED and task.leased_until is not None and task.leased_until < timezone.now()


def _told(case: Case, told: Happened) -> list[str]:
    facts = told.facts
    if told.kind == "case.exhausted" and case.state == State.NEEDS_ATTENTION:
        return [_exhausted(facts)]
    if told.kind == "case.facts_changed":
        return [gettext("After the decision the facts changed."), *_changes(facts.get("changed") or {})]
    if told.kind == "case.approval_lapsed":
        return [gettext("The approval may not be used any more.")]
    if told.kind == "case.person_needed" and facts.get("problems"):
        return [problem_text(one) for one in facts["problems"]]
    if told.kind == "case.person_needed" and facts.get("missing"):
        missing = ", ".join(vocabulary.path_label(path) for path in facts["missing"])
        return [gettext("Nobody could read: %(facts)s.") % {"facts": missing}]
    if told.kind == "decision.refused" and facts.get("code") == "stale_snapshot":
        return [
            gettext("A decision by %(person)s was not accepted: the facts had changed.") % {"person": told.actor_name},
            *_changes(facts.get("differences") or {}),
        ]
    return []


def _exhausted(facts: Mapping[str, Any]) -> str:
    """Which step failed, how often it was tried, and who answers for the system."""
    stage = str(facts.get("stage", ""))
    said = {
        "step": str(words.STAGES.get(stage, stage)),
        "system": vocabulary.system_label(str(facts.get("system", ""))),
        "number": facts.get("attempts", 0),
        "code": facts.get("error", ""),
    }
    if facts.get("system"):
        text = gettext("“%(step)s” failed at the system %(system)s; attempts: %(number)s, the last answer: %(code)s.")
    else:
        text = gettext("“%(step)s” failed; attempts: %(number)s, the last error: %(code)s.")
    return text % said


def _changes(changed: Mapping[str, Any]) -> list[str]:
    return [
        gettext("%(fact)s was “%(then)s”, now “%(now)s”.")
        % {
            "fact": vocabulary.path_label(path),
            "then": vocabulary.value_text(path, pair.get("then")),
            "now": vocabulary.value_text(path, pair.get("now")),
        }
        for path, pair in changed.items()
    ]


def _truth(actions: Sequence[Action]) -> list[str]:
    """Of each change what is known of it; of messages only those that are not confirmed."""
    sent = [action for action in actions if action.first_sent_at is not None]
    effects = [action for action in sent if action.kind == ActionKind.EFFECT]
    found = [_of_effect(action) for action in effects]
    if not effects:
        found.append(gettext("No change was sent to any outside system."))
    found += [
        gettext("Message %(action)s is not confirmed: it may not have reached its recipient.")
        % {"action": action.public_id}
        for action in sent
        if action.kind == ActionKind.NOTICE and action.status != ActionStatus.CONFIRMED
    ]
    return found


def _of_effect(action: Action) -> str:
    said = {
        "operation": vocabulary.operation_label(action.system, action.operation),
        "subject": action.subject,
        "action": action.public_id,
    }
    match action.status:
        case ActionStatus.CONFIRMED:
            text = gettext("“%(operation)s” for %(subject)s (%(action)s) is confirmed and stays.")
        case ActionStatus.UNKNOWN:
            text = gettext(
                "“%(operation)s” for %(subject)s (%(action)s) may have happened: it counts neither as done nor as not"
                " done."
            )
        case ActionStatus.REQUESTED:
            text = gettext("“%(operation)s” for %(subject)s (%(action)s) is requested and not confirmed.")
        case ActionStatus.REFUSED:
            text = gettext("“%(operation)s” for %(subject)s (%(action)s) is definitely not done.")
        case _:
            text = gettext("“%(operation)s” for %(subject)s (%(action)s) is not done: the service took no request.")
    return text % said


def _next(
    case: Case,
    actions: Sequence[Action],
    tasks: Sequence[Task],
    plan: Proposal | None,
    told: Happened | None,
    paused: bool,
) -> list[str]:
    if case.state in CLOSED:
        return [gettext("Nothing more is to be done here.")]
    if case.state == State.NEEDS_ATTENTION:
        return _for_a_person(case, told)
    if case.state == State.WAITING_APPROVAL and plan is not None and plan.valid_until is not None:
        said = {"proposal": plan.public_id, "until": moment_text(plan.valid_until)}
        text = gettext("Somebody who may decide decides on proposal %(proposal)s until %(until)s.") % said
        if told is not None and told.kind == "decision.refused" and told.facts.get("code") == "stale_snapshot":
            return [text, gettext("With changed facts it cannot be approved: send it for review again.")]
        return [text]
    if case.state == State.WAITING_DATA and case.wait_until is not None:
        return [gettext("The case waits until %(until)s.") % {"until": moment_text(case.wait_until)}]
    if paused:
        return [gettext("The case goes on by itself when somebody resumes.")]
    found = []
    if any(one.status == ActionStatus.UNKNOWN for one in actions):
        found.append(gettext("Do not repeat the change: what became of it is found out first."))
    task = next((one for one in tasks if one.stage != "expire"), None)
    if task is not None and _is_silent(task):
        found.append(gettext("Another worker takes the step over and first finds out what was done already."))
    elif task is not None:
        step = {"step": str(words.STAGES.get(task.stage, task.stage)), "at": moment_text(task.available_at)}
        found.append(gettext("Caseflow goes on by itself: %(step)s, %(at)s.") % step)
    return found


def _for_a_person(case: Case, told: Happened | None) -> list[str]:
    """The one recommended step and what the glossary says of the reason; whom to ask where a system has an owner."""
    advice = advice_for(case.reason, effects_open=case.effects_open)
    found = [gettext("Recommended step: %(step)s.") % {"step": gettext(STEPS[advice.step])}]
    if help_text := words.reason_of(case).help:
        found.append(help_text)
    owner = (told.facts.get("owner") or {}) if told is not None and told.kind == "case.exhausted" else {}
    if owner:
        said = {"team": owner.get("team", ""), "contact": owner.get("contact", "")}
        found.append(gettext("The system is looked after by %(team)s, %(contact)s.") % said)
    return found


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
