"""The steps that stories are made of; each drives a draft as the stage of the same name drives a case."""

from __future__ import annotations

import json
from datetime import timedelta

from accounts.principal import SYSTEM
from actions.models import Action
from caseflow.domain.identifiers import public_id
from caseflow.domain.lifecycle import Event
from caseflow.domain.outcomes import FaultKind
from caseflow.domain.recovery import RULES, Kind
from cases.models import Task
from operations.models import DriftFinding, Recovery

from .draft import Reading
from .plans import PlannedDraft, Row, owned

RECHECKED = timedelta(minutes=15, seconds=5)  #: from one re-check to the end of the next
PRICE = "990.00"

CLAIMS = {
    "ru": [
        "Деньги списались, доступ не открылся",
        "Оплатил картой, подписка не работает",
        "Доступа нет, хотя оплата прошла",
        "Списали деньги дважды проверил, а войти не могу",
    ],
    "en": [
        "I paid an hour ago and still cannot sign in",
        "Paid, but the subscription is not active",
        "My money is gone and there is no access",
        "The charge went through, the account stays locked",
    ],
}
REASONS = {
    "ru": ["Нужно проверить вручную", "Клиент сообщил другой номер", "Сумма вызывает сомнение"],
    "en": ["This needs a look by hand", "The customer named another number", "The amount looks wrong"],
}
TEXTS = {"http_503": "the system answered 503", "timeout": "no answer within 5 s", "bad_answer": "not JSON"}

# Until a proposal -----------------------------------------------------------------------------------------------------


def told(draft: PlannedDraft) -> None:
    """A ticket comes in; outside, all is as a restored access needs it unless the story says otherwise."""
    name = f"G{draft.frame.seed}-{draft.number}"
    intake = {
        "customer_id": f"U-{name}",
        "subscription_id": f"S-{name}",
        "payment_id": f"PAY-{name}",
        "claim": draft.rng.choice(CLAIMS[language_of(draft)]),
    }
    draft.open(intake, external_id=name, subject=intake["subscription_id"])


def world_of(draft: PlannedDraft) -> dict[str, Row]:
    """Customers, payments and subscriptions as the outside systems would tell of them."""
    name = f"G{draft.frame.seed}-{draft.number}"
    customer, subscription = f"U-{name}", f"S-{name}"
    return {
        "payment": {
            "status": "confirmed",
            "amount": PRICE,
            "expected_amount": PRICE,
            "currency": "RUB",
            "customer_id": customer,
            "subscription_id": subscription,
        },
        "customer": {
            "status": "known",
            "language": draft.rng.choice([draft.cast.language, draft.cast.language, "ru", "en"]),
            "email": f"{name.lower()}@example.org",
        },
        "subscription": {
            "status": "inactive",
            "plan": "basic",
            "price": PRICE,
            "currency": "RUB",
            "customer_id": customer,
            "activated_at": None,
            "activated_by_key": None,
        },
    }


def language_of(draft: PlannedDraft) -> str:
    language: str = draft.world["customer"]["language"]
    return language


def check(draft: PlannedDraft) -> Row:
    """From the ticket to CHECKING; the task `observe`, not begun."""
    told(draft)
    task = draft.rows[Task][-1]
    draft.wait(0.02, 3)
    draft.begin(task)
    draft.move(Event.CHECK_STARTED, {})
    observing = draft.publish("observe")
    draft.end(task)
    return observing


def observe(draft: PlannedDraft, task: Row) -> Row:
    """The facts are read; the task, whose settlement stores the plan, too."""
    if task["status"] != "leased":
        draft.begin(task)
    names = [source.name for source in draft.process.facts]
    readings = draft.read(names)
    draft.tick()
    keys = draft.store(readings, texts=True)
    calls = {name: call for name, _, _, call in readings}
    draft.record("facts.observed", {"observations": keys, "calls": calls})
    return task


