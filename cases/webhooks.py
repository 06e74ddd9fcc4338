"""An outside system rings: something about one of its objects changed. A doorbell only (design §11).

What the payload says of the world is never a fact. It names an object; every case about that object is read again, by
the same reading as ever. An event comes once by its id, whatever else is in it; what is refused is put on record.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import Max, Q
from django.db.models.functions import Now

from accounts.limits import is_within
from accounts.principal import SYSTEM
from audit.models import AuditEvent
from audit.services import record_access
from caseflow.domain.canonical import parse_json
from caseflow.domain.errors import BadInput, WebhookLate, WebhookRefused
from caseflow.domain.lifecycle import CLOSED, State
from caseflow.domain.webhooks import EVENT_ID, Delivery, Refusal, refusal_of

from .advancing import record_event
from .bell import ring_after_commit
from .hastening import hasten
from .models import Case, IntakeRevision, WebhookSource
from .personal import unwrap
from .processes import all_processes
from .publishing import NewTask, publish
from .rows import CaseRow, lock_case

MAX_BYTES = 64 * 1024  #: of one delivery
MOST_EVENTS = 100  #: in one delivery
MOST_CASES = 200  #: about the objects of one delivery; more are read at their own times
MAX_KIND, MAX_SUBJECT = 64, 200  #: characters

_ONCE = """
INSERT INTO cases_webhookevent (source_id, event_id, kind, subject, cases, at)
SELECT %(source)s, e.id, e.kind, e.subject, e.cases, clock_timestamp()
FROM jsonb_to_recordset(%(events)s::jsonb) AS e(id text, kind text, subject text, cases int)
ON CONFLICT (source_id, event_id) DO NOTHING
RETURNING event_id
"""
_NOBODYS_SECRET = bytes(32)  #: compared where there is no source, so that the time taken is the same


@dataclass(frozen=True, slots=True)
class Rung:
    """One event of a delivery: its id, what the sender calls it, and the outside object it names."""

    id: str
    kind: str
    subject: str


@dataclass(frozen=True, slots=True)
class Received:
    """How many events were new, and how many cases they concerned."""

    events: int
    cases: int


def receive(*, source_id: str, delivery: Delivery, now: datetime) -> Received:
    """Believe a delivery or refuse it; `now` is the server's moment.

    Raises WebhookRefused (the same for an unknown source and a wrong signature), WebhookLate, TooLarge, and BadInput
    for a signed body that names no object.
    """
    source = WebhookSource.objects.filter(public_id=source_id, is_active=True).first() if _sane(source_id) else None
    secrets = secrets_of(source) if source else []
    reason = refusal_of(delivery, secrets or [_NOBODYS_SECRET], now)
    if source is None or not secrets:
        raise WebhookRefused
    if reason is not None:
        _record_refusal(source, reason, delivery)
        raise WebhookRefused if reason in ("unsigned", "bad_signature") else WebhookLate
    return ring(source, events_of(parse_json(delivery.body, max_bytes=MAX_BYTES), delivery.id))


@transaction.atomic
def ring(source: WebhookSource, events: Sequence[Rung]) -> Received:
    """Have the cases about these objects read again. What is rung a second time does nothing."""
    concerned = cases_about(source, {event.subject for event in events})
    fresh_ids = _store(source, events, concerned)
    fresh = {event.id: event for event in events if event.id in fresh_ids}
    by_case: dict[int, list[Rung]] = defaultdict(list)
    for event in fresh.values():
        for case_id in concerned[event.subject]:
            by_case[case_id].append(event)
    # Case by case in one order: a statement for all could not chain each history. There are one or two of them.
    for case_id in sorted(by_case):
        _look_again(source, lock_case(case_id), by_case[case_id])
    if by_case:
        ring_after_commit()
    return Received(len(fresh), len(by_case))


def secrets_of(source: WebhookSource) -> list[bytes]:
    """The secrets that are valid now, newest first; one query."""
    rows = source.secrets.filter(Q(expires_at=None) | Q(expires_at__gt=Now())).order_by("-id")
    return [unwrap(wrapped, source.public_id) for wrapped in rows.values_list("wrapped", flat=True)]


def events_of(body: Any, delivery_id: str) -> list[Rung]:
    """`{"type": …, "data": {"id": …}}`, whose id is the delivery's, or a list of those with an `id` each.

    Raises BadInput(code, path, problem).
    """
    if isinstance(body, list):
        if len(body) > MOST_EVENTS:
            raise BadInput(code="too_long", path="$", problem=f"more than {MOST_EVENTS} events")
        return [
            _event(one, _text(_object(one, f"$[{place}]"), "id", f"$[{place}]", 128), f"$[{place}]")
            for place, one in enumerate(body)
        ]
    return [_event(body, delivery_id, "$")]


def cases_about(source: WebhookSource, subjects: Iterable[str]) -> dict[str, list[int]]:
    """The cases of the source's organisation whose newest intake names one of the objects, by object; one query."""
    wanted = sorted(set(subjects))
    fields = {
        fact.subject for process in all_processes().values() for fact in process.facts if fact.system == source.system
    }
    found: dict[str, list[int]] = {subject: [] for subject in wanted}
    named = Q()
    for field in sorted(fields):
        for subject in wanted:
            named |= Q(body__contains={field: subject})
    if not named:
        return found
    newest = Max("case__intake_revisions__number")
    rows = (
        IntakeRevision.objects.filter(named, case__organisation=source.organisation_id)
        .annotate(newest=newest)
        .filter(number=newest)
        .order_by("-case_id")
        .values_list("case_id", "body")[:MOST_CASES]
    )
    for case_id, body in rows:
        for subject in {str(body.get(field)) for field in fields} & found.keys():
            found[subject].append(case_id)
    return found


