"""Setting up programs that are told of cases, and the log of what they were told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from accounts.models import Person
from accounts.principal import SYSTEM
from accounts.services import create_organisation, grant_role
from caseflow.domain.roles import Role
from operations import telling_hooks
from operations.hook_models import Hook, HookDelivery
from tests.console.conftest import Desk
from tests.driving import Engine
from tests.integrations.between import Between, between
from tests.operations.hooked import ids, listen, tell

SECRET = re.compile(r"whsec_[A-Za-z0-9+/]{43}=")
PAGE = "/console/admin/hooks/acme/"
FIELDS = {"name": "desk", "channel": "webhook", "language": "en", "kinds": ["opened", "closed"]}


@pytest.fixture
def line(settings: Any) -> Iterator[Between]:
    settings.CASEFLOW_HOOK_HOSTS, settings.CASEFLOW_HOOK_PRIVATE = ["*"], True
    with between() as found:
        yield found


@pytest.fixture
def admin(engine: Engine) -> Desk:
    person = engine.person("admin")
    grant_role(person=person, organisation=engine.organisation, role=Role.ORG_ADMIN, by=SYSTEM)
    return Desk(person, "en")


def test_a_program_gets_a_secret_that_is_shown_once(admin: Desk, line: Between) -> None:
    page = admin.post(f"{PAGE}new/", FIELDS | {"url": f"{line.url}/hook"}, follow=False)
    [text] = set(SECRET.findall(page.html))
    hook = Hook.objects.get()
    assert (hook.kinds, hook.is_active) == (["opened", "closed"], True)
    shown = [admin.get("/console/admin/machines/acme/").html, admin.get(f"{PAGE}{hook.public_id}/").html]
    assert all(text not in html for html in shown)
    rotated = admin.post(f"{PAGE}{hook.public_id}/secret/", {"overlap": "0"}, follow=False)
    assert SECRET.findall(rotated.html)[0] != text
    assert "no-store" in page.response["Cache-Control"]


def test_a_wrong_address_is_refused_at_its_field(admin: Desk, line: Between, settings: Any) -> None:
    settings.CASEFLOW_HOOK_PRIVATE = False
    for url, sentence in (
        ("", "This is no address"),
        ("http://desk.example.org/", "Only https"),
        ("https://10.0.0.1/", "not one of the public internet"),
    ):
        assert sentence in admin.post(f"{PAGE}new/", FIELDS | {"url": url}, status=400).text
    settings.CASEFLOW_HOOK_HOSTS = []
    page = admin.post(f"{PAGE}new/", FIELDS | {"url": "https://desk.example.org/"}, status=400)
    assert "may not send to this host" in page.text and not Hook.objects.exists()


def test_the_log_says_what_arrived_and_sends_again_what_was_given_up(
    engine: Engine, admin: Desk, line: Between, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telling_hooks, "POLICY", telling_hooks.RetryPolicy(limit=1))
    hook, _ = listen(engine, line, kinds=("opened",))
    line.answer(500, b"")
    line.answer(200, b"")
    line.answer(200, b"")
    stories = engine.open(), engine.open()
    tell(engine)
    failed = HookDelivery.objects.get(status="failed").case_id  # whichever of the two was told first
    lost, arrived = sorted(stories, key=lambda story: story.id != failed)
    page = admin.get(f"{PAGE}{hook.public_id}/")
    assert "given up" in page.text and "arrived" in page.text and f"{lost.case.public_id}:1" in page.text
    assert "Nothing has arrived since" not in page.text  # the second did
    only = admin.get(f"{PAGE}{hook.public_id}/?failed=1").text
    assert lost.case.external_id in only and arrived.case.external_id not in only
    again = f"{PAGE}{hook.public_id}/again/{lost.case.public_id}/1/"
    assert "It is sent again." in admin.post(again).text
    tell(engine)
    assert ids(line.asked)[-1] == f"{lost.case.public_id}:1"
    assert "Nothing to do" in admin.post(again).text
    assert "arrived" in Desk(engine.person("viewer"), "en").get(f"/console/cases/{lost.case.public_id}/").text


def test_only_an_administrator_of_this_organisation_sees_and_changes_it(
    engine: Engine, line: Between, admin: Desk
) -> None:
    hook, _ = listen(engine, line)
    engine.open()
    tell(engine)
    told = HookDelivery.objects.latest("pk")
    other = create_organisation(slug="globex", name="Globex")
    stranger = Person.objects.create_user(username="stranger", name="Stranger", language="en")
    grant_role(person=stranger, organisation=other, role=Role.ORG_ADMIN, by=SYSTEM)
    here, elsewhere = Desk(engine.person("operator"), "en"), Desk(stranger, "en")
    one = f"{PAGE}{hook.public_id}/"
    again = f"{one}again/{told.case.public_id}/1/"
    for method, path in (
        ("get", one),
        ("post", f"{PAGE}new/"),
        ("post", f"{one}secret/"),
        ("post", f"{one}switch/"),
        ("post", again),
    ):
        assert [getattr(desk.client, method)(path).status_code for desk in (here, elsewhere)] == [403, 404], path
    # Nor through an organisation of one's own.
    assert elsewhere.client.get(f"/console/admin/hooks/globex/{hook.public_id}/").status_code == 404
    hook.refresh_from_db()
    assert hook.is_active
    admin.post(f"{one}switch/", {"on": "0"})
    hook.refresh_from_db()
    assert not hook.is_active