def observe_in_vain(draft: PlannedDraft, task: Row, codes: list[str]) -> Row:
    """Each try ends with a fault; the task is due again after the delay of the policy."""
    for number, code in enumerate(codes):
        draft.begin(task)
        draft.wait(0.2, 5)
        bare = min(60, 5 * 2**number)
        draft.again(task, bare + bare * 0.1 * draft.rng.random(), code, TEXTS.get(code, code))
    return task


def observed(draft: PlannedDraft, *, faults: list[str] | None = None, lost: bool = False) -> None:
    """Told, checked, read and proposed, whatever that leads to."""
    task = observe_in_vain(draft, check(draft), faults or [])
    if lost:
        draft.begin(task)
        draft.lose(task)
    draft.propose(observe(draft, task))


waiting = observed


def proposed(draft: PlannedDraft, *, faults: list[str] | None = None, lost: bool = False, quick: bool = False) -> None:
    """The plan waits for a decision."""
    observed(draft, faults=faults, lost=lost)
    if not quick:
        draft.wait(5, 60)


def observe_and_propose(draft: PlannedDraft) -> None:
    """Back in CHECKING the facts are read again."""
    task = draft.publish("observe")
    draft.wait(0.02, 2)
    draft.propose(observe(draft, task))


def recheck(draft: PlannedDraft) -> None:
    task = due(draft, "recheck")
    draft.move(Event.RECHECK_DUE, {})
    draft.end(task)


def supply(draft: PlannedDraft) -> None:
    """The operator names the payment that exists."""
    actor = draft.cast.operator
    draft.causers.add(actor.id or 0)
    draft.world["payment"] = world_of(draft)["payment"]
    draft.move(Event.DATA_RECEIVED, {"revision": draft.revision + 1, "fields": ["payment_id"]}, actor=actor)
    draft.tell(actor, {"payment_id": f"{draft.intake['payment_id']}-2"})


def due(draft: PlannedDraft, stage: str) -> Row:
    """The task of that stage at its moment, begun."""
    task = next(row for row in reversed(draft.rows[Task]) if row["stage"] == stage and row["status"] == "due")
    draft.begin(task)
    draft.wait(0.01, 0.3)
    return task


def give_up(
    draft: PlannedDraft, task: Row, reason: str, code: str, system: str, kind: FaultKind = FaultKind.TRANSIENT
) -> None:
    """The last try ends with a fault, and the case needs attention."""
    draft.begin(task)
    draft.wait(0.2, 2)
    facts = {"stage": task["stage"], "task": task["id"], "error": code, "attempts": task["attempt"], "fault": kind}
    draft.move(Event.EXHAUSTED, owned(facts, system), sets={"reason": reason})
    draft.end(task, "failed", "fault", code, TEXTS.get(code, code))


def lose_for_good(draft: PlannedDraft, task: Row) -> None:
    """The last worker that the task may lose is lost: the next holder only settles."""
    draft.at = task["leased_until"] + timedelta(seconds=1)
    draft._end_attempt(task, "worker_lost", "", "")
    task["lost"] += 1
    facts = {"stage": task["stage"], "task": task["id"], "error": "worker_lost", "attempts": task["attempt"]}
    draft.move(Event.EXHAUSTED, facts, sets={"reason": "worker_lost"})
    draft.tick()
    task |= {"status": "failed", "ended_at": draft.at, "leased_until": None, "last_error": "worker_lost"}
    task["fence"] += 1


# Decisions ------------------------------------------------------------------------------------------------------------


def approve(draft: PlannedDraft, *, within: tuple[float, float] = (60.0, 6 * 3600.0)) -> None:
    decide(draft, "approve", Event.QUORUM_REACHED, within=within)


def decide(
    draft: PlannedDraft,
    kind: str,
    event: Event,
    *,
    next: str = "",
    within: tuple[float, float] = (60.0, 6 * 3600.0),
    sets: Row | None = None,
) -> None:
    draft.wait(*within)
    reason = "" if kind == "approve" else draft.rng.choice(REASONS[draft.cast.language])
    draft.decide(draft.cast.approvers[0], kind, event, reason=reason, next=next, sets=sets)


