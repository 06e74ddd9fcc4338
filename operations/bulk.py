"""Ordering something for many cases: the list is frozen in a preview, confirmed by its count, and worked through later.

Persons only, through the console or the API. What is ordered for a case is ordered by the same service as for one case,
when its turn comes (`operations.bulk_running`); here only the bulk itself is made, started, paused and ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from random import SystemRandom
from typing import Any, NoReturn

from django.db import transaction
from django.db.models import QuerySet

from accounts import access
from accounts.models import Person
from accounts.principal import Actor, actor_of_person
from audit.services import record_access, record_organisation_event
from caseflow.domain.bulk import MAX_CASES, PREVIEW_LIFE, RATES, USUAL_RATE, BulkKind, Skip
from caseflow.domain.errors import BadInput, BulkNotPossible, NotPermitted
from caseflow.domain.identifiers import public_id
from caseflow.domain.roles import Right
from cases.bell import ring_after_commit
from cases.models import Case, Task
from cases.models.task import SLOW
from cases.rows import database_now

from .bulk_judging import Judged, judge
from .bulk_models import Bulk, BulkItem

STAGE = "bulk"
MAX_REASON = 500  #: characters
Status = Bulk.Status

_rng = SystemRandom()


def preview_bulk(
    *, person: Person, kind: str, cases: QuerySet[Case], wanted: Mapping[str, str], to: Person | None = None
) -> Bulk:
    """Freeze the list of `cases` that `person` sees, in its order. Nothing is ordered yet.

    `wanted` says as primitives what the list was narrowed to, `to` whom cases are handed over to. Raises BadInput for a
    kind that there is not, for an empty list and for more than MAX_CASES, and NotPermitted, on record, where the person
    orders recoveries nowhere.
    """
    if kind not in list(BulkKind):
        raise BadInput(code="unknown_kind", path="$.kind", problem=", ".join(BulkKind))
    if (to is None) == (kind == BulkKind.HAND_OVER):
        raise BadInput(code="unknown_holder", path="$.to", problem="cases are handed over, and only then, to somebody")
    found = list(access.visible(cases, person, Right.SEE_CASES)[: MAX_CASES + 1])
    if not access.organisations_with(person, Right.RECOVER).exists():
        _refuse(person, {case.organisation_id for case in found})
    if not found:
        raise BadInput(code="empty", path="$.cases", problem="the list holds no case")
    if len(found) > MAX_CASES:
        raise BadInput(code="too_many", path="$.cases", problem=f"more than {MAX_CASES} cases: narrow the list")
    judged = judge(BulkKind(kind), person, found, to=to)
    with transaction.atomic():
        return _store(person, BulkKind(kind), judged, wanted, to)


def confirm_bulk(*, bulk: Bulk, person: Person, count: Any, reason: Any, rate: Any = USUAL_RATE) -> Bulk:
    """Start what was previewed. `count` is how many cases the person saw affected, `rate` how many a minute.

    Raises BadInput, NotPermitted, on record, and BulkNotPossible(reason).
    """
    said = _checked(count, reason, rate)
    try:
        with transaction.atomic():
            row = _locked(bulk)
            if row.ordered_by_id != person.pk:
                raise BulkNotPossible(reason="another_person")
            if row.status != Status.PREVIEW:
                raise BulkNotPossible(reason=row.status)
            if row.made_at + PREVIEW_LIFE < database_now():
                raise BulkNotPossible(reason="preview_too_old")
            planned = _planned_by_organisation(row)
            if not planned:
                raise BulkNotPossible(reason="nothing_planned")
            for organisation in sorted(planned):
                access.require(person, organisation, Right.RECOVER)
            if count != sum(planned.values()):
                raise BadInput(code="wrong_count", path="$.count", problem="type how many cases are affected")
            row.status, row.reason, row.rate, row.ordered_at = Status.RUNNING, said, rate, database_now()
            row.save(update_fields=["status", "reason", "rate", "ordered_at"])
            _publish(row)
            _record(row, "bulk.ordered", actor_of_person(person), {"cases": planned}, rate=rate)
            return row
    except NotPermitted:
        # Here as in `_switch`: a record of its own after the rollback.
        _refuse(person, set(bulk.items.values_list("case__organisation_id", flat=True)))


def pause_bulk(*, bulk: Bulk, person: Person) -> Bulk:
    """No further case has its turn; the one that has it now is ended. Raises NotPermitted and BulkNotPossible."""
    return _switch(bulk, person, {Status.RUNNING}, Status.PAUSED, "bulk.paused")


def resume_bulk(*, bulk: Bulk, person: Person) -> Bulk:
    """Go on, also where the tasks of a running bulk gave up. Raises NotPermitted and BulkNotPossible."""
    return _switch(bulk, person, {Status.PAUSED, Status.RUNNING}, Status.RUNNING, "bulk.resumed")


def cancel_bulk(*, bulk: Bulk, person: Person) -> Bulk:
    """Skip what is left; what is done stays done. Raises NotPermitted and BulkNotPossible."""
    return _switch(bulk, person, {Status.PREVIEW, Status.RUNNING, Status.PAUSED}, Status.CANCELLED, "bulk.cancelled")


def end_where_through(bulk: Bulk, actor: Actor) -> bool:
    """Whether nothing is planned any more; the caller holds the bulk, which is then ended."""
    if bulk.items.filter(status=BulkItem.Status.PLANNED).exists():
        return False
    bulk.status, bulk.ended_at = Status.ENDED, database_now()
    bulk.save(update_fields=["status", "ended_at"])
    _record(bulk, "bulk.ended", actor, _results(bulk))
    return True


def hold_bulk(public_id: str) -> Bulk:
    """The bulk, held until the end of the transaction: nobody pauses or ends it, and no case of it has its turn."""
    return Bulk.objects.select_for_update(no_key=True).get(public_id=public_id)


def _switch(bulk: Bulk, person: Person, before: set[Status], after: Status, event: str) -> Bulk:
    try:
        with transaction.atomic():
            row = _locked(bulk)
            own = row.ordered_by_id == person.pk and row.status == Status.PREVIEW
            for organisation in _organisations(row):
                access.require(person, organisation, Right.SEE_CASES if own else Right.RECOVER)
            if row.status not in before:
                raise BulkNotPossible(reason=row.status)
            row.status = after
            if after == Status.CANCELLED:
                row.ended_at = database_now()
                row.items.filter(status=BulkItem.Status.PLANNED).update(
                    status=BulkItem.Status.SKIPPED, reason=Skip.CANCELLED.value, ended_at=row.ended_at
                )
            row.save(update_fields=["status", "ended_at"])
            if after == Status.RUNNING:
                _publish(row)
            if row.ordered_at is not None:
                _record(row, event, actor_of_person(person), _results(row))
            return row
    except NotPermitted:
        _refuse(person, set(_organisations(bulk)))


def _checked(count: Any, reason: Any, rate: Any) -> str:
    """Raises BadInput for the first field of a wrong form."""
    for name, value in (("count", count), ("rate", rate)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise BadInput(code="wrong_type", path=f"$.{name}", problem="a whole number is needed")
    if rate not in RATES:
        raise BadInput(code="wrong_rate", path="$.rate", problem=", ".join(map(str, RATES)))
    if not isinstance(reason, str):
        raise BadInput(code="wrong_type", path="$.reason", problem="text is needed")
    if not reason.strip():
        raise BadInput(code="empty", path="$.reason", problem="history needs a reason")
    if len(reason) > MAX_REASON:
        raise BadInput(code="too_long", path="$.reason", problem=f"longer than {MAX_REASON} characters")
    if "\x00" in reason:
        raise BadInput(code="nul", path="$.reason", problem="a NUL character")
    return reason.strip()


def _store(person: Person, kind: BulkKind, judged: list[Judged], wanted: Mapping[str, str], to: Person | None) -> Bulk:
    now = database_now()
    bulk = Bulk.objects.create(
        public_id=public_id("B", _rng),
        kind=kind,
        ordered_by=person,
        made_at=now,
        wanted=dict(wanted),
        total=len(judged),
        organisations=sorted({one.case.organisation_id for one in judged}),
        given_to=to,
    )
    BulkItem.objects.bulk_create(
        BulkItem(
            bulk=bulk,
            position=place,
            case=one.case,
            case_version=one.case.version,
            case_state=one.case.state,
            action=one.action,
            action_status=one.action.status if one.action else "",
            proposal=one.proposal,
            status=BulkItem.Status.SKIPPED if one.skip else BulkItem.Status.PLANNED,
            reason=one.skip.value if one.skip else "",
            ended_at=now if one.skip else None,
        )
        for place, one in enumerate(judged, start=1)
    )
    return bulk


def _publish(bulk: Bulk) -> None:
    """The task that goes through the list; where one lives already there is nothing to do."""
    now = database_now()
    task = Task(stage=STAGE, subject=bulk.public_id, queue=SLOW, available_at=now, created_at=now)
    Task.objects.bulk_create([task], ignore_conflicts=True)
    ring_after_commit()


def _locked(bulk: Bulk) -> Bulk:
    return hold_bulk(bulk.public_id)


def _organisations(bulk: Bulk) -> list[int]:
    rows = BulkItem.objects.filter(bulk=bulk).order_by("case__organisation_id")
    return list(rows.values_list("case__organisation_id", flat=True).distinct())


def _planned_by_organisation(bulk: Bulk) -> Counter[int]:
    planned = BulkItem.objects.filter(bulk=bulk, status=BulkItem.Status.PLANNED)
    return Counter(planned.values_list("case__organisation_id", flat=True))


def _results(bulk: Bulk) -> dict[str, Counter[int]]:
    """Status → how many cases of each organisation; one query."""
    found: dict[str, Counter[int]] = {status: Counter() for status in BulkItem.Status.values}
    for status, organisation in bulk.items.values_list("status", "case__organisation_id"):
        found[status][organisation] += 1
    return found


def _record(bulk: Bulk, event: str, actor: Actor, counts: Mapping[str, Counter[int]], **told: Any) -> None:
    """One event in every organisation that has a case in the list, with the numbers of that organisation only."""
    for organisation in _organisations(bulk):
        numbers = {name: by[organisation] for name, by in counts.items()}
        facts = {"bulk": bulk.public_id, "order": bulk.kind, **numbers, **told}
        record_organisation_event(organisation, event, actor=actor, facts=facts)


def _refuse(person: Person, organisations: set[int]) -> NoReturn:
    """Put the refusal on record where the person sees something, and raise NotPermitted."""
    seen = access.organisations_with(person, Right.SEE_CASES).filter(pk__in=organisations)
    for organisation in seen.values_list("pk", flat=True):
        facts = {"right": Right.RECOVER.value, "asked": "bulk"}
        record_access(organisation, "access.refused", actor=actor_of_person(person), facts=facts)
    raise NotPermitted(right=Right.RECOVER.value)
