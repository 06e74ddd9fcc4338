"""Whether processes of one kind live, by their heartbeats: what the health check of a container asks."""

from __future__ import annotations

import json
import socket
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.db import DatabaseError

from cases.models import WorkerBeat
from cases.selectors import list_beats


class Command(BaseCommand):
    help = "Exit 0 where a process of this kind lives, else 1. A heartbeat comes every 5 s and counts for 20 s."
    requires_system_checks = []  # asked every few seconds

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", choices=WorkerBeat.Kind.values)
        parser.add_argument("--here", action="store_true", help="only those of this host or container")
        parser.add_argument("--queue", default="", help="only workers that fetch from this queue")
        parser.add_argument("--json", action="store_true", dest="as_json")

    def handle(self, *args: Any, kind: str, here: bool, queue: str, as_json: bool, **options: Any) -> None:
        try:
            beats = list(list_beats().filter(kind=kind, **({"host": socket.gethostname()} if here else {})))
        except DatabaseError as error:
            # Whether it lives is not known; that it cannot work is.
            self._end({}, f"the database is away: {type(error).__name__}", as_json)
            return
        if queue:
            beats = [beat for beat in beats if queue in beat.versions.get("queues", [])]
        states = dict.fromkeys(WorkerBeat.State.values, 0)
        for beat in beats:
            states[beat.state] += 1  # type: ignore[attr-defined]  # the selector annotates it
        reasons = sorted({beat.reason for beat in beats if beat.reason and not beat.stopped_at})
        self._end(states, "; ".join(reasons), as_json)

    def _end(self, states: dict[str, int], reason: str, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(states | {"reason": reason}))
        else:
            self.stdout.write(", ".join(f"{number} {state}" for state, number in states.items()) or reason)
            if states and reason:
                self.stdout.write(reason)
        if not states.get(WorkerBeat.State.LIVE):
            sys.exit(1)
