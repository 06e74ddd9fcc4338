"""Addresses of the console, under /console/."""

from __future__ import annotations

from django.urls import path

from .views import approvals, cases, deciding, home, machines, pauses, people, preferences, recoveries, signing, trail

app_name = "console"

urlpatterns = [
    path("", home.home, name="home"),
    path("sign-in/", signing.SignIn.as_view(), name="sign-in"),
    path("sign-out/", signing.SignOut.as_view(), name="sign-out"),
    path("language/", preferences.choose_language, name="language"),
    path("me/", preferences.preferences, name="me"),
    path("me/sign-out-everywhere/", signing.sign_out_everywhere, name="sign-out-everywhere"),
    path("approvals/", approvals.proposals, name="approvals"),
    path("approvals/<str:public_id>/", approvals.proposal, name="proposal"),
    path("approvals/<str:public_id>/withdraw/", deciding.take_back, name="withdraw"),
    path("approvals/<str:public_id>/approve/", deciding.confirm, {"step": "approve"}, name="approve"),
    path("approvals/<str:public_id>/reject/", deciding.confirm, {"step": "reject"}, name="reject"),
    path("approvals/<str:public_id>/return/", deciding.confirm, {"step": "return"}, name="return"),
    path("approvals/<str:public_id>/ask-data/", deciding.confirm, {"step": "ask-data"}, name="ask-data"),
    path("audit/", trail.trail, name="audit"),
    path("audit/export/", trail.export, name="audit-export"),
    path("pauses/", pauses.pauses, name="pauses"),
    path("pauses/<str:public_id>/end/", pauses.end, name="pause-end"),
    path("admin/people/", people.people, name="people"),
    path("admin/people/<str:organisation>/", people.people_of, name="people-of"),
    path("admin/people/<str:organisation>/grant/", people.grant, name="people-grant"),
    path("admin/people/<str:organisation>/<int:person>/revoke/<str:role>/", people.revoke, name="people-revoke"),
    path("admin/machines/", machines.first, name="machines-first"),
    path("admin/machines/<str:organisation>/", machines.overview, name="machines"),
    path("admin/machines/<str:organisation>/new/", machines.create, name="machine-create"),
    path("admin/machines/<str:organisation>/<str:public_id>/token/", machines.rotate, name="machine-rotate"),
    path("admin/machines/<str:organisation>/<str:public_id>/owner/", machines.owner, name="machine-owner"),
    path("admin/machines/<str:organisation>/<str:public_id>/switch/", machines.switch, name="machine-switch"),
    path(
        "admin/machines/<str:organisation>/<str:public_id>/revoke/<str:prefix>/",
        machines.revoke,
        name="machine-revoke",
    ),
    path("admin/doorbells/<str:organisation>/new/", machines.create_source, name="bell-create"),
    path("admin/doorbells/<str:organisation>/<str:public_id>/secret/", machines.rotate_source, name="bell-rotate"),
    path("admin/doorbells/<str:organisation>/<str:public_id>/switch/", machines.switch_source, name="bell-switch"),
    path("cases/", cases.cases, name="cases"),
    path("cases/<str:public_id>/", cases.case, name="case"),
    path("cases/<str:public_id>/status/", cases.status, name="case-status"),
    path("cases/<str:public_id>/show-text/", cases.show_text, name="show-text"),
    path("cases/<str:public_id>/supply/", cases.supply, name="supply"),
    path("cases/<str:public_id>/recover/<slug:kind>/", recoveries.order, name="order-recovery"),
    path("recoveries/<str:public_id>/", recoveries.recovery, name="recovery"),
    path("recoveries/<str:public_id>/take-back/", recoveries.take_back, name="recovery-take-back"),
]
