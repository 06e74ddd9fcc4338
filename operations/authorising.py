"""The second person: signs what the first one ordered for the very case both saw, or says no.

The signature carries the version and the status of the action that its author saw (failures.md §6, 10): where the
reconciler found out meanwhile, what it found stands and the signature is refused.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction

from accounts import access, gate
from accounts.models import Person
from accounts.principal import actor_of_person
from actions.standing import look_at
from caseflow.domain.errors import (
    BadInput,
    NotPermitted,
    RecoveryEnded,
    RecoveryNotPossible,
    SecondPersonNeeded,
)
from caseflow.domain.recovery import RULES, Kind
from caseflow.domain.roles import Right
from cases.advancing import record_event
from cases.rows import database_now, lock_case

from .carrying_out import Done, Order, carry_out
from .ordering import REFUSALS, Ordered, check_action, check_possible, check_version
from .recovery_models import Recovery
from .recovery_refusals import record_refusal

_ALL_REFUSALS = (*REFUSALS, SecondPersonNeeded, RecoveryEnded)


def authorise_recovery(*, recovery: Recovery, person: Person, seen_version: int, action_status: str = "") -> Ordered:
    """Sign as the second person, and carry the order out.

    `action_status` is what was seen of the action; an order about one needs it. Raises BadInput, NotPermitted,
    SecondPersonNeeded, RecoveryEnded, VersionMoved, ForbiddenTransition and RecoveryNotPossible; every refusal is
    recorded, and an order that the case has overtaken is ended by it.
    """
    _check_form(recovery, seen_version, action_status)
    try:
        with transaction.atomic():
            return _authorise(recovery.pk, recovery.case_id, person, seen_version, action_status)
    except _ALL_REFUSALS as error:
        record_refusal(recovery.case_id, person, recovery.kind, error, recovery=recovery)
        raise


def take_back_recovery(*, recovery: Recovery, person: Person) -> Ordered:
    """End an order that waits: who gave it withdraws it, who might have signed it says no.

    Raises NotPermitted and RecoveryEnded.
    """
    try:
        with transaction.atomic():
            return _take_back(recovery.pk, recovery.case_id, person)
    except _ALL_REFUSALS as error:
        record_refusal(recovery.case_id, person, recovery.kind, error, recovery=recovery)
        raise


def _check_form(recovery: Recovery, seen_version: Any, action_status: Any) -> None:
    if isinstance(seen_version, bool) or not isinstance(seen_version, int):
        raise BadInput(code="wrong_type", path="$.version", problem="the case's version is a whole number")
    if not isinstance(action_status, str):
        raise BadInput(code="wrong_type", path="$.action_status", problem="text is needed")
    if RULES[Kind(recovery.kind)].about_action and not action_status:
        raise BadInput(code="missing", path="$.action_status", problem="say what you saw of the action")


def _authorise(key: int, case_id: int, person: Person, seen_version: int, action_status: str) -> Ordered:
    gate.hold_shared()
    case = lock_case(case_id)
    recovery = _waiting(key)
    rule = RULES[Kind(recovery.kind)]
    access.require(person, case.organisation_id, Right.AUTHORISE_RECOVERY)
    if recovery.asked_by_id == person.pk:
        raise SecondPersonNeeded
    check_version(case, seen_version)
    check_version(case, recovery.case_version)
    if not all(access.has_right(recovery.asked_by, case.organisation_id, right) for right in rule.rights):
        raise RecoveryNotPossible(reason="asker_lost_right")
    seen = look_at(case)
    if rule.about_action:
        check_action(seen, recovery.action.public_id if recovery.action else "", recovery.action_status)
        check_action(seen, "", action_status)
    check_possible(case, seen, Kind(recovery.kind), result=recovery.result)
    recovery.authorised_by, recovery.authorised_at = person, database_now()
    done = carry_out(Order(case, person, recovery, seen))
    return _ended(recovery, Recovery.Status.DONE, done, stage=rule.starts)


def _take_back(key: int, case_id: int, person: Person) -> Ordered:
    case = lock_case(case_id)
    recovery = _waiting(key)
    own = recovery.asked_by_id == person.pk
    if not own:
        access.require(person, case.organisation_id, Right.AUTHORISE_RECOVERY)
    elif not access.has_right(person, case.organisation_id, Right.SEE_CASES):
        raise NotPermitted(right=Right.SEE_CASES.value)
    told = "withdrawn" if own else "declined"
    facts = {"recovery": recovery.public_id, "order": recovery.kind, "reason_field": recovery.reason_field}
    written = record_event(case, f"recovery.{told}", actor=actor_of_person(person), facts=facts)
    status = Recovery.Status.WITHDRAWN if own else Recovery.Status.REFUSED
    return _ended(recovery, status, Done(written.case, written.at, told))


def _waiting(key: int) -> Recovery:
    """The order as it is now; the case's lock keeps everybody else from ending it."""
    recovery = Recovery.objects.select_related("asked_by", "action", "case").get(pk=key)
    if recovery.status != Recovery.Status.WAITING:
        raise RecoveryEnded(recovery=recovery.public_id, status=recovery.status)
    return recovery


def _ended(recovery: Recovery, status: Recovery.Status, done: Done, *, stage: str = "") -> Ordered:
    recovery.status, recovery.stage, recovery.outcome = status, stage, done.outcome
    recovery.version_after, recovery.ended_at = done.case.version, done.at
    recovery.save(
        update_fields=[
            "status", "authorised_by", "authorised_at", "stage", "outcome", "version_after", "ended_at",
        ]
    )  # fmt: skip
    return Ordered(recovery, done.case)
