"""Each metric once more, out of plain rows and without a statement of ours: what the collector has to say."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import time
from typing import Any

from django.conf import settings
from django.db import connection

from accounts.models import StaffNotice
from actions.models import Action, ExternalCall
from approvals.models import Decision, ModelCall, ProviderCircuit
from audit.models import AuditEvent, WaitingEvent
from audit.services import facts_of
from caseflow.domain.times import Part
from cases.beats import BEAT_SILENCE
from cases.models import Attempt, Case, Installation, Pause, Task, WorkerBeat
from cases.times import COLUMNS
from operations.models import DriftFinding, DriftRun, Hook, HookDelivery, HookReading, Obligation, Recovery

Numbers = dict[tuple[str, ...], float]
NOW = datetime.now
TABLES = ("actions_action", "actions_externalcall", "audit_auditevent", "cases_attempt", "cases_case", "cases_task")


def ago(**span: float) -> datetime:
    return NOW(UTC) - timedelta(**span)


def lately() -> datetime:
    return ago(minutes=5)


def counted(keys: Iterable[Any]) -> Numbers:
    return {key if isinstance(key, tuple) else (key,): float(number) for key, number in Counter(keys).items()}


def aged(rows: Iterable[tuple[Hashable, datetime | None]]) -> Numbers:
    """Key → seconds since the oldest of its moments."""
    oldest: dict[Any, datetime] = {}
    for key, at in rows:
        if at is not None:
            oldest[key] = min(at, oldest.get(key, at))
    return {key if isinstance(key, tuple) else (key,): (NOW(UTC) - at).total_seconds() for key, at in oldest.items()}


def newest(rows: Iterable[tuple[str, datetime | None]]) -> Numbers:
    latest: dict[str, datetime] = {}
    for key, at in rows:
        if at is not None:
            latest[key] = max(at, latest.get(key, at))
    return {(key,): (NOW(UTC) - at).total_seconds() for key, at in latest.items()}


def summed(rows: Iterable[tuple[tuple[str, ...], float]]) -> Numbers:
    found: Numbers = defaultdict(float)
    for key, number in rows:
        found[key] += number
    return dict(found)


def open_cases() -> list[Case]:
    return list(Case.objects.filter(closed_at=None))


def stopped() -> list[Case]:
    return [case for case in open_cases() if case.state == "NEEDS_ATTENTION"]


def timed() -> list[Case]:
    return list(Case.objects.filter(closed_at__gt=lately(), queue_us__isnull=False))


def seconds(case: Case, part: Part) -> float:
    return getattr(case, COLUMNS[part]) / 1e6


def quantiles() -> Numbers:
    found: Numbers = {}
    for process in {case.process for case in timed()}:
        totals = sorted(sum(seconds(case, part) for part in Part) for case in timed() if case.process == process)
        for share in (0.5, 0.9):
            # The first value that at least this share of the cases does not exceed.
            place = next(n for n in range(len(totals)) if (n + 1) / len(totals) >= share)
            found[process, str(share)] = totals[place]
    return found


def is_due(task: Task) -> bool:
    return task.status == "due" and task.available_at <= NOW(UTC)


def is_paused(task: Task) -> bool:
    live = [pause for pause in Pause.objects.filter(ended_at=None) if pause.until is None or pause.until > NOW(UTC)]
    return task.organisation_key != 0 and any(
        pause.organisation_id in (None, task.organisation_key)
        and (pause.kind in ("all", "organisation") or (pause.kind == "process" and f"{pause.key}:" in task.process))
        for pause in live
    )


def overdue() -> list[Task]:
    return [task for task in Task.objects.filter(status="due", available_at__lt=ago(seconds=60)) if not is_paused(task)]


def queues(fits: Callable[[Task], bool]) -> Numbers:
    live = Task.objects.filter(status__in=["due", "leased"])
    return {(queue,): 0.0 for queue in set(live.values_list("queue", flat=True))} | counted(
        task.queue for task in live if fits(task)
    )


def beat_state(beat: WorkerBeat) -> str:
    if beat.stopped_at:
        return "stopped"
    if beat.beat_at < NOW(UTC) - BEAT_SILENCE:
        return "silent"
    return "live" if beat.is_live else "red"


def moves() -> Numbers:
    rows = [row for row in AuditEvent.objects.filter(at__gt=lately()) if row.case_id]
    process = dict(Case.objects.values_list("pk", "process"))
    names = {"COMPLETED": "completed", "CLOSED_NO_CHANGE": "closed_no_change", "NEEDS_ATTENTION": "stopped"}
    told = [(process[row.case_id], "opened") for row in rows if row.version == 1]
    return counted([*told, *((process[row.case_id], names[row.to_state]) for row in rows if row.to_state in names)])


def calls() -> list[tuple[tuple[str, str, str], float]]:
    rows = ExternalCall.objects.filter(begun_at__gt=lately()).select_related("action")
    return [
        ((row.action.system, row.kind, row.outcome or "open"),
         (row.ended_at - row.begun_at).total_seconds() if row.ended_at else 0.0)
        for row in rows
    ]  # fmt: skip


def unknown() -> list[Action]:
    return list(Action.objects.filter(status="UNKNOWN"))


def refusals(kind: str) -> list[dict[str, Any]]:
    return [facts_of(row.body)["facts"] for row in AuditEvent.objects.filter(kind=kind, at__gt=ago(days=1))]


def differing() -> list[DriftFinding]:
    return list(DriftFinding.objects.filter(at__gt=ago(days=1)))


def run() -> DriftRun:
    return DriftRun.objects.filter(ended_at__isnull=False).latest("began_at")


def failing_hooks() -> list[Hook]:
    return [hook for hook in Hook.objects.all() if hook.is_active and hook.failing_since]


def left_alone() -> list[ProviderCircuit]:
    return [row for row in ProviderCircuit.objects.all() if row.opened_at and row.provider in settings.CASEFLOW_MODELS]


def questions() -> Numbers:
    """One question is one task; its last request says what became of it."""
    rows = ModelCall.objects.filter(begun_at__gt=lately()).select_related("case").order_by("pk")
    last = {row.task_id: (row.case.process, row.provider, row.outcome) for row in rows}
    results = {"answered": "accepted", "invalid": "refused", "missing": "missing", "": "unfinished"}
    found = counted((process, provider, results.get(said, "unserved")) for process, provider, said in last.values())
    nought = {(*one[:2], result): 0.0 for one in found for result in (*results.values(), "unserved")}
    return nought | found


def late_reports() -> list[Obligation]:
    return list(Obligation.objects.filter(overdue_at__isnull=False))  # the world has none with a document


def estimates() -> Numbers:
    with connection.cursor() as cursor:
        found = {}
        for table in TABLES:
            cursor.execute(f"SELECT count(*) FROM {table}")
            found[(table,)] = float(cursor.fetchone()[0])
    return found


def held() -> Numbers:
    home = Installation.objects.first()
    elsewhere = home is None or home.installation_id != settings.CASEFLOW_INSTALLATION_ID
    return {("elsewhere",): float(elsewhere), ("restored",): float(bool(home and home.restored and not elsewhere))}


def one(number: float) -> Numbers:
    return {(): float(number)}


#: Metric without its prefix → what it has to say. Those of the scrape itself say nothing of rows.
TRUTH: dict[str, Callable[[], Numbers]] = {
    "cases_open": lambda: counted((case.process, case.state) for case in open_cases()),
    "cases_open_oldest_seconds": lambda: aged(((c.process, c.state), c.state_since) for c in open_cases()),
    "cases_attention": lambda: counted((case.process, case.reason) for case in stopped()),
    "cases_attention_oldest_seconds": lambda: aged(((c.process, c.reason), c.state_since) for c in stopped()),
    "cases_moved_recent": moves,
    "cases_timed_recent": lambda: counted(case.process for case in timed()),
    "case_seconds_recent": lambda: summed(
        ((case.process, part.value), seconds(case, part)) for case in timed() for part in Part
    ),
    "case_seconds_recent_quantile": quantiles,
    "tasks_due": lambda: queues(is_due),
    "tasks_later": lambda: queues(lambda task: task.status == "due" and not is_due(task)),
    "tasks_leased": lambda: queues(lambda task: task.status == "leased"),
    "tasks_oldest_due_seconds": lambda: aged((t.queue, t.available_at) for t in Task.objects.all() if is_due(t)),
    "tasks_oldest_attempt_seconds": lambda: aged(
        (a.task.queue, a.begun_at)
        for a in Attempt.objects.select_related("task").filter(task__status="leased", ended_at=None)
    ),
    "tasks_overdue": lambda: {("quick",): 0.0, ("slow",): 0.0} | counted(task.queue for task in overdue()),
    "tasks_overdue_oldest_seconds": lambda: aged((task.queue, task.available_at) for task in overdue()),
    "tasks_given_up": lambda: counted(
        (t.stage, t.last_error) for t in Task.objects.filter(status="failed", ended_at__gt=ago(days=1))
    ),
    "attempts_recent": lambda: counted(
        (a.task.stage, a.outcome or "running")
        for a in Attempt.objects.filter(begun_at__gt=lately()).select_related("task")
    ),
    "queue_has_worker": lambda: {
        (queue,): float(any(b.kind == "worker" and beat_state(b) == "live" and queue in b.versions["queues"]
                            for b in WorkerBeat.objects.all()))
        for queue in ("quick", "slow")
    },
    "processes": lambda: counted((beat.kind, beat_state(beat)) for beat in WorkerBeat.objects.all()),
    "heartbeat_age_seconds": lambda: newest((beat.kind, beat.beat_at) for beat in WorkerBeat.objects.all()),
    "turn_age_seconds": lambda: newest((beat.kind, beat.last_fetch_at) for beat in WorkerBeat.objects.all()),
    "calls_recent": lambda: counted(key for key, _ in calls()),
    "calls_recent_seconds": lambda: summed(calls()),
    "calls_recent_slowest_seconds": lambda: {
        key: max(took for other, took in calls() if other == key) for key, _ in calls()
    },
    "actions_unknown": lambda: counted((action.system, action.kind) for action in unknown()),
    "actions_unknown_oldest_seconds": lambda: aged(((a.system, a.kind), a.first_sent_at) for a in unknown()),
    "drift_effects": lambda: one(len({finding.action_id for finding in differing()})),
    "drift_news": lambda: one(len({finding.action_id for finding in differing() if finding.is_new})),
    "drift_last_run_checked": lambda: one(run().checked),
    "drift_last_run_unreadable": lambda: one(run().unreadable),
    "drift_last_run_age_seconds": lambda: one((NOW(UTC) - run().ended_at).total_seconds()),  # type: ignore[operator]
    "notices_failed": lambda: counted(
        (a.system, a.status)
        for a in Action.objects.filter(kind="notice", status__in=["REFUSED", "UNKNOWN"], settled_at__gt=ago(days=1))
    ),
    "staff_mail_waiting": lambda: one(sum(not row.outcome for row in StaffNotice.objects.all())),
    "staff_mail_failed": lambda: one(
        sum(row.outcome == "failed" and row.at > ago(days=1) for row in StaffNotice.objects.all())
    ),
    "hooks_failing": lambda: counted(hook.channel for hook in failing_hooks()),
    "hooks_failing_oldest_seconds": lambda: aged((hook.channel, hook.failing_since) for hook in failing_hooks()),
    "hook_deliveries": lambda: counted(
        row.status for row in HookDelivery.objects.all() if row.status in ("waiting", "failed")
    ),
    "hooks_reading_lag_seconds": lambda: aged(
        ((), datetime.fromtimestamp(reading.safe_us / 1e6, UTC)) for reading in HookReading.objects.all()
    ),
    "model_circuit_open": lambda: dict.fromkeys(((name,) for name in settings.CASEFLOW_MODELS), 0.0)
    | counted(row.provider for row in left_alone()),
    "model_circuit_open_age_seconds": lambda: aged((row.provider, row.opened_at) for row in left_alone()),
    "model_questions_recent": questions,
    "decisions_recent": lambda: counted(
        (row.proposal.case.process, row.kind) for row in Decision.objects.filter(at__gt=lately())
    ),
    "approvals_refused": lambda: {("stale_snapshot",): 0.0} | counted(
        facts["code"] for facts in refusals("decision.refused") if facts["decision"] == "approve"
    ),
    "approvals_overtaken": lambda: {
        ("facts_changed",): float(len(refusals("case.facts_changed"))),
        ("lapsed",): float(len(refusals("case.approval_lapsed"))),
    },
    "recoveries_waiting": lambda: one(Recovery.objects.filter(status="waiting").count()),
    "recoveries_waiting_oldest_seconds": lambda: aged(
        ((), row.asked_at) for row in Recovery.objects.filter(status="waiting")
    ),
    "pauses": lambda: counted((pause.kind, pause.key) for pause in Pause.objects.filter(ended_at=None)),
    "reports_late": lambda: one(len(late_reports())),
    "reports_late_oldest_seconds": lambda: aged(((), row.grace_until) for row in late_reports()),
    "audit_unnumbered": lambda: one(WaitingEvent.objects.count()),
    "audit_unnumbered_oldest_seconds": lambda: aged(((), row.event.at) for row in WaitingEvent.objects.all()),
    "seal_age_seconds": lambda: one(
        time() - max(path.stat().st_mtime for path in Path(settings.CASEFLOW_SEAL_FOLDER).glob("*.seal"))
    ),
    "effects_held": held,
    "rows_estimated": estimates,  # right after ANALYZE
}  # fmt: skip
