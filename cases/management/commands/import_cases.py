"""`manage.py import_cases FILE`: tickets as JSON Lines. A bad line never stops the rest.

The file is read as a stream, so a million lines need no more memory than ten. Running it again is safe: a line that
was accepted before is "same". Exit codes: 0 every line is accepted or the same, 1 failed, 2 usage, 3 some lines were
refused or conflict with what was accepted before.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from accounts.commands import (
    DIFFERENCES,
    FAILED,
    USAGE,
    acting_person,
    add_json,
    add_person,
    permitted_organisation,
    shown,
    write_json,
    write_progress,
)
from accounts.models import Organisation
from accounts.principal import Actor, actor_of_person
from caseflow.domain.canonical import MAX_BYTES, parse_json
from caseflow.domain.errors import CaseflowError, TooLarge
from caseflow.domain.roles import Right
from cases.requests import open_requested, read_request

from .open_case import described, described_refusal

PROGRESS_LINES = 1000  #: lines between two words about progress
PROGRESS_SECONDS = 2.0  #: or this long, whichever comes first
CHUNK = 64 * 1024  #: bytes, when the rest of an endless line is passed over
BOM = b"\xef\xbb\xbf"

RESULTS = ("accepted", "same", "conflict", "refused")


class Command(BaseCommand):
    help = "Opens cases from JSON Lines: one request body a line, without organisation or with the same one."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", help="JSON Lines; - reads standard input")
        parser.add_argument("--organisation", metavar="SLUG", required=True)
        add_person(parser)
        add_json(parser, "one JSON object a line")

    def handle(self, *args: Any, file: str, **options: Any) -> None:
        person = acting_person(options["person"])
        organisation = permitted_organisation(options["organisation"], person, Right.OPEN_CASE)
        counts: Counter[str] = Counter()
        progress = Progress(self)
        number = 0
        try:
            with _opened(file) as stream:
                for number, line in lines_of(stream):
                    answer = {"line": number} | import_line(line, organisation, actor_of_person(person))
                    counts[answer["result"]] += 1
                    if options["json"]:
                        write_json(self, answer)
                    else:
                        self.stdout.write(_as_text(answer))
                    progress.tell(number, counts)
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}", returncode=USAGE) from error
        except DatabaseError as error:
            problem = f"stopped at line {number + 1}: {type(error).__name__}; run it again, nothing is opened twice"
            raise CommandError(problem, returncode=FAILED) from error
        summary = {"lines": sum(counts.values())} | {result: counts[result] for result in RESULTS}
        if options["json"]:
            write_json(self, {"summary": summary})
        else:
            self.stdout.write(_summed(counts))
        if counts["conflict"] or counts["refused"]:
            # No CommandError: the run did not fail, and its last line said already what remains.
            sys.exit(DIFFERENCES)


def import_line(line: bytes | None, organisation: Organisation, actor: Actor) -> dict[str, Any]:
    """What became of one line; None stands for a line that is longer than a request may be."""
    external_id = ""
    try:
        if line is None:
            raise TooLarge(limit=MAX_BYTES)
        request = read_request(parse_json(line))
        external_id = request.external_id
        opened = open_requested(request, organisation=organisation, actor=actor)
    except CaseflowError as error:
        return described_refusal(error) | ({"external_id": external_id} if external_id else {})
    return described(opened.case, created=opened.created)


def lines_of(stream: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """(number from 1, line without its end); None for a line that is too long. Blank lines are left out."""
    number = 0
    while line := stream.readline(MAX_BYTES + 2):
        number += 1
        if number == 1:
            line = line.removeprefix(BOM)
        text = line.rstrip(b"\r\n")
        if len(text) > MAX_BYTES:
            while not line.endswith(b"\n") and line:
                line = stream.readline(CHUNK)
            yield number, None
        elif text.strip():
            yield number, text


class Progress:
    """How far it is, on standard error: every thousand lines or two seconds."""

    def __init__(self, command: BaseCommand) -> None:
        self._command = command
        self._begun = self._told = time.monotonic()
        self._lines = 0

    def tell(self, number: int, counts: Counter[str]) -> None:
        self._lines += 1
        now = time.monotonic()
        if self._lines % PROGRESS_LINES and now - self._told < PROGRESS_SECONDS:
            return
        self._told = now
        rate = self._lines / max(now - self._begun, 0.001)
        write_progress(self._command, f"line {number}: {_summed(counts)} ({rate:.0f} lines/s)")


def _opened(name: str) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if name == "-" else Path(name).open("rb")


def _as_text(answer: dict[str, Any]) -> str:
    start = f"{answer['line']} {answer['result']}"
    if answer["result"] in ("accepted", "same"):
        return f"{start} {answer['case']} {shown(answer['external_id'])}"
    return shown(" ".join(filter(None, [start, answer["code"], answer["path"], answer["reason"]])))


def _summed(counts: Counter[str]) -> str:
    return ", ".join(f"{result} {counts[result]}" for result in RESULTS)
