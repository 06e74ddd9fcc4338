"""Reading pauses for both faces: who sees which, which hold up a case, and what holds up something now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Case as CaseWhen
from django.db.models import DateTimeField, Exists, IntegerField, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce

from accounts import access
from accounts.models import Person
from accounts.principal import Principal
from accounts.statements import Kept
from actions.models import HOLDING, Action
from approvals.models import Proposal
from approvals.snapshots import actions_of, opened
from caseflow.domain.errors import NotFound
from caseflow.domain.identifiers import PUBLIC_ID
from caseflow.domain.roles import Right
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


def unsettled_systems(plan: Proposal | None, actions: Iterable[Action]) -> set[str]:
    """Those that a case may still send something to; `plan` is its current one, `actions` all with a row. No query."""
    rows = {action.public_id: action for action in actions}
    held = {action.system for action in rows.values() if action.status in HOLDING}
    specs = actions_of(opened(plan.snapshot)) if plan is not None else []
    return held | {spec.system for spec in specs if spec.id not in rows}


@dataclass(frozen=True, slots=True)
class Standing:
    """A live pause as a banner needs it; of kind `installation` where nothing at all is sent, `key` says why."""

    kind: str
    key: str
    organisation: str
    reason: str
    until: datetime | None
    public_id: str


def list_standing(person: Person) -> list[Standing]:
    """What holds up cases in sight now, the most severe first. One query, for every page."""
    return [Standing(*row[1:]) for row in _STANDING.ask(person, settings.CASEFLOW_INSTALLATION_ID)]


def _standing(person: Person, installation_id: UUID) -> QuerySet[Any, Any]:
    places = [When(kind=kind, then=Value(place)) for place, kind in enumerate(SEVERITY, 1)]
    pauses = in_sight(live_pauses(), person).annotate(
        place=CaseWhen(*places, output_field=IntegerField()),
        where=Coalesce("organisation__name", Value("")),
    )
    why = CaseWhen(When(restored=True, then=Value("restored")), default=Value("elsewhere"))
    nothing = {name: Value("") for name in ("where", "reason", "public_id")}
    home = Installation.objects.filter(~Q(installation_id=installation_id) | Q(restored=True)).annotate(
        place=Value(0), kind=Value("installation"), key=why, until=Value(None, DateTimeField()), **nothing
    )
    columns = ("place", "kind", "key", "where", "reason", "until", "public_id")
    return pauses.values_list(*columns).union(home.values_list(*columns), all=True).order_by("place", "public_id")


_STANDING = Kept(_standing)
