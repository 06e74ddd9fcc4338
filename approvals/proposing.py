"""From facts to a plan: the proposer answers, code checks, and the proposal moves the case (design §6)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Count, QuerySet, Subquery
from django.db.models.functions import Coalesce

from audit.models import AuditEvent
from caseflow.domain.errors import BrokenProposal
from caseflow.domain.failpoints import failpoint
from caseflow.domain.lifecycle import Event
from caseflow.domain.process import Effect, Ending, EndingKind, Facts, IntakeBody, Plan, Process, Proposed
from caseflow.statements import Kept, Question, Row, Values
from cases.claiming import Lease
from cases.models import IntakeRevision
from cases.observing import Newest, newest_within
from cases.publishing import NewTask
from cases.rows import CaseRow
from cases.settling import Settlement, settlement

from .deciders import REASON, lacking
from .model_models import ProposerChoice
from .models import Proposal
from .proposers import Proposer, find_local
from .rules import check_plan, check_proposed
from .snapshots import build_snapshot, effects_of, notices_of, terms_of
from .storing import store_proposal

#: Who ordered one of these caused what is proposed afterwards, and does not decide on it (design §9).
ORDERS = (
    *(
        f"case.{event}"
        for event in (
            Event.OBSERVE_AGAIN,
            Event.ASKED_AGAIN,
            Event.INPUT_CORRECTED,
            Event.RECONCILE_ORDERED,
            Event.REPEAT_ORDERED,
            Event.RESULT_BY_HAND,
            Event.NOTICE_ORDERED,
        )
    ),
    # The first of two persons, and orders that move no state.
    "recovery.waiting",
    "recovery.reconcile_ordered",
    "recovery.not_applied_accepted",
)


@dataclass(frozen=True, slots=True)
class Ground:
    """What a proposal stands on: facts, the readings they come from, the intake, who caused it, earlier effects."""

    facts: Facts
    observations: tuple[int, ...]
    intake: Mapping[str, Any]
    causers: tuple[int, ...]
    effects: tuple[Effect, ...]
    number: int  #: of the next proposal
    revision: int  #: of the newest intake
    fresh: bool  #: the facts were read for that revision
    proposer: str  #: who is to be asked: what the organisation chose, or the process itself
    deciders: Sequence[Row] | None = None  #: who may decide on the plan, where that was asked with it


def _no_effects(case_id: int) -> tuple[Effect, ...]:
    return ()


#: Set by the room that has actions, when it is loaded: imports point back.
effects_of_case: Callable[[int], tuple[Effect, ...]] = _no_effects


def provide_effects(provider: Callable[[int], tuple[Effect, ...]]) -> None:
    """Tell this room how to list the effects of a case."""
    global effects_of_case
    effects_of_case = provider


def _told(case_id: int, organisation_id: int, slug: str) -> QuerySet[IntakeRevision, tuple[Any, ...]]:
    """Every revision, who told it, how many plans there are, which people ordered something, who is chosen to propose,
    the newest readings."""
    proposals = Proposal.objects.filter(case_id=case_id).order_by().values("case_id")
    proposed = Coalesce(Subquery(proposals.annotate(n=Count("*")).values("n")), 0)
    orders = AuditEvent.objects.filter(case_id=case_id, actor_kind="person", kind__in=ORDERS)
    told = IntakeRevision.objects.filter(case_id=case_id).order_by("number")
    chosen = ProposerChoice.objects.filter(organisation_id=organisation_id, process=slug).values("proposer")
    columns = proposed, ArraySubquery(orders.values("actor_id")), Subquery(chosen), newest_within(case_id)
    return told.values_list("body", "told_by_person", "number", *columns)


_TOLD = Kept(_told, keys=2)


def told_of(case: CaseRow) -> tuple[str, Values]:
    """What `ground_of` stands on, as a statement and its values."""
    return _TOLD.of(case.id, case.organisation_id, case.definition.slug)


def ask_for_ground(lease: Lease) -> Question:
    """Everything `propose` needs, read in the transaction of the claim."""
    if lease.case is None:
        raise ValueError("propose needs a case")
    case = lease.case
    effects = effects_of_case(case.id) if has_effects(case) else ()
    return Question(*told_of(case), partial(ground_of, case, effects))


def load_ground(lease: Lease) -> Ground:
    """The same at once."""
    ground: Ground = ask_for_ground(lease).answered()
    return ground


def ground_of(
    case: CaseRow, effects: tuple[Effect, ...], revisions: Sequence[Row], fresh: Sequence[Newest] = ()
) -> Ground:
    """`fresh` are readings that are stored with the proposal. What only another version of the process reads is never
    read again, and counts no more."""
    read = {source.name for source in case.definition.facts}
    by_name = {row.name: row for row in (*Newest.of(revisions[-1][6]), *fresh)}
    observations = [by_name[name] for name in sorted(by_name) if name in read]
    causers = {person for _, person, *_ in revisions if person is not None} | set(revisions[-1][4])
    return Ground(
        facts={row.name: row.value for row in observations},
        observations=tuple(row.id for row in observations),
        intake=json.loads(revisions[-1][0]),
        causers=tuple(sorted(causers)),
        effects=effects,
        number=revisions[-1][3] + 1,
        revision=revisions[-1][2],
        fresh=all(row.intake_revision == revisions[-1][2] for row in observations),
        proposer=revisions[-1][5] or case.definition.proposer,
    )


def propose(lease: Lease) -> Lease | None:
    """Ask the proposer, check its answer, and let the ending of its decision move the case."""
    if lease.case is None:
        raise ValueError("propose needs a case")
    ground: Ground = lease.loaded
    if not ground.fresh:
        # Data came while the facts were read: a plan never stands on facts of another subject.
        with settlement(lease) as settling:
            settling.follow(NewTask("observe"))
        return settling.next_lease
    process = lease.case.definition
    proposer = find_local(ground.proposer)
    if proposer is None:
        # A model is asked over the network and may take long: that waits in the queue for slow work.
        with settlement(lease) as settling:
            settling.follow(NewTask("ask_model"))
        return settling.next_lease
    answer = proposer.propose(process=process, facts=ground.facts, intake=ground.intake)
    failpoint("propose.answered", *lease.about)
    with settlement(lease, newest_revision(lease.case.id)) as settling:
        try:
            if not observed_again(settling, ground):
                submit_proposal(settling, process, proposer, answer.said, ground)
        except BrokenProposal as error:
            facts = {"decision": answer.decision, "problem": error.message}
            settling.move(Event.PERSON_NEEDED, facts=facts, sets={"reason": "broken_proposal"})
    return settling.next_lease


def newest_revision(case_id: int) -> tuple[str, Values]:
    """What the settlement of an answer asks behind the case's lock, which whoever supplies data holds, too."""
    return "SELECT max(number) FROM cases_intakerevision WHERE case_id = %s", [case_id]


