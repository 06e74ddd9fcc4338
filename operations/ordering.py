"""Ordering a recovery: what is asked is checked for form, then for right, version and guards under the case's lock.

One person's order is carried out at once; one that needs two waits for the second (`operations.authorising`). Nothing
here is reached by a command: persons order through the console or the API.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import SystemRandom
from typing import Any

from django.db import transaction

from accounts import access, gate
from accounts.models import Person
from accounts.principal import actor_of_person
from actions.standing import Seen, look_at
from caseflow.domain.errors import (
    BadInput,
    ForbiddenTransition,
    NotPermitted,
    RecoveryNotPossible,
    RecoveryWaits,
    VersionMoved,
)
from caseflow.domain.identifiers import public_id
from caseflow.domain.recovery import RULES, Evidence, Kind, Result, obstacle
from cases.advancing import record_event
from cases.personal import store_texts
from cases.rows import CaseRow, database_now, lock_case
from cases.selectors import events_since

from .carrying_out import Order, carry_out
from .recovery_models import Recovery
from .recovery_refusals import end_overtaken, record_refusal

MAX_TEXT = 4000  #: characters of a reason or of written evidence
REFUSALS = (NotPermitted, VersionMoved, ForbiddenTransition, RecoveryNotPossible, RecoveryWaits)

_rng = SystemRandom()


@dataclass(frozen=True, slots=True)
class Ordered:
    """The stored order and the case as it is now."""

    recovery: Recovery
    case: CaseRow


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person asked for, checked for form."""

    kind: Kind
    version: int
    reason: str
    action: str
    action_status: str
    result: str
    evidence: str
    data: Mapping[str, Any] | None


def order_recovery(
    *,
    case_id: int,
    kind: str,
    person: Person,
    seen_version: int,
    reason: str,
    action: str = "",
    action_status: str = "",
    result: str = "",
    evidence: str = "",
    data: Mapping[str, Any] | None = None,
    bulk: str = "",
) -> Ordered:
    """Order one kind of recovery for a case as it was seen.

    `action` and `action_status` are what was seen of the effect in doubt; a result by hand has to name both. `data` are
    the intake fields of a correction; `bulk` is the order for many of which this is a part. Raises BadInput,
    NotPermitted, VersionMoved(seen, current, events), ForbiddenTransition(state, event, guards),
    RecoveryNotPossible(reason) and RecoveryWaits(recovery); every refusal of a known person is recorded.
    """
    asked = checked(kind, seen_version, reason, action, action_status, result, evidence, data)
    try:
        with transaction.atomic():
            return _order(case_id, person, asked, bulk)
    except REFUSALS as error:
        record_refusal(case_id, person, asked.kind, error)
        raise


def check_possible(case: CaseRow, seen: Seen, kind: Kind, *, result: str = "") -> None:
    """Raises ForbiddenTransition where state or guards are against it, RecoveryNotPossible where evidence is."""
    found = obstacle(kind, seen.standing, case.definition.table, result=result)
    if found is None:
        return
    if found.code == ForbiddenTransition.code:
        raise ForbiddenTransition(state=case.state, event=kind, guards=sorted(found.guards))
    raise RecoveryNotPossible(reason=found.code)


def check_version(case: CaseRow, seen_version: int) -> None:
    """Raises VersionMoved with what happened since."""
    if seen_version != case.version:
        raise VersionMoved(seen=seen_version, current=case.version, events=events_since(case.id, seen_version))


def check_action(seen: Seen, action: str, status: str) -> None:
    """Raises RecoveryNotPossible where the effect in doubt is another one, or known otherwise, than was seen."""
    doubt = seen.standing.doubt
    if doubt is None:
        raise RecoveryNotPossible(reason="nothing_in_doubt")
    if action not in ("", doubt.action):
        raise RecoveryNotPossible(reason="another_action", action=doubt.action)
    if status not in ("", doubt.status):
        raise RecoveryNotPossible(reason="status_changed", action=doubt.action, seen=status, current=doubt.status)


def _order(case_id: int, person: Person, asked: Asked, bulk: str) -> Ordered:
    rule = RULES[asked.kind]
    # Who loses a right waits here or is refused here: changing roles takes the gate alone (design §3).
    gate.hold_shared()
    case = lock_case(case_id)
    for right in rule.rights:
        access.require(person, case.organisation_id, right)
    check_version(case, asked.version)
    end_overtaken(case)
    waiting = Recovery.objects.filter(case_id=case.id, kind=asked.kind, status=Recovery.Status.WAITING).first()
    if waiting is not None:
        raise RecoveryWaits(recovery=waiting.public_id)
    seen = look_at(case)
    check_possible(case, seen, asked.kind, result=asked.result)
    if rule.about_action:
        check_action(seen, asked.action, asked.action_status)
    return _write(case, person, asked, seen, bulk)


