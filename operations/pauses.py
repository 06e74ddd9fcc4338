"""Reading pauses for both faces: who sees which, which hold up a case, and whether this installation sends at all."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.db.models import Case as CaseWhen
from django.db.models import Exists, IntegerField, Q, QuerySet, Value, When

from accounts import access
from accounts.principal import Principal
from caseflow.domain.errors import NotFound
from caseflow.domain.identifiers import PUBLIC_ID
from caseflow.domain.roles import PLATFORM, Right
from cases.models import Case, Installation, Pause
from cases.pausing import CLOCK, live_pauses

#: The most severe first, as the banner shows one (console.md §6).
SEVERITY = [Pause.Kind.ALL, Pause.Kind.ORGANISATION, Pause.Kind.SYSTEM, Pause.Kind.PROCESS]


def in_sight(pauses: QuerySet[Pause], principal: Principal) -> QuerySet[Pause]:
    """Those of organisations whose cases `principal` sees and those of the whole platform; nothing more in the
    statement than subqueries. A platform operator sees all."""
    seen = access.organisations_with(principal, Right.SEE_CASES)
    operator = access.platform_operators(principal)
    return pauses.filter(
        Q(organisation__in=seen) | Q(Exists(seen), organisation=None) | Q(Exists(operator))
    ).select_related("organisation", "by", "ended_by")


def list_pauses(principal: Principal, *, live: bool) -> QuerySet[Pause]:
    """Live ones, the most severe first, or those that are over, the newest first; one query."""
    if live:
        return in_sight(by_severity(live_pauses()), principal)
    over = Pause.objects.filter(Q(ended_at__isnull=False) | Q(until__lte=CLOCK))
    return in_sight(over, principal).order_by("-at", "-id")


def by_severity(pauses: QuerySet[Pause]) -> QuerySet[Pause]:
    places = [When(kind=kind, then=Value(place)) for place, kind in enumerate(SEVERITY)]
    return pauses.order_by(CaseWhen(*places, output_field=IntegerField()), "organisation_id", "at", "id")


def get_pause(principal: Principal, public_id: str) -> Pause:
    """One pause in sight; one query. Raises NotFound."""
    if not PUBLIC_ID.fullmatch(public_id):
        raise NotFound
    found = in_sight(Pause.objects.filter(public_id=public_id), principal).first()
    if found is None:
        raise NotFound
    return found


def pauses_of_case(case: Case, systems: Iterable[str] = ()) -> list[Pause]:
    """Live pauses that this case waits for; `systems` are those it still has something to send to. One query."""
    mine = Q(kind__in=[Pause.Kind.ALL, Pause.Kind.ORGANISATION]) | Q(kind=Pause.Kind.PROCESS, key=case.process)
    mine |= Q(kind=Pause.Kind.SYSTEM, key__in=list(systems))
    here = Q(organisation=None) | Q(organisation=case.organisation_id)
    return list(by_severity(live_pauses().filter(mine, here)).select_related("organisation", "by"))


def sends_nothing() -> str:
    """Why this installation sends nothing at all: restored, elsewhere, or nothing where it does send. One query."""
    home = Installation.objects.first()
    if home is None or home.installation_id != settings.CASEFLOW_INSTALLATION_ID:
        return "elsewhere"
    return "restored" if home.restored else ""


__all__ = ["PLATFORM", "by_severity", "get_pause", "in_sight", "list_pauses", "pauses_of_case", "sends_nothing"]
