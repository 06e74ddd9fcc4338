"""A person decides on what they saw: this digest, this version, and no other (requirements D1, E3)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import DateTimeField, Exists, Func, OuterRef, QuerySet

from accounts import access
from accounts.models import Person
from accounts.principal import actor_of_person
from caseflow.domain.errors import (
    AlreadyDecided,
    BadInput,
    CauserMayNotDecide,
    NotDecidable,
    NotPermitted,
    ProposalExpired,
    StaleSnapshot,
)
from caseflow.domain.failpoints import failpoint
from caseflow.domain.lifecycle import Event, State
from caseflow.domain.process import ApprovalPolicy
from caseflow.domain.recovery import MAX_RETURNS
from caseflow.domain.roles import Right
from caseflow.statements import Kept, Row, insert, rows_of_each
from cases.advancing import advance_case_soon, record_event_soon
from cases.bell import ring_after_commit
from cases.models import IntakeRevision
from cases.observing import Newest, newest_within
from cases.personal import store_texts
from cases.publishing import NewTask, publication
from cases.rows import CaseRow, locking
from cases.settling import started_by

from .models import Decision, Proposal
from .refusing import record_refusal
from .snapshots import changed_facts, effects_of, opened, quorum_of

DIGEST = re.compile(r"[0-9a-f]{64}")
MAX_REASON = 4000  #: characters
DATA_WAIT = timedelta(hours=72)  #: how long a case waits for data that an approver asked for

Kind = Decision.Kind


@dataclass(frozen=True, slots=True)
class Decided:
    """The stored decision; `created` is false when the same person had said the same before."""

    decision: Decision
    created: bool
    case: CaseRow


@dataclass(frozen=True, slots=True)
class Said:
    """What a person said, checked for form."""

    kind: Kind
    digest: str
    version: int
    reason: str
    next: str


def decide(
    *,
    proposal: Proposal,
    person: Person,
    kind: str,
    seen_digest: str,
    seen_version: int,
    reason: str = "",
    next: str = "",
) -> Decided:
    """Record one person's decision and move the case where it is decisive.

    Raises BadInput, NotPermitted, CauserMayNotDecide, StaleSnapshot(differences), ProposalExpired,
    AlreadyDecided(person, at) and NotDecidable; every refusal for a known person is recorded.
    """
    said = _checked(kind, seen_digest, seen_version, reason, next)
    try:
        with transaction.atomic():
            decided = _decide(proposal, person, said)
            failpoint("decide.before_commit", decided.case.public_id)
            # A caller's transaction may be around this one.
            transaction.on_commit(partial(failpoint, "decide.committed", decided.case.public_id))
        return decided
    except (NotPermitted, CauserMayNotDecide, StaleSnapshot, ProposalExpired, AlreadyDecided, NotDecidable) as error:
        facts = {
            "decision": said.kind.value,
            "code": error.code,
            "seen_version": said.version,
            "differences": error.params.get("differences", {}),
        }
        record_refusal(proposal, person, facts)
        raise


def _checked(kind: str, digest: Any, version: Any, reason: Any, next: Any) -> Said:
    if kind not in (Kind.APPROVE, Kind.REJECT, Kind.RETURN, Kind.ASK_DATA):
        raise BadInput(code="unknown_decision", path="$.decision", problem="approve, reject, return or ask_data")
    if not isinstance(digest, str) or not DIGEST.fullmatch(digest):
        raise BadInput(code="bad_digest", path="$.digest", problem="64 lower-case hexadecimal characters are needed")
    if isinstance(version, bool) or not isinstance(version, int):
        raise BadInput(code="wrong_type", path="$.version", problem="the case's version is a whole number")
    if not isinstance(reason, str):
        raise BadInput(code="wrong_type", path="$.reason", problem="text is needed")
    if len(reason) > MAX_REASON:
        raise BadInput(code="too_long", path="$.reason", problem=f"longer than {MAX_REASON} characters")
    if "\x00" in reason:
        raise BadInput(code="nul", path="$.reason", problem="a NUL character")
    if kind != Kind.APPROVE and not reason.strip():
        raise BadInput(code="empty", path="$.reason", problem="history needs a reason")
    if (kind == Kind.REJECT) != (next in ("close", "by_hand")) or (kind != Kind.REJECT and next):
        raise BadInput(code="wrong_next", path="$.next", problem="a rejection, and nothing else, says close or by_hand")
    return Said(Kind(kind), digest, version, reason.strip(), next)


def _decide(proposal: Proposal, person: Person, said: Said) -> Decided:
    case, found = _locked(proposal, person)
    now, told, is_first, readings = _check_newest(case, proposal, person, found)
    earlier = [] if is_first else _decisions_on(proposal)
    for decision in earlier:
        if decision.person_id == person.pk and decision.kind == said.kind and decision.digest == said.digest:
            return Decided(decision, False, case)
    _check_open(case, proposal, earlier)
    plan = opened(proposal.snapshot)
    _check_snapshot(case, proposal, plan, said, readings)
    if proposal.valid_until is not None and proposal.valid_until <= now:
        raise ProposalExpired(valid_until=proposal.valid_until.isoformat())
    if _policy(case).four_eyes and (told or person.pk in proposal.causers):
        raise CauserMayNotDecide
    return _record(case, proposal, plan, person, said, earlier, now)


def _decisions_on(proposal: Proposal) -> list[Decision]:
    return list(Decision.objects.filter(proposal=proposal).select_related("person").order_by("id"))


def _check_open(case: CaseRow, proposal: Proposal, earlier: Sequence[Decision]) -> None:
    decisive = next((decision for decision in earlier if decision.decisive), None)
    if decisive is not None:
        raise AlreadyDecided(person=decisive.person.get_full_name(), at=decisive.at.isoformat(), decision=decisive.kind)
    if case.state is not State.WAITING_APPROVAL or not proposal.needs_approval:
        raise NotDecidable(state=case.state.value)


def _locked(proposal: Proposal, person: Person) -> tuple[CaseRow, list[Row]]:
    """The case, locked, and what `_newest` finds behind the lock; one trip."""
    seen = CaseRow.of_case(proposal.case)
    right = _policy(seen).right
    (locked,), found = rows_of_each(locking(seen.id), _NEWEST.of(seen.id, person.pk, seen.organisation_id, right))
    case = CaseRow.of(locked)
    if _policy(case).right is not right:
        # Meanwhile the case went on in another version of its process.
        found = _NEWEST.ask(case.id, person.pk, case.organisation_id, _policy(case).right)
    return case, found


def _check_newest(
    case: CaseRow, proposal: Proposal, person: Person, found: Sequence[Row]
) -> tuple[datetime, bool, bool, list[Newest]]:
    """The database's moment, read after the wait for the lock, whether the person told something of this case, whether
    nobody decided on its newest plan before, and its newest readings.

    Raises NotPermitted without the right, and StaleSnapshot where a newer plan is proposed.
    """
    right = _policy(case).right
    if not found:
        access.require(person, case.organisation_id, right)
        raise NotDecidable(state=case.state.value)
    pk, public_id, now, has_told, may_decide, decided, readings = found[0]
    if not may_decide:
        raise NotPermitted(right=right.value)
    if pk != proposal.pk:
        raise StaleSnapshot(differences={"proposal": {"then": proposal.public_id, "now": public_id}})
    return now, has_told, not decided, Newest.of(readings)


def _newest(case_id: int, person_id: int, organisation_id: int, right: Right) -> QuerySet[Proposal, tuple[Any, ...]]:
    permitted = access.persons_with_right(organisation_id, right).filter(pk=person_id)
    told = IntakeRevision.objects.filter(case_id=case_id, told_by_person=person_id)
    decided = Decision.objects.filter(proposal=OuterRef("pk"))
    moment = Func(function="clock_timestamp", output_field=DateTimeField())
    newest = Proposal.objects.filter(case_id=case_id, has_effects=True).order_by("-number")
    told_and_may = Exists(told), Exists(permitted), Exists(decided)
    return newest.values_list("pk", "public_id", moment, *told_and_may, newest_within(case_id))[:1]


_NEWEST = Kept(_newest, keys=3)


def _check_snapshot(
    case: CaseRow, proposal: Proposal, plan: Mapping[str, Any], said: Said, readings: Sequence[Newest]
) -> None:
    if said.digest != proposal.digest:
        raise StaleSnapshot(differences={"digest": {"then": said.digest, "now": proposal.digest}})
    if said.version != case.version:
        raise StaleSnapshot(differences={"version": {"then": said.version, "now": case.version}})
    if said.kind is not Kind.APPROVE:
        return  # a refusal sends nothing, and changed facts are a reason for one
    # A newer reading may have come in without moving the case: what it says counts as much (failures.md §6, 9).
    facts = {row.name: row.value for row in readings}
    changed = changed_facts(plan, facts)
    if changed:
        raise StaleSnapshot(differences=changed)


def _record(
    case: CaseRow,
    proposal: Proposal,
    plan: Mapping[str, Any],
    person: Person,
    said: Said,
    earlier: Sequence[Decision],
    now: datetime,
) -> Decided:
    policy, quorum = _policy(case), quorum_of(plan)
    approvals = _still_counted(case, policy, earlier) + 1
    decisive = said.kind != Kind.APPROVE or approvals >= quorum
    approved = said.kind == Kind.APPROVE and decisive
    undo_until = now + timedelta(seconds=settings.CASEFLOW_UNDO_SECONDS)
    field = f"decision.{proposal.public_id}.{person.pk}.{said.kind}" if said.reason else ""
    decision = Decision(
        proposal=proposal,
        person=person,
        kind=said.kind,
        digest=said.digest,
        case_version=said.version,
        decisive=decisive,
        next=said.next,
        reason_field=field,
        undo_until=undo_until if approved else None,
        execute_by=undo_until + policy.execute_within if approved else None,
        at=now,
    )
    insert(decision)
    if said.reason:
        store_texts(case.id, {field: said.reason}, at=now)
    moved = _move(case, proposal, plan, person, said, decision, {"approvals": approvals, "quorum": quorum})
    return Decided(decision, True, moved)


def _still_counted(case: CaseRow, policy: ApprovalPolicy, earlier: Sequence[Decision]) -> int:
    """Approvals whose giver may still decide: what `begin_call` would not count brings no plan on its way."""
    givers = [decision.person_id for decision in earlier if decision.kind == Kind.APPROVE]
    if not givers:
        return 0
    return access.persons_with_right(case.organisation_id, policy.right).filter(pk__in=givers).count()


def _move(
    case: CaseRow,
    proposal: Proposal,
    plan: Mapping[str, Any],
    person: Person,
    said: Said,
    decision: Decision,
    counted: Mapping[str, int],
) -> CaseRow:
    actor = actor_of_person(person)
    facts = {
        "proposal": proposal.public_id,
        "decision": said.kind.value,
        "digest": said.digest,
        "seen_version": said.version,
        "next": said.next,
        "reason_field": decision.reason_field,
    }
    if not decision.decisive:
        return record_event_soon(case, "decision.approved", actor=actor, facts={**facts, **counted})
    event, sets, adds, follow = _consequence(case, plan, said, decision)
    if decision.undo_until:
        facts |= {"undo_until": decision.undo_until, "execute_by": decision.execute_by}
    transition = case.definition.table.get(case.state, event)
    moved = replace(case, version=case.version + 1)
    tasks = publication(moved, started_by(transition.starts, follow))
    after = advance_case_soon(case, event, actor=actor, facts=facts, sets=sets, adds=adds, beside=tasks)
    ring_after_commit()
    return after


def _consequence(
    case: CaseRow, plan: Mapping[str, Any], said: Said, decision: Decision
) -> tuple[Event, dict[str, Any], dict[str, int], list[NewTask]]:
    match said.kind:
        case Kind.APPROVE:
            first = effects_of(plan)[0]
            return Event.QUORUM_REACHED, {}, {}, [NewTask("execute", subject=first.id, at=decision.undo_until)]
        case Kind.REJECT if said.next == "by_hand":
            return Event.REJECTED_TO_HAND, {"reason": "rejected_by_hand"}, {}, []
        case Kind.REJECT:
            return Event.REJECTED_TO_CLOSE, {}, {}, []
        case Kind.ASK_DATA:
            until = decision.at + DATA_WAIT
            sets = {"reason": "data_asked", "wait_until": until, "ending": "data_asked"}
            return Event.DATA_ASKED, sets, {}, [NewTask("data_due", at=until)]
        case _ if case.returns + 1 >= MAX_RETURNS:
            return Event.RETURNED_TOO_OFTEN, {"reason": "returned_too_often"}, {"returns": 1}, []
        case _:
            return Event.RETURNED, {}, {"returns": 1}, []


def _policy(case: CaseRow) -> ApprovalPolicy:
    policy = case.definition.approval
    if policy is None:
        raise NotDecidable(state=case.state.value)
    return policy
