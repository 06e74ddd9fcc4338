"""What commands share: whose rights they have (`--as`), JSON, and what an exit code means (design §11)."""

from __future__ import annotations

import getpass
import json
import os
import pwd
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.services import record_organisation_event
from caseflow.domain.errors import CaseflowError, NotFound, NotPermitted
from caseflow.domain.roles import Right

from . import access
from .models import Organisation, Person
from .principal import actor_of_person

FAILED = 1  #: exit code
USAGE = 2  #: exit code: the call itself is wrong
DIFFERENCES = 3  #: exit code: it ran to its end and something remains to be looked at


def add_person(parser: CommandParser) -> None:
    parser.add_argument("--as", dest="person", metavar="USER", required=True, help="act with this person's rights")


def add_json(parser: CommandParser, what: str = "one line of JSON") -> None:
    parser.add_argument("--json", action="store_true", help=what)


def acting_person(username: str) -> Person:
    """Raises CommandError (usage) for nobody, and for somebody who may not sign in any more."""
    person = Person.objects.filter(username=storable(username, "--as"), is_active=True).first()
    if person is None:
        raise CommandError(f"nobody active is called {shown(username)}", returncode=USAGE)
    return person


def permitted_organisation(slug: str, person: Person, right: Right) -> Organisation:
    """The organisation in which `person` holds `right`.

    Raises CommandError: the same for "does not exist" and "out of sight"; a refusal in sight is recorded.
    """
    found = Organisation.objects.filter(slug=storable(slug, "--organisation")).first()
    if found is None or not access.rights_in(person, found.pk):
        raise refusal(NotFound())
    if not access.has_right(person, found, right):
        facts = {"right": right.value, "by": "command"}
        record_organisation_event(found.pk, "access.refused", actor=actor_of_person(person), facts=facts)
        raise refusal(NotPermitted(right=right.value))
    return found


def os_account() -> str:
    """The account of the machine, and who signed in when that is another one."""
    try:
        name = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        name = getpass.getuser()
    try:
        login = os.getlogin()
    except OSError:  # no terminal, as under cron
        login = name
    return (name if login == name else f"{name} (login {login})")[:120]


def storable(text: str, option: str) -> str:
    """An argument as PostgreSQL can be asked for it. Raises CommandError (usage) for bytes that were no UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise CommandError(f"{option} is not UTF-8", returncode=USAGE) from None
    return text


def refusal(error: CaseflowError) -> CommandError:
    return CommandError(f"{error.code}: {shown(error.message)}", returncode=FAILED)


def shown(text: str) -> str:
    """Text of others on a terminal: what does not print is spelled out, so that nothing moves the cursor or turns
    the direction."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape", "surrogatepass").decode()
        for character in text
    )


def write_json(command: BaseCommand, value: Any) -> None:
    """One value on one line of standard output."""
    command.stdout.write(json.dumps(value, ensure_ascii=False, separators=(", ", ": ")))


def write_progress(command: BaseCommand, line: str) -> None:
    """One line on standard error, uncoloured: it is no error."""
    command.stderr.write(line, style_func=str)
