"""The whole path of a case in one process: intake, the dispatcher's sweeps, the worker's work, a person's decision."""

from __future__ import annotations

import time
import uuid
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.db import connection

from accounts.models import Organisation, Person
from accounts.principal import SYSTEM, actor_of_person
from accounts.services import grant_role
from approvals.deciding import decide
from approvals.models import Proposal
from caseflow.domain.lifecycle import State
from caseflow.domain.roles import Role
from cases.dispatching import sweep
from cases.intake import open_case
from cases.models import Case
from cases.working import work_on

QUEUES = ["quick", "slow"]


@dataclass(frozen=True, slots=True)
class Cost:
    """Of `cases` cases, in seconds: by the clock, and of the processor by this process and by its server process."""

    cases: int
    seconds: float
    own_cpu: float
    server_cpu: float


def carry(cases: int) -> dict[str, Any]:
    """Open that many cases and carry each to its end. Raises AssertionError where one does not come there."""
    pid = server_pid()
    begun, own, server = time.perf_counter(), time.process_time(), cpu_of(pid)
    for _ in range(cases):
        _one()
    return asdict(Cost(cases, time.perf_counter() - begun, time.process_time() - own, cpu_of(pid) - server))


def _one() -> None:
    organisation, opener, approver = cast()
    name = f"W-{uuid.uuid4().hex[:12]}"
    about = {"customer_id": f"U-{name}", "subscription_id": f"S-{name}", "payment_id": f"PAY-{name}"}
    opened = open_case(
        organisation=organisation,
        process="restore_access",
        source="growth",
        external_id=name,
        intake=about | {"claim": "I paid and cannot sign in"},
        actor=actor_of_person(opener),
    )
    _work()
    proposal = Proposal.objects.select_related("case").get(case=opened.case)
    decide(
        proposal=proposal,
        person=approver,
        kind="approve",
        seen_digest=proposal.digest,
        seen_version=proposal.case.version,
    )
    _work()
    state = Case.objects.values_list("state", flat=True).get(pk=opened.case.pk)
    assert state == State.COMPLETED, state


def _work() -> None:
    """Dispatcher and worker by turns until nothing is due."""
    rung: list[int] = []
    while True:
        sweep(QUEUES, lambda queue, task_id: rung.append(task_id))
        if not rung:
            return
        while rung:
            work_on(rung.pop(0))


@cache
def cast() -> tuple[Organisation, Person, Person]:
    """(organisation, who opens, who decides)"""
    organisation = Organisation.objects.get(slug="acme")
    opener, approver = person("growth-opener"), person("growth-approver")
    grant_role(person=opener, organisation=organisation, role=Role.OPERATOR, by=SYSTEM)
    grant_role(person=approver, organisation=organisation, role=Role.APPROVER, by=SYSTEM)
    return organisation, opener, approver


def person(username: str) -> Person:
    return Person.objects.filter(username=username).first() or Person.objects.create_user(username=username)


def server_pid() -> int:
    """The server process behind this thread's connection; nothing is asked of it."""
    connection.ensure_connection()
    return int(connection.connection.info.backend_pid)


def cpu_of(pid: int) -> float:
    """Seconds of processor time of another process of this machine, which the kernel counts in nanoseconds."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
