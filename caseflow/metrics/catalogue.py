"""Every metric there is: its name, its labels, what it says. The table of `docs/watching.md` is made from here."""

from __future__ import annotations

from dataclasses import dataclass

PREFIX = "caseflow_"


@dataclass(frozen=True, slots=True)
class Metric:
    """One gauge. Where a number of one moment is the same as a page's, `page` says which."""

    name: str
    says: str
    labels: tuple[str, ...] = ()
    page: str = ""


def _gauge(name: str, says: str, *labels: str, page: str = "") -> Metric:
    return Metric(PREFIX + name, says, labels, page)


# Cases ----------------------------------------------------------------------------------------------------------------

CASES_OPEN = _gauge("cases_open", "Open cases.", "process", "state", page="/console/cases/")
CASES_OPEN_AGE = _gauge(
    "cases_open_oldest_seconds", "Since when the first of them is in this state.", "process", "state",
    page="/console/metrics/",
)  # fmt: skip
ATTENTION = _gauge("cases_attention", "Cases that need a person, by reason.", "process", "reason",
                   page="/console/attention/")  # fmt: skip
ATTENTION_AGE = _gauge("cases_attention_oldest_seconds", "Since when the first of them does.", "process", "reason",
                       page="/console/attention/")  # fmt: skip
MOVES = _gauge("cases_moved_recent", "Cases opened, completed, closed_no_change or stopped for a person; 5 minutes.",
               "process", "move")  # fmt: skip
CLOSED = _gauge("cases_timed_recent", "Closed cases whose time is known, closed within 5 minutes.", "process")
CLOSED_SECONDS = _gauge(
    "case_seconds_recent", "Seconds of those cases in each part: queue, automatic, person, outside, notice.",
    "process", "part",
)  # fmt: skip
CLOSED_QUANTILE = _gauge("case_seconds_recent_quantile", "Half (0.5), or nine of ten (0.9), took no longer.",
                         "process", "quantile")  # fmt: skip

# Tasks, attempts ------------------------------------------------------------------------------------------------------

DUE = _gauge("tasks_due", "Tasks that are due and that no worker has, the paused ones too.", "queue",
             page="/console/ops/")  # fmt: skip
LATER = _gauge("tasks_later", "Tasks due at a moment to come: retries, deadlines, timers.", "queue",
               page="/console/ops/")  # fmt: skip
LEASED = _gauge("tasks_leased", "Tasks that a worker has.", "queue", page="/console/ops/")
DUE_AGE = _gauge("tasks_oldest_due_seconds", "Since when the first of the due ones waits.", "queue",
                 page="/console/ops/")  # fmt: skip
LEASED_AGE = _gauge("tasks_oldest_attempt_seconds", "Since when the oldest of the present attempts runs.", "queue",
                    page="/console/ops/")  # fmt: skip
OVERDUE = _gauge("tasks_overdue", "Tasks due for longer than 60 s, without the paused ones.", "queue",
                 page="the banner of every page")  # fmt: skip
OVERDUE_AGE = _gauge("tasks_overdue_oldest_seconds", "Since when the first of those is due.", "queue",
                     page="the banner of every page")  # fmt: skip
GIVEN_UP = _gauge("tasks_given_up", "Tasks whose attempts or deadline were used up, of 24 hours.", "stage", "error",
                  page="/console/ops/")  # fmt: skip
ATTEMPTS = _gauge("attempts_recent", "Attempts that began within 5 minutes; running, or how they ended.",
                  "stage", "outcome")  # fmt: skip

# Processes ------------------------------------------------------------------------------------------------------------

SERVED = _gauge("queue_has_worker", "1 where a living worker fetches from the queue, else 0.", "queue",
                page="the banner of every page")  # fmt: skip
PROCESSES = _gauge("processes", "Workers and dispatchers by state: live, red, silent, stopped; of one day.",
                   "kind", "state", page="/console/ops/")  # fmt: skip
BEAT_AGE = _gauge("heartbeat_age_seconds", "Since the newest heartbeat of a process of this kind.", "kind",
                  page="/console/ops/")  # fmt: skip
TURN_AGE = _gauge("turn_age_seconds", "Since the newest fetch of a worker, or sweep of a dispatcher: its lag.", "kind",
                  page="/console/ops/")  # fmt: skip

# Outside systems ------------------------------------------------------------------------------------------------------

CALLS = _gauge("calls_recent", "Calls for actions that began within 5 minutes: open, or what came of them.",
               "system", "kind", "outcome")  # fmt: skip
CALL_SECONDS = _gauge("calls_recent_seconds", "Seconds that the ended ones of those took together.",
                      "system", "kind", "outcome")  # fmt: skip
CALL_SLOWEST = _gauge("calls_recent_slowest_seconds", "Seconds of the slowest of them.",
                      "system", "kind", "outcome")  # fmt: skip
UNKNOWN = _gauge("actions_unknown", "Effects or notices whose result nobody knows.", "system", "kind",
                 page="/console/actions/?status=unknown")  # fmt: skip
