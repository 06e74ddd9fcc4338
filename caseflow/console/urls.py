"""Addresses of the console, under /console/."""

from __future__ import annotations

from django.urls import path

from .views import (
    actions,
    approvals,
    attention,
    cases,
    deciding,
    drift,
    helping,
    home,
    metrics,
    ops,
    preferences,
    processes,
    search,
    signing,
)

app_name = "console"

urlpatterns = [
    path("", home.home, name="home"),
    path("sign-in/", signing.SignIn.as_view(), name="sign-in"),
    path("sign-out/", signing.SignOut.as_view(), name="sign-out"),
    path("language/", preferences.choose_language, name="language"),
    path("drift/", drift.drift, name="drift"),
    path("help/", helping.help_page, name="help"),
    path("metrics/", metrics.metrics, name="metrics"),
    path("ops/", ops.ops, name="ops"),
    path("me/", preferences.preferences, name="me"),
    path("approvals/", approvals.proposals, name="approvals"),
    path("approvals/<str:public_id>/", approvals.proposal, name="proposal"),
    path("approvals/<str:public_id>/withdraw/", deciding.take_back, name="withdraw"),
    path("approvals/<str:public_id>/approve/", deciding.confirm, {"step": "approve"}, name="approve"),
    path("approvals/<str:public_id>/reject/", deciding.confirm, {"step": "reject"}, name="reject"),
    path("approvals/<str:public_id>/return/", deciding.confirm, {"step": "return"}, name="return"),
    path("approvals/<str:public_id>/ask-data/", deciding.confirm, {"step": "ask-data"}, name="ask-data"),
    path("actions/", actions.actions, name="actions"),
    path("actions/<str:public_id>/", actions.action, name="action"),
    path("attention/", attention.attention, name="attention"),
    path("processes/", processes.processes, name="processes"),
    path("processes/<slug:slug>/", processes.process, name="process"),
    path("processes/<slug:slug>/mermaid/", processes.diagram, name="process-mermaid"),
    path("search/", search.search, name="search"),
    path("cases/", cases.cases, name="cases"),
    path("cases/<str:public_id>/", cases.case, name="case"),
    path("cases/<str:public_id>/status/", cases.status, name="case-status"),
    path("cases/<str:public_id>/supply/", cases.supply, name="supply"),
]
