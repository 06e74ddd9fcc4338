"""From a rung task to its end: claim, work, settle, and on with the next stage that this worker took over."""

from __future__ import annotations

import logging
import os
import socket
import threading
from dataclasses import replace
from random import Random

from django.db import InterfaceError, OperationalError, transaction

from accounts.principal import SYSTEM
from caseflow.domain.errors import ForbiddenTransition, LeaseLost
from caseflow.domain.failpoints import failpoint
from caseflow.domain.outcomes import FaultKind, ReadFailed
from caseflow.statements import Question

from .advancing import record_event
from .claiming import Lease, claim
from .leases import held
from .settling import Fault, settlement

log = logging.getLogger("caseflow.worker")
rng = Random()  # noqa: S311  # jitter, no secret


def worker_name() -> str:
    """Host, process and thread: who held a lease, for people and for the proof."""
    return f"{socket.gethostname()}:{os.getpid()}:{threading.get_native_id()}"


def work_on(task_id: int, *, worker: str | None = None) -> None:
    """Claim the task and follow its case as far as this worker may. Nothing happens to a task that is not due."""
    failpoint("worker.before_claim", str(task_id))
    lease = _begin(task_id, worker or worker_name())
    while lease is not None:
        lease = _one_stage(lease)


def _begin(task_id: int, worker: str) -> Lease | None:
    try:
        with transaction.atomic():
            lease = claim(task_id, worker=worker)
            if lease is None or lease.exhausted or lease.definition.begin is None:
                return lease
            return lease.definition.begin(lease)
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        # What could not begin took the count of its attempt back with it: claim alone, so that it counts.
        log.exception("task %s could not begin with its claim", task_id)
    with transaction.atomic():
        return claim(task_id, worker=worker, load=False)


def _one_stage(lease: Lease) -> Lease | None:
    with held(lease):
        try:
            failpoint("worker.claimed", *lease.about)
            if lease.exhausted:
                return _settle_exhausted(lease)
            return lease.definition.run(_ready(lease))
        except LeaseLost:
            log.warning("lease of task %s was lost; its writes were refused", lease.task_id)
        except (OperationalError, InterfaceError):
            # The database is away or refused us: the lease lapses and the attempt counts as lost.
            log.warning("task %s: the database did not serve us", lease.task_id, exc_info=True)
        except ReadFailed as error:
            _settle_fault(lease, Fault(error.kind, error.code, error.message, error.retry_after, error.system))
        except ForbiddenTransition as error:
            _record_refusal(lease, error)
            _settle_fault(lease, Fault(FaultKind.PERMANENT, error.code, error.message))
        except Exception as error:
            log.exception("task %s failed", lease.task_id)
            _settle_fault(lease, Fault(FaultKind.TRANSIENT, "internal_error", f"{type(error).__name__}: {error}"))
    return None


def _ready(lease: Lease) -> Lease:
    """What could not be read with the claim is read as a part of the attempt, whose fault it is if it fails again."""
    if lease.found is not None or lease.definition.load is None:
        return lease
    with transaction.atomic():
        found = lease.definition.load(lease)
        return replace(lease, found=found.answered() if isinstance(found, Question) else found)


def _settle_fault(lease: Lease, fault: Fault) -> None:
    try:
        failpoint("worker.before_fault_stored", *lease.about)
        with settlement(lease) as settling:
            settling.fail(fault, rng=rng)
        failpoint("worker.fault_stored", *lease.about)
    except LeaseLost:
        log.warning("lease of task %s was lost before its fault could be stored", lease.task_id)


def _settle_exhausted(lease: Lease) -> Lease | None:
    with settlement(lease) as settling:
        settling.exhaust(lease.exhausted)
    return settling.next_lease


def _record_refusal(lease: Lease, error: ForbiddenTransition) -> None:
    """A forbidden change is an error that is recorded, the attempt included (requirement A6)."""
    if lease.case is None:
        return
    facts = {
        "stage": lease.stage,
        "task": lease.task_id,
        "event": error.params["event"],
        "state": error.params["state"],
    }
    record_event(lease.case, "transition.refused", actor=SYSTEM, facts=facts)
