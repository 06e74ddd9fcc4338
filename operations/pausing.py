"""Persons pause and resume: who may, what is refused, and what is put on record of a refusal (design §9).

Who may order a recovery pauses a process within their organisation. A platform operator pauses a process everywhere, a
system, an organisation, everything.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction

from accounts import access, gate
from accounts.models import Organisation, Person
from accounts.principal import actor_of_person
from audit.services import PLATFORM, record_access
from caseflow.domain.errors import BadInput, NotFound, NotPermitted
from caseflow.domain.roles import PLATFORM as OPERATE_PLATFORM
from caseflow.domain.roles import Right
from cases.models import Pause
from cases.pausing import CAP_REACHED, Paused, end_pause, set_pause
from cases.processes import all_processes
from cases.rows import database_now

MAX_REASON = 500  #: characters
LONGEST = timedelta(days=366)  #: that a pause may end by itself; without an end it lasts until somebody resumes

#: Names that a pause of this kind may carry; the other kinds carry none.
NAMED = {Pause.Kind.PROCESS: "process", Pause.Kind.SYSTEM: "system"}


def pause(
    *,
    kind: str,
    name: str = "",
    organisation: Organisation | None = None,
    by: Person,
    reason: str,
    until: datetime | None = None,
) -> Paused:
    """No call that this concerns begins after it has returned; what waits is kept, and nothing of it is counted.

    `kind` is process, system, organisation or all; `name` a process's slug or a system's name. With an organisation it
    concerns only that one. The same again answers with the pause that stands; a later end prolongs it.

    Raises BadInput, and NotPermitted, which is put on record.
    """
    kind, name = checked_target(kind, name, organisation)
    reason = checked_reason(reason)
    organisation_id = organisation.pk if organisation else None
    try:
        with transaction.atomic():
            # Rights change behind the gate, too: who lost theirs a moment ago pauses nothing any more.
            gate.hold_exclusive()
            require(by, kind, organisation_id)
            checked_end(until)
            return set_pause(
                kind=kind,
                key=name,
                organisation_id=organisation_id,
                reason=reason,
                until=until,
                by=actor_of_person(by),
            )
    except NotPermitted as error:
        record_refusal(by, organisation_id, error, of=kind, name=name)
        raise


def resume(*, pause: Pause, by: Person, reason: str) -> bool:
    """Whether it was paused until now; what waited goes on at once. Raises BadInput, and NotPermitted, on record."""
    reason = checked_reason(reason)
    try:
        with transaction.atomic():
            gate.hold_exclusive()
            require(by, Pause.Kind(pause.kind), pause.organisation_id)
            return end_pause(pause_id=pause.pk, reason=reason, by=actor_of_person(by))
    except NotPermitted as error:
        record_refusal(by, pause.organisation_id, error, of=pause.kind, name=pause.key)
        raise


def get_organisation(person: Person, slug: str) -> Organisation:
    """Where `person` has any right at all; a platform operator knows every organisation by name. Raises NotFound."""
    found = Organisation.objects.filter(slug=slug).first() if slug.isascii() and slug.isprintable() else None
    if found is None or not (access.rights_in(person, found.pk) or access.is_platform_operator(person)):
        raise NotFound
    return found


def require(person: Person, kind: Pause.Kind, organisation_id: int | None) -> None:
    """Raises NotPermitted unless `person` may set and end such a pause."""
    if access.is_platform_operator(person):
        return
    if kind is Pause.Kind.PROCESS and organisation_id is not None:
        access.require(person, organisation_id, Right.RECOVER)
        return
    raise NotPermitted(right=OPERATE_PLATFORM)


def record_refusal(person: Person, organisation_id: int | None, error: NotPermitted, *, of: str, name: str) -> None:
    """In a transaction of its own, after the refused one was rolled back."""
    facts = {"right": error.params["right"], "asked": "pause", "of": of, "name": name}
    record_access(organisation_id or PLATFORM, "access.refused", actor=actor_of_person(person), facts=facts)


def checked_target(kind: str, name: str, organisation: Organisation | None) -> tuple[Pause.Kind, str]:
    """What is to be stopped. Raises BadInput for what this installation does not have."""
    if kind not in Pause.Kind.values:
        raise BadInput(code="unknown_kind", path="$.kind", problem=f"one of {', '.join(Pause.Kind.values)} is needed")
    found = Pause.Kind(kind)
    if found is Pause.Kind.PROCESS and name not in process_slugs():
        raise BadInput(code="unknown_process", path="$.name", problem="there is no such process")
    if found is Pause.Kind.SYSTEM and name not in settings.ADAPTERS:
        raise BadInput(code="unknown_system", path="$.name", problem="there is no such system")
    if found not in NAMED and name:
        raise BadInput(code="not_used", path="$.name", problem="only a process or a system has a name here")
    if found is Pause.Kind.ORGANISATION and organisation is None:
        raise BadInput(code="empty", path="$.organisation", problem="which organisation is to be paused?")
    if found is Pause.Kind.ALL and organisation is not None:
        raise BadInput(code="not_used", path="$.organisation", problem="everything is paused for everybody")
    return found, name


def checked_reason(reason: Any) -> str:
    """In words. Raises BadInput; the code of what pauses by itself is no reason of a person."""
    if not isinstance(reason, str) or not reason.strip() or reason.strip() == CAP_REACHED:
        raise BadInput(code="empty", path="$.reason", problem="history needs a reason")
    if len(reason) > MAX_REASON:
        raise BadInput(code="too_long", path="$.reason", problem=f"longer than {MAX_REASON} characters")
    if "\x00" in reason:
        raise BadInput(code="nul", path="$.reason", problem="a NUL character")
    return reason.strip()


def checked_end(until: datetime | None) -> None:
    """By the database's clock. Raises BadInput."""
    if until is None:
        return
    now = database_now()
    if until <= now:
        raise BadInput(code="past", path="$.until", problem="this moment is over")
    if until - now > LONGEST:
        raise BadInput(code="too_far", path="$.until", problem=f"more than {LONGEST.days} days away")


def process_slugs() -> list[str]:
    """What this installation can pause, in order."""
    return sorted({process.slug for process in all_processes().values()})