def _write(case: CaseRow, person: Person, asked: Asked, seen: Seen, bulk: str) -> Ordered:
    """Whoever orders it says why in words of their own, which may name people: they are kept as personal text."""
    rule, now = RULES[asked.kind], database_now()
    name = public_id("R", _rng)
    texts = {f"recovery.{name}.reason": asked.reason}
    if asked.evidence:
        texts[f"recovery.{name}.evidence"] = asked.evidence
    store_texts(case.id, texts, at=now)
    doubtful = seen.doubtful if rule.about_action else None
    recovery = Recovery(
        public_id=name,
        case_id=case.id,
        kind=asked.kind,
        action_id=doubtful.row_id if doubtful else None,
        asked_by=person,
        asked_at=now,
        reason_field=f"recovery.{name}.reason",
        evidence_field=f"recovery.{name}.evidence" if asked.evidence else "",
        evidence_call=doubtful.call_id if doubtful and rule.evidence is Evidence.LOOKUP else "",
        result=asked.result,
        case_version=case.version,
        case_state=case.state,
        action_status=doubtful.doubt.status if doubtful else "",
    )
    order = Order(case, person, recovery, seen, asked.data, bulk)
    if rule.two_persons:
        recovery.status = Recovery.Status.WAITING
        recovery.save(force_insert=True)
        written = record_event(case, "recovery.waiting", actor=actor_of_person(person), facts=order.facts)
        return Ordered(recovery, written.case)
    done = carry_out(order)
    recovery.status, recovery.ended_at = Recovery.Status.DONE, done.at
    recovery.stage, recovery.outcome, recovery.version_after = rule.starts, done.outcome, done.case.version
    recovery.save(force_insert=True)
    return Ordered(recovery, done.case)


def checked(
    kind: Any, version: Any, reason: Any, action: Any, status: Any, result: Any, evidence: Any, data: Any
) -> Asked:
    """Raises BadInput for the first field of a wrong form."""
    if kind not in list(Kind):
        raise BadInput(code="unknown_kind", path="$.kind", problem=", ".join(Kind))
    rule = RULES[Kind(kind)]
    if isinstance(version, bool) or not isinstance(version, int):
        raise BadInput(code="wrong_type", path="$.version", problem="the case's version is a whole number")
    said = checked_text(reason, "$.reason", "history needs a reason")
    proof = checked_text(evidence, "$.evidence", "this needs evidence", needed=rule.evidence is Evidence.WRITTEN)
    for name, value in (("action", action), ("action_status", status), ("result", result)):
        if not isinstance(value, str):
            raise BadInput(code="wrong_type", path=f"$.{name}", problem="text is needed")
    by_hand = kind == Kind.RESULT_BY_HAND
    if by_hand and not (action and status):
        path = "$.action" if not action else "$.action_status"
        raise BadInput(code="missing", path=path, problem="say which action you checked, and what you saw of it here")
    if (result in list(Result)) != by_hand or (result and not by_hand):
        raise BadInput(code="wrong_result", path="$.result", problem="a result by hand, and nothing else, has one")
    if proof and rule.evidence is not Evidence.WRITTEN:
        raise BadInput(code="not_wanted", path="$.evidence", problem="this kind needs no written evidence")
    if (action or status) and not rule.about_action:
        raise BadInput(code="not_wanted", path="$.action", problem="this kind is about the case, not about an action")
    if (data is not None) != (kind == Kind.CORRECT_INPUT):
        raise BadInput(code="wrong_data", path="$.data", problem="a correction, and nothing else, has data")
    return Asked(Kind(kind), version, said, action, status, result, proof, data)


def checked_text(text: Any, path: str, problem: str, *, needed: bool = True) -> str:
    """A text in words. Raises BadInput."""
    if not isinstance(text, str):
        raise BadInput(code="wrong_type", path=path, problem="text is needed")
    if needed and not text.strip():
        raise BadInput(code="empty", path=path, problem=problem)
    if len(text) > MAX_TEXT:
        raise BadInput(code="too_long", path=path, problem=f"longer than {MAX_TEXT} characters")
    if "\x00" in text:
        raise BadInput(code="nul", path=path, problem="a NUL character")
    return text.strip()