def observed_again(settling: Settlement, ground: Ground) -> bool:
    """Whether data came while the proposer was asked: then the answer is about another subject, and facts are read
    again instead. The settlement was asking for the newest revision."""
    if settling.late or settling.asked[0] == [(ground.revision,)]:
        return False
    settling.follow(NewTask("observe"))
    return True


def submit_proposal(
    settling: Settlement, process: Process, proposer: Proposer, proposed: Proposed, ground: Ground
) -> None:
    """Raises BrokenProposal before any write when the answer breaks a rule."""
    plan = planned(process, proposed, ground.facts, ground.intake, ground.effects)
    if settling.late:
        settling.move(Event.PROPOSAL_READY)  # recorded as late; a plan for an older version is not kept
        return
    submit_plan(settling, process, proposer, proposed, plan, ground)


def planned(
    process: Process, proposed: Proposed, facts: Facts, intake: IntakeBody, effects: Sequence[Effect] = ()
) -> Plan:
    """What the process makes of the answer; nothing is asked or written. Raises BrokenProposal."""
    check_proposed(process, proposed, facts, intake)
    plan = process.plan(decision=proposed.decision, facts=facts, intake=intake, effects=effects)
    check_plan(plan, process.endings[proposed.decision].kind, effects)
    return plan


def submit_plan(
    settling: Settlement, process: Process, proposer: Proposer, proposed: Proposed, plan: Plan, ground: Ground
) -> None:
    """The way that the decision's ending goes."""
    ending = process.endings[proposed.decision]
    match ending.kind:
        case EndingKind.ACT:
            _act(settling, process, proposer, proposed, plan, ground)
        case EndingKind.CLOSE:
            _close(settling, proposer, proposed, plan, ground)
        case EndingKind.ASK_DATA | EndingKind.WAIT:
            _wait(settling, ending, proposer, proposed, plan, ground)
        case EndingKind.PERSON:
            facts = {"decision": proposed.decision, "evidence": list(proposed.evidence)}
            settling.move(
                Event.PERSON_NEEDED, facts=facts, sets={"reason": proposed.reason, "ending": proposed.decision}
            )


