"""`manage.py purge`: erase the personal texts of closed cases for good, by deleting the keys they are encrypted with.

Without --apply it only shows which. Exit codes: 0 nothing remains, 1 failed, 2 usage, 3 something remains. Backups
hold the keys until they age out.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser

from accounts.commands import USAGE, storable
from accounts.principal import Actor
from caseflow.domain.roles import Right
from operations.models import Repair
from operations.purging import Wanted, find_erasable, purge_case
from operations.repairing import Found, RepairCommand


class Command(RepairCommand):
    name = "purge"
    #: Nothing brings an erased text back: this is for who answers for the organisation, not for who restarts tasks.
    right = Right.ADMINISTER
    help = "Erases the personal texts of closed cases; what is recorded of the cases stays. Backups keep them longer."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--older-than", type=int, metavar="DAYS", help="closed longer ago")
        parser.add_argument("--case", metavar="ID", default="", help="one case, by its id or its ticket's")
        parser.add_argument("--customer", metavar="ID", default="", help="the cases of one customer, by number")

    def handle(self, *args: Any, **options: Any) -> None:
        days, case, customer = options["older_than"], options["case"], options["customer"]
        if days is None and not case and not customer:
            raise CommandError("say which: --older-than DAYS, --case ID or --customer ID", returncode=USAGE)
        if days is not None and not 0 <= days <= 36_500:
            raise CommandError("--older-than is a number of days", returncode=USAGE)
        self._wanted = Wanted(
            case=storable(case, "--case"),
            customer=storable(customer, "--customer"),
            older_than=None if days is None else timedelta(days=days),
        )
        super().handle(*args, **options)

    def find(self, organisations: list[int] | None) -> list[Found]:
        found = []
        for case in find_erasable(self._wanted, organisations):
            about = {"case": case.public_id, "external_id": case.external_id, "organisation": case.organisation.slug}
            if case.closed_at is None:
                advice = "close the case first: it still needs what it was told"
                found.append(Found(case.organisation_id, case.pk, "open", about, repairable=False, advice=advice))
            else:
                about["closed_at"] = case.closed_at.isoformat()
                found.append(Found(case.organisation_id, case.pk, "personal texts", about))
        return found

    def repair(self, found: Found, repair: Repair, actor: Actor) -> bool:
        return purge_case(found.case_id or 0, repair, actor)
