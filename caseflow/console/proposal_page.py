"""What an approver sees: the exact effect, the facts then and now, and why a button is or is not there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.template import TemplateDoesNotExist
from django.utils import timezone

from accounts import access
from accounts.models import Person
from actions.models import Action, ActionKind
from actions.texts import NoticeText, notice_text
from approvals.models import Decision, Proposal
from approvals.selectors import FactBesideNow, review
from approvals.snapshots import ActionSpec, actions_of, opened
from caseflow.domain.lifecycle import OPEN, State
from caseflow.domain.roles import Right
from cases.models import Case

from . import vocabulary, waiting, words
from .history import Change
from .model_words import AdviceShown, advice_of
from .versions_page import RuleResult, changes_between, rule_results

RELATED = 5  #: rows of other cases and of recent effects on the same subject


class Standing(StrEnum):
    """How a proposal stands towards one person."""

    OPEN = "open"
    CHANGED = "changed"  #: a critical fact is another one now
    COUNTED = "counted"  #: the person's approval is counted, more are needed
    NO_RIGHT = "no_right"
    CAUSER = "causer"
    EXPIRED = "expired"
    DECIDED = "decided"
    SUPERSEDED = "superseded"
    MOVED_ON = "moved_on"
    NO_DECIDER = "no_decider"  #: too few people are left who may decide
    FOR_NOBODY = "for_nobody"  #: a plan of notices needs no decision


#: What may be pressed in each standing.
STEPS: dict[Standing, frozenset[str]] = {
    Standing.OPEN: frozenset({"approve", "reject", "return", "ask-data"}),
    Standing.CHANGED: frozenset({"reject", "return", "ask-data"}),
    Standing.COUNTED: frozenset({"reject", "return", "ask-data"}),
}


@dataclass(frozen=True, slots=True)
class FactRow:
    """One fact in the snapshot and now."""

    path: str
    label: str
    then: str
    now: str
    changed: bool
    observed_then: datetime | None
    observed_now: datetime | None


@dataclass(frozen=True, slots=True)
class PlannedAction:
    """One action of the plan, in words. `text` is a notice as its recipient will read it."""

    spec: ActionSpec
    operation: str
    system: str
    subject: str
    text: NoticeText | None

    @property
    def is_effect(self) -> bool:
        return self.spec.kind == ActionKind.EFFECT.value


@dataclass(frozen=True, slots=True)
class Evidence:
    """A fact that the proposer named; `fact` is where its readings stand."""

    label: str
    fact: str


@dataclass(frozen=True, slots=True)
class JustDecided:
    """The proposal that this person decided on before coming to the next one."""

    proposal: Proposal
    case: Case
    subject: str
    kind: str
    may_withdraw: bool
    undo_until: datetime | None


@dataclass(frozen=True, slots=True)
class ProposalPage:
    """Everything that the approval page and its confirmations show."""

    proposal: Proposal
    case: Case
    snapshot: Mapping[str, Any]
    standing: Standing
    sentence: str
    reason: str
    subject: str
    evidence: Sequence[Evidence]
    facts: Sequence[FactRow]
    beside: Sequence[FactRow]  #: what changed and is critical to nothing
    rules: Sequence[RuleResult]
    actions: Sequence[PlannedAction]
    versions: Sequence[Proposal]
    newest: Proposal
    earlier: Proposal | None
    changes: Sequence[Change]  #: from the earlier version to this one
    decisions: Sequence[Decision]
    decided: Decision | None
    withdrawn: Decision | None
    may_withdraw: bool
    undo_until: datetime | None
    others: Sequence[Case]
    recent: Sequence[Action]
    sent: bool
    advice: AdviceShown | None
    deciders: Sequence[str] = field(default=())

    @property
    def changed(self) -> Sequence[FactRow]:
        return [row for row in self.facts if row.changed]

    @property
    def steps(self) -> frozenset[str]:
        return STEPS.get(self.standing, frozenset())

    @property
    def taken_back(self) -> frozenset[int]:
        """Keys of the versions that were withdrawn: only those are repeated."""
        return frozenset(one.repeats_id for one in self.versions if one.repeats_id)

    @property
    def superseding(self) -> Proposal | None:
        """The newer plan that stands instead of this one."""
        return self.newest if self.newest.number > self.proposal.number else None

    @property
    def badge(self) -> words.Shown | None:
        """What became of this plan, where the case's own state tells of another one."""
        if self.withdrawn:
            return words.proposal_word("withdrawn")
        return words.proposal_word("superseded") if self.superseding else None

    @property
    def has_result(self) -> bool:
        """Approved, and either something was sent or it still may be."""
        approved = self.decided is not None and self.decided.kind == Decision.Kind.APPROVE
        return approved and self.withdrawn is None and (self.sent or self.superseding is None)

    @property
    def again(self) -> Proposal | None:
        """The proposal that took the place of a withdrawn one."""
        return next((one for one in self.versions if one.repeats_id == self.proposal.pk), None)


