"""Signing in, out, and the language of strangers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings as configured

from tests.console.conftest import Desk, Page
from tests.driving import Engine

SIGN_IN = "/console/sign-in/"
Desks = Callable[..., Desk]


def sign_in(desk: Desk, username: str, password: str, back: str = "") -> Page:
    return Page(desk.client.post(SIGN_IN, {"username": username, "password": password, "next": back}))


@pytest.fixture
def with_password(engine: Engine) -> str:
    person = engine.person("approver")
    person.set_password("correct horse battery")
    person.save()
    return "correct horse battery"


def test_the_root_leads_to_the_console_and_the_console_to_sign_in(desk: Desks) -> None:
    stranger = desk(None)
    assert stranger.get("/", 302).response.url == "/console/"
    assert stranger.get("/console/approvals/P-0000000000/", 302).response.url.startswith(
        f"{SIGN_IN}?next=/console/appr"
    )


def test_signing_in_returns_to_the_page_that_was_asked_for(desk: Desks, with_password: str) -> None:
    page = sign_in(desk(None), "approver", with_password, "/console/cases/")
    assert (page.status, page.response.url) == (302, "/console/cases/")


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_signing_in_never_leads_elsewhere(desk: Desks, with_password: str, elsewhere: str) -> None:
    page = sign_in(desk(None), "approver", with_password, elsewhere)
    assert (page.status, page.response.url) == (302, "/console/")


def test_after_five_wrong_passwords_the_right_one_does_not_help(desk: Desks, with_password: str) -> None:
    stranger = desk(None)
    for _ in range(5):
        page = sign_in(stranger, "approver", "wrong")
    assert page.status == 429
    assert "Too many attempts" in page.text
    assert sign_in(stranger, "approver", with_password).status == 429


def test_signing_out_is_a_post(desk: Desks) -> None:
    person = desk()
    assert person.client.get("/console/sign-out/").status_code == 405
    assert person.client.post("/console/sign-out/").url == SIGN_IN
    person.get("/console/", 302)


def test_a_stranger_chooses_a_language(desk: Desks) -> None:
    stranger = desk(None, "ru")
    assert "Имя пользователя" in stranger.get(SIGN_IN).text
    answer = stranger.client.post("/console/language/", {"language": "en", "next": SIGN_IN})
    assert answer.url == SIGN_IN
    page = stranger.get(SIGN_IN)
    assert 'lang="en"' in page.html and "Username" in page.text


def test_a_persons_language_is_kept_with_the_person(desk: Desks) -> None:
    person = desk()
    person.client.post("/console/language/", {"language": "ru", "next": "/console/cases/"})
    assert person.person is not None
    person.person.refresh_from_db()
    assert person.person.language == "ru"
    del person.client.cookies[configured.LANGUAGE_COOKIE_NAME]
    assert "Дела" in person.get("/console/").text


def test_a_language_that_does_not_exist_changes_nothing(desk: Desks) -> None:
    person = desk()
    answer = person.client.post("/console/language/", {"language": "xx", "next": "https://evil.example/"})
    assert answer.url == "/console/"
    assert 'lang="en"' in person.get("/console/").html


def test_preferences_are_stored_and_used(desk: Desks) -> None:
    person = desk()
    page = person.post("/console/me/", {"language": "ru", "time_zone": "Asia/Vladivostok", "theme": "dark"})
    assert "Настройки сохранены" in page.text
    assert 'data-theme="dark"' in page.html
    assert "Asia/Vladivostok" in page.text


def test_a_zone_that_does_not_exist_is_refused(desk: Desks) -> None:
    person = desk()
    person.post("/console/me/", {"language": "ru", "time_zone": "Mars/Base", "theme": "dark"}, status=400)
    assert person.person is not None
    person.person.refresh_from_db()
    assert (person.person.language, person.person.theme) == ("en", "system")


@pytest.mark.parametrize(("language", "words"), [("ru", "Слишком много попыток"), ("en", "Too many attempts")])
def test_a_lock_out_says_so_and_when_it_ends(desk: Desks, with_password: str, language: str, words: str) -> None:
    stranger = desk(None, language)
    for _ in range(5):
        page = sign_in(stranger, "approver", "wrong")
    assert words in page.text and "15" in page.text
    assert page.response["Retry-After"] == "900"


def test_a_lock_out_of_one_name_keeps_nobody_else_of_the_office_out(desk: Desks, engine: Engine) -> None:
    for username in ("approver", "second"):
        person = engine.person(username)
        person.set_password("correct horse battery")
        person.save()
    for _ in range(6):
        sign_in(desk(None), "approver", "wrong")
    assert sign_in(desk(None), "approver", "correct horse battery").status == 429
    assert sign_in(desk(None), "second", "correct horse battery").status == 302


def test_behind_the_proxy_a_stranger_locks_nobody_out_of_another_address(
    desk: Desks, with_password: str, settings: Any
) -> None:
    settings.CASEFLOW_TRUST_PROXY = True

    def from_address(address: str, password: str) -> int:
        form = {"username": "approver", "password": password}
        # Everybody comes by the proxy; what a client itself says of its address stands first and does not count.
        forwarded = {"X-Forwarded-For": f"198.51.100.7, {address}"}
        return desk(None).client.post(SIGN_IN, form, headers=forwarded).status_code

    for _ in range(6):
        from_address("203.0.113.9", "wrong")
    assert from_address("203.0.113.9", with_password) == 429
    assert from_address("198.51.100.7", with_password) == 302


@pytest.mark.parametrize("door", [SIGN_IN, "/admin/login/"])
@pytest.mark.parametrize(("language", "words"), [("ru", "Слишком много запросов"), ("en", "Too many requests")])
def test_guessing_many_names_from_one_address_is_slowed_down_at_both_doors(
    desk: Desks, settings: Any, door: str, language: str, words: str
) -> None:
    settings.CASEFLOW_LIMITS = {"sign_in": (3, 3600)}
    stranger = desk(None, language)
    for number in range(4):
        answer = stranger.client.post(door, {"username": f"guess-{number}", "password": "wrong"})
    page = Page(answer)
    assert (page.status, words in page.text) == (429, True)
    assert 3590 <= int(answer["Retry-After"]) <= 3600


def test_searching_too_often_is_a_plain_page_and_the_list_itself_stays_open(desk: Desks, settings: Any) -> None:
    settings.CASEFLOW_LIMITS = {"search": (2, 3600)}
    person = desk("viewer")
    for _ in range(2):
        person.get("/console/cases/?q=T-4821")
    assert "Nothing was done." in person.get("/console/cases/?q=T-4821", 429).text
    person.get("/console/cases/")


def test_passwords_are_kept_by_argon2() -> None:
    """But for tests, which say in their environment that they hash fast."""
    command = "from django.conf import settings; print(settings.PASSWORD_HASHERS[0].rpartition('.')[2])"
    environment = {name: value for name, value in os.environ.items() if name != "CASEFLOW_FAST_HASH"}
    answer = subprocess.run(
        [sys.executable, "-c", command],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        cwd=configured.BASE_DIR,
    )
    assert answer.stdout.strip() == "Argon2PasswordHasher"