def rung_after_close(case: Case) -> bool:
    """Whether an outside system spoke of the case after it was closed: nothing moved, and somebody should look."""
    if case.closed_at is None:
        return False
    return AuditEvent.objects.filter(case_id=case.pk, kind="webhook.after_close").exists()


def _look_again(source: WebhookSource, case: CaseRow, events: list[Rung]) -> None:
    facts = {"source": source.public_id, "system": source.system, "rung": [event.id for event in events]}
    if case.state in CLOSED:
        record_event(case, "webhook.after_close", actor=SYSTEM, facts=facts)
        return
    record_event(case, "webhook.received", actor=SYSTEM, facts=facts)
    if case.state is State.WAITING_DATA:
        # What is waited for may have come: the table's own way from here to a new reading.
        if not hasten(case, "recheck", ""):
            publish(case, [NewTask("recheck")])
    elif case.state is State.CHECKING:
        # A reading lives or has just been made; one that waits for its next try need not wait.
        hasten(case, "observe", "")
    elif case.state is not State.RECEIVED:
        publish(case, [NewTask("look")])


def _store(source: WebhookSource, events: Sequence[Rung], concerned: Mapping[str, list[int]]) -> set[str]:
    """The ids that are new. Two deliveries of one id at once: the second waits here for the first."""
    rows = [
        {"id": event.id, "kind": event.kind, "subject": event.subject, "cases": len(concerned[event.subject])}
        for event in events
    ]
    with connection.cursor() as cursor:
        cursor.execute(_ONCE, {"source": source.pk, "events": json.dumps(rows)})
        return {event_id for (event_id,) in cursor.fetchall()}


def _record_refusal(source: WebhookSource, reason: Refusal, delivery: Delivery) -> None:
    # A flood of wrong signatures must not fill the history: some of a minute are enough to be seen.
    if is_within("webhook_refusal", source.public_id):
        named = delivery.id if EVENT_ID.fullmatch(delivery.id) else ""
        facts = {"source": source.public_id, "reason": reason, "event": named}
        record_access(source.organisation_id, "webhook.refused", actor=SYSTEM, facts=facts)


def _sane(source_id: str) -> bool:
    return source_id.isascii() and source_id.isprintable()


def _event(body: Any, event_id: str, path: str) -> Rung:
    told = _object(body, path)
    if not EVENT_ID.fullmatch(event_id):
        raise BadInput(code="wrong_format", path=f"{path}.id", problem="1 to 128 letters, digits and _ : -")
    about = _object(told.get("data"), f"{path}.data")
    return Rung(event_id, _text(told, "type", path, MAX_KIND), _text(about, "id", f"{path}.data", MAX_SUBJECT))


def _object(value: Any, path: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise BadInput(code="wrong_type", path=path, problem="an object is needed")
    return value


def _text(value: Mapping[str, Any], name: str, path: str, longest: int) -> str:
    text = value.get(name)
    if not isinstance(text, str) or not text:
        raise BadInput(code="missing", path=f"{path}.{name}", problem="a text is needed")
    if len(text) > longest:
        raise BadInput(code="too_long", path=f"{path}.{name}", problem=f"longer than {longest} characters")
    return text
