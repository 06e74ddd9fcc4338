"""The audit page: an auditor finds who did what, a stranger finds nothing, and what is taken out is on record."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction

from accounts.principal import SYSTEM
from accounts.services import create_organisation, grant_role, revoke_role
from audit.exporting import safe_cell
from audit.linking import link_all
from audit.models import AuditEvent
from audit.services import facts_of, record_organisation_event
from caseflow.domain.errors import BadInput, NotPermitted
from caseflow.domain.roles import Role
from operations import trail
from tests.api.conftest import browser_of
from tests.console.conftest import Desk
from tests.driving import CLAIM, Engine

DeskOf = Callable[..., Desk]
PLACE = "/console/audit/"


@pytest.fixture
def auditor(engine: Engine, desk: DeskOf) -> Desk:
    person = engine.person("auditor")
    grant_role(person=person, organisation=engine.organisation, role=Role.AUDITOR, by=SYSTEM)
    return desk("auditor")


def happened(engine: Engine, number: int, **facts: Any) -> None:
    with transaction.atomic():
        record_organisation_event(
            engine.organisation.pk, "export.made", actor=SYSTEM, facts={"number": number, **facts}
        )


def exports(engine: Engine) -> list[dict[str, Any]]:
    """What was put on record of exports, oldest first."""
    rows = AuditEvent.objects.filter(organisation_id=engine.organisation.pk, kind="export.made").order_by("pk")
    found = [facts_of(row.body)["facts"] for row in rows]
    return [facts for facts in found if facts.get("what") == "audit"]


def test_an_auditor_sees_what_happened_to_cases_and_to_the_organisation(engine: Engine, auditor: Desk) -> None:
    story = engine.proposed()
    story.decide()
    page = auditor.get(PLACE)
    assert "A role was granted" in page.text
    assert "Approved" in page.text
    assert story.case.external_id in page.text
    assert (CLAIM in page.html, story.email in page.html) == (False, False)
    assert page.inline == []
    assert "Журнал" in Desk(auditor.person, "ru").get(PLACE).text


def test_filters_narrow_by_kind_person_case_and_period(engine: Engine, auditor: Desk) -> None:
    story, other = engine.proposed(), engine.open()
    story.decide("return", reason="Нужна проверка")
    by_person = auditor.get(f"{PLACE}?person=approver").html
    assert story.case.external_id in by_person
    assert other.case.external_id not in by_person
    for name in (story.case.public_id, story.case.external_id):
        by_case = auditor.get(f"{PLACE}?case={name}").html
        assert "e-1" in by_case
        assert other.case.external_id not in by_case
    by_kind = auditor.get(f"{PLACE}?kind=role.granted").html
    assert story.case.external_id not in by_kind
    assert "No event fits" in auditor.get(f"{PLACE}?last_day=2020-01-01").text
    assert "No event fits" in auditor.get(f"{PLACE}?first_day=2200-01-01").text
    assert "No event fits" in auditor.get(f"{PLACE}?case=C-0000000000&person=nobody").text
    odd = auditor.get(f"{PLACE}?first_day=tomorrow&after=1-2-3&kind=%00&organisation=nowhere")
    assert "Audit" in odd.text


def test_pages_by_place_show_every_event_once_also_at_one_instant(engine: Engine, auditor: Desk) -> None:
    for number in range(7):
        happened(engine, number)
    engine.rewrite(
        "audit_auditevent", "UPDATE audit_auditevent SET at_us = 1, at = 'epoch' WHERE kind = %s", ["export.made"]
    )
    person = auditor.person
    assert person is not None
    rows = trail.list_trail(person, engine.organisation, trail.Wanted(kind="export.made"))
    seen: list[Any] = []
    after = ""
    for _ in range(10):
        page = trail.trail_page(rows, after=after, limit=3)
        seen += [entry.facts["number"] for entry in page.entries]
        after = page.after
        if not after:
            break
    assert seen == [6, 5, 4, 3, 2, 1, 0]
    with pytest.raises(BadInput):
        trail.trail_page(rows, after="9" * 30)


def test_who_reads_no_trail_is_refused_and_a_stranger_learns_nothing(engine: Engine, desk: DeskOf) -> None:
    engine.open()
    refused = desk("operator").get(PLACE, status=403)
    assert "Approved" not in refused.text
    last = AuditEvent.objects.filter(organisation_id=engine.organisation.pk).latest("pk")
    assert (last.kind, facts_of(last.body)["facts"]) == ("access.refused", {"right": "read_audit"})
    stranger = desk("stranger")
    count = AuditEvent.objects.count()
    one, none = (stranger.get(f"{PLACE}?organisation={slug}", status=403).text for slug in ("acme", "nowhere"))
    assert one == none
    stranger.post(f"{PLACE}export/", {"organisation": "acme", "form": "csv"}, status=403)
    assert AuditEvent.objects.count() == count
    assert "/console/audit/" not in desk("operator").get("/console/").html


def test_an_auditor_of_another_organisation_sees_only_theirs(engine: Engine, desk: DeskOf) -> None:
    story = engine.open()
    globex = create_organisation(slug="globex", name="Globex")
    grant_role(person=engine.person("other"), organisation=globex, role=Role.AUDITOR, by=SYSTEM)
    page = desk("other").get(f"{PLACE}?organisation=acme&case={story.case.public_id}")
    assert "Globex" in page.text
    assert story.case.external_id not in page.html
    api = browser_of(engine.person("other"))
    assert api.get("/api/v1/audit/", organisation="acme").status_code == 404
    assert api.get("/api/v1/audit/", organisation="globex").status_code == 200


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_an_export_holds_what_the_filters_leave_and_is_on_record(form: str, engine: Engine, auditor: Desk) -> None:
    happened(engine, 1, note="=HYPERLINK(1)")
    link_all()
    answer = auditor.client.post(f"{PLACE}export/", {"organisation": "acme", "form": form, "kind": "export.made"})
    assert answer.status_code == 200
    assert answer.headers["Content-Disposition"] == f'attachment; filename="audit-acme.{form}"'
    text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(text)))
        assert json.loads(rows[0]["facts"])["number"] == 1
    else:
        rows = [json.loads(line) for line in text.splitlines()]
        assert rows[0]["facts"]["number"] == 1
    assert [(row["kind"], row["organisation"]) for row in rows] == [("export.made", "acme")]
    assert len(rows[0]["hash"]) == 64
    assert exports(engine) == [{"what": "audit", "form": form, "rows": 1, "kind": "export.made"}]


def test_the_trail_as_a_workbook_holds_the_same(engine: Engine, auditor: Desk) -> None:
    happened(engine, 1)
    answer = auditor.client.post(f"{PLACE}export/", {"organisation": "acme", "form": "xlsx", "kind": "export.made"})
    content = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    answer.close()
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
    assert "export.made" in sheet
    assert "&quot;number&quot;: 1" in sheet or '"number": 1' in sheet
    assert [one["form"] for one in exports(engine)] == ["xlsx"]


@pytest.mark.parametrize("text", ["=1+1", "+7", "-2", "@SUM(1)", "\t=1", "  =1", "＝1"])
def test_no_cell_of_a_table_is_a_formula(text: str) -> None:
    assert safe_cell(text) == f"'{text}"
    assert (safe_cell("plain"), safe_cell(None), safe_cell(7), safe_cell({"a": 1})) == ("plain", "", "7", '{"a": 1}')


def test_a_right_revoked_during_an_export_ends_it(
    engine: Engine, auditor: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trail, "PORTION", 2)
    for number in range(5):
        happened(engine, number)
    person = auditor.person
    assert person is not None
    entries_of = trail.entries_of

    def revoked_meanwhile(rows: Any) -> Any:
        revoke_role(person=person, organisation=engine.organisation, role=Role.AUDITOR, by=SYSTEM)
        return entries_of(rows)

    monkeypatch.setattr(trail, "entries_of", revoked_meanwhile)
    with pytest.raises(NotPermitted):
        trail.export_trail(person, engine.organisation, trail.Wanted(), form="csv")
    assert exports(engine) == []


def test_an_export_that_is_too_long_asks_for_a_period(
    engine: Engine, auditor: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trail, "MAX_EXPORT", 1)
    page = auditor.post(f"{PLACE}export/", {"organisation": "acme", "form": "csv"})
    assert "Choose a shorter period." in page.text
    assert exports(engine) == []


def test_the_api_says_the_same(engine: Engine, auditor: Desk) -> None:
    story = engine.open()
    person = auditor.person
    assert person is not None
    api = browser_of(person)
    pages = [api.get("/api/v1/audit/", organisation="acme", limit=1).json()]
    while pages[-1]["next"]:
        pages.append(api.get(pages[-1]["next"]).json())
    seen = [one for page in pages for one in page["results"]]
    assert len(seen) == len(pages) == AuditEvent.objects.filter(organisation_id=engine.organisation.pk).count()
    assert {("case.opened", story.case.public_id), ("role.granted", "")} <= {(one["kind"], one["case"]) for one in seen}
    narrowed = api.get("/api/v1/audit/", organisation="acme", case=story.case.external_id).json()["results"]
    assert [(one["kind"], one["number"]) for one in narrowed] == [("case.opened", 1)]
    assert api.get("/api/v1/audit/", organisation="acme", until="2020-01-01T00:00:00Z").json()["results"] == []
    for odd in ({"since": "yesterday"}, {"since": "2026-01-01"}, {"after": "x"}, {"other": "1"}, {"limit": "0"}):
        assert api.get("/api/v1/audit/", organisation="acme", **odd).status_code == 400, odd
    assert api.get("/api/v1/audit/").status_code == 400
    taken = api.post("/api/v1/audit/export/", {"organisation": "acme", "form": "csv"})
    assert taken.status_code == 200
    assert b"case.opened" in b"".join(taken.streaming_content)
    assert len(exports(engine)) == 1
    refused = browser_of(engine.person("operator")).get("/api/v1/audit/", organisation="acme")
    assert (refused.status_code, refused.json()["code"]) == (403, "not_permitted")
