"""Whoever brings tickets and whoever approves: `python -m tests.bench.client`, told by lines, answering in JSON lines.

`drive N`: N tickets from first intake to the last COMPLETED, the plans approved as they appear; answers the seconds and
this process's own processor time. `end` ends. Services are called directly, as a page or the API would call them: by a
service account that may open cases and a person who may decide. What is only watching goes by the administrator's
connection, so that it is not counted as work.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import django
import psycopg

THREADS = 4
LOOK_EVERY = 0.02  #: seconds between looks at what waits and what is done
AT_ONCE = 200  #: plans
PATIENCE = 120.0  #: seconds without any progress

_WAITING = """
SELECT p.id, c.version FROM cases_case c JOIN approvals_proposal p ON p.case_id = c.id
WHERE c.id > %s AND c.state = 'WAITING_APPROVAL' ORDER BY c.id LIMIT %s
"""
_DONE = "SELECT count(*) FROM cases_case WHERE id > %s AND state = 'COMPLETED'"
_LAST = "SELECT coalesce(max(id), 0) FROM cases_case"


class Client:
    """One organisation with its machine and its approver, made at the first start."""

    def __init__(self, watch: psycopg.Connection[Any]) -> None:
        from accounts.models import Organisation, Person, ServiceAccount
        from accounts.principal import SYSTEM, actor_of_service
        from accounts.services import create_organisation, create_service_account, grant_role
        from caseflow.domain.roles import Right, Role

        self._watch = watch
        organisation = Organisation.objects.filter(slug="bench").first()
        if organisation is None:
            organisation = create_organisation(slug="bench", name="Bench")
            owner = Person.objects.create_user(username="bench-owner", name="Owner", language="en")
            approver = Person.objects.create_user(username="bench-approver", name="Approver", language="en")
            grant_role(person=approver, organisation=organisation, role=Role.APPROVER, by=SYSTEM)
            create_service_account(
                organisation=organisation, name="bench", owner=owner, rights=[Right.OPEN_CASE], by=SYSTEM
            )
        self.organisation = organisation
        self.approver = Person.objects.get(username="bench-approver")
        self._machine = actor_of_service(ServiceAccount.objects.get(organisation=organisation, name="bench"))
        self._run = f"{int(time.time())}{os.getpid()}"
        self._numbers = itertools.count(1)
        self.pool = ThreadPoolExecutor(THREADS)

    def drive(self, count: int) -> dict[str, float]:
        """Raises TimeoutError when nothing moves any more."""
        first = self._ask(_LAST)[0][0]
        began, busy = time.perf_counter(), time.process_time()
        list(self.pool.map(self.open_one, range(count)))
        taken = time.perf_counter()
        self.approve_until_done(first, count)
        ended = time.perf_counter()
        return {"seconds": ended - began, "intake": taken - began, "processor": time.process_time() - busy}

    def open_one(self, _: int) -> str:
        """One ticket by the machine; the subscription it is about."""
        from cases.intake import open_case

        number = f"{self._run}{next(self._numbers)}"
        intake = {
            "customer_id": f"U-{number}",
            "subscription_id": f"S-{number}",
            "payment_id": f"PAY-{number}",
            "claim": "Деньги списались, доступ не открылся",
        }
        open_case(
            organisation=self.organisation,
            process="restore_access",
            source="bench",
            external_id=f"T-{number}",
            intake=intake,
            actor=self._machine,
            source_url=f"https://helpdesk.example.org/tickets/{number}",
        )
        return intake["subscription_id"]

    def approve_until_done(self, first: int, count: int) -> None:
        moved, done_before = time.monotonic(), -1
        while True:
            waiting = self.waiting(first)
            if waiting:
                list(self.pool.map(self.approve, waiting))
                moved = time.monotonic()
                continue
            ((done,),) = self._ask(_DONE, first)
            if done >= count:
                return
            if done != done_before:
                moved, done_before = time.monotonic(), done
            if time.monotonic() - moved > PATIENCE:
                raise TimeoutError(f"{done} of {count} cases are done and nothing moves")
            time.sleep(LOOK_EVERY)

    def waiting(self, first: int) -> list[tuple[Any, int]]:
        """Plans that wait, each with the version that a person sees."""
        from approvals.models import Proposal

        versions = dict(self._ask(_WAITING, first, AT_ONCE))
        if not versions:
            return []
        return [(proposal, versions[pk]) for pk, proposal in Proposal.objects.in_bulk(list(versions)).items()]

    def approve(self, seen: tuple[Any, int]) -> None:
        from approvals.deciding import decide

        proposal, version = seen
        decide(
            proposal=proposal,
            person=self.approver,
            kind="approve",
            seen_digest=proposal.digest,
            seen_version=version,
        )

    def _ask(self, statement: str, *parameters: Any) -> list[Any]:
        return self._watch.execute(statement, parameters).fetchall()


def main() -> int:
    django.setup()
    with psycopg.connect(os.environ["CASEFLOW_BENCH_WATCH"], autocommit=True) as watch:
        client = Client(watch)
        tell({"ready": True})
        for line in sys.stdin:
            order, *rest = line.split()
            if order == "end":
                break
            tell(client.drive(int(rest[0])))
    return 0


def tell(what: dict[str, Any]) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    sys.exit(main())