def _act(
    settling: Settlement, process: Process, proposer: Proposer, proposed: Proposed, plan: Plan, ground: Ground
) -> None:
    policy, sets = process.approval, {"ending": proposed.decision}
    lacks = _lacking_deciders(settling, process, ground)
    if lacks:
        settling.move(Event.PERSON_NEEDED, facts=_said(proposed) | lacks, sets=sets | {"reason": REASON})
        return
    valid_until = settling.now + policy.validity if policy else None
    proposal, facts = _store(settling, proposer, proposed, plan, ground, valid_until)
    if policy:
        expire = NewTask("expire", subject=proposal.public_id, at=valid_until)
        settling.move(Event.PROPOSAL_READY, facts=facts, sets=sets, follow=[expire])
    else:
        first = facts["actions"][0]
        settling.move(Event.PLAN_READY, facts=facts, sets=sets, follow=[NewTask("execute", subject=first)])


def _lacking_deciders(settling: Settlement, process: Process, ground: Ground) -> dict[str, int]:
    """Read behind the case's lock: who takes a right afterwards looks at this case once more."""
    approval = terms_of(process, ground.facts)
    return lacking(settling.case.organisation_id, approval, ground.causers, ground.deciders) if approval else {}


def _close(settling: Settlement, proposer: Proposer, proposed: Proposed, plan: Plan, ground: Ground) -> None:
    sets = {"ending": proposed.decision}
    if not plan.notices:
        settling.move(Event.NOTHING_TO_DO, facts=_said(proposed), sets=sets)
        return
    _proposal, facts = _store(settling, proposer, proposed, plan, ground, None)
    follow = [NewTask("notify", subject=action) for action in facts["actions"]]
    settling.move(Event.CLOSING_NOTICE_DUE, facts=facts, sets=sets, follow=follow)


def _wait(
    settling: Settlement, ending: Ending, proposer: Proposer, proposed: Proposed, plan: Plan, ground: Ground
) -> None:
    # The wait for one reason has one end, however often it is read again.
    same = settling.case.ending == proposed.decision and settling.case.wait_until is not None
    until = settling.case.wait_until if same else settling.now + ending.wait_for
    sets = {"ending": proposed.decision, "reason": proposed.reason, "wait_until": until}
    follow = [NewTask("data_due", at=until)]
    if ending.kind is EndingKind.WAIT:
        follow.append(NewTask("recheck", delay=ending.every))
        settling.move(Event.NOT_YET, facts=_said(proposed) | {"until": until}, sets=sets, follow=follow)
        return
    facts = _said(proposed) | {"until": until}
    if plan.notices:
        _proposal, stored = _store(settling, proposer, proposed, plan, ground, None)
        facts |= stored
        follow += [NewTask("notify", subject=action) for action in stored["actions"]]
    settling.move(Event.DATA_MISSING, facts=facts, sets=sets, follow=follow)


def _store(
    settling: Settlement,
    proposer: Proposer,
    proposed: Proposed,
    plan: Plan,
    ground: Ground,
    valid_until: datetime | None,
) -> tuple[Proposal, dict[str, Any]]:
    case = settling.case
    snapshot = build_snapshot(
        case=case,
        number=ground.number,
        proposed=proposed,
        plan=plan,
        facts=ground.facts,
        observations=ground.observations,
        intake_revision=ground.revision,
        valid_until=valid_until,
    )
    process = case.definition
    versions = {
        "proposer": proposer.name,
        "rule_version": process.rule_version,
        "schema_version": process.schema_version,
        "prompt_version": proposer.prompt_version,
        "model": proposer.model,
    }
    proposal = store_proposal(
        case, snapshot=snapshot, causers=ground.causers, valid_until=valid_until, versions=versions, at=settling.now
    )
    planned = effects_of(snapshot) or notices_of(snapshot)
    facts = _said(proposed) | {
        "proposal": proposal.public_id,
        "digest": proposal.digest,
        "actions": [action.id for action in planned],
    }
    return proposal, facts


def _said(proposed: Proposed) -> dict[str, Any]:
    return {"decision": proposed.decision, "reason": proposed.reason, "evidence": list(proposed.evidence)}


def has_effects(case: CaseRow) -> bool:
    return case.plan_begun or bool(case.effects_done or case.effects_open)
