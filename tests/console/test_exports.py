"""A list as a file: the rows of the list and nothing else, per role, safe in a spreadsheet, limited and on record."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from typing import Any

import pytest
from django.test import Client

from accounts.models import Person
from accounts.principal import SYSTEM
from accounts.services import create_organisation, grant_role, revoke_role
from audit.models import AuditEvent
from audit.services import facts_of
from caseflow.domain.errors import NotPermitted
from caseflow.domain.roles import Role
from caseflow.sheets import CASES
from cases.models import Case
from documents.workbook import MEDIA_TYPE as XLSX
from operations import exporting
from tests.api.conftest import browser_of, machine_of
from tests.console.conftest import Desk
from tests.console.seeing import Desks, in_doubt, outsider
from tests.driving import Engine
from tests.operations.bulks import confirmed, previewed, run_once, stopped

PLACE = "/console/export/"
API = "/api/v1/exports/"


def taken(answer: Any) -> list[dict[str, str]]:
    """The rows of a CSV file, by the titles of its header."""
    assert answer.status_code == 200, answer.content
    text = b"".join(answer.streaming_content).decode()
    return list(csv.DictReader(io.StringIO(text)))


def export(desk: Desk, what: str, query: str = "", form: str = "csv") -> Any:
    return desk.client.post(f"{PLACE}{what}/", {"query": query, "form": form})


def tickets(rows: list[dict[str, str]], title: str = "Ticket") -> list[str]:
    return [row[title] for row in rows]


def on_record(organisation_id: int) -> list[dict[str, Any]]:
    rows = AuditEvent.objects.filter(organisation_id=organisation_id, kind="export.made").order_by("id")
    return [facts_of(row.body)["facts"] for row in rows]


def listed(desk: Desk, path: str) -> list[str]:
    """The tickets that a list shows, page by page."""
    found, following = [], path
    while following:
        page = desk.get(following)
        found += re.findall(
            r'<th scope="row" data-label="[^"]*"[^>]*><a href="/console/cases/[^"]+/">([^<]+)</a>', page.html
        )
        more = re.search(r'rel="next" href="([^"]+)"', page.html)
        following = f"/console/cases/{more[1].replace('&amp;', '&')}" if more else ""
    return found


@pytest.mark.parametrize(
    "query", ["", "state=NEEDS_ATTENTION", "state=NEEDS_ATTENTION&sort=newest", "reason=amount_differs"]
)
def test_a_file_of_cases_is_the_filtered_list_on_all_its_pages_and_nothing_else(
    query: str, engine: Engine, desk: Desks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("caseflow.console.listing.PAGE", 2)
    stopped(engine, 3)
    engine.proposed()
    viewer = desk("viewer")
    shown = listed(viewer, f"/console/cases/?{query}")
    rows = taken(export(viewer, "cases", query))
    assert len(shown) == (4 if query in ("",) else 3)
    assert tickets(rows) == shown
    assert all(row["State"] == "Needs attention" for row in rows if query)
    record = on_record(engine.organisation.pk)[-1]
    assert (record["what"], record["form"], record["rows"]) == ("cases", "csv", len(shown))


@pytest.mark.parametrize("role", list(Role))
def test_every_role_takes_out_what_it_sees(role: Role, engine: Engine, desk: Desks) -> None:
    story = stopped(engine)[0]
    globex = create_organisation(slug="globex", name="Globex")
    for name in engine.DECIDERS:
        grant_role(person=engine.person(name), organisation=globex, role=Role.APPROVER, by=SYSTEM)
    stopped(engine, organisation=globex)
    grant_role(person=engine.person("somebody"), organisation=engine.organisation, role=role, by=SYSTEM)
    reader = desk("somebody")
    sees = role is not Role.REPORT_READER
    assert tickets(taken(export(reader, "cases"))) == ([story.case.external_id] if sees else [])
    assert tickets(taken(export(reader, "attention"))) == ([story.case.external_id] if sees else [])
    assert on_record(globex.pk) == []
    assert len(on_record(engine.organisation.pk)) == (2 if sees else 0)


def test_a_stranger_takes_out_nothing_of_others(engine: Engine, desk: Desks) -> None:
    story = in_doubt(engine)
    engine.proposed()
    bulk = previewed(engine, story)
    stranger = outsider(engine, desk)
    for what in ("cases", "actions", "attention", "approvals"):
        assert taken(export(stranger, what, "view=all&organisation=acme")) == []
    assert export(stranger, "bulk", f"id={bulk.public_id}").status_code == 404
    assert export(stranger, "people").status_code == 404
    assert Client().post(f"{PLACE}cases/", {"form": "csv"}).status_code == 302
    assert desk("viewer").client.get(f"{PLACE}cases/").status_code == 405
    assert on_record(engine.organisation.pk) == []


def test_the_other_lists_as_files_are_their_filtered_rows(engine: Engine, desk: Desks) -> None:
    doubtful, waiting, stands = in_doubt(engine), engine.proposed(), stopped(engine)[0]
    viewer, approver = desk("viewer"), desk("approver")
    unknown = taken(export(viewer, "actions", "status=unknown&kind=effect"))
    assert [(row["Action"], row["Ticket"]) for row in unknown] == [
        (doubtful.effect.public_id, doubtful.case.external_id)
    ]
    assert taken(export(viewer, "actions", "status=confirmed")) == []
    assert tickets(taken(export(viewer, "attention"))) == [stands.case.external_id]
    assert taken(export(viewer, "attention", "turn=wait")) == []
    assert taken(export(viewer, "approvals")) == []
    assert tickets(taken(export(viewer, "approvals", "view=all"))) == [waiting.case.external_id]
    mine = taken(export(approver, "approvals"))
    assert [row["Proposal"] for row in mine] == [waiting.proposal.public_id]
    assert doubtful.email not in str(taken(export(viewer, "actions")))
    assert on_record(engine.organisation.pk)[0]["status"] == "unknown"


def test_the_results_of_a_bulk_as_a_file(engine: Engine, desk: Desks) -> None:
    one, other = stopped(engine, 2)
    bulk = previewed(engine, one, other)
    other.order("observe_again")
    run_once(engine, confirmed(bulk))
    rows = taken(export(desk("viewer"), "bulk", f"id={bulk.public_id}"))
    assert [(row["Number"], row["Ticket"], row["Result"]) for row in rows] == [
        ("1", one.case.external_id, "ordered"),
        ("2", other.case.external_id, "skipped"),
    ]
    assert rows[1]["Reason"].startswith("The case moved on after the preview")
    only = taken(export(desk("viewer"), "bulk", f"id={bulk.public_id}&status=done"))
    assert tickets(only) == [one.case.external_id]


def test_the_words_and_the_times_are_the_readers(engine: Engine, desk: Desks) -> None:
    story = stopped(engine)[0]
    reader = desk("viewer", "ru")
    Person.objects.filter(username="viewer").update(time_zone="Asia/Tokyo")
    (row,) = taken(export(reader, "cases"))
    assert (row["Обращение"], row["Состояние"]) == (story.case.external_id, "Требует внимания")
    opened = next(value for title, value in row.items() if title.endswith("(Asia/Tokyo)"))
    assert opened[:13] == f"{story.case.created_at.astimezone(zone('Asia/Tokyo')):%Y-%m-%d %H}"


def zone(name: str) -> Any:
    from zoneinfo import ZoneInfo

    return ZoneInfo(name)


def test_no_cell_of_either_form_is_a_formula(engine: Engine, desk: Desks) -> None:
    story = stopped(engine)[0]
    engine.owner.execute(
        "UPDATE cases_case SET external_id = '=HYPERLINK(1)', subject = '+7 900' WHERE id = %s", [story.id]
    )
    (row,) = taken(export(desk("viewer"), "cases"))
    assert (row["Ticket"], row["Subject"]) == ("'=HYPERLINK(1)", "'+7 900")
    answer = export(desk("viewer"), "cases", form="xlsx")
    assert answer["Content-Type"] == XLSX
    assert answer["Content-Disposition"] == 'attachment; filename="cases.xlsx"'
    assert "no-store" in answer["Cache-Control"]
    content = b"".join(answer.streaming_content)
    answer.close()
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
        assert not [name for name in book.namelist() if "externalLink" in name or "vba" in name.lower()]
    assert "=HYPERLINK(1)" in sheet
    assert "+7 900" in sheet
    assert "<f>" not in sheet
    assert "<hyperlink" not in sheet


def test_a_right_that_ends_meanwhile_ends_the_export(
    engine: Engine, desk: Desks, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(engine)
    viewer = engine.person("viewer")

    def revoked(row: Any) -> int:
        revoke_role(person=viewer, organisation=engine.organisation, role=Role.VIEWER, by=SYSTEM)
        return int(row.organisation_id)

    rows = Case.objects.select_related("organisation").order_by("pk")
    with pytest.raises(NotPermitted):
        exporting.take_out(
            viewer, rows, line_of=CASES._line, organisation_of=revoked, what="cases", form="csv", told={}
        )
    assert on_record(engine.organisation.pk) == []


def test_a_file_has_an_end_and_exports_are_limited(
    engine: Engine, settings: Any, desk: Desks, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(engine, 2)
    viewer = desk("viewer")
    monkeypatch.setattr(exporting, "MAX_ROWS", 1)
    page = viewer.post(f"{PLACE}cases/", {"query": "state=NEEDS_ATTENTION", "form": "csv"})
    assert "This is more than one file holds. Narrow the list first." in page.text
    assert 'value="NEEDS_ATTENTION" selected' in page.html
    assert on_record(engine.organisation.pk) == []
    settings.CASEFLOW_LIMITS = settings.CASEFLOW_LIMITS | {"export": (1, 3600)}
    monkeypatch.setattr(exporting, "MAX_ROWS", 100)
    reader = desk("operator")
    assert export(reader, "cases").status_code == 200
    assert export(reader, "cases").status_code == 429
    assert browser_of(engine.person("operator")).post(API, {"what": "cases"}).status_code == 429


def test_every_list_offers_its_export(engine: Engine, desk: Desks) -> None:
    in_doubt(engine)
    engine.proposed()
    stopped(engine)
    viewer = desk("viewer")
    for path, what in (
        ("cases/?state=NEEDS_ATTENTION", "cases"),
        ("actions/?status=unknown", "actions"),
        ("attention/", "attention"),
        ("approvals/?view=all", "approvals"),
    ):
        page = viewer.get(f"/console/{path}")
        assert f'action="/console/export/{what}/"' in page.html
        assert page.inline == []
    assert page.field("query") == "view=all"


def test_the_api_takes_out_the_same_rows_for_people_and_machines(engine: Engine, desk: Desks) -> None:
    stories = stopped(engine, 2)
    engine.proposed()
    wanted = {"what": "cases", "filter": {"state": "NEEDS_ATTENTION"}}
    names = {story.case.external_id for story in stories}
    viewer = desk("viewer").person
    assert viewer is not None
    assert set(tickets(taken(browser_of(viewer).post(API, wanted)))) == names
    machine = machine_of(engine.organisation)
    rows = taken(machine.client.post(API, wanted, content_type="application/json", headers={"Accept-Language": "en"}))
    assert set(tickets(rows)) == names
    stranger = browser_of(engine.person("stranger"))
    assert taken(stranger.post(API, wanted)) == []
    for odd in (
        {"what": "people"},
        {"what": "cases", "form": "pdf"},
        {"what": "cases", "filter": {"system": "mail"}},
        {"what": "cases", "filter": {"colour": "red"}},
    ):
        assert stranger.post(API, odd).status_code == 400, odd
    assert stranger.post(API, {"what": "bulk", "filter": {"bulk": "B-0000000000"}}).status_code == 404
    assert [one["rows"] for one in on_record(engine.organisation.pk)] == [2, 2]
