"""Every metric of /metrics as a table of Markdown: what stands in docs/watching.md."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from caseflow.metrics.catalogue import table


class Command(BaseCommand):
    help = "Print the table of metrics that docs/watching.md holds."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(table(), ending="")
