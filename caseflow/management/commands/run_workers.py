"""Workers under supervision: replaced when they die or are of no use, stopped in order, asked at /livez."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from caseflow.livez import serve_livez
from caseflow.supervising import DRAMATIQ_STOP_LIMIT, Family, Part
from cases.models.task import QUICK, SLOW


class Command(BaseCommand):
    help = (
        "Work on what the dispatcher rings for, until stopped: TERM finishes the tasks under way, a second one kills."
    )
    requires_system_checks = []  # the workers are started again and again; `manage.py check` is for deploying

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--processes", type=int, default=1, help="worker processes; each is replaced by itself")
        parser.add_argument("--threads", type=int, default=8, help="tasks at a time in each process")
        parser.add_argument("--queues", nargs="+", choices=[QUICK, SLOW], default=[], help="only these; without, all")
        parser.add_argument(
            "--health-port",
            type=int,
            default=settings.CASEFLOW_HEALTH_PORT,
            help="answer GET /livez on 127.0.0.1; 0 does not; CASEFLOW_HEALTH_PORT if left out",
        )

    def handle(
        self, *args: Any, processes: int, threads: int, queues: list[str], health_port: int, **options: Any
    ) -> None:
        environment = {**os.environ}
        environment.setdefault("CASEFLOW_ROLE", "worker")
        arguments = ["caseflow.worker:broker", "--processes", "1", "--threads", str(threads)]
        arguments += ["--worker-shutdown-timeout", str(int(DRAMATIQ_STOP_LIMIT * 1000))]
        arguments += ["--queues", *queues] if queues else []
        with tempfile.TemporaryDirectory(prefix="caseflow-beats-") as folder:
            family = Family(
                [
                    Part(f"process-{number}", arguments, environment, Path(folder) / str(number))
                    for number in range(1, processes + 1)
                ]
            )
            for order in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(order, family.order_stop)
            server = serve_livez(health_port, family.findings) if health_port else None
            ended_in_order = family.run()
            if server is not None:
                server.shutdown()
        if not ended_in_order:
            sys.exit(1)
