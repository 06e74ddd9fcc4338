"""`manage.py show_process restore_access`: its table, endings and policies. Exit codes: 0 done, 2 usage."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from datetime import timedelta
from enum import Enum
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import translation
from django.utils.translation import gettext

from accounts.commands import USAGE, add_json, shown, write_json
from accounts.models import Language
from caseflow.domain.drawing import mermaid
from caseflow.domain.lifecycle import Transition, When
from caseflow.domain.process import Process
from cases.processes import all_processes
from cases.stages import all_stages


class Command(BaseCommand):
    help = "Shows a process: what moves a case from where to where, every ending with its sentence, every policy."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("process", metavar="PROCESS", help="such as restore_access")
        parser.add_argument("--version", type=int, dest="process_version", help="the newest if left out")
        form = parser.add_mutually_exclusive_group()
        add_json(form)  # type: ignore[arg-type]  # a group takes arguments as a parser does
        form.add_argument("--mermaid", action="store_true", help="the table as a Mermaid diagram")
        parser.add_argument("--language", choices=Language.values, default=Language.EN.value)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # Django's own --version gives way to the process's.
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def handle(self, *args: Any, process: str, **options: Any) -> None:
        found = _find(process, options["process_version"])
        with translation.override(options["language"]):
            if options["json"]:
                write_json(self, described(found))
            elif options["mermaid"]:
                self.stdout.write("\n".join(mermaid(found.table)))
            else:
                self.stdout.write("\n".join(lines_of(described(found))))


def described(process: Process) -> dict[str, Any]:
    """The process as JSON values; spans are seconds."""
    stages = all_stages()
    return {
        "process": process.slug,
        "version": process.version,
        "title": gettext(process.title),
        "proposer": process.proposer,
        "intake": {
            name: {"personal": name in process.personal_intake, "required": field.is_required()}
            for name, field in process.Intake.model_fields.items()
        },
        "facts": [dataclasses.asdict(source) for source in process.facts],
        "critical": list(process.critical),
        "endings": {
            name: {"kind": ending.kind.value, "says": gettext(ending.sentence)}
            for name, ending in process.endings.items()
        },
        "approval": _plain(dataclasses.asdict(process.approval)) if process.approval else None,
        "retry": {
            name: _plain(dataclasses.asdict(process.retry.get(name, stage.policy))) for name, stage in stages.items()
        },
        "table": [_row(row) for row in process.table],
    }


def lines_of(process: dict[str, Any]) -> Iterator[str]:
    """The description as lines of text."""
    yield f"{process['process']} {process['version']}: {process['title']}"
    yield f"proposer: {process['proposer']}"
    yield from ("", "facts")
    for fact in process["facts"]:
        yield f"  {fact['name']:<16} {fact['system']}, by the intake's {fact['subject']}"
    yield from ("", "endings")
    for name, ending in process["endings"].items():
        yield f"  {name:<24} {ending['kind']:<9} {ending['says']}"
    yield from ("", "approval")
    if process["approval"] is None:
        yield "  none: a plan is carried out without a person"
    for name, value in (process["approval"] or {}).items():
        yield f"  {name:<24} {value}"
    yield from ("", "attempts (seconds; attempts)")
    for stage, policy in process["retry"].items():
        yield f"  {stage:<10} " + ", ".join(f"{name} {value}" for name, value in policy.items())
    yield from ("", "table")
    for row in process["table"]:
        starts = ", ".join(row["starts"]) or "-"
        more = " ".join(filter(None, [" and ".join(row["guards"]), row["outcome"] and f"outcome {row['outcome']}"]))
        yield f"  {row['from']:<16} {row['event']:<34} {row['to']:<16} {starts:<28} {more}".rstrip()


def _row(row: Transition) -> dict[str, Any]:
    return {
        "from": row.source.value,
        "event": row.event.value,
        "to": row.target.value,
        "starts": [start.stage if start.when is When.NOW else f"{start.stage} (given)" for start in row.starts],
        "guards": sorted(guard.value for guard in row.guards),
        "outcome": row.outcome.value if row.outcome else "",
    }


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {name: _value(value) for name, value in values.items()}


def _value(value: Any) -> Any:
    if isinstance(value, timedelta):
        return value.total_seconds()
    return value.value if isinstance(value, Enum) else value


def _find(slug: str, version: int | None) -> Process:
    versions = {process.version: process for process in all_processes().values() if process.slug == slug}
    if not versions:
        known = ", ".join(sorted({process.slug for process in all_processes().values()}))
        raise CommandError(f"there is no process {shown(slug)}; there are: {known}", returncode=USAGE)
    if version is not None and version not in versions:
        raise CommandError(f"{slug} has the versions {sorted(versions)}", returncode=USAGE)
    return versions[max(versions) if version is None else version]
