"""The plan in the settlement of the facts it stands on, where nobody has to be waited for in between (ADR 16).

The rules ask nobody, so their answer and the plan are made before the transaction. Whatever is not usual is left to the
stage `propose`: a model, a plan that continues an earlier one, an answer that breaks a rule, a rule that fails.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from caseflow.domain.errors import BrokenProposal
from caseflow.domain.failpoints import failpoint
from caseflow.domain.process import Facts, Plan, Proposed
from caseflow.statements import Values
from cases.checking import provide_planner
from cases.claiming import Lease
from cases.observing import Known, Newest, Readings
from cases.publishing import NewTask
from cases.rows import CaseRow
from cases.settling import Settlement

from .deciders import deciders_of
from .proposers import Proposer, find_local
from .proposing import ground_of, has_effects, planned, submit_plan, told_of
from .snapshots import terms_of

log = logging.getLogger("caseflow.proposing")


@dataclass(frozen=True, slots=True)
class RuledPlan:
    """What the rules made of the facts that were just read."""

    case: CaseRow
    proposer: Proposer
    facts: Facts
    revision: int  #: of the intake that said what to read
    proposed: Proposed
    plan: Plan
    terms: Mapping[str, Any] | None  #: of its approval, where somebody has to be asked

    def asks(self) -> list[tuple[str, Values]]:
        """What the case stands on; and who may decide on the plan, where somebody has to."""
        asking = [deciders_of(self.case.organisation_id, self.terms)] if self.terms else []
        return [told_of(self.case), *asking]

    def settle(self, settling: Settlement, ids: Mapping[str, int]) -> None:
        """Store the plan, unless what is told behind the lock says that it is not the one to store."""
        fresh = [Newest(ids[name], name, value, self.revision) for name, value in self.facts.items()]
        ground = ground_of(settling.case, (), settling.asked[0], fresh)
        # Where data came while the facts were read, a plan of these is one about another subject.
        if ground.proposer == self.proposer.name and ground.revision == self.revision:
            if self.terms and settling.case.definition is self.case.definition:
                ground = replace(ground, deciders=settling.asked[1])
            submit_plan(settling, settling.case.definition, self.proposer, self.proposed, self.plan, ground)
        else:
            settling.follow(NewTask("propose"))


def plan_at_once(lease: Lease, known: Known, readings: Readings) -> RuledPlan | None:
    """None where `propose` has to look at the case by itself."""
    case = lease.case
    if case is None or has_effects(case):
        return None
    process = case.definition
    proposer = find_local(process.proposer)
    if proposer is None:
        return None
    facts = json.loads(json.dumps(readings.facts))  # as they will be read; what a rule does to them changes no reading
    try:
        answer = proposer.propose(process=process, facts=facts, intake=known.intake)
        plan = planned(process, answer.said, facts, known.intake)
    except BrokenProposal:
        return None
    except Exception as error:
        log.warning("the rules failed on the facts of task %s: %s", lease.task_id, type(error).__name__)
        return None
    failpoint("propose.answered", *lease.about)
    terms = terms_of(process, facts) if plan.effects else None
    return RuledPlan(case, proposer, facts, readings.revision, answer.said, plan, terms)


provide_planner(plan_at_once)