def ask_data(draft: PlannedDraft) -> None:
    draft.wait(60, 3600)
    until = draft.at + timedelta(hours=72)
    sets = {"reason": "data_asked", "ending": "data_asked", "wait_until": until}
    draft.decide(
        draft.cast.approvers[1], "ask_data", Event.DATA_ASKED, reason=REASONS[draft.cast.language][1], sets=sets
    )
    draft.publish("data_due", at=until)


def refuse_approval(draft: PlannedDraft, code: str, differences: Row) -> None:
    """Somebody pressed a button, and it did not count."""
    draft.wait(30, 600)
    facts = {"proposal": draft.proposal["public_id"], "decision": "approve", "code": code}
    facts |= {"seen_version": draft.case["version"], "differences": differences}
    draft.record("decision.refused", facts, actor=draft.cast.approvers[1])


#: What a person orders for a case, by the event it fires.
KINDS = {
    Event.OBSERVE_AGAIN: Kind.OBSERVE_AGAIN,
    Event.CLOSED_BY_PERSON: Kind.CLOSE,
    Event.FINISHED_WITHOUT_NOTICE: Kind.FINISH_WITHOUT_NOTICE,
    Event.FINISHED_BY_HAND: Kind.FINISH_BY_HAND,
}


def order(draft: PlannedDraft, event: Event) -> None:
    """A person orders a way on, with a reason; where one is not enough, with evidence and a second person."""
    kind, actor = KINDS[event], draft.cast.recoverer
    rule, second = RULES[kind], draft.cast.operator
    name = public_id("R", draft.rng)
    if kind is Kind.OBSERVE_AGAIN:
        draft.causers.add(actor.id or 0)
    row: Row = {
        "public_id": name,
        "case_id": draft.case["id"],
        "kind": kind,
        "asked_by_id": actor.id,
        "asked_at": draft.at,
        "reason_field": f"recovery.{name}.reason",
        "evidence_field": f"recovery.{name}.evidence" if rule.two_persons else "",
        "case_version": draft.case["version"],
        "case_state": draft.state,
        "status": "done",
    }
    facts = {"recovery": name, "order": kind, "was": draft.case["reason"], "asked_by": actor.id}
    facts |= {field: row[field] for field in ("reason_field", "evidence_field") if row[field]}
    if rule.two_persons:
        draft.wait(60, 3600)
        row |= {"authorised_by_id": second.id, "authorised_at": draft.at}
    draft.move(event, facts, actor=second if rule.two_persons else actor)
    row |= {"outcome": draft.state, "version_after": draft.case["version"], "ended_at": draft.at}
    for field in ("reason_field", "evidence_field"):
        if row[field]:
            draft.keep_text(row[field], draft.rng.choice(REASONS[draft.cast.language]))
    draft.rows[Recovery].append(row)


def cancel_execute(draft: PlannedDraft) -> None:
    for task in draft.rows[Task]:
        if task["stage"] == "execute" and task["status"] == "due":
            task |= {"status": "cancelled", "ended_at": draft.at, "fence": task["fence"] + 1}


# Effects --------------------------------------------------------------------------------------------------------------


def _send(draft: PlannedDraft) -> tuple[Row, Row, Row, list[Reading]]:
    """(task, action, call, readings before it): everything up to the answer."""
    task = next(row for row in reversed(draft.rows[Task]) if row["stage"] == "execute" and row["status"] == "due")
    draft.begin(task)
    action = _action_of(draft, task)
    readings = draft.read(["payment", "customer", "subscription"])
    call = draft.begin_call(task, action, purpose="first" if action.get("first_sent_at") is None else "repeat")
    draft.wait(0.05, 0.6)
    return task, action, call, readings


def _action_of(draft: PlannedDraft, task: Row) -> Row:
    spec = next(spec for spec in draft.snapshot["actions"] if spec["id"] == task["subject"])
    return next((row for row in draft.rows[Action] if row["public_id"] == spec["id"]), None) or draft.reserve(spec)