def gather(proposal: Proposal, person: Person) -> ProposalPage:
    """A fixed number of queries, whatever the size of the plan."""
    seen = review(proposal)
    case, snapshot, decisions = seen.case, seen.snapshot, seen.decisions
    rights = access.rights_in(person, case.organisation_id)
    versions = list(Proposal.objects.filter(case=case).defer("snapshot").order_by("-number"))
    newest = next((one for one in versions if one.has_effects), proposal)
    facts = fact_rows(seen.facts)
    earlier = Proposal.objects.filter(case=case, number__lt=proposal.number).order_by("-number").first()
    decided = next((one for one in decisions if one.decisive and one.kind != Decision.Kind.WITHDRAW), None)
    withdrawn = next((one for one in decisions if one.kind == Decision.Kind.WITHDRAW), None)
    standing = _standing(proposal, case, newest, decided, decisions, facts, rights, person)
    is_last_word = withdrawn is None and newest.pk == proposal.pk
    counted = any(one.person_id == person.pk and one.kind == Decision.Kind.APPROVE for one in decisions)
    actions = planned_actions(snapshot, case)
    subject = next((action.spec.subject for action in actions if action.is_effect), case.subject)
    asks_others = standing in (Standing.NO_RIGHT, Standing.CAUSER)
    return ProposalPage(
        proposal=proposal,
        case=case,
        snapshot=snapshot,
        standing=standing,
        sentence=words.request_sentence(case.process, case.process_version, proposal.decision, subject),
        reason=words.ending_sentence(case.process, case.process_version, proposal.decision),
        subject=subject,
        evidence=[Evidence(vocabulary.path_label(path), path.partition(".")[0]) for path in snapshot["evidence"]],
        facts=facts,
        beside=fact_rows(seen.others),
        rules=rule_results(snapshot, seen.values),
        actions=actions,
        versions=versions,
        newest=newest,
        earlier=earlier,
        changes=changes_between(opened(earlier.snapshot), snapshot) if earlier else (),
        decisions=decisions,
        decided=decided,
        withdrawn=withdrawn,
        may_withdraw=(
            counted
            and is_last_word
            and case.state == State.EXECUTING
            and not case.plan_begun
            and Right.DECIDE in rights
        ),
        undo_until=decided.undo_until if decided else None,
        others=_other_cases(case),
        recent=_recent_effects(case, actions),
        sent=Action.objects.filter(proposal=proposal, first_sent_at__isnull=False).exists(),
        advice=advice_of(proposal, may_reveal=Right.REVEAL in rights),
        deciders=waiting.deciders_beside(person, proposal) if asks_others else (),
    )


