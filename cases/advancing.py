"""The one writer of a case's state, version, guard columns and audit head (design §4).

One statement updates the row where id, state, version and guards match, chains the audit hash in SQL and inserts the
audit row. Zero rows mean that somebody was first: reread and decide again, never retry with the new version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from audit.bodies import ActorLike, event_body
from caseflow.domain.errors import ForbiddenTransition, StaleCase
from caseflow.domain.lifecycle import CLOSED, Event, Guard, State, Transition
from caseflow.statements import Row, Values, row_of, rows_of, soon

from .rows import CaseRow
from .times import COLUMNS, PARTS

#: Columns a transition may set beside the state, and columns it may add to.
SETTABLE = frozenset({"reason", "ending", "outcome", "wait_until", "plan_begun", "subject", "process_version"})
ADDABLE = frozenset({"effects_open", "effects_done", "returns"})

_GUARDS = {
    Guard.PLAN_NOT_BEGUN: "NOT plan_begun",
    Guard.PLAN_BEGUN: "plan_begun",
    # Guards look at the row as it will be: a settlement may close the last open effect and move the case at once.
    Guard.NO_EFFECTS_OPEN: "effects_open + %(add_effects_open)s = 0",
    Guard.NO_EFFECTS_DONE: "effects_done + %(add_effects_done)s = 0",
}
#: The same of a case that is held, and of what is added to it.
_HOLDS: Mapping[Guard, Callable[[CaseRow, Mapping[str, int]], bool]] = {
    Guard.PLAN_NOT_BEGUN: lambda case, adds: not case.plan_begun,
    Guard.PLAN_BEGUN: lambda case, adds: case.plan_begun,
    Guard.NO_EFFECTS_OPEN: lambda case, adds: case.effects_open + adds.get("effects_open", 0) == 0,
    Guard.NO_EFFECTS_DONE: lambda case, adds: case.effects_done + adds.get("effects_done", 0) == 0,
}

_STATEMENT = """
WITH t AS MATERIALIZED (SELECT clock_timestamp() AS at),
u AS MATERIALIZED (SELECT at, (extract(epoch FROM at) * 1000000)::bigint AS us FROM t),{measured}
moved AS (
  UPDATE cases_case SET {assignments}, audit_count = audit_count + 1,
         audit_head = sha256(audit_head || int8send(u.us) || %(body)s)
  FROM u{spent} WHERE id = %(case_id)s {conditions}
  RETURNING id, organisation_id, version, audit_count, audit_head, u.at, u.us),
told AS (
  INSERT INTO audit_auditevent (organisation_id, case_id, seq, kind, actor_kind, actor_id, from_state, to_state,
                                version, at, at_us, body, hash)
  SELECT moved.organisation_id, moved.id, moved.audit_count, %(kind)s, %(actor_kind)s, %(actor_id)s, %(from_state)s,
         %(to_state)s, {version}, moved.at, moved.us, %(body)s, moved.audit_head FROM {moved}
  RETURNING seq, at){beside}
