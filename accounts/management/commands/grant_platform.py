"""`manage.py grant_platform`: who may look after queues, workers, counts and pauses of the whole platform.

The role shows no case. There is nobody above it in the console, so whoever may run commands here grants it; the account
of the machine is recorded. Exit codes: 0 done, 2 usage. Safe to run twice.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.commands import USAGE, acting_person, add_json, os_account, shown, storable, write_json
from accounts.platform import grant_platform, revoke_platform
from accounts.principal import Actor

MAX_REASON = 500  #: characters
BY = Actor("system", None, "grant_platform")


class Command(BaseCommand):
    help = "Makes a person a platform operator: queues, workers, counts and pauses, and no case."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", metavar="USER")
        parser.add_argument("--reason", metavar="TEXT", required=True, help="why; kept with the record")
        parser.add_argument("--revoke", action="store_true", help="take the role instead")
        add_json(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        person = acting_person(options["username"])
        reason = storable(options["reason"], "--reason").replace("\x00", "").strip()
        if not reason:
            raise CommandError("--reason must say why", returncode=USAGE)
        if len(reason) > MAX_REASON:
            raise CommandError(f"--reason is longer than {MAX_REASON} characters", returncode=USAGE)
        act = revoke_platform if options["revoke"] else grant_platform
        changed = act(person=person, by=BY, reason=reason, os_account=os_account())
        if options["json"]:
            write_json(
                self, {"person": person.username, "platform_operator": not options["revoke"], "changed": changed}
            )
            return
        now = "no platform operator" if options["revoke"] else "a platform operator"
        self.stdout.write(shown(f"{person.username} is {now}{'' if changed else ' already'}"))
