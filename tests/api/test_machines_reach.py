"""What a machine's token opens: the routes listed here, in its own organisation, and no other, whatever is added."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from accounts.models import ServiceAccount
from caseflow.domain.roles import RIGHTS_OF_SERVICES, Right
from tests.driving import Engine
from tests.factories import make_organisation, make_token

#: Routes on which a machine changes something. A new one has to be named here by somebody who thought about it.
WRITES_OF_MACHINES = {
    "api/v1/cases/", "api/v1/cases/<str:public_id>/data/", "api/v1/cases/<str:public_id>/notes/",
    "api/v1/reports/",  # asking for one opens its case
}  # fmt: skip
#: Reads what a machine sees, and changes nothing but the record of it.
FILES = {"api/v1/exports/"}
#: Who rings there signs the message and brings no token.
DOORBELLS = {"api/v1/webhooks/<str:source>/"}
#: What has to be said before a route asks who says it; elsewhere an empty body will do.
BODIES = {
    "api/v1/cases/<str:public_id>/reveal/": {"field": "intake.claim"},
    "api/v1/audit/export/": {"organisation": "acme"},
}
JSON = "application/json"


def routes(patterns: Any = None, prefix: str = "") -> list[str]:
    found = []
    for pattern in patterns if patterns is not None else get_resolver().url_patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            found += routes(pattern.url_patterns, path)
        elif isinstance(pattern, URLPattern):
            found.append(path)
    return found


def filled(route: str, names: dict[str, str]) -> str:
    """The route with the names of real objects in its places."""
    collection = route.removeprefix("api/v1/").partition("/")[0]

    def name(match: re.Match[str]) -> str:
        return names.get(collection, "0") if match[1].endswith("public_id") else names.get(match[1], "1")

    return "/" + re.sub(r"<(?:\w+:)?(\w+)>", name, route).replace("(?P<", "").strip("^$")


@pytest.fixture
def names(engine: Engine) -> dict[str, str]:
    story = engine.approved()
    story.run()
    return {
        "cases": story.case.public_id,
        "proposals": story.proposal.public_id,
        "actions": story.effect.public_id,
        "organisation": "acme",
    }


def machine(engine: Engine, slug: str = "acme") -> Client:
    organisation = engine.organisation if slug == "acme" else make_organisation(slug)
    return Client(headers={"Authorization": f"Bearer {make_token(organisation)}"})


def test_no_right_of_machines_decides_recovers_signs_or_grants() -> None:
    assert frozenset({Right.OPEN_CASE, Right.SUPPLY_DATA, Right.SEE_CASES}) == RIGHTS_OF_SERVICES


def test_the_database_itself_refuses_a_machine_with_a_right_of_people(engine: Engine) -> None:
    from django.db import IntegrityError

    machine(engine)
    for right in set(Right) - RIGHTS_OF_SERVICES:
        with pytest.raises(IntegrityError):
            ServiceAccount.objects.update(rights=[right.value])


def test_on_every_other_route_of_the_api_a_machine_with_all_its_rights_changes_nothing(
    engine: Engine, names: dict[str, str]
) -> None:
    caller = machine(engine)
    writable = {}
    for route in routes():
        if not route.startswith("api/v1/") or route in DOORBELLS:
            continue
        answer = caller.post(filled(route, names), BODIES.get(route, {}), content_type=JSON)
        if answer.status_code not in (401, 403, 404, 405):
            writable[route] = answer.status_code
    assert set(writable) == WRITES_OF_MACHINES | FILES, writable


def test_a_machine_may_not_even_ask_whether_a_decision_would_be_possible(engine: Engine, names: dict[str, str]) -> None:
    caller = machine(engine)
    real = caller.post(f"/api/v1/proposals/{names['proposals']}/decision/", b"{}", content_type=JSON)
    none = caller.post("/api/v1/proposals/P-0000000000/decision/", b"{}", content_type=JSON)
    assert (real.status_code, real.json()["code"]) == (403, "service_never_decides")
    assert real.content == none.content


def test_no_page_of_the_console_or_of_admin_opens_for_a_token(engine: Engine, names: dict[str, str]) -> None:
    caller = machine(engine)
    open_to_all = {"/console/sign-in/", "/console/language/", "/admin/login/", "/admin/jsi18n/", "/console/sign-out/"}
    for route in routes():
        if not route.startswith(("console/", "admin/")):
            continue
        path = filled(route, names)
        if path in open_to_all:
            continue
        for answer in (caller.get(path), caller.post(path)):
            assert answer.status_code in (302, 401, 403, 404, 405), (path, answer.status_code)
            if answer.status_code == 302:
                assert "sign-in" in answer.url or "/login/" in answer.url or answer.url.startswith("/admin"), path


def test_a_token_of_one_organisation_reaches_nothing_of_another(engine: Engine, names: dict[str, str]) -> None:
    stranger = machine(engine, "other")
    absent = {"cases": "C-0000000000", "proposals": "P-0000000000", "actions": "A-0000000000", "organisation": "none"}
    for route in routes():
        if not route.startswith("api/v1/") or "<" not in route or route in DOORBELLS:
            continue
        for method in ("get", "post"):
            there, nowhere = (
                getattr(stranger, method)(filled(route, which), content_type=JSON) for which in (names, absent)
            )
            assert (there.status_code, there.content) == (nowhere.status_code, nowhere.content), route
    assert stranger.get("/api/v1/cases/").json()["results"] == []
    assert stranger.get("/api/v1/cases/", {"organisation": "acme"}).json()["results"] == []
