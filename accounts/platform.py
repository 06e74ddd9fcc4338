"""Giving and taking the role above organisations. Nobody in the console may: who runs the machines does, by command."""

from __future__ import annotations

from django.db import transaction

from audit.services import PLATFORM, record_organisation_event

from .gate import hold_exclusive
from .models import Person, PlatformOperator
from .principal import Actor


@transaction.atomic
def grant_platform(*, person: Person, by: Actor, reason: str, os_account: str = "") -> bool:
    """Whether the role is new to the person."""
    hold_exclusive()
    _found, is_new = PlatformOperator.objects.get_or_create(person=person)
    if is_new:
        _record("platform.granted", person, by, reason, os_account)
    return is_new


@transaction.atomic
def revoke_platform(*, person: Person, by: Actor, reason: str, os_account: str = "") -> bool:
    """Whether the person had the role."""
    hold_exclusive()
    gone, _ = PlatformOperator.objects.filter(person=person).delete()
    if gone:
        _record("platform.revoked", person, by, reason, os_account)
    return bool(gone)


def _record(kind: str, person: Person, by: Actor, reason: str, os_account: str) -> None:
    facts = {"person": person.pk, "reason": reason} | ({"os_account": os_account} if os_account else {})
    record_organisation_event(PLATFORM, kind, actor=by, facts=facts)
