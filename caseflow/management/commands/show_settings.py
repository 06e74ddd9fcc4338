"""`manage.py show_settings`: what an installation may be told; `--markdown` is the table of docs/settings.md."""

from __future__ import annotations

import dataclasses
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from accounts.commands import add_json, write_json
from caseflow.settings_table import known_settings, markdown


class Command(BaseCommand):
    help = "Shows every setting of an installation, its default and what it is; never what it is set to."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--markdown", action="store_true", help="the table as docs/settings.md keeps it")
        add_json(parser, "one JSON object: name → kind, default, what it is")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["json"]:
            write_json(self, {one.name: dataclasses.asdict(one) for one in known_settings()})
        elif options["markdown"]:
            self.stdout.write(markdown())
        else:
            for one in known_settings():
                given = "has to be given" if one.default is None else one.default or "-"
                self.stdout.write(f"{one.name} ({one.kind}; {given})\n  {one.about}")
