"""One case on paper: what the engine would have written of it, in the order in which it would have written it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

from accounts.principal import SYSTEM, Actor
from audit.bodies import chain_hash, primitives
from audit.models import AuditEvent
from caseflow.domain.identifiers import public_id
from caseflow.domain.lifecycle import CLOSED, Event, State
from caseflow.domain.process import Process, value_at
from caseflow.domain.times import Stay, time_parts
from cases.advancing import _changes_of
from cases.models import Attempt, Case, CaseKey, IntakeRevision, Observation, PersonalText, Task
from cases.personal import Sealer, digest_of_personal
from cases.stages import LEASE, STAGE_LIMIT, stage_named
from cases.times import COLUMNS

from .cast import Cast
from .rows import Chunk, Keys

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

Row = dict[str, Any]
Reading = tuple[str, Row, datetime, str]  #: name, value, observed at, call id


@dataclass(frozen=True, slots=True)
class Frame:
    """What all cases of a run share."""

    keys: Keys
    process: Process
    seed: int
    until: datetime  #: nothing is dated later
    undo: timedelta
    drift_run: int = 0  #: that found what has drifted


def canonical(value: Any) -> bytes:
    """What `canonical_bytes` gives for these values, ten times as fast: keys are ASCII and numbers are whole."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def microseconds(at: datetime) -> int:
    return (at - EPOCH) // MICROSECOND


