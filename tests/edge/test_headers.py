"""Every answer carries the headers that protect it, whatever it is an answer to. `make leaks` looks at every route."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from caseflow import edge, probes
from caseflow.console.views import home, signing
from tests.api.conftest import machine_of
from tests.factories import make_person

STRICT = ("script-src 'self'", "default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action")


def protected(answer: Any) -> None:
    missing = {name for name in edge.HEADERS if name not in answer.headers}
    assert not missing, (answer.status_code, missing)
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] == "DENY"
    policy = answer["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    assert "unsafe-eval" not in policy and "*" not in policy and "http:" not in policy


def too_many(client: Client) -> Any:
    for _ in range(6):
        answer = client.post("/console/sign-in/", {"username": "somebody", "password": "wrong"})
    return answer


def fail(*_: Any, **__: Any) -> HttpResponse:
    raise RuntimeError("broken")


def many_fields() -> Any:
    return Client(raise_request_exception=False).post("/console/language/", {str(n): "x" for n in range(401)})


FROM_ANYBODY: dict[str, tuple[int, Callable[[Client], Any]]] = {
    "a page": (200, lambda client: client.get("/console/sign-in/")),
    "a redirect": (302, lambda client: client.get("/console/")),
    "a host that is not ours": (400, lambda client: client.get("/console/", headers={"host": "evil.example"})),
    "a host that is not ours, API": (
        400,
        lambda client: client.get("/api/v1/cases/", headers={"host": "evil.example"}),
    ),
    "too many fields": (400, lambda client: many_fields()),
    "not signed in": (401, lambda client: client.get("/api/v1/cases/")),
    "a forged form": (403, lambda client: client.post("/console/sign-in/", {"username": "x"})),
    "nothing there": (404, lambda client: client.get("/console/nothing/")),
    "nothing there, API": (404, lambda client: client.get("/api/v1/nothing/")),
    "another method": (405, lambda client: client.get("/console/sign-out/")),
    "another method, probe": (405, lambda client: client.options("/healthz")),
    "an address too long": (414, lambda client: client.get("/console/cases/?q=" + "x" * 5000)),
    "a probe": (200, lambda client: client.get("/healthz")),
    "the description": (200, lambda client: client.get("/api/schema/")),
    "the viewer of the description": (200, lambda client: client.get("/api/docs/")),
    "admin's door": (200, lambda client: client.get("/admin/login/")),
    "a static file": (200, lambda client: client.get("/static/console/console.css")),
    "a static file of admin": (200, lambda client: client.get("/static/admin/css/base.css")),
    "no static file": (404, lambda client: client.get("/static/console/nothing.css")),
}


@pytest.mark.parametrize("name", FROM_ANYBODY)
def test_an_answer_to_anybody_is_protected(name: str, anybody: Client) -> None:
    status, ask = FROM_ANYBODY[name]

    answer = ask(anybody)

    assert answer.status_code == status
    protected(answer)
    answer.close()


def test_the_answer_to_too_many_wrong_passwords_is_protected(acme: Any) -> None:
    make_person("somebody", acme, "viewer")
    answer = too_many(Client())

    assert answer.status_code == 429
    protected(answer)


def test_a_limit_of_the_api_is_protected(acme: Any, settings: Any) -> None:
    machine = machine_of(acme)
    settings.CASEFLOW_LIMITS = settings.CASEFLOW_LIMITS | {"search": (1, 60)}
    answers = [machine.get("/api/v1/cases/") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 429]
    protected(answers[1])


@pytest.mark.parametrize(("status", "body"), [(413, b'{"a": "' + b"x" * 300_000 + b'"}'), (400, b"{"), (415, None)])
def test_a_refused_body_is_protected(acme: Any, status: int, body: bytes | None) -> None:
    machine = machine_of(acme)
    kind = "application/json" if body else "text/plain"
    answer = machine.client.post("/api/v1/cases/", body or b"x", content_type=kind)

    assert answer.status_code == status
    protected(answer)


def test_in_sight_but_not_permitted_is_protected(acme: Any) -> None:
    client = Client()
    client.force_login(make_person("viewer", acme, "viewer"), backend="django.contrib.auth.backends.ModelBackend")
    answer = client.get("/console/admin/people/")

    assert answer.status_code == 403
    protected(answer)
    assert "no-store" in answer["Cache-Control"]


@pytest.mark.parametrize(
    ("path", "module", "name"),
    [
        ("/console/sign-in/", signing.SignIn, "dispatch"),
        ("/readyz", probes, "_answers"),
        ("/console/", home, "person_of"),
    ],
)
def test_a_failure_of_ours_is_protected(
    path: str, module: Any, name: str, acme: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(make_person("viewer", acme, "viewer"), backend="django.contrib.auth.backends.ModelBackend")
    monkeypatch.setattr(module, name, fail)
    with caplog.at_level(logging.CRITICAL):
        answer = client.get(path)

    assert answer.status_code == 500
    protected(answer)
    assert "broken" not in answer.content.decode() and "Traceback" not in answer.content.decode()


def test_a_failure_of_the_api_is_protected(acme: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = machine_of(acme)
    machine.client.raise_request_exception = False
    monkeypatch.setattr("caseflow.api.views.cases.list_cases", fail)
    answer = machine.get("/api/v1/cases/")

    assert (answer.status_code, answer["Content-Type"]) == (500, "application/problem+json")
    protected(answer)


def test_the_step_to_https_is_protected_and_remembered(anybody: Client, settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT, settings.SECURE_HSTS_SECONDS = True, 31_536_000
    client = Client()
    redirect, page = client.get("/console/sign-in/"), client.get("/console/sign-in/", secure=True)

    assert (redirect.status_code, redirect["Location"]) == (301, "https://testserver/console/sign-in/")
    protected(redirect)
    assert page["Strict-Transport-Security"] == "max-age=31536000; includeSubDomains"


def test_pages_run_no_inline_script_and_the_viewer_alone_has_inline_styles(anybody: Client) -> None:
    page, viewer = anybody.get("/console/sign-in/"), anybody.get("/api/docs/")

    for part in STRICT:
        assert part in page["Content-Security-Policy"]
    assert "unsafe-inline" not in page["Content-Security-Policy"]
    styles = next(one for one in viewer["Content-Security-Policy"].split("; ") if one.startswith("style-src"))
    assert "'unsafe-inline'" in styles
    assert viewer["Content-Security-Policy"].count("unsafe-inline") == 1


def test_cookies_are_for_our_pages_alone(acme: Any, settings: Any) -> None:
    person = make_person("viewer", acme, "viewer")
    person.set_password("a long enough password")
    person.save()
    answer = Client().post("/console/sign-in/", {"username": "viewer", "password": "a long enough password"})

    assert answer.status_code == 302
    assert {settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME} <= set(answer.cookies)
    for cookie in answer.cookies.values():
        assert cookie["httponly"] and cookie["samesite"] == "Lax"
