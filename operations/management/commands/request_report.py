"""`manage.py request_report`: asks for a department's report of a closed period. Asked again it is the same report.

Exit: 0 it is owed, now or before; 1 refused; 2 usage.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.commands import (
    FAILED,
    acting_person,
    add_json,
    add_person,
    permitted_organisation,
    refusal,
    storable,
    write_json,
)
from caseflow.domain.errors import CaseflowError
from caseflow.domain.roles import Right
from operations.reporting import Requested, request_report


class Command(BaseCommand):
    help = "Asks for a department's report of a closed period, or finds the one that is owed already."

    def add_arguments(self, parser: CommandParser) -> None:
        add_person(parser)
        parser.add_argument("--organisation", metavar="SLUG", required=True)
        parser.add_argument("--department", metavar="SLUG", required=True)
        parser.add_argument("--kind", default="requests", help="what it is about; requests unless told")
        parser.add_argument("--period", required=True, help="2026-10-01, 2026-W40 or 2026-10; it has to be over")
        parser.add_argument(
            "--recipient",
            action="append",
            metavar="USER",
            help="who is told, once each; the schedule's recipients, or all who may open it, unless told",
        )
        add_json(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        person = acting_person(options["person"])
        organisation = permitted_organisation(options["organisation"], person, Right.OPEN_CASE)
        told = {name: storable(options[name], f"--{name}") for name in ("department", "kind", "period")}
        try:
            requested = request_report(
                organisation=organisation, principal=person, recipients=options["recipient"], **told
            )
        except CaseflowError as error:
            if options["json"]:
                reason = error.params.get("problem", error.message)
                write_json(self, {"result": "refused", "code": error.code, "reason": reason})
                raise CommandError("nothing was asked for", returncode=FAILED) from error
            raise refusal(error) from error
        done = described(requested)
        if options["json"]:
            write_json(self, done)
        else:
            self.stdout.write(f"{done['result']}  {done['report']}  {done['case']}  {done['state']}")


def described(requested: Requested) -> dict[str, Any]:
    case = requested.edition.case
    return {
        "result": "opened" if requested.created else "same",
        "report": str(requested.obligation.key),
        "edition": requested.edition.number,
        "case": case.public_id,
        "state": case.state,
    }