def _activate(draft: PlannedDraft, action: Row) -> None:
    draft.world["subscription"] |= {"status": "active", "activated_at": draft.at.isoformat()}
    draft.world["subscription"]["activated_by_key"] = action["key"]


def _confirm(draft: PlannedDraft, task: Row, action: Row, call: Row | None, confirmed_by: str) -> None:
    """The last effect is confirmed: the messages follow."""
    draft.settle(action, "CONFIRMED", confirmed_by=confirmed_by)
    facts = draft.about(action, call) | {"external_id": action.get("external_id", ""), "confirmed_by": confirmed_by}
    facts["read_back"] = {"subscription.status": "active"}
    draft._add({"effects_open": -1, "effects_done": 1})
    draft.move(Event.EFFECTS_CONFIRMED, facts)
    specs = draft.specs("notice")
    draft.end(task)
    for spec in specs:
        draft.publish("notify", spec["id"])


def perform(draft: PlannedDraft) -> None:
    """Sent, answered, read back, confirmed."""
    task, action, call, readings = _send(draft)
    _activate(draft, action)
    draft.wait(0.05, 0.4)
    action["external_id"] = f"op-{draft.number}"
    back = draft.read(["subscription"])
    draft.tick()
    draft.store([*readings, *back])
    draft.answered(call, "confirmed", external_id=action["external_id"])
    _confirm(draft, task, action, call, "read")


def accept(draft: PlannedDraft) -> None:
    """Answered with success; the read-back still shows the old state."""
    task, action, call, readings = _send(draft)
    back = draft.read(["subscription"])
    draft.store([*readings, *back])
    draft.answered(call, "confirmed", external_id=f"op-{draft.number}")
    action["external_id"] = f"op-{draft.number}"
    draft.settle(action, "REQUESTED", final=False)
    draft.record("action.awaiting", draft.about(action, call))
    draft.publish("reconcile", action["public_id"], at=draft.at + timedelta(seconds=2))
    draft.end(task)


def lose_answer(draft: PlannedDraft) -> None:
    """Sent, and no answer: the effect may or may not have happened."""
    task, action, call, readings = _send(draft)
    draft.wait(5, 5.2)
    draft.store(readings)
    draft.answered(call, "unknown", "timeout", TEXTS["timeout"])
    draft.settle(action, "UNKNOWN", code="timeout", final=False)
    draft.record("action.unknown", draft.about(action, call) | {"code": "timeout"})
    draft.publish("reconcile", action["public_id"], at=draft.at + timedelta(seconds=1))
    draft.end(task)


def reconcile(draft: PlannedDraft) -> None:
    """The look-up finds it done, and the subject shows it."""
    task = due(draft, "reconcile")
    action = _action_of(draft, task)
    draft.look_up(task, action, "confirmed")
    _activate(draft, action)
    back = draft.read(["subscription"])
    draft.tick()
    draft.store(back)
    _confirm(draft, task, action, None, "lookup")


def reconcile_in_vain(draft: PlannedDraft, event: Event, reason: str, answer: str) -> None:
    """Asked a few times; then it is a person's turn, and the action stays in doubt."""
    task = due(draft, "reconcile")
    action = _action_of(draft, task)
    for _ in range(draft.rng.randint(2, 4)):
        if answer:
            draft.look_up(task, action, answer)
        draft.store(draft.read(["subscription"]))
        draft.again(task, 30 + 3 * draft.rng.random(), reason)
        draft.begin(task)
    if answer:
        draft.look_up(task, action, answer)
    draft.store(draft.read(["subscription"]))
    facts = {"action": action["public_id"], "reason": reason}
    draft.move(event, owned(facts, action["system"]), sets={"reason": reason})
    draft.end(task, "failed", reason, reason)


def not_applied(draft: PlannedDraft, *, times: int) -> None:
    """Provably not applied: due again under the same key."""
    for number in range(times):
        task, action, call, readings = _send(draft)
        draft.store(readings)
        draft.answered(call, "not_applied", "http_429", "too many requests")
        draft.settle(action, "PLANNED", code="http_429", final=False)
        draft.record("action.not_applied", draft.about(action, call) | {"code": "http_429"}, effects_open=-1)
        draft.again(task, min(60, 5 * 2**number) * (1 + 0.1 * draft.rng.random()), "http_429", "too many requests")


