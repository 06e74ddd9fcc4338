"""What a person decides on: each action with its id and key, each fact it rests on, in canonical bytes (design §5)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import SystemRandom
from typing import Any

from audit.bodies import primitives
from caseflow.domain.canonical import canonical_bytes, digest_of
from caseflow.domain.identifiers import public_id
from caseflow.domain.process import Facts, Plan, Process, Proposed, value_at
from cases.rows import CaseRow

_rng = SystemRandom()


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One action of a snapshot: an effect or a notice, with the id and key it keeps for life."""

    position: int
    id: str
    kind: str
    system: str
    operation: str
    subject: str
    request: Mapping[str, Any]
    key: str
    preconditions: Mapping[str, Any]
    confirms: Mapping[str, Any]
    again_after: str = ""
    undoes: str = ""
    repeats: str = ""  #: of a notice sent again: the id of the one before
    otherwise: str = ""  #: of a notice: why it is held back where its preconditions do not hold


def build_snapshot(
    *,
    case: CaseRow,
    number: int,
    proposed: Proposed,
    plan: Plan,
    facts: Facts,
    observations: Sequence[int],
    intake_revision: int,
    valid_until: datetime | None,
) -> dict[str, Any]:
    """The plan with fresh action ids and keys `<process>:<A-id>`."""
    process = case.definition
    actions: list[dict[str, Any]] = []
    for effect in plan.effects:
        actions.append(
            _action(
                process.slug,
                len(actions) + 1,
                "effect",
                effect.system,
                effect.operation,
                effect.subject,
                effect.request,
            )
            | {
                "preconditions": dict(effect.preconditions),
                "confirms": dict(effect.confirms),
                "again_after": effect.again_after,
                "undoes": effect.undoes,
            }
        )
    for notice in plan.notices:
        request = {
            "to": {"personal": f"fact.{notice.to}", "digest": (value_at(facts, notice.to) or {}).get("digest", "")},
            "template": notice.template,
            "language": notice.language,
            "params": dict(notice.params),
        }
        actions.append(
            _action(process.slug, len(actions) + 1, "notice", notice.system, notice.operation, notice.to, request)
            | {"preconditions": dict(notice.preconditions), "confirms": {}, "again_after": "", "undoes": ""}
            | ({"otherwise": notice.otherwise} if notice.otherwise else {})
        )
    return {
        "case": case.public_id,
        "process": process.slug,
        "process_version": process.version,
        "number": number,
        "decision": proposed.decision,
        "reason": proposed.reason,
        "evidence": list(proposed.evidence),
        "facts": {path: primitives(value_at(facts, path)) for path in process.critical},
        "observations": list(observations),
        # Everything that is read for this plan, now or in four hours, is read of the subjects that this revision names.
        "intake_revision": intake_revision,
        "actions": actions,
        # How many have to approve is a part of what they approve: a later rule does not change it.
        "approval": terms_of(process, facts) if plan.effects else None,
        "valid_until": valid_until.isoformat() if valid_until else None,
    }


def terms_of(process: Process, facts: Facts) -> dict[str, Any] | None:
    """How a plan on these facts is approved; None where nobody is asked."""
    policy = process.approval
    if policy is None:
        return None
    return {"right": policy.right.value, "quorum": policy.quorum_for(facts), "four_eyes": policy.four_eyes}


def with_new_ids(snapshot: Mapping[str, Any], *, number: int) -> dict[str, Any]:
    """The same plan as another proposal: new action ids and keys, all else equal (a withdrawn plan, design §5)."""
    process = snapshot["process"]
    actions = []
    for action in snapshot["actions"]:
        name = public_id("A", _rng)
        actions.append(action | {"id": name, "key": f"{process}:{name}"})
    return dict(snapshot) | {"number": number, "actions": actions}


def resent(snapshot: Mapping[str, Any], notices: Sequence[str], *, number: int, root: str) -> dict[str, Any]:
    """A plan of nothing but these notices of `snapshot`, under new ids; `root` is the plan whose notices they are."""
    process = snapshot["process"]
    actions: list[dict[str, Any]] = []
    for action in snapshot["actions"]:
        if action["id"] in notices:
            name = public_id("A", _rng)
            fresh = {"position": len(actions) + 1, "id": name, "key": f"{process}:{name}", "repeats": action["id"]}
            actions.append(action | fresh)
    plan = {"number": number, "actions": actions, "approval": None, "valid_until": None, "resends": root}
    return dict(snapshot) | plan


def quorum_of(snapshot: Mapping[str, Any]) -> int:
    """How many persons have to approve this plan. Raises TypeError for a plan that needs nobody."""
    quorum: int = snapshot["approval"]["quorum"]
    return quorum


def sealed(snapshot: Mapping[str, Any]) -> tuple[bytes, str]:
    """(canonical bytes, digest)."""
    canonical = canonical_bytes(snapshot)
    return canonical, digest_of(canonical)


def opened(canonical: bytes | memoryview) -> dict[str, Any]:
    """The snapshot as Python, read from its own bytes, never from JSONB."""
    snapshot: dict[str, Any] = json.loads(bytes(canonical))
    return snapshot


def actions_of(snapshot: Mapping[str, Any]) -> list[ActionSpec]:
    return [ActionSpec(**action) for action in snapshot["actions"]]


def effects_of(snapshot: Mapping[str, Any]) -> list[ActionSpec]:
    return [action for action in actions_of(snapshot) if action.kind == "effect"]


def notices_of(snapshot: Mapping[str, Any]) -> list[ActionSpec]:
    return [action for action in actions_of(snapshot) if action.kind == "notice"]


def changed_facts(snapshot: Mapping[str, Any], facts: Facts) -> dict[str, dict[str, Any]]:
    """Path → {"then", "now"} for every critical path of the snapshot whose value is another one now."""
    found = {path: value_at(facts, path) for path in snapshot["facts"]}
    return {path: {"then": then, "now": found[path]} for path, then in snapshot["facts"].items() if found[path] != then}


def _action(
    process: str, position: int, kind: str, system: str, operation: str, subject: str, request: Mapping[str, Any]
) -> dict[str, Any]:
    name = public_id("A", _rng)
    return {
        "position": position,
        "id": name,
        "kind": kind,
        "system": system,
        "operation": operation,
        "subject": subject,
        "request": dict(request),
        "key": f"{process}:{name}",
    }
