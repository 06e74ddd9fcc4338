"""Whoever brings tickets and whoever approves: `python -m tests.bench.client`, driven as `stand.bench.driving` says.

Services are called directly, as a page or the API would call them: by a service account that may open cases and a
person who may decide. What is only watching goes by the administrator's connection, so that it does not count as work.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import django
import psycopg

from stand.bench.driving import drive

AT_ONCE = 4000  #: plans

_WAITING = """
SELECT p.id, c.version FROM cases_case c JOIN approvals_proposal p ON p.case_id = c.id
WHERE c.id > %s AND c.state = 'WAITING_APPROVAL' ORDER BY c.id LIMIT %s
"""
_DONE = "SELECT count(*) FROM cases_case WHERE id > %s AND state = 'COMPLETED'"
_LAST = "SELECT coalesce(max(id), 0) FROM cases_case"


class Ours:
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
        self._organisation = organisation
        self._approver = Person.objects.get(username="bench-approver")
        self._machine = actor_of_service(ServiceAccount.objects.get(organisation=organisation, name="bench"))
        self._first = self._ask(_LAST)[0][0]

    def open_one(self, number: str) -> None:
        from cases.intake import open_case

        open_case(
            organisation=self._organisation,
            process="restore_access",
            source="bench",
            external_id=f"T-{number}",
            intake={
                "customer_id": f"U-{number}",
                "subscription_id": f"S-{number}",
                "payment_id": f"PAY-{number}",
                "claim": "Деньги списались, доступ не открылся",
            },
            actor=self._machine,
            source_url=f"https://helpdesk.example.org/tickets/{number}",
        )

    def waiting(self) -> list[tuple[Any, int]]:
        """Plans that wait, each with the version that a person sees."""
        from approvals.models import Proposal

        versions = dict(self._ask(_WAITING, self._first, AT_ONCE))
        if not versions:
            return []
        plans = Proposal.objects.select_related("case").in_bulk(list(versions))
        return [(plans[pk], version) for pk, version in versions.items()]

    def name_of(self, plan: tuple[Any, int]) -> str:
        return str(plan[0].case.external_id).removeprefix("T-")

    def approve(self, plan: tuple[Any, int]) -> None:
        from approvals.deciding import decide

        proposal, version = plan
        decide(
            proposal=proposal,
            person=self._approver,
            kind="approve",
            seen_digest=proposal.digest,
            seen_version=version,
        )

    def done(self) -> int:
        return int(self._ask(_DONE, self._first)[0][0])

    def _ask(self, statement: str, *parameters: Any) -> list[Any]:
        return self._watch.execute(statement, parameters).fetchall()


def main() -> int:
    django.setup()
    with psycopg.connect(os.environ["CASEFLOW_BENCH_WATCH"], autocommit=True) as watch:
        return drive(Ours(watch))


if __name__ == "__main__":
    sys.exit(main())
