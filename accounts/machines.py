"""The machines of an organisation: their tokens rotated and revoked, their owners, switched on and off.

Callers check that `by` may do it (`access.require(…, Right.ADMINISTER)`); every change is recorded in its transaction.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Case as CaseWhen
from django.db.models import DateTimeField, ExpressionWrapper, Prefetch, Q, QuerySet, Value, When
from django.db.models.functions import Now
from django.utils import timezone

from audit.services import record_organisation_event
from caseflow.domain.errors import BadInput
from caseflow.domain.roles import Right

from .models import Organisation, Person, ServiceAccount, ServiceToken
from .principal import Actor
from .services import create_service_account, issue_token

LONGEST_LIFE = timedelta(days=365)  #: of a token
LONGEST_OVERLAP = timedelta(days=30)  #: for which an old token may go on beside the new one


def list_machines(organisation: Organisation) -> QuerySet[ServiceAccount]:
    """By name, each with its owner and its tokens (newest first, `state` by the database's clock); two queries."""
    tokens = ServiceToken.objects.annotate(
        state=CaseWhen(
            When(revoked_at__isnull=False, then=Value("revoked")),
            When(expires_at__lte=Now(), then=Value("expired")),
            default=Value("valid"),
        )
    ).order_by("-id")
    rows = ServiceAccount.objects.filter(organisation=organisation).select_related("owner", "organisation")
    return rows.prefetch_related(Prefetch("tokens", queryset=tokens)).order_by("name")


@transaction.atomic
def create_machine(
    *, organisation: Organisation, name: str, owner: Person, rights: list[Right], life: timedelta, by: Actor
) -> tuple[ServiceAccount, str]:
    """The machine and the text of its first token, which is known here and now only. Raises BadInput."""
    _require_within(life, LONGEST_LIFE, "$.life")
    try:
        with transaction.atomic():
            account = create_service_account(organisation=organisation, name=name, owner=owner, rights=rights, by=by)
    except IntegrityError:
        raise BadInput(code="name_taken", path="$.name", problem="this name is used already") from None
    return account, issue_token(account=account, expires_at=timezone.now() + life, by=by)[1]


@transaction.atomic
def rotate_token(*, account: ServiceAccount, life: timedelta, overlap: timedelta, by: Actor) -> str:
    """The text of a new token; those valid now end after `overlap`, or at their own end if that is sooner."""
    _require_within(life, LONGEST_LIFE, "$.life")
    if not timedelta(0) <= overlap <= LONGEST_OVERLAP:
        raise BadInput(code="out_of_range", path="$.overlap", problem="0 to 30 days")
    ServiceAccount.objects.select_for_update().get(pk=account.pk)
    end = ExpressionWrapper(Now() + overlap, output_field=DateTimeField())
    live = ServiceToken.objects.filter(account=account, revoked_at=None)
    live.filter(Q(expires_at=None) | Q(expires_at__gt=end)).update(expires_at=end)
    _record(account, "token.rotated", by, overlap=int(overlap.total_seconds()))
    return issue_token(account=account, expires_at=timezone.now() + life, by=by)[1]


@transaction.atomic
def switch_machine(*, account: ServiceAccount, is_active: bool, by: Actor) -> bool:
    """Whether that was a change. While it is off none of its tokens is good."""
    changed = ServiceAccount.objects.filter(pk=account.pk).exclude(is_active=is_active).update(is_active=is_active)
    if changed:
        _record(account, "service_account.switched_on" if is_active else "service_account.switched_off", by)
    return bool(changed)


@transaction.atomic
def change_owner(*, account: ServiceAccount, owner: Person, by: Actor) -> bool:
    """Whether the owner is another one now. What the machine did before stays the former owner's doing."""
    changed = ServiceAccount.objects.filter(pk=account.pk).exclude(owner=owner).update(owner=owner)
    if changed:
        _record(account, "service_account.owner_changed", by, owner=owner.pk, former=account.owner_id)
    return bool(changed)


def _require_within(life: timedelta, longest: timedelta, path: str) -> None:
    if not timedelta(0) < life <= longest:
        raise BadInput(code="out_of_range", path=path, problem=f"up to {longest.days} days")


def _record(account: ServiceAccount, kind: str, by: Actor, **facts: Any) -> None:
    record_organisation_event(account.organisation_id, kind, actor=by, facts={"account": account.pk, **facts})
