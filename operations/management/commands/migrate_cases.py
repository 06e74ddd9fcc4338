"""`manage.py migrate_cases`: moves open cases to a newer version of their process, on purpose and one by one.

Without `--apply` it shows which would be moved and why the others would not. With `--apply --as USER --reason TEXT`
each is moved in a transaction of its own, with one event, where nothing changed meanwhile. Exit codes: 0 done,
1 failed, 2 usage, 3 something remains.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from accounts.commands import USAGE, shown
from accounts.principal import Actor
from caseflow.domain.process import Process
from operations.models import Repair
from operations.moving import REFUSALS, find_movable, move_case, newer_version
from operations.repairing import Found, RepairCommand


class Command(RepairCommand):
    name = "migrate_cases"
    help = "Moves open cases to a newer version of their process; shows first, and refuses where work is under way."
    target: Process
    case: str

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--process", metavar="SLUG", required=True, help="whose open cases")
        parser.add_argument("--to", metavar="VERSION", type=int, required=True, help="installed here, and newer")
        parser.add_argument("--case", metavar="ID", default="", help="only this one")
        super().add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        target = newer_version(options["process"], options["to"])
        if target is None:
            raise CommandError(
                shown(f"{options['process']} {options['to']} is not installed; show_process names what is"),
                returncode=USAGE,
            )
        self.target, self.case = target, options["case"]
        super().handle(*args, **options)

    def find(self, organisations: list[int] | None) -> list[Found]:
        return [
            Found(
                one.case.organisation_id,
                one.case.id,
                one.refusal or f"may move to version {self.target.version}",
                {"case": one.case.public_id, "state": one.case.state.value, "version": one.case.process_version},
                repairable=not one.refusal,
                advice=REFUSALS.get(one.refusal, ""),
            )
            for one in find_movable(self.target, organisations, case=self.case)
        ]

    def repair(self, found: Found, repair: Repair, actor: Actor) -> bool:
        refusal = move_case(found.case_id or 0, self.target, actor=actor, repair=repair)
        found.advice = REFUSALS.get(refusal, "")
        return not refusal
