"""The stage that asks a model: claim, ask without a transaction, settle what code let through (requirement B).

A fault of the provider is retried by the stage's policy. After faults in a row its circuit is open; then the rules take
over, where the organisation chose so, and the proposal says it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from caseflow.domain.errors import BrokenProposal
from caseflow.domain.failpoints import failpoint
from caseflow.domain.lifecycle import Event
from caseflow.domain.outcomes import FaultKind, ReadFailed
from cases.claiming import Lease
from cases.models.task import SLOW
from cases.personal import read_texts, store_texts
from cases.publishing import NewTask
from cases.rows import CaseRow, database_now
from cases.settling import Settlement, settlement
from cases.stages import Stage, register
from integrations.chat import Provider

from . import circuits
from .answers import Answer, Problem
from .journals import CaseJournal, end_lost, made_so_far
from .model_models import Advice, ModelCall, ProposerChoice
from .model_proposers import REPAIRS, ModelProposer, model_proposer, parts_of
from .models import Proposal
from .proposers import Proposer, Rules, find_local
from .proposing import Ground, load_ground, newest_revision, observed_again, propose, submit_proposal
from .telling import restored

STAGE = "ask_model"
CHECKS = 2  #: times that facts are read again because a model misses some, per version of a case
CHECK_AGAIN = timedelta(seconds=30)  #: until those facts are read again
#: Three requests of a minute each at the most, and what is stored in between.
LIMIT = timedelta(seconds=200)


@dataclass(frozen=True, slots=True)
class Material:
    """What a model is asked about: the ground of a proposal, personal texts, and what was asked before."""

    ground: Ground
    rules_take_over: bool
    texts: Mapping[str, str]
    invalid: int
    missing: int


def load_material(lease: Lease) -> Material:
    """Read in the transaction of the claim."""
    case = _case(lease)
    ground, process = load_ground(lease), case.definition
    chosen = ProposerChoice.objects.filter(organisation_id=case.organisation_id, process=process.slug).first()
    values = [value for fact in ground.facts.values() for value in fact.values()]
    fields = {value["personal"] for value in (*values, *ground.intake.values()) if isinstance(value, Mapping)}
    return Material(
        ground=ground,
        rules_take_over=chosen is not None and chosen.rules_take_over,
        texts=read_texts(case.id, sorted(fields)) if fields else {},
        **made_so_far(lease),
    )


def ask_model(lease: Lease) -> Lease | None:
    """Ask, check, settle. Raises ReadFailed for a fault of the provider, which the stage's policy answers."""
    material: Material = lease.loaded
    ground = material.ground
    if not ground.fresh or find_local(ground.proposer) is not None:
        # New data came, or the organisation chose again meanwhile.
        return propose(replace(lease, found=ground))
    try:
        proposer = _proposer(lease, ground, material)
    except ReadFailed as fault:
        return _without_model(lease, replace(material, rules_take_over=False), _gone(ground), fault)
    alone = circuits.left_alone_for(proposer.provider.name)
    if alone is not None:
        away = ReadFailed(
            system=proposer.provider.system,
            kind=FaultKind.TRANSIENT,
            code="circuit_open",
            message="it is left alone for a while after faults in a row",
            retry_after=alone,
        )
        return _without_model(lease, material, proposer, away)
    try:
        answer = _ask(lease, material, proposer)
    except ReadFailed as fault:
        is_open = _is_open_after(proposer.provider.name, fault) or _is_asked_to_wait_too_long(lease, fault)
        return _without_model(
            lease, replace(material, rules_take_over=material.rules_take_over and is_open), proposer, fault
        )
    failpoint("ask_model.checked", *lease.about)
    with settlement(lease, newest_revision(_case(lease).id)) as settling:
        if not observed_again(settling, ground):
            _settle(settling, material, proposer, answer)
    return settling.next_lease


def _ask(lease: Lease, material: Material, proposer: ModelProposer) -> Answer:
    case, ground = _case(lease), material.ground
    if material.invalid > REPAIRS:
        # The worker was lost after the last answer: what is wrong with it is kept.
        return Answer(problems=_last_problems(lease))
    asked = replace(proposer, repairs=REPAIRS - material.invalid)
    return asked.propose(
        process=case.definition,
        facts=ground.facts,
        intake=ground.intake,
        texts=material.texts,
        journal=CaseJournal(lease, case),
    )


def _is_open_after(provider: str, fault: ReadFailed) -> bool:
    """Whether its circuit is open now. Who answers is in no trouble, also where it refuses what it was asked."""
    if fault.status is not None and fault.status < 500 and fault.status not in circuits.BUSY:
        circuits.answer_of(provider)
        return False
    return fault.kind is FaultKind.TRANSIENT and circuits.fault_of(provider, fault.code)


def _is_asked_to_wait_too_long(lease: Lease, fault: ReadFailed) -> bool:
    """Whether this task may not be tried any more by the time that the provider names."""
    wait, deadline = fault.retry_after, lease.deadline_at
    return wait is not None and deadline is not None and database_now() + wait >= deadline


def _without_model(lease: Lease, material: Material, proposer: ModelProposer, fault: ReadFailed) -> Lease | None:
    """The rules go on where they may; else the fault is the task's. Words alone hold up no decision."""
    if not (material.rules_take_over or proposer.explains):
        raise fault
    with settlement(lease, newest_revision(_case(lease).id)) as settling:
        if not observed_again(settling, material.ground):
            _by_rules(settling, material, proposer, fault.code)
    return settling.next_lease


