"""Telling one hook of one change of a case: signed, at least once, in order per case, and given up after a day.

What is told are ids, the state, the version and the outcome of the event in the history; never a word that somebody
wrote. A copied or restored installation tells nobody (design §5).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db.models import Exists
from django.utils import translation
from django.utils.translation import gettext

from accounts.principal import SYSTEM
from audit.services import record_organisation_event
from caseflow.domain import words
from caseflow.domain.canonical import canonical_bytes
from caseflow.domain.errors import BadInput
from caseflow.domain.outcomes import Confirmed, FaultKind, NotApplied, Refused, Unknown
from caseflow.domain.retry import GiveUp, RetryPolicy
from caseflow.domain.webhooks import signed
from cases.claiming import Lease
from cases.models.task import SLOW
from cases.rows import database_now
from cases.settling import Fault, Settlement, settlement
from cases.stages import Stage, register
from integrations.answers import retry_after
from integrations.http import HttpClient, NoAnswer, NotSent
from integrations.registry import UnknownAdapter, get_adapter

from . import hooks
from .hook_models import Hook, HookDelivery
from .installing import installation_stand

#: 10 s, 20 s, … an hour: about a day in all.
POLICY = RetryPolicy(
    base=timedelta(seconds=10), cap=timedelta(hours=1), limit=30, deadline=timedelta(days=1), infrastructure_limit=20
)
WITHIN = timedelta(seconds=10)  #: whole call
HELD_UP = timedelta(seconds=15)  #: until an installation that sends nothing is looked at again
IN_LINE = timedelta(seconds=1)  #: at least, until an earlier change of the same case was told
LONGEST_LINE = timedelta(minutes=5)

rng = Random()  # noqa: S311  # jitter, no secret


@dataclass(frozen=True, slots=True)
class Told:
    """What came of one try: it arrived, or why not."""

    arrived: bool
    answer: int | None = None  #: HTTP status
    code: str = ""
    kind: FaultKind = FaultKind.TRANSIENT
    retry_after: timedelta | None = None

    @property
    def gone(self) -> bool:
        """The receiver said that nobody is there any more (Standard Webhooks: 410)."""
        return self.answer == 410


def tell_hook(lease: Lease) -> Lease | None:
    """One try at one delivery."""
    delivery = (
        HookDelivery.objects.select_related("hook__organisation", "case", "event").filter(pk=int(lease.subject)).first()
    )
    if delivery is None or delivery.status in (HookDelivery.Status.SENT, HookDelivery.Status.SKIPPED):
        with settlement(lease) as settling:
            pass
        return settling.next_lease
    hook = delivery.hook
    if not hook.is_active or (hook.source and hook.source != delivery.case.source):
        return _settle(lease, delivery, HookDelivery.Status.SKIPPED, Told(False))
    if installation_stand().held:
        return _later(lease, HELD_UP, "installation")
    if (wait := _line_before(delivery)) is not None:
        return _later(lease, wait, "in_line")
    told = send_webhook(delivery) if hook.channel == Hook.Channel.WEBHOOK else write_status(delivery)
    if told.arrived:
        return _settle(lease, delivery, HookDelivery.Status.SENT, told)
    with settlement(lease) as settling:
        _failed(settling, delivery, told)
    return settling.next_lease


def send_webhook(delivery: HookDelivery) -> Told:
    """One signed request to the hook's address, which is judged once more: a setting may have changed."""
    hook, body = delivery.hook, body_of(delivery)
    parts = urlsplit(hook.url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    request = signed(hooks.secrets_of(hook), id=message_id(delivery), timestamp=int(time.time()), body=body)
    headers = {
        "Content-Type": "application/json",
        "webhook-id": request.id,
        "webhook-timestamp": request.timestamp,
        "webhook-signature": request.signatures,
    }
    try:
        hooks.check_url(hook.url)
        client = HttpClient(
            f"{parts.scheme}://{parts.netloc}",
            allowed=hooks.allowed_hosts(hook.url),
            public_only=not settings.CASEFLOW_HOOK_PRIVATE,
        )
        with closing(client):
            answer = client.send("POST", path, headers, body, within=WITHIN)
    except (NotSent, NoAnswer) as failure:
        return Told(False, code=failure.code)
    except BadInput as error:
        return Told(False, code=error.code)
    if 200 <= answer.status < 300:
        return Told(True, answer.status)
    kind = FaultKind.PERMANENT if answer.status == 410 else FaultKind.TRANSIENT
    return Told(False, answer.status, f"http_{answer.status}", kind, retry_after(answer))


def write_status(delivery: HookDelivery) -> Told:
    """One line into the ticket from which the case came, by the adapter `helpdesk`; repeated under the same key.

    A doubt is tried again as well: a line that stands there twice says nothing wrong.
    """
    case = delivery.case
    request = {
        "case": case.public_id,
        "state": delivery.event.to_state,
        "version": delivery.version,
        "text": status_line(delivery),
        "link": f"{settings.CASEFLOW_BASE_URL.rstrip('/')}/console/cases/{case.public_id}/",
    }
    key = f"{hooks.WRITE}:{delivery.hook.public_id}:{message_id(delivery)}"
    try:
        adapter = get_adapter(hooks.HELPDESK)
    except (UnknownAdapter, ImportError, ValueError):
        return Told(False, code="no_helpdesk")
    call_id = f"{delivery.hook.public_id}-{message_id(delivery)}".replace(":", "-")
    match adapter.perform(hooks.WRITE, case.external_id, request, key=key, call_id=call_id):
        case Confirmed():
            return Told(True)
        case Refused(code=code, kind=kind):
            return Told(False, code=code, kind=kind)
        case NotApplied(code=code, retry_after=wait):
            return Told(False, code=code, retry_after=wait)
        case Unknown(code=code):
            return Told(False, code=code)


def message_id(delivery: HookDelivery) -> str:
    """The same at every try, so that a receiver can tell what it knows already: case and version, "C-…:5"."""
    return f"{delivery.case.public_id}:{delivery.version}"


def body_of(delivery: HookDelivery) -> bytes:
    """The same bytes at every try: everything in it was settled by the event."""
    event, case = delivery.event, delivery.case
    told: Mapping[str, Any] = {
        "type": f"case.{delivery.kind}",
        "timestamp": event.at.isoformat(),
        "data": {
            "case": case.public_id,
            "organisation": delivery.hook.organisation.slug,
            "process": case.process,
            "source": case.source,
            "external_id": case.external_id,
            "version": delivery.version,
            "from": event.from_state,
            "state": event.to_state,
            "outcome": case.outcome if delivery.kind == Hook.Kind.CLOSED else "",
        },
    }
    return canonical_bytes(told)


def status_line(delivery: HookDelivery) -> str:
    """The state in words of the glossary; of a closed case its outcome, too."""
    word = words.STATES[delivery.event.to_state]
    outcome = words.OUTCOMES.get(delivery.case.outcome) if delivery.kind == Hook.Kind.CLOSED else None
    with translation.override(delivery.hook.language):
        return gettext(outcome.help) if outcome else f"{gettext(word.label)}. {gettext(word.help)}"


def _line_before(delivery: HookDelivery) -> timedelta | None:
    """How long to wait for an earlier change of the same case that is still to be told, or None."""
    before = (
        HookDelivery.objects.filter(
            Exists(hooks.live_tasks()),
            hook=delivery.hook_id,
            case=delivery.case_id,
            version__lt=delivery.version,
            status=HookDelivery.Status.WAITING,
        )
        .annotate(due=hooks.live_tasks().values("available_at")[:1])
        .order_by("-version")
        .first()
    )
    if before is None:
        return None
    return min(max(before.due - database_now(), timedelta(0)) + IN_LINE, LONGEST_LINE)


def _later(lease: Lease, delay: timedelta, code: str) -> Lease | None:
    with settlement(lease) as settling:
        settling.again(delay, give_back=True, fault=Fault(FaultKind.TRANSIENT, code))
    return settling.next_lease


def _settle(lease: Lease, delivery: HookDelivery, status: HookDelivery.Status, told: Told) -> Lease | None:
    with settlement(lease) as settling:
        _store(delivery, told, status=status, settled_at=settling.now)
        if status == HookDelivery.Status.SENT:
            Hook.objects.filter(pk=delivery.hook_id, failing_since__isnull=False).update(failing_since=None)
    return settling.next_lease


def _failed(settling: Settlement, delivery: HookDelivery, told: Told) -> None:
    """Try again by the policy, or give this one up; the next change of the case is told all the same."""
    fault = Fault(told.kind, told.code, retry_after=told.retry_after)
    verdict = POLICY.next(
        attempt=settling.lease.spent,
        kind=told.kind,
        now=settling.now,
        deadline_at=settling.lease.deadline_at,
        rng=rng,
        retry_after=told.retry_after,
    )
    if not isinstance(verdict, GiveUp):
        _store(delivery, told)
        settling.again(verdict.delay, fault=fault)
        return
    _store(delivery, told, status=HookDelivery.Status.FAILED, settled_at=settling.now)
    settling.exhaust(verdict.reason, fault)
    # On record once, however many follow: each of them stands in the hook's own list.
    if Hook.objects.filter(pk=delivery.hook_id, failing_since=None).update(failing_since=settling.now):
        facts = {"hook": delivery.hook.public_id, "case": delivery.case.public_id, "version": delivery.version}
        facts |= {"code": told.code, "why": verdict.reason}
        record_organisation_event(delivery.hook.organisation_id, "hook.failing", actor=SYSTEM, facts=facts)
    if told.gone:
        hooks.set_active(hook=delivery.hook, is_active=False, by=SYSTEM, why="gone")


def _store(delivery: HookDelivery, told: Told, **more: Any) -> None:
    HookDelivery.objects.filter(pk=delivery.pk).update(answer=told.answer, code=told.code[:64], **more)


register(Stage(hooks.STAGE, tell_hook, carries=False, queue=SLOW, policy=POLICY))