SELECT told.seq, told.at{returned} FROM told {joined}
"""

#: By whether the caller waits for the answer. Who does not holds the case, and is refused by the table of events where
#: the case is not as it was held: an event of no case belongs to no organisation.
_MOVED = {True: "moved", False: "t LEFT JOIN moved ON true"}

#: Where the time went is written by the statement that closes a case: it costs no statement more (design §14).
_MEASURED = f"""
wanted AS MATERIALIZED (SELECT %(case_id)s::bigint AS id, u.us AS until FROM u), {PARTS},"""
_SPENT = f" LEFT JOIN (SELECT {', '.join(COLUMNS.values())} FROM parts) spent ON true"
_SPENT_COLUMNS = [f"{column} = spent.{column}" for column in COLUMNS.values()]


@dataclass(frozen=True, slots=True)
class Beside:
    """Writes that travel in the statement of an event, so that a case does not pay a round trip for each.

    `parts` are common table expressions after those of the event; `t` is the statement's clock. What `returned` names
    of the one called `rows` comes back with the event.
    """

    parts: str
    values: dict[str, Any]
    rows: str = ""
    returned: tuple[str, ...] = ()

    @property
    def text(self) -> tuple[str, str, tuple[str, ...]]:
        """What of it stands in the statement."""
        return self.parts, self.rows, self.returned


_NOTHING = Beside("", {})


@dataclass(frozen=True, slots=True)
class Written:
    """The audit row's number within the case, the database's moment, and the case as it is now; and the rows that came
    back from what was written beside."""

    seq: int
    at: datetime
    case: CaseRow
    beside: tuple[tuple[Any, ...], ...] = ()


def advance_case(
    case: CaseRow,
    event: Event,
    *,
    actor: ActorLike,
    facts: Mapping[str, Any] | None = None,
    sets: Mapping[str, Any] | None = None,
    adds: Mapping[str, int] | None = None,
    beside: Beside = _NOTHING,
) -> Written:
    """Move `case` along its table.

    Raises ForbiddenTransition (no such row, or a guard) and StaleCase (somebody was first); the caller's transaction
    then ends, and what was written `beside` with it.
    """
    row = case.definition.table.get(case.state, event)
    statement, values, after = _moving(case, row, actor, facts, sets or {}, adds or {}, beside, waits=True)
    written = rows_of(statement, values)
    if not written:
        raise _explain_refusal(case, row)
    return _written(written, after)


def advance_case_soon(
    case: CaseRow,
    event: Event,
    *,
    actor: ActorLike,
    facts: Mapping[str, Any] | None = None,
    sets: Mapping[str, Any] | None = None,
    adds: Mapping[str, int] | None = None,
    beside: Beside = _NOTHING,
) -> CaseRow:
    """The same for who holds the case just as `case` says: the move leaves with the next statement, or with COMMIT.

    Raises ForbiddenTransition; where the case is not what it was said to be, that statement raises IntegrityError.
    """
    row = case.definition.table.get(case.state, event)
    refused = [guard for guard in row.guards if not _HOLDS[guard](case, adds or {})]
    if refused:
        raise ForbiddenTransition(state=case.state, event=row.event, guards=sorted(row.guards))
    statement, values, after = _moving(case, row, actor, facts, sets or {}, adds or {}, beside, waits=False)
    soon(statement, values)
    return after


def _moving(
    case: CaseRow,
    row: Transition,
    actor: ActorLike,
    facts: Mapping[str, Any] | None,
    sets: Mapping[str, Any],
    adds: Mapping[str, int],
    beside: Beside,
    *,
    waits: bool,
) -> tuple[str, Values, CaseRow]:
    """The statement, its values, and the case as it will be."""
    version, kind, closes = case.version + 1, f"case.{row.event}", row.target in CLOSED
    changes = _changes_of(row) | dict(sets)
    body = event_body(
        kind, actor=actor, facts=dict(facts or {}), from_state=row.source, to_state=row.target, version=version
    )
    parameters = _parameters(case, kind, actor, body, changes, adds)
    parameters |= {"from_state": row.source.value, "to_state": row.target.value, "expected": case.version}
    assignments = ["state = %(to_state)s", "version = version + 1", "state_since = u.at"]
    if closes:
        assignments += ["closed_at = u.at", *_SPENT_COLUMNS]
    assignments += _assignments(changes, adds)
    guards = "".join(f" AND {_GUARDS[guard]}" for guard in sorted(row.guards))
    conditions = "AND state = %(from_state)s AND version = %(expected)s" + guards
    statement = _statement(tuple(assignments), conditions, "version", *beside.text, closes=closes, waits=waits)
    return statement, parameters | beside.values, _after(case, changes, adds, state=row.target, version=version)


def record_event(
    case: CaseRow,
    kind: str,
    *,
    actor: ActorLike,
    facts: Mapping[str, Any] | None = None,
    sets: Mapping[str, Any] | None = None,
    adds: Mapping[str, int] | None = None,
) -> Written:
    """Append an event that moves no state: a reading, a call, a refusal. The caller holds the case or wants no more."""
    written = rows_of(*_recording(case, kind, actor, facts, sets or {}, adds or {}, _NOTHING, waits=True))
    if not written:
        raise StaleCase(seen=case.version, current="none")
    return _written(written, _after(case, sets or {}, adds or {}))


def record_event_soon(
    case: CaseRow,
    kind: str,
    *,
    actor: ActorLike,
    facts: Mapping[str, Any] | None = None,
    sets: Mapping[str, Any] | None = None,
    adds: Mapping[str, int] | None = None,
    beside: Beside = _NOTHING,
) -> CaseRow:
    """The same for who holds the case and goes on at once: the event leaves with the next statement, or with COMMIT."""
    soon(*_recording(case, kind, actor, facts, sets or {}, adds or {}, beside, waits=False))
    return _after(case, sets or {}, adds or {})


def _recording(
    case: CaseRow,
    kind: str,
    actor: ActorLike,
    facts: Mapping[str, Any] | None,
    sets: Mapping[str, Any],
    adds: Mapping[str, int],
    beside: Beside,
    *,
    waits: bool,
) -> tuple[str, Values]:
    body = event_body(kind, actor=actor, facts=dict(facts or {}))
    parameters = _parameters(case, kind, actor, body, sets, adds)
    parameters |= {"from_state": "", "to_state": ""}
    # Assigning a column to itself keeps the statement's shape; no column of the state is touched.
    assignments = _assignments(sets, adds) or ["reason = reason"]
    return _statement(tuple(assignments), "", "NULL::int", *beside.text, waits=waits), parameters | beside.values


def _changes_of(row: Transition) -> dict[str, Any]:
    changes: dict[str, Any] = {"reason": ""}
    if row.outcome is not None:
        changes["outcome"] = row.outcome.value
    if row.event in (Event.QUORUM_REACHED, Event.PLAN_READY):
        changes["plan_begun"] = False
    if row.target not in (State.CHECKING, State.WAITING_DATA):
        changes["wait_until"] = None
    return changes


def _parameters(
    case: CaseRow, kind: str, actor: ActorLike, body: bytes, sets: Mapping[str, Any], adds: Mapping[str, int]
) -> dict[str, Any]:
    unknown = (set(sets) - SETTABLE) | (set(adds) - ADDABLE)
    if unknown:
        raise ValueError(f"not a column of a transition: {sorted(unknown)}")
    parameters: dict[str, Any] = {f"set_{name}": value for name, value in sets.items()}
    parameters |= {f"add_{name}": adds.get(name, 0) for name in ADDABLE}
    return parameters | {
        "case_id": case.id,
        "kind": kind,
        "actor_kind": actor.kind,
        "actor_id": actor.id,
        "body": body,
    }


def _assignments(sets: Mapping[str, Any], adds: Mapping[str, int]) -> list[str]:
    return [f"{name} = %(set_{name})s" for name in sets] + [f"{name} = {name} + %(add_{name})s" for name in adds]


@lru_cache(maxsize=1000)
def _statement(
    assignments: tuple[str, ...],
    conditions: str,
    version: str,
    parts: str,
    rows: str,
    returned: tuple[str, ...],
    *,
    waits: bool,
    closes: bool = False,
) -> str:
    """There are as many as there are kinds of events: each is put together once a process."""
    return _STATEMENT.format(
        assignments=", ".join(assignments),
        conditions=conditions,
        version=version,
        moved=_MOVED[waits],
        measured=_MEASURED if closes else "",
        spent=_SPENT if closes else "",
        beside=f",\n{parts}" if parts else "",
        returned="".join(f", {rows}.{name}" for name in returned),
        joined=f"LEFT JOIN {rows} ON true" if rows else "",
    )


def _written(rows: Sequence[Row], case: CaseRow) -> Written:
    seq, at = rows[0][:2]
    return Written(seq, at, case, tuple(row[2:] for row in rows if row[2:] and row[2] is not None))


def _after(case: CaseRow, sets: Mapping[str, Any], adds: Mapping[str, int], **changed: Any) -> CaseRow:
    values = {name: value for name, value in sets.items() if name != "outcome"}
    values |= {name: getattr(case, name) + added for name, added in adds.items()}
    return replace(case, **(values | changed))


def _explain_refusal(case: CaseRow, row: Transition) -> ForbiddenTransition | StaleCase:
    found = row_of("SELECT state, version FROM cases_case WHERE id = %s", [case.id])
    if found == (case.state.value, case.version):
        return ForbiddenTransition(state=case.state, event=row.event, guards=sorted(row.guards))
    return StaleCase(seen=case.version, current=found[1] if found else None)
