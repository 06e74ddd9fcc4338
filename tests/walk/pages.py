"""Every page of the console, once: what is walked in the browser, and which addresses are no pages.

An address that stands in neither list fails `test_every_page_is_on_the_list`. What stands in braces is named by the
story (`tests.walk.story`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """One page as one person sees it, or nobody (`who` is ''). `name` is its picture's, too; `press` opens a dialog."""

    name: str
    path: str
    who: str = "approver"
    status: int = 200
    press: str = ""


_ADMIN = "/console/admin"
PAGES: Sequence[Page] = (
    Page("sign-in", "/console/sign-in/", who=""),
    Page("home", "/console/"),
    Page("home-of-an-operator", "/console/", who="operator"),
    Page("home-with-nothing", "/console/", who="reader"),
    Page("approvals", "/console/approvals/"),
    Page("approvals-all", "/console/approvals/?view=all", who="operator"),
    Page("approval", "/console/approvals/{proposal}/"),
    Page("approval-dialog", "/console/approvals/{proposal}/", press="a[href$='/approve/']"),
    Page("approval-without-the-right", "/console/approvals/{proposal}/", who="viewer"),
    Page("approval-of-changed-facts", "/console/approvals/{stale}/"),
    Page("approval-of-a-model", "/console/approvals/{advised}/"),
    Page("approval-decided", "/console/approvals/{decided}/"),
    Page("approve", "/console/approvals/{proposal}/approve/"),
    Page("reject", "/console/approvals/{proposal}/reject/"),
    Page("return", "/console/approvals/{proposal}/return/"),
    Page("ask-data", "/console/approvals/{proposal}/ask-data/"),
    Page("cases", "/console/cases/"),
    Page("cases-with-boxes", "/console/cases/?state=NEEDS_ATTENTION", who="operator"),
    Page("cases-none-fits", "/console/cases/?q=nothing-of-this-name", who="viewer"),
    Page("case-waiting", "/console/cases/{waiting}/"),
    Page("case-waiting-for-data", "/console/cases/{data}/", who="operator"),
    Page("case-done", "/console/cases/{done}/", who="viewer"),
    Page("case-stopped", "/console/cases/{stopped}/", who="operator"),
    Page("case-in-doubt", "/console/cases/{doubtful}/", who="operator"),
    Page("case-timeline", "/console/cases/{done}/timeline/", who="auditor"),
    Page("case-facts", "/console/cases/{done}/facts/"),
    Page("case-proposals", "/console/cases/{done}/proposals/"),
    Page("recovery-asked", "/console/cases/{stopped}/recover/observe-again/", who="operator"),
    Page("recovery-with-data", "/console/cases/{stopped}/recover/correct-input/", who="operator"),
    Page("recovery-by-hand", "/console/cases/{stopped}/recover/finish-by-hand/", who="operator"),
    Page("reconcile-asked", "/console/cases/{doubtful}/recover/reconcile/", who="operator"),
    Page("recovery", "/console/recoveries/{recovery}/"),
    Page("attention", "/console/attention/", who="operator"),
    Page("attention-narrowed", "/console/attention/?turn=stop"),
    Page("actions", "/console/actions/"),
    Page("actions-unknown", "/console/actions/?status=unknown", who="operator"),
    Page("actions-unknown-none", "/console/actions/?status=unknown", who="globex-operator"),
    Page("action", "/console/actions/{action}/"),
    Page("action-unknown", "/console/actions/{doubt}/", who="operator"),
    Page("drift", "/console/drift/", who="operator"),
    Page("bulks", "/console/bulk/", who="operator"),
    Page("bulk-preview", "/console/bulk/{preview}/", who="operator"),
    Page("bulk-result", "/console/bulk/{bulk}/", who="operator"),
    Page("processes", "/console/processes/", who="viewer"),
    Page("process", "/console/processes/restore_access/", who="viewer"),
    Page("metrics", "/console/metrics/?window=30d", who="viewer"),
    Page("metrics-of-a-day", "/console/metrics/", who="platform"),
    Page("proposers", "/console/metrics/proposers/?window=30d", who="viewer"),
    Page("ops", "/console/ops/", who="platform"),
    Page("pauses", "/console/pauses/", who="globex-operator"),
    Page("pause-end", "/console/pauses/{pause}/end/", who="globex-operator"),
    Page("audit", "/console/audit/", who="auditor"),
    Page("reports", "/console/reports/", who="operator"),
    Page("reports-of-a-reader", "/console/reports/", who="reader"),
    Page("report", "{report}", who="operator"),
    Page("report-of-a-reader", "{report}", who="reader"),
    Page("report-ask", "/console/reports/ask/acme/", who="operator"),
    Page("report-correct", "{report}correct/", who="operator"),
    Page("document", "/console/documents/{document}/", who="reader"),
    Page("schedules", "/console/schedules/", who="admin"),
    Page("schedule", "/console/schedules/acme/", who="admin"),
    Page("search", "/console/search/?q=T-", who="viewer"),
    Page("search-nothing", "/console/search/?q=nothing-of-this-name", who="viewer"),
    Page("help", "/console/help/"),
    Page("settings", "/console/me/"),
    Page("people", f"{_ADMIN}/people/acme/", who="admin"),
    Page("people-grant", f"{_ADMIN}/people/acme/grant/", who="admin"),
    Page("people-revoke", f"{_ADMIN}/people/acme/{{person}}/revoke/viewer/", who="admin"),
    Page("choose-proposer", f"{_ADMIN}/choosing/acme/", who="admin"),
    Page("machines", f"{_ADMIN}/machines/acme/", who="admin"),
    Page("machine-new", f"{_ADMIN}/machines/acme/new/", who="admin"),
    Page("machine-token", f"{_ADMIN}/machines/acme/{{machine}}/token/", who="admin"),
    Page("machine-owner", f"{_ADMIN}/machines/acme/{{machine}}/owner/", who="admin"),
    Page("machine-revoke", f"{_ADMIN}/machines/acme/{{machine}}/revoke/{{token}}/", who="admin"),
    Page("doorbell-new", f"{_ADMIN}/doorbells/acme/new/", who="admin"),
    Page("doorbell-secret", f"{_ADMIN}/doorbells/acme/{{bell}}/secret/", who="admin"),
    Page("hook-new", f"{_ADMIN}/hooks/acme/new/", who="admin"),
    Page("hook", f"{_ADMIN}/hooks/acme/{{hook}}/", who="admin"),
    Page("hook-secret", f"{_ADMIN}/hooks/acme/{{hook}}/secret/", who="admin"),
    Page("refused", f"{_ADMIN}/people/acme/", who="operator", status=403),
    Page("not-found", "/console/cases/C-0000000000/", status=404),
)

_FORM = "takes a form and leads on to a page"
_PART = "a part of a page that is walked"
_FILE = "a file"
#: Names of addresses of the console → why there is nothing to look at.
NO_PAGES: Mapping[str, str] = {
    "sign-out": _FORM,
    "language": _FORM,
    "stay": _FORM,
    "sign-out-everywhere": _FORM,
    "withdraw": _FORM,
    "show-text": _FORM,
    "supply": _FORM,
    "take": _FORM,
    "release": _FORM,
    "hand-over": _FORM,
    "note": _FORM,
    "recovery-take-back": _FORM,
    "bulk-new": _FORM,
    "bulk-pause": _FORM,
    "bulk-resume": _FORM,
    "bulk-cancel": _FORM,
    "machine-switch": _FORM,
    "bell-switch": _FORM,
    "hook-switch": _FORM,
    "hook-again": _FORM,
    "people": "leads on to the first organisation",
    "machines-first": "leads on to the first organisation",
    "case-status": _PART,
    "bulk-status": _PART,
    "export": _FILE,
    "audit-export": _FILE,
    "process-mermaid": _FILE,
    "document-download": _FILE,
    "schedule-off": _FORM,
}
