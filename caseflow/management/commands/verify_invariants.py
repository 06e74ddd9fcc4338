"""`manage.py verify_invariants`: does what is stored keep the promises of design §13?

Reads only, beside live workers, from one consistent moment. Exit codes: 0 clean, 1 failed, 2 usage, 3 violations.
"""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from accounts.commands import DIFFERENCES, FAILED, add_json, shown, write_json
from caseflow.invariants.finding import Finding
from caseflow.invariants.outside import LedgerUnreadable
from caseflow.invariants.running import Invariant, ask_all


class Command(BaseCommand):
    help = "Proves the promises that rows can prove, and names the cases that break one."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--ledger", metavar="URL", default="", help="base address of the simulator")
        add_json(parser, "one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        found: list[dict[str, Any]] = []
        try:
            for invariant, finding in ask_all(options["ledger"]):
                found.append(described(invariant, finding))
                if not options["json"]:
                    self.stdout.write("\n".join(lines_of(found[-1])))
        except (DatabaseError, LedgerUnreadable) as error:
            raise CommandError(f"the run failed: {type(error).__name__}: {error}", returncode=FAILED) from error
        violations = sum(one["violations"] for one in found)
        if options["json"]:
            write_json(self, {"clean": violations == 0, "violations": violations, "invariants": found})
        else:
            self.stdout.write(f"violations: {violations}" if violations else "clean")
        if violations:
            sys.exit(DIFFERENCES)  # no CommandError: the run did not fail


def described(invariant: Invariant, finding: Finding) -> dict[str, Any]:
    return {
        "name": invariant.name,
        "number": invariant.number,
        "checked": finding.checked,
        "violations": finding.violations,
        "skipped": finding.skipped,
        "examples": [{"case": one.case, "problem": one.problem} for one in finding.shown],
    }


def lines_of(found: dict[str, Any]) -> list[str]:
    verdict = found["skipped"] or (f"{found['violations']} violations" if found["violations"] else "ok")
    lines = [f"{found['name']:<28} checked {found['checked']:>8}  {verdict}"]
    return lines + [f"  {one['case'] or '-':<14} {shown(one['problem'])}" for one in found["examples"]]
