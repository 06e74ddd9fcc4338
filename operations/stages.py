"""The stages of this room: the regular comparison with the outside systems."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction

from accounts.principal import SYSTEM
from cases.claiming import Lease
from cases.models.task import SLOW
from cases.rows import database_now
from cases.settling import settlement
from cases.stages import Stage, register

from .drift import CHUNK, SAMPLE, Compared, compare_all, find_confirmed, store_finding
from .models import DriftFinding, DriftRun

PORTION = timedelta(seconds=20)  #: of asking, well within the stage's limit; then the run goes on as the same task


def drift(lease: Lease) -> Lease | None:
    """Compare a portion, put differences on record, and go on from there until the run is through."""
    run = _run_of(lease)
    scope = DriftRun.Scope(run.scope)
    limit = SAMPLE if scope == DriftRun.Scope.SAMPLE else CHUNK
    ids = find_confirmed(scope, after=run.cursor, limit=limit)
    compared: list[Compared] = []
    for one in compare_all(ids, within=PORTION):
        compared.append(one)
        if one.differs:
            # Each in a transaction of its own: the lock order is case before task, and a rerun finds it stored.
            store_finding(run, one, actor=SYSTEM)
    through = scope == DriftRun.Scope.SAMPLE or (len(compared) == len(ids) < limit)
    with settlement(lease) as settling:
        unreadable = sum(bool(one.unreadable) for one in compared)
        DriftRun.objects.filter(pk=run.pk).update(
            checked=run.checked + len(compared) - unreadable,
            unreadable=run.unreadable + unreadable,
            differing=DriftFinding.objects.filter(run=run).count(),
            cursor=compared[-1].action.pk if compared else run.cursor,
            ended_at=settling.now if through else None,
        )
        if not through:
            settling.again(timedelta(0), give_back=True)
    return settling.next_lease


def _run_of(lease: Lease) -> DriftRun:
    """The run of this task; a task taken over goes on with it."""
    with transaction.atomic():
        run, _ = DriftRun.objects.get_or_create(
            task_id=lease.task_id, defaults={"scope": DriftRun.Scope(lease.subject), "began_at": database_now()}
        )
    return run


register(Stage("drift", drift, carries=False, queue=SLOW))
