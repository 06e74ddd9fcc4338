"""`manage.py show_roles`: who may do what, from the code that decides; `--markdown` is the table of docs/roles.md."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from accounts.commands import add_json, write_json
from caseflow.domain.words import RIGHTS, ROLES
from caseflow.role_table import holders, markdown


class Command(BaseCommand):
    help = "Shows which role holds which right."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--markdown", action="store_true", help="the table as docs/roles.md keeps it")
        add_json(parser, "one JSON object: holder → rights")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["json"]:
            write_json(self, {who: sorted(rights) for who, rights in holders().items()})
        elif options["markdown"]:
            self.stdout.write(markdown())
        else:
            for who, rights in holders().items():
                self.stdout.write(ROLES[who].label if who in ROLES else who.capitalize())
                for right in sorted(rights):
                    self.stdout.write(f"  {RIGHTS[right]}")
