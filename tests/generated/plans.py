"""The part of a draft that is about plans: proposals, decisions, effects, notices and their calls."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from random import Random
from types import SimpleNamespace
from typing import Any

from accounts.principal import Actor
from actions.models import Action, ExternalCall
from approvals.models import Decision, Proposal
from approvals.snapshots import build_snapshot
from caseflow.domain.identifiers import public_id
from caseflow.domain.lifecycle import Event
from caseflow.domain.process import Ending, EndingKind, Plan, Proposed
from integrations.registry import owner_of
from operations.models import DriftFinding, Recovery

from .draft import Draft, Row, canonical, sha256


class PlannedDraft(Draft):
    """A draft that proposes, is decided on, and acts."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.rows |= {model: [] for model in (Proposal, Decision, Action, ExternalCall, DriftFinding, Recovery)}
        self.causers: set[int] = set()
        self.snapshot: Row = {}

    # Proposals ----------------------------------------------------------------------------------------------------

    def propose(self, task: Row) -> Proposed:
        """Ask the process's own rule, and go where the ending of its answer leads."""
        proposed = self.process.decide(facts=self.facts, intake=self.intake)
        plan = self.process.plan(decision=proposed.decision, facts=self.facts, intake=self.intake, effects=())
        ending = self.process.endings[proposed.decision]
        said = {"decision": proposed.decision, "reason": proposed.reason, "evidence": list(proposed.evidence)}
        sets = {"ending": proposed.decision}
        match ending.kind:
            case EndingKind.ACT:
                self._act(proposed, plan, said, sets)
            case EndingKind.CLOSE:
                facts = said | self._store_proposal(proposed, plan)
                self.move(Event.CLOSING_NOTICE_DUE, facts, sets=sets)
                self._publish_notices()
            case EndingKind.ASK_DATA | EndingKind.WAIT:
                self._wait_for(ending, proposed, plan, said)
            case EndingKind.PERSON:
                del said["reason"]
                self.move(Event.PERSON_NEEDED, said, sets=sets | {"reason": proposed.reason})
        self.end(task)
        return proposed

    def _act(self, proposed: Proposed, plan: Plan, said: Row, sets: Row) -> None:
        policy = self.process.approval
        assert policy is not None
        facts = said | self._store_proposal(proposed, plan, validity=policy.validity)
        self.move(Event.PROPOSAL_READY, facts, sets=sets)
        self.publish("expire", self.proposal["public_id"], at=self.proposal["valid_until"])

    def _wait_for(self, ending: Ending, proposed: Proposed, plan: Plan, said: Row) -> None:
        same = self.case.get("ending") == proposed.decision and self.case.get("wait_until") is not None
        until = self.case["wait_until"] if same else self.at + ending.wait_for
        sets = {"ending": proposed.decision, "reason": proposed.reason, "wait_until": until}
        facts = said | {"until": until}
        if ending.kind is EndingKind.WAIT:
            self.move(Event.NOT_YET, facts, sets=sets)
            self.publish("data_due", at=until)
            self.publish("recheck", at=self.at + ending.every)
            return
        if plan.notices:
            facts |= self._store_proposal(proposed, plan)
        self.move(Event.DATA_MISSING, facts, sets=sets)
        self.publish("data_due", at=until)
        if plan.notices:
            self._publish_notices()

    def _publish_notices(self) -> None:
        for spec in self.specs("notice"):
            self.publish("notify", spec["id"])

    def _store_proposal(self, proposed: Proposed, plan: Plan, *, validity: timedelta | None = None) -> Row:
        valid_until = self.at + validity if validity else None
        snapshot = build_snapshot(
            case=SimpleNamespace(definition=self.process, public_id=self.case["public_id"]),  # type: ignore[arg-type]
            number=len(self.rows[Proposal]) + 1,
            proposed=proposed,
            plan=plan,
            facts=self.facts,
            observations=[self.newest[name] for name in sorted(self.newest)],
            intake_revision=self.revision,
            valid_until=valid_until,
        )
        return self.store_snapshot(snapshot)

    def store_snapshot(self, snapshot: Row, *, repeats: int | None = None) -> Row:
        """The proposal of a snapshot; its actions get ids of this draft's own chance."""
        snapshot["actions"] = [action | self._named(self.rng) for action in snapshot["actions"]]
        data = canonical(snapshot)
        valid_until = datetime.fromisoformat(snapshot["valid_until"]) if snapshot["valid_until"] else None
        self.snapshot = snapshot
        self.causers |= {person for person in (self.cast.machine.person_id,) if person}
        self.rows[Proposal].append(
            {
                "id": self.frame.keys.next(Proposal),
                "public_id": public_id("P", self.rng),
                "case_id": self.case["id"],
                "number": snapshot["number"],
                "decision": snapshot["decision"],
                "has_effects": bool(self.specs("effect")),
                "needs_approval": snapshot["approval"] is not None,
                "snapshot": data,
                "digest": sha256(data),
                "valid_until": valid_until,
                "causers": sorted(self.causers),
                "observations": snapshot["observations"],
                "proposer": "rules",
                "rule_version": self.process.rule_version,
                "schema_version": self.process.schema_version,
                "repeats_id": repeats,
                "at": self.at,
            }
        )
        planned = self.specs("effect") or self.specs("notice")
        return {
            "proposal": self.proposal["public_id"],
            "digest": self.proposal["digest"],
            "actions": [spec["id"] for spec in planned],
        }

    def _named(self, rng: Random) -> Row:
        name = public_id("A", rng)
        return {"id": name, "key": f"{self.process.slug}:{name}"}

    @property
    def proposal(self) -> Row:
        return self.rows[Proposal][-1]

    def specs(self, kind: str) -> list[Row]:
        return [action for action in self.snapshot["actions"] if action["kind"] == kind]

    # Decisions ----------------------------------------------------------------------------------------------------

    def decide(
        self, person: Actor, kind: str, event: Event, *, reason: str = "", next: str = "", sets: Row | None = None
    ) -> None:
        """A decisive decision. After an approval the first effect waits out the undo window."""
        approved, proposal = kind == "approve", self.proposal
        undo_until = self.at + self.frame.undo if approved else None
        policy = self.process.approval
        assert policy is not None
        execute_by = undo_until + policy.execute_within if undo_until else None
        field = f"decision.{proposal['public_id']}.{person.id}.{kind}" if reason else ""
        facts: Row = {
            "proposal": proposal["public_id"],
            "decision": kind,
            "digest": proposal["digest"],
            "seen_version": self.case["version"],
            "next": next,
            "reason_field": field,
        }
        self.rows[Decision].append(
            {
                "proposal_id": proposal["id"],
                "person_id": person.id,
                "kind": kind,
                "digest": proposal["digest"],
                "case_version": self.case["version"],
                "decisive": True,
                "next": next,
                "reason_field": field,
                "undo_until": undo_until,
                "execute_by": execute_by,
                "at": self.at,
            }
        )
        if reason:
            self.keep_text(field, reason)
        if approved:
            facts |= {"undo_until": undo_until, "execute_by": execute_by}
        self.move(event, facts, actor=person, sets=sets)
        if approved:
            self.publish("execute", self.specs("effect")[0]["id"], at=undo_until)

    # Effects and notices ------------------------------------------------------------------------------------------

    def reserve(self, spec: Row) -> Row:
        action: Row = {
            "id": self.frame.keys.next(Action),
            "organisation_id": self.cast.organisation_id,
            "case_id": self.case["id"],
            "proposal_id": self.proposal["id"],
            "public_id": spec["id"],
            **{name: spec[name] for name in ("position", "kind", "system", "operation", "subject", "key")},
            "status": "PLANNED",
            "created_at": self.at,
        }
        self.rows[Action].append(action)
        return action

    def begin_call(self, task: Row, action: Row, *, purpose: str = "first") -> Row:
        """The point of no return: from here on it is REQUESTED."""
        self.tick()
        effect = action["kind"] == "effect"
        opens = effect and action["status"] == "PLANNED"
        action |= {"status": "REQUESTED", "settled_at": None, "first_sent_at": action.get("first_sent_at") or self.at}
        call = self._call(task, action, "perform")
        facts = {name: action[name] for name in ("operation", "system")}
        facts |= {"action": action["public_id"], "call": call["call_id"], "purpose": purpose}
        if effect:
            self.case["plan_begun"] = True
        self.record("action.requested", facts, **({"effects_open": 1} if opens else {}))
        return call

    def answered(self, call: Row, outcome: str, code: str = "", message: str = "", external_id: str = "") -> None:
        call |= {"ended_at": self.at, "outcome": outcome, "code": code, "message": message, "external_id": external_id}

    def look_up(self, task: Row, action: Row, outcome: str, code: str = "") -> None:
        call = self._call(task, action, "lookup")
        self.wait(0.02, 0.3)
        self.answered(call, outcome, code)

    def settle(self, action: Row, status: str, *, code: str = "", confirmed_by: str = "", final: bool = True) -> None:
        """Where the action stands now; `final` where nothing is left to ask."""
        action |= {"status": status, "code": code, "confirmed_by": confirmed_by}
        action["settled_at"] = self.at if final else None

    def about(self, action: Row, call: Row | None = None) -> Row:
        """What an event of an action says first."""
        about = {name: action[name] for name in ("operation", "system")} | {"action": action["public_id"]}
        about |= {"subject": action["subject"]} if action["kind"] == "effect" else {"kind": "notice"}
        return about | ({"call": call["call_id"]} if call else {})

    def cancel_planned(self) -> None:
        for action in self.rows[Action]:
            if action["status"] == "PLANNED" and not action.get("settled_at"):
                action |= {"status": "CANCELLED", "settled_at": self.at}

    def _call(self, task: Row, action: Row, kind: str) -> Row:
        call: Row = {
            "action_id": action["id"],
            "task_id": task["id"],
            "kind": kind,
            "call_id": self.uuid(),
            "worker": self.worker,
            "begun_at": self.at,
        }
        self.rows[ExternalCall].append(call)
        return call


def owned(facts: Mapping[str, Any], system: str) -> Row:
    """An event with who has to be asked about a system."""
    return json.loads(json.dumps(dict(facts) | owner_of(system)))  # plain values, as an event keeps them
