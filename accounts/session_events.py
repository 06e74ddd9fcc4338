"""Who came, who left, who failed to: one event in the stream of each of the person's organisations.

Django and django-axes tell it by signals, which is the one place that both doors and every way out pass. A name that
is nobody's is not written down: people type passwords into the wrong field.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.http import HttpRequest
from django.utils import timezone

from audit.services import PLATFORM, record_organisation_event

from .addresses import client_address
from .models import OrganisationPersonRight, Person, RoleGroup
from .principal import SYSTEM, Actor, actor_of_person


def record_for_person(kind: str, person: Person, by: Actor | None, **facts: Any) -> None:
    """`by` the person themselves where nobody is named. Somebody without any role is the platform's business."""
    actor = by or actor_of_person(person)
    # One insert for each organisation: there are one or two.
    for organisation in _organisations_of(person) or [PLATFORM]:
        record_organisation_event(organisation, kind, actor=actor, facts={"person": person.pk, **facts})


def connect() -> None:
    """Called once, when the room is loaded."""
    from axes.signals import user_locked_out

    user_logged_in.connect(_signed_in, dispatch_uid="caseflow.signed_in")
    user_logged_out.connect(_signed_out, dispatch_uid="caseflow.signed_out")
    user_login_failed.connect(_failed, dispatch_uid="caseflow.failed")
    user_locked_out.connect(_locked_out, dispatch_uid="caseflow.locked_out")


def _signed_in(sender: Any, request: HttpRequest, user: Any, **_: Any) -> None:
    from .sessions import begin

    begin(request.session, timezone.now())
    if isinstance(user, Person):
        record_for_person("session.begun", user, None, address=client_address(request))


def _signed_out(sender: Any, request: HttpRequest, user: Any, **_: Any) -> None:
    if isinstance(user, Person):
        record_for_person("session.ended", user, None, reason="signed_out")


def _failed(sender: Any, credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any) -> None:
    if request is None or _was_locked_before(request):
        return
    _record_stranger("sign_in.failed", str(credentials.get("username") or ""), request)


def _locked_out(sender: Any, request: HttpRequest, username: str | None, **_: Any) -> None:
    # Sent at every try while the lock holds; the history needs its beginning.
    if not _was_locked_before(request):
        _record_stranger("sign_in.locked", username or "", request)


def _was_locked_before(request: HttpRequest) -> bool:
    """django-axes counts only a failure that it did not refuse beforehand."""
    counted = getattr(request, "axes_failures_since_start", None)
    return bool(getattr(request, "axes_locked_out", False)) and counted is None


def _record_stranger(kind: str, username: str, request: HttpRequest) -> None:
    """Nobody has proved anything: the system says it, of the person whose name was used."""
    facts = {"address": client_address(request)}
    person = Person.objects.filter(username=username).first() if username and "\x00" not in username else None
    if person is None:
        record_organisation_event(PLATFORM, kind, actor=SYSTEM, facts=facts | {"person": None})
    else:
        record_for_person(kind, person, SYSTEM, **facts)


def _organisations_of(person: Person) -> list[int]:
    by_role = RoleGroup.objects.filter(group__user=person.pk).values_list("organisation_id")
    direct = OrganisationPersonRight.objects.filter(user=person.pk).values_list("content_object_id")
    return sorted(pk for (pk,) in by_role.union(direct))
