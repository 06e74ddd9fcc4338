"""Addresses under /api/v1/."""

from __future__ import annotations

from django.urls import path

from . import schema  # noqa: F401  # registers how machines sign in
from .views import (
    audit,
    bulk,
    cases,
    documents,
    exports,
    holding,
    metrics,
    pauses,
    people,
    plans,
    recoveries,
    reports,
    webhooks,
)

app_name = "api"

urlpatterns = [
    path("cases/", cases.CasesView.as_view(), name="cases"),
    path("cases/<str:public_id>/", cases.CaseView.as_view(), name="case"),
    path("cases/<str:public_id>/data/", cases.CaseDataView.as_view(), name="case-data"),
    path("cases/<str:public_id>/reveal/", cases.CaseRevealView.as_view(), name="case-reveal"),
    path("cases/<str:public_id>/hold/", holding.CaseHoldView.as_view(), name="case-hold"),
    path("cases/<str:public_id>/hold/release/", holding.CaseReleaseView.as_view(), name="case-release"),
    path("cases/<str:public_id>/notes/", holding.CaseNotesView.as_view(), name="case-notes"),
    path("cases/<str:public_id>/timeline/", cases.CaseTimelineView.as_view(), name="case-timeline"),
    path("cases/<str:public_id>/facts/", cases.CaseFactsView.as_view(), name="case-facts"),
    path("cases/<str:public_id>/proposals/", cases.CaseProposalsView.as_view(), name="case-proposals"),
    path("cases/<str:public_id>/actions/", cases.CaseActionsView.as_view(), name="case-actions"),
    path("cases/<str:public_id>/recoveries/", recoveries.CaseRecoveriesView.as_view(), name="case-recoveries"),
    path("proposals/<str:public_id>/", plans.ProposalView.as_view(), name="proposal"),
    path("proposals/<str:public_id>/decision/", plans.DecisionView.as_view(), name="proposal-decision"),
    path("proposals/<str:public_id>/withdrawal/", plans.WithdrawalView.as_view(), name="proposal-withdrawal"),
    path("actions/<str:public_id>/", plans.ActionView.as_view(), name="action"),
    path("actions/<str:public_id>/reconcile/", recoveries.ReconcileView.as_view(), name="action-reconcile"),
    path("recoveries/<str:public_id>/", recoveries.RecoveryView.as_view(), name="recovery"),
    path(
        "recoveries/<str:public_id>/authorisation/",
        recoveries.AuthorisationView.as_view(),
        name="recovery-authorisation",
    ),
    path("recoveries/<str:public_id>/withdrawal/", recoveries.TakeBackView.as_view(), name="recovery-withdrawal"),
    path("reports/", reports.ReportsView.as_view(), name="reports"),
    path(
        "reports/<str:organisation>/<str:department>/<str:kind>/<str:period>/",
        reports.ReportView.as_view(),
        name="report",
    ),
    path(
        "reports/<str:organisation>/<str:department>/<str:kind>/<str:period>/corrections/",
        reports.ReportCorrectionsView.as_view(),
        name="report-corrections",
    ),
    path("documents/<str:public_id>/download/", documents.DocumentDownloadView.as_view(), name="document-download"),
    path("bulk/", bulk.BulksView.as_view(), name="bulks"),
    path("bulk/<str:public_id>/", bulk.BulkView.as_view(), name="bulk"),
    path("bulk/<str:public_id>/items/", bulk.BulkItemsView.as_view(), name="bulk-items"),
    path("bulk/<str:public_id>/confirm/", bulk.BulkConfirmView.as_view(), name="bulk-confirm"),
    path("bulk/<str:public_id>/pause/", bulk.BulkPauseView.as_view(), name="bulk-pause"),
    path("bulk/<str:public_id>/resume/", bulk.BulkResumeView.as_view(), name="bulk-resume"),
    path("bulk/<str:public_id>/cancel/", bulk.BulkCancelView.as_view(), name="bulk-cancel"),
    path("exports/", exports.ExportsView.as_view(), name="exports"),
    path("audit/", audit.AuditView.as_view(), name="audit"),
    path("audit/export/", audit.AuditExportView.as_view(), name="audit-export"),
    path("webhooks/<str:source>/", webhooks.WebhookView.as_view(), name="webhook"),
    path("metrics/", metrics.MetricsView.as_view(), name="metrics"),
    path("people/<str:organisation>/", people.PeopleView.as_view(), name="people"),
    path("people/<str:organisation>/revocation/", people.RevocationView.as_view(), name="people-revocation"),
    path("pauses/", pauses.PausesView.as_view(), name="pauses"),
    path("pauses/<str:public_id>/", pauses.PauseView.as_view(), name="pause"),
    path("pauses/<str:public_id>/end/", pauses.PauseEndView.as_view(), name="pause-end"),
]