def refuse(draft: PlannedDraft, reason: str, code: str, *, answer: str = "refused") -> None:
    """The system says no, or never took it."""
    task, action, call, readings = _send(draft)
    draft.store(readings)
    draft.answered(call, answer, code)
    draft.settle(action, "REFUSED", code=code)
    facts = owned(draft.about(action, call) | {"code": code}, action["system"])
    draft._add({"effects_open": -1})
    draft.move(Event.EFFECT_REFUSED, facts, sets={"reason": reason})
    draft.end(task)


def find_changed(draft: PlannedDraft, *, begun: bool = False) -> None:
    """Read again right before the effect, the facts are others: nothing is sent."""
    task = next(row for row in reversed(draft.rows[Task]) if row["stage"] == "execute" and row["status"] == "due")
    draft.begin(task)
    action = _action_of(draft, task)
    draft.world["subscription"] |= {"status": "active", "activated_at": draft.at.isoformat()}
    readings = draft.read(["payment", "customer", "subscription"])
    draft.tick()
    draft.store(readings)
    draft.cancel_planned()
    draft.returns += 1
    facts = draft.about(action) | {"changed": {"subscription.status": {"then": "inactive", "now": "active"}}}
    if begun:
        draft.move(Event.PARTLY_DONE, facts, sets={"reason": "partly_done"})
    else:
        draft.move(Event.FACTS_CHANGED, facts)
    draft.end(task)


def find_drift(draft: PlannedDraft) -> None:
    """The regular comparison finds that the outside says something else now."""
    draft.at = max(draft.at, draft.frame.until - timedelta(seconds=10))
    action = next(row for row in draft.rows[Action] if row["kind"] == "effect")
    differences = {"subscription.status": {"confirmed": "active", "now": "inactive"}}
    facts = {"action": action["public_id"], "differences": differences}
    draft.record("drift.found", owned(facts, action["system"]))
    draft.rows[DriftFinding].append(
        {
            "run_id": draft.frame.drift_run,
            "action_id": action["id"],
            "differences": json.dumps(differences),
            "is_new": True,
            "at": draft.at,
        }
    )


# Notices --------------------------------------------------------------------------------------------------------------


def begin_notice(draft: PlannedDraft) -> tuple[Row, Row, Row]:
    """(task, action, call) of the next message, sent."""
    task = next(row for row in draft.rows[Task] if row["stage"] == "notify" and row["status"] == "due")
    draft.wait(0.02, 2)
    draft.begin(task)
    action = _action_of(draft, task)
    return task, action, draft.begin_call(task, action, purpose="notice")


def notify(draft: PlannedDraft, event: Event | None, *, not_applied: int = 0) -> None:
    """Every message of the plan is accepted; the last one fires `event`, if any."""
    count = len(draft.specs("notice"))
    for number in range(count):
        task, action, call = begin_notice(draft)
        for again in range(not_applied):
            draft.wait(0.05, 0.5)
            draft.answered(call, "not_applied", "http_503", TEXTS["http_503"])
            draft.settle(action, "PLANNED", code="http_503", final=False)
            draft.record("action.not_applied", draft.about(action, call) | {"code": "http_503"})
            draft.again(task, 5.0 * 2**again, "http_503", TEXTS["http_503"])
            task, action, call = begin_notice(draft)
        draft.wait(0.05, 0.5)
        draft.answered(call, "confirmed", external_id=f"m-{draft.number}-{number}")
        action["external_id"] = f"m-{draft.number}-{number}"
        draft.settle(action, "CONFIRMED", confirmed_by="receipt")
        facts = draft.about(action, call) | {"status": "CONFIRMED", "code": ""}
        if event is None or number + 1 < count:
            draft.record("action.confirmed", facts)
        else:
            draft.move(event, facts, actor=SYSTEM)
        draft.end(task)