UNKNOWN_AGE = _gauge("actions_unknown_oldest_seconds", "Since the first of them was sent.", "system", "kind",
                     page="/console/actions/?status=unknown")  # fmt: skip
DRIFT = _gauge("drift_effects", "Confirmed effects that their system no longer shows, of 24 hours.",
               page="/console/metrics/")  # fmt: skip
DRIFT_NEWS = _gauge("drift_news", "Those of them that were news.", page="/console/metrics/")
DRIFT_CHECKED = _gauge("drift_last_run_checked", "Effects that the newest comparison compared.",
                       page="/console/metrics/")  # fmt: skip
DRIFT_UNREADABLE = _gauge("drift_last_run_unreadable", "Effects that it could not read.", page="/console/metrics/")
DRIFT_AGE = _gauge("drift_last_run_age_seconds", "Since the newest comparison was through; missing before the first.",
                   page="/console/drift/")  # fmt: skip
NOTICES = _gauge("notices_failed", "Messages given up, of 24 hours: REFUSED, or UNKNOWN for good.", "system", "status")
STAFF_UNSENT = _gauge("staff_mail_waiting", "Mail to staff that was not tried yet.")
STAFF_FAILED = _gauge("staff_mail_failed", "Mail to staff that the mail server did not take, of 24 hours.")

HOOKS_FAILING = _gauge("hooks_failing", "Active listeners for which something was given up and nothing arrived since.",
                       "channel", page="/console/admin/machines/")  # fmt: skip
HOOKS_FAILING_AGE = _gauge("hooks_failing_oldest_seconds", "Since when the first of them fails.", "channel")
DELIVERIES = _gauge("hook_deliveries", "What listeners were not told yet (waiting), or were not (failed).", "status")
HOOKS_LAG = _gauge("hooks_reading_lag_seconds", "How far the reading of the history for active listeners is behind.")

CIRCUIT = _gauge("model_circuit_open", "1 where a provider of models is left alone after faults in a row, else 0.",
                 "provider", page="/console/ops/")  # fmt: skip
CIRCUIT_AGE = _gauge("model_circuit_open_age_seconds", "Since when it is.", "provider")
QUESTIONS = _gauge(
    "model_questions_recent", "Questions to models within 5 minutes: accepted, refused by the rules with every repair,"
    " missing (another check), unserved or unfinished.", "process", "provider", "result",
)  # fmt: skip

# People ---------------------------------------------------------------------------------------------------------------

DECISIONS = _gauge("decisions_recent", "Decisions within 5 minutes.", "process", "kind")
REFUSED = _gauge(
    "approvals_refused", "Approvals that did not count, of 24 hours, by why; stale_snapshot: the facts had changed.",
    "code", page="/console/metrics/",
)  # fmt: skip
OVERTAKEN = _gauge("approvals_overtaken", "Approvals that counted and were given up before the effect, of 24 hours.",
                   "why", page="/console/metrics/")  # fmt: skip
ORDERS = _gauge("recoveries_waiting", "Recoveries that wait for a second person.")
ORDERS_AGE = _gauge("recoveries_waiting_oldest_seconds", "Since the first of them was ordered.")
PAUSES = _gauge("pauses", "Live pauses; key is the process or the outside system.", "kind", "key",
                page="/console/pauses/")  # fmt: skip
LATE_REPORTS = _gauge("reports_late", "Reports that were due with their grace and are not there.",
                      page="/console/reports/")  # fmt: skip
LATE_REPORTS_AGE = _gauge("reports_late_oldest_seconds", "Since the first of them should have been there.",
                          page="/console/reports/")  # fmt: skip

# The record, the database, the scrape ---------------------------------------------------------------------------------

UNNUMBERED = _gauge("audit_unnumbered", "Events of organisations that the sealer has not numbered yet.")
UNNUMBERED_AGE = _gauge("audit_unnumbered_oldest_seconds", "Since the first of them happened.")
SEAL_AGE = _gauge("seal_age_seconds", "Since the newest seal; missing where no folder of seals is named, or no seal.")
HELD = _gauge("effects_held", "1 where nothing is sent: restored, or elsewhere (a copy); else 0.", "why")
ROWS = _gauge("rows_estimated", "Rows of a table as its last ANALYZE found them; not counted.", "table")
FAILED = _gauge("collect_failed", "1 where a part of this scrape could not be asked, else 0.", "part")
SECONDS = _gauge("collect_seconds", "Seconds that this part of the scrape took.", "part")

METRICS: tuple[Metric, ...] = tuple(value for value in list(globals().values()) if isinstance(value, Metric))


def table() -> str:
    """The metrics as a table of Markdown."""
    lines = ["| metric | labels | says | the same number |", "| --- | --- | --- | --- |"]
    for one in METRICS:
        labels = ", ".join(f"`{label}`" for label in one.labels)
        page = f"`{one.page}`" if one.page.startswith("/") else one.page
        lines.append(f"| `{one.name}` | {labels} | {one.says} | {page} |")
    return "\n".join(lines) + "\n"