def find_just_decided(proposal: Proposal, person: Person) -> JustDecided | None:
    """None where this person did not decide on it. Two queries."""
    case = proposal.case
    decisions = list(Decision.objects.filter(proposal=proposal).order_by("id"))
    mine = next((one for one in decisions if one.person_id == person.pk), None)
    if mine is None:
        return None
    approved = next((one for one in decisions if one.decisive and one.kind == Decision.Kind.APPROVE), None)
    withdrawn = any(one.kind == Decision.Kind.WITHDRAW for one in decisions)
    may_withdraw = (
        mine.kind == Decision.Kind.APPROVE
        and not withdrawn
        and case.state == State.EXECUTING
        and not case.plan_begun
        and access.has_right(person, case.organisation_id, Right.DECIDE)
    )
    subjects = (spec.subject for spec in actions_of(opened(proposal.snapshot)) if spec.kind == ActionKind.EFFECT.value)
    return JustDecided(
        proposal=proposal,
        case=case,
        subject=next(subjects, case.subject),
        kind=Decision.Kind.WITHDRAW if withdrawn else mine.kind,
        may_withdraw=may_withdraw,
        undo_until=approved.undo_until if approved else None,
    )


def fact_rows(facts: Iterable[FactBesideNow]) -> list[FactRow]:
    """Facts in words; changed ones first."""
    rows = [
        FactRow(
            path=fact.path,
            label=vocabulary.path_label(fact.path),
            then=vocabulary.value_text(fact.path, fact.then),
            now=vocabulary.value_text(fact.path, fact.now),
            changed=fact.changed,
            observed_then=fact.observed_then,
            observed_now=fact.observed_now,
        )
        for fact in facts
    ]
    return sorted(rows, key=lambda row: not row.changed)


def planned_actions(snapshot: Mapping[str, Any], case: Case) -> list[PlannedAction]:
    return [
        PlannedAction(
            spec=spec,
            operation=vocabulary.operation_label(spec.system, spec.operation),
            system=vocabulary.system_label(spec.system),
            subject=vocabulary.path_label(spec.subject) if spec.kind == ActionKind.NOTICE.value else spec.subject,
            text=_text(spec, case) if spec.kind == ActionKind.NOTICE.value else None,
        )
        for spec in actions_of(snapshot)
    ]


def _text(spec: ActionSpec, case: Case) -> NoticeText | None:
    try:
        return notice_text(spec.request, reference=case.external_id)
    except TemplateDoesNotExist:
        return None  # a template that is gone must not hide the decision


def _standing(
    proposal: Proposal,
    case: Case,
    newest: Proposal,
    decided: Decision | None,
    decisions: Sequence[Decision],
    facts: Sequence[FactRow],
    rights: frozenset[Right],
    person: Person,
) -> Standing:
    # In the order in which `approvals.deciding` would refuse, so that page and service say the same.
    if not proposal.needs_approval:
        return Standing.FOR_NOBODY
    if decided is not None:
        return Standing.DECIDED
    if newest.pk != proposal.pk:
        return Standing.SUPERSEDED
    if case.state == State.NEEDS_ATTENTION and case.reason == "decision_expired":
        return Standing.EXPIRED
    if case.state == State.NEEDS_ATTENTION and case.reason == "no_decider":
        return Standing.NO_DECIDER
    if case.state != State.WAITING_APPROVAL:
        return Standing.MOVED_ON
    if proposal.valid_until is not None and proposal.valid_until <= timezone.now():
        return Standing.EXPIRED
    if Right.DECIDE not in rights:
        return Standing.NO_RIGHT
    if person.pk in proposal.causers:
        return Standing.CAUSER
    if any(one.person_id == person.pk and one.kind == Decision.Kind.APPROVE for one in decisions):
        return Standing.COUNTED
    return Standing.CHANGED if any(row.changed for row in facts) else Standing.OPEN


def _other_cases(case: Case) -> list[Case]:
    if not case.subject:
        return []
    same = Case.objects.filter(organisation_id=case.organisation_id, subject=case.subject, state__in=OPEN)
    return list(same.exclude(pk=case.pk).order_by("created_at")[:RELATED])


def _recent_effects(case: Case, actions: Sequence[PlannedAction]) -> list[Action]:
    subjects = [action.spec.subject for action in actions if action.is_effect]
    done = Action.objects.filter(
        organisation_id=case.organisation_id, subject__in=subjects, kind=ActionKind.EFFECT
    ).exclude(case=case)
    return list(done.select_related("case").order_by("-id")[:RELATED])
