"""Setting up who is told of an organisation's cases; each secret is shown once.

Callers check that `by` may do it (`access.require(…, Right.ADMINISTER)`); every change is recorded in its transaction.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import CharField, Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Cast, Now

from accounts.models import Organisation
from accounts.principal import Actor
from audit.services import record_organisation_event
from caseflow.domain.errors import BadInput
from caseflow.domain.webhooks import written
from caseflow.production import is_of_this_machine
from cases.bell import ring_after_commit
from cases.models import Schedule, Task
from cases.models.task import LIVE, SLOW
from cases.personal import unwrap, wrap
from cases.rows import database_now
from integrations.outgoing import AllowList, is_public, place_of
from integrations.registry import outgoing

from .hook_models import Hook, HookDelivery, HookReading, HookSecret

STAGE = "tell_hook"
SCHEDULE = "hooks.spread"  #: reading the history for hooks
HELPDESK = "helpdesk"  #: the adapter that writes a line into a ticket, where an installation has one
WRITE = "write_status"  #: its operation

SECRET_SIZE = 32  #: bytes
LONGEST_OVERLAP = timedelta(days=30)  #: for which an old secret may go on beside the new one
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LONGEST_URL = 500  #: characters
MOST_HOOKS = 20  #: of an organisation: each change of a case is told to every one


@dataclass(frozen=True, slots=True)
class Wanted:
    """A new hook in the administrator's words; `url` of a webhook, `source` and `language` of a line in the ticket."""

    name: str
    channel: str
    kinds: Collection[str]
    url: str = ""
    source: str = ""
    language: str = "en"


@transaction.atomic
def create_hook(*, organisation: Organisation, wanted: Wanted, by: Actor) -> tuple[Hook, str]:
    """The hook, and the secret of a webhook as text, which is known here and now only. Raises BadInput."""
    _check(organisation, wanted)
    kinds = [kind for kind in Hook.Kind.values if kind in wanted.kinds]
    webhook = wanted.channel == Hook.Channel.WEBHOOK
    try:
        with transaction.atomic():
            hook = Hook.objects.create(
                organisation=organisation,
                name=wanted.name,
                channel=wanted.channel,
                kinds=kinds,
                url=wanted.url if webhook else "",
                source="" if webhook else wanted.source,
                language=wanted.language,
                from_us=_now_us(),
            )
    except IntegrityError:
        raise BadInput(code="name_taken", path="$.name", problem="this name is used already") from None
    _keep_reading(hook)
    # The host and no more: an address may hold what only its owner should know.
    host = urlsplit(hook.url).hostname or ""
    _record(hook, "hook.created", by, name=wanted.name, channel=wanted.channel, kinds=kinds, host=host)
    return hook, _add_secret(hook) if webhook else ""


@transaction.atomic
def rotate_secret(*, hook: Hook, overlap: timedelta, by: Actor) -> str:
    """A new secret as text; the present ones go on signing beside it for `overlap`. Raises BadInput."""
    if not timedelta(0) <= overlap <= LONGEST_OVERLAP:
        raise BadInput(code="out_of_range", path="$.overlap", problem="0 to 30 days")
    if hook.channel != Hook.Channel.WEBHOOK:
        raise BadInput(code="unknown_channel", path="$.channel", problem="only webhooks are signed")
    Hook.objects.select_for_update().get(pk=hook.pk)
    end = Now() + overlap
    hook.secrets.filter(Q(expires_at=None) | Q(expires_at__gt=end)).update(expires_at=end)
    _record(hook, "hook.rotated", by, overlap=int(overlap.total_seconds()))
    return _add_secret(hook)


@transaction.atomic
def set_active(*, hook: Hook, is_active: bool, by: Actor, why: str = "") -> bool:
    """Whether that was a change. What waits for a hook that is off is skipped; of that time it is told nothing."""
    more = {"from_us": _now_us()} if is_active else {}
    changed = Hook.objects.filter(pk=hook.pk).exclude(is_active=is_active).update(is_active=is_active, **more)
    if changed:
        _keep_reading(hook)
        facts = {"why": why} if why else {}
        _record(hook, "hook.switched_on" if is_active else "hook.switched_off", by, **facts)
    return bool(changed)


@transaction.atomic
def send_again(*, delivery: HookDelivery, by: Actor) -> bool:
    """Try once more what was given up, under the same id; whether it was. Callers have looked whether `by` may."""
    # Locked first: who waits here for somebody who does the same has to see the task that they made.
    HookDelivery.objects.select_for_update(no_key=True).get(pk=delivery.pk)
    found = given_up(HookDelivery.objects.filter(pk=delivery.pk)).first()
    if found is None:
        return False
    HookDelivery.objects.filter(pk=found.pk).update(status=HookDelivery.Status.WAITING, settled_at=None)
    now = database_now()
    Task.objects.create(
        organisation_key=found.hook.organisation_id,
        stage=STAGE,
        subject=str(found.pk),
        queue=SLOW,
        available_at=now,
        created_at=now,
    )
    _record(found.hook, "hook.sent_again", by, case=found.case.public_id, version=found.version)
    ring_after_commit()
    return True


