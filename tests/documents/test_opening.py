"""Who opens a document: asked at every opening, the same 404 for missing and forbidden, on record before a byte."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Person
from audit.models import AuditEvent
from audit.services import facts_of
from documents.models import Document, DocumentOpening
from documents.storage import document_store
from tests.driving import Story, engine, simulator
from tests.factories import make_token
from tests.reports.conftest import Bureau, bureau

__all__ = ["bureau", "engine", "simulator"]

NOBODYS = "D-0000000000"


@pytest.fixture
def report(bureau: Bureau) -> Story:
    """Made, and told to Alpha and Gamma; Beta has lost his access."""
    requested = bureau.request(recipients=["alpha", "beta", "gamma"])
    bureau.take_access(bureau.heads[1])
    return bureau.run(requested)


@pytest.fixture
def document(report: Story) -> Document:
    return Document.objects.get(subject=report.case.external_id)


def _as(person: Person) -> Client:
    """Signed in, with English pages."""
    Person.objects.filter(pk=person.pk).update(language="en")
    client = Client()
    client.force_login(person)
    return client


def _page(client: Client, address: str) -> tuple[int, str]:
    """Without the name that was asked for."""
    answer = client.get(address)
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[attr-defined]
    return answer.status_code, body.decode("utf-8", "replace")


def _without_tokens(page: str, name: str) -> str:
    """What does not differ from one request to the next; the page repeats the address that was asked for."""
    page = re.sub(r'(csrfmiddlewaretoken" value="|csrfToken[^"]*")[^"]*', "", page.replace(name, "@"))
    return re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "@", page)


def _openings(document: Document) -> list[tuple[str, str]]:
    rows = DocumentOpening.objects.filter(document=document).order_by("id")
    return list(rows.values_list("person__username", "form"))


def test_access_is_asked_at_every_opening_and_each_is_on_record(bureau: Bureau, document: Document) -> None:
    alpha = bureau.heads[0]
    client, address = _as(alpha), f"/console/documents/{document.public_id}/"
    status, page = _page(client, address)
    assert status == 200
    for file in document.files:
        assert file["sha256"] in page
    assert document.data_set in page and "Alpha" in page and "Beta" not in page
    answer = client.get(f"{address}xlsx/")
    sent = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    assert sent.startswith(b"PK") and len(sent) == document.files[0]["size"]
    assert answer["Content-Disposition"] == f'attachment; filename="{document.public_id}.xlsx"'
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "no-store" in answer["Cache-Control"]
    status, sent_too = _page(client, f"/api/v1/documents/{document.public_id}/download/?form=pdf")
    assert status == 200 and sent_too.startswith("%PDF")
    assert _openings(document) == [("alpha", "xlsx"), ("alpha", "pdf")]
    events = AuditEvent.objects.filter(kind="document.opened", actor_id=alpha.pk).order_by("id")
    assert [facts_of(event.body)["facts"]["form"] for event in events] == ["xlsx", "pdf"]
    # Who only asks by HEAD has opened nothing.
    assert client.head(f"{address}xlsx/").status_code == 200
    assert client.head(f"/api/v1/documents/{document.public_id}/download/").status_code == 405
    assert len(_openings(document)) == 2
    assert "XLSX" in _page(client, address)[1].partition('id="opened"')[2]

    bureau.take_access(alpha)
    for path in (address, f"{address}xlsx/", f"/api/v1/documents/{document.public_id}/download/"):
        assert client.get(path).status_code == 404
    assert len(_openings(document)) == 2


def test_a_document_that_may_not_be_opened_is_the_404_of_one_that_is_not_there(
    bureau: Bureau, document: Document
) -> None:
    # Who restarts a task may not read what it made (requirement F3).
    for person in (bureau.heads[1], bureau.operator, bureau.engine.person("recoverer")):
        client = _as(person)
        for address in ("/console/documents/{}/", "/console/documents/{}/xlsx/"):
            (status, theirs), (_, nothing) = (
                _page(client, address.format(name)) for name in (document.public_id, NOBODYS)
            )
            assert status == 404 and "ask your organisation" in theirs
            assert _without_tokens(theirs, document.public_id) == _without_tokens(nothing, NOBODYS)
    token = make_token(bureau.engine.organisation)
    answer = Client().get(
        f"/api/v1/documents/{document.public_id}/download/", headers={"Authorization": f"Bearer {token}"}
    )
    assert answer.status_code == 404
    assert _openings(document) == []


def test_a_file_that_is_not_the_one_that_was_registered_is_given_to_nobody(bureau: Bureau, document: Document) -> None:
    (file,) = (file for file in document.files if file["form"] == "pdf")
    Path(document_store().path(file["name"])).write_bytes(b"x" * file["size"])
    assert _page(_as(bureau.heads[0]), f"/console/documents/{document.public_id}/pdf/")[0] == 404
    assert _openings(document) == []


def test_no_byte_of_a_document_goes_out_without_its_record(
    bureau: Bureau, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("the audit trail takes nothing")

    monkeypatch.setattr("documents.opening.record_organisation_event", refuse)
    client = _as(bureau.heads[0])
    with pytest.raises(RuntimeError):
        client.get(f"/console/documents/{document.public_id}/xlsx/")
    assert _openings(document) == []


def test_the_page_of_a_report_has_four_marks_and_a_line_for_each_recipient(
    bureau: Bureau, report: Story, document: Document
) -> None:
    address = "/console/reports/acme/sales/requests/2024-10-01/"
    client = _as(bureau.operator)
    status, page = _page(client, address)
    assert status == 200
    marks = page.partition('class="pairs marks"')[2].partition("</dl>")[0]
    for words in ("Chosen: 0 rows", "Made", "1 of 3 recipients may not open it", "Sent to 2 of 3"):
        assert words in marks, marks
    recipients = page.partition('id="recipients"')[2].partition("</section>")[0]
    assert recipients.count("held back: may not open it") == 1
    assert recipients.count("Confirmed by the service") == 2
    assert f"/console/cases/{report.case.public_id}/recover/send-notice/" in page
    assert f"/console/documents/{document.public_id}/" not in page, "the operator may not open it"
    assert "1 of 3 recipients may not open it" in _page(client, "/console/reports/")[1]

    bureau.give_access(bureau.heads[1])
    report.order("send_notice")
    report.run()
    status, page = _page(client, address)
    marks = page.partition('class="pairs marks"')[2].partition("</dl>")[0]
    for words in ("Made", "Checked", "Sent to all: 3"):
        assert words in marks, marks


def test_a_reader_finds_the_document_and_nothing_of_the_case(bureau: Bureau, report: Story, document: Document) -> None:
    client = _as(bureau.heads[0])
    status, page = _page(client, "/console/reports/acme/sales/requests/2024-10-01/")
    assert status == 200
    assert f"/console/documents/{document.public_id}/" in page
    assert report.case.public_id not in page and "Beta" not in page
    assert "/console/reports/acme/sales/requests/2024-10-01/" in _page(client, "/console/reports/")[1]
    other = _as(bureau.engine.person("stranger"))
    answers = [_page(other, f"/console/reports/acme/{name}/requests/2024-10-01/") for name in ("sales", "nowhere")]
    assert [status for status, _ in answers] == [404, 404]


def test_a_corrected_edition_stands_beside_the_first_and_says_so(bureau: Bureau, report: Story) -> None:
    bureau.give_access(bureau.heads[1])
    report.order("send_notice")
    report.run()
    corrected = bureau.correct(bureau.request().obligation)
    bureau.run(corrected)
    first, second = Document.objects.filter(department=bureau.department).order_by("edition")
    client = _as(bureau.heads[0])
    page = _page(client, f"/console/documents/{first.public_id}/")[1]
    assert f'href="/console/documents/{second.public_id}/"' in page
    page = _page(client, "/console/reports/acme/sales/requests/2024-10-01/")[1]
    assert page.index(second.public_id) < page.index("Earlier editions") < page.index(first.public_id)


def test_a_search_by_its_id_goes_to_a_document_that_may_be_opened_and_finds_no_other(
    bureau: Bureau, document: Document
) -> None:
    alpha, beta, _ = bureau.heads
    asked = f"/console/search/?q={document.public_id.lower()}"
    assert _as(alpha).get(asked).headers["Location"] == f"/console/documents/{document.public_id}/"
    assert _as(beta).get(asked).status_code == 200


def test_a_page_of_many_reports_costs_as_many_queries_as_one(bureau: Bureau) -> None:
    client = _as(bureau.operator)

    def queries() -> int:
        with CaptureQueriesContext(connection) as made:
            assert client.get("/console/reports/").status_code == 200
        return len(made)

    bureau.run(bureau.request())
    one = queries()
    for day in range(2, 6):
        bureau.run(bureau.request(f"2024-10-0{day}"))
    assert queries() == one
