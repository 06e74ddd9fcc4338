"""Pauses in the console: the banner, the page with its form, resuming, and the case that says what it waits for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Person
from accounts.platform import grant_platform
from accounts.principal import SYSTEM
from accounts.services import create_organisation, grant_role
from audit.models import AuditEvent
from caseflow.domain.roles import Role
from cases.models import Installation, Pause
from operations.pausing import pause
from tests.commands.conftest import run
from tests.console.conftest import Desk
from tests.driving import Engine
from tests.pauses import resume

__all__ = ["run"]

Desks = Callable[..., Desk]
ADDRESS = "/console/pauses/"
WHY = "The payment service shows wrong amounts."
FORM: dict[str, Any] = {"what": "process:restore_access", "where": "acme", "lasts": "4", "reason": WHY}


@pytest.fixture
def keeper(engine: Engine) -> Person:
    person = engine.person("keeper")
    grant_platform(person=person, by=SYSTEM, reason="on duty")
    return person


def test_an_operator_pauses_a_process_for_four_hours_and_resumes_it(engine: Engine, desk: Desks) -> None:
    operator = desk("operator")
    assert "Nothing is paused." in operator.get(ADDRESS).text
    page = operator.post(ADDRESS, FORM)
    assert "Paused. What waits is kept" in page.text
    standing = Pause.objects.get()
    assert standing.until is not None
    assert 3.9 < (standing.until - standing.at).total_seconds() / 3600 <= 4
    assert (standing.organisation, standing.by, standing.reason) == (engine.organisation, operator.person, WHY)
    assert f"{ADDRESS}{standing.public_id}/end/" in page.html
    assert "It was paused already, for at least as long." in operator.post(ADDRESS, FORM | {"lasts": "1"}).text
    assert "it lasts longer now" in operator.post(ADDRESS, FORM | {"lasts": ""}).text

    asked = operator.get(f"{ADDRESS}{standing.public_id}/end/")
    assert f"Resume {standing.public_id}?" in asked.text and WHY in asked.text
    assert operator.post(f"{ADDRESS}{standing.public_id}/end/", {"reason": ""}, status=400).inline == []
    done = operator.post(f"{ADDRESS}{standing.public_id}/end/", {"reason": "It is over."})
    assert "Resumed. What waited goes on now." in done.text
    assert "Nothing is paused." in done.text and "resumed by Operator" in done.text


@pytest.mark.parametrize("language", ["ru", "en"])
def test_every_page_says_in_a_banner_what_is_paused_as_long_as_it_is(
    language: str, engine: Engine, desk: Desks, keeper: Person
) -> None:
    story = engine.proposed()
    reader = desk(language=language)
    title = {
        "ru": "Процесс «Восстановление доступа после оплаты» приостановлен в организации «Acme»",
        "en": "The process “Restore access after a payment” is paused at Acme",
    }[language]
    pages = [
        "/console/",
        "/console/me/",
        "/console/cases/",
        "/console/approvals/",
        f"/console/cases/{story.case.public_id}/",
        f"/console/approvals/{story.proposal.public_id}/",
        ADDRESS,
    ]
    assert all(title not in reader.get(path).text for path in pages)
    pause(
        kind="process",
        name="restore_access",
        organisation=engine.organisation,
        by=engine.person("operator"),
        reason=WHY,
    )
    for path in pages:
        page = reader.get(path)
        assert title in page.text and WHY in page.text, path
        assert page.inline == []
    resume()
    assert all(title not in reader.get(path).text for path in pages[:-1])


def test_of_many_pauses_the_banner_shows_the_most_severe_and_how_many_there_are(
    engine: Engine, desk: Desks, keeper: Person
) -> None:
    place = engine.organisation
    pause(kind="process", name="restore_access", organisation=place, by=keeper, reason="the least")
    pause(kind="system", name="mail", by=keeper, reason="more")
    pause(kind="organisation", organisation=place, by=keeper, reason="the most")
    text = desk("viewer").get("/console/").text
    assert "Acme is paused" in text and "the most" in text and "All pauses (3)" in text
    assert "the least" not in text


def test_a_banner_concerns_its_reader(engine: Engine, desk: Desks, keeper: Person) -> None:
    globex = create_organisation(slug="globex", name="Globex")
    grant_role(person=engine.person("outsider"), organisation=globex, role=Role.VIEWER, by=SYSTEM)
    pause(kind="process", name="restore_access", organisation=globex, by=keeper, reason="only theirs")
    assert "only theirs" not in desk("viewer").get(ADDRESS).text
    assert "only theirs" not in desk("nobody").get("/console/").text
    assert "only theirs" in desk("outsider").get("/console/").text
    assert "only theirs" in desk("keeper").get("/console/").text


def test_the_banner_is_one_query_however_much_is_paused(engine: Engine, desk: Desks, keeper: Person) -> None:
    reader = desk("viewer")
    reader.get("/console/me/")

    def queries() -> list[str]:
        with CaptureQueriesContext(connection) as seen:
            reader.get("/console/me/")
        return [query["sql"] for query in seen.captured_queries]

    before = queries()
    pause(kind="all", by=keeper, reason=WHY)
    pause(kind="system", name="mail", by=keeper, reason=WHY)
    after = queries()
    assert len(after) == len(before)
    # One asks for the banner; the age of the queues leaves out what is paused.
    assert sum("cases_pause" in query for query in after) == 2


def test_a_copied_database_says_that_it_sends_nothing(engine: Engine, desk: Desks) -> None:
    Installation.objects.update(restored=True)
    try:
        assert "Nothing is sent: this database was restored from a copy" in desk().get("/console/").text
    finally:
        Installation.objects.update(restored=False)


def test_the_case_names_the_pause_it_waits_for(engine: Engine, desk: Desks, keeper: Person, run: Any) -> None:
    story = engine.approved()
    pause(kind="system", name="subscriptions", by=keeper, reason=WHY)
    story.run()
    page = desk("viewer").get(f"/console/cases/{story.case.public_id}/")
    assert "The system “Subscriptions” is paused: nothing is sent to it" in page.text
    assert "This case waits and goes on by itself when somebody resumes" in page.text
    told = run("explain_case", story.case.external_id, "--as", "viewer", "--language", "en").out
    assert "The system “Subscriptions” is paused" in told and WHY in told
    assert "It goes on as soon as somebody resumes" in told
    resume()
    story.run()
    assert "is paused" not in desk("viewer").get(f"/console/cases/{story.case.public_id}/").text


def test_who_may_not_pause_gets_no_form_and_a_forged_one_is_refused_on_record(engine: Engine, desk: Desks) -> None:
    viewer = desk("viewer")
    page = viewer.get(ADDRESS)
    assert "You may look at pauses, but not set one." in page.text
    assert 'name="what"' not in page.html
    viewer.post(ADDRESS, FORM, status=403)
    viewer.post(ADDRESS, FORM | {"what": "all", "where": ""}, status=403)
    assert AuditEvent.objects.filter(kind="access.refused").count() == 2
    operator = desk("operator")
    assert "Everything, everywhere" not in operator.get(ADDRESS).text
    operator.post(ADDRESS, FORM | {"where": ""}, status=403)
    operator.post(ADDRESS, FORM | {"where": "globex"}, status=404)
    operator.post(ADDRESS, FORM | {"what": "process:none"}, status=400)
    assert not Pause.objects.exists()


def test_an_operator_looks_at_a_platform_pause_and_cannot_end_it(engine: Engine, desk: Desks, keeper: Person) -> None:
    standing = pause(kind="system", name="mail", by=keeper, reason=WHY).pause
    operator = desk("operator")
    assert "A platform operator can resume it." in operator.get(ADDRESS).text
    operator.get(f"{ADDRESS}{standing.public_id}/end/", 403)
    operator.post(f"{ADDRESS}{standing.public_id}/end/", {"reason": "x"}, status=403)
    operator.get(f"{ADDRESS}S-0000000000/end/", 404)
    assert Pause.objects.get().ended_at is None


def test_a_platform_operator_pauses_a_system_and_everything(engine: Engine, desk: Desks, keeper: Person) -> None:
    reader = desk("keeper")
    assert "Everything, everywhere" in reader.get(ADDRESS).text
    page = reader.post(ADDRESS, {"what": "system:mail", "where": "", "lasts": "", "reason": WHY})
    assert "The system “Mail” is paused: nothing is sent to it" in page.text
    page = reader.post(ADDRESS, {"what": "all", "where": "acme", "lasts": "", "reason": WHY}, status=400)
    assert "This is not used here." in page.text
    reader.post(ADDRESS, {"what": "organisation", "where": "acme", "lasts": "24", "reason": WHY})
    assert Pause.objects.count() == 2
