"""`manage.py choose_proposer`: what an administrator chooses in the console: who proposes in one process's cases.

Exit codes: 0 done, 1 refused, 2 usage. Safe to run twice.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from accounts.commands import (
    acting_person,
    add_json,
    add_person,
    os_account,
    permitted_organisation,
    refusal,
    shown,
    storable,
    write_json,
)
from accounts.principal import actor_of_person
from approvals.choosing import choose_proposer
from caseflow.domain.errors import BadInput
from caseflow.domain.roles import Right


class Command(BaseCommand):
    help = "Chooses who proposes in an organisation's cases of one process, with an administrator's rights."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--organisation", metavar="SLUG", required=True)
        parser.add_argument("--process", metavar="SLUG", required=True)
        parser.add_argument("--proposer", metavar="NAME", required=True, help="rules, model:main, explained:main@…")
        parser.add_argument(
            "--rules-take-over", action="store_true", help="while the provider's circuit is open, rules propose"
        )
        add_person(parser)
        add_json(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        admin = acting_person(options["person"])
        organisation = permitted_organisation(options["organisation"], admin, Right.ADMINISTER)
        try:
            chosen = choose_proposer(
                organisation=organisation,
                process=storable(options["process"], "--process"),
                proposer=storable(options["proposer"], "--proposer"),
                rules_take_over=options["rules_take_over"],
                by=actor_of_person(admin),
                os_account=os_account(),
            )
        except BadInput as error:
            raise refusal(error) from error
        row = chosen.choice
        if options["json"]:
            said = {"process": row.process, "proposer": row.proposer, "rules_take_over": row.rules_take_over}
            write_json(self, said | {"changed": chosen.changed})
            return
        self.stdout.write(shown(f"{row.process}: {row.proposer}{'' if chosen.changed else ' already'}"))
