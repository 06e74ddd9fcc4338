"""The page of operations: what is wrong and the command that helps, queues, who works, versions, migrations.

Counts only: no case, no name of a customer, no text of anybody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy, ngettext

from accounts.models import Person
from approvals.circuits import list_open
from approvals.models import ProviderCircuit
from cases.models import WorkerBeat
from cases.processes import all_processes
from cases.selectors import list_beats
from operations.drift_selectors import DriftHealth, drift_health
from operations.indicators.health import measure_health
from operations.indicators.scope import Window
from operations.indicators.work import count_exhausted, measure_queues

from . import metrics_of_work, words
from .health import ALERT, WAIT, Trouble, require_operator, troubles_of
from .moments import ago_text
from .tables import Section, number_text

NEWEST = 8  #: migrations that stand on the page
State, Kind = WorkerBeat.State, WorkerBeat.Kind

KINDS: dict[str, Promise] = {Kind.WORKER: gettext_lazy("worker"), Kind.DISPATCHER: gettext_lazy("dispatcher")}
_STATES: dict[str, tuple[Promise, str, str]] = {
    State.LIVE: (gettext_lazy("lives"), "check", "done"),
    State.RED: (gettext_lazy("of no use"), "warning", "alert"),
    State.SILENT: (gettext_lazy("silent"), "cross", "alert"),
    State.STOPPED: (gettext_lazy("told to stop"), "minus", "calm"),
}


@dataclass(frozen=True, slots=True)
class Process:
    """One process of the system that works or rings, as its last heartbeat says."""

    name: str
    kind: str
    where: str
    state: words.Shown
    beat_at: datetime
    booted_at: datetime
    fetched_at: datetime | None
    queues: str
    reason: str


@dataclass(frozen=True, slots=True)
class Migration:
    """One that was applied."""

    name: str
    at: datetime


@dataclass(frozen=True, slots=True)
class OpsPage:
    troubles: Sequence[Trouble]
    sections: Sequence[Section]
    processes: Sequence[Process]
    versions: Sequence[str]  #: of Python and the libraries, as the living ones say; more than one line is two versions
    migrations: Sequence[Migration]
    applied: int
    missing: Sequence[str]
    installed: Sequence[str]  #: processes of cases that this page knows


def gather(person: Person) -> OpsPage:
    """A fixed number of queries. Raises NotPermitted."""
    scope = require_operator(person).operated
    beats: list[Any] = list(list_beats())  # with a `state` that the selector annotates
    given_up = count_exhausted(scope, Window.DAY)
    missing, applied = _missing(), MigrationRecorder.Migration.objects.order_by("-applied", "-id")
    troubles = [
        *troubles_of(measure_health(scope)),
        *_of_beats(beats),
        *_of_migrations(missing),
        *_of_exhausted(sum(row.number for row in given_up)),
        *_of_drift(drift_health()),
        *_of_models(list_open()),
    ]
    newest = list(applied[:NEWEST])
    return OpsPage(
        # What stops everything stands before what is merely slow, whoever found it.
        troubles=sorted(troubles, key=lambda trouble: trouble.tone != ALERT),
        sections=[metrics_of_work.queues(measure_queues(scope)), metrics_of_work.exhausted(given_up)],
        processes=[_process(beat) for beat in beats],
        versions=sorted({_versions(beat) for beat in beats if beat.state == State.LIVE}),
        migrations=[Migration(f"{row.app}.{row.name}", row.applied) for row in newest],
        applied=applied.count(),
        missing=missing,
        installed=sorted(all_processes()),
    )


def _process(beat: Any) -> Process:
    label, icon, tone = _STATES[beat.state]
    return Process(
        name=beat.name,
        kind=str(KINDS.get(beat.kind, beat.kind)),
        where=f"{beat.host}:{beat.pid}",
        state=words.Shown(beat.state, str(label), "", icon, tone),
        beat_at=beat.beat_at,
        booted_at=beat.booted_at,
        fetched_at=beat.last_fetch_at,
        queues=", ".join(beat.versions.get("queues", [])),
        reason=beat.reason,
    )


def _versions(beat: Any) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(beat.versions.items()) if isinstance(value, str))


def _missing() -> list[str]:
    """Migrations of the code that the database does not have."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]


def _of_beats(beats: Sequence[Any]) -> Iterator[Trouble]:
    installed = set(all_processes())
    for beat in beats:
        if beat.state == State.RED:
            told = {"name": beat.name, "where": f"{beat.host}:{beat.pid}", "reason": beat.reason}
            sentence = gettext("%(name)s at %(where)s lives but is of no use: %(reason)s.") % told
            yield Trouble(WAIT, sentence, [])
    lacking = {
        name for beat in beats if beat.kind == Kind.WORKER and beat.state == State.LIVE
        for name in installed - set(beat.versions.get("processes", []))
    }  # fmt: skip
    if lacking:
        sentence = gettext(
            "Some workers do not have: %(processes)s. They run another version of the code than this page."
        )
        yield Trouble(WAIT, sentence % {"processes": ", ".join(sorted(lacking))}, ["manage.py run_workers"])


def _of_migrations(missing: Sequence[str]) -> Iterator[Trouble]:
    if missing:
        sentence = ngettext(
            "%(number)s migration of the code is not applied to the database.",
            "%(number)s migrations of the code are not applied to the database.",
            len(missing),
        )
        told = sentence % {"number": len(missing)}
        yield Trouble(ALERT, told, ["manage.py migrate --database owner"])


def _of_exhausted(number: int) -> Iterator[Trouble]:
    if number:
        sentence = ngettext(
            "%(number)s task was given up in the last 24 hours.",
            "%(number)s tasks were given up in the last 24 hours.",
            number,
        )
        yield Trouble(WAIT, sentence % {"number": number_text(number)}, ["manage.py requeue_tasks"])


def _of_models(open_ones: Sequence[ProviderCircuit]) -> Iterator[Trouble]:
    for one in open_ones:
        sentence = gettext(
            "The provider of models %(provider)s is left alone: %(number)s faults in a row, the last is %(code)s. It is"
            " tried again every minute; rules take over only where an organisation chose so."
        )
        said = {"provider": one.provider, "number": number_text(one.failures), "code": one.code}
        yield Trouble(WAIT, sentence % said, [])


def _of_drift(health: DriftHealth) -> Iterator[Trouble]:
    if health.ended_at is None:
        sentence = gettext(
            "No comparison with the outside systems has been through yet, so nobody has looked for differences."
        )
        yield Trouble(WAIT, sentence, ["manage.py check_drift"])
    elif not health.is_fresh:
        sentence = gettext("The comparison with the outside systems has not been through for %(age)s.")
        yield Trouble(WAIT, sentence % {"age": ago_text(health.ended_at)}, ["manage.py check_drift"])