def _settle(settling: Settlement, material: Material, proposer: ModelProposer, answer: Answer) -> None:
    if answer.problems and proposer.explains:
        _by_rules(settling, material, proposer, "model_answer_invalid")
    elif answer.problems:
        problems = [{"code": problem.code, "about": problem.about} for problem in answer.problems]
        facts = _asked(proposer) | {"problems": problems} | _answer_of(answer)
        settling.move(Event.PERSON_NEEDED, facts=facts, sets={"reason": "model_answer_invalid"})
    elif answer.missing and material.missing >= CHECKS:
        facts = _asked(proposer) | {"missing": list(answer.missing)}
        settling.move(Event.PERSON_NEEDED, facts=facts, sets={"reason": "facts_missing"})
    elif answer.missing:
        if not settling.late:
            settling.record("model.needs_check", facts=_asked(proposer) | {"missing": list(answer.missing)})
        settling.follow(NewTask("observe", delay=CHECK_AGAIN))
    else:
        _submit(settling, material.ground, proposer, answer, mode=proposer.kind)


def _by_rules(settling: Settlement, material: Material, proposer: ModelProposer, why: str) -> None:
    process, ground = settling.case.definition, material.ground
    if not settling.late:
        kind = "model.gave_no_words" if proposer.explains else "model.rules_took_over"
        settling.record(kind, facts=_asked(proposer) | {"code": why})
    answer = Rules().propose(process=process, facts=ground.facts, intake=ground.intake)
    _submit(settling, ground, Rules(), answer, mode=proposer.kind, took_over=why)


def _submit(
    settling: Settlement, ground: Ground, proposer: Proposer, answer: Answer, *, mode: str, took_over: str = ""
) -> None:
    """The proposal with what a model had to do with it, in one transaction."""
    process = settling.case.definition
    try:
        submit_proposal(settling, process, proposer, answer.said, ground)
    except BrokenProposal as error:
        facts = {"decision": answer.decision, "problem": error.message}
        settling.move(Event.PERSON_NEEDED, facts=facts, sets={"reason": "broken_proposal"})
        return
    if settling.late:
        return  # what stands under this number is a proposal for another version of the case
    proposal = Proposal.objects.filter(case_id=settling.case.id, number=ground.number).first()
    if proposal is None:
        return  # an ending without a plan; the requests say what was asked
    texts = {f"model.{proposal.public_id}.words": answer.explanation} if answer.explanation else {}
    whole = restored(answer.explanation, answer.placeholders)
    if whole != answer.explanation:
        texts[f"model.{proposal.public_id}.restored"] = whole
    store_texts(settling.case.id, texts, at=settling.now)
    field, with_values = [*texts, "", ""][:2]
    call = ModelCall.objects.filter(call_id=answer.calls[-1].asking.call_id).first() if answer.calls else None
    Advice.objects.create(
        proposal=proposal,
        mode=mode,
        call=call,
        took_over=took_over[:64],
        explanation_field=field,
        restored_field=with_values,
        at=settling.now,
    )


def _proposer(lease: Lease, ground: Ground, material: Material) -> ModelProposer:
    """With the prompt that is asked by, so that the proposal names it. Raises ReadFailed where there is no such one."""
    try:
        proposer = model_proposer(ground.proposer)
        return replace(proposer, prompt=proposer.prompt_for(_case(lease).definition).version)
    except (KeyError, ValueError) as error:
        raise ReadFailed(
            system="model",
            kind=FaultKind.PERMANENT,
            code="proposer_not_there",
            message=f"this installation has no {ground.proposer}",
        ) from error


def _gone(ground: Ground) -> ModelProposer:
    """A proposer that the settings no longer name, for telling who was to be asked."""
    kind, provider, prompt = parts_of(ground.proposer)
    return ModelProposer(kind, Provider(provider, url="", model=""), prompt)


def _last_problems(lease: Lease) -> tuple[Problem, ...]:
    call = ModelCall.objects.filter(task_id=lease.task_id, outcome=ModelCall.Outcome.INVALID).latest("id")
    return tuple(Problem(one["code"], one["about"]) for one in call.problems)


def _answer_of(answer: Answer) -> dict[str, str]:
    """Where the last answer stands as personal text."""
    call = answer.calls[-1] if answer.calls else None
    return {"answer_field": f"model.{call.asking.call_id}"} if call and call.raw else {}


def _asked(proposer: ModelProposer) -> dict[str, Any]:
    """Who was asked, as facts of an event."""
    return {
        "proposer": proposer.name,
        "provider": proposer.provider.name,
        "model": proposer.model,
        "prompt": proposer.prompt_version,
    }


def _case(lease: Lease) -> CaseRow:
    if lease.case is None:
        raise ValueError("a model is asked about a case")
    return lease.case


def give_up(settling: Settlement) -> None:
    """Nobody asks again, so that the request of the last lost worker is ended here."""
    end_lost(settling.lease.task_id, at=settling.now)


register(Stage(STAGE, ask_model, load=load_material, queue=SLOW, limit=LIMIT, give_up=give_up))
