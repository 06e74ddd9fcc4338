"""Addresses of the console, under /console/."""

from __future__ import annotations

from django.urls import path

from .views import approvals, cases, deciding, home, pauses, people, preferences, signing

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
    path("pauses/", pauses.pauses, name="pauses"),
    path("pauses/<str:public_id>/end/", pauses.end, name="pause-end"),
    path("admin/people/", people.people, name="people"),
    path("admin/people/<str:organisation>/", people.people_of, name="people-of"),
    path("admin/people/<str:organisation>/grant/", people.grant, name="people-grant"),
    path("admin/people/<str:organisation>/<int:person>/revoke/<str:role>/", people.revoke, name="people-revoke"),
    path("cases/", cases.cases, name="cases"),
    path("cases/<str:public_id>/", cases.case, name="case"),
    path("cases/<str:public_id>/status/", cases.status, name="case-status"),
    path("cases/<str:public_id>/show-text/", cases.show_text, name="show-text"),
    path("cases/<str:public_id>/supply/", cases.supply, name="supply"),
]
