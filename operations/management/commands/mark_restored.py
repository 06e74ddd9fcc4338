"""`manage.py mark_restored`: this database was restored from a copy, so it sends nothing until a person resumes.

Run it after `pg_restore` and before the first process starts; `stand.restore` does both. Exit codes: 0 done, 2 usage.
Safe to run twice. `resume_installation` lets go again.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.commands import USAGE, add_json, os_account, storable, write_json
from operations.restoring import mark_restored

MAX_REASON = 500  #: characters


class Command(BaseCommand):
    help = "Says that this database was restored from a copy: it sends nothing until a person resumes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--reason", metavar="TEXT", required=True, help="why; kept with the record")
        add_json(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        reason = storable(options["reason"], "--reason").replace("\x00", "").strip()
        if not reason:
            raise CommandError("--reason must say why", returncode=USAGE)
        if len(reason) > MAX_REASON:
            raise CommandError(f"--reason is longer than {MAX_REASON} characters", returncode=USAGE)
        marked = mark_restored(reason=reason, os_account=os_account())
        if options["json"]:
            write_json(self, {"restored": True, "changed": marked})
            return
        self.stdout.write(
            "Marked: this database was restored from a copy, so nothing is sent until a person resumes."
            if marked
            else "It was marked already, or belongs to no installation yet: nothing is sent either way."
        )
