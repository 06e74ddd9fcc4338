"""`manage.py resume_installation`: let a restored or copied database send again, once every open result was checked.

Without `--apply` it only says how it stands. Exit codes: 0 it sends, 1 not permitted, 2 usage, 3 it sends nothing.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.commands import DIFFERENCES, USAGE, acting_person, add_json, os_account, refusal, storable, write_json
from caseflow.domain.errors import NotPermitted
from operations.installing import InstallationStand, installation_stand, resume_installation

MAX_REASON = 500  #: characters
SAYS = {
    "": "This database sends.",
    "restored": "This database was restored from a copy, so nothing is sent.",
    "elsewhere": "This database belongs to another installation, so nothing is sent from here.",
}


class Command(BaseCommand):
    help = "Lets a restored or copied database send again, after reconcile_actions, by a platform operator."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--apply", action="store_true", help="do it; without this it is only shown")
        parser.add_argument("--adopt", action="store_true", help="this copy is an installation of its own from now on")
        parser.add_argument("--as", dest="person", metavar="USER", default="", help="act with this person's rights")
        parser.add_argument("--reason", metavar="TEXT", default="", help="why; kept with the record")
        add_json(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        reason = storable(options["reason"], "--reason").replace("\x00", "").strip()
        if options["apply"] and not (options["person"] and reason):
            raise CommandError("--apply needs --as USER and --reason TEXT", returncode=USAGE)
        if len(reason) > MAX_REASON:
            raise CommandError(f"--reason is longer than {MAX_REASON} characters", returncode=USAGE)
        stand = self._resume(reason, options) if options["apply"] else installation_stand()
        if options["json"]:
            write_json(self, {"sends": not stand.held, "why": stand.held, "unchecked": stand.unchecked})
        else:
            self.stdout.write(SAYS[stand.held])
        if stand.held:
            raise CommandError(_advice(stand), returncode=DIFFERENCES)

    def _resume(self, reason: str, options: dict[str, Any]) -> InstallationStand:
        person = acting_person(options["person"])
        try:
            return resume_installation(by=person, reason=reason, adopt=options["adopt"], os_account=os_account())
        except NotPermitted as error:
            raise refusal(error) from error


def _advice(stand: InstallationStand) -> str:
    if stand.unchecked:
        return f"{stand.unchecked} results are not checked yet: run reconcile_actions and let the workers look them up"
    again = "--apply --adopt" if stand.held == "elsewhere" else "--apply"
    return f"a platform operator resumes with {again} --as USER --reason TEXT"
