"""One case on one page: what is true now, what is proposed, what is decided, what was really done, and the history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from accounts import access
from accounts.models import Person
from actions.models import Action, ActionKind, ActionStatus, ExternalCall
from actions.selectors import list_actions
from approvals.models import Decision, Proposal
from approvals.snapshots import actions_of, opened
from caseflow.domain.lifecycle import State
from caseflow.domain.roles import Right
from cases.models import Case, Task
from cases.models.task import LIVE
from cases.observing import newest_observations
from cases.selectors import find_newest_event, get_intake
from cases.webhooks import rung_after_close
from operations.pauses import pauses_of_case, unsettled_systems

from . import vocabulary, words
from .account import TELLING, Account, account_of
from .hands import Hands, hands_on
from .hooks_page import Line, list_told
from .pauses import PauseShown, shown

#: In these the machines work on, so the page looks again by itself.
MOVING = frozenset({State.RECEIVED, State.CHECKING, State.EXECUTING, State.NOTIFYING})


@dataclass(frozen=True, slots=True)
class Value:
    """A labelled value of the intake or of a fact; `personal` names the field of a personal text, which is hidden."""

    label: str
    text: str
    personal: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """The newest reading of one fact."""

    label: str
    source: str
    observed_at: datetime
    values: Sequence[Value]


@dataclass(frozen=True, slots=True)
class ActionShown:
    """An action of a plan, also before its row exists: then it is planned and nothing more."""

    public_id: str
    key: str
    operation: str
    system: str
    subject: str
    is_effect: bool
    status: words.Shown
    how: str
    code: str
    external_id: str
    sent_at: datetime | None
    settled_at: datetime | None
    calls: Sequence[ExternalCall]


@dataclass(frozen=True, slots=True)
class NowPage:
    """What changes while the machines work: the part that is looked at again."""

    case: Case
    current: Proposal | None
    actions: Sequence[ActionShown]
    tasks: Sequence[Task]
    may_withdraw: bool
    undo_until: datetime | None
    sentence: str
    rung_after_close: bool
    pauses: Sequence[PauseShown]
    account: Account

    @property
    def moving(self) -> bool:
        return self.case.state in MOVING

    @property
    def in_doubt(self) -> bool:
        return any(action.is_effect and action.status.code == ActionStatus.UNKNOWN for action in self.actions)

    @property
    def not_sent(self) -> bool:
        return self.case.state == State.EXECUTING and not self.case.plan_begun

    @property
    def requested(self) -> bool:
        return any(action.is_effect and action.status.code == ActionStatus.REQUESTED for action in self.actions)

    @property
    def partly(self) -> bool:
        """The effects stand, and a notice is still on its way."""
        effects = [action for action in self.actions if action.is_effect]
        return (
            self.case.state == State.NOTIFYING
            and bool(effects)
            and all(action.status.code == ActionStatus.CONFIRMED for action in effects)
        )


@dataclass(frozen=True, slots=True)
class CasePage:
    """The whole page; `now` is gathered apart because it is also a fragment of its own."""

    now: NowPage
    intake: Sequence[Value]
    facts: Sequence[Fact]
    proposals: Sequence[Proposal]
    decisions: Sequence[Decision]
    may_supply: bool
    may_reveal: bool
    erased: bool  #: its personal texts were purged
    fields: Mapping[str, str]
    revision: int  #: of the intake that is shown
    hands: Hands
    told: Sequence[Line]  #: the newest that each program outside was told of it
    revealed: Mapping[str, str] = field(default_factory=dict)  #: personal texts shown to this reader now, by field

    @property
    def taken_back(self) -> frozenset[int]:
        """Keys of the plans that were withdrawn: only those are repeated."""
        return frozenset(one.repeats_id for one in self.proposals if one.repeats_id)


def gather_now(case: Case, person: Person) -> NowPage:
    """Eight queries."""
    plans = list(Proposal.objects.filter(case=case).order_by("-number")[:2])
    current = next((plan for plan in plans if plan.has_effects), plans[0] if plans else None)
    decisions = _decisions_of(current)
    rows = list(list_actions(case.pk))
    approved = next((one for one in decisions if one.decisive and one.kind == Decision.Kind.APPROVE), None)
    withdrawn = any(one.kind == Decision.Kind.WITHDRAW for one in decisions)
    counted = any(one.person_id == person.pk and one.kind == Decision.Kind.APPROVE for one in decisions)
    may_withdraw = (
        counted
        and not withdrawn
        and case.state == State.EXECUTING
        and not case.plan_begun
        and access.has_right(person, case.organisation_id, Right.DECIDE)
    )
    # A task of an older generation is obsolete: it will be closed without being tried.
    live = Task.objects.filter(case=case, generation=case.version, status__in=LIVE)
    tasks = list(live.order_by("available_at", "id"))
    pauses = shown(pauses_of_case(case, unsettled_systems(current, rows))) if case.closed_at is None else ()
    told = find_newest_event(case.pk, TELLING)
    return NowPage(
        case=case,
        current=current,
        actions=_shown_actions(current, rows, approved is not None or not (current and current.needs_approval)),
        tasks=tasks,
        may_withdraw=may_withdraw,
        undo_until=approved.undo_until if approved else None,
        sentence=words.ending_sentence(case.process, case.process_version, case.ending),
        rung_after_close=rung_after_close(case),
        pauses=pauses,
        account=account_of(case, actions=rows, tasks=tasks, plan=current, told=told, paused=bool(pauses)),
    )


def gather(case: Case, person: Person, *, revealed: Mapping[str, str] | None = None) -> CasePage:
    """A fixed number of queries, whatever happened in the case."""
    intake = get_intake(case.pk)
    body, rights = intake.body, access.rights_in(person, case.organisation_id)
    return CasePage(
        now=gather_now(case, person),
        intake=[value_of(vocabulary.field_label(name), name, body[name], personal=f"intake.{name}") for name in body],
        facts=[_fact(row.name, row.source, row.observed_at, row.value) for row in newest_observations(case.pk)],
        proposals=list(
            Proposal.objects.filter(case=case).select_related("advice__call").defer("snapshot").order_by("-number")
        ),
        decisions=list(
            Decision.objects.filter(proposal__case=case)
            .select_related("person", "proposal")
            .defer("proposal__snapshot")
            .order_by("-id")
        ),
        may_supply=Right.SUPPLY_DATA in rights,
        may_reveal=Right.REVEAL in rights,
        erased=intake.erased,
        fields={name: value for name, value in body.items() if isinstance(value, str)},
        revision=intake.revision,
        hands=hands_on(case, person, rights),
        told=list_told(case.pk),
        revealed=revealed or {},
    )


def _decisions_of(proposal: Proposal | None) -> list[Decision]:
    return list(Decision.objects.filter(proposal=proposal).order_by("id")) if proposal else []


def value_of(label: str, path: str, found: Any, *, personal: str) -> Value:
    """`personal` is the field of the personal text that may stand behind it."""
    # A value that is a mapping stands for a personal text.
    return Value(label, vocabulary.value_text(path, found), personal if isinstance(found, Mapping) else "")


def _fact(name: str, source: str, observed_at: datetime, value: Mapping[str, Any]) -> Fact:
    values = [
        value_of(vocabulary.part_label(key), f"{name}.{key}", found, personal=f"fact.{name}.{key}")
        for key, found in value.items()
    ]
    return Fact(vocabulary.fact_label(name), vocabulary.system_label(source), observed_at, values)


def _shown_actions(current: Proposal | None, rows: Sequence[Action], stands: bool) -> list[ActionShown]:
    """Every action with a row, and those of a plan that stands whose rows are still to come."""
    shown = [_of_row(row) for row in rows]
    present = {row.public_id for row in rows}
    if current is not None and stands:
        shown += [
            ActionShown(
                public_id=spec.id,
                key=spec.key,
                operation=vocabulary.operation_label(spec.system, spec.operation),
                system=vocabulary.system_label(spec.system),
                subject=_subject(spec.kind, spec.subject),
                is_effect=spec.kind == ActionKind.EFFECT.value,
                status=words.action_word(ActionStatus.PLANNED),
                how="",
                code="",
                external_id="",
                sent_at=None,
                settled_at=None,
                calls=(),
            )
            for spec in actions_of(opened(current.snapshot))
            if spec.id not in present
        ]
    return shown


def _of_row(row: Action) -> ActionShown:
    return ActionShown(
        public_id=row.public_id,
        key=row.key,
        operation=vocabulary.operation_label(row.system, row.operation),
        system=vocabulary.system_label(row.system),
        subject=_subject(row.kind, row.subject),
        is_effect=row.kind == ActionKind.EFFECT,
        status=words.action_word(row.status),
        how=str(words.CONFIRMED_BY.get(row.confirmed_by, "")),
        code=row.code,
        external_id=row.external_id,
        sent_at=row.first_sent_at,
        settled_at=row.settled_at,
        calls=list(row.calls.all()),
    )


def _subject(kind: str, subject: str) -> str:
    return vocabulary.path_label(subject) if kind == ActionKind.NOTICE.value else subject
