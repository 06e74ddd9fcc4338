"""`manage.py grant_role`: what an administrator does in the console, and for people of other organisations, too.

Exit codes: 0 done, 1 refused, 2 usage. Safe to run twice.
"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts import granting
from accounts.commands import (
    USAGE,
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
from accounts.models import Department, Organisation, Person
from caseflow.domain.errors import CaseflowError
from caseflow.domain.roles import Right, Role


class Command(BaseCommand):
    help = "Grants a role to a person, or takes it with --revoke, with an administrator's rights."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", metavar="PERSON", help="who gets the role")
        parser.add_argument("--organisation", metavar="SLUG", required=True)
        parser.add_argument("--role", choices=[role.value for role in Role], required=True)
        parser.add_argument("--department", metavar="SLUG", default="", help="of a report reader; all if left out")
        parser.add_argument("--revoke", action="store_true", help="take the role instead")
        parser.add_argument("--reason", metavar="TEXT", required=True, help="why; kept with the record")
        add_person(parser)
        add_json(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        admin = acting_person(options["person"])
        organisation = permitted_organisation(options["organisation"], admin, Right.ADMINISTER)
        person = _person(options["username"], may_be_dismissed=options["revoke"])
        department = _department(organisation, options["department"])
        order = granting.revoke if options["revoke"] else granting.grant
        try:
            changed = order(
                admin=admin,
                person=person,
                organisation=organisation,
                role=Role(options["role"]),
                department=department,
                reason=storable(options["reason"], "--reason"),
                os_account=os_account(),
            )
        except CaseflowError as error:
            raise refusal(error) from error
        holds = not options["revoke"]
        if options["json"]:
            write_json(self, {"person": person.username, "role": options["role"], "holds": holds, "changed": changed})
            return
        now = "holds" if holds else "does not hold"
        self.stdout.write(shown(f"{person.username} {now} {options['role']}{'' if changed else ' already'}"))


def _person(username: str, *, may_be_dismissed: bool) -> Person:
    if not may_be_dismissed:
        return acting_person(username)
    found = Person.objects.filter(username=storable(username, "PERSON")).first()
    if found is None:
        raise CommandError(f"nobody is called {shown(username)}", returncode=USAGE)
    return found


def _department(organisation: Organisation, slug: str) -> Department | None:
    if not slug:
        return None
    found = Department.objects.filter(organisation=organisation, slug=storable(slug, "--department")).first()
    if found is None:
        raise CommandError(f"there is no department {shown(slug)}", returncode=USAGE)
    return found
