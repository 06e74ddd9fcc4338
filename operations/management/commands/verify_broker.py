"""`manage.py verify_broker`: is the doorbell set up so that it says no instead of losing a message in silence?

Reads only. Exit codes: 0 all is well, 1 it does not answer, 2 usage, 3 something is set otherwise.
"""

from __future__ import annotations

import sys
from typing import Any

import redis
from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.commands import DIFFERENCES, FAILED, add_json, shown, write_json
from operations.broker import examine


class Command(BaseCommand):
    help = "Checks the message server: class, version, eviction, persistence, password, and that nobody else uses it."

    def add_arguments(self, parser: CommandParser) -> None:
        add_json(parser, "one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            checks = examine()
        except (redis.RedisError, OSError) as error:
            problem = f"the message server does not answer: {type(error).__name__}: {shown(str(error))}"
            raise CommandError(problem, returncode=FAILED) from error
        wrong = [check for check in checks if not check.holds]
        if options["json"]:
            rows = [
                {"check": one.name, "holds": one.holds, "found": one.found, "advice": "" if one.holds else one.advice}
                for one in checks
            ]
            write_json(self, {"holds": not wrong, "checks": rows})
        else:
            for one in checks:
                self.stdout.write(f"{one.name:<12} {'ok' if one.holds else 'WRONG':<6} {shown(one.found)}")
                if not one.holds:
                    self.stdout.write(f"             {one.advice}")
        if wrong:
            sys.exit(DIFFERENCES)  # no CommandError: the run did not fail
