"""What a person orders for a case that needs attention: recorded, permitted, and bound to its guards (design §4)."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from accounts import access
from accounts.models import Person
from accounts.principal import Actor, actor_of_person
from caseflow.domain.errors import BadInput, CaseflowError, ForbiddenTransition, NotPermitted
from caseflow.domain.lifecycle import Event
from caseflow.domain.roles import Right
from cases.advancing import advance_case, record_event
from cases.bell import ring_after_commit
from cases.personal import store_texts
from cases.publishing import NewTask, publish
from cases.rows import CaseRow, database_now, lock_case
from cases.settling import started_by

MAX_REASON = 4000  #: characters


def observe_again(*, case_id: int, person: Person, reason: str) -> CaseRow:
    """Read the facts anew and propose anew; the one who asks is a causer of what is proposed.

    Raises BadInput without a reason, NotPermitted, and ForbiddenTransition where the case does not need attention or
    one of its effects is in doubt. Every refusal of a known person is recorded.
    """
    reason = checked_reason(reason)
    try:
        with transaction.atomic():
            return _order(case_id, person, Event.OBSERVE_AGAIN, reason, follow=[])
    except (NotPermitted, ForbiddenTransition) as error:
        record_refusal(case_id, person, Event.OBSERVE_AGAIN, error)
        raise


def checked_reason(reason: Any) -> str:
    """A reason in words. Raises BadInput."""
    if not isinstance(reason, str) or not reason.strip():
        raise BadInput(code="empty", path="$.reason", problem="history needs a reason")
    if len(reason) > MAX_REASON:
        raise BadInput(code="too_long", path="$.reason", problem=f"longer than {MAX_REASON} characters")
    if "\x00" in reason:
        raise BadInput(code="nul", path="$.reason", problem="a NUL character")
    return reason.strip()


def _order(case_id: int, person: Person, event: Event, reason: str, *, follow: list[NewTask]) -> CaseRow:
    case = lock_case(case_id)
    access.require(person, case.organisation_id, Right.RECOVER)
    transition = case.definition.table.get(case.state, event)
    field = f"recovery.{case.version + 1}"
    facts = {"reason_field": field, "was": case.reason}
    written = advance_case(case, event, actor=actor_of_person(person), facts=facts)
    # Who orders it says why in words of their own, which may name people: they are kept as personal text.
    store_texts(case.id, {field: reason}, at=database_now())
    publish(written.case, started_by(transition.starts, follow))
    ring_after_commit()
    return written.case


def record_refusal(case_id: int, person: Person, event: Event, error: CaseflowError) -> None:
    """A short transaction of its own, after the refused one was rolled back (requirement A6)."""
    actor: Actor = actor_of_person(person)
    with transaction.atomic():
        case = lock_case(case_id)
        kind = "transition.refused" if isinstance(error, ForbiddenTransition) else "recovery.refused"
        guards = error.params.get("guards", [])
        facts = {"event": event, "state": case.state, "code": error.code, "guards": guards}
        record_event(case, kind, actor=actor, facts=facts)