def given_up(rows: QuerySet[HookDelivery]) -> QuerySet[HookDelivery]:
    """Those that nothing will try any more: also where the task itself was exhausted, by workers that were lost."""
    alive = live_tasks()
    lost = Q(status=HookDelivery.Status.WAITING) & ~Exists(alive)
    return rows.select_related("hook", "case").filter(Q(status=HookDelivery.Status.FAILED) | lost)


def live_tasks() -> QuerySet[Task]:
    """The tasks that deliver the row of the outer query."""
    return Task.objects.filter(
        case=None,
        organisation_key=OuterRef("hook__organisation_id"),
        stage=STAGE,
        subject=Cast(OuterRef("pk"), CharField()),
        generation=0,
        status__in=LIVE,
    )


def secrets_of(hook: Hook) -> list[bytes]:
    """The secrets that sign now, newest first; one query."""
    rows = hook.secrets.filter(Q(expires_at=None) | Q(expires_at__gt=Now())).order_by("-id")
    return [unwrap(wrapped, hook.public_id) for wrapped in rows.values_list("wrapped", flat=True)]


def check_url(url: str) -> None:
    """Raises BadInput(path="$.url") for an address that nothing is ever sent to.

    A name is judged by what it is here; what it leads to is judged again at each connection.
    """
    parts = urlsplit(url)
    if len(url) > LONGEST_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise BadInput(code="bad_address", path="$.url", problem=f"at most {LONGEST_URL} plain characters")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.fragment:
        raise BadInput(code="bad_address", path="$.url", problem="an address such as https://desk.example.org/hook")
    at_home = is_of_this_machine(parts.hostname)
    if parts.scheme != "https" and not (at_home and settings.CASEFLOW_HOOK_PRIVATE):
        raise BadInput(code="not_https", path="$.url", problem="only https is sent to")
    if not settings.CASEFLOW_HOOK_PRIVATE and (at_home or _is_private_number(parts.hostname)):
        raise BadInput(code="not_public", path="$.url", problem="the address is none of the public internet")
    try:
        allowed_hosts(url).require(*place_of(url))
    except ValueError:
        raise BadInput(code="host_not_allowed", path="$.url", problem="the host is not on the list") from None


def allowed_hosts(url: str) -> AllowList:
    """Where a webhook may go. Raises ValueError for a setting or an address that names no host."""
    if "*" in settings.CASEFLOW_HOOK_HOSTS:
        return AllowList.of_address(url)
    return outgoing() | AllowList(settings.CASEFLOW_HOOK_HOSTS)


def _is_private_number(host: str) -> bool:
    return (host.replace(".", "").isdigit() or ":" in host) and not is_public(host)


def _check(organisation: Organisation, wanted: Wanted) -> None:
    if not wanted.kinds or not set(wanted.kinds) <= set(Hook.Kind.values):
        raise BadInput(code="unknown_change", path="$.kinds", problem="at least one of the known kinds")
    match wanted.channel:
        case Hook.Channel.WEBHOOK:
            check_url(wanted.url)
        case Hook.Channel.TICKET:
            if HELPDESK not in settings.ADAPTERS:
                raise BadInput(code="unknown_system", path="$.channel", problem="there is no adapter helpdesk")
            if not wanted.source:
                raise BadInput(code="missing", path="$.source", problem="the source of its tickets is needed")
            if wanted.language not in dict(settings.LANGUAGES):
                raise BadInput(code="unknown_language", path="$.language", problem="no language of this installation")
        case _:
            raise BadInput(code="unknown_channel", path="$.channel", problem="webhook or ticket")
    Organisation.objects.select_for_update().get(pk=organisation.pk)
    if Hook.objects.filter(organisation=organisation, is_active=True).count() >= MOST_HOOKS:
        raise BadInput(code="too_many_hooks", path="$", problem=f"more than {MOST_HOOKS} at work")


def _keep_reading(hook: Hook) -> None:
    """The history is read while anybody listens, and no longer."""
    HookReading.objects.get_or_create(organisation_id=hook.organisation_id, defaults={"safe_us": _now_us()})
    if Hook.objects.filter(is_active=True).exists():
        Schedule.objects.filter(name=SCHEDULE, is_active=False).update(is_active=True, next_at=database_now())
    else:
        Schedule.objects.filter(name=SCHEDULE).update(is_active=False)


def _now_us() -> int:
    return (database_now() - _EPOCH) // timedelta(microseconds=1)


def _add_secret(hook: Hook) -> str:
    secret = secrets.token_bytes(SECRET_SIZE)
    HookSecret.objects.create(hook=hook, wrapped=wrap(secret, hook.public_id))
    return written(secret)


def _record(hook: Hook, kind: str, by: Actor, **facts: object) -> None:
    record_organisation_event(hook.organisation_id, kind, actor=by, facts={"hook": hook.public_id, **facts})
