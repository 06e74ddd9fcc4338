"""Setting up who may ring: a source per outside system and organisation, and its secrets, each shown once.

Callers check that `by` may do it (`access.require(…, Right.ADMINISTER)`); every change is recorded in its transaction.
"""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import Organisation
from accounts.principal import Actor
from audit.services import record_organisation_event
from caseflow.domain.errors import BadInput
from caseflow.domain.webhooks import written

from .models import WebhookSecret, WebhookSource
from .personal import wrap

SECRET_SIZE = 32  #: bytes
LONGEST_OVERLAP = timedelta(days=30)  #: for which an old secret may go on beside the new one


@transaction.atomic
def create_source(*, organisation: Organisation, name: str, system: str, by: Actor) -> tuple[WebhookSource, str]:
    """The source and its first secret as text, which is known here and now only. Raises BadInput."""
    if system not in settings.ADAPTERS:
        raise BadInput(code="unknown_system", path="$.system", problem="there is no such outside system")
    try:
        with transaction.atomic():
            source = WebhookSource.objects.create(organisation=organisation, name=name, system=system)
    except IntegrityError:
        raise BadInput(code="name_taken", path="$.name", problem="this name is used already") from None
    _record(source, "webhook_source.created", by, name=name, system=system)
    return source, _add_secret(source)


@transaction.atomic
def rotate_secret(*, source: WebhookSource, overlap: timedelta, by: Actor) -> str:
    """A new secret as text; the present ones end after `overlap`, so that the sender can be changed in between."""
    if not timedelta(0) <= overlap <= LONGEST_OVERLAP:
        raise BadInput(code="out_of_range", path="$.overlap", problem="0 to 30 days")
    WebhookSource.objects.select_for_update().get(pk=source.pk)
    end = Now() + overlap
    source.secrets.filter(Q(expires_at=None) | Q(expires_at__gt=end)).update(expires_at=end)
    _record(source, "webhook_source.rotated", by, overlap=int(overlap.total_seconds()))
    return _add_secret(source)


@transaction.atomic
def set_active(*, source: WebhookSource, is_active: bool, by: Actor) -> bool:
    """Whether that was a change. A source that is off is refused like one that never was."""
    changed = WebhookSource.objects.filter(pk=source.pk).exclude(is_active=is_active).update(is_active=is_active)
    if changed:
        _record(source, "webhook_source.switched_on" if is_active else "webhook_source.switched_off", by)
    return bool(changed)


def _add_secret(source: WebhookSource) -> str:
    secret = secrets.token_bytes(SECRET_SIZE)
    WebhookSecret.objects.create(source=source, wrapped=wrap(secret, source.public_id))
    return written(secret)


def _record(source: WebhookSource, kind: str, by: Actor, **facts: object) -> None:
    record_organisation_event(source.organisation_id, kind, actor=by, facts={"source": source.public_id, **facts})
