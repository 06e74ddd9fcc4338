"""`manage.py open_case`: one ticket by hand. The same ticket again is the same case. Exit: 0, 1 refused, 2 usage."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.commands import (
    FAILED,
    USAGE,
    acting_person,
    add_json,
    add_person,
    permitted_organisation,
    refusal,
    shown,
    write_json,
)
from accounts.principal import actor_of_person
from caseflow.domain.canonical import MAX_BYTES, normalised, parse_json
from caseflow.domain.errors import CaseflowError, IntakeConflict
from caseflow.domain.roles import Right
from cases.requests import open_requested, read_request


class Command(BaseCommand):
    help = "Opens a case, or finds the one that the same ticket opened before."

    def add_arguments(self, parser: CommandParser) -> None:
        add_person(parser)
        parser.add_argument("--organisation", metavar="SLUG", required=True)
        parser.add_argument("--process", required=True, help="such as restore_access")
        parser.add_argument("--source", required=True, help="the system the ticket comes from, such as helpdesk")
        parser.add_argument("--external-id", required=True, help="the ticket's own id, such as T-4821")
        parser.add_argument("--source-url", default="", help="a link back to the ticket")
        parser.add_argument("--department", default="", metavar="SLUG")
        parser.add_argument("--intake", required=True, metavar="FILE", help="a JSON object; - reads standard input")
        add_json(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        person = acting_person(options["person"])
        organisation = permitted_organisation(options["organisation"], person, Right.OPEN_CASE)
        fields = {name: options[name] for name in ("process", "source", "external_id", "source_url", "department")}
        raw = _read(options["intake"])
        try:
            request = read_request(normalised(fields | {"intake": parse_json(raw)}))
            opened = open_requested(request, organisation=organisation, actor=actor_of_person(person))
        except CaseflowError as error:
            if options["json"]:
                write_json(self, described_refusal(error))
                raise CommandError("the case was not opened", returncode=FAILED) from error
            raise refusal(error) from error
        done = described(opened.case, created=opened.created)
        if options["json"]:
            write_json(self, done)
        else:
            self.stdout.write(f"{done['result']}  {done['case']}  {shown(done['external_id'])}  {done['state']}")


def described(case: Any, *, created: bool) -> dict[str, Any]:
    return {
        "result": "accepted" if created else "same",
        "case": case.public_id,
        "external_id": case.external_id,
        "state": case.state,
        "version": case.version,
    }


def described_refusal(error: CaseflowError) -> dict[str, Any]:
    """`result`, `code`, `path` where there is one, `reason`, and the other case of a conflict."""
    answer = {
        "result": "conflict" if isinstance(error, IntakeConflict) else "refused",
        "code": error.code,
        "path": error.params.get("path", ""),
        "reason": error.params.get("problem", error.message),
    }
    return answer | ({"case": error.params["case"]} if isinstance(error, IntakeConflict) else {})


def _read(name: str) -> bytes:
    """One byte more than allowed is enough to see that it is too much."""
    try:
        if name == "-":
            return sys.stdin.buffer.read(MAX_BYTES + 1)
        with Path(name).open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{name} cannot be read: {error.strerror}", returncode=USAGE) from error
