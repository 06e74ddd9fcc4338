"""`manage.py purge`: erase the personal texts of closed cases for good, by deleting the keys they are encrypted with;
or delete the log of what programs outside were told long ago.

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
from operations.models import Hook, Repair
from operations.purging import Wanted, find_erasable, purge_case
from operations.repairing import Found, RepairCommand
from operations.trimming_hooks import find_trimmable, trim_hook


class Command(RepairCommand):
    name = "purge"
    #: Nothing brings an erased text back: this is for who answers for the organisation, not for who restarts tasks.
    right = Right.ADMINISTER
    help = (
        "Erases the personal texts of closed cases; what is recorded of the cases stays. Backups keep them longer."
        " Or deletes the old lines of what programs outside were told."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--older-than", type=int, metavar="DAYS", help="closed longer ago")
        parser.add_argument("--case", metavar="ID", default="", help="one case, by its id or its ticket's")
        parser.add_argument("--customer", metavar="ID", default="", help="the cases of one customer, by number")
        parser.add_argument(
            "--told-longer-ago", type=int, metavar="DAYS", help="no texts: the lines of what programs outside were told"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        older_than = _days(options["older_than"], "--older-than")
        self._told = _days(options["told_longer_ago"], "--told-longer-ago")
        case, customer = storable(options["case"], "--case"), storable(options["customer"], "--customer")
        of_texts = older_than is not None or bool(case or customer)
        if of_texts == (self._told is not None):
            ways = "--older-than DAYS, --case ID or --customer ID; or --told-longer-ago DAYS"
            raise CommandError(f"say which: {ways}", returncode=USAGE)
        self._wanted = Wanted(case=case, customer=customer, older_than=older_than)
        super().handle(*args, **options)

    def find(self, organisations: list[int] | None) -> list[Found]:
        if self._told is not None:
            return [
                Found(
                    one.hook.organisation_id,
                    None,
                    "told long ago",
                    {"hook": one.hook.public_id, "organisation": one.hook.organisation.slug, "rows": one.rows},
                )
                for one in find_trimmable(self._told, organisations)
            ]
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
        if self._told is not None:
            hook = Hook.objects.get(public_id=found.about["hook"])
            return trim_hook(hook, self._told, by=actor, repair=repair) > 0
        return purge_case(found.case_id or 0, repair, actor)


def _days(given: int | None, option: str) -> timedelta | None:
    if given is not None and not 0 <= given <= 36_500:
        raise CommandError(f"{option} is a number of days", returncode=USAGE)
    return None if given is None else timedelta(days=given)