class Draft:
    """Rows of one case; `at` is its clock. `world` is what the outside systems would say: fact name → value."""

    def __init__(self, frame: Frame, cast: Cast, *, number: int, opened: datetime, rng: Random) -> None:
        self.frame, self.cast, self.rng, self.at = frame, cast, rng, opened
        self.number = number
        self.process = frame.process
        self.rows: dict[Any, list[Row]] = {
            model: [] for model in (IntakeRevision, PersonalText, Task, Attempt, Observation, AuditEvent)
        }
        self.worker = f"worker-{rng.randrange(1, 5)}"
        self.case: Row = {"id": frame.keys.next(Case), "public_id": public_id("C", rng), "version": 0}
        self.world: dict[str, Row] = {}
        self.facts: dict[str, Row] = {}
        self.newest: dict[str, int] = {}  #: fact name → the key of its newest observation
        self.returns = 0
        self._head, self._sealer = b"", Sealer.new()
        self._stays: list[tuple[State, int, int | None]] = []

    # The clock ----------------------------------------------------------------------------------------------------

    def wait(self, least: float, most: float) -> None:
        """Seconds."""
        self.at += timedelta(microseconds=round(self.rng.uniform(least, most) * 1_000_000))

    def tick(self) -> None:
        """What a statement takes."""
        self.at += timedelta(microseconds=self.rng.randrange(300, 2500))

    def uuid(self) -> str:
        return str(UUID(int=self.rng.getrandbits(128), version=4))

    # History ------------------------------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        return State(self.case["state"])

    def open(self, intake: Mapping[str, Any], *, external_id: str, subject: str) -> None:
        self.intake, self.revision = dict(intake), 0
        state, process = State.RECEIVED.value, self.process
        facts = {"process": process.slug, "process_version": process.version, "source": "generated"}
        digest = digest_of_personal(
            {"process": process.slug, "intake": self.intake, "source_url": "", "department": None}
        )
        self.case |= {
            "organisation_id": self.cast.organisation_id,
            "process": process.slug,
            "process_version": process.version,
            "source": "generated",
            "external_id": external_id,
            "external_id_normal": external_id,
            "intake_digest": digest,
            "subject": subject,
            "created_at": self.at,
            "state": state,
            "version": 1,
            "state_since": self.at,
            "plan_begun": False,
            "effects_open": 0,
            "effects_done": 0,
        }
        self._event("case.opened", self.cast.machine, facts | {"case": self.case["public_id"]}, ("", state, 1))
        self._stays.append((State.RECEIVED, microseconds(self.at), None))
        self.tell(self.cast.machine, self.intake)
        self.publish("check")

    def tell(self, actor: Actor, fields: Mapping[str, Any]) -> None:
        """A new intake revision."""
        self.revision += 1
        self.intake |= fields
        for name in sorted(self.process.personal_intake & fields.keys()):
            self.keep_text(f"intake.{name}", str(fields[name]))
        body = {
            name: {"personal": f"intake.{name}", "digest": digest_of_personal(value)}
            if name in self.process.personal_intake
            else value
            for name, value in self.intake.items()
        }
        self.rows[IntakeRevision].append(
            {
                "case_id": self.case["id"],
                "number": self.revision,
                "body": json.dumps(body, ensure_ascii=False),
                "digest": digest_of_personal(self.intake),
                "told_by_kind": actor.kind,
                "told_by_id": actor.id,
                "told_by_person": actor.person_id,
                "at": self.at,
            }
        )

    def record(self, kind: str, facts: Mapping[str, Any], *, actor: Actor = SYSTEM, **adds: int) -> None:
        """An event that moves no state."""
        self.tick()
        self._add(adds)
        self._event(kind, actor, facts)

    def move(self, event: Event, facts: Mapping[str, Any], *, actor: Actor = SYSTEM, sets: Row | None = None) -> None:
        """As `advance_case` does, without its guards: the invariants look at what came of it."""
        self.tick()
        row = self.process.table.get(self.state, event)
        self.case |= _changes_of(row) | (sets or {})
        self.case |= {"state": row.target.value, "version": self.case["version"] + 1, "state_since": self.at}
        if row.target in CLOSED:
            self.case["closed_at"] = self.at
        self._event(f"case.{event}", actor, facts, (row.source.value, row.target.value, self.case["version"]))
        undo = facts.get("undo_until") if row.target is State.EXECUTING else None
        self._stays.append((row.target, microseconds(self.at), microseconds(undo) if undo else None))

    def _add(self, adds: Mapping[str, int]) -> None:
        for name, value in adds.items():
            self.case[name] += value

    def _event(
        self, kind: str, actor: Actor, facts: Mapping[str, Any], step: tuple[str, str, int] | None = None
    ) -> None:
        said: Row = {
            "kind": kind,
            "actor": {"kind": actor.kind, "id": actor.id, "name": actor.name},
            "facts": primitives(facts),
        }
        columns: Row = {"from_state": "", "to_state": "", "version": None}
        if step is not None:
            columns = dict(zip(columns, step, strict=True))
            said |= {"from": step[0], "to": step[1], "version": step[2]}
        body = canonical(said)
        at_us = microseconds(self.at)
        self._head = chain_hash(self._head, at_us, body)
        self.case |= {"audit_count": len(self.rows[AuditEvent]) + 1, "audit_head": self._head}
        self.rows[AuditEvent].append(
            {
                "organisation_id": self.cast.organisation_id,
                "case_id": self.case["id"],
                "seq": self.case["audit_count"],
                "kind": kind,
                "actor_kind": actor.kind,
                "actor_id": actor.id,
                "at": self.at,
                "at_us": at_us,
                "body": body,
                "hash": self._head,
                **columns,
            }
        )

    def keep_text(self, field: str, text: str) -> None:
        sealed = self._sealer[0].seal(field, text)
        self.rows[PersonalText].append(
            {"case_id": self.case["id"], "field": field, "ciphertext": sealed, "at": self.at}
        )

    # Work ---------------------------------------------------------------------------------------------------------

    def publish(self, stage: str, subject: str = "", *, at: datetime | None = None) -> Row:
        task: Row = {
            "id": self.frame.keys.next(Task),
            "case_id": self.case["id"],
            "organisation_key": self.cast.organisation_id,
            "process": f"{self.process.slug}:{self.process.version}",
            "stage": stage,
            "subject": subject,
            "generation": self.case["version"],
            "queue": stage_named(stage).queue,
            "status": "due",
            "attempt": 0,
            "returned": 0,
            "lost": 0,
            "fence": 0,
            "available_at": at or self.at,
            "created_at": self.at,
        }
        self.rows[Task].append(task)
        return task

    def begin(self, task: Row) -> Row:
        """A worker takes it, now or when it is due."""
        self.at = max(self.at, task["available_at"])
        patience = stage_named(task["stage"]).policy.deadline
        task |= {
            "status": "leased",
            "attempt": task["attempt"] + 1,
            "fence": task["fence"] + 1,
            "deadline_at": task.get("deadline_at") or self.at + patience,
            "leased_until": self.at + LEASE,
            "lease_limit_at": self.at + STAGE_LIMIT,
            "leased_by": self.worker,
        }
        self.rows[Attempt].append(
            {
                "task_id": task["id"],
                "number": task["attempt"],
                "fence": task["fence"],
                "worker": self.worker,
                "begun_at": self.at,
                "outcome": "",
            }
        )
        return task

    def end(self, task: Row, status: str = "done", outcome: str = "done", error: str = "", text: str = "") -> None:
        self.tick()
        self._end_attempt(task, outcome, error, text)
        task |= {"status": status, "ended_at": self.at, "leased_until": None}
        task |= {"last_error": error, "last_error_text": text}

    def again(self, task: Row, delay: float, error: str, text: str = "", *, give_back: bool = False) -> None:
        """Due once more after `delay` seconds."""
        self.tick()
        self._end_attempt(task, "given_back" if give_back else "fault", error, text)
        task |= {"status": "due", "leased_until": None, "leased_by": "", "returned": task["returned"] + int(give_back)}
        task |= {"available_at": self.at + timedelta(seconds=delay), "last_error": error, "last_error_text": text}

    def lose(self, task: Row) -> None:
        """The worker died; another takes over when the lease has lapsed."""
        self.at = task["leased_until"] + timedelta(seconds=1)
        self._end_attempt(task, "worker_lost", "", "")
        task["lost"] += 1
        self.worker = f"worker-{self.rng.randrange(5, 9)}"
        self.begin(task)

    def _end_attempt(self, task: Row, outcome: str, error: str, text: str) -> None:
        attempt = next(row for row in reversed(self.rows[Attempt]) if row["task_id"] == task["id"])
        attempt |= {"ended_at": self.at, "outcome": outcome, "error": error, "error_text": text}

    # Facts --------------------------------------------------------------------------------------------------------

    def read(self, names: Iterable[str]) -> list[Reading]:
        """What the outside says now; kept by `store`."""
        found: list[Reading] = []
        for source in self.process.facts:
            if source.name in names:
                self.wait(0.005, 0.08)
                found.append((source.name, dict(self.world[source.name]), self.at, self.uuid()))
        return found

    def store(self, readings: Iterable[Reading], *, texts: bool = False) -> list[int]:
        """The keys of the new observations."""
        keys = []
        sources = {source.name: source.system for source in self.process.facts}
        for name, value, observed_at, call_id in readings:
            for path in self.process.personal_facts:
                fact, _, field = path.partition(".")
                if fact == name and isinstance(value.get(field), str):
                    if texts:
                        self.keep_text(f"fact.{path}", value[field])
                    value[field] = {"personal": f"fact.{path}", "digest": digest_of_personal(value[field])}
            key = self.frame.keys.next(Observation)
            self.facts[name], self.newest[name] = value, key
            keys.append(key)
            self.rows[Observation].append(
                {
                    "id": key,
                    "case_id": self.case["id"],
                    "name": name,
                    "value": json.dumps(value, ensure_ascii=False),
                    "source": sources[name],
                    "observed_at": observed_at,
                    "call_id": call_id,
                    "intake_revision": self.revision,
                }
            )
        return keys

    def known(self, path: str) -> Any:
        return value_at(self.facts, path)

    # The end ------------------------------------------------------------------------------------------------------

    def write_to(self, chunk: Chunk) -> None:
        self._close_leftovers()
        if self.state in CLOSED:
            parts = time_parts(self._stays_until(self.case["closed_at"]), self._worked(self.case["closed_at"]))
            self.case |= {column: parts.of(part) for part, column in COLUMNS.items()}
        chunk.add(Case, self.case | {"returns": self.returns})
        chunk.add(CaseKey, {"case_id": self.case["id"], "wrapped": self._sealer[1]})
        for model, rows in self.rows.items():
            chunk.extend(model, rows)

    def _close_leftovers(self) -> None:
        """Tasks of an earlier version that came due since then were closed without an attempt."""
        for task in self.rows[Task]:
            if task["status"] == "due" and task["generation"] < self.case["version"]:
                ended = max(task["available_at"], self.case["state_since"]) + timedelta(milliseconds=20)
                if ended < self.frame.until:
                    task |= {"status": "obsolete", "ended_at": ended, "fence": task["fence"] + 1}

    def _stays_until(self, until: datetime) -> list[Stay]:
        ends = [begun for _, begun, _ in self._stays[1:]] + [microseconds(until)]
        return [Stay(state, begun, ended, undo) for (state, begun, undo), ended in zip(self._stays, ends, strict=True)]

    def _worked(self, until: datetime) -> list[tuple[int, int]]:
        return [
            (microseconds(row["begun_at"]), microseconds(row.get("ended_at") or until)) for row in self.rows[Attempt]
        ]


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
