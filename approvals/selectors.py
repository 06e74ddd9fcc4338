"""Reading proposals for both faces: what a person decides on, beside what is known now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet
from django.utils import timezone

from accounts import access
from accounts.models import Person
from accounts.principal import Principal
from caseflow.domain.lifecycle import State
from caseflow.domain.process import ApprovalPolicy, Process, value_at
from caseflow.domain.roles import Right
from cases.models import Case, Observation
from cases.observing import newest_observations
from cases.processes import get_process
from cases.selectors import masked

from .models import Decision, Proposal
from .snapshots import opened

_DECISIONS = Prefetch("decisions", Decision.objects.select_related("person").order_by("id"))


@dataclass(frozen=True, slots=True)
class FactBesideNow:
    """One critical path of a snapshot. The moments are when each value was read; personal values are masked."""

    path: str
    then: Any
    now: Any
    changed: bool
    source: str
    observed_then: datetime | None
    observed_now: datetime | None


@dataclass(frozen=True, slots=True)
class Review:
    """A proposal with everything a person needs to decide on it."""

    proposal: Proposal
    case: Case
    process: Process
    snapshot: Mapping[str, Any]
    decisions: list[Decision]
    facts: list[FactBesideNow]
    others: list[FactBesideNow]  #: what changed beside the critical paths: it keeps nobody from deciding
    values: Mapping[str, Any]  #: fact name → its newest value
    newest: str  #: public id of the case's newest plan with effects
    policy: ApprovalPolicy | None

    @property
    def approvals(self) -> int:
        return sum(decision.kind == Decision.Kind.APPROVE for decision in self.decisions)

    @property
    def decisive(self) -> Decision | None:
        return next((decision for decision in self.decisions if decision.decisive), None)

    @property
    def is_changed(self) -> bool:
        return any(fact.changed for fact in self.facts)

    @property
    def is_superseded(self) -> bool:
        return self.proposal.has_effects and self.newest != self.proposal.public_id


def list_proposals(case_id: int) -> QuerySet[Proposal]:
    """The case's plans by number, each with case, decisions and their persons, without snapshots; two queries."""
    return (
        Proposal.objects.filter(case_id=case_id)
        .defer("snapshot")
        .select_related("case", "repeats", "advice__call")
        .prefetch_related(_DECISIONS)
        .order_by("number")
    )


def list_waiting(principal: Principal) -> QuerySet[Proposal]:
    """Plans that wait for a decision where `principal` may decide, the first to expire first; one query.

    The newest plan of a case in WAITING_APPROVAL; whether this person is a causer is told by `obstacle`.
    """
    newer = Proposal.objects.filter(case=OuterRef("case"), needs_approval=True, number__gt=OuterRef("number"))
    rows = access.visible(Proposal.objects.select_related("case__organisation"), principal, Right.DECIDE)
    # `closed_at` says the same once more, in the words of the index of open cases.
    waiting = rows.filter(case__state=State.WAITING_APPROVAL.value, case__closed_at=None, needs_approval=True)
    return waiting.filter(~Exists(newer)).order_by("valid_until", "id")


def get_proposal(principal: Principal, public_id: str) -> Proposal:
    """One proposal in sight with its case and organisation; one query. Raises NotFound."""
    rows = Proposal.objects.select_related("case__organisation", "case__department", "repeats", "advice__call")
    return access.get_visible(rows, public_id, principal, Right.SEE_CASES)


def find_deciding_approval(proposal: Proposal) -> Decision | None:
    """The approval that let the plan be carried out, with its person; one query."""
    rows = Decision.objects.filter(proposal=proposal, decisive=True, kind=Decision.Kind.APPROVE)
    return rows.select_related("person").first()


def review(proposal: Proposal) -> Review:
    """The snapshot beside the newest readings; four queries."""
    then = {row.name: row for row in Observation.objects.filter(pk__in=proposal.observations, case_id=proposal.case_id)}
    now = {row.name: row for row in newest_observations(proposal.case_id)}
    values = {name: row.value for name, row in now.items()}
    snapshot = opened(proposal.snapshot)
    case = proposal.case
    process = get_process(case.process, case.process_version)
    newest = (
        Proposal.objects.filter(case_id=case.pk, has_effects=True)
        .order_by("-number")
        .values_list("public_id", flat=True)
    )
    return Review(
        proposal=proposal,
        case=case,
        process=process,
        snapshot=snapshot,
        decisions=list(Decision.objects.filter(proposal=proposal).select_related("person").order_by("id")),
        facts=[_fact(path, value, values, then, now) for path, value in snapshot["facts"].items()],
        others=_changed_beside(snapshot, values, then, now),
        values=values,
        newest=newest.first() or "",
        policy=process.approval if proposal.needs_approval else None,
    )


def obstacle(seen: Review, principal: Principal) -> str:
    """Why `principal` may not decide now, as an error's code; empty where they may. One query.

    For a page that explains a missing button: `decide` checks everything again, under the case's lock.
    """
    proposal = seen.proposal
    if not isinstance(principal, Person):
        return "service_never_decides"
    if seen.policy is None:
        return "not_decidable"
    if not access.has_right(principal, seen.case.organisation_id, seen.policy.right):
        return "not_permitted"
    if seen.decisive is not None:
        return "already_decided"
    if seen.case.state != State.WAITING_APPROVAL or seen.is_superseded:
        return "not_decidable"
    if seen.is_changed:
        return "stale_snapshot"
    if proposal.valid_until is not None and proposal.valid_until <= timezone.now():
        return "proposal_expired"
    if seen.policy.four_eyes and principal.pk in proposal.causers:
        return "causer_may_not_decide"
    return ""


def _changed_beside(
    snapshot: Mapping[str, Any],
    values: Mapping[str, Any],
    then: Mapping[str, Observation],
    now: Mapping[str, Observation],
) -> list[FactBesideNow]:
    """Every value that the plan was made with, is critical to nothing, and is another one now."""
    before = {name: row.value for name, row in then.items()}
    paths = sorted({f"{name}.{part}" for facts in (before, values) for name in facts for part in facts[name]})
    rows = [_fact(path, value_at(before, path), values, then, now) for path in paths if path not in snapshot["facts"]]
    return [row for row in rows if row.changed]


def _fact(
    path: str,
    value: Any,
    values: Mapping[str, Any],
    then: Mapping[str, Observation],
    now: Mapping[str, Observation],
) -> FactBesideNow:
    name = path.partition(".")[0]
    current = value_at(values, path)
    return FactBesideNow(
        path=path,
        then=masked(value),
        now=masked(current),
        changed=current != value,
        source=now[name].source if name in now else "",
        observed_then=then[name].observed_at if name in then else None,
        observed_now=now[name].observed_at if name in now else None,
    )


def find_proposals(principal: Principal, name: str) -> QuerySet[Proposal]:
    """Proposals in sight whose public id or digest `name` is, with case and organisation; one query."""
    rows = Proposal.objects.select_related("case__organisation").defer("snapshot")
    found = access.visible(rows, principal, Right.SEE_CASES)
    return found.filter(Q(public_id=name.upper()) | Q(digest=name.lower())).order_by("pk")
