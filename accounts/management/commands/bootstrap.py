"""`manage.py bootstrap`: an organisation, its first admin and a service token; safe to run again.

Exit codes: 0 done, 1 failed, 2 usage.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.demo import set_up_demo
from accounts.first_start import FirstStart, set_up
from accounts.models import Language, Organisation, Person

USAGE = 2  #: exit code


class Command(BaseCommand):
    help = "Makes an organisation, its roles, its first admin and a service token. Running it again makes nothing new."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--organisation", metavar="SLUG", help="short name, such as acme")
        parser.add_argument("--name", help="full name; the short one if left out")
        parser.add_argument("--admin", metavar="USERNAME", help="the first admin of the organisation")
        parser.add_argument(
            "--password-stdin",
            action="store_true",
            help="read a new admin's password from the first line of standard input, instead of making one up",
        )
        parser.add_argument("--language", choices=Language.values, default=Language.RU.value)
        parser.add_argument("--time-zone", default="Europe/Moscow", help="IANA name")
        parser.add_argument(
            "--new-token", action="store_true", help="replace the service token: the older ones stop working"
        )
        parser.add_argument("--demo", action="store_true", help="the demo's people, with known passwords")
        parser.add_argument("--json", action="store_true", help="one line of JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["demo"]:
            self._demo(new_token=options["new_token"])
            return
        if not (options["organisation"] and options["admin"]):
            raise CommandError("--organisation and --admin are needed", returncode=USAGE)
        options["name"] = options["name"] or options["organisation"]
        _check(options)
        done = set_up(
            slug=options["organisation"],
            name=options["name"],
            admin=options["admin"],
            password=_read_password(options["admin"]) if options["password_stdin"] else None,
            language=options["language"],
            time_zone=options["time_zone"],
            new_token=options["new_token"],
        )
        self.stdout.write(json.dumps(_as_dict(done), ensure_ascii=False) if options["json"] else _as_text(done))

    def _demo(self, *, new_token: bool) -> None:
        # Known passwords on a real installation would be an open door.
        if not (settings.DEBUG or os.environ.get("CASEFLOW_DEMO") == "1"):
            raise CommandError(
                "--demo needs CASEFLOW_DEMO=1 or CASEFLOW_DEBUG: its passwords are known", returncode=USAGE
            )
        self.stdout.write(json.dumps(set_up_demo(new_token=new_token), ensure_ascii=False))


def _check(options: dict[str, Any]) -> None:
    organisation = Organisation(
        slug=options["organisation"],
        name=options["name"],
        language=options["language"],
        time_zone=options["time_zone"],
    )
    try:
        organisation.clean_fields()
        Person(username=options["admin"], password="-").clean_fields()  # noqa: S106  # only the name is looked at
    except ValidationError as error:
        raise CommandError(" ".join(error.messages), returncode=USAGE) from error


def _read_password(username: str) -> str:
    password = sys.stdin.readline().rstrip("\r\n")
    try:
        validate_password(password, Person(username=username))
    except ValidationError as error:
        raise CommandError(" ".join(error.messages), returncode=USAGE) from error
    return password


def _as_dict(done: FirstStart) -> dict[str, Any]:
    return {
        "organisation": done.organisation.slug,
        "organisation_is_new": done.organisation_is_new,
        "admin": done.admin.username,
        "admin_is_new": done.admin_is_new,
        "password": done.password,
        "service_account": done.account.name,
        "token": done.token,
    }


def _as_text(done: FirstStart) -> str:
    lines = [
        f"organisation    {done.organisation.slug} ({'new' if done.organisation_is_new else 'was there'})",
        f"admin           {done.admin.username} ({'new' if done.admin_is_new else 'was there'})",
        f"service account {done.account.name}",
    ]
    if done.password:
        lines.append(f"password        {done.password}   (shown once)")
    lines.append(
        f"token           {done.token}   (shown once)"
        if done.token
        else "token           was shown before; --new-token replaces it"
    )
    return "\n".join(lines)
